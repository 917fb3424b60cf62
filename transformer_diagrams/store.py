"""Finished results, kept by everything they were made from.

A result is found again when all of these are the same, byte for byte: the spec, every spec it
uses, the options, this package's own files and the versions of the libraries that shape the ink.
The names of the used specs are only known after loading, so an entry carries them with their
digests and is believed only when they still fit. Looking up costs no YAML: a warm run reads
files and compares digests.

An entry is one file in the cache folder. One that cannot be read, or whose checksum is wrong, is
as good as absent; a cache folder that cannot be written is no fault.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from transformer_diagrams import cachedir, files
from transformer_diagrams.errors import Fault, Span
from transformer_diagrams.records import dataclass

MAGIC = b"transformer-diagrams result 1\n"
PER_FOLDER = 48  # entries kept in each of the 256 folders
_HEX = frozenset("0123456789abcdef")

# Distributions whose version changes what is drawn.
LIBRARIES = (
    "cairosvg",
    "fontpkg",
    "fontpkg-crimson-text",
    "fontpkg-fira-sans",
    "fontpkg-noto-sans-arabic",
    "graphviz",
    "graphviz-pure",
    "latex2mathml",
    "pyyaml",
    "resvg-py",
    "uharfbuzz",
    "ziafont",
    "ziamath",
)


@dataclass(frozen=True, slots=True)
class Trace:
    """The files a result was made from, besides the spec itself.

    used    path -> SHA-256 of its bytes
    absent  paths that were looked for and not there; one that appears would win over a used file
    """

    used: Mapping[str, str]
    absent: tuple[str, ...] = ()

    def still_true(self) -> bool:
        return all(digest_of(path) == known for path, known in self.used.items()) and not any(
            os.path.exists(path) for path in self.absent
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A kept result. ``labels`` are the texts that were measured for it (see `text.kept`)."""

    data: bytes
    media_type: str
    warnings: tuple[Fault, ...]
    trace: Trace
    labels: tuple[tuple[str, str, str], ...] = ()


def digest(data: bytes) -> str:
    """SHA-256 as hexadecimal text."""
    return hashlib.sha256(data).hexdigest()


def digest_of(path: str | os.PathLike[str]) -> str:
    """The digest of a file's bytes; "" when it cannot be read."""
    try:
        return digest(files.read_regular(path))
    except (OSError, ValueError):
        return ""


@lru_cache(maxsize=1)
def package_fingerprint() -> str:
    """A digest of the sizes and dates of every file of this package that can change a result.

    Reading them all would take as long as the rest of a warm run.
    """
    found: list[tuple[str, int, int, int]] = []
    for folder, names, inside in os.walk(Path(__file__).parent):
        skipped = ("__pycache__", "_specs", "_pages", "cli", "gallery")
        names[:] = [n for n in names if n not in skipped]
        for name in inside:
            if name.endswith((".py", ".yaml", ".json", ".js", ".css")):
                place = os.path.join(folder, name)
                now = os.stat(place)
                found.append((place, now.st_size, now.st_mtime_ns, now.st_ctime_ns))
    return digest(json.dumps(sorted(found)).encode())


def library_versions() -> tuple[tuple[str, str], ...]:
    """(name, version) of each library in use."""
    versions = cachedir.versions()
    return tuple((name, versions[name]) for name in LIBRARIES if name in versions)


def key_of(source: bytes, **facts: Any) -> str:
    """The name of an entry: a digest of the spec's bytes and of ``facts`` (plain data)."""
    parts = {
        "package": package_fingerprint(),
        "libraries": library_versions(),
        "python": sys.version_info[:2],
        "source": digest(source),
        "facts": facts,
    }
    return digest(json.dumps(parts, sort_keys=True, default=str).encode())


def get(key: str) -> Entry | None:
    """The entry under ``key``, if it is there, whole, and its used files are still the same."""
    raw = cachedir.read(_name(key))
    if raw is None or not raw.startswith(MAGIC):
        return None
    checksum, _, rest = raw[len(MAGIC) :].partition(b"\n")
    if digest(rest).encode() != checksum:
        return None
    try:
        head, _, data = rest.partition(b"\n")
        fields = json.loads(head)
        entry = Entry(
            data=data,
            media_type=fields["media_type"],
            warnings=tuple(_fault(each) for each in fields["warnings"]),
            trace=Trace(dict(fields["used"]), tuple(fields["absent"])),
            labels=tuple((text, weight, align) for text, weight, align in fields["labels"]),
        )
    except (ValueError, KeyError, TypeError):
        return None
    return entry if entry.trace.still_true() else None


def put(key: str, entry: Entry) -> None:
    """Keep ``entry``; does nothing where the cache cannot be written."""
    head = {
        "media_type": entry.media_type,
        "warnings": [fault.as_json() for fault in entry.warnings],
        "used": dict(sorted(entry.trace.used.items())),
        "absent": sorted(entry.trace.absent),
        "labels": sorted(entry.labels),
    }
    rest = json.dumps(head, sort_keys=True).encode() + b"\n" + entry.data
    if cachedir.write(_name(key), MAGIC + digest(rest).encode() + b"\n" + rest):
        _thin_out(cachedir.cache_root() / _name(key))


def _name(key: str) -> str:
    return f"results/{key[:2]}/{key[2:]}"


def _thin_out(newest: Path) -> None:
    """Drop the oldest entries of a folder that has grown past its share; nothing else in it."""
    try:
        dated = sorted(
            (e.stat().st_mtime, e.path)
            for e in os.scandir(newest.parent)
            if len(e.name) == len(newest.name) and not set(e.name) - _HEX
        )
        for _, path in dated[: max(0, len(dated) - PER_FOLDER)]:
            os.unlink(path)
    except OSError:
        return  # another process is thinning it out too


def _fault(fields: Mapping[str, Any]) -> Fault:
    return Fault(
        code=fields["code"],
        message=fields["message"],
        span=Span(fields["file"], fields["line"], fields["column"]),
        path=fields["path"],
        found=fields["found"],
        expected=fields["expected"],
        hint=fields["hint"],
        notes=tuple((n["text"], Span(n["file"], n["line"], n["column"])) for n in fields["notes"]),
        severity=fields["severity"],
    )
