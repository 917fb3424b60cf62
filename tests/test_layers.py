"""The layers of the package, read from its imports, against the one table of what may use what."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "transformer_diagrams"

# An arrow means "may import"; what a layer may import, its user may import too. A unit is a
# package or module of the top level; `graph.ir` (the types that layout reads) counts by itself.
ARROWS: dict[str, set[str]] = {
    "__init__": {"api", "errors", "options", "publish"},
    "publish": {"cli"},
    "__main__": {"cli"},
    "cli": {"figures", "api", "gallery", "preview", "streams"},
    "preview": {"api", "faults_text"},
    "figures": {"api", "faults_text", "pool"},
    "pool": {"errors"},
    "labels": {"text", "spec"},
    "families": {"spec"},
    "run": {"graph", "extras", "families"},
    "api": {"pipeline", "run", "extras", "families", "finding", "diff", "lint", "count", "dump"},
    "pipeline": {"labels", "render", "graph", "result"},
    "result": {"store", "options"},
    "finding": {"options", "reading", "bundled", "files"},
    "diff": {"count", "text"},
    "dump": {"graph"},
    "faults_text": {"reading", "streams"},
    "streams": {"errors"},
    "bundled": set(),
    "lint": {"layout"},
    "render": {"layout", "extras"},
    "layout": {"text", "theme", "graph.ir"},
    "text": {"bundled", "cachedir", "errors"},
    "theme": {"choices", "reading", "roles"},
    "count": {"graph"},
    "graph": {"spec", "graph.ir"},
    "graph.ir": {"ops"},
    "options": {"graph"},
    "spec": {"choices", "ops", "bundled", "reading", "theme"},
    "ops": {"dims", "roles"},
    "dims": {"errors"},
    "choices": set(),
    "roles": set(),
    "store": {"cachedir", "errors"},
    "extras": {"cachedir", "errors"},
    "cachedir": {"files"},
    "files": set(),
    "reading": {"errors"},
    "errors": {"records"},
    "records": set(),
    "docs": {"cli"},
    "live": {"api", "extras"},
    "gallery": {"api", "live", "pool", "streams"},
}

HEAVY = (
    "jsonschema", "uharfbuzz", "ziamath", "ziafont", "cairosvg", "graphviz", "numpy", "PIL", "pptx",
    "safetensors", "einops",
)  # fmt: skip


def unit_of(module: str) -> str:
    """``transformer_diagrams.layout.scene`` -> ``layout``."""
    parts = module.split(".")[1:]
    if parts[:2] == ["graph", "ir"]:
        return "graph.ir"
    return parts[0] if parts else "__init__"


def reach(unit: str) -> set[str]:
    """Everything below a unit, and the unit itself."""
    seen: set[str] = set()
    todo = [unit]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += ARROWS.get(name, ())
    return seen


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path) -> list[tuple[int, str]]:
    """(line, module) of every import of this package in a file, wherever it stands."""
    package = ["transformer_diagrams", *path.relative_to(PACKAGE).parts[:-1]]
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{module}.{alias.name}"
                target = PACKAGE.joinpath(*inner.split(".")[1:])
                is_module = target.is_dir() or target.with_suffix(".py").is_file()
                found.append((node.lineno, inner if is_module else module))
    return [(line, name) for line, name in found if name.split(".")[0] == "transformer_diagrams"]


def modules() -> list[Path]:
    return sorted(p for p in PACKAGE.rglob("*.py") if "_specs" not in p.parts)


def test_every_unit_has_a_place_in_the_table() -> None:
    units = {
        unit_of(
            ".".join(["transformer_diagrams", *path.relative_to(PACKAGE).with_suffix("").parts])
        )
        for path in modules()
    }
    assert units <= set(ARROWS), f"say in the table what these may import: {units - set(ARROWS)}"


def test_the_table_has_no_cycle() -> None:
    for unit, below in ARROWS.items():
        assert not [name for name in below if unit in reach(name)], f"{unit} lies below itself"


def types_only(path: Path) -> set[int]:
    """The lines below ``if TYPE_CHECKING:``, which no run executes."""
    return {
        line
        for node in ast.walk(tree(path))
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Wherever the import stands, at the top or in a function; a name for types alone is none."""
    imports: dict[str, set[str]] = {}
    for path in modules():
        name = ".".join(["transformer_diagrams", *path.relative_to(PACKAGE).with_suffix("").parts])
        skipped = types_only(path)
        imports[name.removesuffix(".__init__")] = {
            below for line, below in imports_of(path) if line not in skipped
        }
    while True:  # what imports nothing that is left is in no circle
        free = [name for name, below in imports.items() if not below & imports.keys()]
        if not free:
            break
        for name in free:
            del imports[name]
    assert not imports, "\n".join(
        f"{name} -> {', '.join(sorted(below & imports.keys()))}" for name, below in imports.items()
    )


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_follow_the_arrows(path: Path) -> None:
    own = unit_of(
        ".".join(["transformer_diagrams", *path.relative_to(PACKAGE).with_suffix("").parts])
    )
    # An `__init__` of a sub-package belongs to its package.
    allowed = reach(own) | {own}
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {own} must not import {name}"
        for line, name in imports_of(path)
        if unit_of(name) not in allowed and name != "transformer_diagrams"
    ]
    assert not wrong, "\n".join(wrong)


def test_one_name_is_one_class_and_one_module_of_the_glossary() -> None:
    """A public class has its name to itself, and the glossary names what there is."""
    named: dict[str, list[str]] = {}
    for path in modules():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                named.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    twice = {name: where for name, where in named.items() if len(where) > 1}
    assert not twice
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    glossary = text.partition("## The words")[2].partition("\n## ")[0]
    rows = [row for row in glossary.splitlines() if row.startswith("| ")][2:]
    assert len(rows) > 10
    for row in rows:
        words, _, where = (cell.strip() for cell in row.strip("|").split(" | "))
        files = [PACKAGE / name for name in re.findall(r"`([^`]+\.py)`", where)]
        assert files, row
        code = " ".join(f"{where} {file.read_text(encoding='utf-8')}" for file in files).lower()
        for word in words.split(", "):
            assert re.search(rf"\b{word.split()[0]}", code), f"{word}: not in {where}"


def loaded_after(code: str) -> set[str]:
    """The modules in a fresh interpreter after ``code``, which may end by SystemExit."""
    script = (
        f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return set(done.stderr.split())


def test_importing_the_package_imports_nothing_else() -> None:
    bare = loaded_after("pass")
    new = loaded_after("import transformer_diagrams") - bare
    assert new <= {"transformer_diagrams", "typing", "__future__"} | {
        name for name in new if name.split(".")[0] in sys.stdlib_module_names
    }
    assert not [name for name in new if name.startswith("transformer_diagrams.")]


@pytest.mark.parametrize("arguments", [["--help"], ["render", "--help"], ["--version"]])
def test_help_imports_no_heavy_library(arguments: list[str]) -> None:
    loaded = loaded_after(
        f"from transformer_diagrams.cli.app import run; sys.exit(run({arguments!r}))"
    )
    assert not loaded & {*HEAVY, "yaml"}
