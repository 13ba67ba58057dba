"""Random programs of loops whose turns an input or a state bounds, and properties of them that are nearly true.

Each has one type of numbers, two inputs that bound loops, an array, a function and a function block with loops in them,
and loops within loops with every jump. Properties are read off a short run: bounds that were met, relations that always
held, and both a little too strong. The same seed gives the same program and properties.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, permutations

from benchmarks.plc.corpus import Subject
from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.trace import random_inputs
from chatdev.departments.plc.st.core import Program, Value
from chatdev.departments.plc.st.reading import read_program

_SOURCE = """\
FUNCTION rank : {type}
VAR_INPUT f0, f1 : {type}; END_VAR
VAR i0, i1 : {type}; END_VAR
{function}
END_FUNCTION
FUNCTION_BLOCK Part
VAR_INPUT f0 : {type}; go : BOOL; END_VAR
VAR_OUTPUT f1 : {type}; done : BOOL; END_VAR
VAR i0, i1 : {type}; END_VAR
{block}
END_FUNCTION_BLOCK
PROGRAM Main
VAR_INPUT n : {bound}; m : {bound}; x : {type}; go : BOOL; END_VAR
VAR_OUTPUT ok, seen : BOOL; END_VAR
VAR
  v0, v1, v2 : {type};
  i0, i1, i2, i3 : {type};
  a : ARRAY[0..5] OF {type};
  part : Part;
END_VAR
ok := {first};
{body}
END_PROGRAM
"""
_BOUNDS = ("0..9", "0..30", "0..255", "1..100", "0..400")
_TYPES = ("INT", "INT", "DINT", "UINT", "SINT", "USINT")
_SCANS = 150  # of the run that properties are read off
_MOST_ATTEMPTS = 100


def write_loops(seed: int) -> str:
    """The source of one program; what the checker refuses is drawn again."""
    attempts = (_Writer(random.Random(f"{seed}.{attempt}")).write() for attempt in range(_MOST_ATTEMPTS))
    return next(source for source in attempts if read_program(source).program)


def random_loops(seed: int, most: int = 4) -> Subject:
    """A program with so many properties."""
    source = write_loops(seed)
    program = read_program(source).program
    assert program is not None
    return Subject(f"loops {seed}", source, write_properties(program, seed, most))


class _Writer:
    """Writes one program."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._type = dice.choice(_TYPES)
        self._names: Sequence[str] = ()
        self._bounds: Sequence[str] = ()
        self._truths: Sequence[str] = ()
        self._counters: list[str] = []
        self._in_loop = 0
        self._is_main = False

    def write(self) -> str:
        """The whole source."""
        high = {"SINT": "0..99", "USINT": "0..200"}.get(self._type, self._dice.choice(_BOUNDS))
        bound = f"{self._type} ({high})" if self._dice.random() < 0.8 else self._type
        self._open(("f0", "f1"), ("f0", "f1"), (), 2)
        function = f"rank := f0;\n{self._loop(1)}\nrank := {self._number(1)};"
        self._open(("f0", "f1"), ("f0",), ("go", "done"), 2)
        block = f"{self._statements(1, 0)}\n{self._loop(1)}\ndone := {self._truth(1)};"
        self._open(("v0", "v1", "v2"), ("n", "m", "n", "m", "v2"), ("go", "ok", "seen"), 4)
        self._is_main = True
        first = self._dice.choice(("n > 0", "n > m", "x = 0", "go"))
        body = f"{self._statements(2, 0)}\n{self._loop(2)}\n{self._statements(2, 1)}"
        return _SOURCE.format(type=self._type, bound=bound, function=function, block=block, first=first, body=body)

    def _open(self, names: Sequence[str], bounds: Sequence[str], truths: Sequence[str], counters: int) -> None:
        self._names, self._bounds, self._truths = names, bounds, truths
        self._counters = [f"i{number}" for number in reversed(range(counters))]

    # expressions -------------------------------------------------------------------------------------------------

    def _number(self, depth: int) -> str:
        if depth <= 0 or self._dice.random() < 0.3:
            return self._dice.choice((*self._names, *self._bounds, str(self._dice.choice((0, 1, 1, 2, 3, 7, 10, 50)))))
        one, other = self._number(depth - 1), self._number(depth - 1)
        ways = [f"({one} + {other})", f"({one} + 1)", f"({one} - {other})", f"MIN({one}, {other})",
                f"MAX({one}, {other})", f"({one} MOD {self._dice.choice((2, 3, 8))})", f"({one} / 2)",
                f"LIMIT(0, {one}, {self._dice.choice((3, 20, 100))})", f"SEL({self._truth(0)}, {one}, {other})"]
        if self._is_main:
            ways += [f"a[{self._index()}]"] * 2 + [f"rank({one}, {other})", "part.f1"]
        return self._dice.choice(ways)

    def _index(self) -> str:
        one, sure = self._number(0), str(self._dice.randrange(6))
        return self._dice.choice((f"LIMIT(0, {one}, 5)", f"LIMIT(0, {one}, 5)", f"{one} MOD 6", sure, one))

    def _truth(self, depth: int) -> str:
        if self._truths and self._dice.random() < 0.3:
            return self._dice.choice(self._truths)
        if depth <= 0 or self._dice.random() < 0.6:
            return f"{self._number(1)} {self._dice.choice(('<', '<=', '>', '>=', '=', '<>'))} {self._number(0)}"
        way = self._dice.choice(("{} AND {}", "{} OR {}", "NOT ({1})", "({} AND NOT ({}))"))
        return f"({way.format(self._truth(depth - 1), self._truth(depth - 1))})"

    # statements --------------------------------------------------------------------------------------------------

    def _statements(self, count: int, depth: int) -> str:
        return "\n".join(self._statement(depth) for _ in range(count))

    def _statement(self, depth: int) -> str:
        ways: list[Callable[[int], str]] = [self._assign] * 5 + [self._if] * 2
        if depth > 0 and self._counters:
            ways += [self._loop] * 3
        if self._is_main:
            ways += [self._element, self._element, self._assert, *([self._call] if not self._in_loop else [])]
        return self._dice.choice(ways)(depth)

    def _assign(self, _depth: int) -> str:
        if self._truths and self._dice.random() < 0.25:
            return f"{self._dice.choice(self._truths[1:])} := {self._truth(1)};"
        name = self._dice.choice(self._names)
        return f"{name} := {self._dice.choice((f'{name} + 1', self._number(2), self._number(1)))};"

    def _element(self, _depth: int) -> str:
        return f"a[{self._index()}] := {self._number(1)};"

    def _assert(self, _depth: int) -> str:
        return f"//#ASSERT {self._truth(1)} : a{self._dice.randrange(1000)}\n{self._assign(0)}"

    def _call(self, _depth: int) -> str:
        return f"part(f0 := {self._number(0)}, go := {self._truth(0)});"

    def _if(self, depth: int) -> str:
        jump = self._dice.choice(("EXIT;", "EXIT;", "CONTINUE;", "RETURN;")) if self._in_loop else ""
        inner = jump if jump and self._dice.random() < 0.4 else self._statement(depth - 1)
        other = f"\nELSE\n{self._statement(depth - 1)}" if self._dice.random() < 0.4 else ""
        return f"IF {self._truth(1)} THEN\n{inner}{other}\nEND_IF;"

    def _bound(self) -> str:
        bound = self._dice.choice(self._bounds)
        return self._dice.choice((bound, bound, bound, f"{bound} / 2", f"LIMIT(0, {self._number(0)}, 40)"))

    def _loop(self, depth: int) -> str:
        if not self._counters:
            return self._assign(0)
        counter = self._counters.pop()
        self._in_loop += 1
        body = self._statements(self._dice.randint(1, 3), depth - 1)
        self._in_loop -= 1
        begin, bound = self._dice.choice(("0", "1", "2", self._number(0))), self._bound()
        more = f" AND {self._truth(0)}" if self._dice.random() < 0.3 else ""
        step = self._dice.choice(("1", "1", "2", "3"))
        by, go_on = f"{counter} := {counter} + {step};", f"{counter} < {bound}{more}"
        return self._dice.choice((
            f"FOR {counter} := {begin} TO {bound} DO\n{body}\nEND_FOR;",
            f"FOR {counter} := {begin} TO {bound} BY {step} DO\n{body}\nEND_FOR;",
            f"{counter} := {begin};\nWHILE {go_on} DO\n{body}\n{by}\nEND_WHILE;",
            f"{counter} := {bound};\nWHILE {counter} > 0{more} DO\n{counter} := {counter} - 1;\n{body}\nEND_WHILE;",
            f"{counter} := {begin};\nREPEAT\n{by}\n{body}\nUNTIL NOT ({go_on}) END_REPEAT;"))


# properties ----------------------------------------------------------------------------------------------------------


def write_properties(program: Program, seed: int, most: int) -> list[Property]:
    """What a short random run suggests."""
    dice = random.Random(seed)
    states = _observe(program, seed)
    if not states:
        return []
    numbers = ["v0", "v1", "v2", "i0", "i1", "n", "part.f1", "a[2]"]
    truths = ["ok", "seen", "go", "part.done", "NOT ok", "NOT seen", "v0 = 0", "n > 3", "v1 > v0"]
    found = [Property("pattern-implication", ("n > 0", "ok"))]
    found += [Property("pattern-implication", (one, other)) for one, other in permutations(truths, 2)
              if all(_value(other, at) for at in states if _value(one, at))]
    for name in numbers[:5] + numbers[6:]:
        seen = [_value(name, at) for at in states]
        slack = dice.choice((0, 0, 0, 1, 5, -1))
        found += [Property("pattern-invariant", (f"{name} <= {max(seen) + slack}",)),
                  Property("pattern-invariant", (f"{name} >= {min(seen) - slack}",))]
    found += [Property("pattern-invariant", (f"{one} <= {other}",)) for one, other in permutations(numbers, 2)
              if all(_value(one, at) <= _value(other, at) for at in states)]
    return dice.sample(found, min(most, len(found)))


def _observe(program: Program, seed: int) -> list[Mapping[str, Value]]:
    machine, states = Machine(program), list[Mapping[str, Value]]()
    for inputs in islice(random_inputs(program, seed), _SCANS):
        try:
            states.append(machine.scan(inputs))
        except RunTimeFault:
            machine.reset()
    return states


def _value(text: str, at: Mapping[str, Value]) -> Value:
    """One of the texts above, after a scan."""
    if text.startswith("NOT "):
        return not _value(text[4:], at)
    for sign, compare in ((" = ", operator.eq), (" > ", operator.gt)):
        if sign in text:
            return compare(*(_value(side, at) for side in text.split(sign)))
    if text.isdecimal():
        return int(text)
    if text == "a[2]":
        return at["a"][2]
    name, _, part = text.partition(".")
    return at[name][part] if part else at[name]
