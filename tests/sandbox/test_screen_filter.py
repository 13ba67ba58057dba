"""What a program draws reaches the user's terminal, and nothing that acts beyond its screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.sandbox.children import ScreenFilter

ACTING = {
    "the title": b"\x1b]0;owned\x07", "the clipboard": b"\x1b]52;c;b3duZWQ=\x1b\\",
    "a link": b"\x1b]8;;file:///x\x1b\\", "a string to the terminal": b"\x1bPq;x\x1b\\",
    "an application's command": b"\x1b_Gx\x1b\\", "a message": b"\x1b^x\x1b\\", "a string": b"\x1bXx\x1b\\",
    "the title's report": b"\x1b[21t", "the window's size": b"\x1b[8;100;100t",
    "one code in two bytes": b"\xc2\x9d0;owned\xc2\x9c", "another": b"\xc2\x90x\xc2\x9c",
    "a report in two": b"\xc2\x9b21t", "a code within a code": b"\x1b\x08]0;owned\x07",
    "a bell within": b"\x1b\x07[2\x071t", "it is given up": b"\x1b]0;x\x18",
}
DRAWN = [
    b"plain \xc3\xa9\xe2\x82\xac \xf0\x9f\x91\xa9", b"\x1b[31mred\x1b[0m", b"\x1b[2J\x1b[H",
    b"\x1b[?1049h\x1b[10;20H", b"\x1b(0lqk\x1b(B", b"\r\n\t\x08\x07", b"\x1b7\x1b8\x1bM", b"\x1b[6n", b"\x1b[?2004l",
    b"\xc2\xa0\xc2\xb0"]
PARTS = [b"\x1b", b"]", b"P", b"[", b"0;x", b"\x07", b"\\", b"\xc2", b"\x9d", b"\x9c", b"t", b"a"]


def shown(*pieces: bytes) -> bytes:
    screen = ScreenFilter()
    return b"".join(screen.keep(piece) for piece in pieces)


@pytest.mark.parametrize("name", ACTING)
def test_what_acts_is_left_out_however_it_comes(name: str) -> None:
    text = b"a" + ACTING[name] + b"b"
    assert shown(text) == b"ab"
    assert shown(*(bytes([byte]) for byte in text)) == b"ab"
    for cut in range(len(text)):
        assert shown(text[:cut], text[cut:]) == b"ab"


@pytest.mark.parametrize("drawn", DRAWN)
def test_what_is_drawn_stays(drawn: bytes) -> None:
    text = drawn + b"."
    assert shown(text) == text == shown(*(bytes([byte]) for byte in text))


def test_a_string_that_another_code_ends_hides_nothing_more() -> None:
    assert shown(b"a\x1b]0;x\x1b[31mred") == b"a\x1b[31mred"
    assert shown(b"a\x1b]0;x\x1b]52;c;x\x07b") == b"ab"


@given(st.lists(st.sampled_from(PARTS), max_size=12), st.data())
def test_how_it_is_cut_changes_nothing(parts: list[bytes], data: st.DataObject) -> None:
    text = b"".join(parts) + b".."
    cut = data.draw(st.integers(0, len(text)))
    assert shown(text[:cut], text[cut:]) == shown(text)
