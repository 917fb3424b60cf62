"""What is printed, and what stops a program from outside: one place for stdout, stderr and signals.

No character that a terminal would act upon is printed, whatever a spec or a file is called. What
an encoding lacks is written as ``\\u4e2d``. A stream that is closed or full is told in a sentence.
"""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import signal
import sys
from collections.abc import Callable
from typing import Any, TextIO

from transformer_diagrams.errors import cut

# What turns the direction of the text that follows: a name could be shown as another.
_TURNS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_ACTS = frozenset(("Cc", "Cs", "Zl", "Zp"))
_NOT_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_ERRORS = "transformer-diagrams"


def printable(text: str) -> str:
    """The text without a character that a terminal would act upon; a TAB is one space.

    >>> printable("a\\x1b[31mb\\tc")
    'a\\ufffd[31mb c'
    """
    if text.isprintable():
        return text
    return "".join(" " if c == "\t" else "\ufffd" if acts(c) else c for c in text)


def acts(char: str) -> bool:
    """Whether a terminal would act upon a character, or show others elsewhere because of it."""
    import unicodedata

    return not char.isprintable() and (unicodedata.category(char) in _ACTS or char in _TURNS)


def dump(data: Any) -> str:
    """Stable JSON: sorted keys, two spaces, text as it is but for what a terminal acts upon."""
    text = json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False)
    return _NOT_IN_JSON.sub(lambda found: _escaped(found[0]), text)


def _escaped(text: str) -> str:
    """``\\uXXXX`` for every UTF-16 unit: right in JSON, and readable elsewhere."""
    units = text.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


class ReaderGone(Exception):
    """The reader of our output (`| head`) has gone: nothing is wrong, nothing more to say."""


class Stopped(BaseException):
    """The program was told to end (SIGTERM, SIGHUP)."""


def say(text: str, *, err: bool = False, end: str = "\n", ready: bool = False) -> None:
    """Print lines of text; ``ready`` text is printable already, and may hold our own colours.

    :raises ReaderGone: when nobody reads stdout any more.
    :raises OSError: when stdout cannot be written. What stderr does not take is lost.
    """
    stream = sys.stderr if err else sys.stdout
    shown = text if ready else "\n".join(map(printable, text.split("\n")))
    try:
        stream.write(shown + end)
        stream.flush()
    except (OSError, ValueError) as fault:
        _stdout_failed(fault, err)


def say_bytes(data: bytes) -> None:
    """Write data to stdout as it is; raises as :func:`say`."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except (OSError, ValueError) as fault:
        _stdout_failed(fault)


def _stdout_failed(fault: Exception, err: bool = False) -> None:
    if err:
        return
    if isinstance(fault, BrokenPipeError):
        raise ReaderGone from fault
    reason = getattr(fault, "strerror", None) or str(fault)
    raise OSError(getattr(fault, "errno", None), f"stdout cannot be written: {reason}") from fault


def guarded(work: Callable[[], int]) -> int:
    """Do the ``work`` of a whole program and give its exit code.

    Streams are made to take every character; a signal to end lets everything be cleared away.
    130 and 143 stand for Ctrl-C and SIGTERM, 2 for what the system refuses.
    """
    if sys.stderr is None:
        sys.stderr = io.StringIO()  # what is said there is lost, and nothing else
    codecs.register_error(_ERRORS, _replaced)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_ERRORS)
    before = _on_end(_stop)
    try:
        if sys.stdout is None:
            say("stdout is closed; send it to a file, or to /dev/null", err=True)
            return 2
        code = work()
        try:
            sys.stdout.flush()
        except (OSError, ValueError) as fault:
            _stdout_failed(fault)
        return code
    except ReaderGone:
        _abandon(sys.stdout)
        return 0
    except KeyboardInterrupt:
        say("stopped", err=True)
        return 130
    except Stopped:
        say("ended", err=True)
        return 143
    except OSError as fault:
        say(system_words(fault), err=True)
        try:
            sys.stdout.flush()
        except (OSError, ValueError):
            _abandon(sys.stdout)
        return 2
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def system_words(fault: OSError) -> str:
    """What the system refuses, as a sentence."""
    name = fault.filename
    if name is not None and not isinstance(name, int):
        return f"'{cut(os.fsdecode(name))}': {fault.strerror or fault}"
    try:
        os.getcwd()
    except OSError:
        return "the current folder is gone, or may not be read"
    return fault.strerror or str(fault)


def _replaced(fault: UnicodeError) -> tuple[str, int]:
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    return _escaped(fault.object[fault.start : fault.end]), fault.end


def _stop(*_: object) -> None:
    raise Stopped


def _on_end(handler: Callable[..., None]) -> dict[int, Any]:
    """Have signals to end handled, where nobody handles or ignores them; what was there before."""
    before: dict[int, Any] = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        try:
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, handler)
        except ValueError:
            return before  # not in the main thread
    return before


def _abandon(stream: TextIO | None) -> None:
    """Let what a stream still holds go nowhere, so that the end of the process says nothing."""
    try:
        if stream is not None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)
    except (OSError, ValueError):
        return
