"""SVG as PNG. What is handed in may be anybody's: it is checked and rendered in the child that reads what others wrote.

resvg renders it. That draws no text, and says nothing, when it has no font; so a font is named, or its lack told.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from xml.parsers import expat

from chatdev.errors import ConfigError, MissingProgram
from chatdev.isolation.isolate import isolate

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
