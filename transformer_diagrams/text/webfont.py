"""Fonts to embed in pages and figures: the glyphs of some characters, in the form for the web."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence


def subset(path: str, characters: Iterable[str], features: Sequence[str] = ()) -> bytes:
    """A WOFF file with the glyphs of ``characters``, and the OpenType features named (the
    usual ones when none is)."""
    import uharfbuzz as hb

    wish = hb.SubsetInput()
    for code in sorted({ord(c) for c in characters}):
        wish.unicode_set.add(code)
    wish.flags = hb.SubsetFlags.NO_HINTING
    if features:
        wish.layout_feature_tag_set.clear()
    for tag in features:
        wish.layout_feature_tag_set.add(int.from_bytes(tag.encode(), "big"))
    face = hb.Face(hb.Blob.from_file_path(path))
    return woff(hb.subset(face, wish).blob.data)


def woff(font: bytes) -> bytes:
    """A TrueType file in the compressed form for pages (WOFF 1.0, W3C 2012)."""
    flavor, count = struct.unpack(">IH", font[:6])
    tables = [struct.unpack(">4sIII", font[12 + 16 * i :][:16]) for i in range(count)]
    offset = 44 + 20 * count
    directory, body, total = b"", b"", 12 + 16 * count
    for tag, check, start, length in sorted(tables):
        data = font[start : start + length]
        packed = zlib.compress(data, 9)
        if len(packed) >= length:
            packed = data
        directory += struct.pack(">4sIIII", tag, offset + len(body), len(packed), length, check)
        body += packed + b"\0" * (-len(packed) % 4)
        total += (length + 3) & ~3
    size = offset + len(body)
    head = struct.pack(
        ">4sIIHHIHHIIIII", b"wOFF", flavor, size, count, 0, total, 1, 0, 0, 0, 0, 0, 0
    )
    return head + directory + body
