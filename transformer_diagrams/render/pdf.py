"""Display list -> PDF: vector pages of exactly the figure's size, with its words inside.

Written directly, without a graphics library: a figure is only paths, and so the bytes are the
same on every machine, with no date in them. Letters are paths; the words lie over them in text
render mode 3 (neither filled nor stroked), set in an embedded TrueType font without outlines,
so that a reader can search, select and copy them.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Sequence

from transformer_diagrams.render.display import (
    Display,
    Matrix,
    Outline,
    Shape,
    Words,
)
from transformer_diagrams.render.geometry import decimal
from transformer_diagrams.render.path_data import shape_commands
from transformer_diagrams.text.shaping import directions

_CAPS = {"butt": 0, "round": 1}
_JOINS = {"miter": 0, "round": 1}
_UNITS = 1000  # of the word font
_ADVANCE = 500  # of each of its letters


def to_pdf(*pages: Display, words: bool = True) -> bytes:
    """A PDF of one page a display, all of one size; what pages share is written once.

    Without ``words`` its letters are outlines alone.
    """
    lines = [
        line for page in pages for item in page.items for text in item.texts for line in text.words
    ]
    # A number for every character of the words, from 1 on, by code point.
    used = sorted({char for line in lines for char in line.text}) if words else ()
    letters = {char: index for index, char in enumerate(used, 1)}
    states: dict[tuple[float, float], str] = {}
    contents = [_content(page, letters, states) for page in pages]
    if len(contents) == 1:
        contents = [["\n".join(contents[0])]]
    return _document(pages[-1], contents, letters, states)


def _n(value: float, digits: int = 4) -> str:
    return decimal(value, digits)


def _matrix(m: Matrix) -> str:
    return " ".join(decimal(v, 6) for v in m)


def _content(
    display: Display, letters: dict[str, int], states: dict[tuple[float, float], str]
) -> list[str]:
    """What a page paints: turned upright, its items one by one, turned back."""
    k = display.unit
    parts = [f"q\n{_matrix((k, 0, 0, -k, 0, display.printed[1]))} cm"]
    for item in display.items:
        out: list[str] = []
        if item.matrix:
            out.append(f"q {_matrix(item.matrix)} cm")
        for shape in item.shapes:
            out.extend(_shape(shape, item.opacity, states))
        for text in item.texts:
            for outline in text.outlines:
                out.extend(_shape(outline, item.opacity, states))
            if letters:
                out.extend(_line_of_words(line, letters) for line in text.words)
        for shape in item.over:
            out.extend(_shape(shape, item.opacity, states))
        if item.matrix:
            out.append("Q")
        parts += ["\n".join(out)] if out else []
    return [*parts, "Q"]


def _shape(shape: Shape, opacity: float, states: dict[tuple[float, float], str]) -> list[str]:
    ink, out, scale = shape.ink, ["q"], 1.0
    if isinstance(shape, Outline):
        scale = shape.scale
        if (shape.at, scale) != ((0.0, 0.0), 1.0):
            out.append(f"{_matrix((scale, 0, 0, scale, *shape.at))} cm")
    seen = (round(ink.fill_opacity * opacity, 4), round(opacity, 4))
    if seen != (1.0, 1.0):
        out.append(f"/{states.setdefault(seen, f'G{len(states)}')} gs")
    if ink.fill:
        out.append(f"{_color(ink.fill)} rg")
    if ink.stroke:
        out.append(f"{_color(ink.stroke)} RG {_n(ink.width)} w")
        if ink.cap != "butt":
            out.append(f"{_CAPS[ink.cap]} J")
        if ink.join != "miter":
            out.append(f"{_JOINS[ink.join]} j")
        if ink.dash:
            dash = ink.dash if len(ink.dash) % 2 == 0 else ink.dash * 2
            out.append(f"[{' '.join(_n(v) for v in dash)}] 0 d")
    letter = {"M": "m", "L": "l", "C": "c", "Z": "h"}
    # Glyph outlines come in units of about a hundredth of a point: whole ones are enough.
    digits = 3 if scale > 0.2 else 2 if scale > 0.05 else 0
    out.append(
        " ".join(
            " ".join([*(_n(v, digits) for v in numbers), letter[command]])
            for command, numbers in shape_commands(shape)
        )
    )
    out.append("B" if ink.fill and ink.stroke else "f" if ink.fill else "S")
    out.append("Q")
    return out


def _color(code: str) -> str:
    """``#rrggbb`` as three numbers from 0 to 1."""
    return " ".join(_n(int(code[at : at + 2], 16) / 255) for at in (1, 3, 5))


def _line_of_words(words: Words, letters: dict[str, int]) -> str:
    codes = "".join(f"{letters[char]:04x}" for char in _visual(words.text))
    natural = len(words.text) * _ADVANCE / _UNITS * words.size
    stretch = words.width / natural * 100 if words.width and natural else 100.0
    # The page is drawn with y down; the text is turned back upright.
    return (
        f"BT 3 Tr /F0 {_n(words.size)} Tf {_n(stretch)} Tz "
        f"1 0 0 -1 {_n(words.x)} {_n(words.y)} Tm <{codes}> Tj ET"
    )


def _visual(text: str) -> str:
    """The letters from left to right, as a page shows them: readers turn Hebrew and Arabic back."""
    return "".join(run[::-1] if rtl else run for run, rtl in directions(text))


def _document(
    display: Display,
    contents: Sequence[Sequence[str]],
    letters: dict[str, int],
    states: dict[tuple[float, float], str],
) -> bytes:
    objects: list[bytes] = []

    def add(body: str | bytes) -> int:
        objects.append(body.encode("ascii") if isinstance(body, str) else body)
        return len(objects)

    def stream(data: bytes, extra: str = "") -> bytes:
        packed = zlib.compress(data, 9)
        head = f"<< /Length {len(packed)} /Filter /FlateDecode{extra} >>\nstream\n"
        return head.encode("ascii") + packed + b"\nendstream"

    catalog = add(
        "<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /DisplayDocTitle true >> "
        "/Lang (en) >>"
    )
    box = "[0 0 {} {}]".format(*(_n(v) for v in display.printed))
    kids = " ".join(f"{3 + index} 0 R" for index in range(len(contents)))
    add(f"<< /Type /Pages /Kids [{kids}] /Count {len(contents)} >>")
    pages_at = [add("") for _ in contents]
    parts_at = {
        part: add(stream(part.encode("ascii")))
        for part in dict.fromkeys(part for content in contents for part in content)
    }
    resources = ""
    if states:
        said = " ".join(
            f"/{name} << /ca {_n(fill)} /CA {_n(stroke)} >>"
            for (fill, stroke), name in states.items()
        )
        resources += f"/ExtGState << {said} >> "
    if letters:
        font = word_font()
        file_at = add(stream(font, f" /Length1 {len(font)}"))
        descriptor = add(
            "<< /Type /FontDescriptor /FontName /WORDSX+FigureWords /Flags 4 "
            "/FontBBox [0 -200 500 800] /ItalicAngle 0 /Ascent 800 /Descent -200 "
            f"/CapHeight 700 /StemV 80 /FontFile2 {file_at} 0 R >>"
        )
        # Every letter is the same glyph without an outline.
        glyphs_at = add(stream(b"\0\0" + b"\0\1" * len(letters)))
        descendant = add(
            "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /WORDSX+FigureWords "
            "/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
            f"/FontDescriptor {descriptor} 0 R /DW {_ADVANCE} /CIDToGIDMap {glyphs_at} 0 R >>"
        )
        unicode_at = add(stream(_to_unicode(letters).encode("ascii")))
        font_at = add(
            "<< /Type /Font /Subtype /Type0 /BaseFont /WORDSX+FigureWords /Encoding /Identity-H "
            f"/DescendantFonts [{descendant} 0 R] /ToUnicode {unicode_at} 0 R >>"
        )
        resources += f"/Font << /F0 {font_at} 0 R >> "
    for page_at, content in zip(pages_at, contents, strict=True):
        parts = " ".join(f"{parts_at[part]} 0 R" for part in content)
        painted = parts if len(content) == 1 else f"[{parts}]"
        objects[page_at - 1] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox {box} /Resources << {resources}>> "
            f"/Contents {painted} >>"
        ).encode("ascii")
    subject = f"/Subject {_string(display.desc)} " if display.desc else ""
    info = add(f"<< /Title {_string(display.title)} {subject}/Producer (transformer-diagrams) >>")
    return _assemble(objects, catalog, info)


def _assemble(objects: Sequence[bytes], catalog: int, info: int) -> bytes:
    out = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for index, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{index} 0 obj\n".encode("ascii") + body + b"\nendobj\n"
    digest = hashlib.sha256(bytes(out)).hexdigest()[:32]
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode("ascii")
    for offset in offsets:
        out += f"{offset:010d} 00000 n \n".encode("ascii")
    out += (
        f"trailer\n<< /Size {len(objects) + 1} /Root {catalog} 0 R /Info {info} 0 R "
        f"/ID [<{digest}> <{digest}>] >>\nstartxref\n{start}\n%%EOF\n"
    ).encode("ascii")
    return bytes(out)


def _string(text: str) -> str:
    """A PDF text string in UTF-16."""
    return "<" + (b"\xfe\xff" + text.encode("utf-16-be")).hex() + ">"


def _to_unicode(letters: dict[str, int]) -> str:
    pairs = [f"<{code:04x}> <{char.encode('utf-16-be').hex()}>" for char, code in letters.items()]
    blocks = [pairs[i : i + 100] for i in range(0, len(pairs), 100)]
    mapped = "\n".join(
        f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar" for block in blocks
    )
    return (
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n"
        "/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n"
        "/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n"
        "1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n"
        f"{mapped}\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    )


def word_font() -> bytes:
    """A whole TrueType font of two glyphs without outlines (OpenType 1.9, required tables)."""
    head = struct.pack(
        ">IIIIHHQQhhhhHHhhh",
        0x00010000, 0x00010000, 0, 0x5F0F3CF5, 0, _UNITS, 0, 0,
        0, -200, _ADVANCE, 800, 0, 8, 2, 0, 0,
    )  # fmt: skip
    hhea = struct.pack(
        ">IhhhHhhhhhhhhhhhH",
        0x00010000, 800, -200, 0, _ADVANCE, 0, 0, _ADVANCE, 1, 0, 0, 0, 0, 0, 0, 0, 2,
    )  # fmt: skip
    maxp = struct.pack(">IHHHHHHHHHHHHHH", 0x00010000, 2, 0, 0, 0, 0, 1, *[0] * 8)
    hmtx = struct.pack(">HhHh", _ADVANCE, 0, _ADVANCE, 0)
    post = struct.pack(">IIhhIIIII", 0x00030000, 0, -100, 50, 1, 0, 0, 0, 0)
    cmap = struct.pack(">HHHHI", 0, 1, 3, 1, 12) + struct.pack(
        ">HHHHHHHHHHHH", 4, 24, 0, 2, 2, 0, 0, 0xFFFF, 0, 0xFFFF, 1, 0
    )
    tables = {
        b"cmap": cmap, b"glyf": b"\0\0\0\0", b"head": head, b"hhea": hhea, b"hmtx": hmtx,
        b"loca": struct.pack(">HHH", 0, 0, 0), b"maxp": maxp, b"post": post,
    }  # fmt: skip

    def total(data: bytes) -> int:
        padded = data + b"\0" * (-len(data) % 4)
        words: tuple[int, ...] = struct.unpack(f">{len(padded) // 4}I", padded)
        return sum(words) & 0xFFFFFFFF

    offset = 12 + 16 * len(tables)
    directory, body = b"", b""
    for tag, data in tables.items():
        directory += struct.pack(">4sIII", tag, total(data), offset + len(body), len(data))
        body += data + b"\0" * (-len(data) % 4)
    font = struct.pack(">IHHHH", 0x00010000, len(tables), 128, 3, 0) + directory + body
    adjust = (0xB1B0AFBA - total(font)) & 0xFFFFFFFF
    at = font.index(head) + 8
    return font[:at] + struct.pack(">I", adjust) + font[at + 4 :]
