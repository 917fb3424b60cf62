"""Where specs are found: by path, by the id of a bundled one, or all below a folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from transformer_diagrams import files, reading
from transformer_diagrams.bundled import bundled_specs
from transformer_diagrams.errors import DiagramError, did_you_mean
from transformer_diagrams.options import AskError, ask_error, typed


def read(target: str) -> tuple[Path, bytes]:
    """The file behind a path or id, and what it holds.

    :raises AskError: when there is none (with the nearest id), or it cannot be read.
    :raises DiagramError: when it is larger than a spec can be.
    """
    path = locate(target)
    return path, content(path, target)


def content(path: Path, target: str) -> bytes:
    """What a file holds; ``target`` is its name for messages.

    :raises AskError: when it cannot be read.
    :raises DiagramError: when it is larger than a spec can be.
    """
    try:
        return reading.read(path)
    except reading.TooLarge as fault:
        raise DiagramError(reading.too_large(shown(path))) from fault
    except OSError as fault:
        raise _unreadable(target, fault) from fault


CONFIG = "config.json"


def config_of(target: str) -> Path | None:
    """The configuration of a model that a name means: a JSON file, or the one in a folder."""
    path = Path(target)
    if path.suffix == ".json":
        return path
    inside = path / CONFIG
    return inside if target and reading.is_file(inside) else None


def specs_below(folder: str | os.PathLike[str]) -> list[Path]:
    """Every spec below a folder, sorted.

    :raises AskError: when there is none, or the folder or one in it cannot be read.
    """
    try:
        found = files.below(folder, ".yaml", ".yml")
    except OSError as fault:
        raise _unreadable(str(fault.filename or folder), fault) from fault
    if not found:
        raise ask_error(f"there is no spec (*.yaml) in the folder '{folder}'", code="no-such-spec")
    return found


def locate(target: str) -> Path:
    """The file behind a path or id: a file of that name, `ID.yaml` here, then the bundled spec.

    :raises AskError: when there is none; the hint names the nearest.
    """
    typed("a spec's name or path", target, str)
    if not target:
        raise ask_error("an empty name names no spec", code="no-such-spec")
    path = Path(target)
    if _is_file(path):
        return path
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        folder = path.parent
        _no_other_kind(path)
        try:
            beside = [name for name in os.listdir(folder) if name.endswith((".yaml", ".yml"))]
            hint = did_you_mean(path.name, beside, what="file", most=6)
        except (OSError, ValueError):
            hint = f"there is no folder '{folder}' that can be read"
        raise ask_error(f"there is no file '{target}'", hint, code="no-such-spec")
    here = Path(f"{target}.yaml")
    if _is_file(here):
        return here
    bundled = bundled_specs()
    if target in bundled:
        return bundled[target]
    _no_other_kind(path)
    hint = did_you_mean(target, bundled, what="spec", most=0)
    more = "`transformer-diagrams list` shows all ids; a file is named by its path"
    raise ask_error(f"there is no spec '{target}'", f"{hint} {more}".strip(), code="no-such-spec")


def _is_file(path: Path) -> bool:
    """Whether a path names a file, and not a folder or a pipe.

    :raises AskError: when the system does not say.
    """
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError) as fault:
        raise _unreadable(str(path), fault) from fault


def _no_other_kind(path: Path) -> None:
    """:raises AskError: when something of that name is there, which is no file."""
    if os.path.lexists(path):
        what = "a folder, not a spec" if os.path.isdir(path) else "no file of the usual kind"
        raise ask_error(f"'{path}' is {what}", code="no-such-spec")


def _unreadable(name: str, fault: OSError | ValueError) -> AskError:
    reason = getattr(fault, "strerror", None) or str(fault)
    return ask_error(f"'{name}' cannot be read: {reason}", code="unreadable")


def shown(path: Path) -> str:
    """A path as a message should show it: relative to here when it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
