"""Process instances and their pool. An instance is the list of phases that a model proposes for one software, read from
its reply and checked before anything is paid for (Think-on-Process, §3.1; its hallucinations: §4.4).

The pool counts how often each led to software that works (§3.2): what it says, and which instance is run again.
`pool_store` keeps it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from random import Random
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from chatdev.config.phases import Phase, names_read
from chatdev.departments.process.process_tree import Instance
from chatdev.errors import ConfigError

NOT_DEVELOPED = "not developed"
"""The `failure` of a proposal that could be run and was not: it is kept, and counts neither for nor against it."""


@dataclass(frozen=True, slots=True)
class InstanceOutcome:
    """What became of an instance once. `success`: its software passes the cases from its request; `starts`: it starts
    at all (None: never tried); `temperature`: that of its proposal, None where nothing was proposed; `failure`: the
    kind of hallucination, or how the run ended, where it is no success."""

    instance: Instance
    success: bool
    starts: bool | None = None
    task: str = ""
    area: str = ""
    model: str = ""
    temperature: float | None = None
    failure: str = ""
    run: str = ""
    time: str = ""

    @property
    def was_run(self) -> bool:
        """Whether software was developed by it."""
        return self.success or self.starts is not None

    @property
    def counts(self) -> bool:
        """Whether it counts in the pool: it was run, or could not be."""
        return self.failure != NOT_DEVELOPED


def count_outcomes(outcomes: Iterable[InstanceOutcome]) -> list[PoolEntry]:
    """The entries that a pool of these outcomes has, the most frequent first."""
    counts: dict[Instance, list[int]] = {}
    for outcome in (outcome for outcome in outcomes if outcome.counts):
        count = counts.setdefault(outcome.instance, [0, 0])
        count[0] += 1
        count[1] += outcome.success
    entries = [PoolEntry(instance, frequency, successes) for instance, (frequency, successes) in counts.items()]
    return sorted(entries, key=lambda entry: (-entry.frequency, entry.instance))


def export_outcomes(outcomes: Iterable[InstanceOutcome], phases: Iterable[str]) -> str:
    """Outcomes over these phases as JSON, which `read_export` reads."""
    return json.dumps({"phases": sorted(phases), "outcomes": [asdict(one) for one in outcomes]}, ensure_ascii=False,
                      indent=1)


def _without_arrow(name: str) -> str:
    if ARROW in name:
        raise ValueError(f"a phase has no {ARROW.strip()!r} in its name")
    return name


class ExportedOutcome(BaseModel):
    """An outcome as an export has it."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    instance: list[Annotated[str, Field(min_length=1), AfterValidator(_without_arrow)]]
    success: bool
    starts: bool | None = None
    task: str = ""
    area: str = ""
    model: str = ""
    temperature: float | None = None
    failure: str = ""
    run: str = ""
    time: str = ""

    @property
    def outcome(self) -> InstanceOutcome:
        """As the pool has it."""
        return InstanceOutcome(**{**dict(self), "instance": tuple(self.instance)})


_EXPORTED = TypeAdapter(list[ExportedOutcome])


def read_export(text: str, phases: Sequence[str], where: str) -> list[InstanceOutcome]:
    """The outcomes of an exported pool; `where` names it in errors. Raises ConfigError for what is none, or one of
    other phases."""
    try:
        data = json.loads(text)
        check_phases(data["phases"], phases, where)
        rows = [row.outcome for row in _EXPORTED.validate_python(data["outcomes"])]
    except ValidationError as error:
        raise ConfigError(f"{where}: outcome {first_fault(error)}; write a pool with `chatdev process export`"
                          ) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigError(f"{where} is no exported pool ({type(error).__name__}: {str(error)[:120]}); write one with "
                          "`chatdev process export`") from None
    refuse_strange_successes(rows, phases, where)
    return rows


def check_phases(kept: Sequence[str], phases: Sequence[str], which: str) -> None:
    if set(kept) != set(phases):
        more, less = sorted(set(kept) - set(phases)), sorted(set(phases) - set(kept))
        raise ConfigError(f"{which} was made for other phases ({'; '.join(filter(None, _differences(more, less)))}); "
                          "name another pool for these")


def _differences(more: Sequence[str], less: Sequence[str]) -> Iterator[str]:
    if more:
        yield f"it also has {', '.join(more[:5])}"
    if less:
        yield f"it lacks {', '.join(less[:5])}"


def refuse_strange_successes(outcomes: Sequence[InstanceOutcome], phases: Sequence[str], where: str) -> None:
    """Raise ConfigError where something else than a known phase led to success: the model that proposes reads it."""
    for number, one in enumerate(outcomes):
        if one.success and (strange := sorted(set(one.instance) - set(phases))):
            raise ConfigError(f"{where}: outcome {number}.instance: a success of {strange[0]!r:.80}, which is no phase")


def first_fault(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"


# What a pool says: how often each instance was tried, with what success, and how different they are.

LEAST_SUCCESS = 0.30
"""The share of successes from which an instance is worth learning from (section 4.2)."""
MOST_LEARNT = 8
"""Of so many instances at most a model is mined."""
_DOUBT = 3  # runs that an instance must have before its own rate of success counts as much as the pool's


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """An instance of the pool: it was run `frequency` times (N), `successes` (Q) of them well."""

    instance: Instance
    frequency: int
    successes: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.frequency:
            raise ConfigError(f"there cannot be {self.successes} successes in {self.frequency} runs of "
                              f"{' → '.join(self.instance)!r:.200}")

    @property
    def success_rate(self) -> float:
        """Equation 2: Q/N; 0 before the first run."""
        return self.successes / self.frequency if self.frequency else 0.0


def filter_entries(entries: Iterable[PoolEntry], least: float = LEAST_SUCCESS) -> list[PoolEntry]:
    """The entries that were run and succeeded often enough, in their order."""
    return [entry for entry in entries if entry.frequency and entry.success_rate >= least]


def choose_best(entries: Iterable[PoolEntry], least: float = LEAST_SUCCESS) -> list[PoolEntry]:
    """The entries to learn from: among those that succeed often enough and succeeded twice (once, where none did so
    twice), the best by their success rate, drawn towards that of the pool as far as they were run rarely.

    The paper mines all that pass its filter. In a growing pool most of these passed by luck, and a model of many
    instances allows nearly everything; docs/process.md shows what that costs.
    """
    known = list(entries)
    runs = sum(entry.frequency for entry in known)
    common = sum(entry.successes for entry in known) / runs if runs else 0.0
    good = [entry for entry in filter_entries(known, least) if entry.successes]
    confirmed = [entry for entry in good if entry.successes > 1] or good
    best_first = sorted(confirmed, key=lambda entry: (
        -(entry.successes + _DOUBT * common) / (entry.frequency + _DOUBT), -entry.frequency, entry.instance))
    return best_first[:MOST_LEARNT]


def count_instances(entries: Iterable[PoolEntry]) -> dict[Instance, int]:
    """What the miner mines: how often each instance was run."""
    return {entry.instance: entry.frequency for entry in entries if entry.frequency}


class Diversity(NamedTuple):
    """How far an instance is from the default one, from 0 (the same) to 1 (nothing in common)."""

    phases: float
    """Equation 3: which phases there are."""
    orders: float
    """Equation 4: which phase directly follows which."""

    @property
    def mean(self) -> float:
        """Equation 5."""
        return (self.phases + self.orders) / 2


def measure_diversity(instance: Sequence[str], default: Sequence[str]) -> Diversity:
    """Two Jaccard distances: of the sets of phases, and of the sets of orders. The paper does not say what an order is;
    here it is a pair of phases of which one directly follows the other. Sets hardly see that phases are repeated."""
    return Diversity(_distance(set(instance), set(default)), _distance(set(pairwise(instance)), set(pairwise(default))))


def _distance(one: set[object], other: set[object]) -> float:
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


# Which instance of the pool is run again: the doubtful ones, before they are judged by luck.

EXPLORATION = 1.0
"""C of equation 1."""


def uct_value(entry: PoolEntry, total: int, exploration: float = EXPLORATION) -> float:
    """Equation 1: 1 − Q/N + C·√(ln ΣN / N), where `total` is ΣN, the runs of all entries; infinite for what was never
    run."""
    if not entry.frequency:
        return math.inf
    return 1 - entry.success_rate + exploration * math.sqrt(math.log(max(total, 1)) / entry.frequency)


def choose(strategy: str, entries: Sequence[PoolEntry], chance: Random, exploration: float = EXPLORATION,
           taken: Collection[Instance] = ()) -> PoolEntry:
    """The entry to run again; among equals any, by `chance`.

    - `uct`: the greatest value of equation 1.
    - `uct_sampled`: any, the more likely the greater that value (what the paper's program does).
    - `uct_once`: as `uct`, but none of the instances in `taken`, those of this round, until all were.
    - `frequency`: the one run least often.
    - `failure_rate`: the one that fails most often. It never ends with an instance that always fails.

    Raises ConfigError without entries, or for an unknown strategy.
    """
    if strategy not in STRATEGIES:
        raise ConfigError(f"unknown replay strategy {strategy!r}; there are: {', '.join(STRATEGIES)}")
    if not entries:
        raise ConfigError("no entries were given: there is nothing to replay")
    if strategy == "uct_once":
        entries = [entry for entry in entries if entry.instance not in taken] or entries
    values = STRATEGIES[strategy](entries, exploration)
    best = max(values)
    if strategy == "uct_sampled" and 0 < best < math.inf:
        return chance.choices(entries, values)[0]
    return _choose_best(entries, values, chance)


def plan_replays(strategy: str, entries: Sequence[PoolEntry], count: int, chance: Random,
                 exploration: float = EXPLORATION) -> list[Instance]:
    """The next `count` instances to run again, chosen before any of them has ended: meanwhile each is taken to end as
    it did so far (by `chance`, at its success rate). Raises ConfigError as `choose` does."""
    known = {entry.instance: entry for entry in entries}
    planned: list[Instance] = []
    for _ in range(count):
        taken = planned[-(len(planned) % len(known)):] if len(planned) % len(known or (0,)) else []
        entry = choose(strategy, list(known.values()), chance, exploration, taken)
        success = chance.random() < entry.success_rate
        known[entry.instance] = PoolEntry(entry.instance, entry.frequency + 1, entry.successes + success)
        planned.append(entry.instance)
    return planned


def _choose_best(entries: Sequence[PoolEntry], values: Sequence[float], chance: Random) -> PoolEntry:
    best = max(values)
    return chance.choice([entry for entry, value in zip(entries, values, strict=True) if value == best])


def _uct_values(entries: Sequence[PoolEntry], exploration: float) -> list[float]:
    total = sum(entry.frequency for entry in entries)
    spread = exploration * math.sqrt(math.log(max(total, 1)))  # once for all: pools are large, and replays many
    return [1 - entry.successes / entry.frequency + spread / math.sqrt(entry.frequency) if entry.frequency else math.inf
            for entry in entries]


STRATEGIES: dict[str, Callable[[Sequence[PoolEntry], Any], list[float]]] = {
    "uct": _uct_values,
    "frequency": lambda entries, _: [-entry.frequency for entry in entries],
    "failure_rate": lambda entries, _: [1 - entry.success_rate if entry.frequency else math.inf for entry in entries],
    "uct_sampled": _uct_values,
    "uct_once": _uct_values,
}
"""By name, how much each entry is worth replaying."""


# Process instances: the list of phases that a model proposes for one software, read from its reply and checked
# before anything is paid for (Think-on-Process, §3.1; its hallucinations: §4.4).

ARROW = " → "
MOST_PHASES = 60
"""Longer instances are refused: the paper's default has fourteen phases."""

_LONGEST_REPLY = 20_000  # characters that are looked at
_SIGN = r"(?:[→⇒➔➜⟶⟹]|-{1,3}>|={1,2}>)"
_ARROW = re.compile(rf"\s*{_SIGN}\s*")
_DRESS = re.compile(r"^[\s>*#\-•|\d.)(`'\"\[\]]+|[\s`'\"*|.;,)\]]+$")  # bullets, numbers, quotes, cells around a name
_COMMAS = re.compile(r"[,;，、]")
_SPACES = re.compile(r"[\s_\-]+")

Kind = Literal["empty", "too long", "unknown phase", "missing solution", "no software"]


@dataclass(frozen=True, slots=True)
class Hallucination:
    """Why an instance cannot run. `phase` is the one at fault, or empty; `missing` what it reads and nobody wrote."""

    kind: Kind
    phase: str = ""
    missing: str = ""

    def describe(self) -> str:
        """In words, for people and for the model that proposed it."""
        return {"empty": "it names no phase", "too long": f"it has more than {MOST_PHASES} phases",
                "unknown phase": f"there is no phase {self.phase}", "no software": "no phase of it writes the software",
                "missing solution": f"{self.phase} reads `{self.missing}`, which nothing before it writes"}[self.kind]


def format_instance(instance: Sequence[str]) -> str:
    """`A → B → C`: as it stands in prompts, pools and reports."""
    return ARROW.join(instance)


def read_instance(reply: str, known: Collection[str]) -> Instance:
    """The instance that a reply proposes: its longest line of names with arrows between them, else its lines, cells
    and parts between commas that are a known name. Names are found whatever their case, spaces or quotes; one that is
    not known stays as it is written. An empty instance where the reply proposes none."""
    spelling = {_plain(name): name for name in known}
    lines = _join_broken(reply[:_LONGEST_REPLY])
    chains = [names for line in lines if len(names := _split(line)) > 1]
    if chains:
        names = max(chains, key=len)
    else:
        names = [name for line in lines for part in _COMMAS.split(line)
                 if _plain(name := _DRESS.sub("", part)) in spelling]
    return tuple(spelling.get(_plain(name), name) for name in names)


def check_instance(instance: Instance, phases: Mapping[str, Phase],
                   given: Collection[str]) -> tuple[Hallucination, ...]:
    """Everything for which an instance could not run or would make nothing; `given` are the names that are there before
    it begins. An unknown phase writes nothing, so what would follow from it is not told."""
    if not instance:
        return (Hallucination("empty"),)
    if len(instance) > MOST_PHASES:
        return (Hallucination("too long"),)
    unknown = [Hallucination("unknown phase", name[:80]) for name in dict.fromkeys(instance) if name not in phases]
    return tuple(unknown or dict.fromkeys(_find_missing([(name, phases[name]) for name in instance], given)))


def _find_missing(steps: Sequence[tuple[str, Phase]], given: Collection[str]) -> Iterator[Hallucination]:
    """What phases read that is not there when they run; and the software, if none writes it."""
    there = set(given)
    for name, phase in steps:
        needed = names_read([read for read in phase.reads if not read.endswith("?")])
        yield from (Hallucination("missing solution", name, missing) for missing in sorted(needed - there))
        there.add(phase.writes)
    if "software" not in there:
        yield Hallucination("no software")


def _join_broken(reply: str) -> list[str]:
    """The lines; one that ends or goes on with an arrow is joined with its neighbour."""
    lines: list[str] = []
    for line in reply.splitlines():
        text = line.strip()
        if lines and text and (_ARROW.match(text) or re.search(rf"{_SIGN}$", lines[-1])):
            lines[-1] = f"{lines[-1]} {text}"
        elif text:
            lines.append(text)
    return lines


def _split(line: str) -> list[str]:
    """The names between the arrows of a line; what is said before the first of them, up to a colon, is none."""
    head, colon, rest = line.replace("：", ":").partition(":")
    text = rest if colon and not _ARROW.search(head) else line
    return [name for part in _ARROW.split(text) if (name := _DRESS.sub("", part))]


def _plain(name: str) -> str:
    return _SPACES.sub("", name).casefold()
