"""Programs against the hidden checks of easy tasks, many of them in one start of the sandbox."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev.departments.software.evaluation.srdd import EasyTask, HiddenCheck
from chatdev.evaluation import cases
from chatdev.evaluation.trial import Check, Program
from chatdev.packages.interpreter import interpreter
from chatdev.sandbox.base import Binding, Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.workspace.file_tree import write_file
from tests.departments.software.evaluation import starts_in_one


@dataclass(frozen=True, slots=True)
class ReplayedProgram(Program):
    """A program of which every start is known, in their order."""

    record: list[dict[str, Any]] = field(default_factory=list)

    def start(self, *arguments: str, stdin: str | None = None) -> Execution:
        """What came of the next start; its files are there then."""
        known = self.record.pop(0)
        for name, text in known["files"].items():
            write_file(self.folder, name, text.encode())
        return ended(known)


def ended(known: Mapping[str, Any]) -> Execution:
    """How a start ended that was recorded."""
    status = known["status"]
    return Execution(None if status < 0 else status, -status if status < 0 else None, known["stdout"], known["stderr"],
                     0.0, timed_out=status < 0)


def run_starts(plan: Sequence[Sequence[Mapping[str, Any]]], sandbox: Sandbox,
               scratch: Path) -> list[list[list[dict[str, Any]]]]:
    """What came of every start of a plan (`starts_in_one.main`)."""
    box = scratch / "box"
    box.mkdir()
    (box / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (box / "main.py").write_bytes(Path(starts_in_one.__file__).read_bytes())
    bare = interpreter()
    end = sandbox.run(SandboxJob([str(bare.executable), "main.py"], box, ProcessLimits(seconds=100, cpu=100),
                                 bindings=[Binding(bare.prefix)]))
    assert end.exit_status == 0, end
    found: list[list[list[dict[str, Any]]]] = json.loads((box / "results.json").read_text(encoding="utf-8"))
    return found


def try_programs(tasks: Sequence[EasyTask], program_of: Callable[[EasyTask], str], sandbox: Sandbox,
                 scratch: Path) -> dict[str, list[Check]]:
    """The checks of each task's program, by the task's slug."""
    found = run_starts([[_plan(check, program_of(task)) for check in task.checks] for task in tasks], sandbox, scratch)
    return {task.slug: [_compare(check, record, sandbox, scratch / f"{task.slug}-{number}") for number, (check, record)
                        in enumerate(zip(task.checks, records, strict=True))]
            for task, records in zip(tasks, found, strict=True)}


def _plan(check: HiddenCheck, program: str) -> dict[str, Any]:
    files = {name: text for case in check.cases for name, text in case.files.items()}
    return {"program": program, "files": files,
            "starts": [{"arguments": list(case.arguments), "stdin": case.stdin or ""} for case in check.cases]}


def _compare(check: HiddenCheck, record: list[dict[str, Any]], sandbox: Sandbox, folder: Path) -> Check:
    folder.mkdir()
    replayed = ReplayedProgram(folder, sandbox, "main.py", "python", record=record)
    return cases.tried(replayed, check.name, *check.cases)
