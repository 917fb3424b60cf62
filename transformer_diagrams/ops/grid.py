"""Sums over grids of places that several families share: sliding windows, resampling."""

from __future__ import annotations

from transformer_diagrams.dims import Dim
from transformer_diagrams.ops.arrays import Array, np
from transformer_diagrams.ops.registry import ONE, Call, OpFault


def windows_of(c: Call, axes: int) -> tuple[Dim, ...]:
    """How often a kernel fits along each of the last axes of x, step by step.

    `kernel`, `stride` and `pad` hold for all of them; a `kernel_width` and the like for the last.

    :raises OpFault: where it does not fit once.
    """
    x = c.need_axes(0, axes)
    return tuple(_fits(c, place, place == x.ndim - 1) for place in range(x.ndim - axes, x.ndim))


def along(c: Call, name: str, last: bool) -> Dim:
    """An attribute such as `kernel`, or its own value for the last axis where there is one."""
    across = f"{name}_width"
    if last and across in c.op.attr_names and c[across] is not None:
        name = across
    if c[name] is None:  # a step of a whole window
        return along(c, "kernel", last)
    size: Dim = c[name]
    return size


def _fits(c: Call, place: int, last: bool) -> Dim:
    """floor((n + 2 pad - dilation (kernel - 1) - 1) / stride) + 1, which must be at least 1."""
    size, kernel, pad = c.x.dims[place], along(c, "kernel", last), along(c, "pad", last)
    spread = c["dilation"] if "dilation" in c.op.attr_names else ONE
    reach = spread * (kernel - 1) + 1
    around = reach - 1 if "causal" in c.op.attr_names and c["causal"] else 2 * pad
    room = size + around - reach
    number = room.as_int()
    if number is not None and number < 0:
        wide = f", which reaches over {reach} with dilation {spread}," if reach != kernel else ""
        raise OpFault(
            f"the kernel ({kernel}){wide} does not fit into {c.axis_of(0, place)} = {size} with "
            f"{pad} of padding on both sides ({c.shown()})",
            "use a smaller kernel or more `pad`",
        )
    return room // along(c, "stride", last) + 1


def resampling(old: int, new: int, kind: str) -> Array:
    """[new, old] weights that read `old` places at `new` ones, both centred in their cells.

    ``bilinear`` weighs the two nearest places, ``bicubic`` four, by Keys' cubic with a = -0.75.
    Beyond the ends the outermost place is read.
    """
    at = (np.arange(new) + 0.5) * old / new - 0.5
    first = np.floor(at).astype(int)
    weights = np.zeros([new, old])
    if kind == "bilinear":
        at = np.maximum(at, 0)
        first = np.floor(at).astype(int)
    for step in range(-1, 3):
        place = first + step
        part = _hat(at - place) if kind == "bilinear" else _cubic(at - place)
        np.add.at(weights, (np.arange(new), np.clip(place, 0, old - 1)), part)
    return weights


def _hat(t: Array) -> Array:
    return np.maximum(1 - np.abs(t), 0)


def _cubic(t: Array, a: float = -0.75) -> Array:
    """Keys' kernel: 1 at 0, 0 at all other whole numbers and beyond 2."""
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = (((t - 5) * t + 8) * t - 4) * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0))
