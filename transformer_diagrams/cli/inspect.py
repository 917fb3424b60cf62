"""`inspect`: parameters, KV cache and FLOPs of an architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from transformer_diagrams.choices import MODES
from transformer_diagrams.cli.report import Codes
from transformer_diagrams.cli.tables import FORMATS, NOTHING, Datum, Table, number
from transformer_diagrams.cli.values import config_option, json_option, set_option, specs_argument
from transformer_diagrams.streams import dump, say

if TYPE_CHECKING:
    from transformer_diagrams.count import Inspection
    from transformer_diagrams.count.amount import Amount
    from transformer_diagrams.count.cache import Layer
    from transformer_diagrams.count.memory import Memory


@click.command(
    epilog="""\b
Examples:
  transformer-diagrams inspect llama3 --config 8B
  transformer-diagrams inspect llama3 --config 8B --by block --depth 2
  transformer-diagrams inspect llama3 --config 70B --dtype weights=int4,cache=fp8 --length 8192
  transformer-diagrams inspect llama3 qwen3 gemma3 --as latex
"""
)
@specs_argument()
@config_option
@set_option
@click.option(
    "--length",
    type=click.IntRange(min=1),
    metavar="N",
    help="Positions, for the FLOPs and the whole cache.",
)
@click.option(
    "--flops",
    type=click.Choice(["dense", "causal", "train"]),
    default="dense",
    help="What work counts: forward, a causal mask saves nothing (dense) or what it hides "
    "(causal); or forward and backward (train).",
)
@click.option(
    "--mode", type=click.Choice(MODES), default="all",
    help="Leave out what is only there at the other time, and what served that alone.",
)
@click.option(
    "--by", type=click.Choice(["block"]), help="A row for each block, in a tree that adds up."
)
@click.option(
    "--depth", type=click.IntRange(min=1), metavar="N",
    help="Levels of that tree; three when not said.",
)
@click.option(
    "--dtype", metavar="TYPE",
    help="Bytes too, of numbers of a type: bf16, or weights=int4,cache=fp8.",
)
@click.option(
    "--batch", type=click.IntRange(min=1), default=1, metavar="N",
    help="Sequences whose caches the bytes are of.",
)
@click.option(
    "--as", "form", type=click.Choice(FORMATS), default="text",
    help="How tables are written; latex takes booktabs.",
)
@click.option("-v", "--verbose", is_flag=True, help="Also what changes a result but no shape.")
@json_option
def inspect(
    specs: tuple[str, ...],
    config: str | None,
    sets: tuple[str, ...],
    by: str | None,
    depth: int | None,
    form: str,
    verbose: bool,
    as_json: bool,
    **asked: Any,
) -> int:
    """Count parameters, KV cache and FLOPs, exactly, with the formulas.

    Without --config and --set the formulas alone are shown, with every size as a symbol. Several
    specs make one table, each with the config that its figure shows, or its first, when none is
    named.
    """
    from transformer_diagrams.cli.targets import models

    codes = Codes()
    if depth is not None and by is None:
        raise click.UsageError("--depth is of the tree that --by block gives")
    results: list[Inspection] = []
    constants: list[dict[str, Any]] = []
    chosen = models(specs, codes)
    many = len(chosen) > 1
    for model in chosen:

        def one(model: Any = model) -> None:
            own = config
            if many and not as_json and config is None and not sets:
                own = model.spec.show.config or next(iter(model.spec.configs), None)
            results.append(model.inspection(own, set=sets, by_block=by is not None, **asked))
            if verbose:
                constants.append(model.constants(own, set=sets))

        codes.attempt(one)
    if as_json and results:
        found = [result.as_json() for result in results]
        for each, told in zip(found, constants, strict=False):
            each["constants"] = told
        say(dump(found if many else found[0]))
    elif by is not None:
        tables = (block_table(result, 3 if depth is None else depth) for result in results)
        say("\n\n".join(table.written(form) for table in tables))
    elif len(results) > 1:
        say(comparison(results).written(form))
    elif results:
        say(text_of(results[0]) if form == "text" else summary(results[0]).written(form))
    for told in constants if not as_json else ():
        say("\nconstants")
        for path, value in told.items():
            say(f"  {path} = {str(value).lower() if isinstance(value, bool) else value}")
    return codes.code


def block_table(found: Inspection, depth: int) -> Table:
    """The tree of blocks down to a depth; each row is of all turns and copies."""
    whole = found.blocks
    assert whole is not None
    kept, some = _is_some(whole.cache), whole.active.exact != whole.params.exact
    head = ["block", "kind", "output", "parameters", "share", *(["active"] if some else []),
            "FLOPs", *(["cache"] if kept else [])]  # fmt: skip
    rows = []
    for level, block in whole.walk(depth):
        often = "" if block.times.exact.as_int() == 1 else f" × {_short(block.times)}"
        numbers = [block.params, *([block.active] if some else []), block.flops,
                   *([block.cache] if kept else [])]  # fmt: skip
        cells = [_cell(found, amount) for amount in numbers]
        cells.insert(1, _share(block.params.number, whole.params.number))
        rows.append([Datum(block.id + often, level=level), Datum(block.kind),
                     _shape(found, block.shape), *cells])  # fmt: skip
    return Table(head, rows, 3, [_convention(found)])


def _cell(found: Inspection, amount: Amount) -> Datum:
    if not _is_some(amount):
        return NOTHING
    return number(amount.number, str(amount.formula), found.speller.tex(amount.formula))


def _share(part: int | None, whole: int | None) -> Datum:
    if part is None or not whole:
        return Datum("")
    return NOTHING if part == 0 else Datum(f"{100 * part / whole:.1f} %")


def _shape(found: Inspection, shape: tuple[Amount, ...]) -> Datum:
    """In numbers where all are known, else in names."""
    if not shape:
        return Datum("")
    plain = [str(size.number) for size in shape]
    tex = plain
    if any(size.number is None for size in shape):
        plain = [str(size.exact) for size in shape]
        tex = [found.speller.tex(size.exact) for size in shape]
    return Datum(f"[{', '.join(plain)}]", f"$[{', '.join(tex)}]$")


def _convention(found: Inspection, *, positions: bool = True) -> str:
    """What the FLOPs are of, and how they are counted."""
    from transformer_diagrams.count.flops import CONVENTIONS

    where = f" of {found.positions} positions" if positions and found.positions else ""
    return f"FLOPs{where}, {found.convention}: {CONVENTIONS[found.convention]}"


def _quoted(found: Inspection) -> dict[str, Amount]:
    """What an author quotes of one model, by name, in the order of the table."""
    params, cached = found.params, found.kv_cache
    return {
        "parameters": params.total,
        **{f"  {role}": amount for role, amount in params.by_role.items()},
        "active per token": params.active,
        "frozen": params.frozen,
        "averaged": params.averaged,
        "cache per token": cached.per_token,
        "cache in windows, at most": cached.capped,
        "cache per source token": cached.per_source_token,
        "cache, fixed": cached.fixed,
        "cache in all": cached.total,
        "FLOPs": found.flops,
        "MACs": found.macs,
    }


def _is_some(amount: Amount) -> bool:
    return amount.exact.as_int() != 0


def _bytes(found: Inspection) -> list[tuple[str, int | None]]:
    """The bytes by name, where a type was named."""
    if found.memory is None:
        return []
    kept = found.memory.dtypes
    return [(f"bytes of weights, {kept['weights']}", found.memory.weights),
            (f"bytes of cache, {kept['cache']}", found.memory.cache)]  # fmt: skip


def summary(found: Inspection) -> Table:
    """The counts of one model: name, number and formula."""
    rows = [
        [
            _named(name),
            number(amount.number),
            Datum(str(amount.formula), f"${found.speller.tex(amount.formula)}$"),
        ]
        for name, amount in _quoted(found).items()
        if _is_some(amount) or name == "parameters"
    ]
    rows += [[Datum(name), number(count), Datum("")] for name, count in _bytes(found)]
    return Table([found.title, "number", "formula"], rows, 1, [_convention(found)])


def comparison(results: list[Inspection]) -> Table:
    """One column for each model, one row for each count that any of them has."""
    columns = [_quoted(found) for found in results]
    names = list(dict.fromkeys(name for column in columns for name in column))
    roles = sorted(name for name in names if name.startswith("  "))
    others = [name for name in names if name not in roles]
    rows = [
        [Datum("config"), *(Datum(found.config or "-") for found in results)],
        [Datum("positions"), *(number(found.positions) for found in results)],
    ]
    for name in (*others[:1], *roles, *others[1:]):
        found_in = [column.get(name) for column in columns]
        if any(amount is not None and _is_some(amount) for amount in found_in):
            cells = [
                NOTHING if amount is None else _cell(found, amount)
                for found, amount in zip(results, found_in, strict=True)
            ]
            rows.append([_named(name), *cells])
    sizes = [dict(_bytes(found)) for found in results]
    for name in sizes[0]:
        rows.append([Datum(name), *(number(own[name]) for own in sizes)])
    head = ["", *(found.title for found in results)]
    return Table(head, rows, 1, [_convention(results[0], positions=False)])


def _named(name: str) -> Datum:
    return Datum(name.strip(), level=1 if name.startswith(" ") else 0)


def text_of(found: Inspection) -> str:
    """The counts as a table for people: numbers where sizes are known, formulas beside them."""
    from transformer_diagrams.count.flops import CONVENTIONS
    from transformer_diagrams.count.flops import DEFINITIONS as FLOPS
    from transformer_diagrams.count.params import DEFINITIONS as PARAMS

    head = f"{found.title} ({found.id})" + (f", config {found.config}" if found.config else "")
    lines = [head]
    if found.numbers:
        lines.append("  " + ", ".join(f"{name} = {n}" for name, n in found.numbers.items()))
    if found.options:
        words = (f"{name} = {str(v).lower()}" for name, v in found.options.items())
        lines.append("  " + ", ".join(words))
    unknown = [name for name in found.missing if name not in found.numbers]
    if unknown:
        lines.append(f"  no number for {', '.join(unknown)}: --config or --set gives one")

    params = found.params
    rows: list[tuple[str, Amount]] = [("total", params.total)]
    rows += [(f"  {role}", amount) for role, amount in params.by_role.items()]
    told = ["total"]
    if params.active.exact != params.total.exact:
        rows.append(("active per token", params.active))
        told.append("active per token")
    apart = [
        (name, amount)
        for name, amount in (("frozen", params.frozen), ("averaged", params.averaged))
        if _is_some(amount)
    ]
    if apart:
        rows += [("trained", params.trainable), *apart]
        told += ["trained", *(name for name, _ in apart)]
    meaning = {
        **PARAMS, "active per token": PARAMS["active"], "trained": PARAMS["trainable"]
    }  # fmt: skip
    lines += ["", "parameters", *table(rows), *(f"  ({name}: {meaning[name]})" for name in told)]
    lines += ["", "KV cache, elements", *cache_lines(found)]
    where = f" of {found.positions} positions" if found.positions else ""
    lines += [
        "",
        f"FLOPs{where}, {found.convention}",
        *table([("forward", found.flops), ("MACs", found.macs)]),
        f"  (forward: {FLOPS['forward']})",
        f"  ({found.convention}: {CONVENTIONS[found.convention]})",
        f"  (MACs: {FLOPS['macs']})",
    ]
    if found.memory is not None:
        lines += ["", *memory_lines(found.memory, found.kv_cache.length)]
    return "\n".join(lines)


def memory_lines(memory: Memory, length: Amount | None) -> list[str]:
    """The bytes of weights and cache, and how they are counted."""
    from transformer_diagrams.count.memory import DEFINITION, in_words

    where = f" at {length.number} positions" if length is not None and length.number else ""
    each = "" if memory.batch == 1 else f", {memory.batch} sequences"
    return [
        "memory",
        f"  weights, {memory.dtypes['weights']}: {in_words(memory.weights)}",
        f"  cache, {memory.dtypes['cache']}{where}{each}: {in_words(memory.cache)}",
        f"  together: {in_words(memory.total)}",
        f"  ({DEFINITION})",
    ]


def cache_lines(found: Inspection) -> list[str]:
    """What is kept: each kind of growth that there is, and all of it at the length."""
    from transformer_diagrams.count.cache import DEFINITIONS as CACHE

    cached = found.kv_cache
    rows, told = [("per token", cached.per_token)], ["per_token"]
    named = {"per_token": "per token"}

    def more(key: str, name: str, amount: Amount) -> None:
        rows.append((name, amount))
        told.append(key)
        named[key] = name

    if cached.per_layer is not None and cached.per_layer != cached.per_token:
        more("per_layer", "per token and layer", cached.per_layer)
    if _is_some(cached.capped):
        more("growth", "growth per token", cached.growth)
        more("capped", "in windows, at most", cached.capped)
    if _is_some(cached.per_source_token):
        more("per_source_token", "per source token", cached.per_source_token)
    if _is_some(cached.fixed):
        more("fixed", "fixed", cached.fixed)
    if _is_some(cached.total):
        length = None if cached.length is None else cached.length.number
        more("total", f"total at {length} positions" if length else "total", cached.total)
    if len(cached.layers) > 1:
        rows += [(f"  {_layer_name(layer)}", layer.total) for layer in cached.layers]
        told.append("layers")
        named["layers"] = "  indented"
    return [*table(rows), *(f"  ({named[key].strip()}: {CACHE[key]})" for key in told)]


def _layer_name(layer: Layer) -> str:
    """`attention: 50 x 4,096 per token, window 1,024`: how many there are, and what one keeps."""
    keeps = [
        f"{_short(amount)} {words}"
        for amount, words in (
            (layer.elements, "per token"),
            (layer.per_source_token, "per source token"),
            (layer.fixed, "fixed"),
        )
        if _is_some(amount)
    ]
    if layer.window is not None:
        keeps.append(f"window {_short(layer.window)}")
    return f"{layer.path or 'here'}: {_short(layer.times)} x {', '.join(keeps)}"


def _short(amount: Amount) -> str:
    return str(amount.formula) if amount.number is None else f"{amount.number:,}"


def table(rows: list[tuple[str, Amount]]) -> list[str]:
    """Name, number (digits in threes) and formula, in columns."""
    cells = [
        (name, "?" if amount.number is None else f"{amount.number:,}", str(amount.formula))
        for name, amount in rows
    ]
    wide = max(len(name) for name, _, _ in cells)
    digits = max(len(number) for _, number, _ in cells)
    return [
        f"  {name:<{wide}}  {number:>{digits}}"
        + (f"  = {formula}" if formula != number.replace(",", "") else "")
        for name, number, formula in cells
    ]
