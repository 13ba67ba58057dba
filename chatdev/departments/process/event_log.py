"""What event logs say: the variants that the miner mines, how long cases take, and where they wait.

A step of a case is an activity from its `start` to its `complete`, paired in their order (life-cycle of XES, IEEE
1849-2016).
"""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median, quantiles
from typing import Literal, NamedTuple

from chatdev.departments.process.process_tree import Instance
from chatdev.errors import ConfigError

Lifecycles = Literal["pair", "complete", "start", "all"]
_STARTS, _ENDS = {"start"}, {"complete", "autoskip", "manualskip"}
_NO_STEPS = {"schedule", "assign", "reassign", "suspend", "resume", "withdraw", "ate_abort", "pi_abort", "enable"}
_PASSED_OVER = {"pair": _NO_STEPS, "complete": _NO_STEPS | _STARTS, "start": _NO_STEPS | _ENDS, "all": set[str]()}


_LONGEST_NAME, _MOST_ACTIVITIES = 1000, 10_000  # characters of an activity; activities
_MOST_TOLD, _LONGEST_TOLD = 40, 80  # names in a message, and characters of each


class Event(NamedTuple):
    """One event of a case; `time` in seconds since 1970 (UTC), `instance` what tells equal activities apart."""

    activity: str
    time: float | None
    transition: str
    instance: str


class Step(NamedTuple):
    """An activity of a case from its begin to its end, in seconds since 1970."""

    activity: str
    start: float | None
    end: float | None


@dataclass(frozen=True, slots=True)
class LogChoice:
    """Which attributes or columns of a log are meant, and how it is written; None: the usual ones. `case` is a type of
    object in OCEL. `lifecycles`: an activity is a step once (`pair`), at each `complete`, at each `start`, or every
    event is one."""

    case: str | None = None
    activity: str | None = None
    time: str | None = None
    lifecycle: str | None = None
    lifecycles: Lifecycles = "pair"
    separator: str | None = None
    time_format: str | None = None


@dataclass(slots=True)
class Wait:
    """Times between the end of one activity and the start of the next, in seconds."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.count, self.total, self.longest = self.count + 1, self.total + seconds, max(self.longest, seconds)


@dataclass(slots=True)
class EventLog:
    """What a log says: how many cases took each variant, how long they took (`durations`, seconds), and what of the
    file was no step."""

    variants: Counter[Instance] = field(default_factory=Counter)
    events: int = 0
    begin: float | None = None
    end: float | None = None
    durations: array[float] = field(default_factory=lambda: array("d"))
    waits: dict[tuple[str, str], Wait] = field(default_factory=dict)
    unfinished: int = 0
    passed_over: Counter[str] = field(default_factory=Counter)

    @property
    def cases(self) -> int:
        """The number of cases."""
        return self.variants.total()

    @property
    def activities(self) -> Counter[str]:
        """How often each activity was a step."""
        found: Counter[str] = Counter()
        for variant, count in self.variants.items():
            for activity in variant:
                found[activity] += count
        return found

    @property
    def typical_durations(self) -> dict[str, float] | None:
        """Seconds of a case: the median and the 90th percentile; None without times."""
        if not self.durations:
            return None
        most = quantiles(self.durations, n=10, method="inclusive")[-1] if len(self.durations) > 1 else self.durations[0]
        return {"median": median(self.durations), "p90": most}

    def add(self, events: Sequence[Event], lifecycles: Lifecycles) -> None:
        """Count a case: its events by time, those of equal times as they come."""
        steps = _pair(_by_time(events), lifecycles, self)
        self.events += len(events)
        self.variants[tuple(step.activity for step in steps)] += 1
        times = [time for event in events if (time := event.time) is not None]
        if times:
            first, last = min(times), max(times)
            self.durations.append(last - first)
            self.begin = first if self.begin is None else min(self.begin, first)
            self.end = last if self.end is None else max(self.end, last)
        for one, following in pairwise(steps):
            if one.end is not None and following.start is not None:
                wait = self.waits.setdefault((one.activity, following.activity), Wait())
                wait.add(max(0.0, following.start - one.end))


def keep_frequent(variants: Mapping[Instance, int], share: float) -> Counter[Instance]:
    """The variants without rare activities: as many of the most frequent ones stay as make up this share of the
    steps."""
    counts: Counter[str] = Counter()
    for variant, count in variants.items():
        for name in variant:
            counts[name] += count
    kept, covered, wanted = set[str](), 0, share * counts.total()
    for name, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])):
        if covered >= wanted:
            break
        kept.add(name)
        covered += count
    found: Counter[Instance] = Counter()
    for variant, count in variants.items():
        found[tuple(name for name in variant if name in kept)] += count
    return found


# What a case says.


def _by_time(events: Sequence[Event]) -> Sequence[Event]:
    """By time; an event without one stays behind the one before it."""
    last, keys = float("-inf"), list[float]()
    for event in events:
        last = last if event.time is None else event.time
        keys.append(last)
    if all(one <= other for one, other in pairwise(keys)):
        return events
    return [events[place] for place in sorted(range(len(events)), key=keys.__getitem__)]


def _pair(events: Iterable[Event], lifecycles: Lifecycles, log: EventLog) -> list[Step]:
    """The steps of a case, each where it ends; one that never ends stands where it began."""
    steps: dict[int, Step] = {}
    begun: dict[tuple[str, str], deque[int]] = {}
    for place, (activity, time, transition, instance) in enumerate(events):
        kind, start = transition.lower(), time
        if kind in _PASSED_OVER[lifecycles]:
            log.passed_over[transition] += 1
            continue
        if kind in _STARTS and lifecycles == "pair":
            begun.setdefault((activity, instance), deque()).append(place)
        elif kind in _ENDS and begun.get((activity, instance)):
            start = steps.pop(begun[activity, instance].popleft()).start
        steps[place] = Step(activity, start, time)
    log.unfinished += sum(map(len, begun.values()))
    return [*steps.values()]


def list_some(names: Iterable[str]) -> str:
    """The names as a message tells them, long ones cut and the last of many left out."""
    found = list(names)
    more = f", and {len(found) - _MOST_TOLD} more" if len(found) > _MOST_TOLD else ""
    return ", ".join(name[:_LONGEST_TOLD] for name in found[:_MOST_TOLD]) + more


def name_activity(activity: str, known: dict[str, str], refuse: Callable[[str], ConfigError]) -> str:
    """The activity, one text for all events of it. Raises what `refuse` makes of a reason."""
    if activity not in known:
        if len(activity) > _LONGEST_NAME:
            raise refuse(f"an activity of {len(activity)} characters is no name; the most is {_LONGEST_NAME}")
        if len(known) == _MOST_ACTIVITIES:
            raise refuse(f"there are more than {_MOST_ACTIVITIES:,} activities; name what is one: --activity")
    return known.setdefault(activity, activity)
