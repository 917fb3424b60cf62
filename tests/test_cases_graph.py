"""Graphs that other tools draw wrongly or crash on, and pictures that must stay by themselves:
each case through the command line, as a user meets it."""

from __future__ import annotations

import http.server
import io
import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from transformer_diagrams.api import format_names, theme_names
from transformer_diagrams.cli.app import run

HERE = Path(__file__).parent / "cases" / "authoring"
DIRECTIONS = ("up", "right", "down")


class Said:
    """What a run of the program left: its code and its words."""

    def __init__(self, code: int, out: bytes, err: bytes) -> None:
        self.code = code
        self.data = out
        self.out, self.err = out.decode("utf-8", "replace"), err.decode()


Run = Callable[..., Said]


@pytest.fixture
def tdx(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Run:
    """Runs the program in an empty folder; a traceback fails the test."""
    monkeypatch.setenv("TRANSFORMER_DIAGRAMS_CACHE", str(tmp_path / ".cache"))
    monkeypatch.chdir(tmp_path)

    def call(*words: str | Path) -> Said:
        capfdbinary.readouterr()
        code = run([str(word) for word in words])
        sys.stdout.flush()
        said = Said(code, *capfdbinary.readouterr())
        assert "Traceback" not in said.err
        assert "fault of the program" not in said.err, said.err
        return said

    return call


def case(name: str) -> Path:
    (path,) = HERE.glob(f"{name}_*.yaml")
    return path


def scene_of(said: Said) -> dict[str, Any]:
    assert said.code == 0, said.err
    scene: dict[str, Any] = json.loads(said.out)
    return scene


def boxes(scene: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Path -> rectangle, with its right and bottom."""
    return {
        box["path"]: {
            **box["rect"],
            "right": box["rect"]["left"] + box["rect"]["width"],
            "bottom": box["rect"]["top"] + box["rect"]["height"],
        }
        for box in scene["boxes"]
    }


# -- G: graphs


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_g01_both_skips_leave_before_the_norm_and_pass_no_box(tdx: Run, direction: str) -> None:
    words = (case("G01"), "--direction", direction)
    scene = scene_of(tdx("render", *words, "--emit", "scene"))
    at = boxes(scene)
    skips = [line for line in scene["lines"] if line["kind"] == "residual"]
    assert [(skip["tail"], skip["head"]) for skip in skips] == [
        ("x", "residual/add"),
        ("residual/add", "residual-2/add"),
    ]
    for skip, norm in zip(skips, ("ln1", "ln2"), strict=True):
        x, y = skip["points"][0]
        before = {
            "up": y > at[norm]["bottom"],
            "down": y < at[norm]["top"],
            "right": x < at[norm]["left"],
        }
        assert before[direction], norm
    assert tdx("check", case("G01")).err == ""
    clean = tdx("lint", *words, "--json")  # among its rules: no edge through a foreign box
    assert clean.code == 0, clean.out


def test_g01_left_to_right_is_not_absurdly_wide(tdx: Run) -> None:
    scene = scene_of(tdx("render", case("G01"), "--direction", "right", "--emit", "scene"))
    assert scene["width"] / scene["height"] < 8


def test_g01_all_its_shapes_can_be_shown(tdx: Run) -> None:
    scene = scene_of(tdx("render", case("G01"), "--shapes", "all", "--emit", "scene"))
    shown = [label for label in scene["labels"] if label["kind"] == "shape"]
    # Seven tensors: the input, and the output of each norm, block and sum; the last one ends here.
    assert len(shown) >= 6
    assert tdx("lint", case("G01"), "--shapes", "all").code == 0


def test_g01_at_column_width_small_text_is_told_with_its_size(tdx: Run) -> None:
    said = tdx("render", case("G01"), "--width", "3.25in", "--enlarge", "-o", "-")
    root = re.search(r'<svg\b[^>]*\bwidth="([\d.]+)pt"', said.out)
    assert root
    assert float(root[1]) == 234
    assert "smallest text" not in said.err  # it fits: nothing to say
    narrow = tdx("render", case("G01"), "--width", "0.4in", "-o", "-")
    assert re.search(r"smallest text is [\d.]+ pt", narrow.err)


def test_g02_is_drawn_and_its_second_skip_is_warned_of(tdx: Run) -> None:
    said = tdx("check", case("G02"))
    assert said.code == 0
    assert "warning" in said.err
    assert "into 'add2' starts after the norm 'ln2'" in said.err
    assert re.search(r"G02_prenorm_wrong_skip\.yaml:\d+:\d+: ", said.err)
    drawn = tdx("render", case("G02"), "-o", "-")
    assert drawn.code == 0
    assert "</svg>" in drawn.out
    assert "starts after the norm" in drawn.err


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_g04_a_group_runs_left_to_right_in_any_figure(tdx: Run, direction: str) -> None:
    said = tdx("render", case("G04"), "--direction", direction, "--emit", "scene")
    assert "direction" not in said.err
    at = {box["id"]: box["rect"] for box in scene_of(said)["boxes"]}
    assert at["q"]["top"] == at["k"]["top"] == at["v"]["top"]
    assert at["q"]["left"] < at["k"]["left"] < at["v"]["left"]
    assert tdx("lint", case("G04"), "--direction", direction).code == 0


def test_g05_and_g06_are_refused_in_words(tdx: Run) -> None:
    for name, words in (("G05", ("'same_level'",)), ("G06", ("'n'", "'g1'", "'g2'"))):
        for command in (("check",), ("render", "-o", "-")):
            said = tdx(command[0], case(name), *command[1:])
            assert said.code == 1
            assert all(word in said.err for word in words)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_g08_edges_between_one_pair_have_ends_of_their_own(tdx: Run, direction: str) -> None:
    scene = scene_of(tdx("render", case("G08"), "--direction", direction, "--emit", "scene"))
    pair = [line for line in scene["lines"] if (line["tail"], line["head"]) == ("enc", "dec")]
    ends = {tuple(line["points"][-1]) for line in pair}
    assert len(pair) == len(ends) == 3
    assert tdx("lint", case("G08"), "--direction", direction).code == 0


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_g08_no_label_of_an_edge_is_lost(tdx: Run, direction: str) -> None:
    scene = scene_of(tdx("render", case("G08"), "--direction", direction, "--emit", "scene"))
    labels = [label for label in scene["labels"] if label["kind"] == "edge"]
    assert [label["markup"] for label in labels] == [
        "[b, n, h, d_h] after transpose(1, 2)",
        "keys",
        "[b, m, d_model] values",
    ]
    # one tensor is one line that parts: each of its ends has words of its own beside it
    ends = [line["points"][-2:] for line in scene["lines"] if line["head"] == "dec"]
    nearest = [
        min(range(len(ends)), key=lambda n: distance(label["rect"], ends[n])) for label in labels
    ]
    assert sorted(nearest) == list(range(len(ends)))


def distance(rect: dict[str, float], points: list[list[float]]) -> float:
    """From a rectangle to a path of level and upright pieces."""
    left, top = rect["left"], rect["top"]
    right, bottom = left + rect["width"], top + rect["height"]
    best = float("inf")
    for (x1, y1), (x2, y2) in pairwise(points):
        dx = max(left - max(x1, x2), min(x1, x2) - right, 0)
        dy = max(top - max(y1, y2), min(y1, y2) - bottom, 0)
        best = min(best, (dx * dx + dy * dy) ** 0.5)
    return best


def test_g08_the_way_back_is_refused_as_the_circle_it_is(tdx: Run, tmp_path: Path) -> None:
    text = case("G08").read_text().replace(
        "- {op: box, id: enc, label: Encoder}",
        "- {op: add, id: enc, label: Encoder, from: [x, {from: dec, when: train}]}",
    )  # fmt: skip
    (tmp_path / "back.yaml").write_text(text)
    said = tdx("check", "back.yaml")
    assert said.code == 1
    assert re.search(r"back\.yaml:\d+:\d+: .*wait for one another: enc -> dec -> enc", said.err)
    assert "flows one way" in said.err
    assert tdx("render", "back.yaml").code == 1


def test_g09_one_box_with_a_mark_counts_48_times(tdx: Run) -> None:
    found = json.loads(tdx("inspect", case("G09"), "--json").out)
    assert found["params"]["total"] == 340_217_856 == 48 * 7_087_872
    scene = scene_of(tdx("render", case("G09"), "--emit", "scene"))
    assert len([box for box in scene["boxes"] if box["title"] == "Block"]) == 1
    (badge,) = (label for label in scene["labels"] if label["kind"] == "badge")
    assert badge["markup"] == "$48 \\times$"
    assert "48 ×" in tdx("render", case("G09"), "-o", "-").out


# -- E: export


@pytest.mark.parametrize("theme", theme_names())
def test_e02_colours_are_final_values(tdx: Run, theme: str) -> None:
    said = tdx("render", "gqa", "--theme", theme, "--legend", "-o", "-")
    assert said.code == 0, said.err
    assert not re.search(r"var\(|currentColor|<style|\bclass=|\bstyle=", said.out)
    colours = re.findall(r'(?:fill|stroke)="([^"]*)"', said.out)
    assert colours
    assert all(re.fullmatch(r"none|#[0-9a-f]{6}", colour) for colour in colours)
    # Nothing is left to a viewer's default: what has no paint says so.
    shapes = re.findall(r"<(?:path|rect|circle)\b[^>]*>", said.out)
    assert all("fill=" in shape for shape in shapes)


OUTSIDE = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
    'width="60pt" height="30pt" viewBox="0 0 60 30">'
    '<image href="{file}" width="60" height="30"/>'
    '<image xlink:href="{page}" width="10" height="10"/></svg>'
)


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """An address of this machine, and what has been asked of it."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


# What the interpreter opened and connected to; a hook stays for good, so that it looks at a switch.
EVENTS: list[str] = []
WATCHING = threading.Event()


def _watch(event: str, details: tuple[object, ...]) -> None:
    if WATCHING.is_set() and event in ("open", "socket.connect", "socket.getaddrinfo"):
        EVENTS.append(f"{event} {details[0]!r} {details[1:2]!r}")


@pytest.fixture
def watched() -> Iterator[list[str]]:
    if not hasattr(_watch, "hooked"):
        sys.addaudithook(_watch)
        _watch.hooked = True  # type: ignore[attr-defined]
    EVENTS.clear()
    WATCHING.set()
    yield EVENTS
    WATCHING.clear()


def test_e03_a_spec_full_of_addresses_makes_no_request_and_reads_no_file(
    tdx: Run, tmp_path: Path, listener: tuple[str, list[str]], watched: list[str]
) -> None:
    address, asked = listener
    red = tmp_path / "red.png"
    Image.new("RGB", (8, 8), "#ff0000").save(red)
    hostile = f'<image href="{red.as_uri()}" width="400" height="400"/> url({address}/a.css)'
    (tmp_path / "bait.yaml").write_text(
        f"title: '{hostile}'\ncaption: '{hostile}'\n"
        f"source: {{url: '{address}/paper', title: '{hostile}'}}\n"
        "inputs: {x: [...]}\nblocks:\n"
        f"  - {{op: box, id: a, label: '{hostile}', note: '{hostile}'}}\n"
        f"  - {{op: add, id: b, from: [a, {{from: x, label: '{hostile}'}}]}}\n"
    )
    watched.clear()
    said = tdx("render", "bait.yaml", "-f", ",".join(format_names()), "-o", "out")
    assert said.code in (0, 3), said.err  # 3: without the Cairo library there is no EPS
    WATCHING.clear()
    assert not [event for event in watched if "red.png" in event or "socket." in event]
    assert asked == []
    picture = Image.open(io.BytesIO((tmp_path / "out/bait.png").read_bytes())).convert("RGB")
    counts = picture.getcolors(maxcolors=1 << 24)
    assert counts
    assert (255, 0, 0) not in {colour for _, colour in counts}
