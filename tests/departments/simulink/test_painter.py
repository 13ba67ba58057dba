from __future__ import annotations

import io
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from PIL import Image

from chatdev.departments.simulink import layout
from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.frames import frames_of
from chatdev.departments.simulink.layout import arrange
from chatdev.departments.simulink.painter import draw, draw_png, paint
from chatdev.departments.simulink.symbols import SYMBOLS, clean, face_of, shorten, text_width, wrap
from chatdev.runner.raster import find_font, rasterise
from tests.departments.simulink.geometry import random_model
from tests.departments.simulink.letters import LabelReader

MODELS = sorted(path for path in (Path(layout.__file__).parent / "models").glob("*.yaml") if path.stem != "index")
_HOSTILE = ["<script>alert(1)</script>", "</text></svg>", "&amp;&lt;", '" onload="x', "]]>", "a\x00b\x1b[31m",
            "\u202egnp.exe",
            "\ud800", "x" * 10_000, "ab " * 4000, "\n\n\t", "{Gain}", "%s", "漢字 模型", "\ufeff", "\ufffe"]


def _texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def _alone(type_name: str, **parameters: str) -> Diagram:
    return Diagram("m", {"Block": DiagramBlock(type_name, parameters)})


@pytest.fixture(scope="module")
def reader() -> LabelReader:
    return LabelReader()


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_name_in_the_picture_of_a_model_can_be_read(path: Path, reader: LabelReader) -> None:
    assert reader.misread(arrange(Diagram.read(path))) == []


@pytest.mark.parametrize("path", MODELS[::7], ids=lambda path: path.stem)
def test_the_same_model_gives_the_same_picture(path: Path) -> None:
    model = Diagram.read(path)
    assert draw(model) == draw(Diagram.parse(model.text(), "again"))
    assert draw_png(model) == draw_png(model)


@pytest.mark.parametrize("type_name", sorted(catalogue().types))
def test_each_type_of_the_catalogue_has_a_picture(type_name: str) -> None:
    svg = draw(_alone(type_name))
    assert "Block" in _texts(svg)
    assert len(ElementTree.fromstring(svg).findall(".//{*}g/*")) > 2


@pytest.mark.parametrize(("type_name", "parameters", "shown"), [
    ("Gain", {"Gain": "2.5"}, ["2.5"]),
    ("Transfer Fcn", {"Numerator": "[1 0]", "Denominator": "[1 -2.5 0 4]"}, ["s", "s³-2.5s²+4"]),
    ("Transfer Fcn", {"Numerator": "[K]", "Denominator": "[T 1]"}, ["[K]", "[T 1]"]),
    ("Zero-Pole", {"Zeros": "[]", "Poles": "[0 -1]"}, ["1", "s(s+1)"]),
    ("Math Function", {"Operator": "square"}, ["u²"]), ("Math Function", {"Operator": "reciprocal"}, ["1", "u"]),
    ("Relational Operator", {"Operator": "<="}, ["≤"]), ("Logical Operator", {"Operator": "NAND"}, ["NAND"]),
    ("Sum", {"Inputs": "|+-"}, ["+", "−"]), ("Product", {"Inputs": "*/"}, ["×", "÷"]),
    ("Goto", {"GotoTag": "V"}, ["[V]"]), ("In1", {"Port": "3"}, ["3"]), ("Constant", {"Value": "-7"}, ["-7"]),
    ("Integrator", {}, ["1", "s"]), ("Warp Drive", {}, ["Warp Drive"])])
def test_a_block_shows_what_its_parameters_say(type_name: str, parameters: dict[str, str], shown: list[str]) -> None:
    texts = _texts(draw(_alone(type_name, **parameters)))
    assert set(shown) <= set(texts)


@pytest.mark.parametrize("text", _HOSTILE, ids=ascii)
def test_names_and_values_are_text_and_never_markup(text: str) -> None:
    try:
        model = Diagram(text, {text: DiagramBlock("Gain", {"Gain": text}), "B": DiagramBlock(text)},
                        (Wire(End(text, "1"), End("B", "7")), Wire(End("B", "Port"), End(text, "1"))))
    except ValueError:
        model = _alone(clean(text) or "x", Gain=clean(text))  # a model refuses it; without what is not seen it may pass
    svg = draw(model)
    root = ElementTree.fromstring(svg.encode())
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        "svg", "title", "desc", "rect", "g", "polyline", "polygon", "circle", "ellipse", "path", "text"}
    assert not any(name.startswith("on") for element in root.iter() for name in element.attrib)
    assert not {"\x00", "\x1b", "\u202e", "\ufeff"} & set(svg)
    assert rasterise(svg.encode())


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60), st.text(max_size=40), st.sampled_from(sorted(SYMBOLS)))
def test_any_text_makes_a_picture_that_can_be_parsed(name: str, value: str, type_name: str) -> None:
    keys = ["Value", "Gain", "Inputs", "Operator", "GotoTag", "Numerator", "Orientation", "Ports", "Outputs"]
    try:
        model = Diagram("m", {name: DiagramBlock(type_name, dict.fromkeys(keys, value))})
    except ValueError:
        reject()
    ElementTree.fromstring(draw(model).encode())


def test_a_shortened_name_is_whole_in_the_title() -> None:
    name = "A Rather Long Name Of A Block That Nobody Would Want To Read In A Picture"
    svg = draw(Diagram("m", {name: DiagramBlock("Gain")}))
    assert any("…" in text for text in _texts(svg))
    assert f"{name} (Gain)" in svg


def test_a_lost_wire_is_dashed_and_told() -> None:
    blocks = {"A": DiagramBlock("Constant", {}, (0, 0, 30, 30)), "B": DiagramBlock("Scope", {}, (10, 10, 60, 60))}
    model = Diagram("m", blocks, (Wire(End("A", "1"), End("B", "1")),))
    svg = draw(model)
    assert "stroke-dasharray" in svg
    assert "no way is free for the wire from A/1 to B/1" in svg


@pytest.mark.parametrize(("orientation", "way"), [
    ("right", (1, 0)), ("left", (-1, 0)), ("up", (0, -1)), ("down", (0, 1))])
def test_a_turned_block_has_its_front_there(orientation: str, way: tuple[int, int]) -> None:
    frame = frames_of(_alone("Gain", Orientation=orientation))["Block"]
    assert [terminal.way for terminal in frame.terminals if terminal.role == "out"] == [way]
    assert [terminal.way for terminal in frame.terminals if terminal.role == "in"] == [(-way[0], -way[1])]


def test_physical_wires_have_the_colour_of_their_domain() -> None:
    model = Diagram("m", {"R": DiagramBlock("Resistor"), "C": DiagramBlock("Capacitor")},
                    (Wire(End("R", "RConn1"), End("C", "LConn1")),))
    assert 'stroke="#0b3fa8"' in draw(model)


def test_widths_are_no_less_than_those_of_the_font() -> None:
    from PIL import ImageFont

    font = ImageFont.truetype(str(find_font()), 100)
    for letter in map(chr, range(33, 127)):
        assert text_width(letter, 100) >= font.getlength(letter) - 2, letter


def test_lines_fit_and_say_where_they_are_cut() -> None:
    assert clean(" a\n b\u202e\x00 ") == "a b"
    assert wrap("one two three", 10, 60, 2) == ["one two", "three"]
    assert all(text_width(line, 10) <= 50 for line in wrap("word " * 50, 10, 50, 2))
    assert shorten("short", 10, 100) == "short"
    assert shorten("x" * 50, 10, 50).endswith("…")


@pytest.mark.parametrize("seed", range(0, 50, 5))
def test_a_picture_holds_all_that_is_in_it(seed: int) -> None:
    picture = arrange(random_model(seed))
    root = ElementTree.fromstring(paint(picture).encode())
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    for frame in picture.frames.values():
        for box in (frame.box, frame.room):
            assert left <= box.left <= box.right <= left + width
            assert top <= box.top <= box.bottom <= top + height


def test_a_png_is_larger_by_its_scale_and_not_blank() -> None:
    model = _alone("Gain")
    one, two = (Image.open(io.BytesIO(draw_png(model, scale))) for scale in (1.0, 2.0))
    assert math.isclose(two.width, 2 * one.width, abs_tol=1)
    assert len(np.unique(np.asarray(one.convert("L")))) > 10


def test_a_face_asks_for_the_room_of_its_text() -> None:
    assert face_of("Constant", {"Value": "123456789"}).size[0] > face_of("Constant", {"Value": "1"}).size[0]
