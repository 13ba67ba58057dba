"""A pool divided by a cut: the part of each instance that a child of the operator has to explain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, groupby, pairwise

from chatdev.departments.process.cuts import Cut
from chatdev.departments.process.follows_graph import MARK, Edges, Log, Phases, bits_of, count_later, list_numbers


class Instances:
    """Instances that many parts of a pool are projections of."""

    def __init__(self, log: Log) -> None:
        by_count: dict[int, list[str]] = {}
        for instance, count in log.items():
            by_count.setdefault(count, []).append(instance)
        self._log = log
        self._texts = [(count, MARK.join(["", *instances, ""])) for count, instances in by_count.items()]
        self.phases = bits_of("".join(text for _, text in self._texts)) & ~1
        self.total = sum(log.values())

    def project(self, phases: Phases) -> list[tuple[int, str]]:
        """The instances without other phases, with marks between them: texts, and how often each was seen."""
        if phases == self.phases:
            return self._texts
        others = dict.fromkeys(list_numbers(self.phases & ~phases))
        return [(count, text.translate(others)) for count, text in self._texts]

    def count_with(self, phases: Phases) -> int:
        """How many instances have any of the phases."""
        return sum(count for present, count in self._sets.items() if present & phases)

    @cached_property
    def once(self) -> Counter[str]:
        """How many instances have each phase exactly once."""
        found: Counter[str] = Counter()
        for instance, count in self._log.items():
            for phase in {*instance}:
                if instance.count(phase) == 1:
                    found[phase] += count
        return found

    @cached_property
    def _sets(self) -> Counter[Phases]:
        found: Counter[Phases] = Counter()
        for instance, count in self._log.items():
            found[bits_of(instance)] += count
        return found

    @cached_property
    def later(self) -> Edges:
        """How often each phase comes anywhere after another; of a projection this is the same."""
        return count_later(self._log)


def split_log(log: Log, cut: Cut) -> list[Counter[str]]:
    """One pool for each group of the cut."""
    place = {chr(name): number for number, group in enumerate(cut.groups) for name in list_numbers(group)}
    split = _SPLITS[cut.operator]
    found: list[Counter[str]] = [Counter() for _ in cut.groups]
    for instance, count in log.items():
        for number, part in split(instance, place, len(cut.groups)):
            found[number][part] += count
    return found


def split_rounds(log: Log, starts: Phases, ends: Phases | None = None) -> Counter[str] | None:
    """The instances divided where a new round begins: before each phase that begins instances; if ends are given, only
    when one of them comes before it. None when no instance is divided so."""
    first = {*map(chr, list_numbers(starts))}
    last = None if ends is None else {*map(chr, list_numbers(ends))}
    found: Counter[str] = Counter()
    for instance, count in log.items():
        begins = [place for place, (before, name) in enumerate(pairwise(instance), 1)
                  if name in first and (last is None or before in last)]
        for begin, end in pairwise([0, *begins, len(instance)]):
            found[instance[begin:end]] += count
    return found if found.total() > sum(log.values()) else None


Parts = Iterable[tuple[int, str]]
"""Of one instance: the number of a group, and what that group has to explain."""


def _split_exclusive(instance: str, place: Mapping[str, int], groups: int) -> Parts:
    """The group that has most of the phases takes the instance; the others' phases in it are noise."""
    most = Counter(map(place.__getitem__, instance))
    number = min(most, key=lambda one: (-most[one], one))
    yield number, "".join(name for name in instance if place[name] == number)


def _split_parallel(instance: str, place: Mapping[str, int], groups: int) -> Parts:
    parts = [""] * groups
    for name in instance:
        parts[place[name]] += name
    return enumerate(parts)


def _split_sequence(instance: str, place: Mapping[str, int], groups: int) -> Parts:
    numbers = [*map(place.__getitem__, instance)]
    if numbers == sorted(numbers):
        return _split_parallel(instance, place, groups)
    parts = [""] * groups
    for begin, end in pairwise(_find_bounds(numbers)):
        names, here = instance[begin:end], sorted({*numbers[begin:end]})
        if len(here) == 1:
            parts[here[0]] += names
            continue
        ranks = tuple(map(here.index, numbers[begin:end]))
        stretches = pairwise([0, *_best_ends(ranks, len(here))])
        for rank, (first, last) in enumerate(stretches):
            parts[here[rank]] += "".join(
                name for name, own in zip(names[first:last], ranks[first:last], strict=True) if own == rank)
    return enumerate(parts)


def _find_bounds(numbers: Sequence[int]) -> list[int]:
    """Where numbers can be divided so that all before are smaller than all behind: each part is split by itself."""
    highest = accumulate(numbers[:-1], max)
    lowest = [*accumulate(reversed(numbers[1:]), min)][::-1]
    inner = [place for place, (high, low) in enumerate(zip(highest, lowest, strict=True), 1) if high < low]
    return [0, *inner, len(numbers)]


@lru_cache(maxsize=4096)  # short ones come again and again
def _best_ends(numbers: tuple[int, ...], groups: int) -> list[int]:
    """Where the stretch of each group ends, so that most phases lie in the stretch of their own group; the earliest
    ends of equally good ones."""
    kept = [0] * (len(numbers) + 1)  # phases in their own stretch, up to each place, with the groups so far
    choices: list[list[int]] = []
    for group in range(groups):
        best, begin, now, here = [], 0, [], kept[0]
        for end in range(len(numbers) + 1):
            if end:
                here += numbers[end - 1] == group
            if kept[end] > here:
                begin, here = end, kept[end]
            now.append(here)
            best.append(begin)
        kept, choices = now, [*choices, best]
    ends = [len(numbers)]
    for best in reversed(choices[1:]):
        ends.append(best[ends[-1]])
    return ends[::-1]


def _split_loop(instance: str, place: Mapping[str, int], groups: int) -> Parts:
    """Runs of phases of one group. What begins or ends with a redo part, or goes from one to another, ran the body
    without a trace of it."""
    before = 1
    for number, names in groupby(instance, place.__getitem__):
        if before and number:
            yield 0, ""
        yield number, "".join(names)
        before = number
    if before:
        yield 0, ""


_SPLITS: dict[str, Callable[[str, Mapping[str, int], int], Parts]] = {
    "exclusive": _split_exclusive, "sequence": _split_sequence, "parallel": _split_parallel, "loop": _split_loop}
