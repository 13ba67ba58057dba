"""Deliveries with archives, bombs, git's own settings and too much of everything: kept as plain bytes, or refused."""

from __future__ import annotations

import os
import subprocess
import time

import pytest

from tests.engine.escape.contents import DELIVERIES, HELLO, Kept, block
from tests.engine.escape.world import World
from tests.engine.studio import CHANGE, WRITE, program
from tests.support import shop

RETRY = f"{shop.FIRST}/retry-1"
SLOW = 10.0  # seconds that no reply may take


def test_the_traps_snap_when_git_is_asked_as_people_ask_it(world: World) -> None:
    """Else the other tests would prove nothing."""
    folder = world.studio.folder / "stage"
    folder.mkdir()
    (folder / ".gitattributes").write_text("* filter=trap\n")
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    subprocess.run(["git", "add", "."], cwd=folder, check=False, env=dict(os.environ), capture_output=True)
    assert world.snapped.exists()


@pytest.mark.parametrize("name", DELIVERIES)
def test_a_hostile_delivery_is_kept_as_it_is_or_not_at_all(world: World, name: str) -> None:
    reply, fate = DELIVERIES[name]
    hello = shop.HELLO.removeprefix("<SOLUTION>\n") if isinstance(fate, Kept) else ""
    started = time.monotonic()
    run = world.run(world.studio.company({"write": WRITE}), {shop.FIRST: f"<SOLUTION>\n{reply}{hello}",
                                                             RETRY: shop.HELLO})
    assert time.monotonic() - started < SLOW
    assert run.success, run.reason
    assert RETRY not in world.studio.places if isinstance(fate, Kept) else fate.says in world.studio.said(RETRY)
    assert dict(run.software) == {"main.py": HELLO, **(fate.files if isinstance(fate, Kept) else {})}


@pytest.mark.parametrize("name", ["deep JSON", "deep code", "a name without end", "NUL in a program", "a YAML bomb"])
def test_what_no_program_can_read_fails_its_test_and_nothing_else(world: World, name: str) -> None:
    reply, _ = DELIVERIES[name]
    company = world.studio.company({"write": WRITE}, [{"phase": "write"}, {"tool": "software.run", "writes": "test"}],
                                   success="test.passed")
    run = world.run(company, {shop.FIRST: f"<SOLUTION>\n{reply}{block('main.py', 'print(1)', 'python')}"})
    assert run.success == (name == "a YAML bomb"), run.reason
    assert run.status in ("success", "failure")


def test_code_nested_just_short_of_too_deep_is_judged_as_well(world: World) -> None:
    chain = [{"phase": "write"}, {"tool": "software.run", "writes": "test"}]
    company = world.studio.company({"write": WRITE}, chain, success="test.passed")
    code = "import os\nx = 1\nif x == 0: pass\n" + "".join(f"elif x == {n + 2}: pass\n" for n in range(800))
    run = world.run(company, {shop.FIRST: "<SOLUTION>\n" + program(code)})
    assert run.success, run.reason


def test_deleting_every_file_leaves_them_in_the_history(world: World) -> None:
    company = world.studio.company({"write": WRITE, "change": CHANGE}, success="test.passed")
    run = world.run(company, {shop.FIRST: shop.HELLO, shop.SECOND: "<SOLUTION>\n" + block("main.py", "", "delete")})
    assert dict(run.software) == {}
    assert not run.success
    assert "hello" in world.studio.git_show(run)


def test_a_guard_keeps_what_is_there_from_being_deleted(world: World) -> None:
    company = world.studio.company({"write": WRITE, "change": {**CHANGE, "guard": "software.complete"}})
    run = world.run(company, {shop.FIRST: shop.HELLO, shop.SECOND: "<SOLUTION>\n" + block("main.py", "", "delete"),
                              f"{shop.SECOND}/retry-1": shop.BETTER})
    assert dict(run.software) == {"main.py": b"print('better')\n"}
