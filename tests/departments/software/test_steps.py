"""Reading steps, labels that a request names, and what a driver left behind."""

from __future__ import annotations

import struct
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.software.cases.sentences import named_buttons, named_routes
from chatdev.departments.software.drivers.step import Driven, Step, plain_png, png_of_display, read_steps
from chatdev.departments.software.drivers.texts import is_in, is_same, is_shown
from chatdev.departments.software.trial.agreed import lacking_buttons

KEYS = st.sampled_from(["press", "type", "into", "choose", "from", "reads", "title", "open", "request", "method",
                        "path", "body", "form", "status", "shows"])
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                      lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
                      max_leaves=15)


@given(VALUES)
def test_whatever_a_model_writes_is_steps_or_none(value: Any) -> None:
    for step in read_steps(value) or ():
        assert isinstance(step, Step)
        assert step.text or step.kind == "type"


@pytest.mark.parametrize(("value", "read"), [
    ({"press": "+"}, Step("press", "+")), ({"type": 5, "into": "Amount"}, Step("type", "5", "Amount")),
    ({"request": "get /a", "status": 200}, Step("request", "GET /a", status=200)),
    ({"method": "POST", "path": "/a", "shows": "x"}, Step("request", "POST /a", shows=("x",))),
    ({"press": "a", "reads": "b"}, None), ({"dance": "a"}, None), ({"request": "GET http://elsewhere/"}, None),
    ({"request": "GET /a b"}, None), ({"request": "GET /", "status": 7}, None), ("press", None), ({"press": ""}, None)])
def test_a_step_is_read_strictly(value: Any, read: Step | None) -> None:
    assert read_steps([value]) == (None if read is None else (read,))


@pytest.mark.parametrize(("request_text", "labels"), [
    ("with the buttons 0-9, +, -, *, / and =.", [*"0123456789+-*/="]),
    ("buttons for 0 to 9, + and -", [*"0123456789+-"]),
    ('It has a button labelled "Add" and a button "Clear".', ["Add", "Clear"]), ('a "Start" button', ["Start"]),
    ('Buttons: "A", "B" and "C".', ["A", "B", "C"]), ('A button "Undo" may be added.', []),
    ('After login there is a button "Out".', []), ("Buttons such as 1, 2 and 3.", []), ("ten buttons", []),
    ("buttons without borders, 3 of them", []), ('Either a button "A" or a menu.', [])])
def test_labels_are_named_where_that_is_sure(request_text: str, labels: list[str]) -> None:
    assert named_buttons(request_text) == labels


def test_routes_are_named_without_places_to_fill_in() -> None:
    text = "GET /health, then POST /items; GET /items/{id}, DELETE /items/<id> and GET /users/:id. Also GET /list."
    assert named_routes(text) == {"GET /health", "POST /items", "GET /list"}


@pytest.mark.parametrize(("names", "sources", "lacking"), [
    ([*"0123456789-*/="], {}, ["+"]), ([*"0123456789−×÷=", "＋"], {}, []), ([*"0123456789-*/=", ""], {}, []),
    ([*"0123"], {}, []), ([], {}, []), (["Log in", "Help"], {}, []), ([*"0123456789-*/=", "plus"], {}, [])])
def test_a_button_lacks_only_where_its_siblings_are_there(names: list[str], sources: Any, lacking: list[str]) -> None:
    task = "A calculator with the buttons 0-9, +, -, *, / and =."
    assert lacking_buttons(Driven((), tuple(names)), task, sources) == lacking


def test_a_single_button_lacks_only_where_no_source_holds_its_words() -> None:
    task = 'A window with a button "Greet me".'
    assert lacking_buttons(Driven((), ("Quit",)), task, {"main.py": b"text='Quit'"}) == ["Greet me"]
    assert lacking_buttons(Driven((), ("Quit",)), task, {"main.py": b"f'greet {x}'"}) == []


@pytest.mark.parametrize(("text", "shown", "holds"), [
    ("8", "8.0", True), ("8", "18", False), ("8", "-8", False), ("8.5", "= 8.50", True), ("1234", "1,234", True),
    ("Total: 8", "Total:\n8", True), ("Total: 8", "Total: 80", False), ("Total: 8", "Total: 8.5", False),
    ("milk", "Buy milk today", True), ("milk", "milkshake", False), ("MILK", "milk", True), ("", "x", False)])
def test_a_text_is_shown_as_whole_words(text: str, shown: str, holds: bool) -> None:
    assert is_in(text, shown) == holds


def test_labels_of_buttons_are_read_only_where_they_changed() -> None:
    before = [("button", "8"), ("text", "")]
    assert not is_shown("8", before, before)
    assert is_shown("8", [*before, ("text", "8")], before)
    assert is_shown("X", [("button", "X")], [("button", " ")])
    assert is_same("Amount ($):", "amount ($)")
    assert is_same("Open…", "open")


def screen(width: int, height: int, pixels: bytes, **changed: int) -> bytes:
    numbers = [100, 7, 2, 24, width, height, 0, 0, 32, 0, 32, 32, 4 * width, *[0] * 12]
    for place, value in changed.items():
        numbers[int(place.removeprefix("n"))] = value
    return struct.pack(">25I", *numbers) + pixels


def test_a_screen_becomes_a_picture_without_the_black_around() -> None:
    pixels = bytearray(4 * 4 * 3)
    pixels[4 * (4 + 1):4 * (4 + 1) + 3] = b"\x01\x02\x03"  # blue, green, red at (1, 1)
    png = png_of_display(screen(4, 3, bytes(pixels)))
    assert png is not None
    assert struct.unpack(">II", png[16:24]) == (1, 1)
    place = png.index(b"IDAT")
    length = struct.unpack(">I", png[place - 4:place])[0]
    assert zlib.decompress(png[place + 4:place + 4 + length]) == b"\0\x03\x02\x01"
    assert plain_png(png) == png


@pytest.mark.parametrize("data", [b"", b"x" * 200, screen(4, 3, b""), screen(9999, 3, b""), screen(4, 3, bytes(48)),
                                  screen(4, 3, bytes(48), n12=1), screen(4, 3, bytes(48), n19=1 << 31)])
def test_what_is_no_screen_is_no_picture(data: bytes) -> None:
    assert png_of_display(data) is None


@given(st.binary(max_size=200))
def test_whatever_is_no_png_is_none(data: bytes) -> None:
    assert plain_png(data) is None
    assert plain_png(b"\x89PNG\r\n\x1a\n" + data) is None


def test_only_the_picture_of_a_png_is_kept() -> None:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head, end = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)), chunk(b"IEND", b"")
    body = chunk(b"IDAT", zlib.compress(b"\0\1\2\3"))
    plain = b"\x89PNG\r\n\x1a\n" + head + body + end
    assert plain_png(b"\x89PNG\r\n\x1a\n" + head + chunk(b"tEXt", b"key\0words") + body + end + b"more") == plain
