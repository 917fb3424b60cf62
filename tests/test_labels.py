"""The judge of texts: the same answer at check, inspect and render, at the very place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import transformer_diagrams as td
from transformer_diagrams import cachedir
from transformer_diagrams.api import Model
from transformer_diagrams.cli.app import run
from transformer_diagrams.errors import DiagramError, Fault

HEAD = "dims: {d: width}\ninputs: {x: [d, d]}\nblocks:\n"


def found(text: str) -> list[Fault]:
    return Model.from_text(text, name="t.yaml").check().faults


def place(text: str, mark: str) -> tuple[int, int]:
    """Line and column of a piece of the YAML."""
    at = text.index(mark)
    return text.count("\n", 0, at) + 1, at - (text.rfind("\n", 0, at) + 1) + 1


@pytest.mark.parametrize(
    "body",
    [
        "  - {op: gelu, label: 'a $x + \\nosuch{y}$'}\n",
        '  - {op: gelu, label: "a $x + \\\\nosuch{y}$"}\n',
        "  - op: gelu\n    label: a $x + \\nosuch{y}$\n",
        "  - op: gelu\n    label: |\n      first line\n      a $x + \\nosuch{y}$\n",
        "  - op: gelu\n    label: >\n      folded a\n      $x + \\nosuch{y}$\n",
        "  - {op: linear, out: d, weight: '\\nosuch{W}'}\n",
        "  - {op: linear, out: d, weight: 'W_{\\nosuch{W}}'}\n",
        "  - {op: parameter, size: [d, d], symbol: 'E_\\nosuch'}\n",
        "  - {op: gelu, note: 'see $\\nosuch$'}\n",
        "  - group: [gelu]\n    title: 'part $\\nosuch$'\n",
        "  - {op: gelu, id: a}\n  - {op: gelu, from: {x: {from: a, label: 'to $\\nosuch$'}}}\n",
    ],
)
def test_a_command_that_cannot_be_set_is_told_in_its_place(body: str) -> None:
    text = HEAD + body
    (fault,) = [fault for fault in found(text) if fault.code == "bad-formula"]
    assert fault.severity == "error"
    assert "\\nosuch" in fault.message
    assert fault.hint
    mark = "\\\\nosuch" if '"' in body else "\\nosuch"
    assert (fault.span.line, fault.span.column) == place(text, mark)


@pytest.mark.parametrize(
    ("head", "mark"),
    [
        ("title: The $\\nosuch$ model\n", "\\nosuch"),
        ("caption: It has $\\nosuch$.\n", "\\nosuch"),
        ("short: A $\\nosuch$\n", "\\nosuch"),
        ("dims: {d: {doc: width, tex: 'W_\\nosuch'}}\n", "\\nosuch"),
        ("inputs: {x: {shape: [d, d], label: 'in $\\nosuch$'}}\n", "\\nosuch"),
        ("dims: {d: '\u6ce8 of $\\nosuch$'}\n", "\\nosuch"),
        ("source: {title: A, note: 'of $\\nosuch$'}\n", "\\nosuch"),
        ("options: {o: {default: false, doc: 'of $\\nosuch$'}}\n", "\\nosuch"),
    ],
)
def test_texts_of_the_head_are_judged_too(head: str, mark: str) -> None:
    rest = [line for line in HEAD.splitlines(keepends=True) if line[:6] != head[:6]]
    body = "".join(rest).replace("blocks:\n", head + "blocks:\n  - gelu\n")
    (fault,) = [fault for fault in found(body) if fault.code == "bad-formula"]
    assert (fault.span.line, fault.span.column) == place(body, mark)


def test_one_judge_for_check_inspect_and_render() -> None:
    model = Model.from_text(HEAD + "  - {op: gelu, label: '$\\textcolor{red}{x}$'}\n")
    codes = [fault.code for fault in model.check().errors]
    assert codes == ["bad-formula"]
    for asked in (model.inspect, model.render, model.lint, model.scene, model.graph):
        with pytest.raises(DiagramError) as caught:
            asked()
        assert [fault.code for fault in caught.value.faults] == codes


def test_faults_of_shapes_and_of_labels_are_told_together() -> None:
    text = HEAD + "  - {op: linear, out: e, label: '$\\nosuch$'}\n"
    assert {"bad-formula"} < {fault.code for fault in found(text)}


def test_letters_that_no_font_has_are_refused_with_a_line_and_told_once() -> None:
    text = HEAD + "  - {op: gelu, label: 注意機構}\n"
    model = Model.from_text(text, name="t.yaml")
    with pytest.raises(DiagramError) as caught:
        model.render()
    for faults in (model.check().faults, caught.value.faults):
        (fault,) = [fault for fault in faults if fault.code == "missing-letter"]
        assert fault.severity == "error"
        assert "fonts: {text:" in fault.hint
        assert (fault.span.line, fault.span.column) == place(text, "注")
        assert fault.found == "注意機構"


def test_a_used_specs_label_is_told_in_its_own_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inner = "inputs: {x: [3]}\nblocks:\n  - {op: gelu, label: '$\\nosuch$'}\n"
    (tmp_path / "inner.yaml").write_text(inner)
    (tmp_path / "outer.yaml").write_text("inputs: {x: [3]}\nblocks:\n  - {use: inner}\n")
    (fault,) = td.load("outer.yaml").check().errors
    assert fault.span.file.endswith("inner.yaml")
    assert (fault.span.line, fault.span.column) == place(inner, "\\nosuch")


def test_one_bad_label_stops_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deep = "x_{" * 100 + "y" + "}" * 100
    for name, label in (("a", "fine"), ("b", f"${deep}$"), ("c", "$\\left|x$"), ("d", "$W_Q$")):
        (tmp_path / f"{name}.yaml").write_text(
            f"inputs: {{x: [3]}}\nblocks:\n  - {{op: gelu, label: '{label}'}}\n"
        )
    assert run(["render", str(tmp_path), "-o", str(tmp_path / "out")]) == 1
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.svg", "d.svg"]
    said = capsys.readouterr().err
    assert "b.yaml:3:" in said
    assert "c.yaml:3:" in said


@pytest.mark.parametrize(
    "tex", ["\\vec{W_Q}", "\\underbrace{a}_b", "\\begin{vmatrix} a & b \\\\ c & d \\end{vmatrix}",
            "\\big| x \\big|", "\\left| \\frac{a}{b} \\right|", "x_{y_{z_{a_{b_{c_{d_{e}}}}}}}"],
)  # fmt: skip
def test_what_once_crashed_is_drawn_in_labels_and_sizes(tex: str) -> None:
    text = f"dims: {{d: {{doc: width, tex: '{tex}'}}}}\ninputs: {{x: [d]}}\nblocks:\n"
    drawing = Model.from_text(text + f"  - {{op: gelu, label: 'a ${tex}$'}}\n").render()
    assert not drawing.warnings


@pytest.mark.parametrize(
    ("weight", "label"),
    [("W_K^c", "W_K^c"), ("W^(1)_Q", "W^{(1)}_Q"), ("W_{K}^{c}", "W_K^c"), ("W_DKV", "W_{DKV}"),
     ("W_K'", "W_K'"), ("W^c_K", "W_K^c"), ("W", "W"), ("W_UK_up", "W_{UK_up}")],
)  # fmt: skip
def test_a_weight_is_set_as_the_same_text_in_a_label(weight: str, label: str) -> None:
    def ink(block: str) -> list[str]:
        scene = Model.from_text(HEAD + f"  - {{op: linear, out: d, {block}}}\n").scene()
        from transformer_diagrams.text import measure

        return [measure(each.markup, 9).outline for each in scene.labels]

    assert ink(f'weight: "{weight}"') == ink(f'label: "Linear ${label}$"')


def test_a_warm_check_and_render_load_no_font_library(tmp_path: Path) -> None:
    spec = tmp_path / "t.yaml"
    spec.write_text(HEAD + "  - {op: linear, out: d, weight: W_Q, label: 'Linear $W_Q$ é'}\n")
    code = (
        "import sys, json\n"
        "from transformer_diagrams.cli.app import run\n"
        f"codes = [run(['check', {str(spec)!r}]), "
        f"run(['render', {str(spec)!r}, '-o', {str(tmp_path / 't.svg')!r}])]\n"
        "heavy = {'uharfbuzz', 'ziamath', 'ziafont', 'latex2mathml'} & set(sys.modules)\n"
        "print(json.dumps([codes, sorted(heavy)]), file=sys.stderr)"
    )
    root = str(Path(__file__).parents[1])
    env = {**os.environ, cachedir.ENV: str(tmp_path / "cache"), "PYTHONPATH": root}

    def once() -> list[list[str]]:
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        return list(json.loads(done.stderr.splitlines()[-1]))

    assert "ziamath" in once()[1]
    assert once() == [[0, 0], []]
