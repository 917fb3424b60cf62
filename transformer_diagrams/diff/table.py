"""Sizes, options and counts of two specs side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformer_diagrams.count import Inspection
from transformer_diagrams.count.amount import Amount
from transformer_diagrams.dims import DimError, sym
from transformer_diagrams.records import dataclass
from transformer_diagrams.spec.model import Source, Spec

ABSENT = "-"
LENGTH = "d_t"
# What a cache keeps otherwise than of every token for good.
_PARTS = {
    "capped": "  in windows, at most",
    "per_source_token": "  a source token, once",
    "fixed": "  states of a fixed size",
}


@dataclass(frozen=True, slots=True)
class TableCell:
    """One value: its number where known, and its words (a formula, a choice)."""

    number: int | float | None
    text: str

    @property
    def shown(self) -> str:
        if self.number is None:
            return self.text
        return f"{self.number:,}"


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity in both specs. ``section``: size, option, params, cache, flops."""

    section: str
    name: str
    a: TableCell
    b: TableCell
    doc: str = ""

    @property
    def same(self) -> bool:
        return self.a == self.b

    def as_json(self) -> dict[str, Any]:
        def cell(given: TableCell) -> dict[str, Any] | None:
            if given.text == ABSENT and given.number is None:
                return None
            return {"number": given.number, "text": given.text}

        return {
            "section": self.section, "name": self.name, "doc": self.doc, "same": self.same,
            "a": cell(self.a), "b": cell(self.b),
        }  # fmt: skip


def rows(spec_a: Spec, spec_b: Spec, a: Inspection, b: Inspection) -> list[Row]:
    """Every size, option and count that one of the two has."""
    found = []
    for name in dict.fromkeys((*spec_a.dims, *spec_b.dims)):
        doc = next((s.dims[name].doc for s in (spec_a, spec_b) if name in s.dims), "")
        found.append(Row("size", name, _size(spec_a, a, name), _size(spec_b, b, name), doc))
    for name in dict.fromkeys((*spec_a.options, *spec_b.options)):
        doc = next((s.options[name].doc for s in (spec_a, spec_b) if name in s.options), "")
        found.append(Row("option", name, _option(a, name), _option(b, name), doc))
    found.append(Row("params", "parameters", _amount(a.params.total), _amount(b.params.total)))
    for role in sorted({*a.params.by_role, *b.params.by_role}):
        found.append(
            Row("params", f"  {role}", _role(a.params.by_role, role), _role(b.params.by_role, role))
        )
    if any(i.params.active.exact != i.params.total.exact for i in (a, b)):
        found.append(
            Row("params", "active a token", _amount(a.params.active), _amount(b.params.active))
        )
    found.append(Row("cache", "KV cache a token", *_caches(a, b, "per_token"), "elements"))
    for key, name in _PARTS.items():
        pair = _caches(a, b, key)
        if any(cell.text != "0" for cell in pair):
            found.append(Row("cache", name, *pair, "elements"))
    if found[-1].name in _PARTS.values():  # what is kept does not follow from a token alone
        found.append(Row("cache", "  in all", *_caches(a, b, "total"), _length_words(a, b, "at")))
    words = _length_words(a, b, "forward,")
    found.append(Row("flops", "FLOPs a token", _flops(a), _flops(b), words))
    return found


def _size(spec: Spec, found: Inspection, name: str) -> TableCell:
    dim = spec.dims.get(name)
    if dim is None:
        return TableCell(None, ABSENT)
    text = str(dim.value or dim.default or "any")
    return TableCell(found.numbers.get(name), text)


def _option(found: Inspection, name: str) -> TableCell:
    if name not in found.options:
        return TableCell(None, ABSENT)
    return TableCell(None, str(found.options[name]).lower())


def _amount(amount: Amount) -> TableCell:
    return TableCell(amount.number, str(amount.formula))


def _caches(a: Inspection, b: Inspection, key: str) -> tuple[TableCell, TableCell]:
    return _amount(getattr(a.kv_cache, key)), _amount(getattr(b.kv_cache, key))


def _role(by_role: Mapping[str, Amount], role: str) -> TableCell:
    return _amount(by_role[role]) if role in by_role else TableCell(None, ABSENT)


def _flops(found: Inspection) -> TableCell:
    """Forward FLOPs over the positions they are for."""
    length = found.positions
    number: int | float | None = None
    if found.flops.number is not None and length:
        whole, rest = divmod(found.flops.number, length)
        number = whole if rest == 0 else round(found.flops.number / length, 1)
    try:
        formula = found.speller.text(found.flops.formula / sym(LENGTH))
    except DimError:
        formula = f"({found.flops.formula}) / {LENGTH}"
    return TableCell(number, formula)


def _length_words(a: Inspection, b: Inspection, before: str) -> str:
    lengths = dict.fromkeys(str(i.positions or "?") for i in (a, b))
    return f"{before} {' and '.join(lengths)} positions"


def source_words(source: Source) -> str:
    """Where it was published, in one line."""
    parts = [source.title, source.authors, str(source.year or "")]
    parts += [f"arXiv:{source.arxiv}" if source.arxiv else source.url]
    return ", ".join(part for part in parts if part)
