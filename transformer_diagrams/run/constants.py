"""Constants: attributes that change what an op gives but no shape, set from outside a spec.

A selector is the name of an op or the id of a block, then an attribute: ``rmsnorm.eps``,
``q_turned.base``. Ids of what is around it go before, outermost first and not all of them:
``full_*/rope.base``; ``*`` stands for anything but a slash. The most particular selector counts.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

from transformer_diagrams.errors import DiagramError, Fault, did_you_mean
from transformer_diagrams.graph.frame import Frame
from transformer_diagrams.graph.program import ROOT, Atom
from transformer_diagrams.ops.registry import KINDS, Attr


def constants(frame: Frame) -> dict[str, Any]:
    """Every attribute of a frame's ops that is no size and changes no shape: path -> its value."""
    return dict(_listed(frame, ()))


def _listed(frame: Frame, above: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    for atom in frame.program.atoms:
        path = _path(frame, atom, above)
        if atom.index in frame.uses:
            yield from _listed(frame.uses[atom.index], path)
        elif atom.index in frame.applied and atom.block is not None:
            applied = frame.applied[atom.index]
            for attr in applied.op.attrs:
                value = applied.attrs.get(attr.name)
                if attr.is_constant and value not in (None, ""):
                    yield f"{'/'.join(path)}.{attr.name}", value


def with_constants(
    frame: Frame, given: Mapping[str, Any], *, needed: Container[str] = ()
) -> Frame:
    """The frame with other constants in its ops; those ``needed`` must be some op's.

    :raises DiagramError: a selector that nothing has, or a value that the attribute does not take.
    """
    if not given:
        return frame
    used: set[str] = set()
    made = _set(frame, (), given, used)
    for name in given:
        if name in needed and name not in used:
            near = did_you_mean(name, _selectors(frame), what="constant")
            raise DiagramError(
                Fault("unknown-name", f"no op here has the constant '{name}'", found=name,
                      hint=near)
            )
    return made


def _selectors(frame: Frame) -> set[str]:
    """The plain selectors that hold somewhere."""
    own = {f"{a.op.name}.{at.name}" for a in frame.applied.values() for at in a.op.attrs
           if at.is_constant}  # fmt: skip
    return own.union(*(_selectors(inner) for inner in frame.uses.values()))


def _set(
    frame: Frame, above: tuple[str, ...], given: Mapping[str, Any], used: set[str]
) -> Frame:
    applied, uses = dict(frame.applied), dict(frame.uses)
    for atom in frame.program.atoms:
        path = _path(frame, atom, above)
        if atom.index in uses:
            uses[atom.index] = _set(uses[atom.index], path, given, used)
        elif atom.index in applied and atom.block is not None:
            one = applied[atom.index]
            attrs = {attr.name: attr for attr in one.op.attrs if attr.is_constant}
            best: dict[str, tuple[tuple[int, bool, bool], Any]] = {}
            for selector, value in given.items():
                where, _, name = selector.rpartition(".")
                rank = _rank(where, path, one.op.name) if name in attrs else None
                if rank is not None:
                    used.add(selector)
                    if name not in best or rank >= best[name][0]:
                        best[name] = rank, taken(attrs[name], selector, value)
            new = {name: value for name, (_, value) in best.items()}
            if new:
                applied[atom.index] = replace(one, attrs=MappingProxyType({**one.attrs, **new}))
    return replace(frame, applied=applied, uses=uses)


def _path(frame: Frame, atom: Atom, above: tuple[str, ...]) -> tuple[str, ...]:
    boxes = [frame.program.structures[index] for index in frame.program.up(atom.structure)
             if index != ROOT]  # fmt: skip
    around = tuple(box.block.id for box in reversed(boxes) if box.block is not None)
    return (*above, *around, atom.id)


def _rank(where: str, path: tuple[str, ...], op: str) -> tuple[int, bool, bool] | None:
    """How particular a selector without its attribute is; None where it is not the block's."""
    *around, last = where.split("/")
    by_id = fnmatchcase(path[-1], last)
    if not (by_id or fnmatchcase(op, last)):
        return None
    rest = iter(path[:-1])
    if not all(any(fnmatchcase(each, glob) for each in rest) for glob in around):
        return None
    return len(around), by_id, "*" not in where


def taken(attr: Attr, selector: str, value: Any) -> Any:
    """A value as the attribute takes it; text is read as the number that it is.

    :raises DiagramError: when it does not take it.
    """
    found = value
    if attr.kind in ("float", "int") and isinstance(value, str):
        with suppress(ValueError):
            found = float(value)
    if attr.kind == "str" and isinstance(value, (int, float)) and not isinstance(value, bool):
        found = str(value)
    if attr.kind == "bool" and isinstance(value, str):
        found = {"true": True, "false": False}.get(value.lower(), value)
    if attr.kind == "int" and isinstance(found, float) and found.is_integer():
        found = int(found)
    kinds: dict[str, Any] = {"float": (int, float), "int": int, "bool": bool}
    good = isinstance(found, kinds.get(attr.kind, str)) and (
        attr.kind == "bool" or not isinstance(found, bool)
    )
    if not good or (attr.choices and found not in attr.choices):
        wanted = " or ".join(attr.choices) or KINDS[attr.kind]
        raise DiagramError(
            Fault("bad-value", f"'{selector}' cannot be '{value}'", found=str(value),
                  expected=wanted)
        )
    return found
