"""Where measured labels are kept: those of the bundled figures come with the package, all others
lie in the cache folder.

A label has a name made of itself and of what its ink depends on: this package's code and the
versions of the fonts and libraries. So a first figure needs neither, and what is outdated is not
found any more.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from transformer_diagrams import cachedir, files
from transformer_diagrams.bundled import bundled_labels
from transformer_diagrams.text import fonts

Label = tuple[str, str, str]
"""The text as it is written, its weight, and how its lines are aligned."""

_ASKED: ContextVar[dict[Label, None] | None] = ContextVar("asked", default=None)


@contextmanager
def noted() -> Iterator[dict[Label, None]]:
    """Every label that is asked for inside, whether it had been measured before or not."""
    asked: dict[Label, None] = {}
    token = _ASKED.set(asked)
    try:
        yield asked
    finally:
        _ASKED.reset(token)


def note(label: Label) -> None:
    """A label is asked for."""
    asked = _ASKED.get()
    if asked is not None:
        asked[label] = None


@cache
def made_by() -> str:
    """What the ink of a label depends on, besides the label."""
    code = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        code.update(path.read_bytes())
    return f"{code.hexdigest()[:20]},{_versions(fonts.PACKAGES)}"


def _versions(names: tuple[str, ...]) -> str:
    installed = cachedir.versions()
    return ",".join(f"{name}={installed.get(name)}" for name in names)


def name(label: Label, chosen: fonts.Typeface = fonts.USUAL) -> str:
    """The name under which a label in the ``chosen`` fonts is kept."""
    parts = [made_by(), *label]
    if chosen != fonts.USUAL:
        parts.append(fonts.signature(chosen))
    if any("\u0600" <= c < "\u1e00" or c >= "\u2c00" for c in label[0]):  # no Latin, Greek, signs
        parts.append(_versions(fonts.FOR_SCRIPTS))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:40]


def get(name: str) -> bytes | None:
    """What is kept under a name."""
    packed = _bundled().get(name)
    return cachedir.read(_place(name)) if packed is None else zlib.decompress(packed)


def put(name: str, data: bytes) -> None:
    """Keep ``data``, where the cache can be written."""
    cachedir.write(_place(name), data)


def _place(name: str) -> str:
    return f"text/{name[:2]}/{name[2:]}.json"


@cache
def _bundled() -> Mapping[str, bytes]:
    """Name -> packed bytes of the labels that come with the package, if they are of this code."""
    return _read(bundled_labels())


def _read(path: Path) -> dict[str, bytes]:
    """A file of labels: a line of JSON, {made by: {name: length}}, then the packed bytes."""
    try:
        head, _, body = files.read_regular(path).partition(b"\n")
        sizes: dict[str, int] = json.loads(head).get(made_by(), {})
        found, at = {}, 0
        for name, size in sizes.items():
            found[name] = body[at : at + size]
            at += size
    except (OSError, ValueError, AttributeError):
        return {}
    return found


def renew(path: Path, labels: Mapping[str, bytes]) -> bool:
    """Make ``path`` hold these labels (name -> bytes) and no others; False when it does.

    What is in the file is compared, not how it is packed: that differs between versions of zlib.
    """
    if {name: zlib.decompress(packed) for name, packed in _read(path).items()} == labels:
        return False
    packed = {name: zlib.compress(data, 9) for name, data in sorted(labels.items())}
    head = {made_by(): {name: len(data) for name, data in packed.items()}}
    files.write(path, json.dumps(head).encode() + b"\n" + b"".join(packed.values()))
    return True
