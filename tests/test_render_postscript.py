"""EPS and PS: the figure's paths and colours at its exact size; words when Cairo is missing."""

from __future__ import annotations

import builtins
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scenes import drawing, signs, tower
from svg_reader import Shape, read

from transformer_diagrams import theme
from transformer_diagrams.errors import ToolMissing
from transformer_diagrams.layout.scene import Scene
from transformer_diagrams.render import formats, postscript

PAPER = theme.get()


def cairo_is_here() -> bool:
    try:
        postscript.cairo()
    except ToolMissing:
        return False
    return True


needs_cairo = pytest.mark.skipif(not cairo_is_here(), reason="no Cairo library here")
needs_ghostscript = pytest.mark.skipif(shutil.which("gs") is None, reason="no Ghostscript here")


def written(scene: Scene, name: str, **asked: Any) -> str:
    drawing = formats.Drawing(scene, asked.pop("theme", PAPER), **asked)
    return formats.write(drawing, [name])[name].decode("ascii")


def body(text: str) -> str:
    """The page's own commands, without the definitions before them."""
    return text.split("%%EndPageSetup", 1)[1].split("%%Trailer", 1)[0]


@needs_cairo
@pytest.mark.parametrize("width", [None, 3.25 * 72, 180.0])
def test_the_box_is_exactly_the_figure(width: float | None) -> None:
    text = written(tower(), "eps", width=width)
    assert text.startswith("%!PS-Adobe-3.0 EPSF-3.0\n")
    whole = re.search(r"^%%BoundingBox: 0 0 (\d+) (\d+)$", text, re.MULTILINE)
    exact = re.search(r"^%%HiResBoundingBox: 0 0 ([\d.]+) ([\d.]+)$", text, re.MULTILINE)
    assert whole
    assert exact
    wide = width or 584
    assert float(exact[1]) == pytest.approx(wide, abs=0.001)
    assert float(exact[2]) == pytest.approx(wide * 518 / 584, abs=0.001)
    for rounded, true in zip(whole.groups(), exact.groups(), strict=True):
        assert 0 <= int(rounded) - float(true) < 1


@needs_cairo
@pytest.mark.parametrize("name", ["eps", "ps"])
def test_the_paths_are_those_of_the_svg_and_none_is_a_picture(name: str) -> None:
    for scene in (tower(), signs()):
        commands = body(written(scene, name))
        assert not re.search(r"\bcairo_image|\bimage\b|ImageType", commands)
        starts = re.findall(r"([-\d.]+) ([-\d.]+) m\b", commands)
        found = {(round(float(x), 1), round(float(y), 1)) for x, y in starts}
        picture = read(drawing(scene, PAPER).svg)
        shapes = [item for item in picture.items if isinstance(item, Shape)]
        # The page is turned once, at its top, so that y grows downward here too.
        expected = []
        for shape in shapes:
            a, b, c, d, e, f = shape.matrix
            for letter, numbers in shape.commands:
                if letter == "M":
                    x, y = numbers
                    expected.append((a * x + c * y + e, b * x + d * y + f))
        near = {
            (x + dx / 10, y + dy / 10) for x, y in found for dx in (-1, 0, 1) for dy in (-1, 0, 1)
        }
        grid = {(round(x, 1), round(y, 1)) for x, y in near}
        missed = [p for p in expected if (round(p[0], 1), round(p[1], 1)) not in grid]
        assert len(expected) > 100
        assert len(missed) <= 0.03 * len(expected)  # circles begin elsewhere, sheets are `rectfill`


@needs_cairo
def test_the_colours_are_those_of_the_svg() -> None:
    for scene in (tower(), signs()):
        painted = {
            tuple(round(float(v), 3) for v in (numbers.split() if name == "rg" else [numbers] * 3))
            for numbers, name in re.findall(
                r"((?:[\d.]+ [\d.]+ )?[\d.]+) (rg|g)\b", body(written(scene, "eps"))
            )
        }
        picture = read(drawing(scene, PAPER).svg)
        wanted = {
            tuple(round(v, 3) for v in color)
            for item in picture.items
            if isinstance(item, Shape)
            for color in (item.fill, item.stroke)
            if color
        }
        assert painted == wanted


@needs_cairo
def test_the_same_scene_gives_the_same_bytes_without_a_date() -> None:
    first = written(tower(), "eps")
    assert first == written(tower(), "eps")
    assert "CreationDate" not in first
    assert "cairo 1" not in first


@needs_cairo
def test_words_are_ink_alone() -> None:
    assert "RMSNorm" not in written(tower(), "eps")
    assert written(tower(), "eps", words=False) == written(tower(), "eps")


@needs_cairo
@needs_ghostscript
def test_ghostscript_prints_it(tmp_path: Path) -> None:
    file = tmp_path / "a.eps"
    file.write_text(written(tower(), "eps"))
    done = subprocess.run(
        ["gs", "-q", "-dBATCH", "-dNOPAUSE", "-dEPSCrop", "-sDEVICE=bbox", str(file)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    box = re.search(r"%%BoundingBox: (\d+) (\d+) (\d+) (\d+)", done.stderr)
    assert box
    left, low, right, high = map(int, box.groups())
    assert (left, low) <= (1, 1)
    assert right <= 585
    assert high <= 519


@pytest.mark.parametrize(
    ("failure", "remedy"),
    [
        (ImportError("No module named 'cairosvg'"), "pip install cairosvg"),
        (OSError('no library called "cairo-2" was found'), "libcairo2"),
    ],
)
def test_without_cairo_the_package_to_install_is_named_and_the_rest_works(
    failure: Exception, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "cairosvg":
            raise failure
        return real(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "cairosvg", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(postscript, "REMEDIES", ())  # as on a system of an unknown kind
    drawing = formats.Drawing(signs(), PAPER)
    for name in ("eps", "ps"):
        with pytest.raises(ToolMissing) as caught:
            formats.write(drawing, [name])
        (fault,) = caught.value.faults
        assert remedy in fault.hint
    assert all(formats.write(drawing, ["svg", "png", "pdf", "dot"]).values())


def test_each_system_is_told_its_own_package(monkeypatch: pytest.MonkeyPatch) -> None:
    for manager, command in postscript.REMEDIES:
        monkeypatch.setattr(
            shutil, "which", lambda name, only=manager: name if name == only else None
        )
        assert postscript._remedy() == command
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "libcairo2" in postscript._remedy()
