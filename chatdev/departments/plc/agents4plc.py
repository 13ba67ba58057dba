"""The Agents4PLC benchmark as a data set: requirements for Structured Text, judged by their hidden properties."""

from __future__ import annotations

import functools
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from chatdev.config.phases import Phase
from chatdev.departments.plc.interface import ANSWER, OUTSIDE, read_answer
from chatdev.departments.plc.proof.outcomes import Outcome, Property
from chatdev.departments.plc.proof.properties import ASSERTION, PropertyError, read_properties
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.test_cases import read_tasks
from chatdev.departments.plc.source_check import EntryVariable, SourceCheck, check_source
from chatdev.errors import ConfigError
from chatdev.evaluation.measure import Bench, FinishedRun, Row, statistics
from chatdev.evaluation.reporting.study_results import ColumnSet
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.variants import Variant
from chatdev.events import Place
from chatdev.paths import bundled_table, read_named
from chatdev.replies import FilesDelivery, Unreadable, parse_solution, read_marker, tidy_body
from chatdev.runner.recorded import RecordedRun, recorded_company
from chatdev.runner.toolbox import KnownTools
from chatdev.safe_text import sanitize
from chatdev.workspace.file_tree import explain_os_errors

_COLUMN_SET = "plc"
_SUFFIX = ".st"
_RETRIEVAL, _SWITCHES = "retrieval", ("hints", "example", "patches")
"""A phase, and inputs that `no` switches off: the ablations of Agents4PLC (arXiv 2410.14209, table II)."""

COLUMNS = ColumnSet(
    about="Compiled: our checker finds no error. Verifiable: at least 80 % of the task's properties are decided, or "
          "hold in the scans that were looked at. Passed: at least 80 % of them are proved, the rule of Agents4PLC. "
          "Solved: all of them are, no run shows a run-time fault, and inputs and outputs are those asked for. "
          "Properties about assertions that a program does not have count nowhere. Attempts: programs until the first "
          "that compiles, where one does. Skeleton: whether the interface alone, without a statement, solves the task.",
    metrics=("compiled", "verifiable", "passed", "solved"), main="solved",
    compared=("compiled", "verifiable", "passed", "solved"),
    statistics=("seconds", "tokens", "calls", "tool_calls", "attempts", "cost"),
    further_statistics=("prompt_tokens", "completion_tokens", "judging_seconds"), per="solved",
    divided=(("skeleton", "solved"),))


@dataclass(frozen=True, slots=True)
class Agents4Plc:
    """The tasks in `paths` (`read_plc_tasks`). Companies are given the benchmark's properties only with
    `gives_properties`; they are judged by them in any case."""

    paths: tuple[Path, ...]
    gives_properties: bool = False
    name: str = "agents4plc"

    def tasks(self) -> Sequence[Task]:
        """All tasks; their areas and categories are their kinds. Raises ConfigError."""
        return [task.task for task in read_plc_tasks(self.paths).values()]

    def inputs(self, task: Task) -> Mapping[str, bytes]:
        """That no case is looked up or kept, so that no run profits from another; the properties, if they are given."""
        given = {"properties": self.task(task.name).given.encode("utf-8")} if self.gives_properties else {}
        return {"cases": b"no", **given}

    def verdict(self, task: Task, folder: Path, bench: Bench) -> Row:
        """What became of the task: what `judge_software` says, `attempts` (programs until the first that compiles),
        what `judge_skeleton` says of the task, and what the run took. A run that was broken off delivered nothing.
        Blocking; raises JournalError and such."""
        run, asked = FinishedRun.read(folder), self.task(task.name)
        software = run.software if run.has_delivered else {}
        return {"measures": _COLUMN_SET, "kind": task.category, "given": "properties" if self.gives_properties else "",
                "skeleton": judge_skeleton(asked), **judge_software(software, asked),
                "attempts": count_attempts(RecordedRun.read(folder), _compiles, _SUFFIX),
                "tool_calls": run.tool_calls, "model": ", ".join(run.models), "status": run.status,
                "reason": sanitize(run.reason), **statistics(run)}

    def task(self, name: str) -> PlcTask:
        """The task of that name, with its properties. Raises ConfigError."""
        tasks = read_plc_tasks(self.paths)
        if name not in tasks:
            raise ConfigError(f"{', '.join(map(str, self.paths))} has no task {name!r}; there are {len(tasks)}, from "
                              f"{min(tasks)} to {max(tasks)}")
        return tasks[name]


def _compiles(software: Files) -> bool:
    source = read_answer(software)
    return source is not None and not check_source(source).errors


def add_help_ablations(found: Iterable[Variant]) -> list[Variant]:
    """Each variant, followed by the same one without each of the helps of Agents4PLC that it has."""
    return [each for variant in found for each in (variant, *_help_ablations(variant))]


def _help_ablations(variant: Variant) -> Iterator[Variant]:
    company, model = variant.load().config, variant.name.removeprefix(variant.short_name)
    if _RETRIEVAL in company.phases:
        yield replace(variant, name=f"{variant.short_name} without {_RETRIEVAL}{model}",
                      without=(*variant.without, _RETRIEVAL))
    for name in _SWITCHES:
        if name in company.inputs:
            yield replace(variant, name=f"{variant.short_name} without {name}{model}",
                          sets=(*variant.sets, f"inputs.{name}.default=no"))


# The verdict on a program: does it compile, can its properties be decided, does it have them?

SECONDS = 5.0
"""What the check of one property may take; all together `verify.TOGETHER` times as much."""
_SHARE = 0.8  # of the properties, by the paper's rule
_NOTHING: Row = {"compiled": 0.0, "verifiable": 0.0, "passed": 0.0, "solved": 0.0, "interface": None,
                 "properties": 0, "trivial": 0, "proved": 0, "violated": 0, "bounded": 0, "unknown": 0, "vacuous": 0,
                 "faults": 0, "open_faults": 0, "verdicts": "", "detail": "", "judging_seconds": 0.0}


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdicts on the properties that are not trivial, and on what the program owes at run time."""

    kept: Sequence[Outcome]
    owed: Sequence[Outcome]
    trivial: int

    def count(self, verdict: str) -> int:
        """How many properties have this verdict."""
        return sum(outcome.verdict == verdict for outcome in self.kept)

    @property
    def faults(self) -> int:
        """How many run-time faults there are that a run shows."""
        return sum(outcome.verdict == "VIOLATED" for outcome in self.owed)


def judge_software(software: Mapping[str, bytes], task: PlcTask) -> Row:
    """What our checker and prover say of the software: `compiled`, `verifiable`, `passed` (the paper's rule), `solved`
    (ours), each 0 or 1, the `outcome` in a word, and what the verdicts were. Blocking; raises SandboxError."""
    source = read_answer(software)
    if source is None:
        return {**_NOTHING, "outcome": "no_program"}
    checked = check_source(source)
    if checked.errors:
        first = checked.errors[0]
        return {**_NOTHING, "outcome": "does_not_compile", "detail": f"{first.span}: {first.message}"}
    began = time.monotonic()
    row = _judge_program(source, checked, task)
    return {**row, "compiled": 1.0, "judging_seconds": round(time.monotonic() - began, 3)}


@functools.lru_cache(maxsize=256)
def judge_skeleton(task: PlcTask) -> str:
    """Whether the interface that the task shows `solves` it as it stands, or `fails`: some properties hold of a program
    that does nothing. Empty where none is shown."""
    if not task.interface or task.interface not in task.requirement:
        return ""
    row = judge_software({ANSWER: task.interface.encode("utf-8")}, task)
    return "solves" if row["solved"] else "fails"


def _judge_program(source: str, whole: SourceCheck, task: PlcTask) -> Row:
    skeleton = check_source(task.interface) if task.interface else None
    entry, checked = _find_entry(source, whole, task.entry or (skeleton.entry if skeleton else ""))
    changes = _changes(source, checked, skeleton, task.changing) if skeleton and not skeleton.errors else None
    judged = _verify(source, entry, task.properties, has_assertions=bool(checked.assertions))
    return {**_NOTHING, **_counts(judged), **_rates(judged, changes or ()), "verdicts": _letters(judged, task),
            "interface": None if changes is None else float(not changes), "detail": "; ".join(changes or ())}


def _find_entry(source: str, whole: SourceCheck, wanted: str) -> tuple[str, SourceCheck]:
    """What is called in every scan: what the task says where the program has it, else as the checker finds it."""
    found = check_source(source, wanted) if wanted else whole
    return (whole.entry, whole) if found.errors else (found.entry, found)


def _verify(source: str, entry: str, properties: Sequence[Property], *, has_assertions: bool) -> Judged:
    asked = [one for one in properties if has_assertions or one.pattern != ASSERTION]
    found = verify(source, entry, asked, seconds=SECONDS) if asked else []
    return Judged(found[:len(asked)], found[len(asked):], len(properties) - len(asked))


def _changes(source: str, checked: SourceCheck, skeleton: SourceCheck, changing: Sequence[str]) -> list[str]:
    """What the program has made of the interface that was asked for: an input that is none any more can take one value
    only, and one that the program writes takes what it likes, so that properties of it hold for no reason."""
    free = {name.lower() for name in changing}
    wanted = [one for one in skeleton.variables if one.section in OUTSIDE and one.name.lower() not in free]
    return [*_find_lost(wanted, checked), *_find_overwritten(wanted, source, checked)]


def _find_lost(wanted: Sequence[EntryVariable], checked: SourceCheck) -> list[str]:
    there = {one.name.lower(): (one.section, one.type) for one in checked.variables}
    return [f"{one.name} is no {one.section} of type {one.type}" for one in wanted
            if there.get(one.name.lower()) != (one.section, one.type)]


def _find_overwritten(wanted: Sequence[EntryVariable], source: str, checked: SourceCheck) -> list[str]:
    written = _find_written(source, checked)
    return [f"the input {one.name} is written" for one in wanted
            if one.section == "input" and one.name.lower() in written]


def _find_written(source: str, checked: SourceCheck) -> set[str]:
    """The names of inputs that are written somewhere."""
    lines = source.splitlines()
    spans = [one.span for one in checked.diagnostics if one.code == "assign-input"]
    return {lines[span.line - 1][span.column - 1:span.end_column].lower() for span in spans}


def _counts(judged: Judged) -> Row:
    counts = {verdict.lower(): judged.count(verdict) for verdict in ("PROVED", "VIOLATED", "BOUNDED", "UNKNOWN")}
    return {**counts, "properties": len(judged.kept), "trivial": judged.trivial,
            "vacuous": sum(bool(outcome.vacuous) for outcome in judged.kept), "faults": judged.faults,
            "open_faults": sum(outcome.verdict in ("BOUNDED", "UNKNOWN") for outcome in judged.owed)}


def _rates(judged: Judged, changes: Sequence[str]) -> Row:
    """`verifiable` and `passed` by the paper's 80 %, `solved` by our rule."""
    asked = len(judged.kept)
    claims = Counter(outcome.verdict for outcome in judged.kept if outcome.asked.pattern != ASSERTION)
    proved = judged.count("PROVED")
    is_solved = proved == asked and claims["PROVED"] > 0 and not judged.faults and not changes
    return {"verifiable": float(asked > 0 and asked - judged.count("UNKNOWN") >= _SHARE * asked),
            "passed": float(asked > 0 and proved >= _SHARE * asked), "solved": float(is_solved),
            "outcome": "solved" if is_solved else _reason(judged, changes, proved)}


def _reason(judged: Judged, changes: Sequence[str], proved: int) -> str:
    """Why a program that compiles is not solved; the first of these that applies."""
    if judged.count("VIOLATED"):
        return "violated"
    if proved < len(judged.kept):
        return "undecided"
    if judged.faults:
        return "run_time_fault"
    return "interface_changed" if changes else "nothing_proved"


def _letters(judged: Judged, task: PlcTask) -> str:
    """A letter for each property in its order: P proved (p: vacuously), V violated, B bounded, U unknown, t trivial."""
    letters = iter(outcome.verdict[0].lower() if outcome.verdict == "PROVED" and outcome.vacuous else outcome.verdict[0]
                   for outcome in judged.kept)
    has_assertions = not judged.trivial
    return "".join(next(letters) if has_assertions or one.pattern != ASSERTION else "t" for one in task.properties)


# Tasks of the benchmark, and folders of one's own: what is asked for, and the properties to be had.

OWN = "own"
"""The kind of tasks in folders of their own."""
_PROPERTIES, _REQUIREMENT, _INTERFACE, _SOLUTION = "properties.json", "requirement.md", "interface.st", "solution.st"
_VALIDATED = "properties_to_be_validated"
_LARGEST = 16 << 20  # bytes of a file
_SKELETON = re.compile(r"^[ \t]*(?:FUNCTION_BLOCK|PROGRAM|FUNCTION|TYPE|VAR_GLOBAL)\b.*"
                       r"^[ \t]*END_(?:FUNCTION_BLOCK|PROGRAM|FUNCTION)\b", re.IGNORECASE | re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PlcTask:
    """A requirement and the hidden properties that a program must have, as the benchmark writes them (`given`) and as
    they are checked. `interface` is a source whose inputs and outputs the program must have, or empty; `entry` is what
    is called in every scan, if the properties say so. Those of its inputs that the text wants changed are `changing`.
    """

    name: str
    kind: str
    requirement: str
    given: str
    properties: tuple[Property, ...]
    interface: str = ""
    entry: str = ""
    changing: tuple[str, ...] = ()

    @property
    def task(self) -> Task:
        """As a task of a data set; its area and category are its kind."""
        return Task(self.name, self.kind, self.kind, self.requirement)


@functools.cache
def read_plc_tasks(paths: tuple[Path, ...]) -> Mapping[str, PlcTask]:
    """The tasks in files of the benchmark, and in folders with such files or with tasks, by their names; one without
    properties is left out, since nothing could judge it. Raises ConfigError, which names file, task and field."""
    found: dict[str, PlcTask] = {}
    for path in paths:
        before = len(found)
        for task in _tasks_in(path):
            if task.name in found:
                raise ConfigError(f"{path}: there are two tasks {task.name!r}; rename one of them")
            found[task.name] = task
        if len(found) == before:
            raise ConfigError(f"{path} holds no tasks; give a file of the Agents4PLC benchmark (.jsonl), a folder of "
                              f"them, or a folder of tasks, each with {_REQUIREMENT} and {_PROPERTIES}")
    return found


def _tasks_in(path: Path) -> Iterator[PlcTask]:
    if path.is_file():
        yield from _benchmark_tasks(path)
        return
    for file in sorted(path.rglob("*")):
        if file.name == _REQUIREMENT:
            yield _own_task(file.parent)
        elif file.suffix == ".jsonl" and file.is_file():
            yield from _benchmark_tasks(file)


def _own_task(folder: Path) -> PlcTask:
    requirement, given = _read_text(folder / _REQUIREMENT).strip(), _read_text(folder / _PROPERTIES)
    if not requirement:
        raise ConfigError(f"{folder / _REQUIREMENT} is empty; write down what the program must do")
    properties = _read_properties(given, str(folder / _PROPERTIES))
    if not properties:
        raise ConfigError(f"{folder / _PROPERTIES} holds no properties; write down what a program must keep to")
    shown, solution = (_read_text(folder / name).strip() if (folder / name).exists() else ""
                       for name in (_INTERFACE, _SOLUTION))
    return PlcTask(folder.name, OWN, f"{requirement}\n\n{shown}".strip(), given, properties, shown or solution,
                   _entry_point(json.loads(given)))


def _benchmark_tasks(file: Path) -> Iterator[PlcTask]:
    """The tasks of a file, whose name says their kind."""
    for number, entry in enumerate(_entries(file), start=1):
        where = f"{file}: task {_name_of(entry, number, file)}"
        given = entry.get(_VALIDATED) or []
        properties = _read_properties(given, f"{where}, {_VALIDATED}")
        if properties:
            yield _benchmark_task(entry, file.stem, properties, where)


def _benchmark_task(entry: Mapping[str, Any], kind: str, properties: tuple[Property, ...], where: str) -> PlcTask:
    instruction = entry.get("instruction")
    if not isinstance(instruction, str) or not instruction.strip():
        raise ConfigError(f"{where}: `instruction` is missing or no text; write down what the program must do")
    if any("\ud800" <= character <= "\udfff" for character in instruction):
        raise ConfigError(f"{where}: `instruction` has half of a character (a lone \\uD800 to \\uDFFF); take it out")
    skeleton = _SKELETON.search(instruction)
    name = str(entry["id"])
    return PlcTask(name, kind, instruction.strip(), json.dumps(entry[_VALIDATED], indent=2, ensure_ascii=False),
                   properties, skeleton.group() if skeleton else "", _entry_point(entry[_VALIDATED]),
                   tuple(_changing_inputs().get(name, ())))


def _entries(file: Path) -> list[Mapping[str, Any]]:
    """The tasks of a file, as they stand there."""
    try:
        found: list[Any] = read_tasks(_read_text(file))
    except ValueError as error:
        raise ConfigError(f"{file}: {error}; a file of the benchmark holds JSON objects one after another") from None
    for entry in found:
        if not isinstance(entry, dict):
            raise ConfigError(f"{file}: {entry!r:.60} stands where a task is expected: an object with id, instruction "
                              f"and {_VALIDATED}")
    return found


def _name_of(entry: Mapping[str, Any], number: int, file: Path) -> str:
    name = entry.get("id")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{file}: `id` of the task number {number} is missing or no text; name each task")
    return name


def _read_properties(given: Any, where: str) -> tuple[Property, ...]:
    try:
        return tuple(read_properties(given))
    except PropertyError as error:
        raise ConfigError(f"{where}: {error}") from error


def _entry_point(given: Sequence[Any]) -> str:
    """What the properties are about, where they name it."""
    inner = (one.get("property", one) for one in given)
    return next((str(one["entry_point"]) for one in inner if one.get("entry_point")), "")


@functools.cache
def _changing_inputs() -> Mapping[str, Sequence[str]]:
    """Name of a task -> those of its inputs that its text wants changed."""
    found: Mapping[str, Sequence[str]] = bundled_table(Path(__file__).with_name("agents4plc.yaml"))["changing"]
    return found


def _read_text(file: Path) -> str:
    with explain_os_errors("read", file):
        size = file.stat().st_size
        if size > _LARGEST:
            raise ConfigError(f"{file} has {size:,} bytes; a file of tasks has at most {_LARGEST:,}")
        try:
            return read_named(file).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError(f"{file} is not UTF-8 text (its byte {error.start}); convert it to UTF-8") from None


# How many programs a run wrote until the first one that compiles (table I), from its journal.

Files = Mapping[str, bytes]


def count_attempts(run: RecordedRun, compiles: Callable[[Files], bool], suffix: str) -> int | None:
    """The number of the first reply whose files compile, among those that write a file with this suffix; None where
    none does. Each draft is an attempt, and so is a reply that was refused afterwards. `compiles` is asked about the
    software as that reply would have it, mended where its phase mends it."""
    company = recorded_company(run.order, KnownTools())
    writing = {name: phase for name, phase in company.phases.items() if phase.solution.form == "files"}
    records = list(run.records)
    for number, delivery in enumerate(_deliveries(records, writing, run.order.software, suffix), start=1):
        if compiles(delivery.software):
            return number
    return None


def _deliveries(records: Sequence[Mapping[str, Any]], phases: Mapping[str, Phase], software: Files,
                suffix: str) -> Iterator[FilesDelivery]:
    """What the assistants' replies write, each upon what stood then."""
    read: dict[str, FilesDelivery] = {}
    mended = dict(_find_mended(records))
    for record in records:
        place = Place(record.get("place", ""))
        if record["kind"] == "Activity" and _is_answer(record["result"], place):
            found = _read(record["result"]["text"], phases.get(place.step_name), software)
            if found:
                found = replace(found, software={**found.software, **mended.get(place.turn, {})})
                read[place.turn] = found
            if found and any(path.lower().endswith(suffix) for path in found.written):
                yield found
        elif record["kind"] == "DeliveryApplied" and place in read:
            software = read[place].software


def _find_mended(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Files]]:
    """The files that a tool mended, with the turn that delivered them."""
    for record in records:
        turn, _, part = record.get("place", "").rpartition("/")
        if record["kind"] == "Activity" and part == "mend" and isinstance(value := record["result"].get("value"), dict):
            yield turn, {path: text.encode() for path, text in value.get("files", {}).items()}


def _is_answer(result: Mapping[str, Any], place: Place) -> bool:
    """Whether an assistant says something here, and calls no tool."""
    return "text" in result and not result.get("tool_calls") and place.speaker == "assistant"


def _read(text: str, phase: Phase | None, software: Files) -> FilesDelivery | None:
    """The files that a reply of this phase writes; None where it writes none, or cannot be read."""
    if phase is None:
        return None
    try:
        body = tidy_body(phase.solution, read_marker(text).body)
        found: FilesDelivery = parse_solution(phase.solution, body, software)
    except Unreadable:
        return None
    return found
