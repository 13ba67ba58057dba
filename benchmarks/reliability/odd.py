"""Run companies whose models answer with odd things: each run ends as documented, and none is wedged.

The shipped company is asked for two programs that it has made before, and gets the recorded replies; the workshop gets
its own. In each run some replies are replaced by odd ones (odd_replies.py). A run that stops is resumed on the same
model, which now answers as it should: then it must come further, unless a phase has spent its rounds without a
solution, which is an end. A finished one is replayed.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.reliability import workshop
from benchmarks.reliability.left import JOURNAL, places
from benchmarks.reliability.odd_replies import KINDS, odd_reply
from benchmarks.reliability.proof import Claim, Proof, Study
from benchmarks.reliability.room import room
from benchmarks.study import ROOT, markdown_table
from chatdev.errors import ChatDevError, PhaseFailed
from chatdev.journal import read_journal
from chatdev.runner.api import Company, areplay, aresume
from chatdev.runner.report import Run
from tests.support.chat_server import Received, Scripted

RUNS = 400
AT_ONCE = 2
BOUND = 180.0
"""Seconds of one session."""
SHARE = 0.25
"""Of the replies of a run, so many are odd."""
_MOST_SESSIONS = 4
_EXAMPLES = ROOT / "company_config" / "chatdev" / "examples"
_WORKSHOP = "workshop"


@dataclass(slots=True)
class Trial:
    """What came of one run."""

    name: str
    subject: str
    """A recorded example of the shipped company, or the workshop."""
    seed: int
    odd: Counter[str] = field(default_factory=Counter)
    """Odd replies, by kind."""
    statuses: list[str] = field(default_factory=list)
    """How each session ended."""
    faults: list[str] = field(default_factory=list)


class OddModel:
    """Answers as was recorded, at other places with what is next best, and now and then with something odd."""

    def __init__(self) -> None:
        self.trials: dict[str, Trial] = {}
        self._recorded = {example: _recorded(_EXAMPLES / f"{example}.jsonl") for example in ("primes", "todo")}
        self.calm: set[str] = set()
        """Trials that get no odd replies any more."""

    def __call__(self, request: Received) -> Scripted:
        trial = self.trials[request.headers["X-ChatDev-Run"].partition("-")[0]]
        place = request.headers["X-ChatDev-Activity"]
        text = self._reply(trial.subject, place)
        rng = random.Random(f"{trial.seed} {place}")
        if trial.name in self.calm or rng.random() > SHARE:
            return Scripted(text)
        trial.odd[kind := rng.choice(KINDS)] += 1
        return odd_reply(kind, rng, text)

    def _reply(self, subject: str, place: str) -> str:
        if subject == _WORKSHOP:
            try:
                return workshop.answer(place).text or ""
            except ValueError:
                return "<SOLUTION>"
        recorded = self._recorded[subject]
        return recorded.get(place) or next((text for known, text in recorded.items()
                                            if known.split("/")[0] == place.split("/")[0]), "<SOLUTION>")


def _recorded(journal: Path) -> dict[str, str]:
    return {record["place"]: record["result"]["text"] for record in read_journal(journal)
            if record["kind"] == "Activity" and "text" in record["result"]}


class Trials:
    """Runs one trial after the other."""

    def __init__(self, model: OddModel, warehouse: Path) -> None:
        self._model, self._warehouse = model, warehouse
        self._companies = {_WORKSHOP: Company.load(workshop.COMPANY)}
        self._tasks = {_WORKSHOP: workshop.TASK}
        for example in ("primes", "todo"):
            order = next(iter(read_journal(_EXAMPLES / f"{example}.jsonl")))
            self._companies[example] = Company.load("chatdev")
            self._tasks[example] = order["inputs"]["task"]

    async def all(self, trials: list[Trial]) -> None:
        """All trials, some of them at once."""
        free = asyncio.Semaphore(AT_ONCE)

        async def one(trial: Trial) -> None:
            async with free:
                await self._try(trial)

        await asyncio.gather(*map(one, trials))

    async def _try(self, trial: Trial) -> None:
        self._model.trials[trial.name] = trial
        run = await self._session(trial, self._companies[trial.subject].arun(
            self._tasks[trial.subject], name=trial.name, warehouse=self._warehouse))
        while run and _is_stopped(run) and not trial.faults and len(trial.statuses) < _MOST_SESSIONS:
            self._model.calm.add(trial.name)
            before = len(places(run.folder))
            again = await self._session(trial, aresume(run.folder))
            if again and _is_stopped(again) and len(places(run.folder)) == before:
                trial.faults.append(f"it is wedged: {again.reason}")
            run = again
        if run and not _is_stopped(run):
            await self._session(trial, areplay(run.folder / JOURNAL))

    async def _session(self, trial: Trial, running: Awaitable[Run]) -> Run | None:
        """One session; None when it ends otherwise than as a run does."""
        try:
            async with asyncio.timeout(BOUND):
                run = await running
        except TimeoutError:
            trial.faults.append(f"it hung for {BOUND:g} seconds")
        except ChatDevError as error:
            trial.faults.append(f"it could not go on: {error}")
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            trial.faults.append(f"a traceback: {type(error).__name__}: {error}"[:300])
        else:
            trial.statuses.append(run.status)
            return run
        return None


def _is_stopped(run: Run) -> bool:
    """Whether it ended where a resume can go on."""
    return run.status == "error" and not isinstance(run.error, PhaseFailed)


def prove(seed: int, quick: bool) -> Proof:
    """Try them all, and count."""
    subjects = (_WORKSHOP, "primes", _WORKSHOP, "todo")
    trials = [Trial(f"run{n:03}", subjects[n % len(subjects)], seed * 10_000 + n) for n in range(2 if quick else RUNS)]
    model = OddModel()
    with room(model, {"CHATDEV_RETRY_SECONDS": "0.02"}) as warehouse:
        asyncio.run(Trials(model, warehouse).all(trials))
    return Proof(_claims(trials), _figures(trials))


def _claims(trials: list[Trial]) -> list[Claim]:
    faults = [f"{trial.name}: {fault}" for trial in trials for fault in trial.faults]
    wedged = [fault for fault in faults if "wedged" in fault or "could not go on" in fault]
    odd = sum(trial.odd.total() for trial in trials)
    stopped = sum("error" in trial.statuses[:-1] for trial in trials)
    return [Claim("whatever odd thing a model says, the run ends as documented, and never in a traceback", not faults,
                  "; ".join(faults[:3]) or f"{len(trials)} runs, {odd} odd replies"),
            Claim("none is wedged: what stops goes on when it is resumed, and what ended is replayed", not wedged,
                  "; ".join(wedged[:3]) or f"{stopped} stops, wedged runs 0")]


def _figures(trials: list[Trial]) -> dict[str, Any]:
    kinds = sum((trial.odd for trial in trials), Counter[str]())
    endings = Counter(" → ".join(trial.statuses) for trial in trials if not trial.faults)
    return {"runs": len(trials), "kinds": {kind: kinds[kind] for kind in KINDS}, "endings": dict(endings.most_common()),
            "faults": [f"{trial.name} ({trial.subject}): {fault}" for trial in trials for fault in trial.faults]}


def table(figures: Mapping[str, Any]) -> str:
    """The counts as tables."""
    kinds = markdown_table(["odd replies", "number"], figures["kinds"].items())
    endings = markdown_table(["ended", "runs"], figures["endings"].items())
    return f"{kinds}\n\n{endings}"


STUDY = Study.of("odd", prove, table)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
