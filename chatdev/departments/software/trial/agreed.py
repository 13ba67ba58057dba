"""The checks that the company agreed on before the program was written: what is typed, and what must then be seen.

Programmer and Tester go by the same structure of the program, so that a right program passes them. The request does not
say them, though: one that does not hold fails nobody. It is shown, and it leaves open whether the program works, unless
the request has examples that hold, and the program takes none of what the checks say, or refuses the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from chatdev.departments.software.cases.case import (
    MOST_CASES,
    MOST_STARTS,
    Case,
    Start,
    cases_from_value,
    texts_by_path,
)
from chatdev.departments.software.cases.sentences import named_buttons, named_routes
from chatdev.departments.software.drivers.step import Driven, Step, read_steps
from chatdev.departments.software.drivers.texts import is_same, plain_label
from chatdev.departments.software.toolchains.toolchain import BuiltSoftware, Toolchain
from chatdev.departments.software.toolchains.verdict import Finding
from chatdev.departments.software.trial.trial import CRASHES
from chatdev.workspace.python_errors import last_traceback

# Checks of windows, pages and services: how their steps went, and what of them the request surely names.

_LIKE = {"*": ("*", "x", "·", "∙", "mul"), "/": ("/", ":", "∕", "div"), "-": ("-", "‐", "minus"),
         "+": ("+", "plus"), "=": ("=", "equals", "enter"), ".": (".", ",", "·")}
"""What else a button bears for a sign."""
_MOST_SIBLINGS_LACKING = 3
_UNCAUGHT, _IN_A_WINDOW = "Uncaught", "Exception in Tkinter callback"
_FEW = 3  # labels, with which others cannot vouch that this is the window meant


@dataclass(frozen=True, slots=True)
class UsedCheck:
    """Steps that were tried, and how they went; `differs` says what is otherwise, empty where nothing is."""

    steps: tuple[Step, ...]
    driven: Driven

    @property
    def differs(self) -> str:
        """In words."""
        seen = self.driven.steps
        for step, one in zip(self.steps, seen, strict=False):
            if one.problem:
                return _words(step, one.problem)
        if self.crash:
            return f"an error: {self.crash}"
        if len(seen) < len(self.steps):
            return self.driven.trouble or "it does not come to its end"
        return ""

    @property
    def crash(self) -> str:
        """The error with which a window answered a user, or a script of a page ended; empty without one."""
        uncaught = next((one.problem for one in self.driven.steps if one.problem.startswith(_UNCAUGHT)), "")
        trace = last_traceback(self.driven.stderr) if _IN_A_WINDOW in self.driven.stderr else None
        return uncaught or (trace.exception if trace else "")

    def fails_at(self, request: str) -> list[str]:
        """The labels that were pressed and that the request names, where that ended in an error."""
        done = [step.text for step in self.steps[:len(self.driven.steps)] if step.kind == "press"]
        return [label for label in named_buttons(request) if self.crash and any(is_same(label, one) for one in done)]

    @property
    def confirms(self) -> bool:
        """Whether something was done, and something then seen that was not there before."""
        acted = [place for place, step in enumerate(self.steps) if step.acts]
        seen = [place for place, one in enumerate(self.driven.steps) if one.new]
        return not self.differs and bool(acted and seen) and acted[0] <= seen[-1]

    def shown(self) -> dict[str, Any]:
        """As the report shows it."""
        done = self.steps[:len(self.driven.steps) + bool(self.driven.trouble)]
        last = self.driven.steps[-1].seen if self.driven.steps else self.driven.seen
        return {"command": "", "did": [describe_step(step) for step in done], "typed": [], "differs": self.differs,
                "seen": "\n".join(last.splitlines()[:15])[:1000]}


def describe_step(step: Step) -> str:
    """What somebody does, in words."""
    quoted, at = f"“{step.text.rstrip()}”", f" “{step.at}”" if step.at else ""
    return {"press": f"press {quoted}", "type": f"type {quoted} into{at or ' the field'}",
            "choose": f"choose {quoted}{at and ' from' + at}", "reads": f"read {quoted}",
            "title": f"read the title {quoted}", "open": f"open {step.text}", "request": step.text}[step.kind]


def _words(step: Step, problem: str) -> str:
    if step.kind == "request":
        told = {"no answer": "it does not answer", "no route": "it does not know this path", "differs":
                f"its answer does not show {step.shows[0] if len(step.shows) == 1 else list(step.shows)!r:.200}"}
        wanted = f" instead of {step.status}" if step.status else ""
        return told.get(problem, f"it answers with {problem}{wanted}")
    what = f"the field “{step.at}”" if step.at and step.kind == "type" else f"“{step.text.rstrip()}”"
    return {"missing": f"there is no {what}", "disabled": f"{what} cannot be pressed",
            "differs": f"it does not show {what}"}.get(problem, f"an error: {problem}")


def find_faults(used: Sequence[UsedCheck], first: Driven, request: str,
                software: Mapping[str, bytes]) -> dict[str, list[str]]:
    """What the request surely names and the software lacks (`buttons`, looked for in the window or on the page
    of `first`, and `routes`), or ends in an error at (`failing`)."""
    routes = {route for done in used if (route := unknown_route(done, request, software))}
    failing = {label for done in used for label in done.fails_at(request)}
    return {"buttons": sorted(lacking_buttons(first, request, software)), "routes": sorted(routes),
            "failing": sorted(failing)}


def lacking_buttons(driven: Driven, request: str, software: Mapping[str, bytes]) -> list[str]:
    """The labels that the request names and no button bears. Only where that is sure: the other labels are there, or no
    source holds this one; and every button has a label."""
    there = [plain_label(name) for name in driven.names]
    if not there or "" in driven.names:
        return []
    named = named_buttons(request)
    lacking = [label for label in named if not _is_there(label, there)]
    if _vouch(named, lacking):
        return lacking
    return [label for label in lacking if _is_unwritten(label, software)]


def _is_there(label: str, there: Sequence[str]) -> bool:
    wanted = plain_label(label)
    if wanted in _LIKE or not wanted.isalnum():
        alike = _LIKE.get(wanted, (wanted,))
        return any(name in alike or wanted in name for name in there)
    return any(_has_word(name, wanted) for name in there)


def _vouch(named: Sequence[str], lacking: Sequence[str]) -> bool:
    """Whether the labels that are there say that the others belong beside them."""
    return len(named) >= _FEW and len(lacking) <= min(_MOST_SIBLINGS_LACKING, len(named) // 3)


def _is_unwritten(label: str, software: Mapping[str, bytes]) -> bool:
    """Whether a label is of words of which none stands in a source."""
    sources = [data.decode("utf-8", "replace").casefold() for data in software.values()]
    words = label.casefold().split() if re.fullmatch(r"\w[\w ]+", label) else []
    return bool(words) and not any(_has_word(source, word) for source in sources for word in words)


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def unknown_route(check: UsedCheck, request: str, software: Mapping[str, bytes]) -> str:
    """The method and path of the step at which a check ends, where the request names it and the service surely lacks
    it, or fails at it; empty otherwise."""
    place = len(check.driven.steps) - 1
    if place < 0:
        return ""
    route, problem = check.steps[place].text.partition("?")[0], check.driven.steps[place].problem
    if route not in named_routes(request) or (check.steps[place].status or 200) >= 400:
        return ""
    if problem == "no route":
        return route if _is_nowhere(route, software) else ""
    is_first = not place and route.startswith("GET ")
    return route if is_first and re.fullmatch(r"status 5(?!01)\d\d", problem) else ""


def _is_nowhere(route: str, software: Mapping[str, bytes]) -> bool:
    """Whether no source holds the last word of a path."""
    *_, word = ("", *re.findall(r"[A-Za-z]{3,}", route.partition("/")[2]))
    return bool(word) and not any(word.lower().encode() in data.lower() for data in software.values())


# Checks of what is typed, and of what must then be seen.

_MOST_SEEN, _MOST_LINES = 1000, 12  # characters and lines of what a start printed
_MOST_SHOWN = 10  # texts that a start has to show


@dataclass(frozen=True, slots=True)
class AgreedStart:
    """A start of a check: what is done, and the texts that must be among what it prints."""

    start: Start
    shows: tuple[str, ...] = ()

    @property
    def expects(self) -> bool:
        """Whether it is said what is printed."""
        return bool(self.shows or (self.start.prints or "").strip())


@dataclass(frozen=True, slots=True)
class AgreedCheck:
    """A check: what it is about, and its starts one after another in a copy in which `files` lie, too; or the steps of
    somebody who uses its window, its page or what it serves."""

    about: str
    starts: tuple[AgreedStart, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckedStart:
    """How a start of a check went: what is otherwise than agreed, empty where nothing is."""

    agreed: AgreedStart
    finding: Finding
    differs: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether the program refuses what it was agreed to take: a command that it may not have to know."""
        status = self.finding.facts.get("exit_status")
        return self.agreed.start.status in (None, 0) and status not in (None, 0) and self.finding.rule not in CRASHES

    def shown(self) -> dict[str, Any]:
        """As the report shows it."""
        facts = self.finding.facts
        said = "\n".join(filter(str.strip, facts.get("streams", ())))
        lines = said.splitlines()[-_MOST_LINES:]
        return {"did": [], "command": str(facts.get("command", ""))[:_MOST_SEEN], "differs": self.differs,
                "typed": (self.agreed.start.stdin or "").splitlines(), "seen": "\n".join(lines)[-_MOST_SEEN:]}


@dataclass(frozen=True, slots=True)
class AgreedTrial:
    """All agreed checks, tried: each with its starts, up to the first that differs, or as it was used."""

    checks: tuple[tuple[AgreedCheck, tuple[CheckedStart, ...]], ...] = ()
    used: tuple[tuple[AgreedCheck, UsedCheck], ...] = ()

    @property
    def count(self) -> int:
        """How many checks were tried."""
        return len(self.checks) + len(self.used)

    @property
    def differing(self) -> list[dict[str, Any]]:
        """The checks that do not hold, as the report shows them."""
        tried = [(check, [start.shown() for start in starts]) for check, starts in self.checks
                 if any(start.differs for start in starts)]
        used = [(check, [done.shown()]) for check, done in self.used if done.differs]
        return [{"about": check.about, "files": dict(check.files), "starts": shown} for check, shown in (*tried, *used)]

    @property
    def crashed(self) -> list[tuple[Start, Finding]]:
        """The starts that end as none of a user's may."""
        return [(start.agreed.start, start.finding) for _, starts in self.checks for start in starts
                if start.finding.rule in CRASHES]

    @property
    def doubts(self) -> bool:
        """Whether the program takes a command and then does otherwise than agreed, though it holds to other checks:
        where it holds to none, they are about another program than this."""
        otherwise = [start for _, found in self.checks for start in found if start.differs and not start.is_refused]
        return self._does_something and bool(otherwise or any(done.differs for _, done in self.used))

    @property
    def confirms(self) -> bool:
        """Whether all hold, and one of them saw the program do something, not only refuse."""
        return self._does_something and not self.differing

    @property
    def _does_something(self) -> bool:
        """Whether in a check that holds the program shows what was agreed, and not only refuses."""
        return any(done.confirms for _, done in self.used) or any(
            start.agreed.expects and start.agreed.start.status in (None, 0)
            for _, found in self.checks if not any(start.differs for start in found) for start in found)


def read_checks(value: object, command: str | None) -> Iterator[AgreedCheck]:
    """The checks in what a model wrote, `[{about, files, starts: [{command, stdin, shows, status}]}]`, or `steps` (see
    `read_steps`); `command` is the pattern of what stands before the arguments, None where nobody types any. What is
    none, or something that no user can do, is left out."""
    for one in islice(value if isinstance(value, list | tuple) else [], MOST_CASES):
        if isinstance(one, Mapping) and (check := _read_check(one, command)):
            yield check


def _read_check(value: Mapping[Any, Any], command: str | None) -> AgreedCheck | None:
    starts, files = value.get("starts"), texts_by_path(value.get("files"))
    if files is None:
        return None
    if value.get("steps"):
        return _read_use(value, files)
    if command is None or not isinstance(starts, list) or not 0 < len(starts) <= MOST_STARTS:
        return None
    read = [_read_start(start, command) for start in starts]
    whole = tuple(start for start in read if start is not None)
    return AgreedCheck(str(value.get("about", ""))[:200], whole, files) if len(whole) == len(read) else None


def _read_use(value: Mapping[Any, Any], files: Mapping[str, str]) -> AgreedCheck | None:
    steps = None if value.get("starts") else read_steps(value["steps"])
    return AgreedCheck(str(value.get("about", ""))[:200], (), files, steps) if steps else None


def _read_start(value: object, command: str) -> AgreedStart | None:
    if not isinstance(value, Mapping):
        return None
    case: Case | None = next(cases_from_value({"starts": [value]}, "tester", command), None)
    shows = value.get("shows", [])
    texts = [shows] if isinstance(shows, str) else shows
    if case is None or case.starts[0].unfit or not isinstance(texts, list):
        return None
    return AgreedStart(case.starts[0], tuple(str(text) for text in texts[:_MOST_SHOWN] if str(text).strip()))


def try_checks(toolchain: Toolchain, built: BuiltSoftware, checks: Iterator[AgreedCheck]) -> AgreedTrial:
    """How the checks went, each in a fresh copy of the software; without those that nobody can try here."""
    tried, used = [], []
    for check in checks:
        with built.copy(check.files) as folder:
            if not check.steps:
                tried.append((check, tuple(_try_starts(toolchain, folder, check))))
            elif driven := toolchain.drive(folder, check.steps):
                used.append((check, UsedCheck(check.steps, driven)))
    return AgreedTrial(tuple(tried), tuple(used))


def _try_starts(toolchain: Toolchain, folder: Any, check: AgreedCheck) -> Iterator[CheckedStart]:
    for agreed in check.starts:
        start = agreed.start
        typed = start.stdin if not start.stdin or start.stdin.endswith("\n") else f"{start.stdin}\n"
        finding = toolchain.start(folder, Start(start.arguments, typed), ends=True)
        tried = CheckedStart(agreed, finding, _difference(agreed, finding))
        yield tried
        if tried.differs:
            return


def _difference(agreed: AgreedStart, finding: Finding) -> str:
    """What is otherwise than agreed, in words; empty where nothing is."""
    if finding.rule in CRASHES:
        return "it crashes"
    facts, start = finding.facts, agreed.start
    said, status = " ".join(" ".join(facts.get("streams", ())).split()), facts.get("exit_status")
    if lacking := [text for text in agreed.shows if not _stands_in(text, said)]:
        return f"it does not show {lacking[0]!r:.200}"
    if facts.get("still_running"):
        return "it does not come to its end"
    if start.status is not None and status != start.status:
        return f"exit status {status} instead of {start.status}"
    if start.prints is not None and not _stands_in(start.prints, said):
        return f"it does not print {start.prints!r:.200}"
    wanted = " ".join((start.prints or "").split())
    if wanted and not start.stdin and not any(
            " ".join(stream.split()).endswith(wanted) for stream in facts.get("streams", ())):
        return f"it prints more behind {start.prints!r:.200}"
    return ""


def _stands_in(text: str, said: str) -> bool:
    """Whether a text stands in what was said, blanks and ends of lines being equal. A number at either end of it is a
    whole one there: `6` stands in `6.00 EUR`, and neither in `-6` nor in `65` or `6.5`."""
    wanted = " ".join(text.split())
    before = r"(?<!\d)(?<!\d[.,])(?<![\s(=:]-)" if wanted[:1].isdigit() else ""
    fraction = re.search(r"\d\.\d+$", wanted)
    after = ("0*(?!\\d)" if fraction else r"(?!\d)(?![.,]\d*[1-9])") if wanted[-1:].isdigit() else ""
    return re.search(f"{before}{re.escape(wanted)}{after}", f" {said} ") is not None
