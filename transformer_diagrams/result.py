"""A finished figure, and where it is kept: by all that it was made from (see `store`)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_diagrams import files, store
from transformer_diagrams.errors import Fault
from transformer_diagrams.options import AskError, Options, ask_error
from transformer_diagrams.records import dataclass

if TYPE_CHECKING:
    from transformer_diagrams.spec.library import SpecLibrary
    from transformer_diagrams.spec.model import Spec


@dataclass(frozen=True, slots=True)
class Rendering:
    """A finished figure."""

    data: bytes
    media_type: str
    warnings: tuple[Fault, ...] = ()
    labels: tuple[tuple[str, str, str], ...] = ()  # measured for it, see `store.Entry`

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the figure to ``path``, whole or not at all; makes missing folders."""
        return save(Path(path), self.data)

    def __str__(self) -> str:
        return self.data.decode("utf-8")


def key(data: bytes, label: str, id: str, path: Path | None, format: str, options: Options) -> str:
    """The name under which the figure of a spec (its bytes) is kept; reads no YAML."""
    place = str(path.resolve()) if path is not None else str(Path.cwd())
    return store.key_of(
        data, format=format, options=options.wish(), place=place, label=label, id=id
    )


def trace(spec: Spec, library: SpecLibrary, looks: Iterable[str] = ()) -> store.Trace:
    """Digests of every used file, and the places looked at before it was found.

    ``looks``  paths of what the figure's look was read from
    """
    from transformer_diagrams.spec.blocks import walk

    used = {path: store.digest_of(path) for path in looks}
    absent: dict[str, None] = {}
    for user in library.closure(spec):
        folder = Path(user.span.file).parent
        for block in walk(user.blocks):
            if block.kind != "use":
                continue
            found = library.find(block.use, user)
            for suffix in (".yaml", ".yml"):
                before = folder / f"{block.use}{suffix}"
                if before == found:
                    break
                absent[str(before.resolve())] = None
            path = str(found.resolve())
            if path not in used:
                used[path] = store.digest_of(path)
    return store.Trace(used, tuple(sorted(absent)))


def save(path: Path, data: bytes) -> Path:
    """Write ``data`` to ``path``, whole or not at all; makes missing folders.

    A link is written through, and an existing file keeps its mode.

    :raises AskError: when the place cannot be written, or holds a file marked read-only.
    """
    try:
        files.write(path, data)
    except (OSError, ValueError) as fault:
        raise unwritable(path, fault) from fault
    return path


def unwritable(path: Path, fault: OSError | ValueError) -> AskError:
    """What to say of a place that cannot be written."""
    reason = getattr(fault, "strerror", None) or str(fault)
    return ask_error(f"'{path}' cannot be written: {reason}", code="unwritable")
