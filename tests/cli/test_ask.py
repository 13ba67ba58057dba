"""`--install ask` at a real terminal."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.engine.studio import WRITE, Studio, program
from tests.support.copies import start_module
from tests.support.session import read_terminal
from tests.support.shop import Shop
from tests.support.wheels import PackageIndex, set_pip

pytestmark = pytest.mark.tool

QUESTION = b"Install the package made_up_a, which the program imports? [y/N] "
REPLY = "<SOLUTION>\n" + program("import made_up_a") + "\nrequirements.txt\n```\nmade_up_a\n```\n"


@pytest.fixture
def shop(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A shop that writes and runs a program that needs a package."""
    with PackageIndex() as index:
        set_pip(index.url, monkeypatch)
        index.add("made_up_a")
        Studio(shop.folder, shop.server).company(
            {"write": WRITE}, [{"phase": "write"}, {"tool": "software.run", "writes": "test"}], success="test.passed")
        shop.server.route(lambda _: REPLY)
        yield shop


@contextmanager
def terminal(shop: Shop) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The command at a terminal, up to its question."""
    ours, theirs = pty.openpty()
    with start_module("chatdev", *shop.arguments("--install", "ask"), stdin=theirs, stdout=theirs, stderr=theirs,
                      env={**os.environ, **shop.environment, "TERM": "xterm", "COLUMNS": "90"}) as process:
        os.close(theirs)
        said = b""
        while QUESTION not in said and (more := read_terminal(ours)):
            said += more
        assert QUESTION in said, said.decode()
        yield process, ours
        while read_terminal(ours):
            pass
    os.close(ours)


@pytest.mark.parametrize(("typed", "status"), [(b"y\n", 0), (b"YES\n", 0), (b"n\n", 1), (b"\n", 1), (b"\x04", 1)])
def test_yes_installs_and_anything_else_does_not(shop: Shop, typed: bytes, status: int) -> None:
    with terminal(shop) as (process, keyboard):
        os.write(keyboard, typed)
    assert process.returncode == status


def test_the_question_stays_where_it_is_until_it_is_answered(shop: Shop) -> None:
    with terminal(shop) as (process, keyboard):
        time.sleep(1.5)  # the progress line is written every second
        os.set_blocking(keyboard, False)
        with pytest.raises(BlockingIOError):
            os.read(keyboard, 1)
        os.set_blocking(keyboard, True)
        os.write(keyboard, b"y\n")
    assert process.returncode == 0


def test_ctrl_c_at_the_question_ends_the_run(shop: Shop) -> None:
    with terminal(shop) as (process, _):
        stopped = time.monotonic()
        process.send_signal(signal.SIGINT)
    assert process.returncode == 130
    assert time.monotonic() - stopped < 8


def test_without_a_terminal_nobody_is_asked(shop: Shop) -> None:
    outcome = shop.finish(shop.start(*shop.arguments("--install", "ask")))
    assert outcome.status == 1
    assert "nobody was there to ask" in outcome.out
