"""A reply of megabytes is read beside the event loop: minutes and Ctrl-C end it at once, and it has a limit of time."""

from __future__ import annotations

import importlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.engine.parsing_child import python_text
from chatdev.engine import turn
from chatdev.isolation import parent
from tests.engine.studio import WRITE, Studio, program
from tests.support.shop import FIRST as COMMAND_FIRST
from tests.support.shop import Shop

PLACE = "write#1/round-1/assistant"
LARGE = "<SOLUTION>\n" + "".join(program(python_text(33_000, number), f"part{number}.py") for number in range(6))
"""5.5 MB; to read it takes many seconds."""


@pytest.fixture(autouse=True)
def _client() -> None:
    """The client is loaded: that takes a second, on the first call of a process, and is not what is timed here."""
    importlib.import_module("openai")


def is_reading(parent_pid: int) -> bool:
    """Whether the process has a child that reads, and has used a processor for a while."""
    with suppress(FileNotFoundError, ProcessLookupError):  # a thread or a child that ended between two looks
        return any(_is_reader(pid) for task in Path(f"/proc/{parent_pid}/task").iterdir()
                   for pid in (task / "children").read_text().split())
    return False


def _is_reader(pid: str) -> bool:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    used = int(fields[11]) + int(fields[12])
    return b"chatdev.isolation.isolate" in Path(f"/proc/{pid}/cmdline").read_bytes() and (
        used > 0.3 * os.sysconf("SC_CLK_TCK"))


def test_minutes_end_the_reading_of_a_large_reply(studio: Studio) -> None:
    started = time.monotonic()
    run = studio.run(studio.company({"write": WRITE}), {PLACE: LARGE}, max_minutes=2 / 60)
    assert time.monotonic() - started < 2 + 8, "it took 20 s and more on the event loop"
    assert run.status == "stopped", run.reason
    assert "minutes is used up" in run.reason


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[parent.Reader]:
    """One of its own, whose child ends with the test."""
    reader = parent.Reader()
    monkeypatch.setattr(parent, "ask", reader.ask)
    yield reader
    reader.end()


def test_minutes_end_a_reading_whose_child_hangs(studio: Studio, reader: parent.Reader) -> None:

    def hold() -> None:
        while not (child := reader._child):
            time.sleep(0.01)
        os.kill(child._process.pid, signal.SIGSTOP)

    threading.Thread(target=hold, daemon=True).start()
    started = time.monotonic()
    run = studio.run(studio.company({"write": WRITE}), {PLACE: LARGE}, max_minutes=3 / 60)
    assert run.status == "stopped", run.reason
    assert time.monotonic() - started < 3 + 8
    deadline = time.monotonic() + 0.5
    while reader._child is not None:
        assert time.monotonic() < deadline, "the child that hangs is still there"
        time.sleep(0.02)


def test_ctrl_c_ends_the_reading_of_a_large_reply(shop: Shop) -> None:
    shop.route({COMMAND_FIRST: LARGE})
    process = shop.start(*shop.arguments())
    deadline = time.monotonic() + 120
    while not is_reading(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    outcome = shop.finish(process)
    assert time.monotonic() - started < 10, "it took 30 s and more on the event loop"
    assert outcome.status == 130, outcome.out + outcome.err


def test_a_reply_that_takes_too_long_to_read_is_unreadable(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn, "SECONDS", 1.0)
    run = studio.run(studio.company({"write": WRITE}), {PLACE: LARGE, f"{PLACE}/retry-1": f"<SOLUTION>\n{program()}"})
    assert "it takes more than 1 seconds to read it" in studio.said(f"{PLACE}/retry-1")
    assert list(run.software) == ["main.py"]
