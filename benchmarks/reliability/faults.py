"""Run a small company on a model server that fails: it ends in the right software, or stops cleanly and is resumed.

Of all requests 30 % fail, each in one of thirteen ways (faulty.py). In every fifth run one call fails however often it
is tried, until the run has stopped; then it is gone on with by `resume`. Every second run is streamed.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.reliability import small
from benchmarks.reliability.faulty import KINDS, LONGEST, Faulty
from benchmarks.reliability.left import JOURNAL, Left
from benchmarks.reliability.proof import Claim, Proof, Study
from benchmarks.reliability.room import room
from benchmarks.study import markdown_table
from chatdev.errors import ChatDevError, JournalError, ModelUnavailable, UnusableReply
from chatdev.journal import read_journal
from chatdev.runner.api import Company, aresume
from chatdev.runner.report import Run

RUNS = 200
AT_ONCE = 4
OUTAGES = 5
"""Every so many-th run meets an outage."""
BOUND = 90.0
"""Seconds of one session; its calls with all their retries take less, whatever happens to them."""
MOST_SESSIONS = 6

_ENVIRONMENT = {"CHATDEV_RETRY_SECONDS": "0.02", "CHATDEV_REPLY_SECONDS": f"{LONGEST:g}"}
_TASK = "Two greetings"


@dataclass(slots=True)
class Trial:
    """What came of one run."""

    name: str
    streamed: bool = False
    outage: str | None = None
    """The kind of fault that lasts until the run has stopped."""
    statuses: list[str] = field(default_factory=list)
    """How each session ended."""
    seconds: list[float] = field(default_factory=list)
    """How long each session took."""
    faults: list[str] = field(default_factory=list)
    left: Left | None = None
    """What the run left when it had succeeded."""


@dataclass(slots=True)
class Trials:
    """Runs the company again and again on one faulty model."""

    model: Faulty
    warehouse: Path
    company: Company = field(default_factory=lambda: Company.load(small.COMPANY))

    async def undisturbed(self) -> tuple[Left, list[str]]:
        """What the run without a fault leaves, and the places where it asks. Raises RuntimeError when it fails."""
        share, self.model.share = self.model.share, 0.0
        trial = await self.tried(Trial("undisturbed"))
        self.model.share = share
        if trial.faults or trial.left is None:
            raise RuntimeError(f"the run that nothing disturbs failed: {trial.faults}")
        return trial.left, [place for name, place in self.model.asked if name == trial.name]

    async def all(self, trials: Iterable[Trial]) -> list[Trial]:
        """All trials, some of them at once."""
        free = asyncio.Semaphore(AT_ONCE)

        async def one(trial: Trial) -> Trial:
            async with free:
                return await self.tried(trial)

        return [*await asyncio.gather(*map(one, trials))]

    async def tried(self, trial: Trial) -> Trial:
        """Run once, and go on as long as it stops."""
        run = await self._session(trial, self.company.arun(_TASK, name=trial.name, warehouse=self.warehouse,
                                                           sandbox="none", stream=trial.streamed))
        while run and not trial.faults and run.status == "error" and len(trial.statuses) < MOST_SESSIONS:
            self.model.outages.pop(trial.name, None)
            run = await self._session(trial, aresume(run.folder, sandbox="none", stream=trial.streamed))
        if run and run.success:
            trial.left = Left.of(run.folder)
        elif run and not trial.faults:
            trial.faults.append(f"no success in {MOST_SESSIONS} sessions: {run.reason}")
        return trial

    async def _session(self, trial: Trial, running: Awaitable[Run]) -> Run | None:
        """One session; None when it does not begin, or not end within the bound."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(BOUND):
                run = await running
        except TimeoutError:
            trial.faults.append(f"it hung for {BOUND:g} seconds")
            return None
        except ChatDevError as error:
            trial.faults.append(f"it could not be resumed: {error}")
            return None
        trial.seconds.append(time.monotonic() - started)
        trial.statuses.append(run.status)
        trial.faults += unclean(run)
        return run


def unclean(run: Run) -> list[str]:
    """What is wrong with a session's end, other than what it has made."""
    found = []
    if not (run.success or isinstance(run.error, ModelUnavailable | UnusableReply)):
        found.append(f"it ended as {run.status}: {run.reason}")
    try:
        end = [*read_journal(run.folder / JOURNAL)][-1]
    except JournalError as error:
        return [*found, str(error)]
    if (end["kind"], end.get("status"), end.get("reason")) != ("RunFinished", run.status, run.reason):
        found.append(f"the journal does not end with {run.status}: {run.reason}")
    if f"**{run.status}**" not in (run.folder / "run" / "report.md").read_text(encoding="utf-8"):
        found.append(f"the report does not say {run.status}")
    return found


def unlike(trial: Trial, whole: Left) -> list[str]:
    """What a successful run has left otherwise than the undisturbed one, names of runs aside."""
    left = trial.left
    if left is None:
        return []
    found = []
    if left.software != small.software(trial.name) or left.uncommitted:
        found.append(f"a false success: the software holds {sorted(left.software)} {left.uncommitted}")
    if _subjects(left) != _subjects(whole):
        found.append(f"the commits are others: {_subjects(left)}")
    if left.activities.keys() != whole.activities.keys():
        found.append(f"the activities are others: {sorted(left.activities.keys() ^ whole.activities.keys())}")
    return found


def _subjects(left: Left) -> list[str]:
    """The first lines of the commits; the last ones tell of the files, and the name of the run is in those."""
    return [commit.partition(" ")[2].partition("\n")[0] for commit in left.history]


def chosen(number: int, rng: random.Random, places: list[str], model: Faulty) -> list[Trial]:
    """The trials; every fifth meets an outage of each kind in turn, somewhere."""
    trials = [Trial(f"run{n:03}", streamed=n % 2 == 1) for n in range(number)]
    for n, trial in enumerate(trials[::OUTAGES]):
        trial.outage = [*KINDS][n % len(KINDS)]
        model.outages[trial.name] = (rng.choice(places), trial.outage)
    return trials


async def _tried(seed: int, number: int, model: Faulty, warehouse: Path) -> list[Trial]:
    trials = Trials(model, warehouse)
    whole, places = await trials.undisturbed()
    done = await trials.all(chosen(number, random.Random(seed), places, model))
    for trial in done:
        trial.faults += unlike(trial, whole)
        trial.faults += [f"{place} was paid for {count} times" for (name, place), count in model.answered.items()
                         if name == trial.name and count > 1]
    return done


def prove(seed: int, quick: bool) -> Proof:
    """Try them all, and count."""
    model = Faulty(seed)
    with room(model, _ENVIRONMENT) as warehouse:
        trials = asyncio.run(_tried(seed, 6 if quick else RUNS, model, warehouse))
    return Proof(claims(trials, model), figures(trials, model))


def claims(trials: list[Trial], model: Faulty) -> list[Claim]:
    """What the trials show."""
    faults = [f"{trial.name}: {fault}" for trial in trials for fault in trial.faults]
    hung = [fault for fault in faults if "it hung" in fault]
    stops = sum(trial.statuses.count("error") for trial in trials)
    asked, struck = (_count(counter, trials) for counter in (model.asked, model.struck))
    return [
        Claim("a run on a failing server either succeeds with the software of the undisturbed run, or stops and says "
              "so, and then succeeds when it is resumed; no success is false, and no whole answer is paid for twice",
              not faults,
              "; ".join(faults[:3]) or f"{len(trials)} runs, {stops} stops, {struck} of {asked} requests failed"),
        Claim(f"none hangs: every session ends within {BOUND:g} seconds", not hung,
              f"the longest took {max(s for trial in trials for s in trial.seconds):.1f} s"),
    ]


def figures(trials: list[Trial], model: Faulty) -> dict[str, Any]:
    """The counts, by kind of fault and by ending."""
    names = {trial.name for trial in trials}
    requests, places = _count(model.asked, trials), sum(name in names for name, _ in model.asked)
    struck: Counter[str] = Counter()
    for (_, kind), count in model.struck.items():
        struck[kind] += count
    endings = sorted({(bool(trial.faults), len(trial.statuses), _ending(trial)) for trial in trials})
    return {
        "runs": len(trials), "streamed": sum(trial.streamed for trial in trials), "requests": requests,
        "repeated": requests - places,
        "kinds": {kind: {"failed": struck[kind], "outages": sum(trial.outage == kind for trial in trials)}
                  for kind in KINDS},
        "endings": {how: _timed([trial for trial in trials if _ending(trial) == how])
                    for how in dict.fromkeys(how for *_, how in endings)},
        "faults": [f"{trial.name}: {fault}" for trial in trials for fault in trial.faults],
    }


def _ending(trial: Trial) -> str:
    if trial.faults:
        return "otherwise"
    stops = len(trial.statuses) - 1
    return f"stopped {stops} times, resumed, success" if stops > 1 else \
        "stopped once, resumed, success" if stops else "success at once"


def _timed(trials: list[Trial]) -> dict[str, float]:
    seconds = [sum(trial.seconds) for trial in trials]
    return {"runs": len(trials), "median_seconds": round(median(seconds), 1), "most_seconds": round(max(seconds), 1)}


def _count(counter: Counter[tuple[str, str]], trials: list[Trial]) -> int:
    names = {trial.name for trial in trials}
    return sum(count for (name, _), count in counter.items() if name in names)


def table(figures: Mapping[str, Any]) -> str:
    """The counts as tables."""
    kinds = markdown_table(["a request fails by", "so often", "outages of a call"],
                           ([kind, *counts.values()] for kind, counts in figures["kinds"].items()))
    endings = markdown_table(["ended", "runs", "median, s", "longest, s"],
                             ([how, *counts.values()] for how, counts in figures["endings"].items()))
    return (f"{figures['runs']} runs, {figures['streamed']} of them streamed; {figures['requests']} requests, "
            f"{figures['repeated']} of them repeated.\n\n{kinds}\n\n{endings}")


STUDY = Study.of("faults", prove, table)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
