"""What only a terminal gets: colours and the live progress line."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

from chatdev.cli.console import LiveLine, layout_text, width
from chatdev.events import ModelCalled, PhaseStarted, Uttered
from tests.support.chat_server import Scripted
from tests.support.processes import running_program
from tests.support.session import draw, read_terminal
from tests.support.shop import BETTER, Shop


def on_a_terminal(shop: Shop, *arguments: str, **environment: str) -> str:
    """Everything that a terminal is sent by a command."""
    ours, theirs = pty.openpty()
    variables = {**os.environ, **shop.environment, "TERM": "xterm", "COLUMNS": "90", **environment}
    with running_program([sys.executable, "-m", "chatdev", *arguments], env=variables, stdin=subprocess.DEVNULL,
                         stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        output = b"".join(iter(lambda: read_terminal(ours), b"")).decode()
    os.close(ours)
    assert process.returncode == 0, output
    return output


def test_a_terminal_gets_colours_and_a_progress_line_that_is_cleared(shop: Shop) -> None:
    shop.replies()
    output = on_a_terminal(shop, *shop.arguments())
    assert "\x1b[36m" in output
    assert "change · round 1 · 2 calls · 24 tokens · $0.0000 · 0:0" in output
    assert output.rindex("\r\x1b[K") < output.index("success")


def test_the_clock_runs_while_a_model_thinks(shop: Shop) -> None:
    shop.replies(second=Scripted(BETTER, delay=1.3))
    output = on_a_terminal(shop, *shop.arguments())
    assert output.count("\x1b[Kchange · 1 call ") >= 2


def test_no_color_takes_the_colours_away(shop: Shop) -> None:
    shop.replies()
    output = on_a_terminal(shop, *shop.arguments(), NO_COLOR="1", TERM="dumb")
    assert "\x1b" not in output
    assert "success" in output


def test_streamed_text_is_not_wiped_by_the_progress_line(shop: Shop) -> None:
    shop.replies(second=Scripted(BETTER, drip=0.01))
    output = on_a_terminal(shop, *shop.arguments("--stream"))
    assert "print('better')" in output


def test_an_unknown_price_is_said_to_be_unknown() -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(theirs, "w") as terminal, LiveLine(terminal) as progress:
        for event in (PhaseStarted("coding#1", "coding", "about", None, "Programmer", 3),
                      Uttered("coding#1/round-2/assistant", "response", "assistant", "Programmer", "x", 2),
                      ModelCalled("coding#1/round-2/assistant", "programmer", "m", 10, 5, 1.0)):
            with progress.pause():
                progress.follow(event)
    output = b"".join(iter(lambda: read_terminal(ours), b""))
    os.close(ours)
    assert b"coding \xc2\xb7 round 2 \xc2\xb7 1 call \xc2\xb7 15 tokens \xc2\xb7 cost unknown" in output


def test_a_recorded_session_becomes_a_picture(tmp_path: Path) -> None:
    picture = draw(["run", "a to-do list"], f"\x1b[36mMaker\x1b[0m works in {Path.cwd()}/warehouse\n" + "line\n" * 200)
    assert "Maker" in picture
    assert str(Path.cwd()) not in picture
    assert "http" not in picture.replace("http://www.w3.org", "").replace("https://www.textualize.io", "")


def test_an_indentation_wider_than_the_terminal_leaves_room_for_words() -> None:
    lines = list(layout_text("\t" * 5000 + "several words of a model " * 9, everything=True))
    assert len(lines) < 20
    assert max(map(len, lines)) <= width()
