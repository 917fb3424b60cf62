"""Where derived data is kept between runs, and how a file is put there whole or not at all.

A cache is never needed: an unwritable or broken one only costs time, so nothing here raises.
"""

from __future__ import annotations

import os
import sys
from functools import cache, lru_cache
from pathlib import Path

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
        with open(os.path.join(_root(), name), "rb") as file:
            return file.read()
    except (OSError, RuntimeError, ValueError):
        return None


def write(name: str, data: bytes) -> bool:
    """Store bytes atomically under a relative name; False when the cache cannot be written."""
    try:
        target = os.path.join(_root(), name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        # One name per process: two writers of the same content never see each other's half.
        partial = f"{target}.{os.getpid()}.part"
        with open(partial, "wb") as file:
            file.write(data)
        os.replace(partial, target)
    except (OSError, RuntimeError, ValueError):
        return False
    return True


def _root() -> str:
    return _root_for(os.environ.get(ENV, ""), os.environ.get("XDG_CACHE_HOME", ""))


@lru_cache(maxsize=8)
def _root_for(_given: str, _xdg: str) -> str:
    return str(cache_root())


def package_versions(names: tuple[str, ...]) -> str:
    """``name=version`` of installed packages, joined by commas; part of every cache key.

    Reads folder names only: importing the metadata library would cost more than a whole
    warm render. A package without a visible version is told apart by its file's size and date.
    """
    return ",".join(f"{name}={_version(name)}" for name in names)


@cache
def _version(name: str) -> str:
    folder = package_folder(name)
    if folder is None:
        return "none"
    prefix = f"{name.lower()}-"
    for entry in _entries(os.path.dirname(folder)):
        low = entry.lower()
        if low.startswith(prefix) and low.endswith(".dist-info"):
            return low[len(prefix) : -len(".dist-info")]
    try:
        status = os.stat(folder)
    except OSError:
        return "unknown"
    return f"{status.st_size}-{int(status.st_mtime)}"


@cache
def _entries(folder: str) -> tuple[str, ...]:
    try:
        return tuple(sorted(os.listdir(folder)))
    except OSError:
        return ()


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
