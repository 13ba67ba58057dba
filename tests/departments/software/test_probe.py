"""A trial comes to its end, however many commands there are and however long they take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.cases.copied import PYTHON_COMMAND
from chatdev.departments.software.drivers.step import Step
from chatdev.departments.software.toolchains.toolchain import build_and_start
from chatdev.departments.software.toolchains.verdict import Finding
from chatdev.departments.software.trial.plan import plan_of
from chatdev.departments.software.trial.trial import try_plan
from chatdev.sandbox.base import SandboxJob
from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolContext

SOFTWARE = {"main.py": b"commands = 'add', 'list', 'show', 'view', 'remove', 'delete', 'clear'"}
ADDED = [f"python main.py add thing{number}" for number in range(20)]


class Slow:
    """A toolchain that counts starts; those of the `endless` commands do not end."""

    typed_command: str | None = PYTHON_COMMAND
    windows = False

    def __init__(self, endless: set[str]) -> None:
        self._endless = endless
        self.started: list[str] = []
        self.things: list[str] = []

    def check(self) -> Finding | None:
        return None

    def build(self, folder: Path) -> Finding | None:
        return None

    def start(self, folder: Path, start: Start, *, ends: bool = False) -> Finding:
        word, *rest = start.arguments or ("",)
        self.started.append(word)
        if word in self._endless:
            return Finding("started", {"streams": ("", ""), "still_running": True, "command": word})
        with (folder / "things.txt").open("a+") as file:
            print(*rest, file=file) if word == "add" else file.seek(0)
            said = f"Added {rest}" if word == "add" else file.read()
        return Finding("clean_exit", {"streams": (said, ""), "exit_status": 0, "command": word})

    def drive(self, folder: Path, steps: Sequence[Step]) -> None:
        """None."""

    def own_tests(self, folder: Path) -> None:
        """None."""

    def play(self, folder: Path, source: Path) -> SandboxJob:
        raise NotImplementedError


def try_slow(endless: set[str], folder: Path) -> Slow:
    toolchain = Slow(endless)
    context = ToolContext(SOFTWARE, {"commands": ADDED}, {"task": "Keep a list."}, Unconfined(), folder, folder)
    with build_and_start(toolchain, context) as (bare, built):
        assert built
        try_plan(toolchain, built, SOFTWARE, plan_of(context, PYTHON_COMMAND), bare)
    return toolchain


@pytest.mark.parametrize("endless", [set(), {"add"}])
def test_a_trial_comes_to_its_end(endless: set[str], tmp_path: Path) -> None:
    started = try_slow(endless, tmp_path).started
    assert len(started) <= 200
    assert sum(word in endless for word in started) <= len(ADDED) + 5
