"""Files put in place: links, modes, marks, full disks and kills; and a cache that is not ours."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from transformer_diagrams import cachedir, files, store

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(params=["unnamed", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to write: with and without files that have no name."""
    if request.param == "named":
        monkeypatch.setattr(files, "_UNNAMED", 0)


def content(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


@pytest.mark.usefixtures("way")
class TestWrite:
    def test_new_and_old_files_are_written_whole(self, tmp_path: Path) -> None:
        target = tmp_path / "deep" / "down" / "x"
        files.write(target, b"one")
        files.write(target, b"two")
        assert content(target.parent) == {"x": b"two"}
        umask = os.umask(0)
        os.umask(umask)
        assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~umask

    def test_an_old_file_keeps_its_mode(self, tmp_path: Path) -> None:
        target = tmp_path / "x"
        target.write_bytes(b"one")
        target.chmod(0o640)
        files.write(target, b"two")
        assert stat.S_IMODE(target.stat().st_mode) == 0o640

    def test_a_link_is_written_through(self, tmp_path: Path) -> None:
        (tmp_path / "there").mkdir()
        (tmp_path / "there" / "x").write_bytes(b"one")
        for name, to in (("link", "there/x"), ("new", "there/y")):
            (tmp_path / name).symlink_to(to)
            files.write(tmp_path / name, b"two")
            assert (tmp_path / name).is_symlink()
        assert content(tmp_path / "there") == {"x": b"two", "y": b"two"}
        (tmp_path / "round").symlink_to("round")
        with pytest.raises(OSError, match="round"):
            files.write(tmp_path / "round", b"two")
        assert (tmp_path / "round").is_symlink()

    def test_a_file_marked_read_only_and_a_folder_are_refused(self, tmp_path: Path) -> None:
        target = tmp_path / "x"
        target.write_bytes(b"one")
        target.chmod(0o444)
        with pytest.raises(PermissionError, match="read-only"):
            files.write(target, b"two")
        with pytest.raises(IsADirectoryError):
            files.write(tmp_path, b"two")
        assert content(tmp_path) == {"x": b"one"}

    def test_nothing_moves_when_one_of_many_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "a").write_bytes(b"old")
        (tmp_path / "file").write_bytes(b"old")
        wanted = {"a": b"new", "b/c/d": b"new", "file/in/the/way": b"new"}
        with pytest.raises(OSError, match="directory"):
            files.write_all({tmp_path / name: data for name, data in wanted.items()})
        assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "file"]
        assert content(tmp_path) == {"a": b"old", "file": b"old"}

    def test_a_full_disk_changes_nothing(self, tmp_path: Path) -> None:
        """A limit of the size of files stands for the full disk: the first bytes still fit."""
        (tmp_path / "a").write_bytes(b"old")
        code = (
            "import resource\nfrom pathlib import Path\nfrom transformer_diagrams import files\n"
            f"files._UNNAMED = {files._UNNAMED}\n"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))\n"
            f"files.write_all({{Path({str(tmp_path)!r}) / n: bytes(s) for n, s in "
            "(('a', 10), ('b', 100000), ('c', 10))})\n"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True)
        assert b"File too large" in done.stderr
        assert content(tmp_path) == {"a": b"old"}


def test_pipes_and_devices_are_written_as_they_are(tmp_path: Path) -> None:
    files.write(Path("/dev/null"), b"x")
    assert not Path("/dev/null").is_file()
    with pytest.raises(OSError, match="space"):
        files.write(Path("/dev/full"), b"x")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    files.write(pipe, b"x")
    assert os.read(reader, 9) == b"x"
    os.close(reader)
    with pytest.raises(OSError, match="regular"):
        files.read_regular(pipe)
    with pytest.raises(OSError, match="regular"):
        files.read_regular("/dev/zero")


def test_a_kill_leaves_no_helper_file(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path\nfrom transformer_diagrams import files\nn = 0\n"
        f"names = [Path({str(tmp_path)!r}) / f'f{{i}}' for i in range(40)]\nprint(flush=True)\n"
        "while True:\n n += 1\n files.write_all(dict.fromkeys(names, bytes([n % 256]) * 4000000))\n"
    )
    for wait in (0.05, 0.13):
        process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(wait)
        process.kill()
        process.wait()
        process.stdout.close()
        assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
        assert {p.stat().st_size for p in tmp_path.iterdir()} <= {4000000}


# -- the cache


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cachedir.ENV, str(tmp_path / "cache"))
    assert cachedir.write("a/b", b"mine")
    return tmp_path / "cache"


def test_the_cache_is_the_user_s_alone(cache: Path) -> None:
    assert cachedir.read("a/b") == b"mine"
    assert stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert stat.S_IMODE((cache / "a").stat().st_mode) == 0o700


@pytest.mark.parametrize("what", ["", "a", "a/b"])
def test_what_everyone_may_write_to_is_not_believed(cache: Path, what: str) -> None:
    place = cache / what
    place.chmod(place.stat().st_mode | 0o002)
    assert cachedir.read("a/b") is None
    if what != "a/b":
        assert not cachedir.write("a/b", b"new")
        assert (cache / "a" / "b").read_bytes() == b"mine"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
@pytest.mark.parametrize("what", ["", "a", "a/b"])
def test_what_belongs_to_another_is_not_believed(cache: Path, what: str) -> None:
    os.chown(cache / what, 12345, 12345)
    assert cachedir.read("a/b") is None


def test_a_pipe_a_device_or_a_link_in_the_cache_neither_hangs_nor_is_believed(
    cache: Path, tmp_path: Path
) -> None:
    entry = cache / "a" / "b"
    entry.unlink()
    os.mkfifo(entry)
    assert cachedir.read("a/b") is None
    assert cachedir.write("a/b", b"mine")
    assert cachedir.read("a/b") == b"mine"
    for aim in ("/dev/zero", str(tmp_path / "other")):
        (tmp_path / "other").write_bytes(b"other")
        entry.unlink()
        entry.symlink_to(aim)
        assert cachedir.read("a/b") is None
        assert cachedir.write("a/b", b"mine")
        assert not entry.is_symlink()
    assert (tmp_path / "other").read_bytes() == b"other"


def test_thinning_out_leaves_what_is_no_entry(tmp_path: Path, cache: Path) -> None:
    folder = cache / "results" / "ab"
    folder.mkdir(parents=True, mode=0o700)
    os.chmod(folder.parent, 0o700)
    for i in range(store.PER_FOLDER + 9):
        (folder / f"thesis-{i}").write_bytes(b"mine")
    store.put(f"ab{1:062x}", store.Entry(b"x", "text/plain", (), store.Trace({})))
    assert len(list(folder.iterdir())) == store.PER_FOLDER + 10


# -- processes


@pytest.mark.parametrize("end", ["SIGTERM", "SIGINT", "SIGKILL", "leave"])
def test_workers_end_with_their_parent(end: str) -> None:
    code = (
        "import os, time\nfrom transformer_diagrams import pool\n"
        "def work(n):\n os.write(1, b'%d\\n' % os.getpid())\n time.sleep(n or 0.4)\n"
        "def main():\n for _ in pool.several(work, [0, 60, 60, 60], 3):\n"
        f"  if {end!r} == 'leave': raise BrokenPipeError\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stdout is not None
    begun = [process.stdout.readline().strip() for _ in range(4 * (end != "leave"))]
    if end != "leave":
        process.send_signal(getattr(signal, end))
    # The pipe of stdout ends only when every process that holds it has ended.
    out, _ = process.communicate(timeout=15)
    assert len({*begun, *out.split()}) >= 2
