"""A program as C99, for other verifiers (ESBMC, CBMC) and for very long runs. It means what the machine does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from chatdev.departments.plc.simulation.c_data import CData, c_type, plain_text, variable_name
from chatdev.departments.plc.simulation.c_expression import CExpressions, CLines
from chatdev.departments.plc.simulation.layout import all_variables
from chatdev.departments.plc.st import core
from chatdev.tools.base import template

LONGEST_CYCLE = 1000
"""Milliseconds from one scan to the next that a verifier of the C code is told to expect."""
MOST_NESTED = 90
"""Statements within each other, as in `python_source.py`."""


def emit_c(program: core.Program) -> str:
    """The source of `init(struct state *)` and `scan(const struct inputs *, struct state *)`; variables are members
    `v_…` of the two. In-outs of the entry are inputs, read anew in each scan.

    Raises Untranslatable for text (STRING).
    """
    data = CData(program)
    entry = program.entry
    kept = [variable for variable in all_variables(program, entry) if data.is_kept(entry, variable)]
    members = data.members(iter(kept))
    taken = [variable for variable in kept if variable.section in ("input", "in_out")]
    name = data.routine(entry.name)
    routines: list[tuple[str, list[str]]] = []
    while len(routines) < len(data.routines):
        for called in list(data.routines)[len(routines):]:  # by the last ones
            routines.append(_CRoutine(data, program.routines.get(called, entry)).write())
    initial = [line for variable in kept
               for line in data.fill(f"d->{variable_name(variable.name)}", variable.type, variable.initial)[1:]]
    source: str = template(Path(__file__).with_suffix(".j2").read_text(encoding="utf-8")).render(
        types=data.types, inputs=data.members(iter(taken)), state=members, routines=routines, initial=initial,
        taken=[variable_name(variable.name) for variable in taken], entry=name, longest_cycle=LONGEST_CYCLE)
    return source


class _CRoutine:
    """Writes one function: its head, and the lines of its body."""

    def __init__(self, data: CData, routine: core.Routine) -> None:
        self._data = data
        self._routine = routine
        self._lines = CLines()
        self._expressions = CExpressions(data, routine, self._lines)
        self._loops: list[tuple[core.Loop, str]] = []
        self._labels: set[str] = set()

    def write(self) -> tuple[str, list[str]]:
        """Head and body."""
        head = f"static {self._result()} {self._data.routine(self._routine.name)}({', '.join(self._parameters())})"
        for variable in all_variables(self._data.program, self._routine):
            is_parameter = variable.section in ("in_out", "input") and self._routine.kind == "function"
            if self._data.is_kept(self._routine, variable) or is_parameter or variable.section == "in_out":
                continue
            name = variable_name(variable.name)
            self._lines.add(f"{self._data.type(variable.type)} {name};")
            for line in self._data.fill(name, variable.type, variable.initial):
                self._lines.add(line)
        self._body(self._routine.body)
        self._return()
        return head, self._lines.lines

    def _result(self) -> str:
        result = self._routine.of_section("result")
        return self._data.type(result[0].type) if self._routine.kind == "function" else "void"

    def _parameters(self) -> Iterable[str]:
        if self._routine.kind == "function":
            found = self._data.members(iter(self._routine.of_section("input")))
            return [member.removesuffix(";") for member in found] or ["void"]
        if self._routine is self._data.program.entry:
            return ["struct state *d"]
        return [f"{self._data.block(self._routine)} *d",
                *(f"{self._data.type(variable.type)} *{variable_name(variable.name)}"
                  for variable in self._routine.of_section("in_out"))]

    def _body(self, body: Iterable[core.Statement]) -> None:
        for statement in body:
            self._WRITERS[type(statement)](self, statement)

    def _assign(self, statement: core.Assign) -> None:
        target = statement.target
        value = self._expressions.write(statement.value)
        if isinstance(target, core.Bit):
            self._assign_bit(target, value)
        else:
            value = self._expressions.guard(value, target.type, statement.span)
            self._lines.add(f"{self._expressions.place(target)} = {value};")

    def _assign_bit(self, target: core.Bit, value: str) -> None:
        type_ = target.place.type
        assert isinstance(type_, core.Scalar)
        place = self._expressions.place(target.place)
        wide, mask = f"uint{type_.bits}_t", f"UINT64_C({1 << target.index})"
        self._lines.add(f"{place} = ({c_type(type_)})({wide})({value} ? ({wide}){place} | {mask} : "
                        f"({wide}){place} & ~{mask});")

    def _branch(self, branch: core.Branch) -> None:
        """A chain of ELSIF, nested in the core, is written without recursion."""
        self._lines.add(f"if ({self._expressions.write(branch.condition)}) {{")
        self._body(branch.then)
        closing = 1
        while len(branch.otherwise) == 1 and isinstance(inner := branch.otherwise[0], core.Branch):
            self._lines.add("} else {")
            self._lines.add(f"if ({self._expressions.write(inner.condition)}) {{")
            self._body(inner.then)
            closing += 1
            branch = inner
        if branch.otherwise:
            self._lines.add("} else {")
            self._body(branch.otherwise)
        for _ in range(closing):
            self._lines.add("}")

    def _loop(self, loop: core.Loop) -> None:
        counter, label = self._lines.name(), self._lines.name()
        self._lines.add(f"for (uint32_t {counter} = 0;;) {{")
        if not loop.tests_first:
            self._lines.add(f"if ({counter} != 0) {{")
        self._lines.add(f"if (!({self._expressions.write(loop.condition)})) break;")
        if not loop.tests_first:
            self._lines.add("}")
        self._lines.add(f"{counter}++;")
        self._lines.check(f"{counter} <= {core.MOST_TURNS}", f"loop with more than {core.MOST_TURNS} turns", loop.span)
        self._loops.append((loop, label))
        self._body(loop.body)
        self._loops.pop()
        if label in self._labels:
            self._lines.add(f"{label}: ;")
        self._body(loop.after)
        self._lines.add("}")

    def _jump(self, jump: core.Jump) -> None:
        if jump.to == "exit":
            self._lines.add("break;")
        elif jump.to == "continue":
            self._labels.add(self._loops[-1][1])
            self._lines.add(f"goto {self._loops[-1][1]};")
        else:
            self._return()

    def _return(self) -> None:
        result = "".join(f" {variable_name(variable.name)}" for variable in self._routine.of_section("result"))
        self._lines.add(f"return{result if self._routine.kind == 'function' else ''};")

    def _invoke(self, call: core.Invoke) -> None:
        routine = self._data.program.routines[call.block]
        types = {variable.name: variable.type for variable in routine.variables}
        instance = self._lines.name()
        self._lines.add(f"{self._data.block(routine)} *const {instance} = &{self._expressions.place(call.instance)};")
        for name, value in call.inputs:
            code = self._expressions.guard(self._expressions.write(value), types[name], call.span)
            self._lines.add(f"{instance}->{variable_name(name)} = {code};")
        bound = dict(call.in_outs)
        places = [f"&{self._expressions.place(bound[one.name])}" for one in routine.of_section("in_out")]
        self._lines.add(f"{self._data.routine(call.block)}({', '.join([instance, *places])});")
        for place, name in call.outputs:
            code = self._expressions.guard(f"{instance}->{variable_name(name)}", place.type, call.span)
            self._lines.add(f"{self._expressions.place(place)} = {code};")

    def _assert(self, assertion: core.Assert) -> None:
        text = f"{plain_text(assertion.name)} at {assertion.span}"
        self._lines.add(f'PLC_ASSERT({self._expressions.write(assertion.condition)}, "{text}");')

    _WRITERS: Mapping[type, Callable[..., None]] = {
        core.Assign: _assign, core.Branch: _branch, core.Loop: _loop, core.Jump: _jump, core.Invoke: _invoke,
        core.Assert: _assert}
