"""How large a thing is is judged before it is read, and no name breaks a reader."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

import transformer_diagrams as td
from transformer_diagrams import reading
from transformer_diagrams.errors import (
    MAX_FAULTS,
    NOWHERE,
    DiagramError,
    Fault,
    Report,
    TooManyFaults,
    cut,
)

NAMES = ("x" * 300, "x" * 300 + ".yaml", "a\0b", "a\0b.yaml", "x\ud800", "d/" * 3000)


class _Endless(io.RawIOBase):
    """Gives bytes for ever, and counts them."""

    given = 0

    def read(self, size: int = -1) -> bytes:
        assert size >= 0, "read without a limit"
        self.given += size
        return b"a" * size


def test_a_stream_is_read_to_the_limit_and_no_further() -> None:
    stream = _Endless()
    with pytest.raises(reading.TooLarge):
        reading.read_stream(stream, 1000)  # type: ignore[arg-type]
    assert stream.given == 1001
    assert reading.read_stream(io.BytesIO(b"ab" * 500), 1000) == b"ab" * 500


def test_a_large_file_is_refused_unread(tmp_path: Path) -> None:
    """Three gigabytes that no disk holds: reading them would take as much memory."""
    path = tmp_path / "s.yaml"
    with path.open("wb") as made:
        os.truncate(made.fileno(), 3 << 30)
    user = tmp_path / "u.yaml"
    user.write_text("blocks: [{use: s}]\n", encoding="utf-8")
    with pytest.raises(reading.TooLarge):
        reading.read(path)
    for target in (path, user):
        with pytest.raises(DiagramError) as caught:
            td.load(target)
        assert [f.code for f in caught.value.faults] == ["file-too-large"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_no_file_can_have_is_a_fault(name: str) -> None:
    assert not reading.is_file(name)
    with pytest.raises(OSError, match=r"\w"):
        reading.read(name)
    with pytest.raises(DiagramError):
        td.load(name)
    td.load(name, text="blocks: [{op: box}]\n")
    if "\0" not in name and "\ud800" not in name:
        with pytest.raises(DiagramError) as caught:
            td.load("t", text=f"blocks:\n  - use: {name}\n")
        (fault,) = caught.value.faults
        assert (fault.code, fault.span.line) == ("unknown-spec", 2)
        assert len(str(fault)) < 2000


def test_a_report_lists_so_many_faults_and_stops() -> None:
    report = Report()
    many = [Fault("f", str(number)) for number in range(10 * MAX_FAULTS)]
    with pytest.raises(TooManyFaults) as caught:
        report.extend(many)
    assert len(report.faults) == len(caught.value.faults) == MAX_FAULTS + 1
    for number in range(10 * MAX_FAULTS):
        report.add(Fault("w", str(number), severity="warning"))
    assert len(report.warnings) == MAX_FAULTS + 1


def test_long_names_lose_their_middle_in_messages() -> None:
    name = "x" * 1_000_000
    fault = Fault("f", f"there is no '{name}' here", found=name, notes=((name, NOWHERE),))
    assert fault.message.startswith("there is no 'xxx")
    assert fault.message.endswith("here")
    assert all(len(t) < 200 for t in (fault.message, fault.found, fault.notes[0][0]))
    assert cut("short") == "short"
    assert len(cut("word " * 1000)) == 1000
