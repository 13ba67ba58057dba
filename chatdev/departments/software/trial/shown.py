"""What the report of a trial shows of a case: what was done, wanted and seen, and where a program failed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from chatdev.departments.software import knowledge
from chatdev.departments.software.toolchains.verdict import Finding
from chatdev.departments.software.trial.likely_trial import LikelyTrial
from chatdev.departments.software.trial.plan import Plan
from chatdev.departments.software.trial.tried import CRASHES, Trial, TriedCase, TriedStart
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
            "confirmed": trial.confirmed, "likely": _show_likely(trial.likely),
            "left_out": [one.what for one in trial.plan.left_out if one.why == "file"]}


def _show_likely(likely: LikelyTrial | None) -> dict[str, Any] | None:
    """What came of the likely examples of a request that surely shows some."""
    if likely is None or not likely.counts:
        return None
    seen = likely.seen and {"command": _shorten(likely.seen.facts["command"]),
                            "said": _shorten_streams(likely.seen)}
    return {"confirmed": likely.confirmed, "held": likely.held, "there": likely.there, "seen": seen}


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
