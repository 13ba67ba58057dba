"""The tools that judge a program: `plc.check` (does it compile, with the interface that is wanted?), `plc.verify` (does
it have the properties, in every run?) and `plc.judge` (the same with more time, for the last time); and what is done
beside that: `plc.mend`, `plc.keep`, `plc.report`.

What is not decided is held against nobody: such a verdict passes as not `judged`, and makes no run a success.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from chatdev.departments.plc.interface import ANSWER, WORDING, differences, entry_of, properties_of, read_answer, say
from chatdev.departments.plc.proof.outcomes import RUN_TIME, Outcome, Property
from chatdev.departments.plc.proof.properties import PATTERNS
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.report.listing import explain_run
from chatdev.departments.plc.report.run_plot import plot_run
from chatdev.departments.plc.report.verification_report import write_report
from chatdev.departments.plc.source_check import (
    SourceCheck,
    SourceProof,
    SourceRefused,
    check_source,
    find_unreadable,
    mend_source,
)
from chatdev.departments.plc.source_run import simulate_at_random
from chatdev.errors import ChatDevError, MissingProgram
from chatdev.paths import read_plain
from chatdev.tools.base import ToolContext, Verdict, render_file, tool
from chatdev.tools.retrieval.search import CaseBase, uses_cases
from chatdev.workspace.file_tree import write_file

if TYPE_CHECKING:
    from chatdev.web.views import RunView

SECONDS, LAST_SECONDS = 5.0, 10.0
"""For each property: while the program is worked on, and at the end."""
COMPILED = 0.1
"""What a program is worth that compiles, before anything is proved of it."""

_AROUND, _MOST_ERRORS, _WIDEST = 2, 5, 200  # lines before and after the faulty one; errors; characters of a line
_MOST_CYCLES, _MOST_CHANGES, _MOST_TOLD = 8, 12, 2  # cycles, variables in one, properties told at length

_GivenSource = Annotated[str | None, Field(
    description="The whole source to check; without it the software's present file is checked.")]


@tool(reads=("software", "program_interface?"))
def check(context: ToolContext, *, source: _GivenSource = None) -> Verdict:
    """Check the program in Structured Text: syntax, names, types, and whether it has the inputs and outputs that are
    wanted. Errors are shown with the lines around them, and with what to do."""
    if source is None or source.strip() in context.software:  # its name, where its text is asked for
        source = read_answer(context.software)
    verdict, _ = _compile(context, source)
    return verdict


@tool(reads=("software", "program_interface?", "requirements?"), name="plc.verify")
def verify_answer(context: ToolContext) -> Verdict:
    """Verify the program in Structured Text: check it, then prove or refute each property that it must have, and that
    no run ends with a run-time fault.

    A violated property is shown with the scans that lead to it.
    """
    return _judge(context, SECONDS)


@tool(reads=("software", "program_interface?", "requirements?"))
def judge(context: ToolContext) -> Verdict:
    """Judge the program in Structured Text for the last time, with more time for each property."""
    return _judge(context, LAST_SECONDS)


def _judge(context: ToolContext, seconds: float) -> Verdict:
    source = read_answer(context.software)
    compiled, checked = _compile(context, source)
    if source is None or not compiled.passed:
        return compiled
    asked = properties_of(context.values.get("requirements"))
    outcomes = _name_unreadable(verify_cached(source, checked.entry, tuple(asked), seconds), source, checked.entry)
    return _Judgement(source, checked, bool(asked), outcomes).verdict()


@dataclass(frozen=True, slots=True)
class _Judgement:
    """What was proved and refuted of a program that compiles."""

    source: str
    checked: SourceCheck
    is_asked: bool
    outcomes: Sequence[Outcome]

    @property
    def wrong(self) -> list[Outcome]:
        return [one for one in self.outcomes if one.verdict == "VIOLATED"]

    @property
    def undecided(self) -> list[Outcome]:
        return [one for one in self.outcomes if one.verdict not in ("VIOLATED", "PROVED")]

    def verdict(self) -> Verdict:
        """The verdict that agents read."""
        complaint = next((one.asked.description or say(one.asked) for one in self.wrong), "")
        evidence = {"compiled": True, **_for_cases(self.source, complaint),
                    "verdicts": dict(Counter(one.verdict for one in self.outcomes)),
                    "outcomes": [asdict(replace(one, cycles=())) for one in self.outcomes]}
        return Verdict(not self.wrong, self._report(), self._score(), evidence,
                       judged=self.is_asked and not self.undecided)

    def _report(self) -> str:
        return render_file(
            WORDING / "verified.j2", path=ANSWER, asked=self.is_asked, most=_MOST_TOLD,
            proved=len(self.outcomes) - len(self.wrong) - len(self.undecided),
            wrong=[_tell(one, self.source, self.checked) for one in self.wrong],
            open=[_name(one) for one in self.undecided],
            vacuous=[_name(one) for one in self.outcomes if one.vacuous and one.asked.pattern != RUN_TIME])

    def _score(self) -> float:
        """The share that is proved; what is not decided counts half."""
        if not self.wrong:
            return 1.0
        worth = {"PROVED": 1.0, "VIOLATED": 0.0}
        return COMPILED + (1 - COMPILED) * fmean(worth.get(one.verdict, 0.5) for one in self.outcomes)


@functools.lru_cache(maxsize=32)  # a chain judges the same program as guard, as feedback and as a step
def verify_cached(source: str, entry: str, asked: tuple[Property, ...], seconds: float) -> tuple[Outcome, ...]:
    """The verdicts of `verify`."""
    return tuple(verify(source, entry, asked, seconds=seconds))


def _name_unreadable(outcomes: Sequence[Outcome], source: str, entry: str) -> list[Outcome]:
    """The outcomes, with those violated that speak of variables which the program does not have: it lacks them."""
    asked = [one.asked for one in outcomes if one.asked.pattern in PATTERNS]
    try:
        found = find_unreadable(source, entry, asked)
    except SourceRefused:
        return list(outcomes)
    wrong = {asked[int(number) - 1]: why for number, why in found.items()}
    return [replace(one, verdict="VIOLATED", reason=wrong[one.asked]) if one.asked in wrong else one
            for one in outcomes]


def _compile(context: ToolContext, source: str | None) -> tuple[Verdict, SourceCheck]:
    """The verdict of the checker, and what it found."""
    if source is None:
        none = SourceCheck("", ())
        return Verdict(False, render_file(WORDING / "no_answer.j2", path=ANSWER), 0.0, {"compiled": False}), none
    interface = context.values.get("program_interface")
    checked = check_source(source, entry_of(interface))
    missing = [] if checked.errors else differences(interface, checked)
    text = render_file(WORDING / "compiled.j2", path=ANSWER, most=_MOST_ERRORS, missing=missing,
                       errors=list(_errors_with_lines(checked, source)),
                       warnings=[one for one in checked.diagnostics if one.severity != "error"])
    passed = not checked.errors and not missing
    complaint = checked.errors[0].message if checked.errors else ""
    return Verdict(passed, text, COMPILED if passed else 0.0,
                   {"compiled": passed, **_for_cases(source, complaint)}), checked


def _for_cases(source: str, complaint: str) -> dict[str, str]:
    """What `plc.keep` needs of a program that was not right yet."""
    return {"source": source, "complaint": complaint} if complaint else {}


def _errors_with_lines(checked: SourceCheck, source: str) -> Iterator[Mapping[str, Any]]:
    """The errors, each with the lines of the source around it unless the one before has them."""
    lines, before = source.split("\n"), 0
    for error in checked.errors:
        at = error.span.line
        near = range(max(1, at - _AROUND), min(len(lines), at + _AROUND) + 1) if at != before else ()
        before = at
        yield {"text": error.message, "hint": error.hint, "line": at, "column": error.span.column,
               "lines": [{"number": number, "text": lines[number - 1][:_WIDEST]} for number in near]}


def _name(outcome: Outcome) -> Mapping[str, Any]:
    """What an outcome is about."""
    return {"description": outcome.asked.description, "says": say(outcome.asked), "verdict": outcome.verdict,
            "k": outcome.k, "reason": outcome.reason, "vacuous": outcome.vacuous}


def _tell(outcome: Outcome, source: str, checked: SourceCheck) -> Mapping[str, Any]:
    """A violated property as agents read it: its last scans, and the lines that ran in the very last."""
    cycles, lines = outcome.cycles, source.split("\n")
    written = {one.name.lower(): one.name for one in checked.variables}
    ran: Sequence[int] = cycles[-1].lines if cycles else ()
    shown = [{"number": one.number, "milliseconds": one.milliseconds, "more": max(0, len(one.changed) - _MOST_CHANGES),
              "changed": [(_write_path(path, written), value) for path, value in one.changed[:_MOST_CHANGES]]}
             for one in cycles[-_MOST_CYCLES:]]
    return {**_name(outcome), "fault": cycles[-1].fault if cycles else "", "cycles": shown,
            "skipped": max(0, len(cycles) - _MOST_CYCLES),
            "ran": [{"number": number, "text": lines[number - 1][:_WIDEST]} for number in ran if number <= len(lines)]}


def _write_path(path: str, written: Mapping[str, str]) -> str:
    """A path such as `timer.et` with its variable as the source writes it."""
    root = re.split(r"[.\[]", path, maxsplit=1)[0]
    return written.get(root.lower(), root) + path[len(root):]


# `plc.keep`: what was proved is kept for later tasks (the paper's retrieval of code that worked).

_LARGEST_PATCH = 12
"""Changed lines: what changes more is another program, and no patch."""


@tool(reads=("software", "program_interface?", "requirements?", "draft?"))
def keep(context: ToolContext) -> dict[str, Any]:
    """Keep a program of which every property is proved, and the patch that mended its first draft, for later tasks.

    Returns what was kept (`program`, `patch`), and `problem`, which is empty unless they could not be written down.
    With the input `cases: no` nothing is kept.
    """
    source, verdict = read_answer(context.software), judge.function(context)
    if source is None or not (uses_cases(context) and verdict.passed and verdict.judged):
        return {"program": False, "patch": False, "problem": ""}
    try:
        return {"program": True, "patch": _add_case(context, source), "problem": ""}
    except ChatDevError as error:  # the program is as good without
        return {"program": False, "patch": False, "problem": str(error)}


def _add_case(context: ToolContext, source: str) -> bool:
    """Whether there was a patch, too."""
    draft: Mapping[str, Any] = context.values.get("draft") or {}
    before, complaint = str(draft.get("source") or ""), str(draft.get("complaint") or "")
    is_patch = bool(complaint) and 0 < _changed_lines(before, source) <= _LARGEST_PATCH
    cases = CaseBase()
    cases.add_program(str(context.inputs.get("task") or ""), source)
    if is_patch:
        cases.add_patch(complaint, before, source)
    return is_patch


def _changed_lines(before: str, after: str) -> int:
    return sum(line[:1] in "+-" for line in difflib.ndiff(before.splitlines(), after.splitlines()))


# `plc.mend`: what needs no thought is put right in a delivered program, before anybody judges it.

_MOST_MENDS_TOLD = 10
_NOTHING: dict[str, Any] = {"files": {}, "report": ""}


@tool(reads=("software", "program_interface?"), writes_files=True)
def mend(context: ToolContext) -> dict[str, Any]:
    """Mend the program in Structured Text where it is certainly meant otherwise than it is written: a missing `;`, `=`
    for `:=`, an END_ that ends nothing. Units that the interface does not need and the task does not name are left out.

    Returns `files`: the mended program under its path, or nothing; and a `report`.
    """
    source = read_answer(context.software)
    if source is None:
        return _NOTHING
    entry = entry_of(context.values.get("program_interface"))
    found = mend_source(source, entry, str(context.inputs.get("task") or ""))
    if found.source == source:
        return _NOTHING
    path = next(path for path in context.software if context.software[path].decode("utf-8", "replace") == source)
    report = render_file(WORDING / "mended.j2", path=path, mended=found.mended, most=_MOST_MENDS_TOLD)
    return {"files": {path: found.source}, "report": report}


# `plc.report`: the verification report, and a picture of a simulation, for people.

PICTURE, SCANS = "simulation.svg", 200
"""The file of the picture, and how long the run is that it shows."""
_LARGEST = 1 << 20  # bytes of a program that is shown
_FORMS = {"html": "verification.html", "md": "verification.md"}


@tool(reads=("software", "program_interface?", "requirements?"), name="plc.report")
def report(context: ToolContext) -> dict[str, Any]:
    """Write what is proved of the program as a report (`verification.html` and `.md` beside the journal), and draw a
    simulation with random inputs.

    Returns the names of the files as `documents` and `pictures`; there are none for a program with errors.
    """
    source = read_answer(context.software)
    checked = check_source(source, entry_of(context.values.get("program_interface"))) if source else None
    if source is None or checked is None or checked.errors:
        return {"documents": [], "pictures": {}}
    asked = tuple(properties_of(context.values.get("requirements")))
    proof = SourceProof(source, checked, verify_cached(source, checked.entry, asked, LAST_SECONDS))
    picture = _draw(source, checked.entry)
    for form, name in _FORMS.items():
        text = write_report(proof, form, title=ANSWER, requirement=str(context.inputs.get("task") or ""),  # type: ignore[arg-type]
                            picture=picture.decode())
        write_file(context.run_folder, name, text.encode())
    if picture:
        write_file(context.run_folder, PICTURE, picture)
    pictures = {"Simulation with random inputs": PICTURE} if picture else {}
    return {"documents": list(_FORMS.values()), "pictures": pictures}


def _draw(source: str, entry: str) -> bytes:
    """A picture in SVG; empty where there is nothing to draw, or nothing to draw with."""
    try:
        return plot_run(simulate_at_random(source, entry, SCANS))
    except (SourceRefused, MissingProgram, ValueError):
        return b""


# What the web view shows of a run.


def views(folder: Path, values: Mapping[str, Any]) -> Iterator[RunView]:
    """The properties with their verdicts, and the counterexample of the first that is violated, scan by scan: it is
    proved again, since no journal keeps it."""
    from chatdev.web.views import RunView  # brings the runner with it, which programs without a run do without

    judged = values.get("plc.judge") or values.get("plc.verify") or {}
    outcomes = [one for one in judged.get("outcomes") or () if one["asked"]["pattern"] != RUN_TIME]
    if not outcomes:
        return
    yield RunView("Properties", table=[("property", "verdict", "why"), *map(_row, outcomes)])
    wrong = next((one for one in outcomes if one["verdict"] == "VIOLATED"), None)
    if wrong is not None:
        source = read_plain(folder / "software" / ANSWER, _LARGEST).decode("utf-8")
        yield from _counterexample(source, entry_of(values.get("plc.interface")), _property_of(wrong))


def _row(outcome: Mapping[str, Any]) -> tuple[str, str, str]:
    said = outcome["asked"]["description"] or say(_property_of(outcome))
    return said, outcome["verdict"], outcome["reason"] or outcome["vacuous"]


def _property_of(outcome: Mapping[str, Any]) -> Property:
    asked = outcome["asked"]
    return Property(asked["pattern"], tuple(asked["parameters"]), asked["description"])


def _counterexample(source: str, entry: str | None, asked: Property) -> Iterator[RunView]:
    from chatdev.web.views import RunView

    checked = check_source(source, entry)
    for outcome in verify_cached(source, checked.entry, (asked,), SECONDS):
        if outcome.asked == asked and outcome.cycles:
            run = explain_run(outcome.cycles, source, checked.variables)
            head = ["variable", *(f"scan {n}, {time} ms" for n, time in enumerate(run.milliseconds, start=1))]
            rows = [[one.name, *one.values] for one in run.signals]
            yield RunView("Counterexample", about=say(asked), table=[head, *rows])
