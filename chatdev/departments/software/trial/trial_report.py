"""What came of a trial, and what its report shows of a case: what was done, wanted and seen, and where it failed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from chatdev.departments.software import knowledge
from chatdev.departments.software.cases.case import Case, Start
from chatdev.departments.software.toolchains.verdict import Finding
from chatdev.departments.software.trial.plan import Plan
from chatdev.sandbox.base import lines_of
from chatdev.tools.base import template

_TAIL_LINES, _TAIL_CHARACTERS = 5, 300  # of what a command says of which nothing is known
_MOST_LINES, _MOST_CHARACTERS = 20, 1500  # of what is wanted and seen, and of a file
_MOST_SHOWN = 500  # characters of a command, and of a line that is typed


def show_case(tried: TriedCase, software: Mapping[str, bytes]) -> dict[str, Any]:
    """A case as templates and machines read it."""
    return {"from": tried.case.origin, "passed": not tried.failed, "expects": tried.case.expects,
            "files": {name: _shorten_lines(text) for name, text in tried.case.files.items()},
            "starts": [show_start(start, software) for start in tried.starts]}


def show_start(tried: TriedStart, software: Mapping[str, bytes] | None = None) -> dict[str, Any]:
    """A start likewise. `software` holds the files of its own in which a frame may lie."""
    start, facts = tried.start, tried.finding.facts
    return {
        "command": _shorten(facts["command"]), "typed": list(map(_shorten, (start.stdin or "").splitlines())),
        "expects": start.expects, "wrong": tried.wrong, "failed": tried.failed,
        "asks": tried.finding.rule == "asks_for_input",
        "wanted": None if start.prints is None else _shorten_lines(start.prints), "seen": _output(tried),
        "status_wanted": start.status, "status": facts.get("exit_status"),
        "files": [{"name": name, "wanted": _shorten_lines(start.writes[name]),
                   "seen": None if text is None else _shorten_lines(text)} for name, text in tried.files.items()],
        **_failure(tried.finding, software or {}),
    }


def show_trial(trial: Trial) -> dict[str, Any]:
    """The counts of a trial, and what of its plan was not tried."""
    examples, failed = len(trial.examples), len(trial.failed)
    return {"examples": examples, "held": trial.held, "failed": failed, "others": len(trial.starts) - examples,
            "other_failed": failed - (examples - trial.held), "not_taken": trial.not_taken,
            "confirmed": trial.confirmed,
            "left_out": [one.what for one in trial.plan.left_out if one.why == "file"]}


def show_contradictions(plan: Plan, command: str) -> str:
    """What of the request counts for nothing because it contradicts itself, as text; empty for most. `command` starts
    the program."""
    cases = [{"starts": [{"command": _shorten(shlex.join((*command.split(), *start.arguments))), "stdin": start.stdin,
                          "prints": start.prints, "writes": dict(start.writes), "status": start.status}
                         for start in case.starts]} for case in plan.reading.contradictory]
    return str(template(knowledge.report_template("contradictions")).render(cases=cases)).strip()


def show_unfit(plan: Plan) -> str:
    """What nobody can do, as text; empty for most plans."""
    unfit = [{"what": one.what, "why": one.why} for one in plan.left_out if one.why != "file"]
    return str(template(knowledge.report_template("unfit")).render(unfit=unfit)).strip()


def _failure(finding: Finding, software: Mapping[str, bytes]) -> dict[str, Any]:
    """Where a program failed, by the innermost frame in its own files; empty for one that did not."""
    if finding.rule not in CRASHES:
        return {"crashed": False, "frames": [], "error": "", "line": "", "excerpt": ""}
    frames = list(finding.facts["frames"])
    path, line = next(((str(frame["path"]), int(frame["line"])) for frame in reversed(frames)
                       if frame["path"] in software), ("", 0))
    return {"crashed": True, "frames": frames, "error": finding.facts["exception"] or _last_words(finding),
            "line": f"{path}:{line}" if path else "", "excerpt": frames[-1].get("excerpt", "") if frames else ""}


def _output(tried: TriedStart) -> str:
    """What a program printed: all of it where something is wanted, else the end."""
    crashed = tried.finding.rule in CRASHES
    if tried.start.expects and not crashed:
        return _shorten_streams(tried.finding)
    return _last_lines(tried.finding, crashed)


def _last_lines(finding: Finding, crashed: bool) -> str:
    said = finding.facts["stdout"] or ("" if crashed else finding.facts["stderr"])
    return "\n".join(said.splitlines()[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]


def _shorten(line: str) -> str:
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]} … ({len(line)} characters)"


def _shorten_streams(finding: Finding) -> str:
    """The first lines of all that a program wrote."""
    return _shorten_lines("\n".join(filter(str.strip, finding.facts["streams"])))


def _shorten_lines(text: str) -> str:
    """The first lines of a text."""
    lines = lines_of(text)
    shown = "\n".join(lines[:_MOST_LINES])[:_MOST_CHARACTERS]
    return f"{shown}\n… ({len(lines)} lines)" if shown != "\n".join(lines) else shown


def _last_words(finding: Finding) -> str:
    """What is known of an end without a traceback of Python."""
    if finding.rule == "exceeded":
        what = finding.facts["exceeded"]
        return "not started: no command line can hold this" if what == "command" else f"ended for too much {what}"
    return f"ended by {finding.facts['signal']}" if finding.rule == "killed" else str(finding.facts["stderr"])


# What came of a trial: each case, each start, and what is wrong with it.

CRASHES = {"crashed", "missing_module", "killed", "exceeded"}
"""Rules that no start of a user may meet. An exit status is none: a program may refuse what was typed."""
Wrong = Literal["", "crash", "endless", "output", "status", "files", "refusal"]
"""What is wrong with a start: it crashes, does not end, prints, ends with or writes something else than is wanted, or
refuses what it should do."""


@dataclass(frozen=True, slots=True)
class TriedStart:
    """A start, how it went, and what is wrong. One that does not count fails nobody, whatever is wrong."""

    start: Start
    finding: Finding
    wrong: Wrong = ""
    counts: bool = True
    files: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether it is to be mended."""
        return self.counts and self.wrong != ""


@dataclass(frozen=True, slots=True)
class TriedCase:
    """A case and its starts."""

    case: Case
    starts: tuple[TriedStart, ...]

    @property
    def failed(self) -> bool:
        """Whether one of its starts failed."""
        return any(start.failed for start in self.starts)


@dataclass(frozen=True, slots=True)
class Trial:
    """All cases of a plan, tried."""

    plan: Plan
    cases: tuple[TriedCase, ...]
    shows_sense: bool = False
    """Whether it carries out a command that the request names."""

    @property
    def starts(self) -> list[TriedStart]:
        """Every start, in the order of the plan."""
        return [start for case in self.cases for start in case.starts]

    @property
    def examples(self) -> list[TriedStart]:
        """The starts of which the request says what they do."""
        return [start for start in self.starts if start.start.expects]

    @property
    def held(self) -> int:
        """How many examples hold: none of a program that only refuses, unless nothing else is wanted."""
        held = [one.start for one in self.examples if not one.wrong]
        only_refuses = all(start.refuses for start in held) and not all(one.start.refuses for one in self.examples)
        return 0 if only_refuses else len(held)

    @property
    def failed(self) -> list[TriedStart]:
        """The starts that are to be mended."""
        return [start for start in self.starts if start.failed]

    @property
    def not_taken(self) -> int:
        """How many starts go wrong that fail nobody."""
        return sum(start.wrong != "" and not start.counts for start in self.starts)

    @property
    def confirmed(self) -> bool:
        """Whether anything was seen of the program that speaks for it: a start that goes well is none."""
        return self.held > 0 or self.shows_sense

    @property
    def only_crashes(self) -> bool:
        """Whether every start ended so."""
        return all(start.wrong == "crash" for start in self.starts)
