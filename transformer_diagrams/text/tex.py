r"""Reads a TeX formula into a tree, or says what is wrong with it, where, and what to do.

The tree is what the setter draws and what the words for search and hearing are made from.
Nothing is guessed: a command that is not in the table of `commands` is a fault.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final, NoReturn

from transformer_diagrams.errors import nearest
from transformer_diagrams.records import dataclass
from transformer_diagrams.text import commands as known

DEEPEST: Final = 16
"""How deep groups, scripts and fractions may lie in each other."""
LONGEST: Final = 1000
"""How many characters a formula may have."""

_TOKEN: Final = re.compile(r"\\(?:[A-Za-z]+\*?|.)|\s+|.", re.DOTALL)
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")
_LENGTH: Final = re.compile(r"\s*(-?(?:\d+\.?\d*|\.\d+))\s*(em|ex|mu|pt)\s*")
_EMS: Final = {"em": 1.0, "ex": 0.43, "mu": 1 / 18, "pt": 0.1}
_STARRED: Final = ("\\operatorname*", "\\hspace*")


class BadFormula(ValueError):
    """A formula that cannot be set: why in a few words, the place in the TeX, what to do."""

    def __init__(self, message: str, at: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.at = at
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Tex:
    """A part of a formula. Which fields mean what is said by ``kind``:

    row      ``parts`` side by side
    sign     the character ``text`` with the spacing ``note`` (ord, bin, rel, open, ...)
    letter, number, name (``note``: limits), words (``note``: alphabet)    ``text`` as it stands
    space    ``size`` ems            blank    what was typed between two parts, for the words
    script   ``parts`` base, below, above (an empty row is none); ``note``: limits, nolimits
    frac     ``parts`` above, below; ``text`` brackets or none; ``note`` style; ``size`` 0: no bar
    root     ``parts`` radicand, degree     accent, span, box    ``text`` the command
    stack    ``parts`` base, below, above   arrow   ``text`` the sign; ``parts`` below, above
    fence    ``text`` two delimiters around ``parts``; big    ``text`` at ``size`` ems
    table    ``parts`` rows of cells; ``text`` two brackets; ``note`` columns; ``size`` 0: small
    font     ``note`` the alphabet of ``parts``   phantom, style (``text`` the command)
    class    ``note`` the spacing of ``parts``
    """

    kind: str
    at: int
    text: str = ""
    parts: tuple[Tex, ...] = ()
    note: str = ""
    size: float = 1.0


def empty(node: Tex) -> bool:
    """Whether there is nothing to draw."""
    return node.kind in ("row", "blank") and all(empty(part) for part in node.parts)


def parse(tex: str) -> Tex:
    """The tree of a formula.

    :raises BadFormula: for what cannot be set.
    """
    if not tex.strip():
        raise BadFormula("it is empty", hint="write \\$ for a plain dollar sign")
    if len(tex) > LONGEST:
        raise BadFormula(
            f"it has {len(tex):,} characters; at most {LONGEST:,} are set",
            hint="put long formulas into the caption or a text of the gallery",
        )
    reader = _Reader(tex)
    row = reader.row(0, reader.nothing)
    if reader.now < len(reader.tokens):
        reader.stray()
    return row


class _Reader:
    def __init__(self, tex: str) -> None:
        self.tokens: list[str] = []
        self.places: list[int] = []
        for found in _TOKEN.finditer(tex):
            token = found[0]
            if token.endswith("*") and len(token) > 2 and token not in _STARRED:
                self.tokens += [token[:-1], "*"]
                self.places += [found.start(), found.end() - 1]
            else:
                self.tokens.append(token)
                self.places.append(found.start())
        self.end = len(tex)
        self.now = 0

    # -- tokens

    @property
    def at(self) -> int:
        return self.places[self.now] if self.now < len(self.places) else self.end

    def peek(self) -> str:
        """The next token; "" at the end."""
        return self.tokens[self.now] if self.now < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.now += 1
        return token

    def blanks(self) -> None:
        while self.peek().isspace():
            self.now += 1

    def fail(self, message: str, at: int, hint: str = "") -> NoReturn:
        raise BadFormula(message, at, hint)

    def limit(self, depth: int, at: int) -> None:
        """Refuse what lies too deep."""
        if depth > DEEPEST:
            self.fail(f"it is nested more than {DEEPEST} deep", at, "take a part out of its braces")

    def nothing(self, token: str) -> bool:
        return False

    def stray(self) -> NoReturn:
        """Whatever ended a row too early."""
        token, at = self.peek(), self.at
        if token == "}":
            self.fail("a brace '}' closes nothing", at, "take it out, or write \\} for a drawn one")
        if token == "\\right":
            self.fail("\\right closes nothing", at, "it needs a \\left before it")
        if token == "\\middle":
            self.fail("\\middle stands outside", at, "it stands between \\left and \\right")
        if token == "\\end":
            self.fail("\\end closes nothing", at, "it needs a \\begin{...} before it")
        if token == "&":
            self.fail("'&' stands outside a table", at, "write \\& for the sign")
        self.fail(
            f"{token} stands outside a table",
            at,
            "close the dollars and begin a new line of the label, or use a table",
        )

    # -- rows

    def row(self, depth: int, stop: Callable[[str], bool]) -> Tex:
        """Parts up to a token that ``stop`` takes, or that can only close something."""
        begin = self.at
        self.limit(depth, begin)
        parts: list[Tex] = []
        while self.now < len(self.tokens):
            token = self.peek()
            if stop(token) or token in ("}", "\\right", "\\middle", "\\end", "&", "\\\\", "\\cr"):
                break
            name = token[1:]
            if token[0] == "\\" and name in known.INFIX:
                return self._halves(name, parts, begin, depth, stop)
            if token[0] == "\\" and (name in known.STYLES or name in known.OLD_FONTS):
                at = self.at
                self.now += 1
                rest = self.row(depth + 1, stop)
                if name in known.STYLES:
                    parts.append(Tex("style", at, name, rest.parts))
                else:
                    alphabet = known.ALPHABETS[known.OLD_FONTS[name]]
                    parts.append(Tex("font", at, name, rest.parts, alphabet))
                continue
            parts.append(self.scripted(depth, parts))
        return Tex("row", begin, parts=tuple(part for part in parts if part.kind != "gone"))

    def _halves(
        self, name: str, above: list[Tex], begin: int, depth: int, stop: Callable[[str], bool]
    ) -> Tex:
        at = self.at
        self.now += 1
        below = self.row(depth + 1, stop)
        bar, brackets = known.INFIX[name]
        top = Tex("row", begin, parts=tuple(above))
        if empty(top) or empty(below):
            self.fail(f"\\{name} has nothing on one side", at, f"write {{a \\{name} b}}")
        whole = Tex("frac", at, brackets, (top, below), "", float(bar))
        return Tex("row", begin, parts=(whole,))

    def scripted(self, depth: int, before: list[Tex]) -> Tex:
        """One part with all that hangs on it."""
        at = self.at
        if self.peek() in ("^", "_", "'"):
            base = Tex("row", at)
        else:
            base = self.part(depth, before)
        if base.kind in ("blank", "space", "gone"):
            return base
        limits = ""
        scripts: dict[str, Tex] = {}
        primes = 0
        while True:
            mark = self.now
            self.blanks()
            token, place = self.peek(), self.at
            if token in ("\\limits", "\\nolimits"):
                if not _takes_limits(base):
                    self.fail(
                        f"{token} follows no operator", place,
                        "it stands behind \\sum, \\max or \\operatorname*{...}",
                    )  # fmt: skip
                limits = token[1:]
                self.now += 1
            elif token == "'":
                self.now += 1
                if "^" in scripts:
                    self.fail("a prime follows a superscript", place, "write the prime first: x'^2")
                primes += 1
            elif token in ("^", "_"):
                self.now += 1
                word = "superscripts" if token == "^" else "subscripts"
                if token in scripts:
                    self.fail(f"there are two {word}", place, f"put them together: x{token}{{ab}}")
                inner = self.argument(depth + 1, f"the {word[:-1]}")
                scripts[token] = inner
            else:
                self.now = mark
                break
        if primes:
            sign = {1: "′", 2: "″", 3: "‴", 4: "⁗"}.get(primes, "′" * primes)
            prime = tuple(Tex("sign", at, char, note="ord") for char in sign)
            more = scripts.get("^")
            scripts["^"] = Tex("row", at, parts=(*prime, more) if more is not None else prime)
        if not scripts:
            return base
        none = Tex("row", at)
        return Tex(
            "script", at, "", (base, scripts.get("_", none), scripts.get("^", none)), limits
        )

    def argument(self, depth: int, what: str) -> Tex:
        """A group, or the next sign alone."""
        self.blanks()
        token, at = self.peek(), self.at
        if token == "{":
            return self.group(depth - 1)
        if token in ("", "}", "&", "\\\\", "\\cr", "\\right", "\\middle", "\\end", "^", "_", "'"):
            self.fail(f"{what} is missing", at, "put it in braces: {...}")
        self.limit(depth, at)
        if token.isdigit():
            self.now += 1
            return Tex("number", at, token)
        if token[0] == "\\" and token[1:] in (
            known.STYLES.keys() | known.OLD_FONTS.keys() | known.INFIX.keys()
        ):
            self.fail(f"{what} is missing", at, "put it in braces: {...}")
        return self.part(depth, [])

    def group(self, depth: int) -> Tex:
        at = self.at
        self.now += 1
        inner = self.row(depth + 1, self.nothing)
        if self.peek() != "}":
            if self.now < len(self.tokens):
                self.stray()
            self.unclosed(at)
        self.now += 1
        return inner

    def unclosed(self, at: int) -> NoReturn:
        """The end of the formula, where a brace is still open."""
        self.fail("a brace '{' is not closed", at, "close it with '}'")

    def optional(self, depth: int) -> Tex | None:
        """What stands in brackets, [n]."""
        self.blanks()
        if self.peek() != "[":
            return None
        at = self.at
        self.now += 1
        inner = self.row(depth + 1, "]".__eq__)
        if self.peek() != "]":
            self.fail("a bracket '[' is not closed", at, "close it with ']'")
        self.now += 1
        return inner

    def raw(self, what: str) -> tuple[str, int]:
        """The characters of a group, unread."""
        self.blanks()
        at = self.at
        if self.peek() != "{":
            self.fail(f"{what} is missing", at, "put it in braces: {...}")
        self.now += 1
        out: list[str] = []
        begin = self.at
        depth = 1
        while self.now < len(self.tokens):
            token = self.take()
            depth += {"{": 1, "}": -1}.get(token, 0)
            if not depth:
                return "".join(out), begin
            out.append(token)
        return self.unclosed(at)

    # -- parts

    def part(self, depth: int, before: list[Tex]) -> Tex:
        """One part without its scripts."""
        token, at = self.peek(), self.at
        if token.isspace():
            self.now += 1
            return Tex("blank", at, _blank(self.tokens, self.now))
        if token == "{":
            return self.group(depth)
        if token[0] == "\\":
            self.now += 1
            return self.command(token, at, depth, before)
        if token.isdigit() and token.isascii():
            found = _NUMBER.match("".join(self.tokens[self.now : self.now + 40]))
            assert found
            self.now += len(found[0])
            return Tex("number", at, found[0])
        self.now += 1
        if token in known.TYPED:
            sign, kind = known.TYPED[token]
            return Tex("sign", at, sign, note=kind)
        if token == "~":
            return Tex("space", at, size=0.25)
        if token == "%":
            self.fail("'%' begins a comment in TeX", at, "write \\% for the sign")
        if token in "#$":
            self.fail(f"'{token}' means something else in TeX", at, f"write \\{token} for the sign")
        if token in known.SIGNS:
            return Tex("sign", at, token, note=known.SIGNS[token])
        if token.isalpha():
            return Tex("letter", at, token)
        return Tex("sign", at, token, note="ord")

    def command(self, token: str, at: int, depth: int, before: list[Tex]) -> Tex:
        name = token[1:]
        if name in known.SYMBOLS:
            sign, kind = known.SYMBOLS[name]
            return Tex("sign", at, sign, note=kind)
        if name in known.SPACES:
            return Tex("space", at, size=known.SPACES[name])
        if name in known.FUNCTIONS:
            return Tex("name", at, name)
        if name in known.LIMITS:
            return Tex("name", at, known.LIMITS[name], note="limits")
        if name in known.TEXTS:
            return self.words(name, at, depth)
        if name in known.ALPHABETS:
            inner = self.argument(depth + 1, f"what {token} sets")
            return Tex("font", at, name, (inner,), known.ALPHABETS[name])
        if name in known.ACCENTS or name in known.SPANNING or name in known.BOXES:
            inner = self.argument(depth + 1, f"what {token} belongs to")
            if empty(inner):
                self.fail(f"{token} has nothing to belong to", at, f"write {token}{{x}}")
            kind = (
                "accent" if name in known.ACCENTS else "span" if name in known.SPANNING else "box"
            )
            return Tex(kind, at, name, (inner,))
        if name in known.FRACTIONS:
            bar, style, brackets = known.FRACTIONS[name]
            above = self.argument(depth + 1, f"the upper part of {token}")
            below = self.argument(depth + 1, f"the lower part of {token}")
            return Tex("frac", at, brackets, (above, below), style, float(bar))
        if name in known.PHANTOMS:
            return Tex("phantom", at, name, (self.argument(depth + 1, f"what {token} hides"),))
        if name in known.CLASSES:
            inner = self.argument(depth + 1, f"what {token} sets")
            return Tex("class", at, name, (inner,), known.CLASSES[name])
        if name in known.ARROWS:
            below = self.optional(depth) or Tex("row", at)
            above = self.argument(depth + 1, f"what stands above {token}")
            return Tex("arrow", at, known.ARROWS[name], (below, above))
        if name in known.BIG:
            sign = self.delimiter(token)
            return Tex("big", at, sign, note=name[-1], size=known.BIG[name])
        reader = getattr(self, f"tex_{name.rstrip('*')}", None) if name.isascii() else None
        if reader is not None and (name in known.KNOWN or token in _STARRED):
            made: Tex = reader(at, depth, token)
            return made
        return self.refuse(token, at)

    def refuse(self, token: str, at: int) -> NoReturn:
        """A command that is not set: the nearest one that is, or what does the same."""
        if token == "\\":
            self.fail("a backslash stands alone", at, "write \\backslash for the sign")
        if token[1:] in known.KNOWN:
            self.fail(f"{token} stands where it means nothing", at)
        hint = known.INSTEAD.get(token[1:], "")
        if not hint:
            close = nearest(token[1:], [one for one in known.KNOWN if one[0].isalpha()])
            hint = f"did you mean \\{close}?" if close else "docs/spec.md lists what labels can set"
        self.fail(f"the command {token} cannot be set", at, hint)

    def delimiter(self, token: str) -> str:
        """What follows \\left, \\right, \\middle or \\big."""
        self.blanks()
        given, at = self.peek(), self.at
        if given not in known.DELIMITERS:
            shown = f"not '{given}'" if given and not given.isspace() else "and nothing follows"
            self.fail(
                f"{token} needs a bracket, {shown}", at,
                "one of ( ) [ ] \\{ \\} | \\| \\langle \\rangle \\lfloor \\rfloor, or . for none",
            )  # fmt: skip
        self.now += 1
        return known.DELIMITERS[given]

    def words(self, name: str, at: int, depth: int) -> Tex:
        """``\\text{...}``: words with their blanks; other fonts and formulas may stand in it."""
        alphabet = known.ALPHABETS.get(name, "")
        self.blanks()
        if self.peek() != "{":
            self.fail(f"the words of \\{name} are missing", self.at, "put them in braces: {...}")
        begin = self.at
        self.limit(depth, at)
        self.now += 1
        parts: list[Tex] = []
        run: list[str] = []
        place = self.at

        def flush() -> None:
            if run:
                parts.append(Tex("words", place, "".join(run), note=alphabet))
                run.clear()

        while self.peek() != "}":
            if self.now >= len(self.tokens):
                self.unclosed(begin)
            token, here = self.peek(), self.at
            if not run:
                place = here
            if token[0] != "\\":
                if token in "^_&#%":
                    sign = "textasciicircum{}" if token == "^" else token
                    self.fail(f"'{token}' stands in words", here, f"write \\{sign} for the sign")
                if token == "{":
                    flush()
                    parts.append(self.words(name, here, depth + 1))
                    continue
                run.append(" " if token.isspace() or token == "~" else token)
                self.now += 1
                continue
            sign = token[1:]
            if sign in known.ESCAPES and sign != "|":
                run.append(sign)
            elif sign in known.SPACES:
                run.append(" " if known.SPACES[sign] > 0 else "")
            elif sign in known.TEXTS and name != "operatorname":
                flush()
                self.now += 1
                parts.append(self.words(sign, here, depth + 1))
                continue
            elif sign in known.SYMBOLS:
                flush()
                parts.append(Tex("sign", here, known.SYMBOLS[sign][0], note="ord"))
            else:
                if token[1:] in known.KNOWN:
                    self.fail(
                        f"{token} stands in the words of \\{name}", here,
                        f"close the words before it: \\{name}{{...}} {token}",
                    )  # fmt: skip
                self.refuse(token, here)
            self.now += 1
        flush()
        self.now += 1
        return Tex("row", at, parts=tuple(parts))

    # -- commands with a syntax of their own; found by name

    def tex_left(self, at: int, depth: int, token: str) -> Tex:
        left = self.delimiter(token)
        parts: list[Tex] = []
        while True:
            parts.append(self.row(depth + 1, self.nothing))
            here = self.at
            if self.peek() == "\\middle":
                self.now += 1
                parts.append(Tex("sign", here, self.delimiter("\\middle"), note="middle"))
            elif self.peek() == "\\right":
                self.now += 1
                right = self.delimiter("\\right")
                break
            elif self.now >= len(self.tokens):
                self.fail(
                    "\\left is not closed", at, "close it with \\right; \\right. draws nothing"
                )
            else:
                self.stray()
        return Tex("fence", at, left + right, tuple(parts))

    def tex_sqrt(self, at: int, depth: int, token: str) -> Tex:
        degree = self.optional(depth) or Tex("row", at)
        return Tex("root", at, "", (self.argument(depth + 1, "what stands under \\sqrt"), degree))

    def tex_overset(self, at: int, depth: int, token: str) -> Tex:
        over = self.argument(depth + 1, f"what {token} puts above")
        base = self.argument(depth + 1, f"what {token} puts it above of")
        return Tex("stack", at, token[1:], (base, Tex("row", at), over))

    tex_stackrel = tex_overset

    def tex_underset(self, at: int, depth: int, token: str) -> Tex:
        under = self.argument(depth + 1, f"what {token} puts below")
        base = self.argument(depth + 1, f"what {token} puts it below of")
        return Tex("stack", at, token[1:], (base, under, Tex("row", at)))

    def tex_operatorname(self, at: int, depth: int, token: str) -> Tex:
        self.blanks()
        inner = self.words("operatorname", at, depth) if self.peek() == "{" else None
        if inner is None or not inner.parts:
            self.fail(f"the name of {token} is missing", self.at, f"write {token}{{name}}")
        text = "".join(part.text for part in inner.parts)
        if any(part.kind != "words" for part in inner.parts) or not text.strip():
            self.fail(f"{token} holds more than a name", at, "put the rest behind it")
        return Tex("name", at, text.strip(), note="limits" if token.endswith("*") else "")

    def tex_varlimsup(self, at: int, depth: int, token: str) -> Tex:
        return Tex("span", at, "overline", (Tex("name", at, "lim"),), "limits")

    def tex_varliminf(self, at: int, depth: int, token: str) -> Tex:
        return Tex("span", at, "underline", (Tex("name", at, "lim"),), "limits")

    def tex_not(self, at: int, depth: int, token: str) -> Tex:
        base = self.argument(depth, "what \\not strikes")
        found = unicodedata.normalize("NFC", f"{base.text}\u0338")
        if base.kind != "sign" or len(found) != 1:
            self.fail(
                "\\not cannot strike this", at, "\\not stands before a relation: \\not=, \\not\\in"
            )
        return Tex("sign", at, found, note="rel")

    def tex_bmod(self, at: int, depth: int, token: str) -> Tex:
        space = Tex("space", at, size=known.SPACES[";"])
        return Tex("row", at, parts=(space, _upright("mod", at), space))

    def tex_pmod(self, at: int, depth: int, token: str) -> Tex:
        inner = self.argument(depth + 1, f"what follows {token}")
        name = (_upright("mod", at), Tex("space", at, size=0.333)) if token != "\\pod" else ()
        parts = (*name, inner)
        space = Tex("space", at, size=1.0)
        if token == "\\mod":
            return Tex("row", at, parts=(space, *parts))
        opened, closed = (Tex("sign", at, c, note=k) for c, k in (("(", "open"), (")", "close")))
        return Tex("row", at, parts=(space, opened, *parts, closed))

    tex_pod = tex_mod = tex_pmod

    def tex_mathstrut(self, at: int, depth: int, token: str) -> Tex:
        return Tex("phantom", at, "vphantom", (Tex("sign", at, "(", note="ord"),))

    tex_strut = tex_mathstrut

    def tex_ensuremath(self, at: int, depth: int, token: str) -> Tex:
        return self.argument(depth, "what \\ensuremath sets")

    def tex_nonumber(self, at: int, depth: int, token: str) -> Tex:
        return Tex("gone", at)

    tex_notag = tex_nonumber

    def tex_hspace(self, at: int, depth: int, token: str) -> Tex:
        text, begin = self.raw(f"the width of {token}")
        return self._space(at, begin, text, token)

    def tex_hskip(self, at: int, depth: int, token: str) -> Tex:
        begin = self.at
        rest = "".join(self.tokens[self.now :])
        found = _LENGTH.match(rest)
        if not found:
            self._space(at, begin, rest[:8], token)
            raise AssertionError
        passed = 0
        while passed < len(found[0]):
            passed += len(self.take())
        return self._space(at, begin, found[0], token)

    tex_kern = tex_mkern = tex_mskip = tex_hskip

    def _space(self, at: int, begin: int, text: str, token: str) -> Tex:
        found = _LENGTH.fullmatch(text)
        if not found:
            self.fail(f"{token} needs a width such as 0.5em", begin, "units: em, ex, mu, pt")
        size = float(found[1]) * _EMS[found[2]]
        if abs(size) > 20:
            self.fail(f"{token} is wider than 20 em", begin, "write less")
        return Tex("space", at, size=size)

    def tex_bra(self, at: int, depth: int, token: str) -> Tex:
        left, right = tuple({"\\bra": "⟨|", "\\ket": "|⟩", "\\braket": "⟨⟩"}[token])
        inner = self.argument(depth + 1, f"what {token} holds")
        sides = (Tex("sign", at, left, note="open"), inner, Tex("sign", at, right, note="close"))
        return Tex("row", at, parts=sides)

    tex_ket = tex_braket = tex_bra

    def tex_substack(self, at: int, depth: int, token: str) -> Tex:
        self.blanks()
        if self.peek() != "{":
            self.fail("the lines of \\substack are missing", self.at, "\\substack{a \\\\ b}")
        self.now += 1
        rows = self.rows(depth)
        if self.peek() != "}":
            self.unclosed(at)
        self.now += 1
        return Tex("table", at, "..", rows, "c", 0.0)

    def tex_begin(self, at: int, depth: int, token: str) -> Tex:
        name, place = self.raw("the name of the environment")
        base = name.strip()
        if base not in known.TABLES:
            close = nearest(base, known.TABLES) or "matrix"
            self.fail(
                f"the environment {base or '{}'} cannot be set", place,
                f"did you mean \\begin{{{close}}}?",
            )  # fmt: skip
        brackets, columns, small = known.TABLES[base]
        if base in ("array", "subarray"):
            text, begin = self.raw("the columns of the array")
            columns = "".join(text.split())
            if not columns or set(columns) - set("lcr"):
                self.fail("the columns of an array are letters l, c, r", begin, "write {lcr}")
        rows = self.rows(depth)
        if self.peek() != "\\end":
            if self.now < len(self.tokens):
                self.stray()
            self.fail(f"\\begin{{{base}}} is not closed", at, f"close it with \\end{{{base}}}")
        here = self.at
        self.now += 1
        closed, _ = self.raw("the name of the environment")
        if closed.strip() != base:
            self.fail(
                f"\\begin{{{base}}} is closed by \\end{{{closed}}}", here, f"write \\end{{{base}}}"
            )
        return Tex("table", at, brackets, rows, columns, 0.0 if small else 1.0)

    def rows(self, depth: int) -> tuple[Tex, ...]:
        """Lines of cells up to what closes the table."""
        rows: list[Tex] = []
        cells: list[Tex] = []
        begin = self.at
        while True:
            cells.append(self.row(depth + 1, self.nothing))
            token = self.peek()
            if token == "&":
                self.now += 1
                continue
            if len(cells) > 1 or not empty(cells[0]) or token in ("\\\\", "\\cr"):
                rows.append(Tex("row", begin, parts=tuple(cells)))
            cells = []
            if token not in ("\\\\", "\\cr"):
                break
            self.now += 1
            begin = self.at
        if not rows or all(empty(row) for row in rows):
            self.fail("the table is empty", begin, "write a & b \\\\ c & d")
        return tuple(rows)


def _upright(word: str, at: int) -> Tex:
    letters = tuple(Tex("letter", at, char) for char in word)
    return Tex("font", at, "mathrm", (Tex("row", at, parts=letters),), "")


def _takes_limits(node: Tex) -> bool:
    return (
        node.kind in ("name", "class", "span")
        or (node.kind == "sign" and node.note in ("large", "integral", "rel", "bin"))
        or (node.kind == "row" and len(node.parts) == 1 and _takes_limits(node.parts[0]))
    )


def _blank(tokens: list[str], at: int) -> str:
    """What a typed blank is in words: TeX ignores it; in "n_g d_K" it parts two names."""
    before = tokens[at - 2] if at >= 2 else ""
    after = tokens[at] if at < len(tokens) else ""
    glue = set("=<>+-|,")
    if before in glue or after in glue or before.isdigit() or before == "}" or after == "\\":
        return " "
    scripted = at >= 3 and tokens[at - 3] in ("_", "^")
    return " " if scripted or before == "" else ""
