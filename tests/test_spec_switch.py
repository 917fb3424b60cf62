"""Conditions on options."""

from __future__ import annotations

import pytest

from transformer_diagrams.spec.switch import SwitchError, parse_switch


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("tied", True),
        ("not tied", False),
        ("not not tied", True),
        ("kind == gelu", True),
        ("kind != gelu", False),
        ("bias", False),
        ("bias == false", True),
        ("tied and bias", False),
        ("tied or bias", True),
        ("bias and bias or tied", True),
        ("bias and (bias or tied)", False),
        ("not (tied and bias)", True),
        ("not tied or kind == gelu", True),
    ],
)
def test_value(text: str, wanted: bool) -> None:
    assert parse_switch(text).holds({"tied": True, "bias": False, "kind": "gelu"}) is wanted


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("", 1),
        ("not", 4),
        ("tied and", 9),
        ("tied bias", 6),
        ("(tied", 1),
        ("kind ==", 8),
        ("kind = gelu", 6),
        ("a && b", 3),
        ("and a", 1),
    ],
)
def test_faults_have_a_column(text: str, column: int) -> None:
    with pytest.raises(SwitchError) as caught:
        parse_switch(text)
    assert caught.value.column == column


def test_uses_are_listed_with_columns() -> None:
    uses = parse_switch("not tied and kind == gelu").uses
    assert [(u.name, u.column, u.value, u.value_column) for u in uses] == [
        ("tied", 5, None, 0),
        ("kind", 14, "gelu", 22),
    ]
