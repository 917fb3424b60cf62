"""The folder of a site: what in it is ours, and a new site put in place of an older one.

The site's list, `gallery.json`, names every file with the digest of what was written. Only a file
that still has such a digest is replaced or removed; all else in the folder stays as it is. While
files move, the list names both the old and the new digest of each, so that a build that was killed
is taken up by the next.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from transformer_diagrams import files, store
from transformer_diagrams.api import unwritable
from transformer_diagrams.options import ask_error

MARK = "gallery.json"
MADE_BY = "transformer-diagrams gallery"

Known = Mapping[str, Iterable[str]]
"""Name of a file -> the digests that it may have if it is ours."""


def known(folder: Path) -> Known:
    """What an earlier build wrote there; nothing for a folder that is new or empty.

    :raises AskError: when the folder holds other things, or is none.
    """
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise ask_error(f"'{folder}' is a file; a gallery needs a folder", code="unwritable")
    try:
        if not os.path.lexists(folder) or not os.listdir(folder):
            return {}
    except OSError as fault:
        raise unwritable(folder, fault) from fault
    try:
        found = _listed(files.read_regular(folder / MARK, follow=False))
    except (OSError, ValueError, RecursionError):
        found = None
    if found is None:
        raise ask_error(
            f"'{folder}' holds other files, and no list of a gallery made here; "
            "nothing was written",
            "name a new folder, or an empty one",
            code="not-a-gallery",
        )
    return found


def put(folder: Path, made: Mapping[str, bytes], before: Known, about: Mapping[str, Any]) -> None:
    """Put the files ``made`` in place and remove those of ``before`` that are not made any more.

    ``about`` is what the list says beside the files. All is on the disk before anything moves.

    :raises AskError: when that would touch a file that is not ours, or the folder cannot be
        written; nothing has changed then.
    """
    digests = {name: store.digest(data) for name, data in made.items()}
    changed = [name for name in made if _digest(folder, name) != digests[name]]
    foreign = [
        name
        for name in changed
        if os.path.lexists(folder / name) and _digest(folder, name) not in before.get(name, ())
    ]
    foreign += [name for name in changed if name not in foreign and _blocked(folder, name)]
    if foreign:
        shown = ", ".join(sorted(foreign)[:3]) + (" ..." if len(foreign) > 3 else "")
        raise ask_error(
            f"'{folder}' holds files that the gallery did not write, or that were changed since: "
            f"{shown}; nothing was written",
            "move them away, or name a new folder",
            code="not-a-gallery",
        )
    last = _list({name: [digest] for name, digest in digests.items()}, about)
    if not changed and before.keys() == made.keys() and _content(folder / MARK) == last:
        return
    both = {name: {*before.get(name, ()), *([digests[name]] if name in made else [])}
            for name in {*before, *made}}  # fmt: skip
    try:
        files.write_all(
            {folder / MARK: _list(both, about)} | {folder / name: made[name] for name in changed}
        )
        left = _removed(folder, {name: before[name] for name in before if name not in made})
        files.write(folder / MARK, _list({**left, **{n: [d] for n, d in digests.items()}}, about))
    except (OSError, ValueError) as fault:
        raise unwritable(Path(getattr(fault, "filename", None) or folder), fault) from fault


def _removed(folder: Path, gone: Known) -> Known:
    """Remove files that are still as they were written; gives those that could not be."""
    left: dict[str, Iterable[str]] = {}
    for name in sorted(gone):
        path = folder / name
        if _digest(folder, name) not in gone[name]:
            continue  # changed by somebody, or gone
        try:
            if not path.stat().st_mode & 0o222:
                raise PermissionError
            path.unlink()
        except OSError:
            left[name] = gone[name]
            continue
        for above in path.relative_to(folder).parents[:-1]:
            try:
                (folder / above).rmdir()  # when it was the last one
            except OSError:
                break
    return left


def _digest(folder: Path, name: str) -> str:
    """The digest of a file of the folder; "" for none, a link, or one behind a link."""
    content = None if _blocked(folder, name) else _content(folder / name)
    return "" if content is None else store.digest(content)


def _content(path: Path) -> bytes | None:
    try:
        return files.read_regular(path, follow=False)
    except (OSError, ValueError):
        return None


def _blocked(folder: Path, name: str) -> bool:
    """Whether something on the way to a file of the folder is no folder, but a link or a file."""
    here = folder
    for part in Path(name).parts[:-1]:
        here /= part
        try:
            if not stat.S_ISDIR(os.lstat(here).st_mode):
                return True
        except NotADirectoryError:
            return True
        except OSError:
            return False  # there is nothing yet, or writing will say why not
    return False


def _list(digests: Known, about: Mapping[str, Any]) -> bytes:
    named = {name: sorted(digests[name]) for name in sorted(digests)}
    data = {"made_by": MADE_BY, **about, "files": named, "seal": _seal(named)}
    return (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode("utf-8")


def _listed(data: bytes) -> Known | None:
    """The files that a list names, when it is a whole one of ours."""
    found = json.loads(data)
    if not isinstance(found, dict) or found.get("made_by") != MADE_BY:
        return None
    named = found.get("files")
    if not isinstance(named, dict) or found.get("seal") != _seal(named):
        return None
    return named if all(map(_inside, named)) else None


def _seal(named: Any) -> str:
    """A digest over the list of files: one that was put together by hand does not have it."""
    return store.digest(f"{MADE_BY}\n{json.dumps(named, sort_keys=True)}".encode())


def _inside(name: str) -> bool:
    """Whether a name stays inside the folder, and means the same to every system."""
    parts = Path(name).parts
    return name != MARK and "/".join(parts) == name and not {"..", "/"} & {*parts} and (
        not Path(name).anchor and "\0" not in name
    )
