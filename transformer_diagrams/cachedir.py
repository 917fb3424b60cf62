"""Where derived data is kept between runs.

A cache is never needed: an unwritable, broken or foreign one only costs time, so nothing here
raises. It is believed only where nobody else can write: files and folders that belong to another
user, that everyone may write to, or that are no plain files, are as good as absent.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from transformer_diagrams import files

ENV = "TRANSFORMER_DIAGRAMS_CACHE"


def cache_root() -> Path:
    """The cache folder: ``$TRANSFORMER_DIAGRAMS_CACHE``, else the user's cache folder."""
    given = os.environ.get(ENV)
    if given:
        return Path(given)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "transformer-diagrams"


def read(name: str) -> bytes | None:
    """The bytes stored under a relative name, or None when there are none to be had."""
    try:
        target = os.path.join(_root(), name)
        if not _safe(target):
            return None
        return files.read_regular(target, follow=False)
    except (OSError, RuntimeError, ValueError):
        return None


def write(name: str, data: bytes) -> bool:
    """Store bytes atomically under a relative name; False when the cache cannot be written."""
    try:
        target = os.path.join(_root(), name)
        files.make_folders(os.path.dirname(target), mode=0o700)
        if not _safe(os.path.dirname(target)):
            return False
        files.write(Path(target), data, follow=False)
    except (OSError, RuntimeError, ValueError):
        return False
    return True


def _safe(target: str) -> bool:
    """Whether the cache folder and all below it on the way to ``target`` are the user's alone."""
    root = _root()
    if not _own(os.stat(root)):  # the folder itself may be a link, to a larger disk
        return False
    here = root
    for part in os.path.relpath(target, root).split(os.sep):
        here = os.path.join(here, part)
        if not _own(os.lstat(here)):
            return False
    return True


def _own(status: os.stat_result) -> bool:
    mode = status.st_mode
    if stat.S_ISLNK(mode):
        return False
    return not hasattr(os, "geteuid") or (
        status.st_uid == os.geteuid() and not mode & stat.S_IWOTH
    )


def _root() -> str:
    return _root_for(os.environ.get(ENV, ""), os.environ.get("XDG_CACHE_HOME", ""))


@lru_cache(maxsize=8)
def _root_for(_given: str, _xdg: str) -> str:
    return str(cache_root())


@cache
def versions() -> Mapping[str, str]:
    """The version of each installed distribution, read from the names of the metadata folders.

    `importlib.metadata` says the same, but its import costs as much as a whole warm run.
    """
    found: dict[str, str] = {}
    for place in sys.path:
        try:
            entries = os.listdir(place or ".")
        except OSError:
            continue
        for entry in entries:
            stem, suffix = os.path.splitext(entry)
            name, dash, version = stem.partition("-")
            if dash and suffix in (".dist-info", ".egg-info"):
                # An older way of writing adds the Python that it was built for.
                version = version.partition("-")[0]
                found.setdefault(name.lower().replace("_", "-").replace(".", "-"), version)
    return found


@cache
def package_folder(name: str) -> str | None:
    """The folder of an installed package, found without importing it; None when absent."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec(name)
    if spec is None:
        return None
    if spec.submodule_search_locations:
        return str(next(iter(spec.submodule_search_locations)))
    return os.path.dirname(spec.origin) if spec.origin else None
