"""Inputs of any size, one kind of growth each, and how the time of every stage grows with them.

    python tests/fuzz/growth.py [KIND ...] [--most SECONDS] [--from N]

doubles the size of each kind until a stage takes long, and prints the times and the growth at
the end (2.0 is linear, 4.0 quadratic). `SHAPES` maps a kind to a function of the size that gives
the text of a spec, or the texts of several files, the one to read first.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

Made = str | dict[str, str]
SHAPES: dict[str, Callable[[int], Made]] = {}


def shape(make: Callable[[int], Made]) -> Callable[[int], Made]:
    SHAPES[make.__name__.replace("_", "-")] = make
    return make


def lines(form: str, count: int, start: int = 0) -> str:
    """``form`` once a number: ``#`` is the number, ``@`` the one before."""
    return "".join(
        form.replace("#", str(i)).replace("@", str(i - 1)) + "\n" for i in range(start, count)
    )


def listed(form: str, count: int, between: str = ", ") -> str:
    return between.join(form.replace("#", str(i)) for i in range(count))


# ---- blocks --------------------------------------------------------------------------------

X = "inputs: {x: [3]}\n"


@shape
def chain(n: int) -> str:
    return X + "blocks:\n" + lines("- gelu", n)


@shape
def chain_labelled(n: int) -> str:
    return X + "blocks:\n" + lines("- {op: linear, out: #1, id: a#, label: L #}", n)


@shape
def skips(n: int) -> str:
    return (
        X
        + "blocks:\n- {op: gelu, id: a0}\n"
        + lines("- {op: gelu, id: b#}\n- {op: add, id: a#, from: [b#, a@]}", n, 1)
    )


@shape
def skips_from_the_start(n: int) -> str:
    return (
        X
        + "blocks:\n- {op: gelu, id: a0}\n"
        + lines("- {op: gelu, id: b#}\n- {op: add, id: a#, from: [b#, x]}", n, 1)
    )


@shape
def skips_nested(n: int) -> str:
    down = lines("- {op: gelu, id: d#}", n)
    up = "".join(f"- {{op: add, id: u{i}, from: [prev, d{i}]}}\n" for i in reversed(range(n)))
    return X + "blocks:\n" + down + up


@shape
def residuals(n: int) -> str:
    return X + "blocks:\n" + lines("- {residual: [gelu]}", n)


@shape
def groups(n: int) -> str:
    return X + "blocks:\n" + lines("- {group: [gelu, silu], title: T #}", n)


@shape
def repeats(n: int) -> str:
    return X + "blocks:\n" + lines("- {repeat: 3, blocks: [gelu]}", n)


@shape
def nested_residuals(n: int) -> str:
    deep = "gelu"
    for _ in range(25):
        deep = f"{{residual: [{deep}]}}"
    return X + "blocks:\n" + lines(f"- {deep}", max(1, n // 25))


@shape
def branches(n: int) -> str:
    return X + "blocks:\n- parallel: [" + listed("[gelu]", n) + "]\n- add\n"


@shape
def branches_long(n: int) -> str:
    one = "[" + listed("gelu", n) + "]"
    return X + f"blocks:\n- parallel: [{one}, {one}]\n- add\n"


@shape
def fans(n: int) -> str:
    return X + "blocks:\n" + lines("- parallel: [[gelu], [silu]]\n- add", n)


@shape
def columns(n: int) -> str:
    return X + "blocks:\n- columns: [" + listed("{blocks: [gelu], from: x}", n) + "]\n- add\n"


@shape
def fan_out(n: int) -> str:
    return X + "blocks:\n" + lines("- {op: gelu, id: a#, from: x}", n)


@shape
def fan_in(n: int) -> str:
    return fan_out(n) + f"- {{op: add, from: [{listed('a#', n)}]}}\n"


@shape
def crossings(n: int) -> str:
    n = max(2, int(n**0.5))
    every = listed("a#", n)
    return fan_out(n) + lines(f"- {{op: add, id: b#, from: [{every}]}}", n)


@shape
def crossed_pairs(n: int) -> str:
    far = "".join(f"- {{op: gelu, id: b{i}, from: a{n - 1 - i}}}\n" for i in range(n))
    return fan_out(n) + far


@shape
def split_outputs(n: int) -> str:
    return f"inputs: {{x: [{n}]}}\nblocks:\n- {{op: split, id: s, parts: {n}}}\n- add\n"


@shape
def split_sizes(n: int) -> str:
    sizes = listed("1", n)
    return f"inputs: {{x: [{n}]}}\nblocks:\n- {{op: split, id: s, sizes: [{sizes}]}}\n- add\n"


@shape
def ids_taken(n: int) -> str:
    return X + "blocks:\n" + lines("- {op: silu, id: gelu-#}", n) + lines("- gelu", n)


@shape
def shares(n: int) -> str:
    first = "blocks:\n- {op: linear, out: 3, id: w}\n"
    return X + first + lines("- {op: linear, out: 3, share: w}", n)


@shape
def share_chain(n: int) -> str:
    first = "blocks:\n- {op: linear, out: 3, id: w0}\n"
    return X + first + lines("- {op: linear, out: 3, id: w#, share: w@}", n, 1)


@shape
def notes(n: int) -> str:
    return X + "blocks:\n" + lines("- {op: gelu, note: see #, mark: frozen, stack: 3}", n)


@shape
def edge_labels(n: int) -> str:
    return (
        X
        + "blocks:\n- {op: gelu, id: a0}\n"
        + lines("- {op: gelu, id: a#, from: {from: a@, label: e #, mark: ema}}", n, 1)
    )


@shape
def asserted(n: int) -> str:
    return X + "blocks:\n" + lines("- {op: gelu, shape: [3]}", n)


@shape
def caches(n: int) -> str:
    head = "dims: {t: positions}\ninputs: {x: [t, 4]}\nblocks:\n"
    return head + lines("- {op: cache, id: c#, from: x}", n)


@shape
def copies(n: int) -> str:
    return X + "blocks:\n" + lines("- {op: linear, out: 3, copies: 1#}", n)


@shape
def repeats_sized(n: int) -> str:
    head = "dims:\n" + lines("  n#: a count", n) + X + "blocks:\n"
    return head + lines("- {repeat: n#, blocks: [{op: linear, out: 3}]}", n)


@shape
def training_only(n: int) -> str:
    return X + "blocks:\n" + lines("- {op: gelu, when: train}", n)


# ---- sizes ---------------------------------------------------------------------------------


@shape
def dims(n: int) -> str:
    return "dims:\n" + lines("  d#: width #", n) + "inputs: {x: [d0]}\nblocks: [gelu]\n"


@shape
def dims_used(n: int) -> str:
    head = "dims:\n" + lines("  d#: width #", n)
    return head + "inputs: {x: [d0]}\nblocks:\n" + lines("- {op: linear, out: d#}", n)


@shape
def dims_defaults(n: int) -> str:
    head = "dims:\n" + lines("  d#: {doc: width, default: 1#}", n)
    return head + "inputs: {x: [d0]}\nblocks:\n" + lines("- {op: linear, out: d#}", n)


@shape
def dims_defined(n: int) -> str:
    head = "dims:\n  e: a size\n" + lines("  d#: {doc: width, value: 2 e + #}", n)
    return head + "inputs: {x: [d0]}\nblocks:\n" + lines("- {op: linear, out: d#}", n)


@shape
def dims_defined_in_a_row(n: int) -> str:
    head = "dims:\n  d0: a size\n" + lines("  d#: {doc: width, value: d@ + 1}", n, 1)
    return head + "inputs: {x: [d0]}\nblocks:\n" + lines("- {op: linear, out: d#}", n)


@shape
def dims_defined_backwards(n: int) -> str:
    head = "dims:\n" + "".join(
        f"  d{i}: {{doc: width, value: d{i - 1} + 1}}\n" for i in reversed(range(1, n))
    )
    return head + "  d0: {doc: a size, default: 3}\ninputs: {x: [d0]}\nblocks: [gelu]\n"


@shape
def dims_defined_by_two(n: int) -> str:
    rows = [f"  d{i}: {{value: max(d{i - 1}, d{i - 2})}}\n" for i in range(2, min(n, 35))]
    head = "dims:\n" + "".join(reversed(rows))
    return head + "  d0: {default: 3}\n  d1: {default: 4}\ninputs: {x: [d0]}\nblocks: [gelu]\n"


@shape
def dims_defaults_in_a_row(n: int) -> str:
    head = "dims:\n  d0: {doc: a size, default: 2}\n"
    head += lines("  d#: {doc: width, default: d@ + 1}", n, 1)
    return head + "inputs: {x: [d0]}\nblocks:\n" + lines("- {op: linear, out: d#}", n)


def related(n: int, relation: str, block: str = "- {op: linear, out: d#}") -> str:
    head = "dims:\n" + lines("  d#: width #", n)
    head += "where:\n" + lines(f"- {relation}", n, 1)
    return head + "inputs: {x: [d0]}\nblocks:\n" + lines(block, n)


@shape
def where_at_most(n: int) -> str:
    return related(n, "d@ <= d#")


@shape
def where_equal(n: int) -> str:
    return related(n, "d@ == d#")


@shape
def where_divides(n: int) -> str:
    return related(n, "d@ | d#")


@shape
def where_star(n: int) -> str:
    return related(n, "d0 | d#", "- {op: linear, out: d# / d0}")


@shape
def where_same(n: int) -> str:
    return (
        "dims: {a: one, b: two}\nwhere:\n"
        + lines("- # a <= # b", n, 1)
        + ("inputs: {x: [a]}\nblocks: [{op: linear, out: b}]\n")
    )


@shape
def where_many_ops(n: int) -> str:
    head = "dims: {a: one, b: two, h: heads}\nwhere: [h | a, h | b]\ninputs: {x: [a]}\nblocks:\n"
    return head + lines("- {op: linear, out: #1 a / h}", n)


@shape
def sum_of_sizes(n: int) -> str:
    head = "dims:\n" + lines("  d#: width #", n)
    return head + f"inputs: {{x: [{listed('d#', n, ' + ')}]}}\nblocks: [gelu]\n"


@shape
def sums_concatenated(n: int) -> str:
    head = "dims:\n" + lines("  d#: width #", n)
    head += "inputs:\n" + lines("  x#: [d#]", n)
    return head + f"blocks:\n- {{op: concat, from: [{listed('x#', n)}]}}\n- gelu\n"


@shape
def axes(n: int) -> str:
    return f"inputs: {{x: [{listed('3', n)}]}}\nblocks: [gelu, {{op: linear, out: 5}}]\n"


@shape
def long_reshape(n: int) -> str:
    return f"inputs: {{x: [3]}}\nblocks: [{{op: reshape, to: [3, {listed('1', n)}]}}]\n"


# ---- declarations --------------------------------------------------------------------------


@shape
def inputs_added(n: int) -> str:
    names = listed("x#", n)
    return "inputs:\n" + lines("  x#: [3]", n) + f"blocks: [{{op: add, from: [{names}]}}]\n"


@shape
def inputs_apart(n: int) -> str:
    head = "inputs:\n" + lines("  x#: [3]", n)
    return head + "blocks:\n" + lines("- {op: gelu, from: x#}", n)


@shape
def outputs(n: int) -> str:
    head = X + "outputs:\n" + lines("  y#: {from: a#, shape: [3]}", n)
    return head + "blocks:\n" + lines("- {op: gelu, id: a#}", n)


@shape
def outputs_of_one(n: int) -> str:
    head = X + "outputs:\n" + lines("  y#: {from: a, shape: [3]}", n)
    return head + "blocks: [{op: gelu, id: a}]\n"


@shape
def options(n: int) -> str:
    head = "options:\n" + lines("  o#: {doc: a switch}", n)
    return head + X + "blocks:\n" + lines("- {op: gelu, if: not o#}", n)


@shape
def choices(n: int) -> str:
    head = f"options: {{o: {{choices: [{listed('c#', n)}]}}}}\n"
    return head + X + "blocks: [gelu]\n"


@shape
def configs(n: int) -> str:
    head = "dims: {a: one}\nconfigs:\n" + lines("  c#: {a: 1#}", n)
    return head + "inputs: {x: [a]}\nblocks: [gelu, {op: linear, out: a}]\n"


@shape
def configs_and_dims(n: int) -> str:
    n = max(2, int(n**0.5))
    each = listed("d#: 1#", n)
    head = "dims:\n" + lines("  d#: one", n) + "configs:\n" + lines(f"  c#: {{{each}}}", n)
    return head + "inputs: {x: [d0]}\nblocks:\n" + lines("- {op: linear, out: d#}", n)


@shape
def configs_and_blocks(n: int) -> str:
    head = "dims: {a: one}\nconfigs:\n" + lines("  c#: {a: 1#}", n)
    return head + "inputs: {x: [a]}\nblocks:\n" + lines("- {op: linear, out: #1 a}", n)


@shape
def words(n: int) -> str:
    head = f"tags: [{listed('t#', n)}]\nbuilds_on: [{listed('gqa', n)}]\n"
    return head + X + "blocks: [gelu]\n"


# ---- YAML ----------------------------------------------------------------------------------


@shape
def long_label(n: int) -> str:
    return X + f"blocks: [{{op: gelu, label: '{'word ' * n}'}}]\n"


@shape
def long_reference(n: int) -> str:
    return X + f"blocks: [{{op: gelu, from: {'x' * n}}}]\n"


@shape
def long_key(n: int) -> str:
    return X + f"{'k' * n}: 3\nblocks: [{{op: gelu, {'q' * n}: 3}}]\n"


@shape
def long_condition(n: int) -> str:
    return X + f"where: ['{'a' * n} == 3']\nblocks: [{{op: gelu, if: {'b' * n}}}]\n"


@shape
def quoted_lines(n: int) -> str:
    return X + f"caption: '{'word' + chr(10) + '  '}" + lines("  word", n) + "  '\nblocks: [gelu]\n"


@shape
def tags(n: int) -> str:
    return f"x-a: [{listed('!t x', n)}]\n" + X + "blocks: [gelu]\n"


@shape
def tags_on_lines(n: int) -> str:
    return "x-a:\n" + lines("- !t x", n) + X + "blocks: [gelu]\n"


@shape
def anchors(n: int) -> str:
    return "x-a:\n" + lines("- &a# {b: #}", n) + X + "blocks: [gelu]\n"


@shape
def anchors_on_a_line(n: int) -> str:
    return f"x-a: [{listed('&a# x', n)}]\n" + X + "blocks: [gelu]\n"


@shape
def anchors_before_a_value(n: int) -> str:
    return f"x-a: &a {chr(10) + '  # c' * n}\n  x\n" + X + "blocks: [gelu]\n"


@shape
def aliases(n: int) -> str:
    return "x-a: &a [1]\nx-b:\n" + lines("- *a", n) + X + "blocks: [gelu]\n"


@shape
def aliased_blocks(n: int) -> str:
    head = "x-a: &a {op: linear, out: 3, label: L}\n" + X
    return head + "blocks:\n" + lines("- *a", n)


@shape
def merges(n: int) -> str:
    return "x-a: &a {op: gelu}\n" + X + "blocks:\n" + lines("- {<<: *a, label: L}", n)


@shape
def unknown_aliases(n: int) -> str:
    head = "x-a:\n" + lines("- &name# x", n)
    return head + lines("- *nome#", n) + X + "blocks: [gelu]\n"


@shape
def unknown_aliases_on_a_line(n: int) -> str:
    return f"x-a: [{listed('*a#', n)}]\n" + X + "blocks: [gelu]\n"


@shape
def comments(n: int) -> str:
    return lines("# a comment #", n) + X + "blocks: [gelu]\n"


@shape
def comment_behind_each(n: int) -> str:
    return X + "blocks:\n" + lines("- {op: gelu, label: a} # comment", n)


@shape
def comment_behind_each_on_a_line(n: int) -> str:
    return X + f"blocks: [{listed('gelu', n)}] # x\n"


@shape
def cut_at_hash(n: int) -> str:
    return X + "blocks:\n" + lines("- label: a #b\n  op: gelu", n)


@shape
def blank_lines(n: int) -> str:
    return X + "\n" * n + "blocks: [gelu]\n"


@shape
def long_line(n: int) -> str:
    return X + f"blocks: [{listed('gelu', n)}]\n"


@shape
def long_line_faulty(n: int) -> str:
    return X + f"blocks: [{listed('gelo', n)}]\n"


@shape
def tabs(n: int) -> str:
    return X + "blocks:\n" + lines("- gelu\t", n)


@shape
def tab_at_the_end(n: int) -> str:
    return X + "blocks:\n" + lines("- gelu", n) + "-\tgelu\n"


@shape
def nested_too_deep(n: int) -> str:
    return X + "blocks: " + "[" * n + "]" * n + "\n"


@shape
def open_quote(n: int) -> str:
    return X + "title: 'a\n" + lines("  b", n)


@shape
def open_bracket(n: int) -> str:
    return X + "blocks: [\n" + lines("  gelu,", n)


@shape
def block_text(n: int) -> str:
    return "caption: |\n" + lines("  a word", n) + X + "blocks: [gelu]\n"


@shape
def spare_keys(n: int) -> str:
    return lines("x-#: {a: [1, 2]}", n) + X + "blocks: [gelu]\n"


@shape
def documents(n: int) -> str:
    return lines("---", n)


@shape
def escapes(n: int) -> str:
    text = "\\e" * n
    return f'caption: "{text}"\n' + X + "blocks: [gelu]\n"


# ---- many faults ---------------------------------------------------------------------------


def faulty(block: str) -> Callable[[int], str]:
    return lambda n: X + "blocks:\n" + lines(f"- {block}", n)


for _name, _block in {
    "unknown-op": "gelu#",
    "unknown-key": "{op: gelu, labl#: x}",
    "unknown-kind": "{labl#: x}",
    "unknown-reference": "{op: gelu, id: ref#, from: rex#}",
    "unknown-size": "{op: linear, out: dm#}",
    "wrong-size": "{op: linear, out: 0}",
    "wrong-formula": "{op: linear, out: '3 +'}",
    "wrong-shape": "{op: gelu, shape: [4]}",
    "mismatch": "{op: add, from: [x, y]}",
    "twice": "{op: gelu, id: a}",
    "no-value": "{op: gelu, label: }",
    "number-as-key": "{1#: 3}",
    "list-as-key": "{[a]: 3}",
    "unknown-spec": "{use: spec-#}",
    "unknown-option": "{op: gelu, if: opt#}",
    "missing-input": "{op: matmul, from: x}",
    "unknown-port": "{op: gelu, from: {quer#: x}}",
    "control-character": "{op: gelu, label: \x07}",
}.items():
    SHAPES[f"fault-{_name}"] = faulty(_block)


@shape
def duplicate_keys(n: int) -> str:
    return "a: b\n" * n


@shape
def unknown_top_keys(n: int) -> str:
    return X + lines("blok#: 3", n) + "blocks: [gelu]\n"


@shape
def unknown_sizes_near_many(n: int) -> str:
    head = "dims:\n" + lines("  width#: w", n) + X + "blocks:\n"
    return head + lines("- {op: linear, out: widht#}", n)


@shape
def definition_cycle(n: int) -> str:
    head = f"dims:\n  d0: {{value: d{n - 1}}}\n" + lines("  d#: {value: d@}", n, 1)
    return head + X + "blocks: [gelu]\n"


@shape
def reference_cycle(n: int) -> str:
    head = f"blocks:\n- {{op: gelu, id: a0, from: a{n - 1}}}\n"
    return X + head + lines("- {op: gelu, id: a#, from: a@}", n, 1)


@shape
def reference_cycles(n: int) -> str:
    return (
        X + "blocks:\n" + lines("- {op: gelu, id: a#, from: b#}\n- {op: gelu, id: b#, from: a#}", n)
    )


# ---- several files -------------------------------------------------------------------------

IO = "dims: {d: width}\ninputs: {x: [3, d]}\noutputs: {y: [3, d]}\nblocks:\n"


@shape
def uses_of_one(n: int) -> Made:
    return {"a.yaml": IO + lines("- {use: b}", n), "b.yaml": IO + "- gelu\n"}


@shape
def uses_bound_apart(n: int) -> Made:
    inner = IO.replace("width", "width, e: inner")
    inner += "- {op: linear, out: e}\n- {op: linear, out: d}\n"
    return {"a.yaml": IO + lines("- {use: b, with: {e: #1}}", n), "b.yaml": inner}


@shape
def uses_of_many(n: int) -> Made:
    made: dict[str, str] = {"a.yaml": IO + lines("- {use: b#}", n)}
    made.update({f"b{i}.yaml": IO + "- gelu\n" for i in range(n)})
    return made


@shape
def uses_in_a_row(n: int) -> Made:
    made = {f"a{i}.yaml": IO + f"- {{use: a{i + 1}}}\n" for i in range(n)}
    made[f"a{n}.yaml"] = IO + "- gelu\n"
    return made


@shape
def uses_called_out(n: int) -> Made:
    return {"a.yaml": IO + lines("- {use: b, open: callout}", n), "b.yaml": IO + "- gelu\n"}


@shape
def uses_opened(n: int) -> Made:
    return {"a.yaml": IO + lines("- {use: b, open: true}", n), "b.yaml": IO + "- gelu\n- silu\n"}


@shape
def uses_faulty(n: int) -> Made:
    return {
        "a.yaml": IO + lines("- {use: b, with: {e: #1}}", n),
        "b.yaml": IO.replace("width", "width, e: inner") + "- {op: linear, out: e}\n",
    }


@shape
def uses_doubled(n: int) -> Made:
    deep = max(1, n.bit_length())
    made = {f"a{i}.yaml": IO + f"- {{use: a{i + 1}}}\n" * 2 for i in range(deep)}
    made[f"a{deep}.yaml"] = IO + "- gelu\n"
    return made


# ---- the stages ----------------------------------------------------------------------------


def stages(place: Path, *, drawn: bool = True) -> dict[str, float]:
    """Seconds of each stage on one spec; those after a refusal are left out, and, unless it is
    ``drawn``, those after the counts."""
    from transformer_diagrams import DiagramError, api, pipeline
    from transformer_diagrams.diff.compare import compare as compare_graphs
    from transformer_diagrams.faults_text import faults_text

    took: dict[str, float] = {}
    begin = time.process_time()

    def done(name: str) -> None:
        nonlocal begin
        now = time.process_time()
        took[name] = now - begin
        begin = now

    try:
        model = api.Model.find(str(place))
        report = model._loaded[1]
        done("load")
        report = model.check()
        done("check")
        faults_text(report.faults)
        done("words")
        if not report.ok:
            return took
        inspection = model.inspection()
        inspection.as_json()
        done("inspect")
        if not drawn:
            return took
        model.graph()
        done("graph")
        scene = model.scene()
        done("layout")
        from transformer_diagrams.lint import lint
        from transformer_diagrams.options import settle

        lint(scene, pipeline.theme(settle({})))
        done("lint")
        model._render("svg", model._options({}))
        done("svg")
        model.emit("graph")
        done("emit")
        compare_graphs(model.spec, model.spec, (model.graph(), model.graph()), (inspection,) * 2)
        done("diff")
    except DiagramError as fault:
        done("refused:" + fault.faults[0].code)
    return took


def write(made: Made, folder: Path) -> Path:
    files = {"a.yaml": made} if isinstance(made, str) else made
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / next(iter(files))


def measure(name: str, size: int, most: float, stop: int = 1 << 20) -> None:
    """Print the growth of one kind."""
    before: dict[str, float] = {}
    while size <= stop:
        with tempfile.TemporaryDirectory() as folder:
            took = stages(write(SHAPES[name](size), Path(folder)))
        parts = []
        for stage, seconds in took.items():
            if seconds >= 0.02:
                ratio = seconds / before[stage] if before.get(stage, 0) > 0.01 else 0
                mark = "!" if ratio > 2.8 and seconds > 0.1 else ""
                parts.append(f"{stage} {seconds:.2f}" + (f" x{ratio:.1f}{mark}" if ratio else ""))
        print(f"{name:28} {size:7} {sum(took.values()):6.2f} s  {'; '.join(parts)}", flush=True)
        if sum(took.values()) > most:
            break
        before = took
        size *= 2


def main(arguments: list[str]) -> None:
    import resource

    most, size = 6.0, 250
    names: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--most":
            most = float(next(words))
        elif word == "--from":
            size = int(next(words))
        else:
            names += [name for name in SHAPES if name == word or name.startswith(f"{word}-")]
    os.environ.setdefault("TRANSFORMER_DIAGRAMS_CACHE", tempfile.mkdtemp())
    for name in names or list(SHAPES):
        child = os.fork()
        if not child:
            resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (int(most * 12), int(most * 12) + 1))
            code = 1
            try:
                measure(name, size, most)
                code = 0
            except BaseException as fault:
                last = traceback.extract_tb(fault.__traceback__)[-1]
                where = f"{Path(last.filename).name}:{last.lineno}"
                print(f"{name:28} {type(fault).__name__}: {fault} ({where})"[:300], flush=True)
            os._exit(code)
        _, status = os.waitpid(child, 0)
        if status and os.WIFSIGNALED(status):
            print(f"{name:28} killed by signal {os.WTERMSIG(status)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
