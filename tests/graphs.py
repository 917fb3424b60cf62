"""Block graphs made by hand or by chance, for tests of the layout."""

from __future__ import annotations

import random

from transformer_diagrams.graph.ir import BORDER, Edge, End, Graph, Group, Node, Port
from transformer_diagrams.ops.registry import Shape

ROLES = ("norm", "attention", "ffn", "projection", "plain", "activation", "position")
WORDS = (
    "Linear $W_Q$",
    "RMSNorm",
    "softmax",
    "concat",
    "matmul $QK^\\top$",
    "RoPE",
    "GELU",
    "Pool",
)
SHAPE = Shape.parse(["d_t", "d_m"])


def node(path: str, label: str = "Block", ins: int = 1, outs: int = 1, **more: object) -> Node:
    """A closed box."""
    return Node(
        path,
        str(more.pop("op", "box")),
        str(more.pop("role", "plain")),
        label,
        tuple(Port(f"x{i}") for i in range(ins)),
        tuple(Port(f"y{i}", more.get("shape")) for i in range(outs)),  # type: ignore[arg-type]
        **{k: v for k, v in more.items() if k != "shape"},  # type: ignore[arg-type]
    )


def adder(path: str, ins: int = 2) -> Node:
    """A junction."""
    return node(path, "+", ins, op="add", form="circle", symbol="+")


def chain(path: str, kind: str, children: list[Node | Group], **more: object) -> Group:
    """A group whose children follow one another."""
    edges = [Edge(End(BORDER, 0), End(0, 0))]
    edges += [Edge(End(i, 0), End(i + 1, 0)) for i in range(len(children) - 1)]
    edges.append(Edge(End(len(children) - 1, 0), End(BORDER, 0)))
    return Group(
        path,
        kind,
        tuple(children),
        tuple(edges),
        (Port("x"),),
        (Port("y"),),
        **more,  # type: ignore[arg-type]
    )


def residual(path: str, body: list[Node | Group]) -> Group:
    """x + body(x)."""
    group = chain(path, "residual", [*body, adder(f"{path}/add")])
    skip = Edge(End(BORDER, 0), End(len(body), 1), kind="residual")
    return Group(
        path, "residual", group.children, (*group.edges, skip), group.inputs, group.outputs
    )


def root(children: list[Node | Group], edges: list[Edge] | None = None) -> Graph:
    """A figure: by default one chain from an input to an output."""
    if edges is None:
        source = node("in", "$X$", 0, 1, op="input", form="text", shape=SHAPE)
        sink = node("out", "$Y$", 1, 0, op="output", form="text")
        children = [source, *children, sink]
        edges = [Edge(End(i, 0), End(i + 1, 0)) for i in range(len(children) - 1)]
    return Graph("figure", "Figure", "", Group("", "root", tuple(children), tuple(edges), (), ()))


def pre_norm_block(path: str) -> Group:
    """Two pre-norm residual branches in a frame."""
    return chain(
        path,
        "repeat",
        [
            residual(f"{path}/a", [node(f"{path}/a/n", "RMSNorm"), node(f"{path}/a/f", "GQA")]),
            residual(f"{path}/b", [node(f"{path}/b/n", "RMSNorm"), node(f"{path}/b/f", "SwiGLU")]),
        ],
        title="Transformer block",
        badge="$32 \\times$",
        framed=True,
    )


def stack(count: int) -> Graph:
    """A tower of opened blocks."""
    return root([pre_norm_block(f"b{i}") for i in range(count)])


def random_graph(seed: int, size: int = 12) -> Graph:
    """A connected acyclic figure of boxes, junctions, piles, caches and frames, by chance."""
    rng = random.Random(seed)
    children: list[Node | Group] = [node("in", "$X$", 0, 1, op="input", form="text", shape=SHAPE)]
    edges: list[Edge] = []
    free = [End(0, 0)]  # outputs that nothing reads yet

    def pick(count: int) -> list[End]:
        found: list[End] = []
        for _ in range(count):
            pool = [e for e in free if e not in found]
            if pool and rng.random() < 0.75:
                end = rng.choice(pool)
            else:
                taken = {(e.child, e.port) for e in found}
                every = [
                    End(c, p)
                    for c, child in enumerate(children)
                    for p in range(len(child.outputs))
                    if (c, p) not in taken
                ]
                if not every:
                    break
                end = rng.choice(every)
            found.append(end)
        return found

    for number in range(size):
        kind = rng.choice(("box",) * 6 + ("add", "frame", "pile", "cache", "fan", "source"))
        path = f"n{number}"
        label = rng.choice(WORDS)
        shape = Shape.parse([f"d_{number % 4}", "d_m"]) if rng.random() < 0.5 else None
        role = rng.choice(ROLES)
        want = {"add": 2, "cache": 2, "source": 0}.get(kind, rng.choice((1, 1, 1, 2, 3)))
        sources = pick(want)
        if kind == "add" and len(sources) == 2:
            child: Node | Group = adder(path)
        elif kind == "cache" and len(sources) == 2:
            child = node(path, "KV cache", 2, 2, op="cache", role="cache", dashed=True, lanes=True)
        elif kind == "frame" and len(sources) == 1:
            child = pre_norm_block(path)
        elif kind == "source":
            child = node(path, "mask", 0, 1, role="mask", shape=shape)
            sources = []
        elif kind == "pile":
            child = node(path, label, len(sources), 1, role=role, stack="$n_h$", shape=shape)
        elif kind == "fan":
            child = node(path, label, len(sources), 2, role=role, op="split", shape=shape)
        else:
            child = node(path, label, len(sources), 1, role=role, shape=shape)
        at = len(children)
        children.append(child)
        for port, end in enumerate(sources):
            edges.append(Edge(end, End(at, port)))
            if end in free:
                free.remove(end)
        free += [End(at, p) for p in range(len(child.outputs))]
    last = len(children)
    children.append(node("join", "join", len(free), 1, shape=SHAPE))
    edges += [Edge(end, End(last, port)) for port, end in enumerate(free)]
    children.append(node("out", "$Y$", 1, 0, op="output", form="text"))
    edges.append(Edge(End(last, 0), End(last + 1, 0)))
    return root(children, edges)
