"""A run that is killed and gone on with, judged by the run that nobody disturbed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from benchmarks.reliability.lab import Death, Lab, Session
from benchmarks.reliability.left import JOURNAL, Left, places
from benchmarks.reliability.workshop import BRANCHES
from chatdev.journal import read_journal

_TRIES = 10
"""A kill that came at another moment than it should is tried again so often, with a new run."""
REFUSED = "start the run anew"
"""What is said of a run that has not begun."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The run that nobody disturbs: what it leaves, the places it asks the model at, and the seconds it takes."""

    left: Left
    asked: frozenset[str]
    seconds: float
    folder: Path

    @classmethod
    def made(cls, lab: Lab) -> Baseline:
        """Run it. Raises RuntimeError when it does not succeed."""
        session = lab.run(warehouse := lab.warehouse())
        if session.status != 0:
            raise RuntimeError(f"the run that nobody disturbs failed: {session.err}")
        (folder,) = warehouse.iterdir()
        return cls(Left.of(folder), frozenset(session.asked), session.seconds, folder)


class Life(NamedTuple):
    """A session, and the activities that were in the journal before and after it."""

    session: Session
    before: frozenset[str]
    after: frozenset[str]

    @property
    def lost(self) -> list[str]:
        """Calls that were paid for in vain: they had reached the model and are not in the journal."""
        return [place for place in self.session.asked if place not in self.after]


@dataclass(slots=True)
class Trial:
    """What came of a run that was killed."""

    kind: str
    boundaries: list[int] = field(default_factory=list)
    """Activities in the journal at each kill."""
    lost: list[int] = field(default_factory=list)
    """Calls in flight at each kill."""
    faults: list[str] = field(default_factory=list)
    """How its end differs from that of the run that nobody disturbed, and what else failed."""
    overpaid: list[str] = field(default_factory=list)
    """What was paid for that needed not be."""
    begun: bool = True
    """Whether there was anything to go on with at the first kill."""


def killed(lab: Lab, baseline: Baseline, kind: str, deaths: Iterable[Death], kills: int = 1) -> Trial:
    """Kill a run so often, by one death after the other, and go on to its end. Of one death there are as many tries as
    it needs."""
    coming: Iterator[Death] = iter(deaths)
    folder, first = _first(lab, next(coming))
    if not first.session.killed:
        return Trial(kind, faults=[first.session.err or "no kill came at the moment it should"])
    if not any(record["kind"] == "Order" for record in read_journal(folder / JOURNAL)):
        return _not_begun(lab, kind, folder, first)
    lives = [first]
    while sum(life.session.killed for life in lives) < kills:
        lives.append(_life(lab.resume(folder, next(coming)), lives[-1].after, folder))
        if lives[-1].session.hung:
            break
    lives.append(_life(lab.resume(folder), lives[-1].after, folder))
    return _judged(kind, baseline, lives, folder)


def _first(lab: Lab, death: Death) -> tuple[Path, Life]:
    """The first session of a run that died as it should, and the run's folder."""
    for _ in repeat(None, _TRIES):
        session = lab.run(warehouse := lab.warehouse(), death)
        (folder,) = warehouse.iterdir()
        life = _life(session, frozenset(), folder)
        if session.hung or (session.killed and death.activities in (None, len(life.after))):
            break
        death = death.earlier()
    return folder, life


def _life(session: Session, before: frozenset[str], folder: Path) -> Life:
    return Life(session, before, frozenset(places(folder)))


def _not_begun(lab: Lab, kind: str, folder: Path, first: Life) -> Trial:
    """Killed before it was written down what the run is to do: that is said, and nothing was paid."""
    session = lab.resume(folder)
    faults = [f"exit status {session.status}: {session.err[-500:]}"] if REFUSED not in session.err else []
    overpaid = ["it was paid for before it had begun"] if first.session.asked else []
    return Trial(kind, [0], [0], faults, overpaid, begun=False)


def _judged(kind: str, baseline: Baseline, lives: list[Life], folder: Path) -> Trial:
    deaths, end = [life for life in lives if life.session.killed], lives[-1].session
    trial = Trial(kind, [len(life.after) for life in deaths], [len(life.lost) for life in deaths],
                  [life.session.err for life in lives if life.session.hung],
                  [fault for life in lives for fault in _overpaid(life)])
    if end.status != 0:
        trial.faults.append(f"exit status {end.status}: {end.err[-500:]}")
        return trial
    paid, expected = sum(len(life.session.asked) for life in lives), len(baseline.asked) + sum(trial.lost)
    if paid != expected:
        trial.overpaid.append(f"{paid} calls were paid for, where {expected} were to be expected")
    try:
        trial.faults += baseline.left.differences(Left.of(folder))
    except ValueError as twice:
        trial.faults.append(str(twice))
    return trial


def _overpaid(life: Life) -> list[str]:
    """Calls of a session that were not needed, and more in flight than there are branches."""
    session, found = life.session, []
    if again := [place for place in session.asked if place in life.before]:
        found.append(f"paid for although they were in the journal: {again}")
    if len(set(session.asked)) < len(session.asked):
        found.append("a session asked twice for one activity")
    if len(life.lost) > (BRANCHES if session.killed else 0):
        found.append(f"in flight were {life.lost}")
    return found
