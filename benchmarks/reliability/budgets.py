"""Run a company of eight parallel branches under budgets, on servers that bill in eight ways, until it is done.

Every run begins with a budget of tokens or dollars that is drawn by lot, and is resumed with twice as much as long as
it stops. What the server has billed is compared with the budget after every session. Then runs hang, in several ways,
and are ended by their minutes.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.reliability.biller import HEEDLESS, KINDS, LONGEST, STREAMING, Biller
from benchmarks.reliability.proof import Claim, Proof, Study
from benchmarks.reliability.room import room
from benchmarks.study import markdown_table
from chatdev.config.profiles import profile_for
from chatdev.errors import BudgetExhausted
from chatdev.runner.api import Company, aresume
from chatdev.runner.report import Run
from tests.support.chat_server import Received, Scripted

COMPANY = Path(__file__).with_name("crowd.yaml")
RUNS = 12
"""Of every kind of server with every kind of budget."""
LEAST, MOST = 2_000, 12_000
"""Tokens of the first budgets."""
PRICED, UNKNOWN = "gpt-4o-mini", "a-model-of-unknown-length"
MOST_SESSIONS = 12
SECONDS = 0.7
"""What a run that hangs may take."""
_ENVIRONMENT = {"CHATDEV_RETRY_SECONDS": "0"}
_TASK = "Ten texts"


@dataclass(slots=True)
class Trial:
    """What came of a run."""

    name: str
    server: str
    unit: str
    """`tokens` or `dollars`."""
    budget: float
    stops: int = 0
    over: list[float] = field(default_factory=list)
    """How far each session went beyond its budget, as a share of it; below zero, where it stayed within."""
    over_tokens: int = 0
    """The same in tokens, at most."""
    faults: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Trials:
    """Runs the company on one biller."""

    biller: Biller
    warehouse: Path
    company: Company = field(default_factory=lambda: Company.load(COMPANY))

    async def complete(self, trial: Trial) -> Trial:
        """Run, and resume with twice the budget as long as it stops."""
        self.biller.kinds[trial.name], budget = trial.server, trial.budget
        dollars = trial.unit == "dollars"
        options: dict[str, Any] = {"stream": trial.server == STREAMING, "sandbox": "none"}
        run = await self.company.arun(_TASK, name=trial.name, warehouse=self.warehouse, **_limits(dollars, budget),
                                      model=PRICED if dollars else UNKNOWN, **options)
        self._judge(trial, run, budget)
        while run.status == "stopped" and trial.stops < MOST_SESSIONS:
            trial.stops, budget = trial.stops + 1, budget * 2
            run = await aresume(run.folder, **_limits(dollars, budget), **options)
            self._judge(trial, run, budget)
        if not run.success:
            trial.faults.append(f"no success in {MOST_SESSIONS} sessions: {run.reason}")
        trial.faults += [f"{place} was paid for {count} times" for (name, place), count in self.biller.whole.items()
                         if name == trial.name and count > 1 and trial.server != STREAMING]
        return trial

    def _judge(self, trial: Trial, run: Run, budget: float) -> None:
        """Compare what was billed with the budget, and how the run ended."""
        tokens, spent = self._billed(trial, run)
        beyond = spent / budget - 1
        trial.over.append(beyond)
        per_token = 1.0 if trial.unit == "tokens" else profile_for(PRICED).cost(0, 1) or 1.0
        trial.over_tokens = max(trial.over_tokens, round((spent - budget) / per_token))
        if run.success and run.spent.tokens != tokens:
            trial.faults.append(f"{tokens} tokens were billed, and {run.spent.tokens} counted")
        own = run.spent.cost if trial.unit == "dollars" else run.spent.tokens
        if run.success and own is not None and own > budget * (1 + 1e-9):
            trial.faults.append(f"it succeeded beyond its budget: {own} of {budget}")
        if not run.success and not isinstance(run.error, BudgetExhausted):
            trial.faults.append(f"it ended as {run.status}: {run.reason}")

    def _billed(self, trial: Trial, run: Run) -> tuple[int, float]:
        """The tokens that the server has billed, and what that is in the unit of the budget."""
        if trial.server == STREAMING:
            return run.spent.tokens, run.spent.tokens if trial.unit == "tokens" else run.spent.cost or 0.0
        bills = self.biller.billed.get(trial.name, [])
        prompt, completion = (sum(bill[n] for bill in bills) for n in (0, 1))
        dollars = profile_for(PRICED).cost(prompt, completion) or 0.0
        return prompt + completion, dollars if trial.unit == "dollars" else prompt + completion


def _limits(dollars: bool, budget: float) -> dict[str, Any]:
    return {"max_cost": budget} if dollars else {"max_tokens": int(budget)}


def _chosen(seed: int, runs: int) -> list[Trial]:
    rng = random.Random(seed)
    trials: list[Trial] = []
    for server in KINDS:
        for unit in ("tokens", "dollars"):
            for _ in range(runs):
                tokens = rng.randint(LEAST, MOST)
                budget = tokens if unit == "tokens" else (profile_for(PRICED).cost(0, tokens) or 0.0)
                trials.append(Trial(f"run{len(trials):03}", server, unit, budget))
    return trials


HANGS: Mapping[str, Any] = {
    "a call without an answer": Scripted("late", delay=60),
    "a stream that does not end": Scripted("on and on " * 500, drip=0.5),
    "an answer that drips": Scripted("on and on " * 500, drip=0.6),
    "waits between attempts": Scripted(status=429, headers={"Retry-After": "50"}, body={"error": {"message": "busy"}}),
}
"""How runs hang; a program that hangs is tried by tests/engine/test_minutes.py, in every sandbox."""


async def _hang(warehouse: Path, kind: str) -> float:
    """The seconds that a run takes beyond its minutes. Raises RuntimeError when it ends otherwise."""
    started = time.monotonic()
    run = await Company.load(COMPANY).arun(_TASK, name="hang", warehouse=warehouse, model=UNKNOWN, sandbox="none",
                                           max_minutes=SECONDS / 60, stream="stream" in kind)
    if run.status != "stopped" or not isinstance(run.error, BudgetExhausted):
        raise RuntimeError(f"{kind}: the run ended as {run.status}: {run.reason}")
    return time.monotonic() - started - SECONDS


def _hangs() -> dict[str, float]:
    found = {}
    for kind, answer in HANGS.items():
        def route(_: Received, answer: Scripted = answer) -> Scripted:
            return answer
        with room(route, {"CHATDEV_RETRY_SECONDS": "60"}) as warehouse:
            found[kind] = round(asyncio.run(_hang(warehouse, kind)), 2)
    return found


async def _complete(biller: Biller, warehouse: Path, chosen: list[Trial]) -> list[Trial]:
    trials = Trials(biller, warehouse)
    return [await trials.complete(trial) for trial in chosen]


def prove(seed: int, quick: bool) -> Proof:
    """Try them all, and measure."""
    biller = Biller(seed)
    with room(biller, _ENVIRONMENT) as warehouse:
        trials = asyncio.run(_complete(biller, warehouse, _chosen(seed, 1 if quick else RUNS)))
    return Proof(claims(trials, late := _hangs()), figures(trials, late))


def claims(trials: list[Trial], late: Mapping[str, float]) -> list[Claim]:
    """What the trials show."""
    faults = [f"{trial.name} ({trial.server}): {fault}" for trial in trials for fault in trial.faults]
    heeding = [trial for trial in trials if trial.server != HEEDLESS]
    worst = max((max(trial.over), trial.server) for trial in heeding)
    heedless = max(trial.over_tokens for trial in trials if trial.server == HEEDLESS)
    stops = sum(trial.stops for trial in trials)
    return [
        Claim("eight branches together do not pass a budget of tokens or dollars by more than 1 % on any server that "
              "keeps to its cap or can be cut", worst[0] <= 0.01,
              f"{len(heeding)} runs; the worst: {worst[0]:+.2%}, on a server that {worst[1]}"),
        Claim(f"on a server that ignores the cap a run stops after the replies that were too long; each has up to "
              f"{LONGEST:,} tokens", heedless <= 8 * LONGEST, f"at most {heedless:,} tokens beyond, in 8 branches"),
        Claim("no run beyond its budget is a success, each goes on to success with a greater one, and no whole reply "
              "is paid for twice", not faults, "; ".join(faults[:3]) or f"{len(trials)} runs, {stops} stops"),
        Claim("what hangs ends with the minutes of the run", max(late.values()) <= 5,
              f"{max(late.values()):.1f} s late at most"),
    ]


def figures(trials: list[Trial], late: Mapping[str, float]) -> dict[str, Any]:
    """The worst overshoot by server and unit."""
    rows: dict[str, dict[str, Any]] = {}
    for trial in trials:
        row = rows.setdefault(f"{trial.server} / {trial.unit}", {"runs": 0, "stops": 0, "worst": -1.0, "tokens": 0})
        row["runs"] += 1
        row["stops"] += trial.stops
        row["worst"] = max(row["worst"], round(max(trial.over), 4))
        row["tokens"] = max(row["tokens"], trial.over_tokens)
    return {"rows": rows, "late": dict(late), "faults": [fault for trial in trials for fault in trial.faults]}


def table(figures: Mapping[str, Any]) -> str:
    """The figures as tables."""
    rows = ([*key.split(" / "), row["runs"], row["stops"], f"{row['worst']:+.2%}", f"{row['tokens']:,}"]
            for key, row in figures["rows"].items())
    late = ([kind, f"{seconds:.1f}"] for kind, seconds in figures["late"].items())
    return (markdown_table(["a server that", "budget of", "runs", "stops", "worst against the budget", "tokens beyond"],
                           rows)
            + "\n\n" + markdown_table(["what hangs", "s beyond the minutes"], late))


STUDY = Study.of("budgets", prove, table)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
