"""What is asked of a program, and what came of it: plain data, for which no solver is needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from chatdev.departments.plc.st.core import MOST_TURNS

Verdict = Literal["PROVED", "VIOLATED", "BOUNDED", "UNKNOWN"]
"""PROVED: in every run, however long. VIOLATED: there is a run that shows it, and it was replayed. BOUNDED: not in the
first k scans, nothing is known of later ones; that is no proof. UNKNOWN: nothing is known, and the reason is said."""
RUN_TIME = "run-time"
"""The pattern of what every program owes without being asked; its parameters are the kind of fault, its place
(`line:column`) and more about it."""
ENDS_RUN = ("index", "division", "subrange", "loop")
"""Run-time faults that end a run. Others only have to be reported."""
UNREADABLE = "unreadable"
"""The pattern of what was given as a property and is none; its parameters are how it begins, and why it is none."""


@dataclass(frozen=True, slots=True)
class Property:
    """A requirement: a pattern by its PLCverif name with its expressions, or `RUN_TIME`, or `UNREADABLE`."""

    pattern: str
    parameters: tuple[str, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Cycle:
    """One scan of a counterexample: the variables that changed in it (inputs among them) with their values after it, in
    the order of their declaration; the source lines that ran; the run-time fault that ended it, if one did."""

    number: int
    milliseconds: int
    changed: tuple[tuple[str, str], ...]
    lines: tuple[int, ...]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What another verifier, `by`, says of a property. `said` tells why it is UNKNOWN, with the verifier's words; with
    `scans` it looked at fewer scans than that, not at every run."""

    by: str
    verdict: Literal["SATISFIED", "VIOLATED", "UNKNOWN"]
    said: str = ""
    scans: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on a property. `k` is how many scans were looked at, `seconds` how long a processor worked on it;
    `cycles` are the run that shows it (for reachability the one that gets there); `vacuous` says why a proof says
    nothing of the program, if it does not; `opinion` is that of another verifier, if one was asked."""

    asked: Property
    verdict: Verdict
    k: int = 0
    seconds: float = 0.0
    reason: str = ""
    vacuous: str = ""
    cycles: tuple[Cycle, ...] = ()
    opinion: Opinion | None = None

    @property
    def is_decided(self) -> bool:
        """Whether it is known whether the property holds."""
        return self.verdict in ("PROVED", "VIOLATED")

    @property
    def is_contradicted(self) -> bool:
        """Whether the other verifier says the contrary, of runs that both looked at."""
        if self.opinion is None or (self.opinion.scans and len(self.cycles) >= self.opinion.scans):
            return False
        return (self.verdict, self.opinion.verdict) in (("PROVED", "VIOLATED"), ("VIOLATED", "SATISFIED"))


@dataclass(frozen=True, slots=True)
class Limits:
    """What a check may take: seconds of a processor, scans that are looked at, whether integers may not overflow,
    either, and how many turns of a loop in a scan are no fault."""

    seconds: float = 10.0
    most_k: int = 30
    watch_overflow: bool = False
    most_turns: int = MOST_TURNS
    assumed: tuple[tuple[str, ...], ...] = ()
    """The parameters of the run-time obligations that are taken for granted, as a run that breaks one ends there."""
    alone: bool = False
    """Nothing is looked at but what the question itself depends on: neither other obligations, nor whether loops end
    that it has nothing to do with. That takes little time."""
