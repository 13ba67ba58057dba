"""Pictures that a user hands in, checked before a model is paid to look at them: what kind a file is says its content,
which must be whole. A drawing (SVG), which no model takes, becomes a PNG in the child that reads what others wrote.

Formats: PNG (ISO/IEC 15948), JPEG (ITU-T T.81), GIF89a, WebP (RFC 9649). resvg renders drawings. It draws no text, and
says nothing, when it has no font; so a font is named, or its lack told.
"""

from __future__ import annotations

import importlib.util
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from chatdev.errors import ConfigError, MissingProgram
from chatdev.isolation.isolate import isolate
from chatdev.llm.base import Image
from chatdev.paths import read_named

LONGEST = 20 << 20
"""Bytes of an SVG; longer ones are refused."""
LARGEST = 4096
"""Pixels of a PNG's side; larger pictures are made smaller."""
_DEEPEST, _MOST_ELEMENTS = 100, 200_000
_DPI = 96  # without it, lengths in mm and pt are nothing to resvg
_FAMILY, _FONT = "DejaVu Sans", "DejaVuSans.ttf"
_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts", "/System/Library/Fonts/Supplemental",
            "C:/Windows/Fonts")
_OTHERS = (_FONT, "Verdana.ttf", "verdana.ttf", "Arial.ttf", "arial.ttf", "LiberationSans-Regular.ttf",
           "NotoSans-Regular.ttf", "FreeSans.ttf")
_INSIDE = re.compile(r"#|data:image/(png|jpe?g|gif|webp)[;,]", re.IGNORECASE)
_LINK = re.compile(r"""url\(\s*['"]?\s*(?!['"#\s])|@import|image-set|\\""", re.IGNORECASE)
_LENGTH = re.compile(r"\s*([\d.]+(?:e[+-]?\d+)?)\s*(px|pt|pc|mm|cm|in)?\s*", re.IGNORECASE)
_UNITS = {"": 1, "px": 1, "pt": 4 / 3, "pc": 16, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96}
_UNSAID = (300.0, 150.0)


@isolate(ConfigError, MissingProgram)
def rasterise(svg: bytes, scale: float | int = 1.0, system_fonts: bool = True) -> bytes:
    """The picture as PNG on white, `scale` pixels for each of its own. Raises ConfigError for what is no SVG, names
    other files, or takes more than a picture may; MissingProgram without a renderer or a font."""
    try:
        import resvg_py
    except ImportError:
        raise MissingProgram("an SVG as PNG needs resvg; pip install resvg_py") from None
    font = find_font()
    text, (width, height) = read_svg(svg)
    zoom = min(scale, LARGEST / max(width, height))
    try:
        return bytes(resvg_py.svg_to_bytes(
            svg_string=text, zoom=zoom, dpi=_DPI, background="#ffffff", font_files=[str(font)],
            skip_system_fonts=not system_fonts, font_family=_FAMILY, serif_family=_FAMILY, sans_serif_family=_FAMILY,
            monospace_family=_FAMILY))
    except ValueError as error:
        raise ConfigError(f"the SVG cannot be rendered ({error}); export it anew, or hand in a PNG") from None


def find_font() -> Path:
    """A font for the pictures: the one that comes with matplotlib, else one of the system's. Raises MissingProgram."""
    package = importlib.util.find_spec("matplotlib")
    if package and package.origin:
        font = Path(package.origin).parent / "mpl-data" / "fonts" / "ttf" / _FONT
        if font.is_file():
            return font
    for folder in map(Path, _FOLDERS):
        for name in _OTHERS:
            if found := next(iter(sorted(folder.rglob(name))), None) if folder.is_dir() else None:
                return found
    raise MissingProgram("PNG pictures need a font, and none is found; pip install matplotlib (it brings DejaVu Sans), "
                         f"or install one of {', '.join(_OTHERS)}")


def read_svg(svg: bytes) -> tuple[str, tuple[float, float]]:
    """The text of a harmless SVG, and its size in pixels. Raises ConfigError, as `rasterise` does."""
    if len(svg) > LONGEST:
        raise ConfigError(f"the SVG has {len(svg) >> 20} MiB, more than {LONGEST >> 20}; hand in a PNG of it")
    if svg[:2] == b"\x1f\x8b":
        raise ConfigError("the SVG is compressed (svgz); unpack it (gunzip)")
    try:
        text = svg.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError("the SVG is not in UTF-8; save it as plain SVG") from None
    walk = _Walk()
    try:
        walk.parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        raise ConfigError(f"this is no SVG: {error}") from None
    return text, walk.size


class _Walk:
    """Walks through an SVG, refuses what reaches beyond it, and keeps its size. Raises ConfigError."""

    def __init__(self) -> None:
        self.size = (0.0, 0.0)
        self._depth = self._elements = 0
        self._styles: list[str] = []
        self.parser = expat.ParserCreate("utf-8", "}")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._styles.append
        self.parser.EntityDeclHandler = self._entity

    def _entity(self, *_: object) -> None:
        raise ConfigError("the SVG declares entities; save it as plain SVG")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        plain = name.rpartition("}")[2]
        self._styles.clear()
        self._depth += 1
        self._elements += 1
        if self._depth > _DEEPEST or self._elements > _MOST_ELEMENTS:
            raise ConfigError(f"the SVG has more than {_MOST_ELEMENTS} elements, or more than {_DEEPEST} in each "
                              "other; hand in a PNG of it")
        if self._depth == 1:
            if plain != "svg":
                raise ConfigError(f"this is no SVG: it begins with <{plain[:40]}>")
            self.size = _size(attributes)
        for key, value in attributes.items():
            is_link = key.rpartition("}")[2] in ("href", "src")
            if (is_link and plain != "a" and not _INSIDE.match(value.strip())) or _LINK.search(value):
                raise ConfigError(f"the SVG names another file ({value.strip()[:80]!r} in <{plain[:40]}>); embed it, "
                                  "or hand in a PNG")

    def _end(self, name: str) -> None:
        self._depth -= 1
        if name.rpartition("}")[2] == "style" and _LINK.search("".join(self._styles)):
            raise ConfigError("the SVG's style names another file; save it as plain SVG")
        self._styles.clear()


def _size(attributes: dict[str, str]) -> tuple[float, float]:
    box = [float(part) for part in re.findall(r"-?[\d.]+(?:e[+-]?\d+)?", attributes.get("viewBox", ""))
           if re.fullmatch(r"-?\d*\.?\d*(e[+-]?\d+)?", part) and part.strip("-.")]
    natural = (box[2], box[3]) if len(box) == 4 else _UNSAID
    sides = [_pixels(attributes.get(name), side) for name, side in zip(("width", "height"), natural, strict=True)]
    if not all(0 < side < float("inf") for side in sides):
        raise ConfigError("the SVG has no size; give it a width and a height, or a viewBox")
    return sides[0], sides[1]


def _pixels(given: str | None, otherwise: float) -> float:
    found = _LENGTH.fullmatch(given or "")
    try:
        return float(found[1]) * _UNITS[(found[2] or "").lower()] if found else otherwise
    except ValueError:
        return otherwise


# Pictures that a user hands in, checked before a model is paid to look at them: what kind a file is says its
# content, which must be whole. A drawing (SVG), which no model takes, becomes a picture.

LARGEST_FILE = 20 << 20
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
        if len(data) > LARGEST_FILE:
            raise DamagedPicture(f"it is larger than {LARGEST_FILE >> 20} MiB, which no model takes; save it smaller")
        if ending == _SVG or (not ending and _is_drawing(data)):
            return Image(_draw(data), "image/png")
        return Image(data, _kind_of(data, _MEDIA_TYPES.get(ending)))
    except DamagedPicture as problem:
        raise ConfigError(f"input {name!r}: {what}: {problem}") from None


def _read(name: str, path: Path) -> bytes:
    try:
        return read_named(path, LARGEST_FILE)
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
