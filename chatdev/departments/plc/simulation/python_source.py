"""A program as Python source: one function for each routine, on the dicts and lists that hold its data.

A block marks each straight part of its code in `h` when it begins, so that the lines that ran in a scan are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from chatdev.departments.plc.simulation.layout import all_variables, begin
from chatdev.departments.plc.simulation.python_expression import Expressions, Site, Tables
from chatdev.departments.plc.st import core


@dataclass(frozen=True, slots=True)
class Generated:
    """The source, the name of the entry's function, what the source refers to, and the lines that each mark means."""

    source: str
    entry: str
    tables: Tables
    marks: tuple[tuple[int, ...], ...]


def generate(program: core.Program, watches_overflow: bool = False, most_turns: int = core.MOST_TURNS) -> Generated:
    """The source of all routines that the entry needs, with a look at each operation on integers if overflow is to be
    noted, and a fault behind so many turns of a loop."""
    tables = Tables(program, watches_overflow=watches_overflow, most_turns=most_turns)
    marks: list[set[int]] = []
    entry = tables.routine(program.entry.name)
    lines: list[str] = []
    done = 0
    while done < len(tables.routines):
        for name in list(tables.routines)[done:]:  # those that the last ones call
            lines += _Routine(tables, program.routines.get(name, program.entry), marks).write()
            done += 1
    return Generated("\n".join(lines), entry, tables, tuple(tuple(sorted(found)) for found in marks))


class _Routine:
    """Writes one function. A block takes its data `d` and its in-outs, a function its inputs."""

    def __init__(self, tables: Tables, routine: core.Routine, marks: list[set[int]]) -> None:
        self._tables = tables
        self._routine = routine
        self._variables = all_variables(tables.program, routine)
        is_entry = routine is tables.program.entry
        bound = () if is_entry else routine.of_section("in_out")
        self._references = {variable.name: number for number, variable in enumerate(bound)}
        self._expressions = Expressions(tables, routine, self._references)
        self._lines: list[str] = []
        self._indent = 0
        self._marks = marks
        self._is_marked = False
        self._loops: list[core.Loop] = []

    def write(self) -> list[str]:
        """The function, line by line."""
        name = self._tables.routine(self._routine.name)
        inputs = self._routine.of_section("input") if self._routine.kind == "function" else ()
        arguments = [f"i{number}" for number in range(len(inputs))] if self._routine.kind == "function" else ["d"]
        for variable in self._routine.of_section("in_out") if self._references else ():
            number = self._references[variable.name]
            arguments += [f"p{number}", f"q{number}"] if isinstance(variable.type, core.Scalar) else [f"p{number}"]
        self._line(f"def {name}({', '.join(arguments)}):")
        self._begin(inputs)
        begun = len(self._lines)
        self._indent = 0
        self._inner(self._routine.body)
        self._lines[begun:begun] = [f" {line}" for line in self._expressions.inner]
        self._indent = 1
        self._return()
        return self._lines

    def _begin(self, inputs: Iterable[core.Variable]) -> None:
        """Variables that are new in each call."""
        self._indent = 1
        if self._routine.kind == "function":
            self._line("d = {}")
        for number, variable in enumerate(inputs):
            given = f"i{number}" if isinstance(variable.type, core.Scalar) else f"duplicate(i{number})"
            self._line(f"d[{variable.name!r}] = {given}")
        for variable in self._variables:
            in_function = self._routine.kind == "function" and variable.section not in ("input", "in_out")
            if in_function or variable.section == "temp":
                constant = core.Constant(variable.initial, variable.type)
                self._line(f"d[{variable.name!r}] = {self._fresh(constant)}")

    def _fresh(self, constant: core.Constant) -> str:
        """A value that nobody else holds."""
        if isinstance(constant.type, core.Scalar):
            return self._expressions.write(constant)
        initial = begin(self._tables.program, constant.type, constant.value)
        return f"duplicate({self._tables.constant(initial)})"

    def _line(self, text: str) -> None:
        self._lines.append(" " * self._indent + text)

    def _inner(self, body: Sequence[core.Statement], lines: Set[int] = frozenset()) -> None:
        """The statements below a head, and lines that count as run with them."""
        self._indent += 1
        self._is_marked = False
        if lines:
            self._mark(lines)
        for statement in body:
            self._mark(head_lines(statement))
            self._WRITERS[type(statement)](self, statement)
        self._line("pass")
        self._indent -= 1
        self._is_marked = False

    def _mark(self, lines: Set[int]) -> None:
        if self._routine.standard:
            return
        if not self._is_marked:
            self._line(f"h[{len(self._marks)}] = 1")
            self._marks.append(set())
            self._is_marked = True
        self._marks[-1] |= lines

    def _assign(self, statement: core.Assign) -> None:
        target = statement.target
        if isinstance(target, core.Bit):
            self._assign_bit(target, statement.value)
            return
        self._store(target, self._expressions.write(statement.value), statement.span)

    def _store(self, target: core.Place, value: str, span: core.Span) -> None:
        """Put a value, given by its source, into a place."""
        code, key = self._expressions.container(target)
        place = f"{code}[{key}]" if key else code
        if isinstance(target.type, core.Scalar):
            self._line(f"{place} = {self._expressions.guard(value, target.type, span)}")
        else:
            self._line(f"overwrite({place}, {value})")

    def _assign_bit(self, target: core.Bit, value: core.Expression) -> None:
        code, key = self._expressions.container(target.place)
        type_ = target.place.type
        assert isinstance(type_, core.Scalar)
        self._line(f"b = {self._expressions.write(value)}")
        self._line(f"c, e = {code}, {key}")
        self._line(f"c[e] = wrap(c[e] | {1 << target.index} if b else c[e] & ~{1 << target.index}, "
                   f"{type_.bits}, {type_.signed})")

    def _branch(self, branch: core.Branch) -> None:
        """A chain of ELSIF, which is nested in the core, is one of `elif` here and so needs no depth. Wherever it ends,
        all conditions up to there were looked at, so their lines count as run."""
        marked, tested = head_lines(branch), frozenset[int]()
        self._line(f"if {self._expressions.write(branch.condition)}:")
        self._inner(branch.then, _lines(branch.labels))
        while len(branch.otherwise) == 1 and isinstance(inner := branch.otherwise[0], core.Branch):
            tested |= head_lines(inner) - marked
            self._line(f"elif {self._expressions.write(inner.condition)}:")
            self._inner(inner.then, tested | _lines(inner.labels))
            branch = inner
        if branch.otherwise or tested:
            self._line("else:")
            self._inner(branch.otherwise, tested)

    def _loop(self, loop: core.Loop) -> None:
        counter = f"n{len(self._loops)}"
        self._line(f"{counter} = 0")
        first = "" if loop.tests_first else f"{counter} == 0 or "
        self._line(f"while {first}{self._expressions.write(loop.condition)}:")
        self._line(f" {counter} += 1")
        most = self._tables.most_turns
        self._line(f" if {counter} > {most}: {self._tables.stop(Site('loop', loop.span, high=most))}")
        self._loops.append(loop)
        self._inner(loop.body)
        self._loops.pop()
        self._indent += 1
        self._step(loop)
        self._indent -= 1
        self._line(f"spend({counter})")

    def _step(self, loop: core.Loop) -> None:
        """What a turn ends with."""
        for statement in loop.after:
            self._WRITERS[type(statement)](self, statement)

    def _jump(self, jump: core.Jump) -> None:
        if jump.to == "exit":
            self._line("break")
        elif jump.to == "continue":
            self._step(self._loops[-1])
            self._line("continue")
        else:
            for number in range(len(self._loops)):
                self._line(f"spend(n{number})")
            self._return()

    def _return(self) -> None:
        result = "".join(f" d[{variable.name!r}]" for variable in self._routine.of_section("result"))
        self._line(f"return{result if self._routine.kind == 'function' else ''}")

    def _invoke(self, call: core.Invoke) -> None:
        """The block's data is `o` meanwhile."""
        types = {variable.name: variable.type for variable in self._tables.program.routines[call.block].variables}
        self._line(f"o = {self._expressions.write(call.instance)}")
        for name, value in call.inputs:
            code = self._expressions.write(value)
            self._line(f"o[{name!r}] = {self._expressions.guard(code, types[name], call.span)}"
                       if isinstance(types[name], core.Scalar) else f"overwrite(o[{name!r}], {code})")
        bound = dict(call.in_outs)
        arguments = ["o"]
        for variable in self._tables.program.routines[call.block].of_section("in_out"):
            place = bound[variable.name]
            scalar = isinstance(variable.type, core.Scalar)
            arguments += self._expressions.container(place) if scalar else [self._expressions.write(place)]
        self._line(f"{self._tables.routine(call.block)}({', '.join(arguments)})")
        for place, name in call.outputs:
            self._store(place, f"o[{name!r}]", call.span)

    def _assert(self, assertion: core.Assert) -> None:
        self._line(f"if not {self._expressions.write(assertion.condition)}: broken.append({len(self._tables.asserts)})")
        self._tables.asserts.append(assertion)

    _WRITERS: Mapping[type, Callable[..., None]] = {
        core.Assign: _assign, core.Branch: _branch, core.Loop: _loop, core.Jump: _jump, core.Invoke: _invoke,
        core.Assert: _assert}


def head_lines(statement: core.Statement) -> frozenset[int]:
    """The lines of a statement without those of the statements in it, and without the labels of a CASE."""
    span = statement.span
    if isinstance(statement, core.Branch) and statement.labels == core.NOWHERE:
        return _lines(span) | _lines(statement.condition.span)
    if isinstance(statement, core.Loop):
        return frozenset({span.line}) - {0}
    return _lines(span)


def _lines(span: core.Span) -> frozenset[int]:
    return frozenset(range(span.line, max(span.line, span.end_line) + 1)) - {0}
