"""From what a user typed to the specs meant: paths, ids, globs, folders, `-` for stdin."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from transformer_diagrams import reading
from transformer_diagrams.cli.report import Codes, exit_code, show_faults
from transformer_diagrams.errors import DiagramError
from transformer_diagrams.streams import say

if TYPE_CHECKING:
    from transformer_diagrams.api import Model

STDIN = "-"
SUFFIXES = (".yaml", ".yml")


def models(words: Iterable[str], codes: Codes) -> list[Model]:
    """One model a spec, in the order typed, each once; what cannot be found is reported.

    Nothing is parsed yet. An unknown name does not stop the others.
    """
    from transformer_diagrams import api

    found: dict[str, Model] = {}
    for word in words:
        try:
            for name in expand(word):
                if name == STDIN:
                    model = api.Model.from_text(read_stdin(), name="<stdin>")
                    codes.texts[model.label] = model.data.decode("utf-8", "replace")
                else:
                    model = api.Model.find(name)
                tell(model)
                found.setdefault(str(model.path or model.label), model)
        except DiagramError as fault:
            show_faults(fault.faults)
            codes.worst(exit_code(fault))
    return list(found.values())


def tell(model: Model) -> None:
    """Say on stderr what a model's configuration was read as, and what it left to be guessed."""
    adopted = model.adopted
    if adopted is None:
        return
    words = f"{model.label}: {adopted.family.id}, drawn by {adopted.family.spec}"
    if adopted.defaults:
        filled = ", ".join(f"{name} = {value}" for name, value in adopted.defaults.items())
        words += f"; not in the file, so filled in: {filled}"
    say(words, err=True)
    show_faults(adopted.warnings)


def expand(word: str) -> list[str]:
    """A glob as the specs that it matches, a folder as its specs, else the word.

    The folder of a model, with a `config.json`, is that model.

    A glob matches specs only: files that end in .yaml or .yml, with or without their suffix
    typed, and where it names no folder, the ids of bundled specs that no such file stands for.

    :raises AskError: when a glob or folder holds no spec.
    """
    from fnmatch import fnmatchcase

    from transformer_diagrams.api import bundled_ids, config_of, specs_below
    from transformer_diagrams.options import ask_error

    if word and os.path.isdir(word):
        if config_of(word) is not None:
            return [word]
        return [str(path) for path in specs_below(word)]
    if word == STDIN or os.path.isfile(word) or not any(sign in word for sign in "*?["):
        return [word]
    found = {name for end in ("", *SUFFIXES) for name in glob.glob(word + end, recursive=True)}
    files = sorted(name for name in found if name.endswith(SUFFIXES) and os.path.isfile(name))
    here = {Path(name).stem for name in files if Path(name).parent == Path()}
    ids = [name for name in bundled_ids() if fnmatchcase(name, word) and name not in here]
    matches = [*files, *ids]
    if not matches:
        raise ask_error(f"no file and no bundled spec matches '{word}'", code="no-such-spec")
    return matches


def read_stdin() -> bytes:
    """Everything on stdin; says so when a person may be waiting for the program.

    :raises AskError: when stdin is closed, or cannot be read.
    :raises DiagramError: when it is more than a spec can be.
    """
    from transformer_diagrams.options import ask_error

    if sys.stdin is None:
        raise ask_error("stdin is closed, so there is no spec to read")
    if sys.stdin.isatty():
        say("reading a spec from the terminal; end it with Ctrl-D", err=True)
    try:
        return reading.read_stream(sys.stdin.buffer)
    except reading.TooLarge as fault:
        raise DiagramError(reading.too_large("<stdin>")) from fault
    except (OSError, ValueError) as fault:
        words = f"stdin cannot be read: {getattr(fault, 'strerror', None) or fault}"
        raise ask_error(words) from fault
