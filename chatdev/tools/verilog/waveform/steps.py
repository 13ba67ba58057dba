"""What changed at each time: of the values that a file names, those that are other than before."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

Change = tuple[int, str, str]
Step = tuple[int, dict[str, str]]


@dataclass(frozen=True, slots=True)
class LastSteps:
    """The last steps before a time, oldest first; `before` is what held at the first of them, by code."""

    before: dict[str, str]
    steps: deque[Step]

    @classmethod
    def of(cls, changes: Iterable[Change], known: Mapping[str, str], count: int) -> LastSteps:
        """The last `count` at most; `known` is what held before the changes."""
        last = cls(dict(known), deque())
        for step in find_steps(changes, known):
            last.steps.append(step)
            if len(last.steps) > count:
                last.before.update(last.steps.popleft()[1])
        return last


def find_steps(changes: Iterable[Change], known: Mapping[str, str]) -> Iterator[Step]:
    """For each time the codes that have another value at its end, with that value."""
    known, step, now = dict(known), dict[str, str](), 0
    for moment, code, value in changes:
        if moment != now and step:
            known |= step
            yield now, step
            step = {}
        now = moment
        if known.get(code) != value:
            step[code] = value
        else:
            step.pop(code, None)  # it went there and back within one time
    if step:
        yield now, step
