"""Patches as answers: applied, told with the nearest place, and refused by runs that began before they were read."""

from __future__ import annotations

import json
from pathlib import Path

import chatdev
from chatdev import Run
from tests.engine.studio import CHANGE, WRITE, Studio, program

PHASES = {"write": WRITE, "change": {**CHANGE, "opening": "CHANGE"}}
WRITTEN = "<SOLUTION>\n" + program("print('hello')")
PATCH = "*** Begin Patch\n*** Update File: main.py\n@@\n-print('hello')\n+print('bye')\n*** End Patch"
MISFIT = PATCH.replace("'hello'", "'hallo'")
FIRST, SECOND = "change#1/round-1/assistant", "change#1/round-1/assistant/retry-1"


def main_of(run: Run) -> str:
    return (run.software_folder / "main.py").read_text(encoding="utf-8")


def test_a_patch_under_a_solution_marker_is_no_agreement(studio: Studio) -> None:
    run = studio.run(studio.company(PHASES), {"write#1/round-1/assistant": WRITTEN, FIRST: f"<SOLUTION>\n{PATCH}"})
    assert run.status == "success"
    assert main_of(run) == "print('bye')\n"


def test_an_answer_that_fits_nowhere_comes_back_with_the_place(studio: Studio) -> None:
    replies = {"write#1/round-1/assistant": WRITTEN, FIRST: f"<SOLUTION>\n{MISFIT}", SECOND: f"<SOLUTION>\n{PATCH}"}
    run = studio.run(studio.company(PHASES), replies)
    assert main_of(run) == "print('bye')\n"
    assert ("UNREADABLE main.py: hunk 1 fits nowhere: its line `print('hallo')` is not what stands in line 1, at the "
            "nearest place:\n1: print('hello')\n") in studio.said(SECOND)


def test_a_run_that_began_before_refuses_the_patch(studio: Studio) -> None:
    folder = studio.run(studio.company(PHASES), {"write#1/round-1/assistant": WRITTEN}, max_calls=1).folder
    begin_before(folder)
    replies = {FIRST: f"<SOLUTION>\n```\n{PATCH}\n```", SECOND: "<SOLUTION>\n" + program("print('ciao')")}
    studio.server.route(lambda request: replies.get(request.headers["X-ChatDev-Activity"]))
    run = chatdev.resume(folder, keep_budget=False, base_url=studio.server.url, sandbox="none")
    assert main_of(run) == "print('ciao')\n"
    assert "UNREADABLE a diff or patch cannot be applied" in studio.said(SECOND)


def begin_before(folder: Path) -> None:
    """Let the journal say that its run began under semantics 5."""
    journal = folder / "run/journal.jsonl"
    records = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    journal.write_text("".join(
        f"{json.dumps({**record, 'semantics': 5} if record['kind'] == 'Order' else record)}\n" for record in records),
        encoding="utf-8")
