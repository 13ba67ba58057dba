"""The checks that the company agreed on before the program was written: what is typed, and what must then be seen.

Programmer and Tester go by the same structure of the program, so that a right program passes them. The request does not
say them, though: one that does not hold fails nobody. It is shown, and it leaves open whether the program works, unless
the request has examples that hold, and the program takes none of what the checks say, or refuses the command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
from chatdev.departments.software.drivers.step import Step, read_steps
from chatdev.departments.software.toolchains.toolchain import BuiltSoftware, Toolchain
from chatdev.departments.software.toolchains.verdict import Finding
from chatdev.departments.software.trial.tried import CRASHES
from chatdev.departments.software.trial.using import UsedCheck

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
