"""What came of a trial: each case, each start, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from chatdev.departments.software.cases.case import Case, Start
from chatdev.departments.software.toolchains.verdict import Finding
from chatdev.departments.software.trial.likely_trial import LikelyTrial
from chatdev.departments.software.trial.plan import Plan
from chatdev.departments.software.trial.probe import KeepingFault

CRASHES = {"crashed", "missing_module", "killed", "exceeded"}
"""Rules that no start of a user may meet. An exit status is none: a program may refuse what was typed."""
Wrong = Literal["endless", "output", "status", "files", "refusal"] | KeepingFault
"""What is wrong with a start: it does not end, it prints, ends with or writes something else than is wanted, it refuses
what it should do, or it crashes or does not keep what was added (`KeepingStart`)."""


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
    likely: LikelyTrial | None = None
    """Of what the request seems to show, where no case is certain."""
    shows_sense: bool = False
    """Whether it keeps what is added, or carries out a command that the request names."""

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
        return self.held > 0 or bool(self.likely and self.likely.confirmed) or self.shows_sense

    @property
    def only_crashes(self) -> bool:
        """Whether every start ended so."""
        return all(start.wrong == "crash" for start in self.starts)
