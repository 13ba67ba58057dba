"""Output that fails, waits or was closed ends the output, and never the work; the exit code tells the truth."""

from __future__ import annotations

import errno
import json
import os
import pty
import select
import subprocess
import sys
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tqdm import tqdm

from chatdev.cli.console import Console, Detail
from chatdev.cli.outcome import OutputThread, lasting_output, output_is_recorded
from chatdev.events import Noted, StepSkipped, ToolCalled
from tests.support.processes import running_program
from tests.support.shop import Shop


@contextmanager
def standing_at(monkeypatch: pytest.MonkeyPatch, descriptor: int) -> Iterator[None]:
    """Standard output and standard error are this descriptor."""
    with (os.fdopen(descriptor, "w", closefd=False) as out, os.fdopen(descriptor, "w", closefd=False) as err,
          monkeypatch.context() as patch):
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        yield


def full_device() -> int:
    return os.open("/dev/full", os.O_WRONLY)


def pipe_without_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def terminal_that_hung_up() -> int:
    ours, theirs = pty.openpty()
    os.close(ours)
    return theirs


DEVICES = [full_device, pipe_without_reader, terminal_that_hung_up]


@pytest.mark.parametrize("device", DEVICES)
def test_every_kind_of_output_goes_on_without_its_device(device: object, monkeypatch: pytest.MonkeyPatch) -> None:
    descriptor = device()  # type: ignore[operator]
    with standing_at(monkeypatch, descriptor), lasting_output():
        for _ in range(2):
            print("text", flush=True)
            with Console() as console:
                console(Noted("", "a note"))
            with tqdm(total=2) as bar:  # of studies and downloads
                bar.write("trouble", file=sys.stderr)
                bar.update(1)
    os.close(descriptor)


def test_a_tool_that_has_nothing_to_say_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with Console("dialogue") as console:
        for passed, summary in ((None, ""), (None, "main.py was mended"), (True, "")):
            console(ToolCalled("coding#1", "software.mend", 0.1, passed, summary))
    assert capsys.readouterr().out.splitlines() == ["  · software.mend  main.py was mended", "  ✓ software.mend  "]


def test_one_line_of_a_step_is_as_long_as_the_terminal_and_no_longer(
        capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    details: list[Detail] = ["dialogue", "everything"]
    for detail in details:
        with Console(detail) as console:
            console(ToolCalled("x#1", "software.examples", 0.1, None, "word " * 40))
            console(StepSkipped("x#2", "phase", f"`{'a and ' * 40}b` does not hold"))
            console(ToolCalled("x#3", "software.mend", 1, None, "main.py was mended:\nadded: import sys\nand so on"))
    said, mended, _, whole, _ = capsys.readouterr().out.splitlines()
    assert 70 < len(said) <= 80
    assert mended == "  · software.mend  main.py was mended: added: import sys"
    assert whole.endswith("b` does not hold")


def exit_at(device: object, status: int, monkeypatch: pytest.MonkeyPatch, *, recorded: bool = False) -> object:
    """What a command exits with that prints there and would exit with `status`."""
    monkeypatch.setattr("chatdev.cli.outcome._recorded", False)
    descriptor = device()  # type: ignore[operator]
    try:
        with standing_at(monkeypatch, descriptor), lasting_output():
            if recorded:
                output_is_recorded()
            print("text")
            sys.exit(status)
    except SystemExit as end:
        return end.code
    finally:
        os.close(descriptor)


@pytest.mark.parametrize(("device", "recorded", "status", "found"), [
    (full_device, False, 0, 5), (full_device, True, 0, 0), (full_device, False, 3, 3), (full_device, True, 3, 3),
    (terminal_that_hung_up, False, 0, 5), (pipe_without_reader, False, 0, 0)])
def test_the_exit_code_says_whether_only_the_output_failed(device: object, recorded: bool, status: int, found: int,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    assert exit_at(device, status, monkeypatch, recorded=recorded) == found


def test_a_stopped_terminal_stops_no_work_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    termios.tcflow(theirs, termios.TCOOFF)  # as Ctrl-S
    read = bytearray()

    def go_on_and_read() -> None:
        termios.tcflow(theirs, termios.TCOON)
        while b"the end" not in read and select.select([ours], [], [], 20)[0]:
            read.extend(os.read(ours, 1 << 16))

    with standing_at(monkeypatch, theirs), lasting_output():
        for _ in range(1000):
            print("a line of a run " * 5)
        print("the end")
        reader = threading.Thread(target=go_on_and_read)
        reader.start()
    reader.join()
    assert read.count(b"a line of a run ") == 5000
    os.close(ours)
    os.close(theirs)


def test_a_pipe_that_blocks_is_waited_for_and_gets_everything() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    thread = OutputThread()
    for _ in range(200):
        thread.add(writer, b"x" * 1000)  # more than a pipe holds
    got = 0
    while got < 200_000:
        got += len(os.read(reader, 1 << 16))
    thread.drain()
    assert thread.failures == {}
    os.close(reader)
    thread.add(writer, b"x")
    thread.drain()
    assert thread.failures[writer].errno == errno.EPIPE
    os.close(writer)


def run_with(shop: Shop, redirections: str, *more: str) -> int:
    """The exit code of a run by a shell."""
    command = ["sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, "-m", "chatdev", *shop.arguments(*more)]
    with running_program(command, env={**os.environ, **shop.environment}) as process:
        return process.wait(60)


@pytest.mark.parametrize("redirections", [">/dev/full 2>&1", "<&- >&- 2>&-"])
def test_a_run_whose_output_goes_nowhere_is_whole(shop: Shop, redirections: str) -> None:
    shop.replies()
    assert run_with(shop, redirections, *(["--json"] if "full" in redirections else [])) == 0
    (folder,) = shop.warehouse.iterdir()
    assert "**success**" in (folder / "run" / "report.md").read_text()
    assert json.loads((folder / "run" / "journal.jsonl").read_text().splitlines()[-1])["kind"] == "RunFinished"


def test_a_list_that_nobody_can_read_is_a_failure(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([sys.executable, "-m", "chatdev", "companies"], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False, cwd=tmp_path,
                              env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
    assert (done.returncode, done.stderr) == (
        5, "error: the output could not be written: No space left on device; send it somewhere else\n")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_character_that_the_output_does_not_know_is_a_question_mark(encoding: str,
                                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    with os.fdopen(writer, "w", encoding=encoding) as out, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        with lasting_output():
            print("a ⇄ b \udcff")
    assert os.read(reader, 100) == b"a ? b ?\n"
    os.close(reader)
