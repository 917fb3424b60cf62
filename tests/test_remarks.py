"""What an author adds to a figure: accents, title and caption, remarks by number."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from test_theme import SIGHT, apart, contrast, seen

from transformer_diagrams import theme
from transformer_diagrams.api import Model
from transformer_diagrams.layout.scene import Scene

CAPTION = "What is shown, in a sentence that is a good deal longer than the figure is wide."
SPEC: dict[str, Any] = {
    "title": "Small $W_Q$",
    "caption": CAPTION,
    "inputs": {"x": ["n", "d"]},
    "dims": {"n": "length", "d": "width"},
    "show": {"title": True, "notes": "numbered", "legend": True},
    "blocks": [
        {
            "repeat": 4,
            "title": "Block",
            "note": "Trained on text.",
            "accent": 2,
            "blocks": [
                {"residual": ["layernorm", {"op": "linear", "out": "d", "accent": 1, "id": "own",
                                            "note": "Low rank."}]},
            ],
        },
        {"op": "softmax", "accent": 4, "note": "Trained on text."},
    ],
}  # fmt: skip


def model(**show: Any) -> Model:
    return Model.from_text(json.dumps({**SPEC, "show": {**SPEC["show"], **show}}), name="s.yaml")


def words(scene: Scene, prefix: str) -> list[str]:
    return [label.markup for label in scene.labels if label.id.startswith(prefix)]


@pytest.mark.parametrize("name", theme.NAMES)
def test_accents_are_seen_and_apart_for_every_reader(name: str) -> None:
    """By colour under full protanopia, deuteranopia and tritanopia, or by their dashes."""
    t = theme.get(name)
    assert list(t.accents) == [1, 2, 3, 4]
    for accent in t.accents.values():
        assert contrast(accent.stroke, t.background) >= 3
        heaviest = max(s.weight for s in t.roles.values())
        assert accent.weight > 1.5 * heaviest
    for a, b in itertools.combinations(t.accents.values(), 2):
        if a.dash == b.dash:
            for sight in SIGHT:
                assert apart(seen(a.stroke, sight), seen(b.stroke, sight)) >= 8


@pytest.mark.parametrize("form", ["svg", "tikz", "drawio", "mermaid", "dot"])
def test_an_accent_is_in_every_format(form: str) -> None:
    said = model().render(form).data.decode().lower()
    for number in (1, 2, 4):
        color = theme.get("paper").accents[number].stroke
        assert color.lstrip("#") in said, (form, number)
    assert theme.get("paper").accents[3].stroke.lstrip("#") not in said


def test_an_accent_is_told_in_the_legend_and_to_who_hears() -> None:
    scene = model().scene()
    assert words(scene, "legend/")[-4:-1] == ["contribution", "changed", "compared"]
    assert "contribution" in str(model(legend=False).render("svg"))
    assert "contribution" not in words(model(legend=False).scene(), "legend/")


@pytest.mark.parametrize(
    ("block", "code"),
    [
        ({"op": "softmax", "accent": 5}, "wrong-type"),
        ({"op": "softmax", "accent": "red"}, "wrong-type"),
        ({"op": "softmax", "style": {"fill": "red"}}, "unknown-key"),
        ({"group": ["softmax"], "style": {"line": "red"}}, "unknown-key"),
    ],
)
def test_a_look_of_a_single_block_is_refused_with_the_reason(block: Any, code: str) -> None:
    text = json.dumps({**SPEC, "blocks": [block]})
    (fault,) = Model.from_text(text, name="s.yaml").check().errors
    assert fault.code == code or "accent" in fault.path
    if code == "unknown-key":
        assert "role" in fault.hint
        assert "accent" in fault.hint


def test_remarks_are_listed_once_each_with_their_numbers() -> None:
    scene = model().scene()
    assert words(scene, "remark-") == ["(1) Trained on text.", "(2) Low rank."]
    at = [label.markup for label in scene.labels if "#note" in label.id]
    assert sorted(text for text in at if text.startswith("(")) == ["(1)", "(1)", "(2)"]
    beside = model(notes="beside").scene()
    assert words(beside, "remark-") == []
    assert sum(label.markup == "Trained on text." for label in beside.labels) == 2


def test_title_and_caption_stand_above_and_below_all_else() -> None:
    scene = model().scene()
    title, caption = (next(x for x in scene.labels if x.id == n) for n in ("header-0", "caption"))
    assert title.markup == "Small $W_Q$"
    assert caption.markup.replace("\n", " ") == CAPTION
    for other in scene.labels:
        if other not in (title, caption):
            assert other.rect.top >= title.rect.bottom
            assert other.rect.bottom <= caption.rect.top
    assert caption.rect.bottom <= scene.height
    assert caption.rect.right <= scene.width
    assert words(model(title=False).scene(), "caption") == []


@pytest.mark.parametrize("density", ["normal", "compact"])
@pytest.mark.parametrize("look", ["paper", "slides", "paper-serif"])
@pytest.mark.parametrize("direction", ["up", "right", "down"])
def test_a_figure_with_all_of_it_is_clean(direction: str, look: str, density: str) -> None:
    report = model().lint(direction=direction, theme=look, density=density)
    assert [str(f) for f in report.findings] == []
