"""What the report of a trial shows of a case: what was done, wanted and seen, and where a program failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chatdev.tools.software.cases.comparison import lines_of
from chatdev.tools.software.excerpt import excerpt
from chatdev.tools.software.trial import CRASHES, TriedCase, TriedStart
from chatdev.tools.software.verdict import Finding

_TAIL_LINES, _TAIL_CHARACTERS = 5, 300  # of what a command says of which nothing is known
_MOST_LINES, _MOST_CHARACTERS = 20, 1500  # of what is wanted and seen, and of a file
_MOST_SHOWN = 500  # characters of a command, and of a line that is typed


def show_case(tried: TriedCase, software: Mapping[str, bytes]) -> dict[str, Any]:
    """A case as templates and machines read it."""
    return {"from": tried.case.origin, "passed": not tried.failed, "expects": tried.case.expects,
            "files": {name: _shorten_lines(text) for name, text in tried.case.files.items()},
            "starts": [show_start(start, software) for start in tried.starts]}


def show_start(tried: TriedStart, software: Mapping[str, bytes]) -> dict[str, Any]:
    """A start likewise. `software` is looked into for the function that failed."""
    facts, start = tried.finding.facts, tried.start
    crashed = tried.finding.rule in CRASHES
    frames = list(facts["frames"]) if crashed else []
    own = next((frame for frame in reversed(frames) if frame["path"] in software), None)
    seen = "\n".join(filter(str.strip, facts["streams"])) if start.expects else _last_lines(tried.finding, crashed)
    return {
        "command": _shorten(facts["command"]), "typed": list(map(_shorten, (start.stdin or "").splitlines())),
        "expects": start.expects, "wrong": tried.wrong, "failed": tried.failed, "crashed": crashed,
        "wanted": None if start.prints is None else _shorten_lines(start.prints),
        "seen": _shorten_lines(seen) if start.expects and not crashed else seen,
        "status_wanted": start.status, "status": facts.get("exit_status"),
        "files": [{"name": name, "wanted": _shorten_lines(start.writes[name]),
                   "seen": None if text is None else _shorten_lines(text)} for name, text in tried.files.items()],
        "frames": frames, "error": (facts["exception"] or _last_words(tried.finding)) if crashed else "",
        "line": f"{own['path']}:{own['line']}" if own else "",
        "excerpt": excerpt(software, own["path"], own["line"]) if own else "",
    }


def _last_lines(finding: Finding, crashed: bool) -> str:
    said = finding.facts["stdout"] or ("" if crashed else finding.facts["stderr"])
    return "\n".join(said.splitlines()[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]


def _shorten(line: str) -> str:
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]} … ({len(line)} characters)"


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
