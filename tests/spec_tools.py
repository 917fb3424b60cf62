"""Short ways to load, for the tests of the front end."""

from __future__ import annotations

from transformer_diagrams.errors import Fault
from transformer_diagrams.spec.load import load_text
from transformer_diagrams.spec.model import Spec


def load(text: str, file: str = "t.yaml", *, pure: bool = False) -> tuple[Spec, list[Fault]]:
    """The spec and the faults of a text."""
    spec, report = load_text(text, file, pure=pure)
    return spec, report.faults


def faults(text: str) -> list[Fault]:
    return load(text)[1]


def codes(text: str) -> list[str]:
    return [fault.code for fault in faults(text)]


def one(text: str) -> Fault:
    """The only fault of a text."""
    found = faults(text)
    assert len(found) == 1, [f"{f.span} {f.code}: {f.message}" for f in found]
    return found[0]


def good(text: str) -> Spec:
    """A spec that must load without faults or warnings."""
    spec, found = load(text)
    assert not found, [f"{f.span} {f.code}: {f.message}" for f in found]
    return spec
