from __future__ import annotations

import importlib.util
import io
from pathlib import Path

import pytest
from PIL import Image

from chatdev.errors import ConfigError, MissingProgram
from chatdev.runner import raster
from chatdev.runner.raster import LARGEST, find_font, rasterise

_HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="200" height="100">'


def _svg(inside: str, head: str = _HEAD) -> bytes:
    return f"{head}{inside}</svg>".encode()


def _colours(png: bytes) -> set[tuple[int, ...]]:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return {colour for _, colour in image.getcolors(1 << 20) or []}  # type: ignore[misc]  # of three numbers each


def test_an_svg_becomes_a_png_on_white() -> None:
    png = rasterise(_svg('<rect width="50" height="50" fill="#f00"/>'))
    assert Image.open(io.BytesIO(png)).size == (200, 100)
    assert _colours(png) == {(255, 255, 255), (255, 0, 0)}


@pytest.mark.parametrize("family", ["DejaVu Sans", "Helvetica", "No Such Font"])
def test_text_is_drawn_whatever_font_it_asks_for(family: str) -> None:
    png = rasterise(_svg(f'<text x="10" y="60" font-family="{family}" font-size="40">Gain</text>'), system_fonts=False)
    assert (0, 0, 0) in _colours(png)


@pytest.mark.parametrize(("inside", "said"), [
    ('<image href="/etc/hostname" width="9" height="9"/>', "another file"),
    ('<image xlink:href="file:///etc/hostname" width="9" height="9"/>', "another file"),
    ('<image href="https://example.org/a.png" width="9" height="9"/>', "another file"),
    ('<image href="data:image/svg+xml;base64,PHN2Zy8+" width="9" height="9"/>', "another file"),
    ('<use href="other.svg#a"/>', "another file"),
    ('<rect style="fill:url(other.svg#a)" width="9" height="9"/>', "another file"),
    ("<style>@import 'other.css';</style>", "style names another file"),
    ("<g>" * 150 + "</g>" * 150, "in each other"),
    ("<rect>", "no SVG"),
])
def test_what_reaches_beyond_an_svg_is_refused(inside: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        rasterise(_svg(inside))


@pytest.mark.parametrize(("svg", "said"), [
    (b"", "no SVG"), (b"\x89PNG\r\n", "UTF-8"), (b"\x1f\x8b\x08", "gunzip"), (b"<html/>", "begins with <html>"),
    (b'<!DOCTYPE svg [<!ENTITY a "b">]>' + _svg("&a;"), "entities"),
    (b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/hostname">]>' + _svg("&a;"), "entities"),
    (_svg("", _HEAD.replace('"200"', '"0"')), "no size"), (_svg("", _HEAD.replace('"200"', '"1e999"')), "no size"),
    (_svg(" " * (raster.LONGEST + 1)), "MiB"), (_svg("<a/>" * 200_001), "elements"),
])
def test_what_is_no_harmless_svg_is_refused(svg: bytes, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        rasterise(svg)


@pytest.mark.parametrize(("width", "pixels"), [("72pt", 96), ("25.4mm", 96), ("1in", 96), ("2.54cm", 96), ("6pc", 96)])
def test_sizes_in_units_of_length_are_those_of_css(width: str, pixels: int) -> None:
    assert Image.open(io.BytesIO(rasterise(_svg("", _HEAD.replace('"200"', f'"{width}"'))))).width == pixels


def test_a_huge_picture_is_made_smaller() -> None:
    png = rasterise(_svg("", _HEAD.replace('"200"', '"9000mm"')))
    assert Image.open(io.BytesIO(png)).width == LARGEST


def test_what_takes_too_long_or_too_much_ends_the_child_alone() -> None:
    """Each `use` doubles what is drawn; twelve of them are harmless, forty would never end."""
    doubled = "".join(f'<g id="a{n + 1}"><use href="#a{n}"/><use href="#a{n}"/></g>' for n in range(40))
    with pytest.raises(ConfigError, match="than it may|cannot be rendered|crash"):
        rasterise(_svg(f'<defs><rect id="a0" width="9" height="9"/>{doubled}</defs><use href="#a40"/>'))
    assert rasterise(_svg("<circle r='9'/>"))


def test_a_document_type_without_entities_is_nothing_to_fear() -> None:
    kind = b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    assert rasterise(kind + _svg('<a href="https://example.org"><rect width="9" height="9"/></a>'))


def test_a_font_is_found_without_matplotlib_or_its_lack_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(raster, "_FOLDERS", (str(tmp_path),))
    with pytest.raises(MissingProgram, match="pip install matplotlib"):
        find_font()
    (tmp_path / "truetype").mkdir()
    (tmp_path / "truetype" / "arial.ttf").write_bytes(b"")
    assert find_font().name == "arial.ttf"
