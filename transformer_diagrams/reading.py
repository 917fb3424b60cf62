"""Reading what others wrote: how large it is is judged before it is read."""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO, Final

from transformer_diagrams.errors import Fault, Span

MAX_BYTES: Final = 16 * 1024 * 1024  # of a spec, a page, a theme, data: a large one has 20 kB


class TooLarge(OSError):
    """More bytes than the limit. ``strerror`` says so in words."""

    def __init__(self, most: int) -> None:
        super().__init__(errno.EFBIG, f"it is larger than {_size(most)}")


def _size(most: int) -> str:
    return f"{most // 1024**2} MiB" if most >= 1024**2 else f"{most:,} bytes"


def too_large(file: str) -> Fault:
    """The fault for a spec over the limit."""
    return Fault(
        "file-too-large",
        f"the file is larger than {_size(MAX_BYTES)}",
        Span(file),
        expected=f"at most {MAX_BYTES:,} bytes",
        hint="write repeated blocks once, with 'repeat'",
    )


def read(path: str | os.PathLike[str], most: int | None = None) -> bytes:
    """The bytes of a file, when there are at most ``most`` (default: :data:`MAX_BYTES`).

    :raises TooLarge: before anything is read where the size is known, else after the limit.
    :raises OSError: as `open` does; so also for a name that no file system takes.
    """
    most = MAX_BYTES if most is None else most
    try:
        with open(path, "rb") as stream:
            about = os.fstat(stream.fileno())
            size = about.st_size if stat.S_ISREG(about.st_mode) else 0
            if size > most:
                raise TooLarge(most)
            return read_stream(stream, most)
    except ValueError as fault:  # NUL or half a surrogate pair in the name
        raise OSError(errno.EINVAL, "no file can have this name") from fault


def read_stream(stream: BinaryIO, most: int | None = None) -> bytes:
    """All that a stream gives, when that is at most ``most``; else :class:`TooLarge`."""
    most = MAX_BYTES if most is None else most
    pieces, room = [], most + 1
    while room and (piece := stream.read(min(room, 1 << 18))):
        pieces.append(piece)
        room -= len(piece)
    if not room:
        raise TooLarge(most)
    return b"".join(pieces)


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether there is such a file; False for a name that no file system takes."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False
