"""How the package is put together, read from its own files: modules, first words, imports."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from transformer_diagrams.docs.markdown import code, codes, table

PACKAGE = "transformer_diagrams"


@lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _tree(path: Path) -> ast.Module:
    return _parsed(path.read_text(encoding="utf-8"))


def first_words(path: Path) -> str:
    """The first sentence of a module's docstring, without the full stop."""
    doc = ast.get_docstring(_tree(path)) or ""
    return " ".join(doc.split("\n\n")[0].split()).rstrip(".").replace("``", "`")


def units(package: Path) -> list[tuple[str, Path, list[Path]]]:
    """(name, its own file, its modules) of each module and package of the top level."""
    found = []
    for path in sorted(package.iterdir()):
        if path.is_dir() and (path / "__init__.py").is_file():
            inside = sorted(p for p in path.rglob("*.py") if p.name != "__init__.py")
            found.append((path.name, path / "__init__.py", inside))
        elif path.suffix == ".py" and not path.name.startswith("__"):
            found.append((path.stem, path, []))
    return found


def imported(files: list[Path], own: str) -> list[str]:
    """The units that files import, wherever the import stands, by name."""
    names = {name for path in files for name in _imports(path)}
    return sorted(names - {own, ""})


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            yield from (alias.name for alias in node.names if not alias.name.startswith("__"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{PACKAGE}."):
            yield (node.module or "").split(".")[1]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith(f"{PACKAGE}."):
                    yield alias.name.split(".")[1]


def _units(root: Path) -> str:
    rows = []
    for name, file, inside in units(root / PACKAGE):
        below = imported([file, *inside], name)
        rows.append([code(name), first_words(file), codes(below) or "nothing"])
    return table(["unit", "what it is", "imports"], rows)


def _modules(root: Path) -> str:
    parts = []
    for name, _, inside in units(root / PACKAGE):
        if inside:
            rows = [
                [code(path.relative_to(root / PACKAGE / name).as_posix()), first_words(path)]
                for path in inside
            ]
            parts += [f"### {name}\n", table(["module", "its job"], rows)]
    return "\n".join(parts)


PARTS: Mapping[str, Callable[[Path], str]] = {"units": _units, "modules": _modules}
