"""Overlap of upright boxes, traced."""

from __future__ import annotations

from transformer_diagrams.live.trace import Array, maximum, minimum

Box = tuple[Array, Array, Array, Array]
"""Left, top, right, bottom."""


def from_centre(cx: Array, cy: Array, w: Array, h: Array) -> Box:
    """A box from its centre and size."""
    return cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2


def overlap(a: Box, b: Box) -> tuple[Array, Array]:
    """IoU and GIoU = IoU - (C - U) / C, C the smallest enclosing box (Rezatofighi et al., 2019)."""
    wide = maximum(minimum(a[2], b[2]) - maximum(a[0], b[0]), 0.0)
    high = maximum(minimum(a[3], b[3]) - maximum(a[1], b[1]), 0.0)
    shared = wide * high
    union = _area(a) + _area(b) - shared
    around = (maximum(a[2], b[2]) - minimum(a[0], b[0])) * (
        maximum(a[3], b[3]) - minimum(a[1], b[1])
    )
    iou = shared / union
    return iou, iou - (around - union) / around


def _area(box: Box) -> Array:
    return (box[2] - box[0]) * (box[3] - box[1])
