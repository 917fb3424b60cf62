"""Every slider state of every figure in a real browser: numbers, picture and sentence."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import live_reference as ref
import numpy as np
import pytest
from selection import mostly_slow

from transformer_diagrams.live.draw import css_paint, svg
from transformer_diagrams.live.figures import IDS
from transformer_diagrams.live.palette import palette

pytestmark = pytest.mark.browser

READ = """([id, states]) => { const lv = document.getElementById(id).lv; return states.map((s) => {
  lv.set(s);
  return [lv.get(), lv.svg(), document.getElementById(id + '-summary').firstChild.textContent,
          lv.params, document.documentElement.scrollHeight]; }); }"""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def body(text: str) -> str:
    return text[text.index(">") + 1 :]


def same_picture(one: str, other: str) -> str:
    """What differs between two SVG texts in elements, words or, by more than a hair, numbers."""
    if body(one) == body(other):
        return ""
    pairs = zip(ET.fromstring(one).iter(), ET.fromstring(other).iter(), strict=True)
    next(pairs)  # the root has the page's attributes
    for a, b in pairs:
        if a.tag != b.tag or a.keys() != b.keys():
            return f"{a.tag} {a.attrib} and {b.tag} {b.attrib}"
        if (a.text or "").strip() != (b.text or "").strip():
            return f"'{a.text}' and '{b.text}'"
        for key in a.keys():  # noqa: SIM118  (an element is no mapping)
            if NUMBER.sub("#", a.get(key, "")) != NUMBER.sub("#", b.get(key, "")):
                return f"{key}: {a.get(key)} and {b.get(key)}"
            numbers = zip(NUMBER.findall(a.get(key, "")), NUMBER.findall(b.get(key, "")),
                          strict=True)  # fmt: skip
            # A colour of the ramp is a number of a name: one step is not seen.
            slack = 1.0 if "var(" in a.get(key, "") else 0.011
            if any(abs(float(m) - float(n)) > slack for m, n in numbers):
                return f"{key}: {a.get(key)} and {b.get(key)}"
    return ""


@pytest.mark.parametrize("id", mostly_slow(IDS, lambda id: id in ("who-attends", "cost-matrix")))
def test_every_state_in_the_browser(tab: Any, figures: dict[str, Any], id: str) -> None:
    figure, paint = figures[id], css_paint(palette("light"))
    heights = set()
    states = list(ref.states(id))
    for start in range(0, len(states), 40):
        part = states[start : start + 40]
        for state, (got, picture, sentence, params, height) in zip(
            part, tab.run(READ, [id, part]), strict=True
        ):
            assert params == state
            assert ref.difference(id, state, got) <= ref.TOLERANCE, state
            named = {"head": f'<g id="{id}-drawing">', "tail": "</g>"}
            wanted = svg(figure.drawing(**state), figure.size, paint, **named)
            assert same_picture(wanted, picture) == "", state
            assert sentence == figure.summary(**state)
            heights.add(height)
    assert len(heights) == 1, "the page jumps"
    tab.quiet()


def test_whole_numbers_are_exact(tab: Any) -> None:
    id = "where-parameters-go"
    states = list(ref.states(id))
    for state, (got, *_) in zip(states, tab.run(READ, [id, states]), strict=True):
        for name, wanted in ref.numbers(id, state).items():
            if name != "share":
                assert got[name] == [wanted]


def test_pictures_that_differ_are_told_apart() -> None:
    one = '<svg viewBox="0"><g><rect x="1" fill="var(--r10)"/><text x="2">a</text></g></svg>'
    assert same_picture(one, one.replace('x="1"', 'x="1.01"')) == ""
    assert same_picture(one, one.replace('x="1"', 'x="1.02"')) != ""
    assert same_picture(one, one.replace("r10", "r12")) != ""
    assert same_picture(one, one.replace(">a<", ">b<")) != ""
    assert same_picture(one, one.replace('x="2"', 'y="2"')) != ""


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_legends_ends_are_the_scales_ends(
    tab: Any, figures: dict[str, Any], mode: str
) -> None:
    """Heat maps of weights are on the fixed scale from 0 to 1 and say so; the cost matrix prints
    the smallest and largest cost of the state that is shown."""
    for id in ("who-attends", "several-heads"):
        tree = ET.fromstring(figures[id].svg(theme=mode))
        words = [t.text for t in tree.iter() if t.tag.endswith("text")]
        assert {"0", "1"} <= set(words)
        colors = {r.get("fill") for r in tree.iter() if r.tag.endswith("rect")}
        assert {palette(mode)["r0"], palette(mode)["r100"]} <= colors
        # A weight's colour is its place on the ramp, whatever else is shown.
        for state in ref.states(id):
            found = figures[id].values(**state)
            values = np.concatenate([found[n].ravel() for n in ("A1", "A") if n in found])
            fills = [
                e.attrs["fill"]
                for g in figures[id].drawing(**state)
                if len(g.elements) == 64 and g.tag == "rect"
                for e in g.elements
                if e.attrs.get("fill", "").startswith("r")
            ]
            assert fills == [f"r{int(v * 100 + 0.5)}" for v in values]
    for state in ref.states("cost-matrix"):
        cost = ref.numbers("cost-matrix", state)["cost"]
        words = [e.text for g in figures["cost-matrix"].drawing(**state) for e in g.elements]
        from transformer_diagrams.live.numbers import fixed

        assert f"dearest {fixed(cost.max(), 2)}" in words
        assert f"cheapest {fixed(cost.min(), 2)}" in words
