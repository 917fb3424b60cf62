"""Figures of training alone and of inference alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selection import IDS, mostly_slow

from transformer_diagrams import api
from transformer_diagrams.choices import MODES
from transformer_diagrams.graph.ir import BORDER, Group, Node
from transformer_diagrams.options import AskError

SPEC = """\
dims: {n: {}, m: {}, c: {}}
inputs:
  x: [n, m]
  truth: {shape: [n, c], when: train}
outputs:
  found: {from: sure, when: infer}
  loss: {from: loss, when: train}
blocks:
  - {op: linear, id: body, out: m}
  - {op: linear, id: logits, out: c}
  - {op: softmax, id: sure, when: infer}
  - {id: aux, from: body, group: [{op: linear, id: far, out: c}]}
  - {op: add, id: both, from: [logits, aux]}
  - {op: mse, id: loss, from: [both, truth], when: train}
"""


def names(group: Group) -> set[str]:
    return {
        name
        for child in group.children
        for name in ({child.path} | names(child) if isinstance(child, Group) else {child.path})
    }


def drawn(mode: str) -> Group:
    return api.Model.from_text(SPEC).graph(mode=mode).root


def test_what_served_only_the_other_time_goes_with_it() -> None:
    every = names(drawn("all"))
    assert names(drawn("train")) == {n for n in every if n not in ("sure", "found")} != every
    left = names(drawn("inference"))
    assert every - left == {"truth", "loss", "loss.out", "both", "aux", "far"}


def groups(group: Group) -> Iterator[Group]:
    yield group
    for child in group.children:
        if isinstance(child, Group):
            yield from groups(child)


MARKED = tuple(
    name for name in IDS
    if "when: train" in (text := api.load(name).as_text()) or "when: infer" in text
)  # fmt: skip
EACH = mostly_slow(MARKED, lambda name: name in ("detr", "mtp-parallel", "clm"))


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("mode", MODES[1:])
def test_a_figure_of_one_time_is_whole_and_clean(name: str, mode: str) -> None:
    """No line without an end, no port without a line that had one, nothing of the other time."""
    model = api.load(name)
    whole, root = model.graph(mode="all").root, model.graph(mode=mode).root
    assert names(root) <= names(whole)
    assert len(names(root)) > 3
    returned = {head for g in groups(whole) for back in g.returns for head in back.heads}
    for group in groups(root):
        for edge in group.edges:
            for end, is_tail in ((edge.tail, True), (edge.head, False)):
                part: Node | Group = group if end.child == BORDER else group.children[end.child]
                ports = part.inputs if is_tail == (end.child == BORDER) else part.outputs
                assert end.port < len(ports)
            assert edge.when == "always"
        heads = {edge.head for edge in group.edges}
        for at, child in enumerate(group.children):
            assert child.when == "always"
            if isinstance(child, Node) and child.path not in returned:
                assert len({h.port for h in heads if h.child == at}) == len(child.inputs)
    for direction in ("up", "right"):
        assert not model.lint(mode=mode, direction=direction).findings


def test_the_losses_of_detr_are_of_training_alone() -> None:
    def ends(mode: str) -> set[str]:
        root = api.load("detr").graph(mode=mode).root
        nodes = (c for c in root.children if isinstance(c, Node))
        return {node.path.removesuffix(".out") for node in nodes if node.op == "output"}

    assert ends("inference") == {"class_logits", "boxes"}
    assert ends("train") == {"class_logits", "boxes", "loss"}


def test_what_is_not_there_does_not_count() -> None:
    """By hand: the auxiliary layer, of m c weights with none in bias, serves the loss alone."""
    model = api.Model.from_text(SPEC)
    sizes = {"n": 3, "m": 5, "c": 7}
    totals = {
        mode: model.inspect(set=sizes, mode=mode)["params"]["total"]
        for mode in MODES
    }
    assert totals == {"all": 25 + 35 + 35, "train": 25 + 35 + 35, "inference": 25 + 35}
    assert model.inspect(set=sizes, mode="inference")["flops"]["macs"] == 3 * (25 + 35)
    tree = model.inspection(set=sizes, mode="inference", by_block=True).blocks
    assert tree is not None
    assert sum(block.params.number or 0 for block in tree.blocks) == 60
    with pytest.raises(AskError):
        model.inspect(set=sizes, mode="inference", flops="train")


def test_what_a_used_part_gives_to_the_loss_alone_is_left_out_in_it() -> None:
    """Without its module for later tokens, DeepSeek-V3 has the 671 billion weights of its paper."""
    model = api.load("mtp-chained")
    whole, left = (
        model.inspect("deepseek-v3", mode=mode)["params"]["total"] for mode in ("all", "inference")
    )
    assert left == api.load("deepseek-v3").inspect("V3")["params"]["total"]
    assert whole > left


@pytest.mark.parametrize("config", ["B", "Ti", "S"])
def test_deit_at_inference_follows_from_deit(config: str) -> None:
    trained, used = api.load("deit"), api.load("deit-inference")
    one = trained.inspect(config, mode="inference")
    other = used.inspect(config)
    for key in ("params", "flops"):
        assert one[key] == other[key]
    kinds = [
        sorted(node.op for g in groups(root) for node in g.children if isinstance(node, Node))
        for root in (trained.graph(mode="inference").root, used.graph().root)
    ]
    assert kinds[0] == kinds[1]
    assert "cross_entropy" not in kinds[0]
