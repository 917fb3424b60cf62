"""The tree of a formula as MathML, in the form that ziamath sets right.

Every letter is given as the very character it is drawn with (bold, script, ...), and every
sign with the spacing of its class where ziamath's own table does not know it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Container, Iterable

from transformer_diagrams.records import dataclass
from transformer_diagrams.text.commands import ACCENTS, BOXES, FUNCTIONS, SPANNING, STYLES, styled
from transformer_diagrams.text.tex import Tex, empty

# Space on either side of a sign by its class, where ziamath does not know the sign.
_SPACE = {
    "bin": ("mediummathspace", "mediummathspace"),
    "rel": ("thickmathspace", "thickmathspace"),
    "op": ("thinmathspace", "thinmathspace"),
    "punct": ("0", "thinmathspace"),
}
_BEFORE_SIGN = ("", "bin", "rel", "open", "punct", "op", "large")  # then a minus is a sign
_NO_SPACE: dict[str, str] = {"lspace": "0", "rspace": "0"}


@dataclass(frozen=True, slots=True)
class _Ask:
    """What the parts around a part ask of it: alphabet (None: as in maths), and large or small."""

    alphabet: str | None = None
    display: bool = False


def mathml(tree: Tex, spaced: Container[str]) -> ET.Element:
    """The formula as MathML; ``spaced`` are the signs that the setter knows the spacing of."""
    math = ET.Element("math", display="inline")
    math.append(_Writer(spaced).row(tree.parts, _Ask()))
    return math


class _Writer:
    def __init__(self, spaced: Container[str]) -> None:
        self.spaced = spaced

    def row(self, parts: Iterable[Tex], ask: _Ask) -> ET.Element:
        row = ET.Element("mrow")
        before = ""
        scripted = False
        for part in parts:
            if part.kind == "blank":
                continue
            kind = _spacing(part)
            made = self.one(part, ask)
            padded = part.kind == "name" and not part.note and part.text in FUNCTIONS
            if (scripted and kind in ("ord", "large")) or (  # \log_2 n, \sum_i x, a \max b
                kind == "large" and before in ("ord", "close") and not padded
            ):
                row.append(ET.Element("mspace", width="thinmathspace"))
            scripted = part.kind == "script" and kind == "large"
            if made.tag == "mo" and (made.text or "x") in "−+±∓" and before in _BEFORE_SIGN:
                made.set("form", "prefix")
            row.append(made)
            before = kind
        if not len(row):  # ziamath gives an empty row an endless box
            ET.SubElement(row, "mspace", width="0")
        return row

    def one(self, node: Tex, ask: _Ask) -> ET.Element:
        made: ET.Element = getattr(self, f"mathml_{node.kind}")(node, ask)
        return made

    def mathml_row(self, node: Tex, ask: _Ask) -> ET.Element:
        # {K} is set as K is: a script has its place by what it is.
        if len(node.parts) == 1 and node.parts[0].kind in ("letter", "number"):
            return self.one(node.parts[0], ask)
        return self.row(node.parts, ask)

    # -- what is drawn itself

    def mathml_letter(self, node: Tex, ask: _Ask) -> ET.Element:
        return _identifier(node.text, ask.alphabet)

    def mathml_number(self, node: Tex, ask: _Ask) -> ET.Element:
        made = ET.Element("mn", mathvariant="normal")
        made.text = "".join(styled(char, ask.alphabet or "") for char in node.text)
        return made

    def mathml_sign(self, node: Tex, ask: _Ask) -> ET.Element:
        char, kind = node.text, node.note
        if kind == "middle":
            return _fence(char, "infix")
        if kind == "ord":
            if char.isalpha():
                return _identifier(char, ask.alphabet)
            if char in "∂∇" and ask.alphabet:
                char = styled(char, ask.alphabet)
            made = ET.Element("mi", {"mathvariant": "normal", **_NO_SPACE})
            made.text = char
            return made
        made = ET.Element("mo")
        made.text = char
        if kind in ("open", "close", "fence"):
            made.set("stretchy", "false")
        elif kind == "op0":
            made.attrib.update(_NO_SPACE)
        elif kind in ("large", "integral"):
            made.set("stretchy", "false")
            made.set("largeop", "true")
            if kind == "large" and char not in self.spaced:
                made.attrib.update(lspace="0", rspace="thinmathspace")
        else:
            made.set("stretchy", "false")
            if char not in self.spaced or (kind == "rel" and char in "⊲⊳⊴⊵"):
                left, right = _SPACE[kind]
                made.attrib.update(lspace=left, rspace=right)
        return made

    def mathml_name(self, node: Tex, ask: _Ask) -> ET.Element:
        text = node.text.replace(" ", "\u2009").replace("-", "\u2010")
        if node.note or node.text not in FUNCTIONS:
            made = ET.Element("mo", lspace="0", rspace="thinmathspace")
            if node.note:
                made.set("movablelimits", "true")
        else:
            made = ET.Element("mi", mathvariant="normal")
        made.text = "".join(styled(char, ask.alphabet or "") for char in text)
        return made

    def mathml_words(self, node: Tex, ask: _Ask) -> ET.Element:
        made = ET.Element("mtext", mathvariant="normal")
        alphabet = node.note
        # A hyphen would be drawn as a rule, and blanks at the ends would be lost.
        text = node.text.replace(" ", "\xa0").replace("-", "\u2010")
        made.text = "".join(styled(char, alphabet) for char in text)
        return made

    def mathml_space(self, node: Tex, ask: _Ask) -> ET.Element:
        return ET.Element("mspace", width=f"{node.size:.4g}em")

    # -- what stands at or around something

    def mathml_script(self, node: Tex, ask: _Ask) -> ET.Element:
        base, below, above = node.parts
        small = _Ask(ask.alphabet)
        limits = node.note == "limits" or (not node.note and _has_limits(base, ask.display))
        sub, sup = not empty(below), not empty(above)
        inner_base = self.one(base, ask) if not empty(base) else ET.Element("mspace", width="0")
        if inner_base.get("movablelimits") or (base.kind == "sign" and base.note == "large"):
            inner_base.set("movablelimits", "false" if limits or node.note else "true")
            if limits:
                inner_base.set("rspace", "0")
        if not sub and not sup:
            return self.one(base, ask)
        names = ("munder", "mover", "munderover") if limits else ("msub", "msup", "msubsup")
        made = ET.Element(names[2] if sub and sup else names[0] if sub else names[1])
        made.append(inner_base)
        for there, script in ((sub, below), (sup, above)):
            if there:
                inner = self.one(script, small)
                if limits and inner.tag == "mo":  # it would grow to the width of its base
                    row = ET.Element("mrow")
                    row.append(inner)
                    inner = row
                made.append(inner)
        return made

    def mathml_frac(self, node: Tex, ask: _Ask) -> ET.Element:
        made = ET.Element("mfrac")
        if not node.size:
            made.set("linethickness", "0")
        if node.note:
            made.set("displaystyle", "true" if node.note == "d" else "false")
            made.set("scriptlevel", "0")
        inner = _Ask(ask.alphabet)
        made.extend(self.one(part, inner) for part in node.parts)
        return _between(node.text, [made])

    def mathml_root(self, node: Tex, ask: _Ask) -> ET.Element:
        base, degree = node.parts
        if empty(degree):
            made = ET.Element("msqrt")
            made.append(self.one(base, ask))
            return made
        made = ET.Element("mroot")
        made.extend((self.one(base, ask), self.one(degree, _Ask(ask.alphabet))))
        return made

    def mathml_accent(self, node: Tex, ask: _Ask) -> ET.Element:
        made = ET.Element("mover", accent="true")
        made.append(self.one(_dotless(node.parts[0]), ask))
        sign, stretchy, _ = ACCENTS[node.text]
        mark = ET.SubElement(made, "mo", {"stretchy": "true" if stretchy else "false", **_NO_SPACE})
        mark.text = sign
        return made

    def mathml_span(self, node: Tex, ask: _Ask) -> ET.Element:
        sign, above = SPANNING[node.text]
        made = ET.Element("mover" if above else "munder")
        made.append(self.one(node.parts[0], ask))
        mark = ET.SubElement(made, "mo", {"accent": "true", "stretchy": "true", **_NO_SPACE})
        mark.text = sign
        return made

    def mathml_box(self, node: Tex, ask: _Ask) -> ET.Element:
        made = ET.Element("menclose", notation=BOXES[node.text])
        made.append(self.one(node.parts[0], ask))
        return made

    def mathml_stack(self, node: Tex, ask: _Ask) -> ET.Element:
        base, below, above = node.parts
        made = ET.Element("munder" if empty(above) else "mover")
        made.append(self.one(base, ask))
        row = self.row((below if empty(above) else above,), _Ask(ask.alphabet))
        made.append(row)
        kind = _spacing(base)
        if kind not in _SPACE:
            return made
        made[0].attrib.update(_NO_SPACE)
        return _wrapped(made, *_SPACE[kind])

    def mathml_arrow(self, node: Tex, ask: _Ask) -> ET.Element:
        made = ET.Element("tdx-arrow", sign=node.text)
        made.extend(self.row((part,), _Ask(ask.alphabet)) for part in node.parts)
        return made

    def mathml_fence(self, node: Tex, ask: _Ask) -> ET.Element:
        parts: list[ET.Element] = []
        for part in node.parts:
            if part.kind == "row":
                parts.extend(self.row(part.parts, ask))
            else:
                parts.append(self.one(part, ask))
        return _between(node.text, parts)

    def mathml_big(self, node: Tex, ask: _Ask) -> ET.Element:
        if node.text == ".":
            return ET.Element("mspace", width="0")
        size = f"{node.size}em"
        made = ET.Element("mo", {"stretchy": "true", "minsize": size, "maxsize": size, **_NO_SPACE})
        if node.note == "m":
            made.attrib.update(lspace="thickmathspace", rspace="thickmathspace")
        made.text = node.text
        return made

    def mathml_table(self, node: Tex, ask: _Ask) -> ET.Element:
        columns = node.note
        table = ET.Element("mtable")
        if columns == "rl":
            table.set("columnspacing", "0em 0.6em")
        elif columns == "l":
            table.set("columnspacing", "0.8em")
        else:
            table.set("columnspacing", "0.3em" if not node.size else "0.6em")
        if not node.size:
            table.set("scriptlevel", "1")
            table.set("rowspacing", "0.1em")
        most = max(len(row.parts) for row in node.parts)
        for row in node.parts:
            line = ET.SubElement(table, "mtr")
            cells = [*row.parts, *(Tex("row", row.at) for _ in range(most - len(row.parts)))]
            for index, cell in enumerate(cells):
                side = {"l": "left", "c": "center", "r": "right"}[columns[index % len(columns)]]
                made = self.row((cell,), _Ask(ask.alphabet))
                made.tag = "mtd"
                made.set("columnalign", side)
                line.append(made)
        if node.text[0] in "|‖":
            return _between(node.text, [_wrapped(table, "0.15em", "0.15em")])
        return _between(node.text, [table])

    # -- what changes what is in it

    def mathml_font(self, node: Tex, ask: _Ask) -> ET.Element:
        return self.row(node.parts, _Ask(node.note, ask.display))

    def mathml_style(self, node: Tex, ask: _Ask) -> ET.Element:
        display, level = STYLES[node.text]
        row = self.row(node.parts, _Ask(ask.alphabet, display))
        for child in row:
            child.attrib.setdefault("displaystyle", "true" if display else "false")
            child.attrib.setdefault("scriptlevel", str(level))
        return row

    def mathml_class(self, node: Tex, ask: _Ask) -> ET.Element:
        return _wrapped(self.row(node.parts, ask), *_SPACE.get(node.note, ("0", "0")))

    def mathml_phantom(self, node: Tex, ask: _Ask) -> ET.Element:
        made = ET.Element("mphantom")
        made.append(self.one(node.parts[0], ask))
        if node.text == "phantom":
            return made
        wide = node.text == "hphantom"
        box = ET.Element("mpadded", {"height": "0", "depth": "0"} if wide else {"width": "0"})
        box.append(made)
        return box


_SLOPING = frozenset("αβγδεζηθικλμνξοπρςστυφχψωϵϑϕϱϖϰ")


def _identifier(char: str, alphabet: str | None) -> ET.Element:
    if alphabet is None:
        # Small Greek letters slope; capitals stand.
        alphabet = "ITALIC" if char.isascii() or char in _SLOPING else ""
    elif alphabet == "BOLD ITALIC" and "Α" <= char <= "Ω":
        alphabet = "BOLD"
    made = ET.Element("mi", mathvariant="normal")
    made.text = styled(char, alphabet)
    return made


def _spacing(node: Tex) -> str:
    """The class of a part for the signs beside it."""
    if node.kind in ("sign", "class"):
        return node.note
    if node.kind == "script":
        return _spacing(node.parts[0])
    if node.kind == "arrow":
        return "rel"
    if node.kind == "name":
        return "large"
    if node.kind == "stack":
        return _spacing(node.parts[0])
    if node.kind == "row" and len(node.parts) == 1 and node.parts[0].kind == "sign":
        return _spacing(node.parts[0])
    return "" if node.kind == "space" else "ord"


def _has_limits(base: Tex, display: bool) -> bool:
    """Whether scripts stand below and above: operators on a line of their own, braces always."""
    if base.kind == "span":
        return bool(base.note) or base.text.removeprefix("under").removeprefix("over") in (
            "brace", "bracket", "paren")  # fmt: skip
    if base.kind == "script":
        return False
    if base.kind == "row" and len(base.parts) == 1:
        return _has_limits(base.parts[0], display)
    return display and (
        (base.kind == "sign" and base.note == "large")
        or (base.kind == "name" and base.note == "limits")
        or (base.kind == "class" and base.note == "op")
    )


def _dotless(node: Tex) -> Tex:
    """An i or j under an accent loses its dot."""
    if node.kind == "row" and len(node.parts) == 1:
        return Tex("row", node.at, parts=(_dotless(node.parts[0]),))
    if node.kind == "letter" and node.text in "ij":
        return Tex("sign", node.at, {"i": "𝚤", "j": "𝚥"}[node.text], note="ord")
    return node


def _fence(char: str, form: str) -> ET.Element:
    made = ET.Element("mo", stretchy="true", fence="true", form=form)
    if form == "infix":
        made.attrib.update(lspace="0.05em", rspace="0.05em")
    made.text = char
    return made


def _wrapped(inner: ET.Element, left: str, right: str) -> ET.Element:
    """The part with space of its own on both sides."""
    row = ET.Element("mrow")
    row.extend((ET.Element("mspace", width=left), inner, ET.Element("mspace", width=right)))
    return row


def _between(brackets: str, parts: list[ET.Element]) -> ET.Element:
    """The parts in a row, between two brackets as high as they are."""
    if len(parts) == 1 and brackets in ("", ".."):
        return parts[0]
    row = ET.Element("mrow")
    if brackets[0] != ".":
        row.append(_fence(brackets[0], "prefix"))
    row.extend(parts)
    if brackets[1] != ".":
        row.append(_fence(brackets[1], "postfix"))
    return row
