"""Themes: complete, readable, and told apart in grey print and by colour-blind readers."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
import yaml

from transformer_diagrams import pipeline, theme
from transformer_diagrams.api import Model
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.options import settle
from transformer_diagrams.render.texture import WIDE
from transformer_diagrams.roles import ROLES
from transformer_diagrams.theme.theme import _read

# Linear-light transforms at full severity, Machado, Oliveira & Fernandes 2009.
SIGHT = {
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritan": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
# Roles whose boxes touch in most figures.
NEIGHBOURS = [
    "norm-attention",
    "norm-ffn",
    "norm-projection",
    "attention-ffn",
    "ffn-projection",
    "projection-position",
    "projection-activation",
    "projection-plain",
    "activation-plain",
    "position-plain",
    "activation-mask",
    "embedding-position",
    "embedding-norm",
    "norm-position",
    "topk-ffn",
    "topk-projection",
    "loss-projection",
    "loss-activation",
    "parameter-norm",
    "parameter-plain",
    "activation-position",
    "ffn-activation",
]
LEAST_DELTA_E = 5.0  # CIE 1976; 2.3 is just noticeable side by side
ANY_DELTA_E = 3.3
LEAST_GREY = 1.2  # difference of L*


def linear(color: str) -> list[float]:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]


def luminance(color: str) -> float:
    r, g, b = linear(color)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: list[float]) -> tuple[float, float, float]:
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.95047, 1.0, 1.08883)

    def f(t: float) -> float:
        return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116

    x, y, z = (
        f(sum(a * b for a, b in zip(row, rgb, strict=True)) / w)
        for row, w in zip(rows, white, strict=True)
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(color: str, sight: str) -> tuple[float, float, float]:
    rgb = linear(color)
    turned = [sum(a * b for a, b in zip(row, rgb, strict=True)) for row in SIGHT[sight]]
    return lab([min(1.0, max(0.0, v)) for v in turned])


def apart(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    return sum((x - y) ** 2 for x, y in zip(one, other, strict=True)) ** 0.5


@pytest.mark.parametrize("name", theme.NAMES)
def test_every_role_and_kind_is_dressed(name: str) -> None:
    t = theme.get(name)
    assert set(t.roles) == set(ROLES)
    assert set(t.lines) == {"data", "residual", "feedback", "leader"}
    assert t.name == name
    assert t.role("no such role") == t.roles["plain"]


@pytest.mark.parametrize("name", theme.NAMES)
def test_a_bundled_theme_with_a_plain_of_its_own_dresses_every_role_itself(name: str) -> None:
    own = yaml.safe_load((Path(theme.__file__).parent / f"{name}.yaml").read_text())
    own = own.get("roles", {})
    assert "plain" not in own or set(own) == set(ROLES)


def test_a_role_that_a_theme_does_not_name_looks_plain() -> None:
    data = _read("paper")
    plain = data["roles"]["plain"]
    data["roles"] = {"plain": plain}
    assert {theme.from_data(data).role(role).fill for role in ROLES} == {plain["fill"]}


@pytest.mark.parametrize("name", theme.NAMES)
def test_text_has_contrast_everywhere(name: str) -> None:
    t = theme.get(name)
    for role, style in t.roles.items():
        fill = style.fill if style.fill != "none" else t.background
        assert contrast(style.text, fill) >= 4.5, role
    grounds = {t.background, *(f for f in t.frames if f != "none")}
    for kind, color in t.text.items():
        for ground in grounds:
            assert contrast(color, ground) >= 4.5, (kind, ground)
    for kind, line in t.lines.items():
        least = 3.0 if kind != "leader" else 2.5
        assert all(contrast(line.stroke, ground) >= least for ground in grounds), kind


@pytest.mark.parametrize("name", ["paper", "slides", "dark"])
@pytest.mark.parametrize("pair", NEIGHBOURS)
def test_neighbours_differ_in_grey_and_for_colour_blind_readers(name: str, pair: str) -> None:
    a, b = (theme.get(name).roles[role].fill for role in pair.split("-"))
    assert abs(lab(linear(a))[0] - lab(linear(b))[0]) >= LEAST_GREY
    for sight in ("protan", "deutan"):
        assert apart(seen(a, sight), seen(b, sight)) >= LEAST_DELTA_E, sight


@pytest.mark.parametrize("name", ["paper", "slides", "dark"])
def test_any_two_roles_differ_for_every_reader(name: str) -> None:
    """By colour under full protanopia, deuteranopia and tritanopia, or by the outline."""
    roles = {r: s for r, s in theme.get(name).roles.items() if r not in ("output", "container")}
    for (one, a), (other, b) in itertools.combinations(roles.items(), 2):
        if (a.dash, a.weight) != (b.dash, b.weight):
            continue
        for sight in SIGHT:
            assert apart(seen(a.fill, sight), seen(b.fill, sight)) >= ANY_DELTA_E, (one, other)


def test_roles_in_print_differ_by_texture_or_line_alone() -> None:
    t = theme.get("print")
    roles = {r: s for r, s in t.roles.items() if r not in ("output", "container")}
    looks = [(s.texture, s.dash, s.weight) for s in roles.values()]
    assert len(set(looks)) == len(roles)
    for a, b in itertools.combinations(looks, 2):  # a weight is seen when it is other by a half
        assert a[:2] != b[:2] or max(a[2], b[2]) >= 1.5 * min(a[2], b[2])
    colors = {c for s in roles.values() for c in (s.fill, s.stroke, s.text)}
    assert all(c[1:3] == c[3:5] == c[5:] for c in colors)


@pytest.mark.parametrize("direction", ["up", "right"])
def test_a_texture_touches_no_text(direction: str) -> None:
    """The band of every box lies inside it and clear of its label."""
    model = Model.find("transformer")
    options = settle({"theme": "print", "direction": direction, "legend": True})
    drawing = pipeline.drawing(model.scene(theme="print", direction=direction, legend=True),
                               options)  # fmt: skip
    banded = 0
    for item in drawing.display.items:
        if item.kind != "box" or not item.over or item.rect is None:
            continue
        banded += 1
        for text in item.texts:
            assert text.label is not None
            assert text.label.rect.left >= item.rect.left + WIDE + 0.5
    assert banded > 5
    svg = drawing.svg
    assert "NaN" not in svg


def test_mono_is_grey_and_tells_roles_apart_without_colour() -> None:
    t = theme.get("mono")
    colors = [t.background, t.ink, t.frame_stroke, *t.text.values(), *t.marks.values()]
    colors += [c for s in t.roles.values() for c in (s.fill, s.stroke, s.text)]
    for color in colors:
        assert color[1:3] == color[3:5] == color[5:7], color
    alike = {"plain", "output", "container", "data"}
    looks = {r: (s.fill, s.dash, s.weight) for r, s in t.roles.items() if r not in alike}
    for (ra, a), (rb, b) in itertools.combinations(looks.items(), 2):
        near = abs(lab(linear(a[0]))[0] - lab(linear(b[0]))[0]) < 1.5
        assert not (near and a[1:] == b[1:]), (ra, rb)


def test_the_residual_stream_stands_out() -> None:
    for name in theme.NAMES:
        s = theme.get(name).sizes
        assert s.stroke_residual >= 1.5 * s.stroke_data


def test_sizes_are_printable() -> None:
    for name in theme.NAMES:
        s = theme.get(name).sizes
        smallest = min(getattr(s, f) for f in type(s).__slots__ if f.startswith("font_"))
        assert smallest >= 7.0
        assert min(s.lane_gap, s.track_gap, s.gap_rank, s.gap_column) >= 6.0
        assert s.box_height >= s.font_block + 2 * s.pad_y


def test_unknown_theme_names_the_nearest() -> None:
    with pytest.raises(DiagramError) as caught:
        theme.get("papr")
    assert "paper" in caught.value.faults[0].hint


def test_each_departure_from_the_schema_is_one_fault() -> None:
    data = _read("paper")
    data["roles"]["norm"] = {"fill": "yellow", "stroke": "#000000", "text": "#000000"}
    data["sizes"] = {"font_blok": 9, "pad_x": -1}
    del data["ink"]
    with pytest.raises(DiagramError) as caught:
        theme.from_data(data, where="my.yaml")
    said = {(f.path, f.message) for f in caught.value.faults}
    assert ("roles.norm.fill", "a colour is written #rrggbb, in lower case") in said
    assert ("sizes", "unknown key 'font_blok'") in said
    assert ("", "the key 'ink' is missing") in said
    assert any(path == "sizes.pad_x" for path, _ in said)
    assert len(said) == 4
    hint = next(f.hint for f in caught.value.faults if f.path == "sizes")
    assert "font_block" in hint


@pytest.mark.parametrize("direction", ["up", "right"])
@pytest.mark.parametrize("spec", ["llama3", "transformer", "mla-rope", "deepseek-v3"])
def test_a_compact_figure_takes_less_and_stays_clean(spec: str, direction: str) -> None:
    """Text as large as in the normal one, gaps smaller, no flaw."""
    model = Model.find(spec)
    normal = model.scene(direction=direction)
    compact = model.scene(direction=direction, density="compact")
    assert compact.width * compact.height < 0.85 * normal.width * normal.height
    sizes = [sorted(label.size for label in scene.labels) for scene in (normal, compact)]
    assert sizes[0] == sizes[1]
    report = model.lint(direction=direction, density="compact")
    assert [str(f) for f in report.findings] == []


def test_deepseek_v3_can_be_read_in_one_column_of_a_paper() -> None:
    """3.25 in by 9 in, and no text below 6 pt."""
    figure = Model.find("deepseek-v3").render("svg", fit="3.25inx9in", density="compact")
    assert [w.code for w in figure.warnings] == []
    wide, high = (float(n) for n in re.findall(r' (?:width|height)="([\d.]+)pt"', str(figure))[:2])
    assert wide <= 234.01
    assert high <= 648.01
