"""Counts block by block, in bytes, of a training pass, and as tables: sums and published sizes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from selection import FIGURES, mostly_slow

from transformer_diagrams import api
from transformer_diagrams.cli.app import run
from transformer_diagrams.count.blocks import Counts
from transformer_diagrams.errors import DiagramError

COUNTS = ("params", "active", "flops", "macs", "cache")


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[[str], tuple[int, str, str]]:
    def call(line: str) -> tuple[int, str, str]:
        code = run(line.split())
        out, err = capsys.readouterr()
        return code, out, err

    return call


def check_sums(block: Counts) -> None:
    """What stands below a block adds up to it, in formulas too."""
    for name in COUNTS if block.blocks else ():
        parts = [getattr(part, name).exact for part in block.blocks]
        assert sum(parts[1:], parts[0]) == getattr(block, name).exact, (block.path, name)
    for part in block.blocks:
        check_sums(part)


@pytest.mark.parametrize("flops", mostly_slow(["dense", "causal", "train"], "causal".__eq__))
@pytest.mark.parametrize("id", FIGURES)
def test_the_tree_adds_up_to_the_totals(id: str, flops: str) -> None:
    found = api.load(id).inspection(flops=flops, by_block=True)
    tree = found.blocks
    assert tree is not None
    assert tree.params.exact == found.params.total.exact
    assert tree.active.exact == found.params.active.exact
    assert tree.flops.exact == found.flops.exact
    assert tree.macs.exact == found.macs.exact
    assert tree.cache.exact == found.kv_cache.total.exact
    check_sums(tree)


def test_a_repeat_stands_there_once_with_its_count() -> None:
    tree = api.load("llama3").inspection("8B", by_block=True).blocks
    assert tree is not None
    (repeat,) = [block for block in tree.blocks if block.kind == "repeat"]
    assert repeat.times.number == 32
    assert repeat.params.number == 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 3 * 4096 * 14336
                                         + 2 * 4096)  # fmt: skip
    ids = {block.path for _, block in tree.walk()}
    assert "repeat/residual/attention/k" in ids
    assert [level for level, _ in tree.walk(1)] == [0] + [1] * len(tree.blocks)


def test_shared_and_tied_weights_stand_where_they_are_kept() -> None:
    tree = api.load("gpt2").inspection("small", by_block=True).blocks
    assert tree is not None
    assert tree.params.number == 124_439_808
    by_id = {block.id: block for block in tree.blocks}
    assert by_id["head"].params.number == 0  # the token table, which is counted there
    assert by_id["head"].flops.number


# -- a training pass


LINEAR = """title: T
dims: {n: {doc: rows, value: 8}, a: {doc: width, value: 16}}
inputs: {x: [n, a]}
blocks:
  - {op: linear, out: 32, bias: false}
"""


def macs(text: str, flops: str) -> int:
    return int(api.load("t.yaml", text=text).inspect(flops=flops)["flops"]["macs"])


def test_a_training_pass_is_three_products_for_each() -> None:
    """x W, then the gradient by W and the gradient by x: each n a b multiply-adds."""
    assert macs(LINEAR, "dense") == 8 * 16 * 32
    assert macs(LINEAR, "train") == 3 * 8 * 16 * 32


def test_a_training_pass_has_what_is_there_in_training_alone() -> None:
    more = LINEAR + "  - {op: linear, out: 4, bias: false, when: %s}\n"
    assert macs(more % "train", "dense") == 8 * 16 * 32
    assert macs(more % "train", "train") == 3 * (8 * 16 * 32 + 8 * 32 * 4)
    assert macs(more % "infer", "dense") == 8 * 16 * 32 + 8 * 32 * 4
    assert macs(more % "infer", "train") == 3 * 8 * 16 * 32


def test_a_training_pass_of_a_dense_model_is_three_times_its_forward_pass() -> None:
    model = api.load("llama3")
    once, trained = (model.inspect("8B", flops=f)["flops"]["forward"] for f in ("dense", "train"))
    assert trained == 3 * once


# -- bytes


@pytest.mark.parametrize(
    ("id", "config", "asked", "weights", "cache"),
    [
        # 2 bytes for each of the 8,030,261,248 weights; 128 kB for each of 8,192 tokens
        ("llama3", "8B", {"dtype": "bf16", "length": 8192}, 16_060_522_496, 8192 * 131_072),
        # 2 * 8 heads * 128 * 80 layers * 8,192 tokens * 2 bytes = 2.5 GiB a sequence
        ("llama3", "70B", {"dtype": "weights=int4,cache=fp16", "length": 8192, "batch": 4},
         35_276_853_248, 4 * 5 * 2**29),
        ("gpt2", "small", {"dtype": "cache=fp8, weights=fp32", "length": 1024}, 497_759_232,
         2 * 768 * 12 * 1024),
    ],
)  # fmt: skip
def test_bytes_are_those_of_the_published_sizes(
    id: str, config: str, asked: dict[str, Any], weights: int, cache: int
) -> None:
    found = api.load(id).inspect(config, **asked)["memory"]
    assert (found["weights"], found["cache"]) == (weights, cache)
    assert found["total"] == weights + cache


def test_half_a_byte_too_much_is_a_whole_one() -> None:
    odd = LINEAR.replace("out: 32, bias: false", "out: 1, bias: true")  # 17 weights
    assert api.load("t.yaml", text=odd).inspect(dtype="int4")["memory"]["weights"] == 9


@pytest.mark.parametrize(
    ("dtype", "named"),
    [
        ("int", "int8"),
        ("weight=int4,cache=fp8", "weights"),
        ("weights=int4", "the type of cache"),
        ("bf16,bf16", "said twice"),
        ("", "no type"),
    ],
)
def test_a_type_that_is_none_is_told(dtype: str, named: str) -> None:
    with pytest.raises(DiagramError) as caught:
        api.load("gqa").inspect(dtype=dtype)
    (fault,) = caught.value.faults
    assert named in fault.message + fault.hint


# -- tables


def test_the_tree_as_csv_is_read_back(said: Any) -> None:
    code, out, _ = said("inspect llama3 --config 8B --by block --depth 9 --as csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert int(rows[0]["parameters"]) == 8_030_261_248
    top = [row for row in rows if row["level"] == "1"]
    for name in ("parameters", "FLOPs", "cache"):
        assert sum(int(row[name]) for row in top) == int(rows[0][name])


@pytest.mark.parametrize("more", ["", " --by block", " --dtype bf16", " gqa"])
def test_tables_have_the_same_cells_in_every_form(said: Any, more: str) -> None:
    line = f"inspect gpt2{more}"
    if " gqa" not in more:
        line += " --config small"
    code, out, _ = said(f"{line} --as latex")
    assert code == 0
    body = [row for row in out.splitlines() if row.endswith(r"\\")]
    (columns,) = re.findall(r"@\{\}([lr]+)@\{\}", out)
    assert {row.replace(r"\&", "").count("&") for row in body} == {len(columns) - 1}
    for row in body:
        words = re.sub(r"\$[^$]*\$", "", re.sub(r"\\[_%&#]", "", row))
        assert not {*"_^$%#"} & {*words}
    _, out, _ = said(f"{line} --as markdown")
    marks = out.replace(r"\|", "").splitlines()
    assert {row.count("|") for row in marks} == {marks[0].count("|")}
    assert len(marks) == len(body) + 1
    _, out, _ = said(f"{line} --as csv")
    assert len({len(row) for row in csv.reader(io.StringIO(out))}) == 1
    assert len(out.splitlines()) == len(body)


def test_several_specs_make_one_table_with_the_config_of_each(said: Any) -> None:
    code, out, _ = said("inspect llama3 gpt2 mixtral --as csv")
    assert code == 0
    named = {row[1]: row[2:] for row in csv.reader(io.StringIO(out))}
    assert named["config"] == ["8B", "small", "8x7B"]
    assert named["parameters"] == ["8030261248", "124439808", "46702792704"]
    assert named["routed_experts"][:2] == ["0", "0"]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("inspect gqa --depth 2", "--by block"),
        ("inspect gqa --by layer", "block"),
        ("inspect gqa --dtype bf61", "bf16"),
        ("inspect gqa --batch 0", "batch"),
        ("inspect gqa --as html", "latex"),
        ("inspect gqa --flops backward", "train"),
    ],
)
def test_a_wrong_wish_is_told_with_code_2(said: Any, line: str, named: str) -> None:
    code, _, err = said(line)
    assert code == 2
    assert named in err


def test_the_tree_is_in_the_json_when_asked(said: Any) -> None:
    _, out, _ = said("inspect gqa --set d_m=512 --set n_h=8 --set n_g=2 --by block --json")
    tree = json.loads(out)["blocks"]
    assert tree["params"] == 655_360
    assert sum(block["params"] for block in tree["blocks"]) == 655_360
    assert "blocks" not in json.loads(said("inspect gqa --json")[1])
