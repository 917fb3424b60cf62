"""The op registry, filled: every family is imported here by name."""

from transformer_diagrams.ops import (  # noqa: F401
    attention,
    cache,
    conv,
    elementwise,
    embedding,
    linear,
    loss,
    mask,
    moe,
    norm,
    opaque,
    position,
    shape,
)
from transformer_diagrams.ops import registry as registry
