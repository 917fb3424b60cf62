"""The wheel: it builds, and works in an empty environment far from the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

SPEC = """title: Mine
dims: {d_t: positions, d_m: width, n_h: query heads, n_g: key heads}
where: [n_g | n_h, n_h | d_m]
inputs: {x: [d_t, d_m]}
blocks:
  - residual:
      - rmsnorm
      - {use: gqa, id: attention}
"""


def run(*command: str | Path, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """A process whose failure shows its words."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV_"))}
    # The packaged Graphviz is a program of the lending environment, see `place`.
    clean["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), clean.get("PATH", "")))
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**clean, **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by the backend itself, in a process of its own, without a network."""
    out = tmp_path_factory.mktemp("wheel")
    code = f"from hatchling.build import build_wheel; build_wheel({str(out)!r})"
    run(sys.executable, "-c", code, cwd=ROOT)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def place(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel in it; the libraries are lent from this one."""
    place = tmp_path_factory.mktemp("away")
    venv.create(place / "venv", with_pip=False, symlinks=os.name != "nt")
    python = place / "venv" / "bin" / "python"
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(python, "-c", where, cwd=place).stdout.strip())
    lent = run(sys.executable, "-c", where, cwd=place).stdout.strip()
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    run(*pip, "--no-deps", "--no-index", wheel, cwd=place)
    # A .pth entry comes after the environment's own packages, so the wheel's package wins over
    # an editable one; only the libraries are found in the lender.
    (site / "lent.pth").write_text(lent + "\n")
    return place


def test_the_wheel_brings_specs_themes_and_types(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "transformer_diagrams/_labels.bin" in names
    bundled = {Path(n).name for n in names if n.startswith("transformer_diagrams/_specs/")}
    assert bundled == {path.name for path in (ROOT / "specs").rglob("*.yaml")}
    data = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "transformer_diagrams").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]
    assert set(data) <= names, "every file of the package is in the wheel"
    assert not [name for name in names if name.startswith(("tests", "benchmarks", "specs"))]


def test_the_installed_program_finds_bundled_specs(place: Path) -> None:
    (place / "mine.yaml").write_text(SPEC)
    program = place / "venv" / "bin" / "transformer-diagrams"
    cache = str(place / "cache")
    run(program, "check", "mine.yaml", cwd=place, TRANSFORMER_DIAGRAMS_CACHE=cache)
    run(
        program, "render", "llama3", "mine.yaml", "-o", "out", "--open", "attention",
        cwd=place, TRANSFORMER_DIAGRAMS_CACHE=cache,
    )  # fmt: skip
    for name in ("llama3", "mine"):
        assert (place / "out" / f"{name}.svg").read_bytes().rstrip().endswith(b"</svg>")
    where = "import transformer_diagrams as t; print(t.__file__)"
    shown = run(place / "venv" / "bin" / "python", "-c", where, cwd=place).stdout
    assert str(place) in shown, "the wheel was used, not the repository"


def test_the_short_name_is_the_same_program(place: Path) -> None:
    for name in ("tdx", "transformer-diagrams"):
        words = run(place / "venv" / "bin" / name, "--version", cwd=place).stdout
        assert words.startswith(name)


def test_every_dependency_is_locked_and_explained() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    project = tomllib.loads(text)["project"]
    locked = {
        line.split("==")[0].strip().lower()
        for line in (ROOT / "requirements.lock").read_text().splitlines()
        if "==" in line
    }
    for requirement in project["dependencies"]:
        name = requirement.split(">")[0].strip()
        assert name.lower() in locked
        before = text[: text.index(f'"{requirement}"')].rstrip().splitlines()[-1]
        assert before.lstrip().startswith("#"), f"say in a comment what {name} is for"
