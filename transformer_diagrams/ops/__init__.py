"""The op registry, filled: every family is imported here by name.

To add an op, put a record into the module of its family; to add a family, add its module and its
line below. The schema, the reference and the counts follow from the record.
"""

from transformer_diagrams.ops import (
    attention,
    cache,
    conv,
    elementwise,
    embedding,
    image,
    linear,
    loss,
    mask,
    matching,
    moe,
    norm,
    opaque,
    position,
    product,
    recurrence,
    registry,
    sample,
    select,
    shape,
    window,
)

FAMILIES = (
    linear,
    product,
    attention,
    elementwise,
    norm,
    embedding,
    position,
    mask,
    shape,
    select,
    moe,
    cache,
    recurrence,
    conv,
    image,
    window,
    sample,
    matching,
    loss,
    opaque,
)
"""The families in the order of the reference."""

__all__ = ["FAMILIES", "registry"]
