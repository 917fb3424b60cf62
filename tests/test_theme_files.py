"""Theme files: what one says is drawn, what is wrong in it is told with its line."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import jsonschema
import pytest
import yaml

from transformer_diagrams import theme
from transformer_diagrams.api import Model, theme_schema, write_starter
from transformer_diagrams.cli.app import run
from transformer_diagrams.errors import DiagramError

FOLDER = Path(theme.__file__).parent
SPEC = """\
title: Small
inputs: {x: [n, d]}
dims: {n: length, d: width}
show: {theme: LOOKS}
blocks: [{op: linear, out: d}, softmax]
"""


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def faults(path: str) -> list[tuple[int, int, str]]:
    with pytest.raises(DiagramError) as caught:
        theme.get(path)
    return [(f.span.line, f.span.column, f.message) for f in caught.value.faults]


def test_a_file_changes_what_it_says_and_nothing_else(tmp_path: Path) -> None:
    text = "extends: dark\nroles: {ffn: {fill: '#123456'}}\nsizes: {corner: 0, gap_rank: 31}\n"
    own, dark = theme.get(written(tmp_path / "own.yaml", text)), theme.get("dark")
    assert own.name == "own"
    assert own.roles["ffn"].fill == "#123456"
    assert own.roles["ffn"].stroke == dark.roles["ffn"].stroke
    assert (own.sizes.corner, own.sizes.gap_rank) == (0, 31)
    assert own.sizes.pad_x == dark.sizes.pad_x
    assert own.background == dark.background
    svg = str(Model.find("swiglu").render("svg", theme=str(tmp_path / "own.yaml")))
    assert svg != str(Model.find("swiglu").render("svg", theme="dark"))


@pytest.mark.parametrize("name", theme.NAMES)
def test_a_bundled_theme_by_its_path_is_the_bundled_theme(name: str) -> None:
    """A file has the same form: also one that extends nothing."""
    by_path, bundled = theme.get(str(FOLDER / f"{name}.yaml")), theme.get(name)
    for key in ("roles", "lines", "text", "frames", "marks", "dashes", "sizes", "background"):
        assert getattr(by_path, key) == getattr(bundled, key)
    assert by_path.warnings == ()


def test_each_fault_is_told_at_its_line_and_column(tmp_path: Path) -> None:
    text = """\
extends: paper
rolls: {}
roles:
  norm: {fill: yellow}
  ffn:
    dash: [1, 2, 3]
    texture: dotz
sizes:
  pad_x: -1
sizes:
  pad_x: 2
"""
    found = faults(written(tmp_path / "bad.yaml", text))
    assert [(line, column) for line, column, _ in sorted(found)] == [
        (2, 1), (4, 16), (6, 11), (7, 14), (10, 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("extends: papr\n", 1, "no bundled theme 'papr'"),
        ("a: [\n", 2, "did not find expected node content"),
        ("- paper\n", 0, "a theme is a mapping"),
        ("", 0, "a theme is a mapping"),
        ("extends: paper\nroles: 5\n", 2, "a mapping is expected"),
        ("extends: paper\nfonts: {text: []}\n", 2, "a family or a file"),
        ("a: &a [*a]\n", 1, "unknown key"),
        ("ink: '#000000'\n", 0, "is missing"),
        ("[" * 3000, 0, ""),
    ],
)
def test_what_is_no_theme_is_told(tmp_path: Path, text: str, line: int, said: str) -> None:
    found = faults(written(tmp_path / "bad.yaml", text))
    assert any(each[0] == line or not said for each in found), found
    assert any(said in message for *_, message in found)


def test_a_file_that_is_not_there_names_the_way_to_one(tmp_path: Path) -> None:
    with pytest.raises(DiagramError, match="cannot be read") as caught:
        Model.find("swiglu").render("svg", theme=str(tmp_path / "none.yaml"))
    assert "new --theme" in caught.value.faults[0].hint


def test_colours_hard_to_read_are_warned_of_with_the_ratio(tmp_path: Path) -> None:
    text = "extends: paper\nroles:\n  norm: {text: '#aaaaaa', fill: '#ffffff'}\n"
    own = theme.get(written(tmp_path / "own.yaml", text))
    (fault,) = own.warnings
    assert (fault.span.line, fault.severity) == (3, "warning")
    assert "2.32" in fault.message  # #aaaaaa on white, as published contrast checkers give it
    told = Model.find("swiglu").render("svg", theme=str(tmp_path / "own.yaml")).warnings
    assert fault in told


def test_a_kept_figure_follows_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "own.yaml", "extends: paper\nbackground: '#fefefe'\n")
    assert "#fefefe" in str(Model.find("swiglu").render("svg", theme=path))
    time.sleep(0.01)
    written(tmp_path / "own.yaml", "extends: paper\nbackground: '#fdfdfd'\n")
    assert "#fdfdfd" in str(Model.find("swiglu").render("svg", theme=path))


def test_a_spec_may_name_its_theme(tmp_path: Path) -> None:
    """Beside itself, whatever the current folder; what is asked for wins."""
    written(tmp_path / "looks.yaml", "extends: paper\nbackground: '#fefefe'\n")
    spec = written(tmp_path / "small.yaml", SPEC.replace("LOOKS", "looks.yaml"))
    model = Model.find(spec)
    assert [str(f) for f in model.check().errors] == []
    assert "#fefefe" in str(model.render("svg"))
    assert "#fefefe" not in str(model.render("svg", theme="paper"))
    assert str(tmp_path / "looks.yaml") in model.files()
    written(tmp_path / "looks.yaml", "extends: paper\nroles: {norm: {fill: red}}\n")
    assert [f.span.line for f in Model.find(spec).check().errors] == [2]


@pytest.mark.parametrize("name", ["papr", "absent.yaml"])
def test_a_spec_that_names_no_theme_is_told_where(tmp_path: Path, name: str) -> None:
    report = Model.find(written(tmp_path / "s.yaml", SPEC.replace("LOOKS", name))).check()
    (fault,) = report.errors
    assert (fault.code, fault.span.line, fault.span.column) == ("unknown-theme", 4, 15)


def test_the_starter_draws_and_fits_the_schema(tmp_path: Path) -> None:
    write_starter(tmp_path / "mine.yaml", theme=True)
    text = (tmp_path / "mine.yaml").read_text()
    jsonschema.validate(json.loads(json.dumps(yaml.safe_load(text))), theme_schema())
    assert theme.get(str(tmp_path / "mine.yaml")).warnings == ()
    assert Model.find("swiglu").render("svg", theme=str(tmp_path / "mine.yaml")).warnings == ()


def test_the_themes_on_the_page_of_looks_are_right(tmp_path: Path) -> None:
    page = (FOLDER.parent.parent / "docs" / "looks.md").read_text(encoding="utf-8")
    found = re.findall(r"^```yml\n(extends.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(found) >= 2
    for text in found:
        assert theme.get(written(tmp_path / "own.yaml", text)).warnings == ()


@pytest.mark.parametrize("name", theme.NAMES)
def test_the_schema_takes_the_bundled_themes_and_no_slip(name: str) -> None:
    data = json.loads(json.dumps(yaml.safe_load((FOLDER / f"{name}.yaml").read_text())))
    jsonschema.validate(data, theme_schema())
    for slip in ({"rolls": {}}, {"roles": {"norm": {"fill": "red"}}}, {"sizes": {"padx": 1}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**data, **slip}, theme_schema())


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new", "--theme", "mine"]) == 0
    assert run(["new", "--theme", "mine"]) != 0
    assert run(["render", "swiglu", "--theme", "mine.yaml"]) == 0
    written(tmp_path / "mine.yaml", "extends: paper\nsizes: {padx: 1}\n")
    assert run(["render", "swiglu", "--theme", "mine.yaml"]) != 0
    assert "mine.yaml:2:9" in capsys.readouterr().err
    assert run(["schema", "--theme"]) == 0
    assert json.loads(capsys.readouterr().out)["additionalProperties"] is False
