"""What a block does when it is simulated: a kernel writes it down in lines of code over scalar variables.

A signal of n elements is n variables, each of which one `Node` computes; so dependencies are known element by element,
and a model becomes a few flat Python functions (`compile.py`). Names are counted (`v7` a signal's element, `x2` a
continuous state, `d4` what a block remembers): no text of a model gets into the code, numbers are written as literals.

A node of a continuous block is computed again within a solver's step, one that is `held` only at whole steps; its
`decide` lines run at whole steps only. There a block sets its mode, which is frozen in between, and a margin, an
expression that is positive as soon as the mode would be another one, tells the solver where to stop.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from chatdev.departments.simulink.parts import Part
from chatdev.departments.simulink.simulation.expressions import ExpressionFault, Values, value_of
from chatdev.errors import ChatDevError, ConfigError

_VARIABLE = re.compile(r"\bv\d+\b")
_FIRST = re.compile(r"\bfirst\b")
_IN_CHUNKS = 40  # terms of an expression, so that none is nested too deep
MOST_ELEMENTS = 100_000
"""Of all signals of a model; more are refused."""


class ModelFault(ConfigError):
    """A model cannot be simulated; nothing has run. `blocks` are those that it is about."""

    def __init__(self, text: str, blocks: Iterable[str] = ()) -> None:
        super().__init__(text)
        self.blocks = tuple(blocks)


class NotSimulated(ModelFault):
    """A model has blocks that nothing here simulates; the model may be right."""


class SimulationFailed(ChatDevError):
    """A simulation cannot go on at `time` (seconds), for what these `blocks` do."""

    def __init__(self, text: str, blocks: Iterable[str] = (), time: float = 0.0) -> None:
        super().__init__(text)
        self.blocks, self.time = tuple(blocks), time


class Rate(NamedTuple):
    """When a block is computed: at `offset`, and every `period` from then on (seconds); CONTINUOUS or CONSTANT."""

    period: Fraction
    offset: Fraction = Fraction(0)

    @property
    def is_discrete(self) -> bool:
        """Whether it has hits."""
        return self.period > 0

    def __str__(self) -> str:
        if not self.is_discrete:
            return "continuous" if self == CONTINUOUS else "constant"
        return f"{float(self.period):g} s" + (f", offset {float(self.offset):g} s" if self.offset else "")


CONTINUOUS, CONSTANT = Rate(Fraction(0)), Rate(Fraction(-1))


@dataclass(slots=True)
class Node:
    """A variable of a block, the expression that gives its value, and what is decided before."""

    block: str
    target: str
    expression: str
    decide: tuple[str, ...]
    rate: Rate
    is_held: bool
    after: tuple[str, ...] = ()

    def reads(self) -> set[str]:
        """The variables that must be known before."""
        return {name for line in (self.expression, *self.decide, *self.after) for name in _VARIABLE.findall(line)}


class InputTable(NamedTuple):
    """What an In1 block gets from outside: times in seconds, which may be twice there (a jump), and for each element
    its values; in between on straight lines, before the first and behind the last time as there."""

    times: Sequence[float]
    elements: Sequence[Sequence[float]]


class TimeEvents(Protocol):
    """Instants at which a block jumps."""

    def after(self, time: float) -> float:
        """The first one that is later; inf if there is none."""


@dataclass(slots=True)
class Code:
    """All that kernels have written of a model. `lines` of the update run behind all outputs, with the rate they belong
    to; `settled` ones before, at each whole step. `span` is the time simulated, in seconds. `tables` are what In1
    blocks get from outside (None: nothing does); `inputs` the places in `held` of those that have none."""

    nodes: list[Node] = field(default_factory=list)
    remembered: dict[str, Any] = field(default_factory=dict)
    states: dict[str, tuple[str, float]] = field(default_factory=dict)
    derivatives: dict[str, str] = field(default_factory=dict)
    margins: list[tuple[str, str]] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)
    updates: list[tuple[Rate, bool, str]] = field(default_factory=list)
    objects: dict[str, Any] = field(default_factory=dict)
    events: list[TimeEvents] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    tables: Mapping[str, InputTable] | None = None
    held: list[float] = field(default_factory=list)
    inputs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    longest_step: float = math.inf
    span: float = 10.0
    elements: int = 0

    def generators(self) -> tuple[Any, ...]:
        """Those of random numbers."""
        return tuple(one for one in self.objects.values() if hasattr(one, "bit_generator"))

    def variable(self) -> str:
        """A new variable of a signal."""
        self.elements += 1
        if self.elements > MOST_ELEMENTS:
            raise ModelFault(f"the signals have more than {MOST_ELEMENTS} elements; simulate a part of the model")
        return f"v{self.elements}"


def literal(value: float) -> str:
    """A number as it stands in the code."""
    if math.isfinite(value):
        return repr(float(value)) if value >= 0 and math.copysign(1, value) > 0 else f"({float(value)!r})"
    return "nan" if math.isnan(value) else "inf" if value > 0 else "(-inf)"


@dataclass(slots=True)
class Guard:
    """A subsystem that does not always run: `flag` is the variable that says whether it does, `first` tells the first
    time (and the first one after its states began anew). A triggered one runs at single instants only; a triggered
    subsystem around it counts, too. `stores` are what the blocks inside remember, `path` is the subsystem."""

    path: str
    controls: Mapping[str, Part]
    outer: Guard | None = None
    is_triggered: bool = False
    flag: str = ""
    first: str = ""
    stores: list[str] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """How many such subsystems lie around it, itself included."""
        return 1 + (self.outer.depth if self.outer else 0)

    def line(self, text: str) -> str:
        """A line as it stands inside: it is done only while the subsystem runs."""
        text = self.own(text)
        condition, colon, rest = text[3:].partition(": ") if text.startswith("if ") else ("", "", text)
        return f"if {self.flag} and ({condition}){colon}{rest}" if colon else f"if {self.flag}: {text}"

    def own(self, text: str) -> str:
        """Code in which `first` is that of the subsystem."""
        return _FIRST.sub(self.first, text)

    def note(self, store: str) -> None:
        """Something inside remembers this."""
        self.stores.append(store)
        if self.outer:
            self.outer.note(store)


class Site:
    """A block while its kernel writes: parameters, inputs, outputs. All its errors are ModelFault and name it."""

    def __init__(self, part: Part, variables: Mapping[str, Values], code: Code) -> None:
        self.part, self.name, self.code = part, part.name, code
        self.variables = variables
        self.network: Any = None
        self.guard: Guard | None = None
        self.opens: Guard | None = None
        self.is_outlet = False
        self.store: Site | None = None
        self.cells: list[str] = []
        self.shown: list[tuple[str, ...]] = []
        self.rate = CONTINUOUS
        self.inputs: list[tuple[str, ...]] = []
        self.sources: list[Site | None] = []
        self.input_widths: list[int | None] = []
        self.outputs: list[tuple[str, ...]] = []
        self.input_rates: list[Rate] = []
        self._values: dict[str, Values] = {}

    def fault(self, message: str) -> ModelFault:
        """An error that names the block."""
        return ModelFault(f"{self.part.type} {self.name!r}: {message}", (self.name,))

    def text(self, parameter: str, default: str = "") -> str:
        """A parameter that is a word."""
        return self.part.values.get(parameter, default).strip()

    def is_on(self, parameter: str) -> bool:
        """Whether a parameter is `on`."""
        return self.text(parameter) == "on"

    def matrix(self, parameter: str) -> Values:
        """A parameter's value, of which no element is NaN."""
        if parameter not in self._values:
            text = self.part.values.get(parameter, "")
            try:
                value = value_of(text, self.variables)
            except ExpressionFault as error:
                raise self.fault(f"{parameter} is {text[:60]!r}: {error}") from None
            if any(map(math.isnan, value.ravel().tolist())):
                raise self.fault(f"{parameter} is {text[:60]!r}, which is not a number (NaN); give a number")
            self._values[parameter] = value
        return self._values[parameter]

    def numbers(self) -> dict[str, float]:
        """The parameters of one number that the kernel has read."""
        return {name: float(value.flat[0]) for name, value in self._values.items() if value.size == 1}

    def vector(self, parameter: str, may_be_infinite: bool = False) -> list[float]:
        """A parameter's elements, of which there is one at least."""
        found = self.matrix(parameter).ravel(order="F").tolist()
        if not found:
            raise self.fault(f"{parameter} is empty; give a number")
        if not may_be_infinite and any(map(math.isinf, found)):
            raise self.fault(f"{parameter} is infinite; give a finite number")
        return [float(one) for one in found]

    def number(self, parameter: str, may_be_infinite: bool = False) -> float:
        """A parameter that is one number."""
        found = self.vector(parameter, may_be_infinite)
        if len(found) > 1:
            raise self.fault(f"{parameter} has {len(found)} elements; give one number")
        return found[0]

    def whole(self, parameter: str, least: int = 0, most: int = 100_000) -> int:
        """A parameter that is a whole number within bounds."""
        found = self.number(parameter)
        if found != int(found) or not least <= found <= most:
            raise self.fault(f"{parameter} is {found:g}; give a whole number from {least} to {most}")
        return int(found)

    def each(self, parameter: str, width: int, may_be_infinite: bool = True) -> list[str]:
        """A parameter as literals, one for each of `width` elements."""
        found = self.vector(parameter, may_be_infinite)
        if len(found) not in (1, width):
            raise self.fault(f"{parameter} has {len(found)} elements, the signal {width}; give {width} or one")
        return [literal(one) for one in (found if len(found) == width else found * width)]

    @property
    def width(self) -> int:
        """Elements of the first output."""
        return len(self.outputs[0])

    @property
    def is_continuous(self) -> bool:
        """Whether it is computed within a solver's steps."""
        return self.rate == CONTINUOUS and not self.is_triggered

    @property
    def is_triggered(self) -> bool:
        """Whether it lies in a subsystem that runs at single instants."""
        return self.guard is not None and self.guard.is_triggered

    @property
    def is_located(self) -> bool:
        """Whether its mode is frozen within a step, and the instant found at which it changes."""
        return self.is_continuous and self.text("ZeroCross", "on") != "off"

    @property
    def period(self) -> float:
        """Its sample time in seconds. Raises ModelFault where it has none."""
        if self.guard and self.is_triggered:
            raise self.fault(f"it needs a sample time, and {self.guard.path!r} runs when it is triggered; count the "
                             "time by other blocks")
        if not self.rate.is_discrete:
            raise self.fault(f"its sample time is {self.rate}, and it needs hits; give it a sample time in seconds")
        return float(self.rate.period)

    def u(self, port: int = 0, width: int | None = None) -> tuple[str, ...]:
        """The variables of an input (from 0), a scalar as often as `width` asks for."""
        found = self.inputs[port]
        if width is None or len(found) == width:
            return found
        if len(found) == 1:
            return found * width
        raise self.fault(f"input {port + 1} has {len(found)} elements, where {width} are needed; make the widths equal")

    def scalar(self, port: int = 0) -> str:
        """The variable of an input of one element."""
        return self.u(port, 1)[0]

    def wide(self) -> list[tuple[str, ...]]:
        """All inputs, as wide as the first output."""
        return [self.u(port, self.width) for port in range(len(self.inputs))]

    def element(self, port: int, number: int, expression: str, decide: Sequence[str] = (), held: bool = False) -> None:
        """Say what an output's element is."""
        guard, after = self.guard, ()  # type: Guard | None, tuple[str, ...]
        if guard:
            expression, decide, after = guard.own(expression), [*map(guard.line, decide)], (guard.flag,)
        self.code.nodes.append(Node(self.name, self.outputs[port][number], expression, tuple(decide), self.rate,
                                    held or not self.is_continuous, after))

    def put(self, expressions: Iterable[str], port: int = 0, held: bool = False) -> None:
        """Say what an output is, element by element."""
        for number, expression in enumerate(expressions):
            self.element(port, number, expression, held=held)

    def hold(self, value: str, initial: float = 0.0) -> str:
        """A new variable that has a value while the subsystem around runs, and then keeps what it was."""
        name = self.keep(initial)
        if self.guard:
            self.guard.stores.remove(name)  # no state: it is held when states begin anew
        self.settle(f"{name} = {value}")
        if self.is_continuous:
            self.leave(value, f"{name} = {value}")
        return name

    def keep(self, initial: Any = 0.0) -> str:
        """A new variable that the block remembers."""
        name = f"d{len(self.code.remembered)}"
        self.code.remembered[name] = initial
        if self.guard:
            self.guard.note(name)
        return name

    def state(self, initial: float) -> str:
        """A new continuous state."""
        if self.guard and self.is_triggered:
            raise self.fault(f"it has a continuous state, and {self.guard.path!r} runs at single instants; take a "
                             "sampled block")
        if not self.is_continuous:
            raise self.fault(f"it has a continuous state, but its sample time is {self.rate}; leave that out")
        name = f"x{len(self.code.states)}"
        self.code.states[name] = (self.name, initial)
        if self.guard:
            self.guard.note(name)
        return name

    def derive(self, state: str, expression: str) -> None:
        """Say how fast a state changes."""
        self.code.derivatives[state] = f"(({expression}) if {self.guard.flag} else 0.0)" if self.guard else expression

    def margin(self, expression: str) -> None:
        """Stop where this becomes positive."""
        self.code.margins.append((self.name, f"(({expression}) if {self.guard.flag} else -1.0)" if self.guard else
                                  expression))

    def settle(self, line: str) -> None:
        """Do this at each whole step, when all outputs are known."""
        self.code.settled.append(self._guard_line(line))

    def update(self, line: str, once: bool = False) -> None:
        """Do this at the end of each of its hits; `once` an instant, however often it is computed there."""
        self.code.updates.append((self.rate, once, self._guard_line(line)))

    def leave(self, value: str, line: str) -> None:
        """Do this just before each whole step, with what a value is by then."""
        self.code.left.append((value, self._guard_line(line)))

    def _guard_line(self, line: str) -> str:
        return self.guard.line(line) if self.guard else line

    def thing(self, value: Any) -> str:
        """A name by which the code can use an object."""
        name = f"o{len(self.code.objects)}"
        self.code.objects[name] = value
        return name

    def jump_at(self, events: TimeEvents) -> None:
        """Stop at these instants."""
        self.code.events.append(events)

    def total(self, terms: Sequence[str], operator: str = "+") -> str:
        """The terms, with an operator between them; long rows in parts."""
        if len(terms) <= _IN_CHUNKS:
            return f" {operator} ".join(terms)
        return self.total([f"({f' {operator} '.join(terms[at:at + _IN_CHUNKS])})"
                           for at in range(0, len(terms), _IN_CHUNKS)], operator)


class Widths(Protocol):
    """How wide outputs are, None where that is not known yet."""

    def __call__(self, site: Site) -> Sequence[int | None]: ...


@dataclass(frozen=True, slots=True)
class Kernel:
    """How a block is simulated. `widths` of the outputs follow from those of the inputs; `rate` is what it makes of
    what its inputs have: "inherit", "source" (continuous unless a sample time is given), "continuous", "constant",
    "hits" (it needs a sample time), or "sink"; `sample_time` is the parameter that may say it."""

    write: Callable[[Site], None]
    widths: Widths
    rate: str | Callable[[Site], str]
    sample_time: str


KERNELS: dict[str, Kernel] = {}
"""All kernels, by the name that the catalogue gives in `sim`."""


def elementwise(*parameters: str) -> Widths:
    """As wide as the widest of the inputs and these parameters."""
    def widths(site: Site) -> list[int | None]:
        known = [width for width in site.input_widths if width is not None]
        known += [len(site.vector(name, may_be_infinite=True)) for name in parameters]
        return [max(known) if known else None] * max(1, len(site.outputs))

    return widths


def scalars(site: Site) -> list[int | None]:
    """One element each."""
    return [1] * len(site.outputs)


def kernel(name: str, widths: Widths | None = None, *,
           rate: str | Callable[[Site], str] = "inherit",
           sample_time: str = "SampleTime") -> Callable[[Callable[[Site], None]], Callable[[Site], None]]:
    """Enter a kernel under its name in the catalogue."""
    def enter(write: Callable[[Site], None]) -> Callable[[Site], None]:
        KERNELS[name] = Kernel(write, widths or elementwise(), rate, sample_time)
        return write

    return enter
