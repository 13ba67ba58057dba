"""The acceptance scripts tell good programs from bad ones; both are written by hand."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path

import pytest

from chatdev.evaluation.trial import Check, main_file, program_copy
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.bubblewrap import Bubblewrap, why_not

_PROGRAMS = Path(__file__).with_name("programs")
_FOUND_BAD = {
    "primes": {"the primes up to 7 on one line", "a message for no number", "a message for a word"},
    "todo": {"list shows the tasks numbered from 1, after a new start", "todo.json holds them",
             "done marks one task with [x]", "wrong input does not crash"},
    "converter": {"100 C in F", "a message for 5 kg in km", "a message for 5 parsec in km",
                  "no arguments do not crash it"},
    "castle": {"winning ends the game", "no win without the key", "no win outside the garden",
               "the key lies only in the library", "the inventory shows the key"},
    "calculator": {"12+7= shows 19", "8/2= shows 4", "dividing by zero shows Error", "C clears the display"},
}

pytestmark = pytest.mark.tool


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    if reason := why_not():
        pytest.skip(reason)
    return Bubblewrap()


def _tried(name: str, kind: str, sandbox: Sandbox, folder: Path) -> list[Check]:
    if name == "calculator" and not shutil.which("Xvfb"):
        pytest.skip("Xvfb is not installed: apt-get install xvfb python3-tk")
    shutil.copy(_PROGRAMS / f"{name}_{kind}.py", folder / "main.py")
    with program_copy(folder, sandbox) as program:
        return list(import_module(f"benchmarks.first_runs.accept_{name}").accept(program))


@pytest.mark.parametrize("name", _FOUND_BAD)
def test_a_good_program_is_accepted(name: str, sandbox: Sandbox, tmp_path: Path) -> None:
    assert [c for c in _tried(name, "good", sandbox, tmp_path) if not c.passed] == []


@pytest.mark.parametrize("name", _FOUND_BAD)
def test_a_bad_program_is_refused_for_what_is_wrong_with_it(name: str, sandbox: Sandbox, tmp_path: Path) -> None:
    failed = {check.name for check in _tried(name, "bad", sandbox, tmp_path) if not check.passed}
    assert failed >= _FOUND_BAD[name]


def test_a_program_that_crashes_at_once_fails_every_acceptance(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("raise SystemError('at once')\n")
    for name in _FOUND_BAD:
        with program_copy(tmp_path, sandbox) as program:
            checks = import_module(f"benchmarks.first_runs.accept_{name}").accept(program)
            assert [check.name for check in checks if check.passed] == []


def test_trying_a_program_leaves_the_software_as_it_was(sandbox: Sandbox, tmp_path: Path) -> None:
    _tried("todo", "good", sandbox, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["main.py"]


def test_the_only_python_file_is_started_when_there_is_no_main(tmp_path: Path) -> None:
    (tmp_path / "game.py").write_text("")
    assert main_file(tmp_path) == "game.py"


@pytest.mark.parametrize("files", [[], ["a.py", "b.py"], ["readme.md"]])
def test_software_that_nobody_could_start_is_refused(files: list[str], tmp_path: Path) -> None:
    for file in files:
        (tmp_path / file).write_text("")
    with pytest.raises(FileNotFoundError, match="has no main.py"):
        main_file(tmp_path)
