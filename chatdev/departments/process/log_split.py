"""A pool divided by a cut: the part of each instance that a child of the operator has to explain.

Where the pool fits the cut, nothing is lost. Where it does not, because the cut was found among frequent behaviour
only, each instance loses as few phases as can be (Leemans, Fahland, van der Aalst: Discovering Block-Structured Process
Models from Event Logs Containing Infrequent Behaviour, 2013, section 3.3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, pairwise

from chatdev.departments.process.cuts import Cut, Group
from chatdev.departments.process.process_tree import Instance

Log = Mapping[Instance, int]
Parts = Iterable[tuple[int, Instance]]
"""Of one instance: the number of a group, and what that group has to explain."""


def split_log(log: Log, cut: Cut) -> list[Counter[Instance]]:
    """One pool for each group of the cut."""
    place = {name: number for number, group in enumerate(cut.groups) for name in group}
    split = _SPLITS[cut.operator]
    found: list[Counter[Instance]] = [Counter() for _ in cut.groups]
    for instance, count in log.items():
        for number, part in split(instance, place, len(cut.groups)):
            found[number][part] += count
    return found


def project(log: Log, names: Group) -> Counter[Instance]:
    """The pool without the other phases."""
    found: Counter[Instance] = Counter()
    for instance, count in log.items():
        found[tuple(name for name in instance if name in names)] += count
    return found


def _split_exclusive(instance: Instance, place: Mapping[str, int], groups: int) -> Parts:
    """The group that has most of the phases takes the instance; the others' phases in it are noise."""
    most = Counter(place[name] for name in instance)
    number = min(most, key=lambda one: (-most[one], one))
    yield number, tuple(name for name in instance if place[name] == number)


def _split_parallel(instance: Instance, place: Mapping[str, int], groups: int) -> Parts:
    parts: list[list[str]] = [[] for _ in range(groups)]
    for name in instance:
        parts[place[name]].append(name)
    return enumerate(map(tuple, parts))


def _split_sequence(instance: Instance, place: Mapping[str, int], groups: int) -> Parts:
    numbers = [place[name] for name in instance]
    if all(one <= other for one, other in pairwise(numbers)):
        return _split_parallel(instance, place, groups)
    ends = _best_ends(numbers, groups)
    begins = [0, *ends[:-1]]
    return [(number, tuple(name for name in instance[begin:end] if place[name] == number))
            for number, (begin, end) in enumerate(zip(begins, ends, strict=True))]


def _best_ends(numbers: Sequence[int], groups: int) -> list[int]:
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


def _split_loop(instance: Instance, place: Mapping[str, int], groups: int) -> Parts:
    """Runs of phases of one group. What begins or ends with a redo part, or goes from one to another, ran the body
    without a trace of it."""
    runs = [(number, tuple(names)) for number, names in groupby(instance, place.__getitem__)]
    before = 1
    for number, names in runs:
        if before and number:
            yield 0, ()
        yield number, names
        before = number
    if before:
        yield 0, ()


_SPLITS: dict[str, Callable[[Instance, Mapping[str, int], int], Parts]] = {
    "exclusive": _split_exclusive, "sequence": _split_sequence, "parallel": _split_parallel, "loop": _split_loop}
