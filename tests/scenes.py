"""Hand-made scenes for the drawing tests: small ones, and a tower and a module of real size."""

from __future__ import annotations

from transformer_diagrams.layout.scene import Box, Label, Line, Rect, Scene
from transformer_diagrams.render.formats import Drawing
from transformer_diagrams.text import measure
from transformer_diagrams.theme import Theme, get


def drawing(scene: Scene, theme: Theme | None = None, **asked: object) -> Drawing:
    """A scene on its way to a format, in the default theme."""
    return Drawing(scene, theme or get(), **asked)  # type: ignore[arg-type]


class Builder:
    """Puts boxes, lines and labels into a scene, with labels measured and centred."""

    def __init__(self, theme: Theme | None = None) -> None:
        self.theme = theme or get()
        self.boxes: list[Box] = []
        self.lines: list[Line] = []
        self.labels: list[Label] = []
        self.dots: list[tuple[float, float, str]] = []

    def label(
        self,
        markup: str,
        x: float,
        y: float,
        *,
        size: float = 0.0,
        kind: str = "shape",
        owner: str = "",
        role: str = "",
        anchor: str = "left",
        weight: str = "regular",
        align: str = "middle",
    ) -> Label:
        """A label whose vertical middle is ``y`` and whose left end, middle or right end is x."""
        size = size or getattr(self.theme.sizes, f"font_{kind}", self.theme.sizes.font_block)
        layout = measure(markup, size, weight, align)
        left = x - layout.width * {"left": 0.0, "middle": 0.5, "right": 1.0}[anchor]
        base = layout.baseline(y)
        if len(layout.lines) > 1 or layout.height > 2 * size:  # as the layout does
            base = y - layout.height / 2 + layout.ascent
        il, it, ir, ib = layout.ink
        made = Label(
            f"t{len(self.labels)}", markup, left, base, size, kind,
            Rect(left + il, base + it, ir - il, ib - it), owner, role, weight, align,
        )  # fmt: skip
        self.labels.append(made)
        return made

    def box(
        self, name: str, text: str, x: float, y: float, width: float, role: str, **more: object
    ) -> Box:
        height = float(more.pop("height", self.theme.sizes.box_height))  # type: ignore[arg-type]
        rect = Rect(x - width / 2, y - height / 2, width, height)
        made = Box(name, rect, "box", role, path=name, **more)  # type: ignore[arg-type]
        self.boxes.append(made)
        if text:
            self.label(text, x, y, kind="block", owner=name, role=role, anchor="middle")
        return made

    def circle(self, name: str, x: float, y: float, symbol: str = "+") -> None:
        r = self.theme.sizes.circle_radius
        rect = Rect(x - r, y - r, 2 * r, 2 * r)
        self.boxes.append(Box(name, rect, "circle", "plain", symbol=symbol, path=name))

    def frame(
        self, name: str, rect: Rect, title: str = "", badge: str = "", **more: object
    ) -> None:
        self.boxes.append(Box(name, rect, "frame", "container", path=name, **more))  # type: ignore[arg-type]
        s = self.theme.sizes
        y = rect.bottom - s.title_pad_y - s.font_title * 0.35
        if title:
            self.label(
                title, rect.left + s.title_pad_x, y, kind="title", owner=name, weight="medium"
            )
        if badge:
            self.label(
                badge, rect.right - s.title_pad_x, y, kind="badge", owner=name, anchor="right"
            )

    def io(self, name: str, text: str, x: float, y: float) -> None:
        label = self.label(text, x, y, kind="io", owner=name, anchor="middle")
        self.boxes.append(Box(name, label.rect, "text", "data", path=name))

    def line(self, tail: str, head: str, *points: tuple[float, float], **more: object) -> None:
        self.lines.append(
            Line(f"e{len(self.lines)}", tuple(points), tail=tail, head=head, **more)  # type: ignore[arg-type]
        )

    def scene(self, width: float, height: float, **more: str) -> Scene:
        return Scene(
            more.get("id", "example"), more.get("title", "Example"), more.get("desc", ""),
            width, height, tuple(self.boxes), tuple(self.lines), tuple(self.labels),
            tuple(self.dots),
        )  # fmt: skip


def tower(theme: Theme | None = None) -> Scene:
    """A whole model beside its attention module: about 40 labels, all kinds of lines."""
    b = Builder(theme)
    k = b.theme.sizes.font_block / 9.0

    def p(*numbers: float) -> tuple[float, ...]:
        return tuple(n * k for n in numbers)

    def box(name: str, text: str, x: float, y: float, w: float, role: str, **more: object) -> None:
        b.box(name, text, x * k, y * k, w * k, role, **more)

    def line(tail: str, head: str, *points: tuple[float, float], **more: object) -> None:
        b.line(tail, head, *((x * k, y * k) for x, y in points), **more)

    def shape(text: str, x: float, y: float) -> None:
        b.label(text, x * k + b.theme.sizes.label_gap, y * k)

    b.frame("block", Rect(*p(30, 154, 168, 294)), "Transformer block", "$32\\times$")
    b.frame("gqa", Rect(*p(260, 94, 310, 372)), "Grouped-query attention (GQA)")
    cx = 118
    box("softmax", "softmax", cx, 48, 98, "activation")
    box("head", "Linear (unembedding)", cx, 88, 104, "projection")
    box("norm", "RMSNorm", cx, 128, 98, "norm")
    b.circle("add2", cx * k, 181 * k)
    box("ffn", "SwiGLU FFN", cx, 221, 98, "ffn", use="swiglu")
    box("norm2", "RMSNorm", cx, 263, 98, "norm")
    b.circle("add1", cx * k, 323 * k)
    box("attn", "GQA", cx, 363, 98, "attention", use="gqa")
    box("norm1", "RMSNorm", cx, 405, 98, "norm")
    box("embed", "Token embedding", cx, 472, 98, "embedding")
    b.io("probs", "next-token probabilities", *p(cx, 13))
    b.io("tokens", "tokens", *p(cx, 505))
    h = 10.5
    r = 7.25
    line("tokens", "embed", (cx, 499), (cx, 472 + h), spine=True)
    line("embed", "norm1", (cx, 472 - h), (cx, 405 + h), spine=True)
    line("norm1", "attn", (cx, 405 - h), (cx, 363 + h), spine=True)
    line("attn", "add1", (cx, 363 - h), (cx, 323 + r), spine=True)
    line("add1", "norm2", (cx, 323 - r), (cx, 263 + h), spine=True)
    line("norm2", "ffn", (cx, 263 - h), (cx, 221 + h), spine=True)
    line("ffn", "add2", (cx, 221 - h), (cx, 181 + r), spine=True)
    line("add2", "norm", (cx, 181 - r), (cx, 128 + h), spine=True)
    line("norm", "head", (cx, 128 - h), (cx, 88 + h), spine=True)
    line("head", "softmax", (cx, 88 - h), (cx, 48 + h), spine=True)
    line("softmax", "probs", (cx, 48 - h), (cx, 20), spine=True)
    line("embed", "add1", (cx, 430), (180, 430), (180, 323), (cx + r, 323), kind="residual")
    line("add1", "add2", (cx, 290), (180, 290), (180, 181), (cx + r, 181), kind="residual")
    shape("$d_t$", cx, 491)
    shape("$d_t \\times d_m$", cx, 454.5)
    shape("$d_t \\times V$", cx, 30)

    q, kk, v = 336, 426, 513
    mid = 350
    for name, x in (("Q", q), ("K", kk), ("V", v)):
        box(f"lin{name}", f"Linear $W_{name}$", x, 411, 68, "projection")
    box("ropeQ", "RoPE", q, 364, 56, "position")
    box("ropeK", "RoPE", kk, 364, 56, "position")
    box("cache", "KV cache $2\\,n_g\\,d_K$ per token", 471, 316, 164, "cache", line="dashed",
        height=22 * k)  # fmt: skip
    box("qk", "matmul $Q_hK_{g(h)}^\\top$", mid, 269, 102, "plain")
    box("scale", "scale $1/\\sqrt{d_K}$", mid, 231, 82, "plain")
    box("mask", "causal mask, softmax", mid, 196, 102, "activation")
    box("av", "matmul $A_hV_{g(h)}$", 360, 157, 102, "plain")
    box("out", "Linear $W_O$", 360, 121, 68, "projection")
    b.io("x", "$X$", *p(kk, 505))
    b.io("y", "$Y$", *p(360, 65))
    line("x", "linK", (kk, 498), (kk, 411 + h), net="x")
    line("x", "linQ", (kk, 443), (q, 443), (q, 411 + h), net="x")
    line("x", "linV", (kk, 443), (v, 443), (v, 411 + h), net="x")
    b.dots.append((kk * k, 443 * k, "data"))
    for name, x in (("Q", q), ("K", kk)):
        line(f"lin{name}", f"rope{name}", (x, 411 - h), (x, 364 + h))
    line("linV", "cache", (v, 411 - h), (v, 327))
    line("ropeK", "cache", (kk, 364 - h), (kk, 327))
    line("ropeQ", "qk", (q, 364 - h), (q, 269 + h))
    line("cache", "qk", (kk, 305), (kk, 289), (364, 289), (364, 269 + h))
    line("cache", "av", (v, 305), (v, 177), (383, 177), (383, 157 + h))
    line("qk", "scale", (mid, 269 - h), (mid, 231 + h))
    line("scale", "mask", (mid, 231 - h), (mid, 196 + h))
    line("mask", "av", (mid, 196 - h), (mid, 157 + h))
    line("av", "out", (360, 157 - h), (360, 121 + h))
    line("out", "y", (360, 121 - h), (360, 73))
    shape("$d_t \\times n_h \\times d_K$", q, 388)
    shape("$d_t \\times n_g \\times d_K$", kk, 388)
    shape("$d_t \\times n_g \\times d_V$", v, 388)
    shape("$n_h \\times d_t \\times d_s$", mid, 251)
    shape("$d_t \\times n_h d_V$", 360, 140)
    shape("$d_t \\times d_m$", kk, 488)
    shape("$d_t \\times d_m$", 360, 85)
    b.label("$d_K = d_V = d_m / n_h,\\quad n_g \\mid n_h$", 415 * k, 24 * k, kind="header",
            anchor="middle")  # fmt: skip
    b.label("8B: $d_m = 4096,\\; n_h = 32,\\; n_g = 8,\\; d_K = 128$", 415 * k, 40 * k,
            kind="header", anchor="middle")  # fmt: skip
    return b.scene(584 * k, 518 * k, id="tower", title="Llama 3",
                   desc="A decoder block, 32 times, with grouped-query attention.")  # fmt: skip


def signs(theme: Theme | None = None) -> Scene:
    """Every role, form, mark and kind of line once."""
    from transformer_diagrams.roles import ROLES

    b = Builder(theme)
    k = b.theme.sizes.font_block / 9.0
    for index, role in enumerate(ROLES):
        col, row = index % 4, index // 4
        b.box(role, role, (60 + col * 105) * k, (30 + row * 44) * k, 80 * k, role)
    y = 220.0
    for index, mark in enumerate(("frozen", "trained", "tied", "ema")):
        b.box(f"m-{mark}", mark, (60 + index * 105) * k, y * k, 70 * k, "projection", mark=mark)
    b.box("stack", "head $h$", 60 * k, 270 * k, 70 * k, "attention", stack=3)
    b.box("train", "loss", 165 * k, 270 * k, 70 * k, "loss", when="train")
    b.box("infer", "KV cache", 270 * k, 270 * k, 70 * k, "cache", when="infer")
    b.circle("mul", 375 * k, 270 * k, "×")
    for index, more in enumerate(
        (
            {"mark": "stop-gradient"},
            {"mark": "ema"},
            {"when": "train"},
            {"when": "infer"},
            {"kind": "residual"},
            {"kind": "leader", "arrow": False},
        )
    ):
        x = (40 + index * 70) * k
        b.line("", "", (x, 370 * k), (x, 330 * k), (x + 30 * k, 330 * k), (x + 30 * k, 300 * k),
               **more)  # type: ignore[arg-type]  # fmt: skip
    return b.scene(440 * k, 384 * k, id="signs", title="Signs & <marks>")
