"""Spec -> Graph: the whole way from a spec to what a figure shows, with every shape known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from transformer_diagrams.dims import Speller
from transformer_diagrams.errors import Report
from transformer_diagrams.graph.check import Inferences, Inferred
from transformer_diagrams.graph.draw import Drawer
from transformer_diagrams.graph.infer import Library
from transformer_diagrams.graph.ir import Graph
from transformer_diagrams.graph.opening import Opening
from transformer_diagrams.graph.options import Settings, known_numbers, resolve_settings
from transformer_diagrams.graph.pause import no_collection
from transformer_diagrams.graph.scope import parse_cached
from transformer_diagrams.spec.model import Spec

NONE: Mapping[str, Any] = MappingProxyType({})


def build(
    of: Spec | Inferences,
    library: Library | None = None,
    *,
    config: str | None = None,
    overrides: Mapping[str, object] = NONE,
    numbers: bool = False,
    open: Iterable[str] = (),
    close: Iterable[str] = (),
) -> Graph:
    """The graph of a spec: options decided, wires made, every shape inferred.

    ``overrides`` sets sizes and options by name, on top of ``config``. With ``numbers``, the
    counts of repeats and piles are numbers where the settings give them. ``open`` names what is
    drawn opened: ids of `use` blocks, structures or specs, paths such as ``attention/rope``,
    ``*`` for all, a number for so many levels. ``close`` names what is drawn as one box.

    :raises DiagramError: every fault of the spec, or a name that is nowhere.
    """
    inferences = Inferences.of(of, library)
    settings = resolve_settings(inferences.spec, config=config, overrides=overrides)
    inferred = inferences.under(settings)
    inferred.report.raise_if_errors()
    return draw(inferred, numbers=numbers, open=open, close=close)


def draw(
    inferred: Inferred,
    *,
    numbers: bool = False,
    open: Iterable[str] = (),
    close: Iterable[str] = (),
) -> Graph:
    """The graph of a spec whose shapes are known (``infer`` without errors). See ``build``."""
    frame = inferred.frame
    assert frame is not None  # only a report with errors comes without a frame
    spec = inferred.spec
    known: dict[str, int] = {}
    if numbers:
        report = Report()
        known = known_numbers(spec, inferred.settings, report.add)
        report.raise_if_errors()
    opening = Opening.parse(open, close)
    opening.check(frame)
    drawer = Drawer(opening, inferred.tex, known if numbers else None, _proposed(spec))
    framed = spec.show.frame if spec.show.frame is not None else spec.role is not None
    with no_collection():
        root = drawer.root(frame, framed=framed)
    return Graph(
        spec.id,
        spec.title,
        spec.caption,
        root,
        tuple(drawer.callouts),
        tuple(_header(spec, inferred, known if numbers else None)),
        spec.show.direction,
        spec.show.shapes,
        spec.show.legend,
        spec.show.title,
        spec.show.notes == "numbered",
        spans=tuple((s.start.value, s.end.value, s.text.value) for s in spec.show.spans),
        tex=MappingProxyType(dict(inferred.tex)),
    )


def _proposed(spec: Spec) -> dict[str, int]:
    """The sizes that a spec proposes a number for."""
    texts = {name: dim.default or dim.value for name, dim in spec.dims.items()}
    return {n: int(t.value) for n, t in texts.items() if t is not None and t.value.isdecimal()}


def _header(spec: Spec, inferred: Inferred, numbers: Mapping[str, int] | None) -> list[str]:
    """Lines above the figure: the relations, then the numbers of the config shown."""
    lines = []
    speller = inferred.speller
    if spec.show.where:
        relations = relations_tex(spec, speller)
        if relations:
            lines.append(", ".join(f"${text}$" for text in relations))
    settings: Settings = inferred.settings
    if numbers is not None and settings.config is not None:
        given = [
            f"${speller.tex(parse_cached(name))} = {value}$"
            for name, value in settings.numbers.items()
        ]
        lines.append(f"{settings.config}: " + ", ".join(given) if given else settings.config)
    return lines


def relations_tex(spec: Spec, speller: Speller) -> list[str]:
    """Definitions and conditions of ``spec`` in TeX, as written."""
    texts = [(name, dim.value.value) for name, dim in spec.dims.items() if dim.value is not None]
    texts += [("", text.value) for text in spec.where]
    found = []
    for name, text in texts:
        written = speller.as_written(text)
        found.append(f"{speller.tex(parse_cached(name))} = {written}" if name else written)
    return found
