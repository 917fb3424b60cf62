"""Tokens, embeddings and projections that two figures work on: the toy sentence, or one's own.

The toy vectors were chosen by hand so that each slice of four columns asks one question; the
last four columns are noise from a linear congruential generator (multiplier 1664525, increment
1013904223, modulus 2^32, as in Numerical Recipes), rounded to two decimals.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from transformer_diagrams import reading
from transformer_diagrams.errors import DiagramError, Fault, Span, did_you_mean
from transformer_diagrams.live.trace import Array, Tape, matmul
from transformer_diagrams.options import AskError
from transformer_diagrams.records import dataclass

Rows = tuple[tuple[float, ...], ...]

MOST_TOKENS = 32
MOST_WIDTH = 4096
MOST_LETTERS = 200  # of a token
LARGEST = 1e30
"""Numbers of embeddings and projections: products of four of them, summed, stay finite."""
KEYS = ("tokens", "embeddings", "w_q", "w_k")
_SHORT = {"E": "embeddings", "WQ": "w_q", "WK": "w_k"}


@dataclass(frozen=True, slots=True)
class Sentence:
    """``embeddings`` [tokens, width], ``w_q`` and ``w_k`` [width, key width]."""

    tokens: tuple[str, ...]
    embeddings: Rows
    w_q: Rows
    w_k: Rows

    @property
    def width(self) -> int:
        """Key width: columns of the projections."""
        return len(self.w_q[0])

    def queries_and_keys(self, tape: Tape) -> tuple[Array, Array]:
        """q = E W^Q and k = E W^K, traced; both [tokens, key width].

        Wide data is multiplied here and now: its projections would only make the page heavy.
        """
        if len(self.w_q) * self.width <= 1024:
            e = tape.const(self.embeddings)
            return matmul(e, tape.const(self.w_q)), matmul(e, tape.const(self.w_k))
        return tape.const(_product(self.embeddings, self.w_q)), tape.const(
            _product(self.embeddings, self.w_k)
        )

    def same_word(self) -> list[list[float]]:
        """1 where two places hold the same token."""
        return [[float(a == b) for b in self.tokens] for a in self.tokens]


def _product(a: Rows, b: Rows) -> list[list[float]]:
    columns = list(zip(*b, strict=True))
    return [[math.fsum(map(_times, row, column)) for column in columns] for row in a]


def _times(a: float, b: float) -> float:
    return a * b


# -- the toy sentence

_WORDS = ("the", "cat", "sat", "on", "the", "mat", "because", "it")
# word: identity column and sign, word class column, animate
_TOY: Mapping[str, tuple[int, int, int]] = {
    "the": (0, 1, 9), "cat": (1, 1, 4), "sat": (2, 1, 5), "on": (3, 1, 6),
    "mat": (1, -1, 4), "because": (0, -1, 10), "it": (2, -1, 7),
}  # fmt: skip
_SIZE, _NOISE = 16, 12


def _noise(seed: int) -> Iterable[float]:
    state = seed
    while True:
        state = (1664525 * state + 1013904223) % 2**32
        yield round(2 * state / 2**32 - 1, 2)


def toy() -> Sentence:
    """The sentence of eight words with sixteen columns that the figures show by default."""
    noise = iter(_noise(7))
    rows: dict[str, list[float]] = {}
    for word, (column, sign, kind) in _TOY.items():
        row = [0.0] * _SIZE
        row[column], row[kind], row[11] = float(sign), 1.0, 1.0
        row[_NOISE:] = [next(noise) for _ in range(4)]
        rows[word] = row
    rows["cat"][8] = 1.0  # animate
    noise = iter(_noise(2017))
    w_q, w_k = (
        [[0.0] * _NOISE + [next(noise) for _ in range(4)] for _ in range(_SIZE)] for _ in "qk"
    )
    for c in range(4):  # the same word
        w_q[c][c], w_k[c][c] = 4.0, 2.0
    w_q[7][4:8] = [4.0, 1.0, 4.0, 1.0]  # a pronoun looks for an animate noun
    w_k[8][4] = w_k[8][6] = w_k[4][5] = w_k[4][7] = 1.0
    w_q[5][8] = w_q[5][10] = w_q[6][9] = w_q[6][11] = 4.0  # verbs, prepositions look for nouns
    w_k[4][8:12] = [1.0] * 4
    return Sentence(
        _WORDS, tuple(tuple(rows[w]) for w in _WORDS), tuple(map(tuple, w_q)),
        tuple(map(tuple, w_k)),
    )  # fmt: skip


# -- one's own

def sentence(
    tokens: Sequence[str], embeddings: Any, w_q: Any, w_k: Any, *, where: str = "<data>"
) -> Sentence:
    """Own data, checked: tokens, embeddings [tokens, width], projections [width, key width].

    Takes lists or arrays.

    :raises DiagramError: with every fault found.
    """
    faults: list[Fault] = []

    def fault(path: str, message: str, found: str = "", hint: str = "") -> None:
        faults.append(Fault("bad-data", message, Span(where), path, found=found, hint=hint))

    words = tuple(str(t) for t in tokens if isinstance(t, (str, int, float)))
    if len(words) != len(tokens):
        fault("tokens", "every token must be a word")
    long = next((word for word in words if len(word) > MOST_LETTERS), "")
    if long:
        fault("tokens", f"a token may have {MOST_LETTERS} letters", f"{len(long)} letters")
    if not 2 <= len(words) <= MOST_TOKENS:
        fault("tokens", f"between 2 and {MOST_TOKENS} tokens can be shown", str(len(words)),
              "cut the sentence, or choose the part that matters")  # fmt: skip
    read = {}
    for name, given in (("embeddings", embeddings), ("w_q", w_q), ("w_k", w_k)):
        try:
            read[name] = _matrix(given)
        except ValueError as problem:
            fault(name, f"'{name}' must be a matrix of finite numbers: {problem}")
    if len(read) == 3:
        rows, width = len(read["embeddings"]), len(read["embeddings"][0])
        if rows != len(words):
            fault("embeddings", "there must be one row for each token",
                  f"{rows} rows, {len(words)} tokens")  # fmt: skip
        for name in ("w_q", "w_k"):
            if len(read[name]) != width:
                fault(name, f"'{name}' must have one row for each column of the embeddings",
                      f"{len(read[name])} rows, {width} columns")  # fmt: skip
        widths = len(read["w_q"][0]), len(read["w_k"][0])
        if widths[0] != widths[1]:
            fault("w_k", "queries and keys must be equally wide", f"{widths[0]} and {widths[1]}")
        if max(*widths, width) > MOST_WIDTH:
            fault("embeddings", f"at most {MOST_WIDTH} columns can be shown", str(max(widths)))
    if faults:
        raise DiagramError(faults)
    return Sentence(words, read["embeddings"], read["w_q"], read["w_k"])


def _matrix(given: Any) -> Rows:
    if hasattr(given, "tolist"):
        given = given.tolist()
    if not isinstance(given, (list, tuple)) or not given:
        raise ValueError("it is not a list of rows")
    rows = []
    for number, row in enumerate(given):
        if not isinstance(row, (list, tuple)) or not row:
            raise ValueError(f"row {number} is not a list of numbers")
        for value in row:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                what = repr(value)[:40] if isinstance(value, str) else type(value).__name__
                raise ValueError(f"row {number} holds {what}")
            if not abs(value) <= LARGEST:
                what = "nan" if value != value else f"a number beyond {LARGEST:g}"
                raise ValueError(f"row {number} holds {what}")
        rows.append(tuple(float(v) for v in row))
    if any(len(a) != len(b) for a, b in pairwise(rows)):
        raise ValueError("its rows have different lengths")
    return tuple(rows)


def read_sentence(path: str | Path) -> Sentence:
    """Own data from a JSON file with the keys tokens, embeddings, w_q and w_k (or E, WQ, WK).

    :raises AskError: for a file that cannot be read, is not JSON, or does not fit: it was asked to
        show what it cannot.
    """
    label = str(path)

    def stop(message: str, hint: str = "", line: int = 0, column: int = 0) -> AskError:
        return AskError((Fault("bad-data", message, Span(label, line, column), hint=hint),))

    try:
        data = json.loads(reading.read(path).decode("utf-8"))
    except OSError as problem:
        raise stop(f"the file cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise stop("the file is not UTF-8 text") from None
    except json.JSONDecodeError as problem:
        raise stop(f"this is not JSON: {problem.msg}", "", problem.lineno, problem.colno) from None
    except RecursionError:
        raise stop("lists lie too deep inside each other") from None
    except ValueError:
        raise stop("a number has too many digits") from None
    if not isinstance(data, dict):
        raise stop("the file must hold an object", f"with the keys {', '.join(KEYS)}")
    named = {_SHORT.get(key, key): value for key, value in data.items()}
    for key in KEYS:
        if key not in named:
            unused = [str(k) for k in named if k not in KEYS]
            close = did_you_mean(key, unused, what="key in the file")
            raise stop(f"the file has no '{key}'", close or f"it needs {', '.join(KEYS)}")
    if not isinstance(named["tokens"], list):
        raise stop("'tokens' must be a list of words")
    try:
        return sentence(*(named[key] for key in KEYS), where=label)
    except DiagramError as fault:
        raise AskError(fault.faults) from fault


def called(source: str) -> str:
    """The Python that makes own data again."""
    return f"read_sentence({source!r})" if source else "sentence(...)"
