"""The verdict on a program in Structured Text: does it compile, can its properties be decided, does it have them?

A property counts as kept only where it is PROVED. Properties of the kind `assertion` say nothing of a program without
`//#ASSERT`: they are trivial, listed apart, and left out of every share.
"""

from __future__ import annotations

import functools
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from chatdev.departments.plc.agents4plc_tasks import PlcTask
from chatdev.departments.plc.interface import ANSWER, OUTSIDE, read_answer
from chatdev.departments.plc.proof.outcome import Outcome, Property
from chatdev.departments.plc.proof.properties import ASSERTION
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.source_check import EntryVariable, SourceCheck, check_source
from chatdev.evaluation.measure import Row

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
