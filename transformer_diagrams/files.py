"""How files are read and put in place: written whole or not at all, and only where they may be.

Whatever happens on the way (a full disk, a signal, a kill), no half file and no helper file stays:
the bytes lie in a file without a name until they are complete. Where the system cannot do that,
the helper file has a name, and only a kill leaves it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 1 << 28  # of a file of our own that is read back
_UNNAMED = getattr(os, "O_TMPFILE", 0)
_OPENED = "/proc/self/fd"  # where Linux shows open files by number
_DIRECT = ("/dev/", "/proc/")  # /dev/stdout and its like: written as they are, never replaced


def read_regular(path: str | os.PathLike[str], *, follow: bool = True) -> bytes:
    """The bytes of a regular file of at most `MOST_BYTES`; never waits for a pipe or a device.

    :raises OSError: for anything else, and for a link unless ``follow``.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    flags |= getattr(os, "O_BINARY", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            raise OSError(errno.EINVAL, "it is not a regular file of a usual size", str(path))
        return file.read(MOST_BYTES)


def below(folder: str | os.PathLike[str], *suffixes: str) -> list[Path]:
    """Every file below a folder whose name ends in one of the suffixes, sorted.

    :raises OSError: when the folder, or one in it, cannot be read.
    """

    def unreadable(fault: OSError) -> None:
        raise fault

    return sorted(
        Path(here, name)
        for here, _, names in os.walk(folder, onerror=unreadable)
        for name in names
        if os.path.splitext(name)[1] in suffixes
    )


def write(path: Path, data: bytes, *, follow: bool = True) -> None:
    """Put ``data`` at ``path``, whole or not at all; makes missing folders.

    A link is written through, the mode of an existing file is kept, a pipe or device is written
    to as it is. Without ``follow`` whatever has that name is replaced by a file of our own.

    :raises OSError: for a folder, a file marked read-only, or what the system refuses; an older
        file stays as it was.
    """
    write_all({path: data}, follow=follow)


def write_all(files: Mapping[Path, bytes], *, follow: bool = True) -> None:
    """As :func:`write`, for many files: none is put in place before all are on the disk."""
    staged: list[_Staged] = []
    folders: list[str] = []
    room = _most_open()
    try:
        for path, data in files.items():
            staged.append(_Staged(path, follow))
            staged[-1].fill(data, folders, unnamed=len(staged) < room)
        for each in staged:
            each.put()
    except BaseException:
        for each in staged:
            each.drop()
        for folder in reversed(folders):
            with suppress(OSError):
                os.rmdir(folder)
        raise


class _Staged:
    """A file on its way: complete, but not in its place yet."""

    def __init__(self, path: Path, follow: bool) -> None:
        name = os.fspath(path)
        self.direct: bytes | None = None  # what is written straight into a pipe or device
        self.handle: int | None = None
        self.beside = ""
        self.old: os.stat_result | None = None
        self.target = os.path.realpath(name) if follow and not name.startswith(_DIRECT) else name
        if not follow:
            return
        try:
            self.old = os.stat(self.target)
        except FileNotFoundError:
            return
        mode = self.old.st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", name)
        if not stat.S_ISREG(mode) or name.startswith(_DIRECT):
            self.direct = b""
        elif not mode & 0o222 or not os.access(self.target, os.W_OK):
            raise PermissionError(errno.EACCES, "it is marked read-only", name)

    def fill(self, data: bytes, folders: list[str], *, unnamed: bool) -> None:
        """Write the bytes where nobody sees them; folders that had to be made are added."""
        if self.direct is not None:
            self.direct = data
            return
        folder, name = os.path.split(self.target)
        make_folders(folder, folders)
        # One name a target: two writers of one file may meet there, those of two files may not.
        stem = f".{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
        if unnamed and _UNNAMED and os.path.isdir(_OPENED):
            try:
                self.handle = os.open(folder or ".", _UNNAMED | os.O_WRONLY | os.O_CLOEXEC, 0o666)
            except OSError:
                self.handle = None  # not on this file system
        handle = self.handle
        if handle is None:
            self.beside = os.path.join(folder, f"{stem}.{os.getpid()}.part")
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            try:
                handle = os.open(self.beside, flags | getattr(os, "O_BINARY", 0), 0o666)
            except OSError as fault:  # told of the file that was meant
                raise OSError(fault.errno, fault.strerror, self.target) from fault
        else:
            self.beside = os.path.join(folder, f"{stem}.part")
        try:
            with open(handle, "wb", closefd=False) as file:
                file.write(data)
            if self.old is not None:
                self._dress(handle, self.old)
        finally:
            if self.handle is None:
                os.close(handle)

    @staticmethod
    def _dress(handle: int, old: os.stat_result) -> None:
        """Give the new file the owner, where that is ours to do, and the mode of the old one."""
        if not hasattr(os, "fchmod"):
            return
        new = os.fstat(handle)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            with suppress(OSError):
                os.fchown(handle, old.st_uid, old.st_gid)
        os.fchmod(handle, stat.S_IMODE(old.st_mode))

    def put(self) -> None:
        """Move it to its place."""
        if self.direct is not None:
            with open(self.target, "wb") as file:
                file.write(self.direct)
        elif self.handle is None:
            os.replace(self.beside, self.target)
        else:
            self._name()
            os.close(self.handle)
            self.handle = None

    def _name(self) -> None:
        """Give the file without a name its name; an old file is replaced in one step."""
        if not os.path.lexists(self.target) and self._link(self.target):
            return
        for _ in range(100):  # another writer of the same file may take our helper name
            if not self._link(self.beside):
                os.unlink(self.beside)
                continue
            try:
                os.replace(self.beside, self.target)
            except FileNotFoundError:
                continue
            return
        raise OSError(errno.EBUSY, "others keep writing it", self.target)

    def _link(self, name: str) -> bool:
        # With a folder given, `os.link` follows the link in /proc, which is what is wanted.
        folder = os.open(_OPENED, os.O_RDONLY)
        try:
            os.link(str(self.handle), name, src_dir_fd=folder, follow_symlinks=True)
        except FileExistsError:
            return False
        finally:
            os.close(folder)
        return True

    def drop(self) -> None:
        """Undo what can be undone; after :meth:`put` there is nothing left to do."""
        with suppress(OSError):
            if self.handle is not None:
                os.close(self.handle)
                self.handle = None
            if self.beside:
                os.unlink(self.beside)


def make_folders(folder: str, made: list[str] | None = None, *, mode: int = 0o777) -> None:
    """Make a folder and those above it that are missing; adds them to ``made``, outermost first."""
    missing: list[str] = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    for each in reversed(missing):
        try:
            os.mkdir(each, mode)
        except FileExistsError:
            if not os.path.isdir(each):
                raise NotADirectoryError(errno.ENOTDIR, "it is not a folder", each) from None
            continue
        if made is not None:
            made.append(each)


def _most_open() -> int:
    """How many files may be open at once, with some left for others."""
    try:
        import resource
    except ImportError:
        return 0
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return soft - 64 if soft > 0 else 4096
