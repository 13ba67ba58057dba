"""A controller that runs a program scan by scan: inputs are read, the body runs once, what is not temporary is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chatdev.departments.plc.simulation import values as arithmetic
from chatdev.departments.plc.simulation.layout import TooDeep, all_variables, begin_routine, duplicate, overwrite
from chatdev.departments.plc.simulation.python_source import Expressions, FaultKind, generate
from chatdev.departments.plc.simulation.values import WrongValue, bounds, fit
from chatdev.departments.plc.st import core
from chatdev.departments.plc.st.functions import FUNCTIONS

MOST_LOOPS_AT_ONCE = 30
"""So many loops of a scan together may make all their turns, so that loops within loops end in a second."""
_MESSAGES: Mapping[FaultKind, str] = {
    "index": "the index {value} lies outside of {low}..{high}",
    "division": "division by zero",
    "loop": "a loop made more than {high} turns in one scan",
    "subrange": "the value {value} lies outside of {low}..{high}",
    "gap": "not run: {why}",
}


class RunTimeFault(Exception):
    """The program did what a controller stops at: an index outside of its array, a division by zero, a loop without
    end, a value outside of its subrange. `scan` counts from 1."""

    def __init__(self, kind: FaultKind, message: str, span: core.Span, scan: int) -> None:
        super().__init__(f"{span}: {message} (scan {scan})")
        self.kind = kind
        self.message = message
        self.span = span
        self.scan = scan


@dataclass(frozen=True, slots=True)
class BrokenAssert:
    """An assertion that did not hold when the program came to it."""

    name: str
    span: core.Span
    scan: int


class Machine:
    """Runs the entry of a program. `cycle_ms` is the time from one scan to the next, in milliseconds, if a scan is not
    told another. With `watches_overflow` it is noted where integers wrap round. More than `most_turns` of a loop in a
    scan are a run-time fault. A run ends where something is not known (`core.Unknown`), unless it `passes_gaps`: then
    it goes on with a value that such a thing may have. Raises TooDeep for a program that is nested too deeply to be
    run."""

    def __init__(self, program: core.Program, cycle_ms: int = 100, watches_overflow: bool = False,
                 most_turns: int = core.MOST_TURNS, passes_gaps: bool = False) -> None:
        self.program = program
        self.cycle_ms = cycle_ms
        self.scans = 0
        """How many scans have begun since the start."""
        self._generated = generate(program, watches_overflow, most_turns, passes_gaps)
        self._variables = {variable.name: variable for variable in all_variables(program, program.entry)}
        self._accepts = {name: _quick_check(variable.type) for name, variable in self._variables.items()
                         if variable.section in ("input", "in_out")}
        self._data = begin_routine(program, program.entry)
        self._copies = {name: _quick_copy(value) for name, value in self._data.items()
                        if isinstance(value, list | dict)}
        self._hits = bytearray(len(self._generated.marks))
        self._broken: list[int] = []
        self._wrapped: set[int] = set()
        self._clock = [cycle_ms]
        self._turns = 0
        self._most_turns_of_all = MOST_LOOPS_AT_ONCE * most_turns
        self._known: dict[str, Any] = {name: getattr(arithmetic, name) for name in _HELPERS} | {
            "duplicate": duplicate, "overwrite": overwrite, "stop": self._stop, "spend": self._spend,
            "watch": self._watch, "h": self._hits, "clock": self._clock, "broken": self._broken}
        exec(_compile(self._generated.source), self._names())
        self._run = self._known[self._generated.entry]

    @property
    def state(self) -> dict[str, core.Value]:
        """All variables of the entry, by lower-case names; a copy. To set it takes some or all of them, as Python has
        them; what is left out stays. Raises WrongValue."""
        return {name: duplicate(value) for name, value in self._data.items()}

    @state.setter
    def state(self, values: Mapping[str, Any]) -> None:
        fresh = {}
        for name, value in values.items():
            variable = self._variables.get(str(name).lower())
            if variable is None:
                raise WrongValue(f"{name} is no variable of {self._name}; it has {', '.join(self._variables)}")
            fresh[variable.name] = fit(value, variable.type, str(name), self._data[variable.name])
        self._data.update(fresh)

    @property
    def lines(self) -> frozenset[int]:
        """The lines of the source that ran in the last scan; after a fault, with the rest of its straight part."""
        return frozenset(line for hit, marked in zip(self._hits, self._generated.marks, strict=True) if hit
                         for line in marked)

    @property
    def broken(self) -> tuple[BrokenAssert, ...]:
        """The assertions that did not hold in the last scan, in the order in which they were reached."""
        asserts = self._generated.tables.asserts
        return tuple(BrokenAssert(asserts[number].name, asserts[number].span, self.scans) for number in self._broken)

    @property
    def wrapped(self) -> frozenset[tuple[core.Span, str]]:
        """The operators whose result did not fit its type in the last scan, with their places."""
        watched = self._generated.tables.watched
        return frozenset((watched[number].span, watched[number].operator) for number in self._wrapped)

    def reset(self) -> None:
        """Begin anew: the initial values, and no scan yet."""
        self._data.clear()
        self._data.update(begin_routine(self.program, self.program.entry))
        self._hits[:] = bytes(len(self._hits))
        self._broken.clear()
        self._wrapped.clear()
        self.scans = 0

    def scan(self, inputs: Mapping[str, Any], cycle_ms: int | None = None) -> Mapping[str, core.Value]:
        """Run the program once; inputs that are left out keep what they had. Gives the value of each variable after the
        scan, by lower-case names.

        Raises WrongValue for an input that is none or does not fit, and RunTimeFault; what was assigned before the
        fault stays."""
        for name, value in inputs.items():
            accepts = self._accepts.get(name)
            if accepts is not None and accepts(value):
                self._data[name] = value
            else:
                self._put(name, value)
        self._clock[0] = self.cycle_ms if cycle_ms is None else cycle_ms
        self._hits[:] = bytes(len(self._hits))
        self._broken.clear()
        self._wrapped.clear()
        self._turns = 0
        self.scans += 1
        self._run(self._data)
        after = self._data.copy()
        for name, copy in self._copies.items():
            after[name] = copy(after[name])
        return after

    def watch(self, condition: core.Expression) -> Callable[[Mapping[str, core.Value]], core.Value]:
        """A function that gives the value of an expression (`st.reading.read_condition`) from what `scan` or `state`
        gives. It may raise RunTimeFault."""
        expressions = Expressions(self._generated.tables, self.program.entry, {})
        code = expressions.write(condition)
        source = "\n ".join(["def watch(d):", *expressions.inner, f"return {code}"])
        exec(_compile(source), names := self._names())
        read: Callable[[Mapping[str, core.Value]], core.Value] = names["watch"]
        return read

    @property
    def _name(self) -> str:
        return self.program.entry.written or self.program.entry.name

    def _put(self, name: str, value: Any) -> None:
        key = str(name).lower()
        if key not in self._accepts:
            raise WrongValue(f"{name} is no input of {self._name}; it has {', '.join(self._accepts) or 'none'}")
        self._data[key] = fit(value, self._variables[key].type, name, self._data[key])

    def _names(self) -> dict[str, Any]:
        """What generated source refers to; the routines are there when their source has run."""
        tables = self._generated.tables
        self._known |= {f"k{number}": value for number, value in enumerate(tables.constants)}
        self._known |= {f"f{number}": _meaning(call) for number, call in enumerate(tables.functions)}
        return self._known

    def _stop(self, number: int, value: int = 0) -> None:
        site = self._generated.tables.sites[number]
        message = _MESSAGES[site.kind].format(value=value, low=site.low, high=site.high, why=site.why)
        raise RunTimeFault(site.kind, message, site.span, self.scans)

    def _watch(self, number: int, exact: int) -> int:
        type_ = self._generated.tables.watched[number].type
        value = arithmetic.wrap(exact, type_.bits, type_.signed)
        if value != exact:
            self._wrapped.add(number)
        return value

    def _spend(self, turns: int) -> None:
        self._turns += turns
        if self._turns > self._most_turns_of_all:
            message = f"the loops of a scan made more than {self._most_turns_of_all} turns together"
            raise RunTimeFault("loop", message, self.program.entry.span, self.scans)


_HELPERS = ("divide", "integer_power", "nearest_integer", "power", "quotient", "remainder", "single",
            "single_from_integer", "wrap")


def _compile(source: str) -> Any:
    try:
        return compile(source, "<program>", "exec")
    except (RecursionError, MemoryError) as error:
        raise TooDeep("the program is nested too deeply to be run; use functions and shorter choices") from error


def _quick_check(type_: core.Type) -> Callable[[Any], bool]:
    """Whether a value needs no further look: most inputs by far."""
    if not isinstance(type_, core.Scalar) or type_.kind in ("real", "string"):
        return lambda value: False
    if type_.kind == "bool":
        return lambda value: value is True or value is False
    low, high = bounds(type_)
    return lambda value: type(value) is int and low <= value <= high


def _quick_copy(value: core.Value) -> Callable[[Any], core.Value]:
    """How to copy an array or record like this one."""
    parts = value if isinstance(value, list) else value.values()
    if any(isinstance(part, list | dict) for part in parts):
        return duplicate
    return list.copy if isinstance(value, list) else dict.copy


def _meaning(call: core.Call) -> Callable[..., core.Value]:
    """What a standard function does with the values of its operands."""
    compute, type_ = FUNCTIONS[call.function].compute, call.type
    return lambda *values: compute(type_, values)
