"""What a design is made of: the assignments, each with what it reads, under which conditions, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from chatdev.tools.verilog.design.decisions import Decision

Kind = Literal["continuous", "always_comb", "clocked", "latch", "initial", "port", "function"]
"""`port` is the wire between an instance and what surrounds it; `function` is a statement of a function or task."""


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """`width` bits of a signal from bit `low` on, counted from the right end of its value.

    The signal's name starts below the top module: `state`, `u1.count`, `lane[2].sum`.
    """

    signal: str
    low: int
    width: int

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1 << self.low

    def covers(self, other: Part) -> bool:
        return self.signal == other.signal and not other.mask & ~self.mask

    def overlaps(self, other: Part) -> bool:
        return self.signal == other.signal and self.low < other.low + other.width and other.low < self.low + self.width


@dataclass(frozen=True, slots=True)
class Lines:
    """Source lines from `first` to `last`, counted from 1."""

    first: int
    last: int

    def __iter__(self) -> Any:
        return iter(range(self.first, self.last + 1))


@dataclass(frozen=True, slots=True)
class Loop:
    """The outermost loop around an assignment: its number in the process, and the line of its head."""

    number: int
    line: int


@dataclass(frozen=True, slots=True)
class Condition:
    """Which way a decision (`if`, `case`) went for an assignment to be reached.

    `subject` is the expression that is looked at, in the lines `head`; `text` adds the label of a `case`, and `lines`
    its line. `holds` is False for what must not be so (an `else`). `declared` are the lines of the constants named
    there, `twins` those of labels of the same `case` that have the same value, so that one of them never matches.
    """

    subject: str
    text: str
    holds: bool
    head: tuple[int, ...]
    lines: tuple[int, ...]
    declared: tuple[int, ...]
    twins: tuple[int, ...]
    reads: tuple[Part, ...]
    calls: tuple[str, ...]
    branch: int
    decision: Decision = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Trigger:
    """What makes a process run: an `edge` of a signal, or any change of it (`change`)."""

    edge: Literal["posedge", "negedge", "change"]
    part: Part
    line: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """One assignment. `targets` are the bits it may write; it surely writes all of them when `exact`.

    `data` are the signals whose values it takes (indices of its left side included), `selects` those that choose
    between them (`?:`), `calls` the functions it enters, `declared` the lines of the constants it names. Assignments of
    one `process` run in the order of the source. `taken` and `whole` are pyslang's expressions: the value, and what
    carries the assignment out when it is evaluated.
    """

    kind: Kind
    targets: tuple[Part, ...]
    exact: bool
    lines: Lines
    text: str
    data: tuple[Part, ...]
    selects: tuple[Part, ...]
    conditions: tuple[Condition, ...]
    calls: tuple[str, ...]
    declared: tuple[int, ...]
    process: int
    blocking: bool
    loop: Loop | None
    taken: Any = field(compare=False, repr=False)
    whole: Any = field(compare=False, repr=False)

    @property
    def control(self) -> tuple[Part, ...]:
        """The signals that decide whether, and which of its data, it takes."""
        return unique([*(part for condition in self.conditions for part in condition.reads), *self.selects])

    def writes(self, part: Part) -> bool:
        return any(target.overlaps(part) for target in self.targets)


@dataclass(frozen=True, slots=True)
class Process:
    """What runs as one: an `always` block, a function, or a single assignment outside of both.

    `signals` are all that it names. `straight` is False when its statements may not all be reached in order (a
    `return`, `disable` or delay amid them). `always` are the signals of which it writes something on every way.
    `arguments` are the symbols of a function's.
    """

    kind: Kind
    triggers: tuple[Trigger, ...]
    assignments: tuple[Assignment, ...]
    signals: tuple[str, ...] = ()
    straight: bool = True
    always: frozenset[str] = frozenset()
    arguments: tuple[Any, ...] = ()

    @property
    def clocked(self) -> bool:
        return any(trigger.edge != "change" for trigger in self.triggers)


def signals_of(assignments: Iterable[Assignment]) -> tuple[str, ...]:
    """All signals that they name."""
    return tuple({part.signal: None for found in assignments
                  for part in (*found.targets, *found.data, *found.control)})


def unique(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Without repetition, in the same order."""
    return tuple(dict.fromkeys(parts))
