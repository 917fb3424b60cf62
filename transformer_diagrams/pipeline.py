"""The way of a figure on one page: every stage is one function, from one value to the next.

    text -> Spec -> checked -> Graph -> Scene -> Drawing (a display list) -> bytes

What is asked for is settled before (`options`), and what comes out is kept after (`result`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from transformer_diagrams.errors import DiagramError, Fault, Report, did_you_mean
from transformer_diagrams.options import AskError, Options, ask_error
from transformer_diagrams.result import Rendering

if TYPE_CHECKING:
    from transformer_diagrams.graph.check import Checked, Inferences
    from transformer_diagrams.graph.ir import Graph
    from transformer_diagrams.layout.scene import Scene
    from transformer_diagrams.render.formats import Drawing
    from transformer_diagrams.spec.library import SpecLibrary
    from transformer_diagrams.spec.model import Spec
    from transformer_diagrams.theme import Theme


def load(text: str | bytes, file: str, library: SpecLibrary) -> tuple[Spec, Report]:
    """A text -> its spec, with all faults of form, of it and of the specs that it uses."""
    from transformer_diagrams.spec.load import load_bytes, load_text

    if isinstance(text, str):
        spec, report = load_text(text, file=file)
    else:
        spec, report = load_bytes(text, file=file)
    return spec, library.add(spec, report)


def texts(spec: Spec, library: SpecLibrary, look: str) -> Report:
    """What is wrong with the texts of a spec and of those that it uses, in the fonts of a theme.

    A theme that cannot be used is told by whoever draws; the usual fonts stand for its own.
    """
    from transformer_diagrams import labels
    from transformer_diagrams.text import typeface

    try:
        fonts = theme(Options(theme=look)).fonts
        chosen = fonts.text, fonts.maths
    except AskError:
        chosen = (), ""
    with typeface(*chosen):
        return joined(fault for each in library.closure(spec) for fault in labels.faults(each))


def check(inferences: Inferences) -> Checked:
    """A spec -> its shapes and all that is wrong with them, for every option and config."""
    from transformer_diagrams.graph.check import check as check_all

    return check_all(inferences)


def numbers(inferences: Inferences, config: str | None, sets: Iterable[tuple[str, str]]) -> Report:
    """Faults of the shapes under one setting: as symbols, and with its numbers."""
    from transformer_diagrams.graph.options import resolve_settings

    settings = resolve_settings(inferences.spec, config=config, overrides=dict(sets))
    symbols = inferences.under(settings).report
    return joined(symbols.faults, inferences.under(settings, numeric=True).report.faults)


def graph(inferences: Inferences, options: Options) -> Graph:
    """A sound spec -> what a figure of it shows.

    :raises DiagramError: what is wrong under the options, or what they name and is not there.
    """
    from transformer_diagrams.graph.build import build
    from transformer_diagrams.graph.check import Inferences

    if options.set:  # a config's numbers have been checked, these have not
        numbers(inferences, options.config, options.set).raise_if_errors()
    if options.callout:
        inferences = Inferences(called_out(inferences.spec, options.callout), inferences.library)
    try:
        made = build(
            inferences,
            config=options.config,
            overrides=dict(options.set),
            numbers=options.config is not None or bool(options.set),
            open=options.open,
            close=options.close,
        )
    except DiagramError as fault:
        if all(each.code == "unknown-part" for each in fault.faults):
            raise AskError(fault.faults) from fault
        raise
    if options.mode == "all":
        return made
    from transformer_diagrams.graph.mode import only

    return only(made, options.mode)


def scene(graph: Graph, options: Options) -> Scene:
    """A graph -> its places, in points."""
    from transformer_diagrams.layout.engine import LayoutOptions, layout

    wish = LayoutOptions(
        options.direction, options.shapes, options.legend, options.fold, options.aspect
    )
    return layout(graph, theme(options), wish)


def panels(graphs: Sequence[Graph], options: Options) -> Scene:
    """Several graphs -> one scene, a panel each."""
    from transformer_diagrams.layout.engine import LayoutOptions, side_by_side

    wish = LayoutOptions(
        options.direction if "direction" in options.said else "",
        options.shapes if "shapes" in options.said else "",
        options.legend if "legend" in options.said else None,
        fold=0,
    )
    return side_by_side(graphs, theme(options), wish)


def drawing(scene: Scene, options: Options, said: Mapping[str, int] | None = None) -> Drawing:
    """A scene -> its display list, painted and drawn when a format asks for it.

    ``said`` are the steps that a spec says, see `steps_of`.
    """
    from transformer_diagrams.render.formats import Drawing

    return Drawing(
        scene,
        theme(options),
        width=options.width,
        height=options.height,
        enlarge=options.enlarge,
        background=options.background,
        graphviz=options.graphviz,
        words=not options.outline_text,
        text=options.text,
        ids=options.ids,
        steps=options.steps,
        said=said or {},
        animate=options.animate,
        scale=options.scale,
        dpi=options.dpi,
    )


def figure(
    graph: Graph, options: Options, format: str, said: Mapping[str, int] | None = None
) -> Rendering:
    """A graph -> the finished figure, through all the stages that follow."""
    return finished(scene(graph, options), options, format, said)


def finished(
    placed: Scene, options: Options, format: str, said: Mapping[str, int] | None = None
) -> Rendering:
    """A scene -> the finished figure."""
    from transformer_diagrams.render.formats import get

    chosen = get(format)
    drawn = chosen.placed(drawing(placed, options, said))
    return Rendering(chosen.write(drawn), chosen.media_type, chosen.warnings(drawn))


def stages(
    graph: Graph, options: Options, format: str, said: Mapping[str, int]
) -> tuple[Rendering, ...]:
    """A graph -> one finished figure a step."""
    from transformer_diagrams.render.formats import get

    chosen = get(format)
    drawn = chosen.placed(drawing(scene(graph, options), options, said))
    told = chosen.warnings(drawn)
    return tuple(
        Rendering(chosen.write(stage), chosen.media_type, told) for stage in drawn.stages()
    )


def steps_of(spec: Spec) -> dict[str, int]:
    """The steps that a spec says, by the ids of its blocks: a structure's holds for what is in
    it."""
    found: dict[str, int] = {}
    todo = [(block, 0) for block in spec.blocks]
    while todo:
        block, around = todo.pop()
        step = block.step or around
        if step:
            found[block.id] = step
        todo += [(child, step) for child in block.children]
    return found


def theme(options: Options) -> Theme:
    """The theme that was asked for, as close as was asked for.

    :raises AskError: when there is none of that name, or the file is no theme.
    """
    from transformer_diagrams.text.fonts import Typeface, unusable
    from transformer_diagrams.theme import dense, get

    try:
        found = dense(get(options.theme), options.density)
    except DiagramError as fault:
        raise AskError(fault.faults) from fault
    if faults := unusable(Typeface(found.fonts.text, found.fonts.maths)):
        where = found.fonts.where
        raise AskError([replace(each, span=where, path="fonts") for each in faults])
    return found


def called_out(spec: Spec, names: Sequence[str]) -> Spec:
    """``spec`` with the named parts (by the block's id or the used spec's) marked as call-outs.

    :raises AskError: for a name that is none of its used specs and structures.
    """
    from transformer_diagrams.spec.blocks import walk
    from transformer_diagrams.spec.model import Block

    if not names:
        return spec
    parts = [block for block in walk(spec.blocks) if block.kind != "op"]
    known = {name for block in parts for name in (block.id, block.use) if name}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, what="part") or "there is no used spec or structure"
            raise ask_error(
                f"'{spec.id}' has no part '{name}' to call out", hint, code="unknown-part"
            )

    def marked(block: Block) -> Block:
        if block.kind != "op" and (block.id in names or block.use in names):
            return replace(block, open="callout")
        if block.children:
            return replace(block, children=tuple(marked(child) for child in block.children))
        return block

    return replace(spec, blocks=tuple(marked(block) for block in spec.blocks))


def joined(*lists: Iterable[Fault]) -> Report:
    """One report, each fault once."""
    return Report(list(dict.fromkeys(fault for faults in lists for fault in faults)))
