"""Todo: every command is a start of its own, and todo.json carries the tasks from one to the next."""

from __future__ import annotations

import json
from collections.abc import Iterator

from chatdev.evaluation.trial import Check, Program, crashed, said, tail

_TASKS = ("Buy milk", "Call Anna", "Sing")


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    runs = [program.start("add", task) for task in _TASKS]
    yield Check("tasks can be added", not any(map(crashed, runs)), tail(said(runs[0])))
    lines = _listed(program)
    yield Check("list shows the tasks numbered from 1, after a new start",
                all(_line(lines, n, task) for n, task in enumerate(_TASKS, 1)),
                tail("\n".join(lines)))
    yield Check("todo.json holds them", _is_json(program), "")
    done = program.start("done", "1")
    lines = _listed(program)
    yield Check("done marks one task with [x]", not crashed(done) and _marked(lines, "Buy milk")
                and not _marked(lines, "Call Anna"), tail("\n".join([said(done), *lines])))
    removed = program.start("remove", "1")
    lines = _listed(program)
    yield Check("remove deletes one task", not crashed(removed) and not any("Buy milk" in line for line in lines)
                and any("Call Anna" in line for line in lines), tail("\n".join([said(removed), *lines])))
    yield Check("the others are numbered from 1 again", _line(lines, 1, "Call Anna") and _line(lines, 2, "Sing"),
                tail("\n".join(lines)))
    odd = [program.start("done", "99"), program.start("dance"), program.start()]
    yield Check("wrong input does not crash", not any(map(crashed, odd)), tail("\n".join(map(said, odd))))


def _listed(program: Program) -> list[str]:
    return program.start("list").stdout.splitlines()


def _line(lines: list[str], number: int, task: str) -> bool:
    """Whether a task stands under its number."""
    return any(task in line and str(number) in line.partition(task)[0] for line in lines)


def _marked(lines: list[str], task: str) -> bool:
    return any(task in line and "[x]" in line.lower() for line in lines)


def _is_json(program: Program) -> bool:
    try:
        text = (program.folder / "todo.json").read_text(encoding="utf-8")
        return "Buy milk" in json.dumps(json.loads(text))
    except (OSError, ValueError):
        return False
