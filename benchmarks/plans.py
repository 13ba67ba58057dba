"""What 10², 10⁴ and 10⁶ runs take of time and money: predicted by the simulation, for runs like the five first ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from benchmarks.simulate_fleet import Costs, Load, seconds
from benchmarks.study import RESULTS_FOLDER, markdown_table, read_results
from chatdev.config.profiles import profile_for

MODELS = ("gpt-4o-mini", "gpt-4.1-mini", "gpt-4o")
LATENCY, SPREAD = 5.0, 0.5
LOADS = (Load(100, 16, LATENCY, SPREAD, requests=500, tokens=200_000),
         Load(10_000, 100, LATENCY, SPREAD, requests=5_000, tokens=2_000_000, workers=4),
         Load(1_000_000, 200, LATENCY, SPREAD, requests=100_000, tokens=50_000_000, workers=64))


@dataclass(frozen=True, slots=True)
class Usual:
    """A run, on average."""

    calls: int
    prompt_tokens: float
    completion_tokens: float

    @classmethod
    def from_first_runs(cls) -> Usual:
        """Of the five tasks of docs/first-runs.md."""
        runs = read_results(RESULTS_FOLDER / "first_runs.json")["tasks"]
        calls, prompt, completion = (fmean(run[name] for run in runs)
                                     for name in ("calls", "prompt_tokens", "completion_tokens"))
        return cls(round(calls), round(prompt), round(completion))

    def costs(self, engine: Costs) -> Costs:
        """What the engine takes, with the tokens of this run's calls."""
        return replace(engine, prompt_tokens=self.prompt_tokens / self.calls,
                       completion_tokens=self.completion_tokens / self.calls)

    def price(self, model: str) -> float:
        """US dollars of a run. Raises ValueError for a model whose price is not known."""
        cost = profile_for(model).cost(round(self.prompt_tokens), round(self.completion_tokens))
        if cost is None:
            raise ValueError(f"the price of {model} is unknown; company_config/models.yaml has those that are known")
        return cost


def plans(engine: Costs, loads: Sequence[Load] = LOADS) -> list[dict[str, Any]]:
    """Time, what limits it, tokens and money of each load."""
    usual = Usual.from_first_runs()
    costs = usual.costs(engine)
    made = []
    for load in (replace(load, chain=(1,) * usual.calls) for load in loads):
        tokens = load.jobs * (usual.prompt_tokens + usual.completion_tokens)
        made.append({"jobs": load.jobs, "workers": load.workers, "at_once": load.at_once, "requests": load.requests,
                     "tokens": load.tokens, "hours": round(seconds(load, costs) / 3600, 2),
                     "limited_by": bottleneck(load, costs), "tokens_in_all": tokens,
                     "price": {model: round(load.jobs * usual.price(model), 2) for model in MODELS}})
    return made


def bottleneck(load: Load, costs: Costs) -> str:
    """What would shorten the time most, were it not there."""
    without = {"tokens a minute": (replace(load, tokens=None), costs),
               "requests a minute": (replace(load, requests=None), costs),
               "the model's answers": (replace(load, latency=1e-3), costs),
               "the processor": (load, replace(costs, cpu=0.0, start=0.0))}
    return min(without, key=lambda name: seconds(*without[name]))


def plans_text(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    usual = Usual.from_first_runs()
    rows = [(f"{plan['jobs']:,}", plan["workers"], plan["at_once"],
             f"{plan['requests']:,} requests, {plan['tokens']:,} tokens", _time(plan["hours"]), plan["limited_by"],
             f"{plan['tokens_in_all'] / 1e6:,.0f}", *(f"${plan['price'][model]:,.2f}" for model in MODELS))
            for plan in results["plans"]]
    table = markdown_table(["runs", "workers", "at once by each", "limits a minute", "time", "limited by",
                            "million tokens", *MODELS], rows)
    return (f"{table}\n\nEvery run is like the [first ones](first-runs.md) on average: {usual.calls} calls, "
            f"{usual.prompt_tokens:,} tokens in and {usual.completion_tokens:,} out. Answers come after {LATENCY:g} "
            "seconds, some sooner, some later. Trying programs in the sandbox is not in it.")


def _time(hours: float) -> str:
    return f"{hours:,.1f} h" if hours >= 1 else f"{60 * hours:.0f} min"
