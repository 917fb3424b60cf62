"""A comparison as text for people: one line a difference, then the numbers side by side."""

from __future__ import annotations

from collections.abc import Sequence

from transformer_diagrams.diff.compare import NOTATION, Comparison, Difference

_MOST_PLACES = 3
_WIDEST = 46  # of a cell in the table; longer ones get a line of their own
_BEFORE = 50  # of the left side of an arrow: longer ones do not widen the others


def text_of(found: Comparison) -> str:
    """The whole answer."""
    names = _names(found)
    head = f"{found.a.title} ({names[0]}) -> {found.b.title} ({names[1]})"
    lines = [head, ""]
    said = [d for d in found.differences if d.level != NOTATION]
    written = [d for d in found.differences if d.level == NOTATION]
    if found.equal:
        return f"{head}\nno difference"
    if not said:
        lines.append("no difference in structure")
    lines += _listed(said)
    if written:
        lines += ["", "only written in another way:", *_listed(written)]
    if found.same:
        lines += ["", f"the same: {'; '.join(_agreed(found))}"]
    return "\n".join([*lines, "", *table(found)])


def _agreed(found: Comparison) -> list[str]:
    """What both have; who is seen and what is read are one phrase."""
    texts = {same.aspect: same.text for same in found.same}
    if "mask" in texts and "source" in texts:
        texts["source"] = f"{texts.pop('mask')} {texts['source']}"
    return list(texts.values())


def _names(found: Comparison) -> tuple[str, str]:
    """Column heads: ids, with configs where they are given or needed to tell the two apart."""
    sides = []
    for side in (found.a, found.b):
        sides.append(f"{side.id} {side.config}" if side.config else side.id)
    return sides[0], sides[1]


def _listed(differences: Sequence[Difference]) -> list[str]:
    if not differences:
        return []
    wide = max(len(d.aspect) for d in differences)
    left = max((len(d.a) for d in differences if len(d.a) <= _BEFORE), default=0)
    right = max((len(d.b) for d in differences if len(d.b) <= _BEFORE), default=0)
    lines = []
    for d in differences:
        place = places(d)
        line = f"{d.aspect:<{wide}}  {d.a:<{left}} -> {d.b}"
        if place:
            line = f"{d.aspect:<{wide}}  {d.a:<{left}} -> {d.b:<{right}}  [{place}]"
        lines.append(line)
    return lines


def places(difference: Difference) -> str:
    """Where: paths of the one, and of the other if they differ."""
    one, other = map(_some, difference.where)
    if not one or not other or one == other:
        return one or other
    return f"{one} -> {other}"


def _some(paths: Sequence[str]) -> str:
    more = len(paths) - _MOST_PLACES
    shown = ", ".join(paths[:_MOST_PLACES])
    return f"{shown} and {more} more" if more > 0 else shown


def table(found: Comparison) -> list[str]:
    """Sizes, options and counts; `!=` marks what differs."""
    names = _names(found)
    cells = [(row, row.a.shown, row.b.shown) for row in found.rows]
    short = [c for c in cells if len(c[1]) <= _WIDEST and len(c[2]) <= _WIDEST]
    wide = max(len(row.name) for row in found.rows)
    left = max([len(names[0]), *(len(a) for _, a, _ in short)])
    right = max([len(names[1]), *(len(b) for _, _, b in short)])
    lines = [f"   {'':<{wide}}  {names[0]:>{left}}  {names[1]:>{right}}"]
    section = ""
    for row, a, b in cells:
        if section and row.section != section and row.section in ("option", "params"):
            lines.append("")
        section = row.section
        sign = "  " if row.same else "!="
        note = f"  {row.doc}" if row.doc else ""
        if len(a) <= _WIDEST and len(b) <= _WIDEST:
            line = f"{sign} {row.name:<{wide}}  {a:>{left}}  {b:>{right}}{note}"
            lines.append(line.rstrip())
        elif row.same:
            lines.append(f"{sign} {row.name:<{wide}}  {a} (both)")
        else:
            inner = max(len(name) for name in names)
            lines.append(f"{sign} {row.name}{note}".rstrip())
            lines += [f"       {name:<{inner}}  {value}"
                      for name, value in zip(names, (a, b), strict=True)]
    sources = dict.fromkeys(
        (f"source of {name}: {source}" for name, source in
         zip(names, (found.source_a, found.source_b), strict=True) if source)
    )
    lines += ["", *sources] if sources else []
    hints = [
        f"--config-{letter} {'|'.join(configs)}"
        for letter, side, configs in (
            ("a", found.a, found.configs_a), ("b", found.b, found.configs_b)
        )
        if configs and side.config is None and side.missing
    ]
    if hints:
        lines += ["", f"for numbers: {'  '.join(hints)}"]
    return lines
