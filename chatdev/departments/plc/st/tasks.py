"""Programs that several tasks run: what a proof knows of the others, and a run of all of them.

A proof looks at the program of one task. Between its scans the others may run as often as they like, so a global
variable that one of them writes has any value when a scan begins. In a run all are interleaved by interval and
priority: before a scan of the entry come the scans of the others that are due by then. At the same moment the higher
priority (the lower number) comes first, then the task that is declared first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from chatdev.departments.plc.st.core import (
    Array,
    Assign,
    Branch,
    Call,
    Constant,
    Convert,
    Expression,
    Forget,
    Invoke,
    Loop,
    Operation,
    Place,
    Program,
    Record,
    Routine,
    Scalar,
    Statement,
    Unknown,
    Variable,
)
from chatdev.departments.plc.st.elaborate_expression import elaborate_constant
from chatdev.departments.plc.st.functions import BOOL, LINT, SCALARS
from chatdev.departments.plc.st.instances import ID, holds_identity, is_lost
from chatdev.departments.plc.st.references import walk
from chatdev.departments.plc.st.scope import Reject, Scope, TimedProgram, UnknownValue, World
from chatdev.departments.plc.st.syntax import Assignment, Invocation, Literal, Name, Node, Task, Unit

OTHER_TASKS = "what programs of other tasks write"
MOST_SCANS = 64
"""Of all other programs before one scan of the entry."""
_BEGUN = Variable("@tasks.begun", BOOL, False, "local")


def read_tasks(tasks: Sequence[Task], world: World) -> tuple[TimedProgram, ...]:
    """What tasks say, in their order; an interval that is not known before the program runs is None."""
    found = []
    for number, one in enumerate(tasks):
        said = one.priority.value if isinstance(one.priority, Literal) else 0
        priority = said if isinstance(said, int) else 0
        found.append(TimedProgram(one.program.key, _read_interval(one.interval, world), (priority, number)))
    return tuple(found)


def _read_interval(node: Node | None, world: World) -> int | None:
    try:
        found = elaborate_constant(node, Scope(world, {}), "the INTERVAL of a TASK") if node else None
    except (Reject, UnknownValue):
        return None
    is_time = found is not None and isinstance(found.type, Scalar) and found.type.name == "TIME"
    return max(found.value, 1) if found is not None and is_time else None


def run_beside(entry: Routine, world: World) -> Routine:
    """The entry beside the programs of other tasks."""
    return interleave(entry, world) if world.together else forget_shared(entry, world)


def forget_shared(entry: Routine, world: World) -> Routine:
    """The entry with nothing known, when a scan begins, of the global variables that programs of other tasks write."""
    written = _Writes(world).of(world.other_programs)
    if world.takes_addresses and written >= world.globals.keys() and written:  # of variables of the entry, perhaps
        return replace(entry, body=(Forget(OTHER_TASKS, entry.span), *entry.body))
    lost = [Assign(one, Unknown(OTHER_TASKS, one.type, one.span), one.span) for place in _places_of(written, world)
            for one in _data_of(place)]
    return replace(entry, body=(*lost, *entry.body))


def _places_of(names: set[str], world: World) -> Iterator[Place]:
    """The global variables and instances of these names."""
    for key, one in world.globals.items():
        if key in names and one.section == "local" and not is_lost(one.type):
            yield Place(key, (), one.type, one.span)
    yield from (one.place for one in world.instances if one.key in names)


def _data_of(place: Place) -> Iterator[Place]:
    """What may change of a variable: an instance stays the one that it is."""
    if not holds_identity(place.type):
        yield place
    elif isinstance(place.type, Array):
        for index in range(place.type.low, place.type.high + 1):
            yield from _data_of(Place(place.root, (*place.steps, Constant(index, LINT)), place.type.element))
    elif isinstance(place.type, Record):
        for part in place.type.fields:
            if part.name != ID and not is_lost(part.type):
                yield from _data_of(Place(place.root, (*place.steps, part.name), part.type))


def takes_addresses(units: Sequence[Unit]) -> bool:
    """Whether a source takes the address of a variable, by ADR, REF or `REF=`."""
    return any((isinstance(one, Assignment) and one.sign == "REF=") or (
        isinstance(one, Invocation) and isinstance(one.callee, Name) and one.callee.key in ("adr", "ref"))
        for unit in units for part in (unit, *unit.members) for one in walk((part.body, part.declarations)))


def shared_roots(program: Program) -> set[str]:
    """The variables of the entry that programs of other tasks write, as `forget_shared` has them."""
    if any(isinstance(one, Forget) and one.why == OTHER_TASKS for one in program.entry.body):
        return {one.name for one in program.entry.variables}
    return {one.target.root for one in program.entry.body if isinstance(one, Assign) and isinstance(one.target, Place)
            and isinstance(one.value, Unknown) and one.value.why == OTHER_TASKS}


def roots_in(expression: Expression) -> Iterator[str]:
    """The variables that an expression reads."""
    if isinstance(expression, Place):
        yield expression.root
    inner = (*getattr(expression, "operands", ()), getattr(expression, "operand", None),
             getattr(expression, "place", None), *getattr(expression, "steps", ()))
    for one in inner:
        if one is not None and not isinstance(one, str):
            yield from roots_in(one)


class _Writes:
    """Finds the global variables that routines write, also by way of what they call."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._known: dict[str, set[str]] = {}

    def of(self, programs: Iterable[str]) -> set[str]:
        """The global variables that these write, and instances that they share; all where it is not known what is
        written."""
        found: set[str] = set()
        for name in programs:
            found |= {name, *self._written(name)}
        both = self._world.globals.keys() | self._world.lent.keys()
        return set(both) if "" in found else both & found

    def _written(self, name: str) -> set[str]:
        """The variables of a routine that it writes, by their names in it; "" for what is not known."""
        if name not in self._known:
            self._known[name] = set()
            routine = self._world.routines.get(name) or self._world.standard.get(name)
            self._known[name] = {""} if routine is None else set(self._roots(routine.body))
        return self._known[name]

    def _roots(self, body: Sequence[Statement]) -> Iterator[str]:
        for one in body:
            if isinstance(one, Assign):
                yield (one.target if isinstance(one.target, Place) else one.target.place).root
            elif isinstance(one, Branch):
                yield from self._roots((*one.then, *one.otherwise))
            elif isinstance(one, Loop):
                yield from self._roots((*one.body, *one.after))
            elif isinstance(one, Forget):
                yield ""
            elif isinstance(one, Invoke):
                yield from self._written_by(one)

    def _written_by(self, call: Invoke) -> Iterator[str]:
        written = self._written(call.block)
        yield from (call.instance.root, *(place.root for place, _ in call.outputs), *written & {""})
        yield from (place.root for name, place in call.in_outs if name in written)


# All programs together.


def find_together(tasks: Sequence[TimedProgram], entry: str, units: Sequence[Unit]) -> tuple[TimedProgram, ...]:
    """The other programs, first those that come first, where all can be run beside the entry: each is run by one task,
    whose interval is known, and none so often that it is not worth a look."""
    own = next((one for one in tasks if one.name == entry), None)
    others = sorted((one for one in tasks if one is not own), key=lambda one: one.rank)
    if own is None or not _can_be_run(tasks, units):
        return ()
    return tuple(others) if sum(_scans(one, own) for one in others) <= MOST_SCANS else ()


def _can_be_run(tasks: Sequence[TimedProgram], units: Sequence[Unit]) -> bool:
    """Whether all are programs that are there, each in one task whose interval is known, and want no in-outs."""
    there = {unit.name.key for unit in units if unit.kind == "program"
             and all(one.section != "in_out" for one in unit.declarations)}
    names = {one.name for one in tasks}
    return len(names) == len(tasks) and names <= there and all(one.interval_ms is not None for one in tasks)


def _scans(one: TimedProgram, own: TimedProgram) -> int:
    """How many scans of a program may be due before one of the entry."""
    return -(-(own.interval_ms or 1) // (one.interval_ms or 1))


def interleave(entry: Routine, world: World) -> Routine:
    """The entry, whose scans begin with those of the other programs that are due. Their inputs are inputs of it."""
    own = world.own_task
    assert own is not None
    variables: list[Variable] = [_BEGUN]
    later: list[Statement] = []
    body: list[Statement] = []
    for one in world.together:
        due = Variable(f"@due.{one.name}", LINT, one.interval_ms, "local")
        place, every = Place(due.name, (), LINT), Constant(one.interval_ms, LINT)
        passed = Convert(Call("CYCLE_TIME", (), SCALARS["time"]), LINT)
        later.append(Assign(place, Operation("+", (place, passed), LINT)))
        invoke, inputs = _run_program(one.name, world)
        variables += [due, *inputs]
        is_due: Expression = Operation(">=" if one.rank < own.rank else ">", (place, every), BOOL)
        scan = (Assign(place, Operation("-", (place, every), LINT)), invoke)
        body += [Branch(is_due, scan)] * _scans(one, own)
    begun = Place(_BEGUN.name, (), BOOL)
    first = Branch(begun, tuple(later), (Assign(begun, Constant(True, BOOL)),))
    return replace(entry, variables=(*entry.variables, *variables), body=(first, *body, *entry.body))


def _run_program(name: str, world: World) -> tuple[Invoke, list[Variable]]:
    """A scan of another program, and the variables that its inputs are."""
    signature = world.signatures[name]
    record = signature.record
    assert record is not None
    inputs = [replace(one, name=f"{name}:{one.name}", written=f"{signature.written}.{one.written}")
              for one in signature.of_section("input")]
    given = tuple((one.name, Place(outer.name, (), one.type))
                  for one, outer in zip(signature.of_section("input"), inputs, strict=True))
    at = {one.key: one.place for one in world.instances}
    bound = tuple((key, at.get(key) or Place(key, (), world.globals[key].type))
                  for key in world.globals_of.get(name, ()))
    return Invoke(Place(name, (), record), name, given, (), bound, signature.span), inputs
