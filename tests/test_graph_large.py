"""Length, width and depth: no recursion, no quadratic work."""

from __future__ import annotations

import time

from graph_specs import parts, spec_of

from transformer_diagrams.graph.build import build
from transformer_diagrams.graph.check import check


def chain(count: int) -> str:
    blocks = "".join(f"  - {{op: box, id: n{i}, label: L{i}}}\n" for i in range(count))
    return "title: T\ninputs: {x: [...]}\nblocks:\n" + blocks


def test_a_hundred_thousand_blocks_are_checked_in_time() -> None:
    """The whole check is allowed 20 s; reading the text takes its part of that."""
    spec = spec_of(chain(100_000))
    start = time.perf_counter()
    checked = check(spec)
    assert time.perf_counter() - start < 12
    assert not checked.report.faults


def test_a_fan_of_two_thousand_comes_in_at_one_port_each() -> None:
    blocks = "".join(f"  - {{op: box, id: a{i}, from: x}}\n" for i in range(2000))
    names = ", ".join(f"a{i}" for i in range(2000))
    text = f"title: T\ninputs: {{x: [...]}}\nblocks:\n{blocks}"
    graph = build(spec_of(text + f"  - {{op: add, id: s, from: [{names}]}}\n"))
    assert len(parts(graph.root)["s"].inputs) == 2000


def test_skips_over_long_ways_stay_linear() -> None:
    """A skip every four blocks, and one from the start to each hundredth block."""
    lines = []
    for i in range(4000):
        if i and i % 4 == 0:
            skip = "n0" if i % 100 == 0 else f"n{i - 4}"
            lines.append(f"  - {{op: add, id: n{i}, from: [n{i - 1}, {skip}]}}\n")
        else:
            lines.append(f"  - {{op: box, id: n{i}}}\n")
    spec = spec_of("title: T\ninputs: {x: [...]}\nblocks:\n" + "".join(lines))
    start = time.perf_counter()
    assert not check(spec).report.errors
    assert time.perf_counter() - start < 5
