"""Tensors made of others, as a claim writes it.

``q.W`` is a tensor by name; ``q.W | h m k -> m (h k)`` the same in another order of axes, repeated
or summed (`einops`: an axis that is new on the right repeats, one that is gone is summed);
``a.W, b.W | m r, r k -> m k`` the product of several. What follows works on that: ``0`` picks one
of the first axis, ``:d_K`` a part of it (``both.W | (two m) k -> two m k | 0``), and another
pattern turns it. Terms may have a factor, ``-0.5 * q.W``, and be summed by
`` + ``; a number alone, ``0`` or ``1``, fills the whole tensor. Names of sizes in a pattern are
those sizes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from transformer_diagrams.dims import DimError, parse
from transformer_diagrams.extras import need
from transformer_diagrams.ops.arrays import Array, np

_FACTOR = re.compile(r"(-?\d+(?:\.\d+)?)(?:\s*\*\s*|$)")
_HOLE = re.compile(r"\{([^{}]+)\}")
_AXIS = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
Find = Callable[[str], Array]


class MatchError(ValueError):
    """A text that makes no tensor, with why."""


def filled(text: str, sizes: Mapping[str, int]) -> str:
    """A text with the number of each size that stands in braces: ``layers.{i+1}``.

    :raises DimError: a size that has no number.
    """
    return _HOLE.sub(lambda hole: str(parse(hole[1]).evaluate(sizes)), text)


def made(
    texts: Sequence[str], find: Find, sizes: Mapping[str, int], shape: tuple[int, ...]
) -> Array:
    """The tensor that ``texts`` describe, several joined along the last axis.

    :raises MatchError: a pattern that cannot be read, or that does not fit its tensors.
    """
    parts = []
    for text in texts:
        try:
            terms = [_term(term.strip(), find, sizes, shape) for term in re.split(r"\s\+\s", text)]
        except DimError as error:
            raise MatchError(str(error)) from error
        parts.append(sum(terms[1:], terms[0]))
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-1)


def _term(text: str, find: Find, sizes: Mapping[str, int], shape: tuple[int, ...]) -> Array:
    factor = 1.0
    number = _FACTOR.match(text)
    if number:
        factor, text = float(number[1]), text[number.end() :]
        if not text:
            return np.full(shape, factor)
    names, *rest = (part.strip() for part in text.split("|"))
    tensors = [np.asarray(find(name.strip())) for name in names.split(",")]
    if len(tensors) > 1:
        if not rest:
            raise MatchError("several tensors need a pattern: a.W, b.W | m r, r k -> m k")
        tensors = [_patterned(tensors, rest.pop(0), sizes)]
    result = tensors[0]
    for part in rest:
        if "->" in part:
            result = _patterned([result], part, sizes)
        elif part.count(":") == 1:
            first, last = (parse(end).evaluate(sizes) if end.strip() else None
                           for end in part.split(":"))  # fmt: skip
            result = result[first:last]
        elif part.isdecimal() and int(part) < len(result):
            result = result[int(part)]
        else:
            raise MatchError(f"'{part}' is no pattern, and picks none of {len(result)}")
    return factor * result


def _patterned(tensors: list[Array], pattern: str, sizes: Mapping[str, int]) -> Array:
    need("run", "einops")
    import einops

    if pattern.count("->") != 1:
        raise MatchError(f"'{pattern}' is no pattern such as h m k -> m (h k)")
    left, right = pattern.split("->")
    before, after = ({*_AXIS.findall(side)} for side in (left, right))
    known = {name: sizes[name] for name in sorted(before | after) if name in sizes}
    try:
        if len(tensors) > 1:
            product: Any = einops.einsum  # typed for up to four tensors
            return product(*tensors, pattern)
        if after - before:
            return einops.repeat(tensors[0], pattern, **known)
        if before - after:
            return einops.reduce(tensors[0], pattern, "sum", **known)
        return einops.rearrange(tensors[0], pattern, **known)
    except (einops.EinopsError, ValueError, KeyError) as error:
        why = " ".join(str(error).split())[:300]
        shapes = ", ".join(str(list(tensor.shape)) for tensor in tensors)
        raise MatchError(f"'{pattern}' does not fit {shapes}: {why}") from error
