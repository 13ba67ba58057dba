"""Kill a run at every boundary of its activities, at random instants, and again and again; go on; nothing may differ.

Every run is `chatdev run` of the workshop in a process of its own, ended by SIGKILL and gone on with by
`chatdev resume`. A model call has three boundaries: it has reached the model and is not answered (`asked`); the answer
was sent at most 4 ms ago and is on its way, being read or being written down (`answered`); it is in the journal
(`journaled`, the moment its line can be seen). A tool call has the last one; it begins when that of the activity
before it has passed. `instant`: any time between the first byte of the journal and the run's end. `chain`: one run,
killed again in every session that goes on with it, while it goes through its record or after.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from benchmarks.reliability.lab import Death, Lab
from benchmarks.reliability.proof import Claim, Proof, Study
from benchmarks.reliability.trial import Baseline, Trial, killed
from benchmarks.reliability.workshop import BRANCHES
from benchmarks.study import markdown_table

KINDS = {"asked": "as a call reaches the model", "answered": "as its answer comes", "journaled": "as it is journaled",
         "instant": "at a random instant", "chain": "again and again"}
INSTANTS = 100
CHAINS, IN_A_ROW = 5, 10
AT_ONCE = 2
_ON_THE_WAY = 0.004  # seconds


@dataclass(frozen=True, slots=True)
class Plan:
    """A run to be killed: of what kind the kills are, so many, and when."""

    kind: str
    deaths: Iterator[Death]
    kills: int = 1


def plans(baseline: Baseline, rng: random.Random, *, quick: bool) -> list[Plan]:
    """All runs to be killed; quick: one of a kind, and a short chain."""
    calls, activities = sorted(baseline.asked), len(baseline.left.activities)
    deaths = {
        "asked": [Death(request=place) for place in calls],
        "answered": [Death(request=place, after=rng.uniform(0, _ON_THE_WAY)) for place in calls],
        "journaled": [Death(activities=count) for count in range(activities + 1)],
        "instant": [Death(instant=rng.uniform(0, baseline.seconds)) for _ in range(INSTANTS)],
    }
    if quick:
        deaths = {kind: [rng.choice(those)] for kind, those in deaths.items()}
    single = [Plan(kind, iter([death])) for kind, those in deaths.items() for death in those]
    chains = [Plan("chain", again_and_again(random.Random(rng.random()), baseline.seconds), 2 if quick else IN_A_ROW)
              for _ in range(1 if quick else CHAINS)]
    return chains + single


def again_and_again(rng: random.Random, seconds: float) -> Iterator[Death]:
    """Deaths of the sessions of one run, in turns: after some calls, and at any instant of so many seconds, in which it
    starts, goes through its record and goes on."""
    while True:
        yield Death(request=rng.randint(1, 5), after=rng.choice([None, rng.uniform(0, 2 * _ON_THE_WAY)]))
        yield Death(instant=rng.uniform(0, seconds))


def prove(seed: int, quick: bool) -> Proof:
    """Kill all, and count."""
    with Lab.opened() as lab, ThreadPoolExecutor(AT_ONCE) as pool:
        baseline = Baseline.made(lab)
        todo = plans(baseline, random.Random(seed), quick=quick)
        trials = list(pool.map(lambda plan: killed(lab, baseline, plan.kind, plan.deaths, plan.kills), todo))
    return Proof(claims(baseline, trials, quick=quick), figures(baseline, trials))


def claims(baseline: Baseline, trials: list[Trial], *, quick: bool) -> list[Claim]:
    """What the trials show."""
    lost = [n for trial in trials for n in trial.lost]
    differ, overpaid = (_told(trials, part) for part in ("faults", "overpaid"))
    where = {trial.boundaries[0] for trial in trials if trial.kind == "journaled" and trial.boundaries}
    every = len(baseline.left.activities) + 1
    return [
        Claim("a killed run that is resumed ends as if it had never been killed: the software, every commit, every "
              "activity and every event are the same", not differ, "; ".join(differ[:3]) or f"{len(lost)} kills"),
        Claim(f"nothing in the journal is paid for again, and a kill loses at most the calls in flight, {BRANCHES} in "
              f"{BRANCHES} branches", not overpaid,
              "; ".join(overpaid[:3]) or f"{sum(lost)} calls lost, at most {max(lost, default=0)} at once"),
        Claim("there was a kill between any two activities", quick or len(where) == every,
              f"{len(where)} of {every} boundaries"),
    ]


def _told(trials: list[Trial], part: str) -> list[str]:
    return [f"{trial.kind} at {trial.boundaries}: {fault}" for trial in trials for fault in getattr(trial, part)]


def figures(baseline: Baseline, trials: list[Trial]) -> dict[str, Any]:
    """The counts, by kind of kill."""
    return {
        "run": {"activities": len(baseline.left.activities), "calls": len(baseline.asked),
                "commits": len(baseline.left.history), "seconds": round(baseline.seconds, 1)},
        "kinds": {kind: _counted([t for t in trials if t.kind == kind]) for kind in KINDS},
        "faults": _told(trials, "faults"), "overpaid": _told(trials, "overpaid"),
    }


def _counted(trials: list[Trial]) -> dict[str, int]:
    return {"runs": len(trials), "kills": sum(len(t.boundaries) for t in trials),
            "not_begun": sum(not t.begun for t in trials), "lost": sum(sum(t.lost) for t in trials),
            "differ": sum(bool(t.faults or t.overpaid) for t in trials)}


def table(figures: Mapping[str, Any]) -> str:
    """The counts as a table."""
    run = figures["run"]
    columns = ["killed", "runs", "kills", "before it began", "calls lost", "runs that differ"]
    rows = [[KINDS[kind], *(counts[n] for n in ("runs", "kills", "not_begun", "lost", "differ"))]
            for kind, counts in figures["kinds"].items()]
    return (f"The run has {run['activities']} activities, {run['calls']} of them model calls, and {run['commits']} "
            f"commits.\n\n{markdown_table(columns, rows)}")


STUDY = Study.of("kills", prove, table)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
