"""Windows of maps of tokens [.., height, width, channels]: cut, put together, shifted."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.arrays import Array, Arrays, Tensors, np
from transformer_diagrams.ops.registry import ONE, Attr, Call, Example, Op, Shape, family

op = family("window", Op)

WINDOW = Attr("window", "dim", "side of a window", required=True)
HEIGHT = Attr("height", "dim", "height of the map", required=True)
WIDTH = Attr("width", "dim", "width of the map", required=True)


def _count(c: Call, height: Dim, width: Dim, where: tuple[str, str]) -> Dim:
    """How many windows fill a map."""
    down = c.require_divides(c["window"], height, where[0], near="window")
    return down * c.require_divides(c["window"], width, where[1], near="window")


def _partition_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 3)
    where = (c.axis_of(0, x.ndim - 3), c.axis_of(0, x.ndim - 2))
    count = _count(c, x.dims[-3], x.dims[-2], where)
    return (Shape((*x.dims[:-3], count, c["window"] ** 2, x.dims[-1]), x.lead),)


def _partition(x: Array, m: int) -> Array:
    """[.., height, width, channels] -> [.., windows, m^2, channels], row by row."""
    *lead, height, width, channels = x.shape
    cut = x.reshape(*lead, height // m, m, width // m, m, channels)
    return np.swapaxes(cut, -4, -3).reshape(*lead, -1, m * m, channels)


op(
    name="window_partition",
    does=("form",),
    summary="Cut a map of tokens into M x M windows, row by row: [h, w, d] -> [(h/M)(w/M), M^2, d] "
    "(arXiv:2103.14030).",
    attrs=(WINDOW,),
    shape=_partition_shape,
    text="window partition",
    value=lambda c, x, w: [_partition(x[0], c.number("window"))],
    examples=(
        Example([["h", "w", "d_m"]], [["(h / P) (w / P)", "P^2", "d_m"]], {"window": "P"},
                label="window partition"),
        Example([[2, 4, 6, 3]], [[2, 6, 4, 3]], {"window": 2}),
    ),
)


def _merge_shape(c: Call) -> tuple[Shape, ...]:
    x = c.need_axes(0, 3)
    count = _count(c, c["height"], c["width"], ("height", "width"))
    c.require_equal(
        x.dims[-3], count, c.axis_of(0, x.ndim - 3), "the number of windows",
        "the windows must fill the map",
    )
    c.require_equal(
        x.dims[-2], c["window"] ** 2, c.axis_of(0, x.ndim - 2), "the tokens of a window"
    )
    return (Shape((*x.dims[:-3], c["height"], c["width"], x.dims[-1]), x.lead),)


def _merge_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    x, m, height, width = inputs[0], *(c.number(n) for n in ("window", "height", "width"))
    parts = x.reshape(*x.shape[:-3], height // m, width // m, m, m, x.shape[-1])
    return [np.swapaxes(parts, -4, -3).reshape(*x.shape[:-3], height, width, x.shape[-1])]


op(
    name="window_merge",
    does=("form",),
    summary="Put windows together to a map of tokens, as `window_partition` cuts them: "
    "[(h/M)(w/M), M^2, d] -> [h, w, d].",
    attrs=(WINDOW, HEIGHT, WIDTH),
    shape=_merge_shape,
    text="merge windows",
    value=_merge_value,
    examples=(
        Example([["(h / P) (w / P)", "P^2", "d_m"]], [["h", "w", "d_m"]],
                {"window": "P", "height": "h", "width": "w"}, label="merge windows"),
        Example([[2, 6, 4, 3]], [[2, 4, 6, 3]], {"window": 2, "height": 4, "width": 6}),
    ),
)

# -- shifted --------------------------------------------------------------------------------------


def _roll_axes(c: Call) -> tuple[int, ...]:
    return tuple(axis.evaluate({}) for axis in c["axes"])


def _roll_shape(c: Call) -> tuple[Shape, ...]:
    for axis in _roll_axes(c):
        c.check_axis(0, axis)
    return (c.x,)


op(
    name="roll",
    does=("form",),
    summary="Shift axes in a circle, as numpy.roll: what leaves at one end comes in at the "
    "other. A negative shift goes to earlier places.",
    attrs=(
        Attr("by", "dim", "how many places", required=True, least=None),
        Attr("axes", "dims", "the axes, counted from 0 or from the end", (-3, -2), least=None),
    ),
    shape=_roll_shape,
    text=lambda c: f"cyclic shift by ${c['by'].tex(c.tex)}$",
    value=lambda c, x, w: [
        np.roll(x[0], [c["by"].evaluate(c.bindings)] * len(_roll_axes(c)), _roll_axes(c))
    ],
    examples=(
        Example([["h", "w", "d_m"]], [["h", "w", "d_m"]], {"by": "-k"},
                label="cyclic shift by $-k$"),
        Example([[5, 4]], [[5, 4]], {"by": 2, "axes": [0]}),
    ),
)


def _shifted_shape(c: Call) -> tuple[Shape, ...]:
    window = c["window"]
    c.require_at_most(c["shift"], window, "a window shifts by less than its side")
    count = _count(c, c["height"], c["width"], ("height", "width"))
    return (Shape((count, ONE, window**2, window**2)),)


def _shifted_value(c: Call, inputs: Arrays, weights: Tensors) -> list[Array]:
    m, s = c.number("window"), c.number("shift")
    rows, columns = (
        np.searchsorted([n - m, n - s], np.arange(n), side="right")
        for n in (c.number("height"), c.number("width"))
    )
    regions = _partition((3 * rows[:, None] + columns)[..., None], m)[..., 0]
    same = regions[:, None, :, None] == regions[:, None, None, :]
    return [np.where(same, 0.0, -np.inf)]


op(
    name="shifted_window_mask",
    summary="For windows of a map that was shifted in a circle: 0 between tokens that were "
    "neighbours before, minus infinity across the seam; [windows, 1, M^2, M^2], the same for all "
    "heads (arXiv:2103.14030).",
    role="mask",
    inputs=(),
    attrs=(
        WINDOW,
        HEIGHT,
        WIDTH,
        Attr("shift", "dim", "how many places it was shifted, up and to the left",
             required=True, least=0),
    ),
    shape=_shifted_shape,
    text="shifted-window mask",
    value=_shifted_value,
    examples=(
        Example([], [["(h / P) (w / P)", 1, "P^2", "P^2"]],
                {"window": "P", "height": "h", "width": "w", "shift": "k"},
                label="shifted-window mask"),
        Example([], [[6, 1, 4, 4]], {"window": 2, "height": 4, "width": 6, "shift": 1}),
    ),
)
