"""SIGTERM and SIGHUP end a command as Ctrl-C does: resumable, cleared up, with its own exit code."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatdev.cli.outcome import heed_signals, interrupted_status
from tests.engine.studio import WRITE, Studio, program
from tests.support.chat_server import Scripted
from tests.support.processes import running_program
from tests.support.shop import BETTER, FIRST, HELLO, SECOND, Outcome, Shop


@pytest.fixture
def temporary(shop: Shop) -> Path:
    """The temporary folder of the commands."""
    folder = shop.folder / "temporary"
    folder.mkdir()
    shop.environment["TMPDIR"] = str(folder)
    return folder


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """The handlers of the tests themselves, put back. A SIGHUP that they were started to ignore, ends here."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
    with heed_signals():
        pass  # the next command of this process knows of no signal


def wait_for(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it did not come to that"
        time.sleep(0.02)


def slow_run(shop: Shop) -> subprocess.Popen[str]:
    """A run whose second call is under way."""
    shop.route({FIRST: HELLO, SECOND: Scripted("too late", delay=60)})
    before = len(shop.server.requests)
    process = shop.start(*shop.arguments())
    wait_for(lambda: len(shop.server.requests) == before + 2)
    return process


def assert_interrupted(outcome: Outcome, status: int) -> None:
    assert outcome.status == status, outcome.out + outcome.err
    assert "Traceback" not in outcome.out + outcome.err
    assert "– Interrupted after " in outcome.out
    assert outcome.events("RunFinished")[-1]["status"] == "interrupted"


def test_a_signal_that_another_thread_is_given_ends_a_run(shop: Shop) -> None:
    """The kernel may choose any thread, while the main thread waits for the reply."""
    process = slow_run(shop)
    others = {int(task.name) for task in Path(f"/proc/{process.pid}/task").iterdir()} - {process.pid}
    send_to_thread = ctypes.CDLL(None).tgkill
    assert send_to_thread(process.pid, min(others), signal.SIGTERM) == 0
    assert_interrupted(shop.finish(process), 143)


def test_sigterm_ends_a_run_which_can_be_resumed(shop: Shop, temporary: Path) -> None:
    process = slow_run(shop)
    process.send_signal(signal.SIGTSTP)  # stopped and continued, it is none the worse for it
    process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGTERM)
    outcome = shop.finish(process)
    assert_interrupted(outcome, 143)
    assert list(temporary.iterdir()) == []
    shop.route({SECOND: BETTER})
    resumed = shop.command("resume", str(outcome.folder))
    resumed.assert_succeeded()
    assert resumed.software.text("main.py") == "print('better')\n"


@pytest.mark.tool
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_sighup_ends_a_run_and_the_program_that_it_runs(shop: Shop, temporary: Path) -> None:
    chain = [{"phase": "write"}, {"tool": "software.run", "writes": "test"}]
    Studio(shop.folder, shop.server).company({"write": WRITE}, chain)
    shop.route({FIRST: "<SOLUTION>\n" + program("while True:\n    pass")})
    process = shop.start(*shop.arguments())
    wait_for(lambda: any("software.run#1" in path.read_text() for path in shop.warehouse.glob("*/run/journal.jsonl")))
    wait_for(lambda: list(temporary.iterdir()))
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGHUP)  # of the shell and of the kernel: the same one
    assert_interrupted(shop.finish(process), 129)
    assert list(temporary.iterdir()) == []


NEVER_CLEARED_UP = """
import time
from chatdev.cli.outcome import heed_signals
with heed_signals():
    try:
        print(".", flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("clears up", flush=True)
        time.sleep(60)
"""


def test_a_second_signal_ends_it_at_once() -> None:
    with running_program([sys.executable, "-c", NEVER_CLEARED_UP], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "clears up\n"
        time.sleep(0.4)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 143


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_outside_a_run_a_signal_is_ctrl_c(number: signal.Signals, status: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt), heed_signals():
        signal.raise_signal(number)
    assert interrupted_status() == status
    signal.raise_signal(signal.SIGINT)  # what was interrupted ends, and nothing changes that any more


def raise_both(one: signal.Signals, other: signal.Signals) -> None:
    signal.raise_signal(one)
    signal.raise_signal(other)


def test_ctrl_c_that_is_ignored_stays_ignored_and_sigterm_is_heeded() -> None:
    """As in the background of a script."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt), heed_signals():
            raise_both(signal.SIGINT, signal.SIGTERM)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # so that the one that waits is gone
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    assert interrupted_status() == 143


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """As with `nohup`."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with heed_signals():
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        signal.raise_signal(signal.SIGHUP)


@pytest.mark.tool
@pytest.mark.parametrize("terminal", [False, True])
def test_a_signal_ends_the_program_that_is_played(shop: Shop, temporary: Path, terminal: bool) -> None:
    software = shop.folder / "software"
    software.mkdir()
    (software / "main.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(300)\n")
    command = [sys.executable, "-m", "chatdev", "play", "--sandbox", "none", str(software)]
    ours, theirs = os.openpty()
    with running_program(command, stdin=theirs if terminal else subprocess.DEVNULL, stdout=theirs, stderr=theirs,
                         env={**os.environ, **shop.environment}) as process:
        said = b""
        while b"begun" not in said:
            said += os.read(ours, 1000)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143
    os.close(ours)
    os.close(theirs)
    assert list(temporary.iterdir()) == []
