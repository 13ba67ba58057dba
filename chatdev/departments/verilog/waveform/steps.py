"""What changed at each time: of the values that a file names, those that are other than before."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from chatdev.departments.verilog.waveform.vcd import check_held

Step = tuple[int, dict[str, str]]


@dataclass(frozen=True, slots=True)
class LastSteps:
    """The last steps before a time, oldest first; `before` is what held at the first of them, by code."""

    before: dict[str, str]
    steps: deque[Step]

    @classmethod
    def of(cls, dumped: Iterable[Step], known: Mapping[str, str], count: int) -> LastSteps:
        """The last `count` at most; `known` is what held before that which was `dumped`."""
        last, held = cls(dict(known), deque()), 0
        for step in find_steps(dumped, known):
            last.steps.append(step)
            held += bit_count(step)
            if len(last.steps) > count:
                first = last.steps.popleft()
                held -= bit_count(first)
                last.before.update(first[1])
            check_held(held)
        return last


def find_steps(dumped: Iterable[Step], known: Mapping[str, str]) -> Iterator[Step]:
    """For each time the codes that have another value at its end, with that value; of a time values may be `dumped` in
    several pieces."""
    known, now, values = dict(known), 0, dict[str, str]()
    for moment, more in dumped:
        if moment == now:
            values |= more
            continue
        if step := _other_values(values, known):
            yield now, step
        now, values = moment, more
    if step := _other_values(values, known):
        yield now, step


def _other_values(values: Mapping[str, str], known: dict[str, str]) -> dict[str, str]:
    """The values that are other than what was known, and known from now on: what goes there and back within one time is
    not among them."""
    step = {code: value for code, value in values.items() if known.get(code) != value}
    known |= step
    return step


def bit_count(step: Step) -> int:
    """Of all its values."""
    return sum(map(len, step[1].values()))
