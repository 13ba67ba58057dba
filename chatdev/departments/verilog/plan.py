"""The plan of sub-tasks, as a model wrote it: repaired so that it can be run, and reviewed by `verilog.plan`.

After VerilogCoder (arXiv 2408.08927, §3.1). What a Plan Verification Assistant would have to count is counted here, so
that it can look at the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from chatdev.departments.verilog.messages import render_report
from chatdev.departments.verilog.specification import identifiers, listed_ports
from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.function import tool

_Shape = TypeVar("_Shape", bound=BaseModel)
_QUOTED = 4  # words in a row that make a quotation, or all of a shorter source, but two at least
_NO_PLAN = -1000.0
_TASK = re.compile(r"(?:^the\s+)?(?:sub[\s_-]?)?task(?:[\s_#-]+(?=\w)|(?=\d))", re.IGNORECASE)


class _ModelOutput(BaseModel):
    """What a model wrote: numbers may stand for texts, and more fields than asked for do no harm."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class Subtask(_ModelOutput):
    """One sub-task: a part of the module to write; `source` is what the specification says of it."""

    content: str
    id: str = ""
    source: str = ""
    parents: tuple[str, ...] = ()


class Plan(_ModelOutput):
    subtasks: tuple[Subtask, ...]


class ExtractedSignal(_ModelOutput):
    name: str
    about: str = ""


class Fact(_ModelOutput):
    """A transition of signals, or an example of their values."""

    text: str


class Extraction(_ModelOutput):
    signals: tuple[ExtractedSignal, ...] = ()
    transitions: tuple[Fact, ...] = ()
    examples: tuple[Fact, ...] = ()


def parse(shape: type[_Shape], value: Any) -> _Shape:
    """`value` in that shape. Raises ToolError that names the first field which does not fit."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, (shape.__name__.lower(), *problem["loc"])))
        raise ToolError(f"{place}: {problem['msg']} (given: {problem['input']!r:.80}); "
                        f"it has the fields {', '.join(shape.model_fields)}") from None


def repair_plan(plan: Plan) -> tuple[list[Subtask], list[str]]:
    """The sub-tasks with ids of their own and parents that can all come first, and a note on each thing changed.

    `foreach` with `depends_on` takes such a list; as a model wrote it, one wrong parent would stop the run.
    """
    notes: list[str] = []
    tasks = _number(_drop_repeated(plan.subtasks, notes), notes)
    return _break_circles(_drop_unknown_parents(tasks, notes), notes), notes


def join_loose(tasks: Sequence[Subtask], loose: Collection[str], notes: list[str]) -> list[Subtask]:
    """The sub-tasks with each loose one made a part of the one before it, or the first ones of the one after them.

    What says nothing of its own about the specification is not worth a dialogue, but must not be lost either. Adds a
    note for each.
    """
    groups = _group_loose(tasks, loose)
    now = {task.id: group[0].id for group in groups for task in group}
    notes += [f"sub-task {task.id} is now a part of {now[task.id]}" for task in tasks if now[task.id] != task.id]
    return _break_circles([_join(group, now) for group in groups], notes)


def _group_loose(tasks: Sequence[Subtask], loose: Collection[str]) -> list[list[Subtask]]:
    groups: list[list[Subtask]] = []
    for task in tasks:
        if groups and (task.id in loose or all(one.id in loose for one in groups[-1])):
            groups[-1].append(task)
        else:
            groups.append([task])
    return groups


def _join(group: Sequence[Subtask], now: Mapping[str, str]) -> Subtask:
    first = group[0]
    parents = dict.fromkeys(now[parent] for task in group for parent in task.parents)
    return first.model_copy(update={
        "content": "\n".join(task.content for task in group),
        "source": "\n".join(dict.fromkeys(task.source for task in group if task.source)),
        "parents": tuple(parent for parent in parents if parent != first.id or len(group) == 1)})


def bare_id(name: str) -> str:
    """The id in `Task 3`, `sub-task #3:` or ` 3. `: `3`."""
    plain = " ".join(name.split())
    return _TASK.sub("", plain, count=1).strip(" #.:)") or plain


def _drop_repeated(tasks: Iterable[Subtask], notes: list[str]) -> list[Subtask]:
    """Without those that say the same as one before."""
    first: dict[str, Subtask] = {}
    for task in tasks:
        words = " ".join(re.findall(r"\w+", task.content.casefold()))
        if words in first:
            notes.append(f"sub-task {task.id!r} says the same as {first[words].id!r}; left out")
        first.setdefault(words, task)
    return list(first.values())


def _number(tasks: Iterable[Subtask], notes: list[str]) -> list[Subtask]:
    taken: dict[str, Subtask] = {}
    for number, task in enumerate(tasks, start=1):
        wanted = name = bare_id(task.id) or str(number)
        copy = 1
        while name in taken:
            copy += 1
            name = f"{wanted}-{copy}"
        if copy > 1:
            notes.append(f"two sub-tasks have the id {wanted}; the later one is now {name}")
        taken[name] = task.model_copy(update={"id": name})
    return list(taken.values())


def _drop_unknown_parents(tasks: list[Subtask], notes: list[str]) -> list[Subtask]:
    ids = {task.id for task in tasks}
    kept = []
    for task in tasks:
        parents = dict.fromkeys(map(bare_id, task.parents))
        if unknown := [parent for parent in parents if parent not in ids]:
            notes.append(f"sub-task {task.id} has parents that are no sub-tasks: {', '.join(unknown)}; left out")
        kept.append(task.model_copy(update={"parents": tuple(parent for parent in parents if parent in ids)}))
    return kept


def _break_circles(tasks: list[Subtask], notes: list[str]) -> list[Subtask]:
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
    open_names, seen = [start], set[str]()
    while open_names:
        name = open_names.pop()
        if name == wanted:
            return True
        if name not in seen:
            seen.add(name)
            open_names += parents[name]
    return False


@dataclass(frozen=True, slots=True)
class Gaps:
    """What a plan lacks. `vague` are the ids of sub-tasks that neither name a port nor quote anything, `unquoted` those
    of others that quote nothing; `outputs` are named by no sub-task; `notes` are those of `repair_plan`."""

    vague: list[str]
    unquoted: list[str]
    outputs: list[str]
    notes: list[str]

    @property
    def count(self) -> int:
        return len(self.vague) + len(self.unquoted) + len(self.outputs) + len(self.notes)


@tool(reads=("plan?",), name="verilog.plan")
def review(context: ToolContext) -> Verdict:
    """Compare a plan of sub-tasks with the specification: each sub-task has to quote a sentence, every
    output needs a sub-task, and none stands twice."""
    specification, plan = str(context.inputs.get("task") or ""), context.values.get("plan")
    ports = [port["name"] for port in listed_ports(specification)]
    if plan is None:
        return Verdict(False, render_report("plan", gaps=None, ports=ports), _NO_PLAN)
    gaps = find_gaps(*repair_plan(parse(Plan, plan)), specification)
    return Verdict(not gaps.count, render_report("plan", gaps=gaps, ports=ports), -float(gaps.count), asdict(gaps))


def find_gaps(tasks: Sequence[Subtask], notes: Sequence[str], specification: str) -> Gaps:
    """What a plan lacks, as `repair_plan` gives it. Ports are those that the specification lists; without any, no
    sub-task has to name one."""
    ports = listed_ports(specification)
    names = {port["name"] for port in ports}
    named = {task.id: identifiers(f"{task.content}\n{task.source}") & names for task in tasks}
    unquoted = _tasks_without_quote(tasks, _words(specification))
    vague = [task for task in unquoted if names and not named[task]]
    return Gaps(vague, [task for task in unquoted if task not in vague],
                _outputs_besides(set[str]().union(*named.values()), ports), list(notes))


def _outputs_besides(names: Collection[str], ports: Sequence[Mapping[str, Any]]) -> list[str]:
    return [port["name"] for port in ports
            if port["certain"] and port["direction"] == "output" and port["name"] not in names]


def _tasks_without_quote(tasks: Sequence[Subtask], specification: list[str]) -> list[str]:
    """The ids of the sub-tasks that quote nothing of a specification; none when that is empty."""
    return [task.id for task in tasks if specification and not _quotes(_words(task.source), specification)]


def _quotes(source: list[str], specification: list[str]) -> bool:
    length = max(2, min(_QUOTED, len(source)))
    return not _runs(source, length).isdisjoint(_runs(specification, length))


def _runs(words: list[str], length: int) -> set[tuple[str, ...]]:
    """All that stands in `length` words on end."""
    return set(zip(*(words[n:] for n in range(length)), strict=False))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
