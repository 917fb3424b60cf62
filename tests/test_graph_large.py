"""Length, width and depth: no recursion, no quadratic work."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from graph_specs import check_of, parts, spec_of

from transformer_diagrams.api import Model
from transformer_diagrams.graph.build import build
from transformer_diagrams.graph.check import check


def test_a_fan_of_two_thousand_comes_in_at_one_port_each() -> None:
    blocks = "".join(f"  - {{op: box, id: a{i}, from: x}}\n" for i in range(2000))
    names = ", ".join(f"a{i}" for i in range(2000))
    text = f"title: T\ninputs: {{x: [...]}}\nblocks:\n{blocks}"
    graph = build(spec_of(text + f"  - {{op: add, id: s, from: [{names}]}}\n"))
    assert len(parts(graph.root)["s"].inputs) == 2000


def test_skips_over_long_ways_stay_linear() -> None:
    """A skip every four blocks, and one from the start to each hundredth block."""
    lines = []
    for i in range(4000):
        if i and i % 4 == 0:
            skip = "n0" if i % 100 == 0 else f"n{i - 4}"
            lines.append(f"  - {{op: add, id: n{i}, from: [n{i - 1}, {skip}]}}\n")
        else:
            lines.append(f"  - {{op: box, id: n{i}}}\n")
    spec = spec_of("title: T\ninputs: {x: [...]}\nblocks:\n" + "".join(lines))
    start = time.process_time()
    assert not check(spec).report.errors
    assert time.process_time() - start < 5


IO = "dims: {d: width}\ninputs: {x: [3, d]}\noutputs: {y: [3, d]}\nblocks:\n"


def doubled(folder: Path, use: str, *, deep: int = 24) -> Path:
    """A spec that uses the next twice, which uses the next twice, and so on."""
    for level in range(deep):
        one, two = (use.replace("N", f"s{level + 1}").replace("#", str(n)) for n in (1, 2))
        text = IO.replace("width", "width, e: inner") + f"  - {one}\n  - {two}\n"
        (folder / f"s{level}.yaml").write_text(text, encoding="utf-8")
    last = IO.replace("width", "width, e: inner") + "  - {op: linear, out: e}\n"
    last += "  - {op: linear, out: d}\n"
    (folder / f"s{deep}.yaml").write_text(last, encoding="utf-8")
    return folder / "s0.yaml"


@pytest.mark.parametrize("use", ["{use: N}", "{use: N, with: {e: 2 e + #}}"])
def test_uses_that_double_are_refused_before_they_are_expanded(tmp_path: Path, use: str) -> None:
    begin = time.process_time()
    report = Model.find(str(doubled(tmp_path, use))).check()
    assert [fault.code for fault in report.errors] == ["too-many-uses"]
    assert report.errors[0].span.line > 0
    assert time.process_time() - begin < 20


def test_uses_that_double_a_few_times_are_fine(tmp_path: Path) -> None:
    assert Model.find(str(doubled(tmp_path, "{use: N}", deep=8))).check().ok


@pytest.mark.parametrize("options", [1000, 5000])
def test_what_is_checked_under_all_settings_has_a_limit(options: int) -> None:
    head = "options:\n" + "".join(f"  o{i}: {{doc: a switch}}\n" for i in range(options))
    many = range(1000 if options == 1000 else 1)  # few blocks under very many settings, too
    blocks = "".join(f"  - {{op: box, id: n{i}, if: not o{i}}}\n" for i in many)
    begin = time.process_time()
    report = check(spec_of(f"title: T\n{head}inputs: {{x: [...]}}\nblocks:\n{blocks}")).report
    assert [fault.code for fault in report.errors] == ["too-many-settings"]
    assert time.process_time() - begin < 5


def test_values_that_only_move_are_followed_through_any_chain() -> None:
    """To the input that says what they are, behind used specs as well, in one pass."""
    moves = "".join(f"  - {{op: identity, id: i{n}}}\n" for n in range(5_000))
    text = "title: T\ndims: {n: rows, V: words, d: width}\n" \
           "inputs: {x: {shape: [n], dtype: KIND}}\nblocks:\n" + moves
    text += "  - {op: embedding, vocab: V, width: d}\n"
    assert not check_of(text.replace("KIND", "int")).report.errors
    (fault,) = check_of(text.replace("KIND", "float")).report.errors
    assert fault.code == "dtype-mismatch"
    assert "input 'x'" in fault.hint
