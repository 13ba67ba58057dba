"""Which programs count as executable, tried in one start of the sandbox: right ones do, whatever they want of their
users; those that crash at the start do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.departments.software import knowledge
from chatdev.departments.software.evaluation.srdd import load_easy_tasks
from chatdev.departments.software.toolchains.python import rule_of_lack
from chatdev.departments.software.toolchains.verdict import rule_of
from chatdev.paths import bundled_folder
from chatdev.sandbox.base import Execution, SandboxJob
from chatdev.sandbox.bubblewrap import Bubblewrap, why_not
from tests.departments.software.evaluation.quick_trial import ended, run_starts

HERE = Path(__file__).parent
RIGHT = {**{path.stem: path.read_text(encoding="utf-8") for path in sorted((HERE / "acceptance").glob("*_good.py"))},
         **{task.slug: task.reference for task in load_easy_tasks(bundled_folder("srdd") / "easy" / "tuning")}}
CRASHES = ("1 / 0", "no_such_name", "import no_such_module", "[][3]", "{}['key']", "int('seven')")

pytestmark = pytest.mark.tool


def rules(programs: list[str], scratch: Path) -> list[str]:
    """The rule of `software.run` for each program."""
    if reason := why_not():
        pytest.skip(reason)
    given = {"arguments": ["1"] * 8, "stdin": "1 1\n" * 8}
    plan = [[{"program": program, "files": {}, "starts": [start]} for start in ({"arguments": [], "stdin": ""}, given)]
            for program in programs]
    found = run_starts(plan, Bubblewrap(), scratch)
    return [_rule(program, ended(bare[0]), ended(with_input[0]), SandboxJob([], scratch))
            for program, (bare, with_input) in zip(programs, found, strict=True)]


def _rule(program: str, bare: Execution, with_input: Execution, job: SandboxJob) -> str:
    files = {"main.py": program.encode()}
    rule = rule_of(bare, files)
    return rule_of_lack(bare, files, job, lambda again: with_input) or rule if rule == "crashed" else rule


def test_every_right_program_is_executable(tmp_path: Path) -> None:
    assert len(RIGHT) == 40 + 48
    found = dict(zip(RIGHT, rules(list(RIGHT.values()), tmp_path), strict=True))
    assert {name: rule for name, rule in found.items() if not knowledge.rules()[rule]["passed"]} == {}


def test_none_that_crashes_at_the_start_is_executable(tmp_path: Path) -> None:
    programs = {f"{name}: {crash}": f"{_futures(text)[0]}{crash}\n{_futures(text)[1]}" for number, (name, text)
                in enumerate(RIGHT.items()) for crash in [CRASHES[number % len(CRASHES)]]}
    found = dict(zip(programs, rules(list(programs.values()), tmp_path), strict=True))
    assert {name: rule for name, rule in found.items() if knowledge.rules()[rule]["passed"]} == {}


def _futures(text: str) -> tuple[str, str]:
    """The part of a program that must stand first, and the rest."""
    line = "from __future__ import annotations\n"
    before, found, after = text.partition(line)
    return (before + found, after) if found else ("", text)
