"""Full and read-only disks, odd names, two runs at once, and Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from chatdev import Company
from tests.engine.studio import WRITE, Studio, program
from tests.support.chat_server import Scripted
from tests.support.shop import FIRST, HELLO, SECOND, Outcome, Shop


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    try:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True,
                                 text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount command")
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_the_run_and_keeps_what_fitted(shop: Shop, small_disk: Path) -> None:
    shop.warehouse.symlink_to(small_disk)
    shop.route({FIRST: HELLO, SECOND: "<SOLUTION>\n" + program("# filler\n" * 250_000)})
    outcome = shop.run()
    assert outcome.status == 5, outcome.out + outcome.err
    assert "free some space" in outcome.err
    assert "Traceback" not in outcome.err
    assert "done" not in outcome.out
    assert outcome.software.text("main.py") == "print('hello')\n"
    assert outcome.records


def test_a_disk_that_is_full_from_the_start_is_said_at_once(shop: Shop, small_disk: Path) -> None:
    shop.warehouse.symlink_to(small_disk)
    with (small_disk / "filler").open("wb") as filler, pytest.raises(OSError, match="No space"):
        filler.write(bytes(2_000_000))
    outcome = shop.run()
    assert outcome.status == 5, outcome.out + outcome.err
    assert "free some space" in outcome.err
    assert shop.server.requests == []


def test_a_file_in_place_of_the_warehouse_is_refused(shop: Shop) -> None:
    shop.warehouse.write_text("I am no folder")
    outcome = shop.run()
    assert outcome.status == 5
    assert f"cannot make the warehouse {shop.warehouse}" in outcome.err
    assert shop.server.requests == []


@pytest.mark.parametrize("place", ["/proc/warehouse", "/sys/warehouse"])
def test_a_warehouse_where_nothing_can_be_written_is_refused(shop: Shop, place: str) -> None:
    outcome = shop.run("--warehouse", place)
    assert outcome.status == 5
    assert f"cannot make the warehouse {place}" in outcome.err
    assert shop.server.requests == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_warehouse_without_permission_is_refused(shop: Shop) -> None:
    shop.warehouse.mkdir(mode=0o500)
    outcome = shop.run()
    assert outcome.status == 5
    assert "--warehouse" in outcome.err


NAMES = ["../../up", "/etc/passwd", "a; rm -rf ~", "$(touch x)", "`id`\n", "..", "C:\\x|y", "\u202e"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_stays_one_folder_of_the_warehouse(shop: Shop, name: str) -> None:
    shop.replies()
    before = {path for path in shop.folder.iterdir() if path != shop.warehouse}
    outcome = shop.run("--name", name)
    outcome.assert_succeeded()
    (folder,) = shop.warehouse.iterdir()
    assert not set(folder.name) & set("/\\;$`|\n ~<>\u202e")
    assert {path for path in shop.folder.iterdir() if path != shop.warehouse} == before
    assert "is written" in outcome.report


def test_two_runs_of_one_name_in_one_second_do_not_meet(shop: Shop) -> None:
    shop.replies()

    async def both() -> list[Path]:
        company = Company.load(shop.company)
        runs = await asyncio.gather(*(company.arun("TASK", name="Twin", warehouse=shop.warehouse, model="m",
                                                   base_url=shop.server.url) for _ in range(2)))
        assert [run.success for run in runs] == [True, True]
        return [run.folder for run in runs]

    first, second = asyncio.run(both())
    assert first != second
    for folder in (first, second):
        assert (folder / "software" / "main.py").read_text() == "print('better')\n"
        assert (folder / "run" / "report.md").is_file()


def interrupt(shop: Shop, after: Callable[[], bool]) -> Outcome:
    """A run that gets Ctrl-C as soon as `after` holds."""
    process = shop.start(*shop.arguments())
    deadline = time.monotonic() + 30
    while not after() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    return shop.finish(process)


def assert_interrupted(outcome: Outcome, kept: str) -> None:
    assert outcome.status == 130, outcome.out + outcome.err
    assert "– Interrupted after " in outcome.out
    assert "Traceback" not in outcome.out + outcome.err
    assert "**interrupted**" in outcome.report
    assert outcome.events("RunFinished")[-1]["status"] == "interrupted"
    assert outcome.software.text("main.py") == kept


def test_ctrl_c_while_a_model_thinks_keeps_what_was_made(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: Scripted("too late", delay=60)})
    assert_interrupted(interrupt(shop, lambda: len(shop.server.requests) == 2), "print('hello')\n")


@pytest.mark.tool
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_ctrl_c_while_a_program_runs_stops_it_too(shop: Shop) -> None:
    forever = "while True:\n    pass"
    chain = [{"phase": "write"}, {"tool": "software.run", "writes": "test"}]
    Studio(shop.folder, shop.server).company({"write": WRITE}, chain)
    shop.route({FIRST: "<SOLUTION>\n" + program(forever)})

    def running() -> bool:
        return any("software.run#1" in path.read_text() for path in shop.warehouse.glob("*/run/journal.jsonl"))

    started = time.monotonic()
    assert_interrupted(interrupt(shop, running), f"{forever}\n")
    assert time.monotonic() - started < 15
