"""Large specs, made by rule: `python benchmarks/big.py FOLDER` writes them all.

Each function gives the text of one spec; `write` puts a set of them into a folder.
"""

from __future__ import annotations

import sys
from pathlib import Path

HEAD = "title: {title}\ndims: {{d_t: positions, d_m: width}}\ninputs: {{x: [d_t, d_m]}}\n"


def chain(n: int) -> str:
    """``n`` blocks, each taking the one before."""
    return HEAD.format(title=f"Chain of {n}") + "blocks:\n" + "  - gelu\n" * n


def chain_with_skips(n: int, step: int = 4) -> str:
    """``n`` blocks in a chain; every ``step``-th one also takes the one ``step`` before it."""
    lines = [HEAD.format(title=f"Chain of {n} with skips"), "blocks:\n"]
    for i in range(n):
        if i and i % step == 0:
            lines.append(f"  - {{op: add, id: n{i}, from: [n{i - 1}, n{i - step}]}}\n")
        else:
            lines.append(f"  - {{op: gelu, id: n{i}}}\n")
    return "".join(lines)


def fan(n: int, sinks: int = 7) -> str:
    """``n`` blocks side by side that all feed one adder, and each one of ``sinks`` more."""
    lines = [HEAD.format(title=f"Fan of {n}"), "outputs:\n", "  y: {from: c}\n"]
    lines += [f"  y{j}: {{from: d{j}}}\n" for j in range(sinks)]
    lines.append("blocks:\n")
    lines += [f"  - {{op: gelu, id: a{i}, from: x}}\n" for i in range(n)]
    everyone = ", ".join(f"a{i}" for i in range(n))
    lines.append(f"  - {{op: add, id: c, from: [{everyone}]}}\n")
    for j in range(sinks):
        some = ", ".join(f"a{i}" for i in range(j, n, sinks))
        lines.append(f"  - {{op: add, id: d{j}, from: [{some}]}}\n")
    return "".join(lines)


BLOCK = """title: Block
dims: {d_t: positions, d_m: width}
inputs: {x: [d_t, d_m]}
blocks:
  - residual:
      - rmsnorm
      - {op: linear, out: d_m, bias: false}
  - residual:
      - rmsnorm
      - {op: linear, id: up, out: 4 d_m, bias: false}
      - gelu
      - {op: linear, id: down, out: d_m, bias: false}
"""


def opened(n: int) -> str:
    """A stack of ``n`` uses of `block`, all opened in place."""
    head = HEAD.format(title=f"Stack of {n} opened blocks")
    return head + "blocks:\n" + "  - {use: block, open: true}\n" * n


def nested_groups(depth: int) -> str:
    """Groups in groups, ``depth`` deep, in block style."""
    lines = [HEAD.format(title=f"{depth} nested groups"), "blocks:\n"]
    for level in range(depth):
        lines.append("  " * (2 * level + 1) + f"- title: g{level}\n")
        lines.append("  " * (2 * level + 2) + "group:\n")
    lines.append("  " * (2 * depth + 1) + "- gelu\n")
    return "".join(lines)


def long_label(words: int = 10_000) -> str:
    """One block whose label has ``words`` times two words (100 kB for 10,000)."""
    text = "long text " * words
    return HEAD.format(title="Long label") + f"blocks:\n  - {{op: gelu, label: '{text}'}}\n"


def cycle(n: int) -> str:
    """A chain of ``n`` whose first block also takes the last one: no model can be like that."""
    lines = [HEAD.format(title=f"Cycle of {n}"), "blocks:\n"]
    lines.append(f"  - {{op: add, id: n0, from: [x, n{n - 1}]}}\n")
    lines += [f"  - {{op: gelu, id: n{i}}}\n" for i in range(1, n)]
    return "".join(lines)


def user(other: str, title: str) -> str:
    """A spec that does nothing but use another one."""
    return HEAD.format(title=title) + f"blocks:\n  - {{use: {other}}}\n"


def write(folder: Path) -> dict[str, Path]:
    """Write every large spec into ``folder``; gives the path of each by name."""
    texts = {
        "chain-1000-skips": chain_with_skips(1000),
        "chain-100000": chain(100_000),
        "fan-2000": fan(2000),
        "nested-200": nested_groups(200),
        "label-100kB": long_label(),
        "cycle-20000": cycle(20_000),
        "g1": user("g2", "First"),
        "g2": user("g1", "Second"),
        "block": BLOCK,
        **{f"opened-{n}": opened(n) for n in (100, 300, 1000, 3000)},
    }
    folder.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, text in texts.items():
        paths[name] = folder / f"{name}.yaml"
        paths[name].write_text(text, encoding="utf-8")
    return paths


if __name__ == "__main__":
    for path in write(Path(sys.argv[1] if len(sys.argv) > 1 else ".cache/big")).values():
        print(path)
