"""How long a fleet of companies takes: a simulation of jobs, calls, processors and a provider's limits.

A job is a run of the chain of `fleet.yaml`: calls one after another, and a parallel step of two. A call takes the
processor of its worker, waits for its turn with the provider (the even pace of `chatdev/llm/base.py`), for its
answer, and for what else there is to wait for, and takes the processor again. `Costs` are what the engine takes; they
are fitted to two small measured loads (`python -m benchmarks.fleet`), and then predict others. Without any costs it
tells what the model and the provider alone allow: the ideal.

    python -m benchmarks.simulate_fleet --jobs 10000 --at-once 400 --latency 5 --workers 2 --requests-per-minute 5000
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

import simpy

from benchmarks.study import RESULTS_FOLDER, read_results
from chatdev.llm.base import CREDIT, LEARNING, REPLY_TOKENS

CHAIN = (*[1] * 11, 2)
"""The calls at once of each step of a run of `fleet.yaml`."""
CALLS = sum(CHAIN)
_AT_MOST = 2000
"""Jobs of a worker that are simulated one by one; further ones take as long as the second half of these."""

_ROUNDS, _EXACT = 3, 2e-6
"""Of the fit: the second in seconds."""

Wait = Generator[simpy.Event, Any, None]


@dataclass(frozen=True, slots=True)
class Load:
    """Jobs for some workers, each a process on a core of its own that does `at_once` of them; seconds until a model
    answers, log-normal with the standard deviation `spread` of the logarithm; the provider's limits a minute, of which
    each worker has its share; the calls at once of each step of a job."""

    jobs: int
    at_once: int
    latency: float
    spread: float = 0.0
    requests: float | None = None
    tokens: float | None = None
    workers: int = 1
    chain: tuple[int, ...] = CHAIN

    def of_one_worker(self) -> Load:
        """What each worker has to do; all do the same."""
        share = 1 / self.workers
        return replace(self, jobs=-(-self.jobs // self.workers), workers=1,
                       requests=self.requests and self.requests * share, tokens=self.tokens and self.tokens * share)


@dataclass(frozen=True, slots=True)
class Costs:
    """What a call takes of the processor (`cpu`) and of other waiting (`wait`: the disk, the network), and what the
    start of a job takes of the processor, in seconds; the tokens of a call."""

    cpu: float = 0.0
    wait: float = 0.0
    start: float = 0.0
    prompt_tokens: float = 0.0
    completion_tokens: float = 0.0


def seconds(load: Load, costs: Costs) -> float:
    """How long the load takes. What is beyond 2,000 jobs of a worker is taken to go on at the pace of the second half
    of these, or of as many as it does at once, four times over."""
    one = load.of_one_worker()
    sample = max(_AT_MOST, 4 * one.at_once)
    if one.jobs <= sample:
        return _Worker(one, costs).seconds()
    half, whole = (_Worker(replace(one, jobs=jobs), costs).seconds() for jobs in (sample // 2, sample))
    return whole + (one.jobs - sample) * (whole - half) / (sample - sample // 2)


def ideal(load: Load, costs: Costs) -> float:
    """How long the load would take if the engine took nothing, and calls as many tokens as they do."""
    return seconds(load, replace(costs, cpu=0.0, wait=0.0, start=0.0))


def fit_costs(few: tuple[Load, float], many: tuple[Load, float], costs: Costs) -> Costs:
    """The costs at which two loads take the seconds that they took: one of few jobs at once, which shows what calls
    wait for, and one of more than the processor can serve, which shows what they take of it."""
    for _ in range(_ROUNDS):
        costs = _fit_cost("cpu", costs, *many)
        costs = _fit_cost("wait", costs, *few)
    return costs


def _fit_cost(name: str, costs: Costs, load: Load, took: float) -> Costs:
    """The costs with the one by which the load takes so long; 0 where it took even less than without."""
    least, most = 0.0, 0.1
    while most - least > _EXACT:
        middle = (least + most) / 2
        if seconds(load, replace(costs, **{name: middle})) < took:
            least = middle
        else:
            most = middle
    return replace(costs, **{name: round(least, 6)})


def costs_on_record() -> Costs:
    """What was fitted last. Raises KeyError before the first measurement."""
    return Costs(**read_results(RESULTS_FOLDER / "fleet.json")["costs"])


class _Worker:
    """One worker, its processor and its share of the provider."""

    def __init__(self, load: Load, costs: Costs) -> None:
        self._load, self._costs = load, costs
        self._environment = simpy.Environment()
        self._processor = simpy.Resource(self._environment)
        self._provider = _Provider(self._environment, load, costs)
        self._random = random.Random(1)
        self._left = load.jobs

    def seconds(self) -> float:
        """Work through all jobs."""
        for _ in range(min(self._load.at_once, self._load.jobs)):
            self._environment.process(self._jobs())
        self._environment.run()
        return float(self._environment.now)

    def _jobs(self) -> Wait:
        while self._left:
            self._left -= 1
            yield from self._compute(self._costs.start)
            for width in self._load.chain:
                yield self._environment.all_of([self._environment.process(self._call()) for _ in range(width)])

    def _call(self) -> Wait:
        yield from self._compute(self._costs.cpu / 2)
        taken = yield from self._provider.admit()
        yield self._environment.timeout(self._latency() + self._costs.wait)
        self._provider.settle(taken)
        yield from self._compute(self._costs.cpu / 2)

    def _compute(self, amount: float) -> Wait:
        if amount:
            with self._processor.request() as turn:
                yield turn
                yield self._environment.timeout(amount)

    def _latency(self) -> float:
        mean, spread = self._load.latency, self._load.spread
        return self._random.lognormvariate(math.log(mean) - spread ** 2 / 2, spread) if spread else mean


class _Provider:
    """Lets calls out one after another as `RateLimit` does: its waits, its reckoning of tokens, and what it learns."""

    def __init__(self, environment: simpy.Environment, load: Load, costs: Costs) -> None:
        self._environment = environment
        self._turn = simpy.Resource(environment)
        self._requests = _Pace(environment, load.requests)
        self._tokens = _Pace(environment, load.tokens)
        self._reckoned = costs.prompt_tokens + REPLY_TOKENS
        self._used = costs.prompt_tokens + costs.completion_tokens
        self._ratio = 1.0

    def admit(self) -> Generator[simpy.Event, Any, float]:
        """Wait for the call's turn; the tokens that are taken for it."""
        with self._turn.request() as turn:
            yield turn
            while (left := max(self._requests.seconds_left(), self._tokens.seconds_left())) > 0:
                yield self._environment.timeout(left)
            self._requests.take(1)
            taken = self._reckoned * self._ratio
            self._tokens.take(taken)
        return taken

    def settle(self, taken: float) -> None:
        """Put right what was taken by what was used."""
        self._tokens.take(self._used - taken)
        self._ratio += LEARNING * (self._used / self._reckoned - self._ratio)


@dataclass(slots=True)
class _Pace:
    """What was taken is paid off evenly."""

    environment: simpy.Environment
    per_minute: float | None
    paid_off: float = field(default=-math.inf)

    def seconds_left(self) -> float:
        return self.paid_off - self.environment.now

    def take(self, amount: float) -> None:
        if self.per_minute:
            earliest = self.environment.now - CREDIT
            self.paid_off = max(self.paid_off, earliest) + amount * (60 + CREDIT) / self.per_minute


def main() -> None:
    """Predict one load."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, required=True)
    parser.add_argument("--at-once", type=int, required=True, help="by each worker")
    parser.add_argument("--workers", type=int, default=1, help="processes, each with a core of its own")
    parser.add_argument("--latency", type=float, default=5.0, help="seconds until an answer, on average")
    parser.add_argument("--spread", type=float, default=0.0, help="standard deviation of its logarithm")
    parser.add_argument("--requests-per-minute", type=float, dest="requests")
    parser.add_argument("--tokens-per-minute", type=float, dest="tokens")
    parser.add_argument("--prompt-tokens", type=float, help="of a call, for the limit of tokens")
    parser.add_argument("--completion-tokens", type=float, help="likewise")
    options = vars(parser.parse_args())
    tokens = {name: options.pop(name) for name in ("prompt_tokens", "completion_tokens")}
    costs = replace(costs_on_record(), **{name: value for name, value in tokens.items() if value is not None})
    load = Load(**options)
    print(f"{seconds(load, costs):,.0f} seconds; {ideal(load, costs):,.0f} if the engine took nothing")


if __name__ == "__main__":
    main()
