"""A small op registry and short ways to load, for the tests of the front end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from transformer_diagrams.errors import Fault
from transformer_diagrams.spec.load import load_text
from transformer_diagrams.spec.model import Spec


@dataclass(frozen=True)
class FakeAttr:
    name: str
    kind: str
    doc: str = ""
    default: Any = None
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = 1
    beside: int | None = None


@dataclass(frozen=True)
class FakeOp:
    summary: str
    attrs: tuple[FakeAttr, ...] = ()


@dataclass(frozen=True)
class FakeOps:
    ops: dict[str, FakeOp] = field(default_factory=dict)

    def names(self) -> Iterable[str]:
        return self.ops

    def get(self, name: str) -> FakeOp:
        return self.ops[name]


OPS = FakeOps(
    {
        "linear": FakeOp(
            "Affine map.",
            (
                FakeAttr("out", "dim", "size of the last axis", required=True),
                FakeAttr("bias", "bool", "add a bias", True),
                FakeAttr("weight", "str", "name of the weight"),
            ),
        ),
        "norm": FakeOp("Norm.", (FakeAttr("eps", "float", "added to the variance", 1e-5),)),
        "attend": FakeOp(
            "Attention.",
            (FakeAttr("heads", "dim", "heads"), FakeAttr("causal", "bool", "causal")),
        ),
        "softmax": FakeOp("Softmax.", (FakeAttr("axis", "int", "axis", -1),)),
        "split": FakeOp(
            "Split.",
            (FakeAttr("sizes", "dims", "sizes", required=True), FakeAttr("names", "names", "")),
        ),
        "pool": FakeOp(
            "Pool.",
            (FakeAttr("how", "enum", "", "mean", choices=("mean", "max")), FakeAttr("by", "str")),
        ),
        "tied": FakeOp("Tied map.", (FakeAttr("table", "name", "id of the embedding"),)),
        "add": FakeOp("Sum."),
        "box": FakeOp("Opaque block.", (FakeAttr("params", "dim", ""), FakeAttr("out", "dims"))),
    }
)


def load(text: str, file: str = "t.yaml", *, pure: bool = False) -> tuple[Spec, list[Fault]]:
    """The spec and the faults of a text, against the small registry."""
    spec, report = load_text(text, file, ops=OPS, pure=pure)
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
