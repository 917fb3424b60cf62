"""The layout, start to end: Graph and Theme in, Scene out.

graph --measure--> sizes --place (innermost first)--> placed groups
      --assemble--> body --fold--> body --canvas--> scene
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from transformer_diagrams.graph.ir import Graph
from transformer_diagrams.layout.assemble import assemble
from transformer_diagrams.layout.braces import braced, unfolded
from transformer_diagrams.layout.callouts import Part, place_callouts
from transformer_diagrams.layout.canvas import Canvas
from transformer_diagrams.layout.fold import folded
from transformer_diagrams.layout.group import place
from transformer_diagrams.layout.junctions import widen_junctions
from transformer_diagrams.layout.labels import words_of
from transformer_diagrams.layout.limits import refuse
from transformer_diagrams.layout.measure import (
    Context,
    LayoutOptions,
    in_common,
    with_shared_sizes,
)
from transformer_diagrams.layout.numbered import number_remarks
from transformer_diagrams.layout.panels import panels
from transformer_diagrams.layout.scene import Scene
from transformer_diagrams.layout.shapes import shapes_told
from transformer_diagrams.layout.turned import set_turns
from transformer_diagrams.text import typeface
from transformer_diagrams.theme import Theme


def layout(graph: Graph, theme: Theme, options: LayoutOptions | None = None) -> Scene:
    """Place every box, line and text of ``graph``.

    :raises DiagramError: the figure is too large to draw.
    """
    with typeface(theme.fonts.text, theme.fonts.maths):
        return _laid_out(graph, theme, options or LayoutOptions())


def side_by_side(
    graphs: Sequence[Graph], theme: Theme, options: LayoutOptions | None = None
) -> Scene:
    """Several figures as the panels of one: sizes in common, a letter for each, one legend.

    :raises DiagramError: a figure is too large to draw.
    """
    options = options or LayoutOptions()
    with typeface(theme.fonts.text, theme.fonts.maths):
        made = [_measured(graph, theme, options) for graph in graphs]
        shared = in_common([ctx for _, ctx in made])
        bare = replace(options, legend=False)
        scenes = [
            _placed(graph, ctx, theme, bare)
            for (graph, _), ctx in zip(made, shared, strict=True)
        ]
        legend = options.legend or (options.legend is None and any(g.legend for g in graphs))
        return panels(scenes, theme, legend=legend)


def _laid_out(graph: Graph, theme: Theme, options: LayoutOptions) -> Scene:
    return _placed(*_measured(graph, theme, options), theme, options)


def _measured(graph: Graph, theme: Theme, options: LayoutOptions) -> tuple[Graph, Context]:
    """The graph as it will be placed, and what its boxes share."""
    graph = widen_junctions(number_remarks(graph) if graph.numbered else graph)
    direction = options.direction or graph.direction or "up"
    graph = set_turns(graph, direction)
    ctx = Context(theme.sizes, direction, options.shapes or graph.show_shapes, graph.tex)
    refuse(graph)
    return graph, with_shared_sizes(graph, ctx)


def _placed(graph: Graph, ctx: Context, theme: Theme, options: LayoutOptions) -> Scene:
    root = place(graph.root, ctx)
    parts = [Part(graph.root, root, 0.0, 0.0)]
    parts += place_callouts(graph, parts[0], ctx)
    legend = graph.legend if options.legend is None else options.legend
    canvas = Canvas(graph, ctx, legend, theme.names)
    options = unfolded(graph, options)
    body = folded(assemble(parts, ctx, canvas), graph, canvas, theme, options)
    body = braced(body, graph, ctx)
    return replace(
        canvas.scene(body),
        words=words_of(graph),
        shapes=shapes_told(graph, ctx.shapes, ctx.tex),
    )


__all__ = ["LayoutOptions", "layout", "side_by_side"]
