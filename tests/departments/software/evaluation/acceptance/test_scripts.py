"""The hidden tests of our tasks: each accepts a good program, and finds out what is wrong with others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from chatdev.evaluation.tasks import load_tasks
from chatdev.evaluation.trial import Program, count_refusals, load_hidden_test, program_copy
from chatdev.paths import bundled_folder
from chatdev.sandbox.base import Execution, Sandbox
from chatdev.sandbox.bubblewrap import Bubblewrap, why_not
from tests.departments.software.evaluation.acceptance.mutants import MUTANTS
from tests.departments.software.evaluation.rules import CATEGORIES

SCRIPTS = bundled_folder("srdd") / "acceptance"
NAMES = sorted(path.stem for path in SCRIPTS.glob("*.py"))

NOTHING = Execution(1, None, "", "", 0.0)

pytestmark = pytest.mark.tool


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    if reason := why_not():
        pytest.skip(reason)
    return Bubblewrap()


def test_categories_tasks_and_hidden_tests_belong_together() -> None:
    tested = [task for task in load_tasks() if task.acceptance]
    assert sorted(task.acceptance for task in tested) == NAMES == sorted(MUTANTS)
    assert len({task.category for task in tested}) == CATEGORIES


@pytest.mark.parametrize("name", NAMES)
def test_a_good_program_is_accepted_and_bad_ones_are_found_out(name: str, sandbox: Sandbox, tmp_path: Path) -> None:
    good, accept = _good(name), load_hidden_test(SCRIPTS / f"{name}.py")
    (tmp_path / "main.py").write_text(good)
    with program_copy(tmp_path, sandbox) as copy:
        program = RecordingProgram(copy.folder, copy.sandbox, copy.main, copy.python, copy.shown)
        assert [check.name for check in accept(_refuser(program, NOTHING)) if check.passed] == []
        checks = list(accept(program))
        assert [check for check in checks if not check.passed] == []
        names = [check.name for check in checks]
        assert 4 <= len(names) == len(set(names)) <= 8
        assert [refuser.said for refuser in _refusers(program) if any(
            check.passed for check in count_refusals(list(accept(refuser))))] == []
        for mutant in MUTANTS[name]:
            assert good.count(mutant.old) == 1, f"{mutant.old!r} must stand once in the good program"
            (program.folder / "main.py").write_text(good.replace(mutant.old, mutant.new))
            first = next((check.name for check in accept(program) if not check.passed), "none")
            assert first == mutant.found_by, f"{mutant.new!r} fails {first!r}"


@dataclass(frozen=True, slots=True)
class RecordingProgram(Program):
    """Remembers how its starts ended."""

    record: list[Execution] = field(default_factory=list)

    def run(self, *given: Any, **options: Any) -> Execution:
        execution = Program.run(self, *given, **options)
        self.record.append(execution)
        return execution


@dataclass(frozen=True, slots=True)
class Refuser(Program):
    """Refuses whatever it is given."""

    said: Execution = NOTHING

    def run(self, *given: Any, **options: Any) -> Execution:
        return self.said


def _refusers(program: RecordingProgram) -> Iterator[Refuser]:
    """Programs that say one thing that the good program said, and fail. (Without the files that it wrote.)"""
    for path in program.folder.iterdir():
        if path.is_file():
            path.unlink()
    said = {(end.stdout, end.stderr, status) for end in program.record for status in (1, 2, end.exit_status or 1)}
    for stdout, stderr, status in sorted(said):
        yield _refuser(program, Execution(status, None, stdout, stderr, 0.0))


def _refuser(program: Program, said: Execution) -> Refuser:
    return Refuser(program.folder, program.sandbox, program.main, program.python, said=said)


def _good(name: str) -> str:
    return Path(__file__).with_name(f"{name.replace('-', '_')}_good.py").read_text(encoding="utf-8")
