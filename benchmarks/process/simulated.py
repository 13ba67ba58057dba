"""Does teaching back what worked make a company better, where it is known what works? (Think-on-Process, section 4)

A simulated company: whether the software of an instance succeeds is drawn from a hidden law, which likes some pairs of
phases in one order, dislikes others, and dislikes long processes. The simulated model that proposes instances reads the
real prompt of the company top and nothing else: where that has a text, it reads the model in it and plays it out half
of the time; else it takes one of the examples; then it changes something now and then. The pool, replays, filter,
miner and text are the real ones.

    python -m benchmarks.process.simulated [--seeds 10]

With another number of seeds, nothing is written down.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random
from typing import Any

from benchmarks.process.playout import play_out
from benchmarks.process.read_description import read_description
from benchmarks.study import DOCS, RESULTS_FOLDER, SizedStudy, machine, markdown_table, marks
from chatdev.config.templates import render
from chatdev.departments.process.pool import (
    InstanceOutcome,
    choose_best,
    count_outcomes,
    filter_entries,
    format_instance,
    plan_replays,
)
from chatdev.departments.process.process_company import Experience, Filter, ProcessCompany, gather_experience
from chatdev.departments.process.process_tree import Instance
from chatdev.evaluation.reporting.formats import format_interval
from chatdev.evaluation.reporting.study_results import estimate
from chatdev.runner.api import Company

SEEDS, ROUNDS, PROPOSALS, REPLAYS = 10, 6, 24, 12
FIRST_SEED = 100  # by smaller ones it was found out which instances to learn from
ARMS: dict[str, dict[str, Any]] = {
    "nothing is taught": {"text": False, "examples": False}, "whole: text and examples": {},
    "text alone": {"examples": False}, "examples alone": {"text": False},
    "whole, the paper's filter": {"choose": "paper"}, "whole, no filter": {"choose": "none"},
    "whole without replays": {"replays": 0}, "whole, outcomes shuffled": {"shuffles": True},
    "text alone, outcomes shuffled": {"examples": False, "shuffles": True}}
_BASE = "nothing is taught"
_FILTERS: dict[str, Filter] = {"best": choose_best, "paper": filter_entries, "none": list}
_COMPANY = ProcessCompany.of(Company.load("top").config)
_FREE = _COMPANY.default[2:]  # the law says nothing about the phases that every instance needs to begin
_TAUGHT, _EXAMPLES, _REFUSED = "This is how projects that succeeded went:\n", "Examples of processes:\n", "\n\nPropose"


@dataclass(frozen=True, slots=True)
class Law:
    """How likely an instance leads to software that works: `liked` and `disliked` are pairs of which the first phase
    comes before the second."""

    liked: tuple[tuple[str, str], ...]
    disliked: tuple[tuple[str, str], ...]

    @classmethod
    def draw(cls, chance: Random) -> Law:
        """A law by chance; the pairs it likes can all be had in one legal instance."""
        order = {name: number for number, name in enumerate(_FREE)}
        pairs = [(one, other) for one in _FREE for other in _FREE if order[one] < order[other]]
        liked = chance.sample(pairs, 3)
        return cls(tuple(liked), tuple(chance.sample([pair for pair in pairs if pair not in liked], 3)))

    def rate(self, instance: Instance) -> float:
        """The rate of success."""
        rate = 0.25 + 0.2 * (self._count(self.liked, instance) - self._count(self.disliked, instance))
        return min(0.95, max(0.03, rate - 0.02 * max(0, len(instance) - 8)))

    @staticmethod
    def _count(pairs: Sequence[tuple[str, str]], instance: Instance) -> int:
        return sum(one in instance and other in instance[instance.index(one) + 1:] for one, other in pairs)


@dataclass(frozen=True, slots=True)
class Arm:
    """What of the loop is there."""

    choose: str = "best"
    replays: int = REPLAYS
    text: bool = True
    shuffles: bool = False
    examples: bool = True


def run_cycle(arm: Arm, seed: int) -> list[float]:
    """The mean true rate of success of what is developed in each round."""
    chance, law = Random(f"{seed}/run"), Law.draw(Random(f"{seed}/law"))
    outcomes: list[InstanceOutcome] = []
    rates = []
    for _ in range(ROUNDS):
        tries = [_propose_until_legal(_prompt(arm, outcomes, chance), chance) for _ in range(PROPOSALS)]
        rates.append(statistics.mean(law.rate(legal) for _, legal in tries))
        outcomes += [InstanceOutcome(one, False, failure="refused") for refused, _ in tries for one in refused]
        outcomes += [InstanceOutcome(legal, chance.random() < law.rate(legal)) for _, legal in tries]
        runnable = [entry for entry in count_outcomes(outcomes) if not _COMPANY.check(entry.instance)]
        replayed = plan_replays("uct_once", runnable, arm.replays, chance) if runnable else []
        outcomes += [InstanceOutcome(instance, chance.random() < law.rate(instance)) for instance in replayed]
    return rates


def _propose_until_legal(prompt: str, chance: Random) -> tuple[list[Instance], Instance]:
    """What was refused, and what is developed: as in the company, the third refusal leads to the default instance."""
    refused: list[Instance] = []
    while len(refused) < 3:
        instance = propose(prompt, chance)
        if not _COMPANY.check(instance):
            return refused, instance
        refused.append(instance)
    return refused, _COMPANY.default


def _prompt(arm: Arm, outcomes: Sequence[InstanceOutcome], chance: Random) -> str:
    """What the company's Process Manager would read."""
    if arm.shuffles:
        successes = [one.success for one in outcomes]
        chance.shuffle(successes)
        outcomes = [replace(one, success=success) for one, success in zip(outcomes, successes, strict=True)]
    first = _COMPANY.first_experience(chance)
    found = gather_experience(count_outcomes(outcomes), _COMPANY.default, "", chance=chance,
                              choose=_FILTERS[arm.choose]) or first
    return _render(Experience(found.text if arm.text else "", (found if arm.examples else first).instances, ""))


def _render(experience: Experience) -> str:
    phases = _COMPANY.config.phases
    knowledge = {"phases": [{"name": name, "about": phases[name].about, "needs": _COMPANY.list_needs(name)}
                            for name in _COMPANY.default],
                 "text": experience.text, "instances": list(map(format_instance, experience.instances))}
    values = {"task": "A program.", "knowledge": knowledge, "proposal": None}
    return render(phases[_COMPANY.proposing].opening, values, "opening")


def propose(prompt: str, chance: Random) -> Instance:
    """What a model proposes that knows the prompt alone: an instance of the process that its text describes, or one of
    the examples; in two of five cases with a change."""
    known = _listed(prompt)
    text = prompt.partition(_TAUGHT)[2].partition(f"\n\n{_EXAMPLES}")[0]
    if text and chance.random() < 0.5:
        instance = play_out(read_description(text + "\n"), chance)
    else:
        lines = prompt.partition(_EXAMPLES)[2].partition(_REFUSED)[0].strip().splitlines()
        instance = _COMPANY.read(chance.choice(lines))
    return _change(instance, known, chance) if chance.random() < 0.4 else instance


def _listed(prompt: str) -> list[str]:
    """The phases that the prompt lists."""
    lines = prompt.partition("some of these phases:\n")[2].partition("\n\n")[0].splitlines()
    return [line.removeprefix("- ").partition(":")[0] for line in lines]


def _change(instance: Instance, known: Sequence[str], chance: Random) -> Instance:
    """One phase more, one less, or two exchanged."""
    phases = list(instance)
    place = chance.randrange(len(phases) + 1)
    kind = chance.choice(("more", "less", "exchanged"))
    if kind == "more" or len(phases) < 2:
        phases.insert(place, chance.choice(known))
    elif kind == "less":
        del phases[min(place, len(phases) - 1)]
    else:
        one = min(place, len(phases) - 2)
        phases[one], phases[one + 1] = phases[one + 1], phases[one]
    return tuple(phases)


def study(seeds: int) -> dict[str, Any]:
    """For each arm and seed the rates of its rounds."""
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "seeds": seeds,
            "rows": {name: [run_cycle(Arm(**given), seed) for seed in range(FIRST_SEED, FIRST_SEED + seeds)]
                     for name, given in ARMS.items()}}


def told(results: Mapping[str, Any]) -> str:
    """The tables for the page."""
    rows: Mapping[str, Sequence[Sequence[float]]] = results["rows"]
    last = {name: [run[-1] for run in runs] for name, runs in rows.items()}
    means = markdown_table(["the loop", *(f"round {number}" for number in range(1, ROUNDS + 1))], [
        [name, *(f"{statistics.mean(rates):.3f}" for rates in zip(*runs, strict=True))] for name, runs in rows.items()])
    differences = markdown_table(["last round", f"more than where {_BASE} (95 % interval)", "better in"], [
        [name, format_interval(estimate(found := _subtract(rates, last[_BASE]))),
         f"{sum(one > 0 for one in found)} of {len(found)}"] for name, rates in last.items() if name != _BASE])
    return (f"Mean true rate of success of what is developed ({results['seeds']} hidden laws, {PROPOSALS} proposals "
            f"and {REPLAYS} replays a round):\n\n{means}\n\n{differences}\n\n{results['date']}; {results['machine']}; "
            f"seeds {FIRST_SEED} to {FIRST_SEED + results['seeds'] - 1}.")


def _subtract(one: Sequence[float], other: Sequence[float]) -> list[float]:
    return [first - second for first, second in zip(one, other, strict=True)]


STUDY = SizedStudy(told, RESULTS_FOLDER / "process_simulated.json", DOCS / "process.md",
                   marks("simulated", "process.simulated"), "seeds", SEEDS, study)

if __name__ == "__main__":
    STUDY.main(__doc__)
