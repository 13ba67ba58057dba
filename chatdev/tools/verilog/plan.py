"""The plan of sub-tasks and the facts extracted from a specification (VerilogCoder, arXiv 2408.08927, §3.1)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from chatdev.errors import ToolError

_Shape = TypeVar("_Shape", bound=BaseModel)
_TASK = re.compile(r"(?:^the\s+)?(?:sub[\s_-]?)?task(?:[\s_#-]+(?=\w)|(?=\d))", re.IGNORECASE)


class _Written(BaseModel):
    """What a model wrote: numbers may stand for texts, and more fields than asked for do no harm."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class Subtask(_Written):
    """One sub-task: a part of the module to write; `source` is what the specification says of it."""

    content: str
    id: str = ""
    source: str = ""
    parents: tuple[str, ...] = ()


class Plan(_Written):
    subtasks: tuple[Subtask, ...]


class Signal(_Written):
    name: str
    about: str = ""


class Fact(_Written):
    """A transition of signals, or an example of their values."""

    text: str


class Extraction(_Written):
    signals: tuple[Signal, ...] = ()
    transitions: tuple[Fact, ...] = ()
    examples: tuple[Fact, ...] = ()


def read(shape: type[_Shape], value: Any) -> _Shape:
    """`value` in that shape. Raises ToolError that names the first field which does not fit."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, (shape.__name__.lower(), *problem["loc"])))
        raise ToolError(f"{place}: {problem['msg']} (given: {problem['input']!r:.80}); "
                        f"it has the fields {', '.join(shape.model_fields)}") from None


def mended(plan: Plan) -> tuple[list[Subtask], list[str]]:
    """The sub-tasks with ids of their own and parents that can all come first, and a note on each thing changed.

    `foreach` with `depends_on` takes such a list; as a model wrote it, one wrong parent would stop the run.
    """
    notes: list[str] = []
    tasks = _numbered(_once(plan.subtasks, notes), notes)
    return _without_circles(_with_known_parents(tasks, notes), notes), notes


def gathered(tasks: Sequence[Subtask], loose: Collection[str], notes: list[str]) -> list[Subtask]:
    """The sub-tasks with each loose one made a part of the one before it, or the first ones of the one after them.

    What says nothing of its own about the specification is not worth a dialogue, but must not be lost either. Adds a
    note for each.
    """
    groups: list[list[Subtask]] = []
    for task in tasks:
        if groups and (task.id in loose or all(one.id in loose for one in groups[-1])):
            groups[-1].append(task)
        else:
            groups.append([task])
    now = {task.id: group[0].id for group in groups for task in group}
    notes += [f"sub-task {task.id} is now a part of {now[task.id]}" for task in tasks if now[task.id] != task.id]
    return _without_circles([_one(group, now) for group in groups], notes)


def _one(group: Sequence[Subtask], now: Mapping[str, str]) -> Subtask:
    first = group[0]
    parents = dict.fromkeys(now[parent] for task in group for parent in task.parents)
    return first.model_copy(update={
        "content": "\n".join(task.content for task in group),
        "source": "\n".join(dict.fromkeys(task.source for task in group if task.source)),
        "parents": tuple(parent for parent in parents if parent != first.id or len(group) == 1)})


def bare(name: str) -> str:
    """The id in `Task 3`, `sub-task #3:` or ` 3. `: `3`."""
    plain = " ".join(name.split())
    return _TASK.sub("", plain, count=1).strip(" #.:)") or plain


def _once(tasks: Iterable[Subtask], notes: list[str]) -> list[Subtask]:
    """Without those that say the same as one before."""
    first: dict[str, Subtask] = {}
    for task in tasks:
        words = " ".join(re.findall(r"\w+", task.content.casefold()))
        if words in first:
            notes.append(f"sub-task {task.id!r} says the same as {first[words].id!r}; left out")
        first.setdefault(words, task)
    return list(first.values())


def _numbered(tasks: Iterable[Subtask], notes: list[str]) -> list[Subtask]:
    taken: dict[str, Subtask] = {}
    for number, task in enumerate(tasks, start=1):
        wanted = name = bare(task.id) or str(number)
        copy = 1
        while name in taken:
            copy += 1
            name = f"{wanted}-{copy}"
        if copy > 1:
            notes.append(f"two sub-tasks have the id {wanted}; the later one is now {name}")
        taken[name] = task.model_copy(update={"id": name})
    return list(taken.values())


def _with_known_parents(tasks: list[Subtask], notes: list[str]) -> list[Subtask]:
    ids = {task.id for task in tasks}
    result = []
    for task in tasks:
        parents = dict.fromkeys(map(bare, task.parents))
        if unknown := [parent for parent in parents if parent not in ids]:
            notes.append(f"sub-task {task.id} has parents that are no sub-tasks: {', '.join(unknown)}; left out")
        result.append(task.model_copy(update={"parents": tuple(parent for parent in parents if parent in ids)}))
    return result


def _without_circles(tasks: list[Subtask], notes: list[str]) -> list[Subtask]:
    """In a circle some sub-task waits for one that is listed after it: that one is no parent any more."""
    places = {task.id: place for place, task in enumerate(tasks)}
    parents = {task.id: list(task.parents) for task in tasks}
    for task in tasks:
        for parent in task.parents:
            if places[parent] >= places[task.id] and _reaches(parents, parent, task.id):
                parents[task.id].remove(parent)
                notes.append(f"sub-task {task.id} waits for {parent}, which waits for {task.id}; "
                             f"{parent} is left out of its parents")
    return [task.model_copy(update={"parents": tuple(parents[task.id])}) for task in tasks]


def _reaches(parents: Mapping[str, Iterable[str]], start: str, wanted: str) -> bool:
    """Whether `start` is `wanted`, or waits for it, directly or not."""
    waiting, seen = [start], set[str]()
    while waiting:
        name = waiting.pop()
        if name == wanted:
            return True
        if name not in seen:
            seen.add(name)
            waiting += parents[name]
    return False
