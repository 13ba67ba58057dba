"""Pictures of what programs show: the memory of a virtual display, and the PNG of a browser, read as strange files."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEPT = {b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"}
_MOST = 4 << 20  # bytes of a picture
_MOST_PIXELS = 4096  # wide and high
_XWD, _HEADER = 7, 25  # the version of the format (X11/XWDFile.h), and the numbers in its header


def png_of_display(data: bytes) -> bytes | None:
    """The PNG of an X window dump of 32 bits a pixel (what `Xvfb -fbdir` keeps), without the black around what is
    shown; None where it is no such dump, or all black."""
    rows = _rows_of_display(data)
    shown = [y for y, row in enumerate(rows) if row.strip(b"\0")]
    if not shown:
        return None
    rows = rows[shown[0]:shown[-1] + 1]
    left = min((len(row) - len(row.lstrip(b"\0"))) // 3 for row in rows)
    right = max(-(-len(row.rstrip(b"\0")) // 3) for row in rows)
    return _png(right - left, [row[3 * left:3 * right] for row in rows])


def _rows_of_display(data: bytes) -> list[bytes]:
    """The rows of a dump, three bytes a pixel; none where it is no such dump."""
    if len(data) < 4 * _HEADER:
        return []
    header = struct.unpack(f">{_HEADER}I", data[:4 * _HEADER])
    size, version, width, height, bits, stride, colours = (header[place] for place in (0, 1, 4, 5, 11, 12, 19))
    start = size + 12 * colours
    is_sane = 0 < width <= _MOST_PIXELS and 0 < height <= _MOST_PIXELS and stride >= 4 * width
    if version != _XWD or bits != 32 or not is_sane or len(data) < start + stride * height:
        return []
    return [_colours(data[start + y * stride:start + y * stride + 4 * width]) for y in range(height)]


def _colours(row: bytes) -> bytes:
    """Red, green and blue of pixels in the order of a display: blue, green, red, nothing."""
    found = bytearray(len(row) // 4 * 3)
    found[0::3], found[1::3], found[2::3] = row[2::4], row[1::4], row[0::4]
    return bytes(found)


def _png(width: int, rows: list[bytes]) -> bytes:
    head = struct.pack(">IIBBBBB", width, len(rows), 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + row for row in rows), 6)
    return _SIGNATURE + b"".join(_chunk(*part) for part in ((b"IHDR", head), (b"IDAT", pixels), (b"IEND", b"")))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def plain_png(data: bytes) -> bytes | None:
    """The picture alone of a PNG, without what else such a file may hold; None where it is none."""
    if len(data) > _MOST or not data.startswith(_SIGNATURE):
        return None
    chunks = list(_chunks(data))
    kinds = [kind for kind, _ in chunks]
    if not {b"IHDR", b"IDAT", b"IEND"} <= {*kinds} or not _is_head(*chunks[0]):
        return None
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks if kind in _KEPT)


def _is_head(kind: bytes, content: bytes) -> bool:
    return kind == b"IHDR" and len(content) == 13 and all(
        0 < side <= _MOST_PIXELS for side in struct.unpack(">II", content[:8]))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and content of each whole chunk, up to the end of the picture."""
    place = len(_SIGNATURE)
    while place + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[place:place + 8])
        content = data[place + 8:place + 8 + length]
        place += 12 + length
        if place > len(data):
            return
        yield kind, content
        if kind == b"IEND":
            return
