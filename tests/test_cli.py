"""The command line: what it writes where, what it says, and the code it leaves with."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import yaml

from transformer_diagrams import options
from transformer_diagrams.api import Model, bundled_ids
from transformer_diagrams.cli.app import COMMANDS, program, run
from transformer_diagrams.cli.targets import expand
from transformer_diagrams.options import points

ROOT = Path(__file__).resolve().parent.parent

GOOD = """title: Small model
caption: Two blocks in a row.
family: toy
tags: [demo]
dims: {d_t: positions, d_m: width}
configs:
  tiny: {d_m: 8}
  big: {d_m: 64}
inputs: {x: [d_t, d_m]}
blocks:
  - rmsnorm
  - {op: linear, id: up, out: 4 d_m, bias: false}
"""

BAD_FORM = GOOD.replace("caption:", "captoin:").replace("op: linear", "op: linaer")
BAD_SHAPE = GOOD + "  - {op: add, id: sum, from: [up, x]}\n"

USER = """title: User
dims: {d_t: positions, d_m: width}
inputs: {x: [d_t, d_m]}
blocks:
  - {use: good, id: part}
"""


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of specs to stand in, with a cache of its own."""
    monkeypatch.setenv("TRANSFORMER_DIAGRAMS_CACHE", str(tmp_path / ".cache"))
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name, text in (
        ("good", GOOD),
        ("bad-form", BAD_FORM),
        ("bad-shape", BAD_SHAPE),
        ("user", USER),
    ):
        (folder / f"{name}.yaml").write_text(text)
    return folder


@pytest.fixture
def tdx(here: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Any:
    """Runs the program in this process; a traceback fails the test at once."""

    def call(*words: str) -> Result:
        capfdbinary.readouterr()
        code = run(list(words))
        sys.stdout.flush()
        out, err = (part.decode() for part in capfdbinary.readouterr())
        assert "Traceback" not in err
        assert "fault of the program" not in err, err
        return Result(code, out, err)

    return call


def written(folder: Path) -> list[str]:
    """Every file that is no spec, hidden ones too."""
    names = (p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    return sorted(name for name in names if not name.endswith(".yaml"))


# -- help


def test_every_command_has_help_with_an_example(tdx: Any) -> None:
    for name in COMMANDS:
        result = tdx(name, "--help")
        assert result.code == 0
        assert f"transformer-diagrams {name}" in result.out.split("Example", 1)[1]


def test_the_help_names_every_command_and_the_exit_codes(tdx: Any) -> None:
    result = tdx("--help")
    assert all(f"\n  {name} " in result.out for name in COMMANDS)
    assert "Exit codes" in result.out
    assert "_COMPLETE=bash_source" in result.out


def test_the_version_is_the_package_s(tdx: Any) -> None:
    from transformer_diagrams import __version__

    assert tdx("--version").out.strip() == f"transformer-diagrams {__version__}"


def test_without_a_command_help_is_shown_and_the_code_is_2(tdx: Any) -> None:
    result = tdx()
    assert result.code == 2
    assert "Commands:" in result.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("rendr", "good"), "render"),
        (("render", "good", "--them", "dark"), "--theme"),
        (("render", "good", "--theme", "papr"), "paper"),
        (("render", "good", "-f", "pgn"), "png"),
        (("render", "good", "--direction", "rigt"), "right"),
        (("render", "good", "--shapes", "change"), "changes"),
        (("render", "good", "--graphviz", "dott"), "dot"),
        (("render", "llama"), "llama3"),
        (("render", "god.yaml"), "good.yaml"),
        (("render", "good", "--config", "tny"), "tiny"),
        (("render", "good", "--set", "d_n=4"), "d_m"),
        (("render", "good", "-o", "x.pgn"), "png"),
        (("render", "user", "--open", "prt"), "part"),
        (("inspect", "good", "--config", "bgi"), "big"),
        (("inspect", "good", "--set", "dm=3"), "d_m"),
        (("check", "good", "--config", "bigg"), "big"),
        (("list", "--tag", "decodr"), "decoder"),
    ],
)
def test_a_slip_is_wrong_usage_and_told_the_nearest_name(
    tdx: Any, here: Path, words: tuple[str, ...], hint: str
) -> None:
    result = tdx(*words)
    assert result.code == 2, result.err
    assert hint in result.err
    assert result.out == ""
    assert written(here) == []


@pytest.mark.parametrize(
    "words",
    [
        ("render", "good", "user", "-o", "-"),
        ("render", "good", "-f", "svg,png", "-o", "-"),
        ("render", "good", "user", "-o", "one.svg"),
        ("render", "good", "-f", "png", "-o", "one.svg"),
        ("render", "good", "--width", "wide"),
        ("render", "good", "--width", "3.25parsec"),
        ("render", "good", "--width", "-3in"),
        ("render", "good", "--scale", "0"),
        ("render", "good", "--set", "d_m"),
        ("render", "good", "--set", "d_m="),
        ("render", "good", "--set", "d_m=0"),
        ("render", "good", "--set", "d_m=wide"),
        ("inspect", "llama3", "--set", "tied=maybe"),
        ("render", "nothing-*.yaml"),
        ("render",),
        ("render", "good", "--emit", "scene", "-f", "svg"),
        ("render", "good", "--pair", "-f", "svg"),
        ("inspect", "good", "--length", "0"),
    ],
)
def test_wrong_usage_is_code_2_in_words_and_writes_nothing(
    tdx: Any, here: Path, words: tuple[str, ...]
) -> None:
    result = tdx(*words)
    assert result.code == 2, result.err
    assert result.err.strip()
    assert len(result.err.splitlines()) < 8
    assert written(here) == []


# -- render


def test_a_figure_goes_to_the_folder_one_stands_in(tdx: Any, here: Path) -> None:
    result = tdx("render", "good")
    assert result.code == 0
    assert result.out.split() == ["good.svg"]
    assert written(here) == ["good.svg"]


def test_several_formats_of_several_specs_go_to_a_folder_that_is_made(tdx: Any, here: Path) -> None:
    result = tdx("render", "good", "user.yaml", "-f", "svg,png,pdf,dot", "-o", "deep/out")
    assert result.code == 0, result.err
    names = [f"deep/out/{id}.{f}" for id in ("good", "user") for f in ("dot", "pdf", "png", "svg")]
    assert written(here) == sorted(names)
    starts = {"svg": b"<", "png": b"\x89PNG", "pdf": b"%PDF"}
    for name in names:
        start = starts.get(name.rsplit(".", 1)[1], b"")
        assert (here / name).read_bytes().startswith(start)


def test_a_file_name_says_the_format(tdx: Any, here: Path) -> None:
    assert tdx("render", "good", "-o", "out/figure.png").code == 0
    assert (here / "out/figure.png").read_bytes().startswith(b"\x89PNG")


def test_stdout_gets_the_figure_and_nothing_else(tdx: Any, here: Path) -> None:
    result = tdx("render", "good", "-o", "-")
    assert result.out.startswith("<")
    assert result.out.rstrip().endswith("</svg>")
    assert written(here) == []


def test_a_spec_may_come_from_stdin(tdx: Any, monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    for text, code in ((GOOD, 0), (USER, 0), (BAD_SHAPE, 1)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        result = tdx("render", "-", "-o", "-")
        assert result.code == code, result.err
        assert ("</svg>" in result.out) == (code == 0)
    assert "^" in result.err, "the line is shown though no file holds it"
    assert written(here) == []


def test_globs_and_folders_name_specs(tdx: Any, here: Path) -> None:
    result = tdx("check", "[gu]*.yaml")
    assert result.code == 0
    assert [line.split(":")[0] for line in result.out.splitlines()] == ["good.yaml", "user.yaml"]
    result = tdx("check", ".")
    assert result.code == 1
    assert len(result.out.splitlines()) == 4
    assert tdx("list", "mha-*", "--json").json[0]["id"].startswith("mha-")


def test_a_glob_means_specs_and_no_other_files(tdx: Any, here: Path) -> None:
    (here / "gone.txt").write_text("no spec")
    (here / "gone.png").write_bytes(b"\x89PNG")
    (here / "gqa.yml").write_text(GOOD)  # stands for the bundled one, as it does by its id
    own = ["bad-form.yaml", "bad-shape.yaml", "good.yaml", "gqa.yml", "user.yaml"]
    assert expand("*") == [*own, *(name for name in bundled_ids() if name != "gqa")]
    shown = [line.split(":")[0] for line in tdx("check", "g[oq]*").out.splitlines()]
    assert shown[:2] == ["good.yaml", "gqa.yml"]
    assert not [name for name in shown if name.endswith("gqa.yaml")]
    (here / "folder.yaml").mkdir()
    assert tdx("check", "fold*").code == 2
    assert tdx("check", "*.txt").code == 2


def test_one_bad_spec_does_not_stop_the_others(tdx: Any, here: Path) -> None:
    result = tdx("render", "bad-form", "no-such", "good", "bad-shape", "user")
    assert result.code == 2
    assert written(here) == ["good.svg", "user.svg"]
    assert "bad-form.yaml:2:1" in result.err
    assert "bad-shape.yaml:" in result.err
    assert tdx("render", "bad-form", "good").code == 1


def test_all_faults_of_a_spec_are_told_at_once(tdx: Any) -> None:
    result = tdx("render", "bad-form")
    assert result.code == 1
    for name in ("caption", "linear"):
        assert f"'{name}'" in result.err


def test_a_failed_run_leaves_the_old_figure_alone(tdx: Any, here: Path) -> None:
    tdx("render", "good", "-o", "out")
    before = (here / "out/good.svg").read_bytes()
    (here / "good.yaml").write_text(BAD_SHAPE)
    assert tdx("render", "good", "-o", "out").code == 1
    assert (here / "out/good.svg").read_bytes() == before
    assert written(here) == ["out/good.svg"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_place_that_cannot_be_written_is_told(tdx: Any, here: Path) -> None:
    (here / "locked").mkdir(mode=0o555)
    result = tdx("render", "good", "-o", "locked")
    assert result.code == 2
    assert "cannot be written" in result.err


def test_a_folder_in_the_way_of_a_file_is_told(tdx: Any, here: Path) -> None:
    (here / "taken").write_text("a file")
    result = tdx("render", "good", "-o", "taken/deep")
    assert result.code == 2
    assert "cannot be written" in result.err
    assert (here / "taken").read_text() == "a file"


def test_the_second_run_gives_the_same_bytes_from_the_cache(tdx: Any, here: Path) -> None:
    first = tdx("render", "user", "-o", "-").out
    assert tdx("render", "user", "-o", "-").out == first
    # A change in the used spec is seen, though the spec itself is the same.
    (here / "good.yaml").write_text(GOOD.replace("Small model", "Another name"))
    assert tdx("render", "user", "-o", "-").out != first


def test_a_spec_that_appears_beside_wins_over_a_bundled_one(tdx: Any, here: Path) -> None:
    text = USER.replace("use: good", "use: swiglu, with: {d_h: 4 d_m}")
    (here / "user.yaml").write_text(text)
    first = tdx("render", "user", "-o", "-")
    assert first.code == 0, first.err
    (here / "swiglu.yaml").write_text(GOOD)
    assert tdx("render", "user", "-o", "-").out != first.out


def test_numbers_set_by_hand_are_checked_too(tdx: Any, here: Path) -> None:
    words = ("gqa", "--set", "d_m=512", "--set", "n_h=7", "--set", "n_g=1")
    for command in ("render", "inspect"):
        result = tdx(command, *words)
        assert result.code == 1
        assert "512" in result.err
        assert "7" in result.err
    assert written(here) == []


def test_a_part_is_called_out_beside_the_figure(tdx: Any) -> None:
    closed = tdx("render", "user", "--emit", "graph").json
    beside = tdx("render", "user", "--emit", "graph", "--callout", "part").json
    assert closed["callouts"] == []
    assert [each["anchor"] for each in beside["callouts"]] == ["part"]
    assert tdx("render", "user", "--callout", "prt").code == 2


def test_the_width_is_physical_and_small_text_is_warned_of(tdx: Any) -> None:
    result = tdx("render", "good", "-o", "-", "--width", "3.25in", "--enlarge")
    assert 'width="234pt"' in result.out
    own = tdx("render", "good", "-o", "-").out
    assert tdx("render", "good", "-o", "-", "--width", "3.25in").out == own, "it is smaller"
    result = tdx("render", "good", "-o", "-", "--width", "0.3in")
    assert result.code == 0
    assert "warning" in result.err


def test_a_figure_fits_an_area(tdx: Any) -> None:
    """In one of the two directions exactly, and a page that is too high is told."""

    def size(*asked: str) -> tuple[float, float]:
        out = tdx("render", "llama3", "-o", "-", *asked).out
        return tuple(float(n) for n in re.findall(r' (?:width|height)="([\d.]+)pt"', out)[:2])  # type: ignore[return-value]

    own = size()
    for area in ("3.25inx2in", "1in x 9in", "234pt × 144pt"):
        wide, high = size("--fit", area)
        most = [points(side) for side in options.area(area)]
        assert wide <= most[0] + 0.01
        assert high <= most[1] + 0.01
        assert min(most[0] - wide, most[1] - high) == pytest.approx(0, abs=0.02)
        assert wide / high == pytest.approx(own[0] / own[1], rel=1e-3)
    assert size("--height", "2in")[1] == pytest.approx(144, abs=0.01)
    assert size("--fit", "90inx90in") == own
    tall = tdx("render", "deepseek-v3", "-o", "-", "--open", "2", "--width", "6in")
    assert "in high" in tall.err
    assert "--fit 6inx9in" in tall.err
    assert "in high" not in tdx("render", "llama3", "-o", "-", "--fit", "3inx9in").err


@pytest.mark.parametrize(
    "wrong", [("--fit", "3in"), ("--fit", "3inx"), ("--fit", "3inx2parsec"), ("--height", "-1in"),
              ("--fit", "3inx3in", "--width", "2in")],
)  # fmt: skip
def test_an_area_that_is_none_is_refused_in_a_sentence(tdx: Any, wrong: tuple[str, ...]) -> None:
    result = tdx("render", "good", "-o", "-", *wrong)
    assert result.code == 2
    assert "Traceback" not in result.err


@pytest.mark.parametrize("stage", ["spec", "graph", "shapes", "scene"])
def test_a_stage_is_printed_as_stable_json(tdx: Any, here: Path, stage: str) -> None:
    first = tdx("render", "good", "--emit", stage)
    assert first.code == 0, first.err
    assert first.json
    assert tdx("render", "good", "--emit", stage).out == first.out
    assert str(here) not in first.out, "no path of this machine"


def test_shapes_as_json_are_those_of_the_tensors(tdx: Any) -> None:
    shapes = tdx("render", "good", "--emit", "shapes").json["shapes"]
    assert list(shapes["up"]["outputs"].values()) == ["[d_t, 4 d_m]"]


def test_a_pair_is_two_figures_and_the_markup_to_paste(tdx: Any, here: Path) -> None:
    result = tdx("render", "good", "--pair", "-o", "docs/img")
    assert result.code == 0, result.err
    assert written(here) == ["docs/img/good-dark.svg", "docs/img/good.svg"]
    assert (here / "docs/img/good.svg").read_bytes() != (
        here / "docs/img/good-dark.svg"
    ).read_bytes()
    assert '<source media="(prefers-color-scheme: dark)" srcset="docs/img/good-dark.svg">' in (
        result.out
    )
    assert '<img alt="Small model" src="docs/img/good.svg">' in result.out


# -- check, lint, inspect


def test_check_says_fine_or_where(tdx: Any) -> None:
    result = tdx("check", "good")
    assert (result.code, result.out) == (0, "good.yaml: fine\n")
    result = tdx("check", "bad-shape")
    assert result.code == 1
    assert "bad-shape.yaml:13:" in result.err
    assert result.out == "bad-shape.yaml: 1 fault\n"


def test_check_as_json_holds_every_fault_as_fields(tdx: Any) -> None:
    result = tdx("check", "good", "bad-form", "--json")
    assert result.code == 1
    assert result.json["ok"] is False
    good, bad = result.json["specs"]
    assert good == {"id": "good", "file": "good.yaml", "ok": True, "faults": []}
    assert {fault["line"] for fault in bad["faults"]} == {2, 12}
    assert all(fault["file"] == "bad-form.yaml" for fault in bad["faults"])


def test_what_check_accepts_is_rendered_and_the_rest_is_not(tdx: Any) -> None:
    for name in ("good", "user", "bad-form", "bad-shape"):
        assert tdx("check", name).code == tdx("render", name, "-o", "-").code


def test_lint_reports_as_text_and_json(tdx: Any) -> None:
    result = tdx("lint", "good")
    assert result.code == 0, result.out
    assert result.out.startswith("good.yaml: clean")
    result = tdx("lint", "good", "user", "--theme", "dark", "--direction", "right", "--json")
    assert [spec["id"] for spec in result.json["specs"]] == ["good", "user"]
    assert result.json["ok"] is True
    for spec in result.json["specs"]:
        assert " ".join(sorted(spec["score"])) == (
            "aspect bends crossings detour empty kinks lost_labels on_frame out_of_order overlaps "
            "shared_heads stray_ends through_boxes"
        )
        assert spec["score"]["crossings"] == 0
        assert 1 <= spec["score"]["detour"]["mean"] <= spec["score"]["detour"]["worst"]
        assert 0 <= spec["score"]["empty"] < 1 < spec["score"]["aspect"]


def test_inspect_counts_exactly(tdx: Any) -> None:
    found = tdx("inspect", "good", "--config", "tiny", "--json").json
    assert found["params"]["total"] == 8 + 8 * 32
    assert found["kv_cache"]["per_token"] == 0
    text = tdx("inspect", "good", "--set", "d_m=1000").out
    assert "4,001,000" in text
    assert "d_m" in text
    assert (
        tdx("inspect", "good", "--config", "tiny", "--length", "10", "--json").json["flops"][
            "forward"
        ]
        >= 10 * 2 * 8 * 32
    )


def test_inspect_without_sizes_shows_formulas(tdx: Any) -> None:
    found = tdx("inspect", "good", "--json").json
    assert found["params"]["total"] is None
    assert found["params"]["formula"] == "4 d_m^2 + d_m"
    assert "d_m" in found["missing"]


# -- list, schema, new


def test_list_gives_one_object_a_spec(tdx: Any) -> None:
    rows = tdx("list", "--json").json
    ids = [row["id"] for row in rows]
    assert ids == sorted(ids)
    assert {"llama3", "gqa", "transformer"} <= set(ids)
    keys = {"id", "title", "family", "tags", "source", "configs", "builds_on"}
    assert all(set(row) == keys for row in rows)
    llama = rows[ids.index("llama3")]
    assert "8B" in llama["configs"]
    assert all(isinstance(name, str) for name in llama["configs"] + llama["builds_on"])


def test_list_filters_and_shows_own_specs(tdx: Any) -> None:
    assert {row["family"] for row in tdx("list", "--family", "llama", "--json").json} == {"llama"}
    assert all("decoder" in row["tags"] for row in tdx("list", "--tag", "decoder", "--json").json)
    result = tdx("list", "good")
    assert result.out.startswith("good  Small model")
    assert "configs tiny, big" in result.out


def test_reading_order_puts_what_is_built_upon_first(tdx: Any) -> None:
    rows = tdx("list", "--order", "--json").json
    place = {row["id"]: i for i, row in enumerate(rows)}
    assert sorted(place) == sorted(bundled_ids())
    for row in rows:
        for below in row["builds_on"]:
            assert place[below] < place[row["id"]], f"{row['id']} builds on {below}"


def test_a_circle_in_the_reading_order_is_named(tdx: Any, here: Path) -> None:
    for name, other in (("one", "two"), ("two", "three"), ("three", "one")):
        (here / f"{name}.yaml").write_text(GOOD + f"builds_on: [{other}]\n")
    result = tdx("list", "one", "two", "three", "--order")
    assert result.code == 1
    assert "one -> two -> three -> one" in result.err


def test_the_schema_is_json_schema_and_knows_the_ops(tdx: Any) -> None:
    result = tdx("schema")
    assert result.json["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "rmsnorm" in result.out


def test_files_are_held_against_the_schema_as_an_editor_does(tdx: Any, here: Path) -> None:
    (here / "wrong.yaml").write_text(
        "titel: x\nblocks:\n"
        "  - {op: linear, out: 3, bais: true}\n  - {residual: [{op: box, when: on}]}\n"
    )
    result = tdx("schema", "--validate", "wrong.yaml", "good", "gqa")
    assert result.code == 1
    assert result.out.splitlines()[0] == "wrong.yaml: 3 faults"
    assert result.out.splitlines()[1] == "good.yaml: fine"
    heads = [line for line in result.err.splitlines() if line.startswith("wrong.yaml:")]
    assert [head.split(": ")[0] for head in heads] == [
        "wrong.yaml:1:1", "wrong.yaml:3:26", "wrong.yaml:4:33",
    ]  # fmt: skip
    assert "'bais' was unexpected" in heads[1]
    assert "blocks[1].residual[0].when: 'on' is not one of" in heads[2]
    assert tdx("schema", "--validate", "good").code == 0


def test_what_the_schema_cannot_see_is_left_to_check(tdx: Any) -> None:
    assert tdx("schema", "--validate", "bad-shape").code == 0
    assert tdx("check", "bad-shape").code == 1


def test_a_file_that_is_no_yaml_is_one_fault_of_the_schema_s_check(tdx: Any, here: Path) -> None:
    (here / "tab.yaml").write_text("blocks:\n\t- softmax\n")
    result = tdx("schema", "--validate", "tab.yaml")
    assert result.code == 1
    assert "TAB" in result.err
    for words in (("schema", "--validate"), ("schema", "good")):
        assert tdx(*words).code == 2


def test_a_new_spec_is_commented_renders_and_is_never_overwritten(tdx: Any, here: Path) -> None:
    result = tdx("new", "my-model")
    assert (result.code, result.out) == (0, "my-model.yaml\n")
    text = (here / "my-model.yaml").read_text()
    assert text.count("#") > 5
    assert tdx("check", "my-model").code == 0
    assert tdx("render", "my-model").code == 0
    assert tdx("lint", "my-model").code == 0
    again = tdx("new", "my-model.yaml")
    assert again.code == 2
    assert "there already" in again.err
    assert (here / "my-model.yaml").read_text() == text
    assert tdx("new", "deep/other.yml").code == 0
    assert tdx("new", "1 bad name").code == 2


# -- watch


def test_watch_writes_no_figure_over_that_of_another_spec(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transformer_diagrams.cli.watch import _draw

    owners: dict[Path, str] = {}
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
        spec = tmp_path / place / "m.yaml"
        spec.write_text(f"inputs: {{x: [3]}}\nblocks: [{{op: gelu, label: of {place}}}]\n")
        _draw(Model.find(str(spec)), ["svg"], tmp_path, {}, owners)
    assert "is the figure of two specs" in capsys.readouterr().err
    assert "of a" in (tmp_path / "m.svg").read_text(encoding="utf-8")


def test_watch_draws_again_on_save_shows_faults_and_ends_on_interrupt(here: Path) -> None:
    command = [sys.executable, "-m", "transformer_diagrams", "watch", "user", "--interval", "0.05"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(
        command,
        cwd=here,
        env=env,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        # a job in the background is born deaf to interrupts; a program at a prompt is not
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    said: list[str] = []
    assert process.stdout is not None
    reader = threading.Thread(target=lambda: said.extend(iter(process.stdout.readline, "")))  # type: ignore[union-attr]
    reader.start()

    def wait_for(word: str, times: int) -> None:
        end = time.monotonic() + 120
        while sum(word in line for line in said) < times:
            assert time.monotonic() < end, said
            time.sleep(0.02)

    try:
        wait_for("user.svg", 1)
        first = (here / "user.svg").read_bytes()
        (here / "user.yaml").write_text(USER.replace("use: good", "use: goood"))
        wait_for("waiting for the next save", 1)
        (here / "user.yaml").write_text(USER)
        wait_for("user.svg", 2)
        (here / "good.yaml").write_text(GOOD.replace("Small model", "Another name"))
        wait_for("user.svg", 3)
        assert (here / "user.svg").read_bytes() != first
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=120)
        reader.join(timeout=120)
        process.stdout.close()
    assert code == 0
    assert not any("Traceback" in line for line in said), said


# -- the program itself


def test_an_unexpected_exception_is_one_line_and_debug_shows_more(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("transformer_diagrams.api.Model.check", broken)
    assert run(["check", "good"]) == 1
    err = capsys.readouterr().err
    assert "a fault of ours" in err
    assert "report" in err
    assert "Traceback" not in err
    with pytest.raises(RuntimeError):
        run(["check", "good", "--debug"])


def test_a_missing_tool_is_code_3(tdx: Any, monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    monkeypatch.setenv("PATH", str(here))
    result = tdx("render", "good", "--graphviz", "dot")
    assert result.code == 3
    assert "graphviz" in result.err.lower()
    assert len(result.err.splitlines()) < 6
    assert tdx("check", "good").code == 0
    assert tdx("inspect", "good").code == 0


def test_completion_knows_commands_specs_and_themes(here: Path) -> None:
    def complete(*words: str) -> str:
        env = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "_TRANSFORMER_DIAGRAMS_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(("transformer-diagrams", *words)),
            "COMP_CWORD": str(len(words)),
        }
        code = (
            "import sys; sys.argv[0] = 'transformer-diagrams';"
            "from transformer_diagrams.cli import main; main()"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, cwd=here, capture_output=True, text=True
        )
        return done.stdout

    assert "plain,render" in complete("re")
    assert "plain,llama3" in complete("render", "lla")
    assert "plain,slides" in complete("render", "gqa", "--theme", "sl")


def test_every_command_is_listed_in_the_program() -> None:
    import click

    context = click.Context(program)
    assert program.list_commands(context) == list(COMMANDS)
    for name in COMMANDS:
        command = program.get_command(context, name)
        assert command is not None
        assert command.name == name


# -- where repositories are checked


def test_check_speaks_to_github_and_in_sarif(tdx: Any, here: Path) -> None:
    (here / "bad, one.yaml").write_text("inputs: {x: [3]}\nblocks: [geluu, 100 %]\n")
    told = tdx("check", "bad, one.yaml", "good", "--format", "github")
    assert told.code == 1
    first, second = told.out.splitlines()
    assert first.startswith("::error file=bad%2C one.yaml,line=2,col=10,title=unknown-op::")
    assert "%0Ahint: did you mean 'gelu'" in first
    assert "'100 %25'" in second
    log = json.loads(tdx("check", "bad, one.yaml", "--format", "sarif").out)
    (run_,) = log["runs"]
    assert log["version"] == "2.1.0"
    rules = [rule["id"] for rule in run_["tool"]["driver"]["rules"]]
    places = []
    for result in run_["results"]:
        assert result["ruleId"] in rules
        assert result["level"] == "error"
        (place,) = (each["physicalLocation"] for each in result["locations"])
        region = place["region"]
        uri = place["artifactLocation"]["uri"]
        places.append((uri, region["startLine"], region["startColumn"]))
    assert places == [("bad, one.yaml", 2, 10), ("bad, one.yaml", 2, 17)]
    assert tdx("check", "good", "--format", "sarif").code == 0
    assert tdx("check", "good", "--format", "sarif", "--json").code == 2
    assert tdx("check", "good", "--format", "junit").code == 2


def test_render_check_writes_nothing_and_tells_figures_that_are_old(tdx: Any, here: Path) -> None:
    missing = tdx("render", "good", "--check", "-o", "out")
    assert (missing.code, (here / "out").exists()) == (1, False)
    assert "is not there" in missing.err
    tdx("render", "good", "-o", "out", "-f", "svg,pdf")
    assert tdx("render", "good", "--check", "-o", "out", "-f", "svg,pdf").code == 0
    before = (here / "out" / "good.svg").read_bytes()
    (here / "good.yaml").write_text(GOOD.replace("Small model", "Another name"))
    old = tdx("render", "good", "--check", "-o", "out", "-f", "svg,pdf")
    assert old.code == 1
    assert old.err.count("is not what its spec gives now") == 2
    assert (here / "out" / "good.svg").read_bytes() == before
    assert tdx("render", "good", "--check", "-o", "-").code == 2


def test_an_editor_finds_the_schema_where_the_setting_says(
    tdx: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSFORMER_DIAGRAMS_CACHE", str(tmp_path / "a folder"))
    ((address, globs),) = tdx("schema", "--install", "vscode").json["yaml.schemas"].items()
    path = Path(urllib.request.url2pathname(address.removeprefix("file://")))
    assert json.loads(path.read_text(encoding="utf-8")) == tdx("schema").json
    assert globs
    assert tdx("schema", "--install", "vim").code == 2
    assert tdx("schema", "--install", "vscode", "--validate", "good").code == 2


def test_the_hook_and_the_action_call_commands_that_there_are(tdx: Any) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    lines = [hook["entry"] for hook in hooks]
    lines += [step["run"] for step in action["runs"]["steps"] if "run" in step]
    called = re.findall(r"transformer-diagrams (\S+)((?: [^|>\n]*)?)", "\n".join(lines))
    assert [name for name, _ in called] == ["check", "render", "check", "check", "render"]
    for name, words in called:
        options = {word for word in words.split() if word.startswith("-")}
        shown = tdx(name, "--help").out
        assert all(option in shown for option in options), (name, options)
    inputs = set(re.findall(r"inputs\.(\w+)", (ROOT / "action.yml").read_text()))
    assert inputs == action["inputs"].keys()
