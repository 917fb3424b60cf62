"""Every command where something around it is amiss: streams, encodings, names, folders, caches.

What comes is a sentence and the exit code 2 or 3; never a traceback, a raw control character, a
half file, or a wait without end.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from transformer_diagrams import cachedir, figures, streams
from transformer_diagrams.cli.app import COMMANDS, run

ROOT = Path(__file__).resolve().parent.parent

GOOD = """title: Café 中文 😀
family: 中文
caption: naïve → 中
configs: {größe: {d: 8}}
dims: {d: width}
inputs: {x: [3, d]}
blocks: [{op: linear, id: up, out: 4 d}]
"""

# Each command in the forms in which it prints something; `watch` runs without end.
LINES = {
    "render": ("render good", "render good -o -", "render good --emit shapes",
               "render good --pair -o pair"),
    "check": ("check good", "check good --json"),
    "lint": ("lint good", "lint good --json"),
    "inspect": ("inspect good --config größe", "inspect good --json"),
    "diff": ("diff good other", "diff good other --json"),
    "list": ("list good", "list good --json"),
    "schema": ("schema", "schema --validate good"),
    "new": ("new fresh",),
    "watch": (),
    "import": ("import model",),
    "verify": (),
    "run": ("run good", "run good --json"),
    "prove": (),
    "live": ("live list", "live export clock-hands -o x.svg"),
    "gallery": ("gallery good --workers 1 -o site",),
}  # fmt: skip
EVERY = [line for lines in LINES.values() for line in lines]


@pytest.fixture(autouse=True)
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "good.yaml").write_text(GOOD, encoding="utf-8")
    (folder / "model").mkdir()
    config = {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "vocab_size": 11}
    (folder / "model" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "other.yaml").write_text(GOOD.replace("4 d", "2 d"), encoding="utf-8")
    return folder


class Full(io.RawIOBase):
    """A device without room."""

    reason = OSError(28, "No space left on device")

    def writable(self) -> bool:
        return True

    def write(self, _: Any) -> int:
        raise self.reason


class Gone(Full):
    """A pipe that nobody reads."""

    reason = BrokenPipeError(32, "Broken pipe")


def stream(raw: io.RawIOBase, encoding: str = "utf-8") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding)


def kept(data: bytes = b"", encoding: str = "utf-8") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(data), encoding=encoding)


def said(text: Any) -> str:
    """What was written to a stream made by :func:`kept`; "" for another one."""
    if not isinstance(getattr(text, "buffer", None), io.BytesIO):
        return ""
    text.flush()
    return str(text.buffer.getvalue().decode(text.encoding))


def call(
    monkeypatch: pytest.MonkeyPatch, line: str | list[str], **given: Any
) -> tuple[int, str, str]:
    """Run a line with these streams: its code, and what it said on stdout and stderr."""
    found = {"stdin": kept(), "stdout": kept(), "stderr": kept()} | given
    with monkeypatch.context() as patch:
        for name, value in found.items():
            patch.setattr(sys, name, value)
        code = run(line.split() if isinstance(line, str) else line)
    out, err = said(found["stdout"]), said(found["stderr"])
    assert "Traceback" not in err
    assert "fault of the program" not in err, err
    return code, out, err



def test_every_command_has_a_line() -> None:
    assert LINES.keys() == COMMANDS.keys()
    assert all(line.split()[0] == name for name, lines in LINES.items() for line in lines)


# -- streams


@pytest.mark.parametrize("line", EVERY)
def test_a_stdout_that_is_closed_full_or_unread(
    monkeypatch: pytest.MonkeyPatch, here: Path, line: str
) -> None:
    before = sorted(p.name for p in here.iterdir())
    code, _, err = call(monkeypatch, line, stdout=None)
    assert (code, err) == (2, "stdout is closed; send it to a file, or to /dev/null\n")
    assert sorted(p.name for p in here.iterdir()) == before
    code, _, err = call(monkeypatch, line, stdout=stream(Full()))
    if line != "new fresh":  # which comes after the file is there: twice is another fault
        assert code == 2
        assert "stdout cannot be written: No space left on device" in err
        assert len(err.splitlines()) == 1
    (here / "fresh.yaml").unlink(missing_ok=True)
    code, _, err = call(monkeypatch, line, stdout=stream(Gone()))
    assert (code, err) == (0, "")


@pytest.mark.parametrize("line", EVERY)
def test_a_stderr_that_is_closed_or_full_changes_no_code(
    monkeypatch: pytest.MonkeyPatch, here: Path, line: str
) -> None:
    wrong = line.replace("good", "godo").replace("new fresh", "new other")
    for words in {line, wrong}:
        code, out, _ = call(monkeypatch, words)
        for bad in (None, stream(Full())):
            (here / "fresh.yaml").unlink(missing_ok=True)
            again, same, _ = call(monkeypatch, words, stderr=bad)
            assert again == code
            if "gallery" not in line:  # which tells how long it took
                assert same == out


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("line", EVERY)
def test_any_encoding_takes_any_text(
    monkeypatch: pytest.MonkeyPatch, line: str, encoding: str
) -> None:
    if line == "render good -o -":
        return  # bytes of a figure, not text
    code, out, _ = call(
        monkeypatch, line, stdout=kept(encoding=encoding), stderr=kept(encoding=encoding)
    )
    assert code in (0, 1)
    plain = out.startswith(("{", "["))
    if plain:
        assert json.loads(out)
    if line == "list good":
        assert "\\u4e2d\\u6587 \\ud83d\\ude00" in out


def test_a_closed_or_broken_stdin_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, _: Any) -> int:
            raise OSError(9, "Bad file descriptor")

    for command in ("check", "render -o -", "inspect", "list", "lint", "schema --validate"):
        line = f"{command} -"
        code, _, err = call(monkeypatch, line, stdin=None)
        assert (code, err) == (2, "stdin is closed, so there is no spec to read\n")
        broken = io.TextIOWrapper(io.BufferedReader(Broken()))
        code, _, err = call(monkeypatch, line, stdin=broken)
        assert (code, err) == (2, "stdin cannot be read: Bad file descriptor\n")


def test_a_process_begun_without_streams(here: Path) -> None:
    """As a process: a closed stream's number is not given to a file that is written."""
    command = f"{sys.executable} -m transformer_diagrams"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    cases = {
        f"{command} check - <&-": (2, b"stdin is closed, so there is no spec to read\n"),
        f"{command} list good > /dev/full":
            (2, b"stdout cannot be written: No space left on device\n"),
        f"{command} render good -o x.svg <&- 2>&-": (0, b"x.svg\n"),
        f"{command} schema | head -c 1; exit ${{PIPESTATUS[0]}}": (0, b"{"),
    }  # fmt: skip
    for line, (code, words) in cases.items():
        done = subprocess.run(["bash", "-c", line], env=env, capture_output=True)
        assert (done.returncode, done.stdout + done.stderr) == (code, words), line
    assert (here / "x.svg").read_bytes().endswith(b"</svg>\n")


# -- control characters

ESCAPES = r"""title: "a\x1b]0;PWNED\x07\x1b[31m\u202ered\u009b5m"
family: "f\x1b[5m"
tags: ["t\x1b[5m"]
source: {authors: "b\x1b[1m", arxiv: "2\x1b[1m"}
inputs: {x: [3, d]}
dims: {d: "w\x1b[1m"}
configs: {"c\x1b[7m": {d: 4, source: "s\x1b[1m"}}
blocks: [{op: linear, id: up, out: d}]
"""


@pytest.mark.parametrize("line", [*EVERY, "check bad", "list good --tag x", "render bad"])
def test_no_control_character_is_printed(
    monkeypatch: pytest.MonkeyPatch, here: Path, line: str
) -> None:
    name = "g\x1b[31m\u202eod"
    (here / f"{name}.yaml").write_text(ESCAPES)
    (here / "bad.yaml").write_text(ESCAPES.replace("op: linear", r'op: "lin\x1b[3m"'))
    words = [word.replace("good", name + ".yaml").replace("größe", "c\x1b[7m")
             for word in line.split()]  # fmt: skip
    _, out, err = call(monkeypatch, words)
    assert not [c for c in out + err if c != "\n" and streams.acts(c)]
    if out and "--json" in line:
        json.loads(out)


def test_everything_is_printed_through_one_place() -> None:
    for path in (ROOT / "transformer_diagrams").rglob("*.py"):
        if path.parent.name != "docs":  # which only makers of the project run
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\bclick\.echo\(|^\s*print\(", text, re.MULTILINE), path


def test_what_is_printable_stays() -> None:
    text = "Käse 中文 😀👩\u200d👧 a\u00a0b\u00adc é"
    assert streams.printable(text) == text
    assert json.loads(streams.dump({"a": "\x7f\x9b\u202e\ud800" + text})) == {
        "a": "\x7f\x9b\u202e\ud800" + text
    }


# -- names and numbers

LONG = "n" * 300


@pytest.mark.parametrize(
    "words",
    [
        *([*line.split(), ""] for line in ("render", "check", "lint", "inspect", "list", "watch",
                                           "schema --validate", "new", "gallery -o x", "diff good",
                                           "live page where-parameters-go -o x --spec")),
        *([*line.split(), ""] for line in ("render good -o", "gallery good -o", "watch good -o",
                                           "gallery good -o x --pages", "live page -o",
                                           "live export clock-hands -o", "diff good other --figure",
                                           "live page who-attends -o x --data")),
        *([*line.split(), LONG] for line in ("render", "check", "lint", "inspect", "list", "watch",
                                             "schema --validate", "new", "gallery -o x",
                                             "diff good", "render good -o", "gallery good -o",
                                             "gallery good -o x --pages", "live page -o",
                                             "live page where-parameters-go -o x --spec",
                                             "live page who-attends -o x --data")),
        *(["check", word] for word in ("x/" * 3000 + "y", f"{LONG}/a.yaml", ".", "/dev/null",
                                       "good.yaml/x", "\udcff.yaml", "loop.yaml", "pipe.yaml")),
        *(["new", word] for word in (".", "..", "/", "good.yaml/x", "\udcff")),
        *(["watch", "good", f"--interval={value}"] for value in ("inf", "nan", "-1", "0", "1e99")),
        *(["live", "export", "clock-hands", "-o", "x.png", f"--scale={value}"]
          for value in ("inf", "nan", "-1", "0", "1e99")),
        *(["render", "good", option, value] for option in ("--scale", "--dpi", "--width")
          for value in ("inf", "nan", "-1", "0", "1e99")),
        ["render", "good", "-o", "/dev/full/x.svg"],
        ["render", "good", "-o", "loop.yaml/x.svg"],
        ["inspect", "good", "--length", "9" * 5000],
        ["gallery", "good", "-o", "good.yaml"],
        ["gallery", "good", "-o", "x", "--pages", "good.yaml"],
    ],
    ids=lambda words: " ".join(words)[:60].encode("ascii", "replace").decode(),
)  # fmt: skip
def test_wrong_names_and_numbers_are_sentences(
    monkeypatch: pytest.MonkeyPatch, here: Path, words: list[str]
) -> None:
    (here / "loop.yaml").symlink_to("loop.yaml")
    os.mkfifo(here / "pipe.yaml")
    if words == ["check", "."]:
        (here / "empty").mkdir()
        monkeypatch.chdir(here / "empty")
    before = sorted(p.name for p in here.iterdir())
    code, _, err = call(monkeypatch, words)
    assert code == 2, err
    assert err
    assert len(err) < 900
    assert sorted(p.name for p in here.iterdir()) == before


# -- folders that may not be read or written


@pytest.fixture
def plain_user() -> Iterator[None]:
    """Root without the right to read and write everything: then modes hold for root too."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    head = (ctypes.c_uint32 * 2)(0x20080522, 0)
    before, now = (ctypes.c_uint32 * 6)(), (ctypes.c_uint32 * 6)()
    for data in (before, now):
        if libc.capget(head, data):
            pytest.skip("capabilities cannot be read")
    now[0] &= ~0b110  # DAC_OVERRIDE, DAC_READ_SEARCH
    assert libc.capset(head, now) == 0
    yield
    assert libc.capset(head, before) == 0


@pytest.mark.parametrize(
    "line",
    [
        *(f"{command} {target}" for target in ("locked", "locked/a", "locked/a.yaml", "around",
                                               "mine.yaml")
          for command in ("render", "check", "lint", "inspect", "list", "schema --validate",
                          "diff good", "gallery -o x", "watch")),
        *(f"{command} -o {target}" for target in ("locked/x.svg", "fixed/x.svg", "done.svg")
          for command in ("render good", "gallery good", "live export clock-hands")),
        *(f"{command} good -o {target}" for target in ("locked", "fixed")
          for command in ("render", "gallery")),
        "live page where-parameters-go --spec mine.yaml -o x",
        "gallery good --pages locked -o x", "new locked/x", "new fixed/x",
    ],
)  # fmt: skip
@pytest.mark.usefixtures("plain_user")
def test_what_may_not_be_read_or_written_is_told(
    monkeypatch: pytest.MonkeyPatch, here: Path, line: str
) -> None:
    for folder in ("locked", "around/locked", "fixed"):
        (here / folder).mkdir(parents=True)
    (here / "locked" / "a.yaml").write_text(GOOD, encoding="utf-8")
    (here / "around" / "b.yaml").write_text(GOOD, encoding="utf-8")
    (here / "mine.yaml").write_text(GOOD, encoding="utf-8")
    (here / "done.svg").write_text("mine")
    modes = {"locked": 0, "around/locked": 0, "fixed": 0o555, "mine.yaml": 0, "done.svg": 0o444}
    for name, mode in modes.items():
        (here / name).chmod(mode)
    before = sorted(p.name for p in here.iterdir())
    try:
        code, _, err = call(monkeypatch, line)
    finally:
        for name in modes:
            (here / name).chmod(0o755)
    assert code == 2, err
    assert any(words in err for words in ("Permission denied", "read-only", "is a f")), err
    assert sorted(p.name for p in here.iterdir()) == before
    assert (here / "done.svg").read_text() == "mine"
    assert not [*(here / "locked").glob(".*"), *(here / "fixed").iterdir()]


@pytest.mark.usefixtures("plain_user")
def test_a_used_spec_that_may_not_be_read_is_told_in_its_place(
    monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    (here / "locked").mkdir(mode=0)
    (here / "user.yaml").write_text("blocks: [{use: locked/a}]\n")
    code, _, err = call(monkeypatch, "check user")
    (here / "locked").chmod(0o755)
    assert code == 1
    assert "user.yaml:1:11: blocks[0].use: there is no spec 'locked/a' to be read: Perm" in err
    (here / "user.yaml").write_text(f"blocks: [{{use: {LONG}}}]\n")
    code, _, err = call(monkeypatch, "check user")
    assert code == 1
    assert "File name too long" in err


def test_the_current_folder_may_be_gone(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    gone = here / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for line in ("render gqa", "check gqa.yaml", "list gqa", "gallery gqa -o x", "new x"):
        code, _, err = call(monkeypatch, line)
        assert code in (0, 2), err
        assert code == 0 or err.strip(), line


def test_a_cache_of_pipes_and_devices_stops_nothing(
    monkeypatch: pytest.MonkeyPatch, here: Path
) -> None:
    monkeypatch.setenv(cachedir.ENV, str(here / "cache"))
    first = call(monkeypatch, "render good -o -")
    for what in ("fifo", "zero"):
        for path in [p for p in (here / "cache").rglob("*") if not p.is_dir()]:
            path.unlink()
            if what == "fifo":
                os.mkfifo(path)
            else:
                path.symlink_to("/dev/zero")
        begin = time.monotonic()
        assert call(monkeypatch, "render good -o -") == first
        assert time.monotonic() - begin < 120


# -- signals


def test_a_signal_to_end_lets_everything_be_cleared_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> int:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
        return 0

    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", kept())
        assert streams.guarded(work) == 143
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_figures_job_tells_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert figures.main([str(here / "none"), str(here / "out")]) == 2
    assert "No such file" in capsys.readouterr().err
    (here / "good.yaml").chmod(0o644)
    (here / "out").write_text("a file")
    assert figures.main([str(here), str(here / "out"), "--workers", "1"]) == 1
    assert "cannot be written" in capsys.readouterr().err
