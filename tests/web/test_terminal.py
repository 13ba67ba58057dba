"""The software of a run, played in the browser at a terminal that the server draws."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playwright.sync_api import Page
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from chatdev.web.launch import MOST_PLAYED, Play, Screen
from tests.mcp.stage import ended
from tests.support.pages import violations
from tests.support.viewer import Viewer, long_run, write_journal

ASKS = r"""
print("\x1b[1;32mHello\x1b[0m <script>alert(1)</script> \x1b]0;a title\x07\x1b[38;5;208morange\x1b[0m")
while (name := input("name? ")) != "quit":
    print("Hi", name)
raise SystemExit(3)
"""


def drawn(*pieces: str, size: tuple[int, int] = (20, 5)) -> dict[str, Any]:
    screen = Screen(*size)
    for piece in pieces:
        screen.feed(piece.encode())
    return screen.frame()


def test_lines_have_texts_and_looks() -> None:
    frame = drawn("a \x1b[1;31mred\x1b[0m\r\n\x1b[7mback\x1b[0m")
    assert frame["lines"][0][:2] == [["a ", ""], ["red", "fg-red bold"]]
    assert frame["lines"][1][0] == ["back", "fg-paper bg-ink"]
    assert frame["cursor"] == [4, 1]


def test_only_lines_that_changed_are_sent() -> None:
    screen = Screen()
    screen.feed(b"one\r\ntwo")
    assert set(screen.frame()["lines"]) == set(range(24))
    screen.feed(b"!")
    assert screen.frame()["lines"] == {1: [["two!", ""]]}
    assert screen.frame()["lines"] == {}


def test_a_program_does_not_decide_the_size() -> None:
    frame = drawn("\x1b[?3h\x1b[8;90;300t" + "x" * 50)
    assert max(frame["lines"]) < 5
    assert all(sum(len(text) for text, _ in line) <= 20 for line in frame["lines"].values())


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=60), st.sampled_from([
    b"\x1b[", b"\x1b]", b"\x1b[?", b";", b"9999", b"m", b"H", b"J", b"K", b"L", b"M", b"@", b"r", b"\x1b(0", b"\x1bc",
    b"\xff", "漢".encode(), "\u202e".encode(), b"\r\n", b"\x1b[38;5;", b"\x1b[48;2;1;2;3m"])), max_size=30))
def test_whatever_is_written_is_a_screen(pieces: list[bytes]) -> None:
    screen = Screen(20, 5)
    for piece in pieces:
        screen.feed(piece)
    frame = json.loads(json.dumps(screen.frame()))
    assert all(0 <= int(number) < 5 for number in frame["lines"])
    texts = "".join(text for line in frame["lines"].values() for text, _ in line)
    assert not set(texts) & {"\x1b", "\x07", "\u202e", "\x00"}


def test_a_program_that_does_not_end_is_killed_with_what_it_started(tmp_path: Path) -> None:
    child = tmp_path / "child"
    program = ("import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
               "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(99)']); "
               f"open({str(child)!r}, 'w').write(str(child.pid)); print('on', flush=True); time.sleep(99)")
    play = Play.start([sys.executable, "-c", program], 80, 24)
    while b"on" not in (play.read() or b""):
        time.sleep(0.05)
    assert play.end(0.0) == -9
    assert ended(child)


@pytest.fixture(scope="module")
def asking(root: Path) -> str:
    """A run whose software asks for names."""
    folder = write_journal(root / "Asks", long_run(60))
    (folder / "software" / "main.py").write_text(ASKS)
    return "Asks"


@contextmanager
def played(viewer: Viewer, run: str, *, origin: str | None = None,
           cookie: str | None = None) -> Iterator[ClientConnection]:
    here = f"127.0.0.1:{viewer.port}"
    with connect(f"ws://{here}/api/play?run={run}", origin=Origin(origin or f"http://{here}"),
                 additional_headers={"Cookie": viewer.cookie if cookie is None else cookie}) as socket:
        yield socket


def text_until(socket: ClientConnection, wanted: str) -> str:
    lines: dict[str, str] = {}
    while wanted not in "\n".join(lines.values()):
        frame = json.loads(socket.recv(timeout=20))
        lines |= {number: "".join(text for text, _ in line) for number, line in frame.get("lines", {}).items()}
    return "\n".join(lines.values())


@pytest.mark.tool
def test_keys_go_to_the_program_and_its_status_comes_back(viewer: Viewer, asking: str) -> None:
    with played(viewer, asking) as socket:
        text_until(socket, "name?")
        socket.send(json.dumps({"size": [100, 30]}))
        socket.send(json.dumps({"keys": "Ann\r"}))
        text_until(socket, "Hi Ann")
        socket.send(json.dumps({"keys": "quit\r"}))
        while "ended" not in (frame := json.loads(socket.recv(timeout=20))):
            pass
        assert frame["ended"] == 3


@pytest.mark.parametrize("message", ["no JSON", "[]", '{"keys": 7, "size": [1e9, "x"]}', '{"size": [-5, 99999999]}'])
def test_an_odd_message_ends_no_server(viewer: Viewer, asking: str, message: str) -> None:
    with played(viewer, asking) as socket:
        socket.send(message)
    assert viewer.get("/api/about").status == 200


@pytest.mark.parametrize(("origin", "cookie"), [("http://elsewhere.example", None), (None, "")])
def test_a_foreign_page_and_a_missing_cookie_play_nothing(viewer: Viewer, asking: str, origin: str | None,
                                                          cookie: str | None) -> None:
    with pytest.raises(InvalidStatus) as refused, played(viewer, asking, origin=origin, cookie=cookie):
        pass
    assert refused.value.response.status_code == 403


def test_a_run_that_is_not_there_is_not_played(viewer: Viewer) -> None:
    with pytest.raises((InvalidStatus, ConnectionClosed)), played(viewer, "../../etc") as socket:
        socket.recv(timeout=5)


@pytest.mark.tool
def test_so_many_programs_are_played_at_once(viewer: Viewer, asking: str) -> None:
    with ExitStack() as stack:
        begun = 0
        while begun < MOST_PLAYED:
            try:
                text_until(stack.enter_context(played(viewer, asking)), "name?")
                begun += 1
            except ConnectionClosed:  # those of other tests are still ending
                time.sleep(0.2)
        with pytest.raises(ConnectionClosed) as closed, played(viewer, asking) as socket:
            socket.recv(timeout=10)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4429


@pytest.mark.tool
def test_a_program_is_played_in_the_browser(page: Page, viewer: Viewer, asking: str) -> None:
    page.goto(f"http://127.0.0.1:{viewer.port}/run/{asking}")
    page.get_by_role("tab", name="Try it").click()
    page.get_by_role("button", name="Start the program").click()
    page.get_by_text("name?").first.wait_for()
    page.keyboard.type("Ann")
    page.keyboard.press("Enter")
    page.get_by_text("Hi Ann").wait_for()
    assert page.get_by_text("<script>alert(1)</script>").is_visible()
    assert page.locator(".fg-green.bold").first.inner_text() == "Hello"
    assert violations(page) == []
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.className") != "screen"
    page.get_by_role("textbox", name="Terminal").focus()
    page.keyboard.type("quit")
    page.keyboard.press("Enter")
    page.get_by_text("It has ended with status 3.").wait_for()
