"""What `transformer-diagrams live` does, as plain functions; the command line only wires them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_diagrams.live.figures import IDS
from transformer_diagrams.options import ask_error, name_and_value

if TYPE_CHECKING:
    from transformer_diagrams.live.checking import FigureCheck
    from transformer_diagrams.live.model import Figure

OWN_DATA = ("who-attends", "several-heads")
OF_SPEC = "where-parameters-go"

Sets = Mapping[str, Any] | Iterable[str]


def find(
    id: str,
    *,
    spec: str | None = None,
    config: str | None = None,
    spec_sets: Sets = (),
    data: str | Path | None = None,
) -> Figure:
    """A figure by id; ``spec`` is a path or id for `where-parameters-go`, ``data`` a JSON file for
    `who-attends` and `several-heads`.

    :raises AskError: for an unknown id or what the figure cannot take.
    :raises DiagramError: for faults in the spec or the data.
    """
    from transformer_diagrams.live import figures

    if id not in IDS:
        return figures.get(id)  # says what there is
    if spec is not None and id == OF_SPEC:
        from transformer_diagrams.api import load
        from transformer_diagrams.live.figures.spec_roles import parameters_of

        return parameters_of(load(spec), config, pairs(spec_sets))
    if data is not None and id in OWN_DATA:
        from transformer_diagrams.live.figures.sentence import read_sentence
        from transformer_diagrams.live.figures.several_heads import several_heads
        from transformer_diagrams.live.figures.who_attends import who_attends

        build = who_attends if id == "who-attends" else several_heads
        return build(read_sentence(data), source=str(data))
    return figures.get(id)


def list_figures() -> list[dict[str, Any]]:
    """Every figure: id, title, claim, and sliders with their allowed values and default."""
    from transformer_diagrams.live import figures
    from transformer_diagrams.live.draw import said

    return [
        {
            "id": figure.id,
            "title": said(figure.title),
            "claim": said(figure.claim),
            "sliders": [
                {"name": s.name, "label": said(s.label), "values": list(s.values),
                 "show": list(s.show), "default": s.default, "allowed": s.allowed()}
                for s in figure.sliders
            ],
        }
        for figure in map(figures.get, IDS)
    ]  # fmt: skip


def export(
    id: str,
    sets: Sets,
    output: str | Path,
    *,
    theme: str = "light",
    scale: float | None = None,
    spec: str | None = None,
    config: str | None = None,
    spec_sets: Sets = (),
    data: str | Path | None = None,
) -> Path:
    """Write one state as .svg, .png, .pdf or (live) .html; ``sets`` are like ``["log2h=3"]``.

    :raises AskError: for an unknown figure, slider or suffix, or a value off the grid.
    """
    figure = find(id, spec=spec, config=config, spec_sets=spec_sets, data=data)
    return figure.save(output, theme=theme, png_scale=scale, **pairs(sets))


def page(
    ids: Sequence[str],
    output: str | Path,
    spec: str | None = None,
    *,
    config: str | None = None,
    spec_sets: Sets = (),
    data: str | Path | None = None,
    title: str = "",
    theme: str = "auto",
) -> Path:
    """Write one self-contained page; no ids means all figures.

    :raises AskError: when ``spec`` or ``data`` fits none of the figures.
    """
    from transformer_diagrams.api import save
    from transformer_diagrams.live import pages

    wanted = list(ids) or list(IDS)
    if spec is not None and OF_SPEC not in wanted:
        raise ask_error("a spec is shown by one figure only", f"add {OF_SPEC} to the page")
    if data is not None and not set(OWN_DATA) & set(wanted):
        raise ask_error("own data is shown by two figures", f"add {' or '.join(OWN_DATA)}")
    found = [
        find(id, spec=spec, config=config, spec_sets=spec_sets, data=data) for id in wanted
    ]
    return save(Path(output), pages.page(found, title=title, theme=theme).encode("utf-8"))


def check(ids: Sequence[str] = ()) -> list[FigureCheck]:
    """Compare the page's runtime with NumPy in every state, in a headless browser.

    :raises ToolMissing: when there is no browser.
    """
    from transformer_diagrams.live import checking, figures

    return checking.check([figures.get(id) for id in (list(ids) or IDS)])


def pairs(sets: Sets) -> dict[str, Any]:
    """``["log2h=3"]`` or a mapping, as a mapping.

    :raises AskError: for other text.
    """
    if isinstance(sets, Mapping):
        return dict(sets)
    return dict(name_and_value(item, "log2h=3") for item in sets)
