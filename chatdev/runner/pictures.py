"""Pictures that a user hands in, checked before a model is paid to look at them: what kind a file is says its content,
which must be whole. A drawing (SVG), which no model takes, becomes a picture.

Formats: PNG (ISO/IEC 15948), JPEG (ITU-T T.81), GIF89a, WebP (RFC 9649).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path

from chatdev.errors import ConfigError, MissingProgram
from chatdev.llm.base import Image
from chatdev.plain_file import read_named
from chatdev.runner.raster import rasterise

LARGEST = 20 << 20
"""Bytes of a picture; model servers refuse larger ones."""
_MEDIA_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif",
                ".webp": "image/webp"}
_SVG = ".svg"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class DamagedPicture(ValueError):
    """Fault of a picture's content, in words."""


def read_picture(name: str, given: bytes | Path) -> Image:
    """The picture of the input `name`, from its file or its bytes. Raises ConfigError for what no model can look at."""
    what, ending = (given.name, given.suffix.lower()) if isinstance(given, Path) else ("the picture", "")
    try:
        if isinstance(given, Path) and ending not in (*_MEDIA_TYPES, _SVG):
            raise DamagedPicture(f"it is not an image of a known kind; give one of: {', '.join((*_MEDIA_TYPES, _SVG))}")
        data = given if isinstance(given, bytes) else _read(name, given)
        if len(data) > LARGEST:
            raise DamagedPicture(f"it is larger than {LARGEST >> 20} MiB, which no model takes; save it smaller")
        if ending == _SVG or (not ending and _is_drawing(data)):
            return Image(_draw(data), "image/png")
        return Image(data, _kind_of(data, _MEDIA_TYPES.get(ending)))
    except DamagedPicture as problem:
        raise ConfigError(f"input {name!r}: {what}: {problem}") from None


def _read(name: str, path: Path) -> bytes:
    try:
        return read_named(path, LARGEST)
    except OSError as error:
        raise ConfigError(f"input {name!r}: cannot read {path}: {error.strerror}") from error


def _word(media_type: str | None) -> str:
    return str(media_type).removeprefix("image/").upper().replace("WEBP", "WebP")


def _kind_of(data: bytes, wanted: str | None) -> str:
    """The media type by the content, which is the one wanted. Raises DamagedPicture."""
    kind = _kind_by_content(data)
    if wanted not in (None, kind):
        raise DamagedPicture(f"it is no {_word(wanted)}, but a {_word(kind)} by its content; name it so")
    return kind


def _kind_by_content(data: bytes) -> str:
    if not data:
        raise DamagedPicture("it is empty; give a picture")
    if data.startswith(_SIGNATURE):
        _check_png(data)
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        _check(b"\xff\xd9" in data[len(data) // 2:])  # what follows the end of the image is of no matter
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        _check(len(data) > 13 and data.rstrip(b"\0").endswith(b";"))
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        _check(len(data) >= int.from_bytes(data[4:8], "little") + 8)
        return "image/webp"
    raise DamagedPicture("it is not a picture: it begins as no PNG, JPEG, GIF or WebP does; give one of them")


def _check(whole: bool) -> None:
    if not whole:
        raise DamagedPicture("it is damaged: its end is missing; save or copy it anew")


def _check_png(data: bytes) -> None:
    """Raises DamagedPicture unless it is a header, pixels and an end, with right check sums."""
    kinds = []
    for kind, content, checksum in _chunks(data):
        if zlib.crc32(kind + content) != checksum:
            raise DamagedPicture("it is damaged: a check sum of it is wrong; save or copy it anew")
        kinds.append(kind)
        if kind == b"IHDR" and not (int.from_bytes(content[:4], "big") and int.from_bytes(content[4:8], "big")):
            raise DamagedPicture("it has no pixels; give another picture")
    _check(kinds[:1] == [b"IHDR"] and b"IDAT" in kinds and kinds[-1] == b"IEND")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """Kind, content and check sum of the whole chunks."""
    at = len(_SIGNATURE)
    while at + 12 <= len(data):
        end = at + 8 + int.from_bytes(data[at:at + 4], "big")
        yield data[at + 4:at + 8], data[at + 8:end], int.from_bytes(data[end:end + 4], "big")
        if data[at + 4:at + 8] == b"IEND":
            return
        at = end + 4


def _is_drawing(data: bytes) -> bool:
    return data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"<" and b"<svg" in data[:4096]


def _draw(data: bytes) -> bytes:
    """The drawing as a PNG. Raises DamagedPicture."""
    try:
        return rasterise(data)
    except (ConfigError, MissingProgram) as problem:
        raise DamagedPicture(str(problem)) from None
