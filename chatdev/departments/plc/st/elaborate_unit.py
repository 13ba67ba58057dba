"""Give a whole source its meaning in the core: first the declarations of its routines, then their statements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from chatdev.departments.plc.st.coerce import coerce, settle
from chatdev.departments.plc.st.core import (
    IEC,
    Assert,
    Assign,
    Branch,
    Constant,
    Dialect,
    Expression,
    Field,
    Jump,
    Loop,
    Operation,
    Place,
    Program,
    Record,
    Routine,
    Scalar,
    Span,
    Statement,
    Type,
    Value,
    Variable,
)
from chatdev.departments.plc.st.diagnostics import Findings, Fix, find_nearest
from chatdev.departments.plc.st.elaborate_expression import (
    elaborate,
    elaborate_as,
    elaborate_block_call,
    elaborate_constant,
    operate,
)
from chatdev.departments.plc.st.elaborate_place import elaborate_place, elaborate_target
from chatdev.departments.plc.st.elaborate_type import Types, elaborate_initial
from chatdev.departments.plc.st.functions import BOOL, SCALARS, describe_type, fit_constant, range_of
from chatdev.departments.plc.st.run_clocks import run_clocks
from chatdev.departments.plc.st.scope import MOST_ELEMENTS, MOST_LOOPS, Reject, Scope, Signature, World
from chatdev.departments.plc.st.syntax import (
    Assignment,
    CallStatement,
    Case,
    Declaration,
    For,
    If,
    Label,
    Leave,
    Member,
    Name,
    Node,
    SourceFile,
    Step,
    TypeNode,
    Unit,
    While,
)

MOST_BLOCKS = 50
"""So many function blocks may contain each other in a row."""
_NOT_STORED = ("temp", "in_out")


class Units:
    """The routines of a source, declared as they are asked for."""

    types: Types

    def __init__(self, world: World, units: Sequence[Unit]) -> None:
        self._world = world
        self._units: dict[str, Unit] = {}
        self._open: list[str] = []
        self._order: list[Unit] = []
        self._lost: dict[str, set[str]] = {}
        for unit in units:
            if unit.name.key in self._units or unit.name.key in SCALARS:
                world.findings.report("declared-twice", unit.name.span, name=unit.name.text, what="routine",
                                      line=self._units[unit.name.key].span.line if unit.name.key in self._units else 0)
            else:
                self._units[unit.name.key] = unit
        for name, routine in world.standard.items():
            if routine.kind == "block" and name not in self._units:
                world.signatures[name] = Signature(name, routine.written, "block", routine.variables,
                                                   record=make_record(routine.written, name, routine.variables))

    def block_names(self) -> list[str]:
        """The function blocks that there are, as they are written."""
        return [*(unit.name.text for unit in self._units.values() if unit.kind == "block"),
                *(one.written for one in self._world.signatures.values())]

    def find_block(self, key: str, span: Span) -> Record | None:
        """The data of a function block; None if there is none of this name. Raises Reject for one within itself."""
        if len(self._open) == MOST_BLOCKS:
            raise Scope(self._world, {}).reject("deep-calls", span, most=MOST_BLOCKS)
        if key in self._open:
            circle = [self._units[one].name.text for one in (*self._open[self._open.index(key):], key)]
            raise Scope(self._world, {}).reject("recursion", span, circle=" contains ".join(circle))
        unit = self._units.get(key)
        if unit is not None:
            return self._declare(unit).record if unit.kind == "block" else None
        standard = self._world.signatures.get(key)
        if standard is None or key not in self._world.standard:
            return None
        self._world.standard_used.add(key)
        return standard.record

    def declare_globals(self, declarations: Sequence[Declaration]) -> None:
        """Global variables and constants."""
        scope = Scope(self._world, {}, broken=self._world.broken)
        for variable in self._declare_variables(declarations, scope, self._world.lost, self._world.globals, ""):
            self._world.globals[variable.name] = variable

    def declare_all(self) -> None:
        """Every routine of the source."""
        for unit in self._units.values():
            self._declare(unit)

    def in_order_of_use(self) -> list[Unit]:
        """All routines, function blocks behind those that they contain."""
        return self._order

    def lost_names(self, unit: Unit) -> frozenset[str]:
        """Variables whose declaration had an error."""
        return frozenset(self._lost[unit.name.key])

    def check_externals(self, unit: Unit, scope: Scope) -> None:
        """Whether there is a global variable for each VAR_EXTERNAL."""
        for declaration in unit.externals:
            for name in declaration.names:
                if name.key not in self._world.globals and name.key not in self._world.lost:
                    scope.report("no-global", name.span, name=name.text)
                    scope.unknown.add(name.key)

    def _declare(self, unit: Unit) -> Signature:
        key = unit.name.key
        known = self._world.signatures.get(key)
        if known is not None and key in self._lost:
            return known
        self._open.append(key)
        lost = self._lost.setdefault(key, set())
        variables: dict[str, Variable] = {}
        try:
            scope = Scope(self._world, variables, broken=unit.broken)
            result = self._declare_result(unit, scope, variables, lost)
            for variable in self._declare_variables(unit.declarations, scope, lost, variables, unit.kind):
                variables[variable.name] = variable
        finally:
            self._open.pop()
        own = tuple(variables.values())
        if self._is_large(own, unit):
            own = ()
        record = make_record(unit.name.text, key, own) if unit.kind == "block" else None
        signature = Signature(key, unit.name.text, unit.kind, own, result, record, unit.span)
        self._world.signatures[key] = signature
        self._order.append(unit)
        return signature

    def _is_large(self, variables: Sequence[Variable], unit: Unit) -> bool:
        """Whether the variables hold too much together, which is then reported."""
        if sum(self._world.measure(one.type, one.written, one.span) for one in variables) <= MOST_ELEMENTS:
            return False
        self._world.findings.report("large-array", unit.name.span, name=unit.name.text, most=MOST_ELEMENTS)
        return True

    def _declare_result(self, unit: Unit, scope: Scope, variables: dict[str, Variable], lost: set[str]) -> Type | None:
        """The variable named as its function, first of all variables."""
        if unit.kind != "function":
            return None
        if unit.result is None:
            lost.add(unit.name.key)
            return None
        try:
            result, initial = self.types.resolve(unit.result, scope, unit.name.text)
        except Reject:
            lost.add(unit.name.key)
            return None
        variables[unit.name.key] = Variable(unit.name.key, result, initial, "result", unit.name.text, unit.name.span)
        return result

    def _declare_variables(self, declarations: Sequence[Declaration], scope: Scope, lost: set[str],
                           known: dict[str, Variable], kind: str) -> Iterable[Variable]:
        for declaration in declarations:
            if declaration.type is None:
                lost.update(name.key for name in declaration.names)
                continue
            names = [name for name in declaration.names if self._is_free(name, lost, scope)]
            try:
                found, initial = self._find_type(declaration, declaration.type, scope, kind)
            except Reject:
                lost.update(name.key for name in names)
                continue
            for name in names:
                variable = Variable(name.key, found, initial, declaration.section, name.text, name.span)
                if name.key in known:
                    _report_twice(variable, known[name.key], declaration, scope)
                else:
                    yield variable

    def _find_type(self, declaration: Declaration, node: TypeNode, scope: Scope, kind: str) -> tuple[Type, Value]:
        first = declaration.names[0]
        if kind == "function" and declaration.section in ("output", "in_out"):
            raise scope.reject("function-outputs", first.span, name=first.text)
        found, initial = self.types.resolve(node, scope, first.text)
        if kind == "function" and isinstance(found, Record) and found.block:
            raise scope.reject("block-in-function", first.span, name=first.text, block=found.name)
        if declaration.initial is None:
            if declaration.section == "constant":
                scope.report("constant-value", first.span, name=first.text)
            return found, initial
        try:
            return found, elaborate_initial(declaration.initial, found, initial, scope)
        except Reject:
            return found, initial

    def _is_free(self, name: Name, lost: set[str], scope: Scope) -> bool:
        if name.key in SCALARS:
            scope.report("reserved-name", name.span, name=name.text)
            lost.add(name.key)
            return False
        return name.key not in lost


def _report_twice(second: Variable, first: Variable, declaration: Declaration, scope: Scope) -> None:
    """A variable has a name that is taken. What says of an input or output once more what is known of it can go."""
    says_nothing = (declaration.section == "local" and len(declaration.names) == 1
                    and first.section in ("input", "output", "in_out")
                    and (second.type, second.initial) == (first.type, first.initial))
    fix = Fix.instead(declaration.span, "") if says_nothing else None
    scope.world.findings.report("declared-twice", second.span, fix, name=second.written, what="variable",
                                line=first.span.line)


def make_record(written: str, name: str, variables: Sequence[Variable]) -> Record:
    """The data of a function block: all that it keeps from one call to the next."""
    return Record(written, tuple(Field(one.name, one.type, one.initial, one.section) for one in variables
                                 if one.section not in _NOT_STORED), name)


# A whole source: types, the data of blocks, bodies, and which routine is run.

MOST_CALLS = 50
"""So many routines may call each other in a row."""


def elaborate_source(source: SourceFile, findings: Findings, standard: Mapping[str, Routine],
                     is_standard: bool = False, dialect: Dialect = IEC) -> World:
    """All routines of a source, and of the `standard` ones those that it uses. What has no meaning is reported."""
    world = World(findings, dialect, standard=standard, broken=source.broken)
    units = Units(world, source.units)
    types = Types(world, source.types, units.find_block, units.block_names())
    units.types = types
    units.declare_globals([one for one in source.globals if one.section == "constant"])
    types.resolve_all()
    units.declare_globals([one for one in source.globals if one.section != "constant"])
    units.declare_all()
    calls: dict[str, dict[str, Span]] = {}
    for unit in units.in_order_of_use():
        scope = _scope_of(unit, units, world, is_standard)
        units.check_externals(unit, scope)
        body = elaborate_statements(unit.body, scope)
        calls[unit.name.key] = scope.calls
        signature = world.signatures[unit.name.key]
        world.globals_of[unit.name.key] = tuple(sorted(scope.used_globals))
        world.routines[unit.name.key] = Routine(
            signature.name, signature.kind, (*signature.variables, *_bound_globals(scope, signature, unit)), body,
            signature.written, is_standard, unit.span)
    _report_circles(calls, world)
    return world


def make_program(world: World, entry: str | None, source: str) -> Program | None:
    """The program that runs the routine `entry`, or the one that is the entry by itself; None, with the error
    reported, if there is none."""
    own = world.routines
    routines = own | {name: world.standard[name] for name in world.standard_used if name not in own}
    chosen = _choose_entry(world, entry)
    if chosen is None:
        return None
    globals_ = tuple(world.globals.values())
    variables = tuple(one for one in chosen.variables if one.name not in world.globals or one.section != "in_out")
    chosen = replace(chosen, variables=variables + globals_)
    program = Program(chosen, {**routines, chosen.name: chosen}, source, globals_, world.dialect)
    return run_clocks(program, world.standard)


def _scope_of(unit: Unit, units: Units, world: World, is_standard: bool) -> Scope:
    signature = world.signatures[unit.name.key]
    variables = {variable.name: variable for variable in signature.variables}
    return Scope(world, variables, is_standard=is_standard, kind=signature.kind, broken=unit.broken,
                 lost=units.lost_names(unit))


def _bound_globals(scope: Scope, signature: Signature, unit: Unit) -> Iterable[Variable]:
    """The global variables that a routine or one that it calls uses, which it gets as in-outs. A function gets none."""
    names = sorted(scope.used_globals)
    if names and signature.kind == "function":
        scope.report("global-in-function", unit.name.span, name=scope.world.globals[names[0]].written,
                     function=signature.written)
    return [replace(scope.world.globals[name], section="in_out") for name in names]


def _report_circles(calls: Mapping[str, Mapping[str, Span]], world: World) -> None:
    """Functions that call themselves, also by way of others."""
    done: set[str] = set()
    for start in calls:
        path: list[str] = []
        _walk_calls(start, calls, path, done, world)


def _walk_calls(name: str, calls: Mapping[str, Mapping[str, Span]], path: list[str], done: set[str],
                world: World) -> None:
    if name in done or name not in calls:
        return
    if len(path) == MOST_CALLS:
        world.findings.report("deep-calls", calls[path[-1]][name], most=MOST_CALLS)
        return
    path.append(name)
    for called, span in calls[name].items():
        if called in path:
            circle = [world.signatures[one].written for one in (*path[path.index(called):], called)]
            world.findings.report("recursion", span, circle=" calls ".join(circle))
        else:
            _walk_calls(called, calls, path, done, world)
    path.pop()
    done.add(name)


def _choose_entry(world: World, entry: str | None) -> Routine | None:
    candidates = {name: one for name, one in world.routines.items() if one.kind != "function"}
    if entry is not None:
        chosen = candidates.get(entry.strip('"').lower())
        if chosen is None:
            known = [one.written for one in candidates.values()]
            world.findings.report("no-such-entry", Span(1, 1, 1, 1), name=entry, near=find_nearest(entry, known),
                                  known=", ".join(known[:12]))
        return chosen
    if not candidates:
        world.findings.report("no-entry", Span(1, 1, 1, 1), functions=bool(world.routines))
        return None
    return _last_free(list(candidates.values()))


def _last_free(candidates: list[Routine]) -> Routine:
    """The last PROGRAM, else the last block that no other one has an instance of."""
    programs = [one for one in candidates if one.kind == "program"]
    used = {part for one in candidates for variable in one.variables for part in _blocks_in(variable)}
    free = [one for one in candidates if one.name not in used]
    return (programs or free or candidates)[-1]


def _blocks_in(variable: Variable) -> set[str]:
    """The function blocks that a variable is an instance of, or has instances of."""
    found: set[str] = set()
    types = [variable.type]
    while types:
        type_ = types.pop()
        if isinstance(type_, Record):
            found |= {type_.block} - {""}
            types.extend(part.type for part in type_.fields)
        elif not hasattr(type_, "kind"):
            types.append(type_.element)
    return found


# Statements: CASE as tests, every loop as one form.

MOST_ARMS = 200
"""Of one IF or CASE: each stands within the one before it."""
MOST_LABELS = 1000
"""Of one CASE."""


def elaborate_statements(steps: Sequence[Step], scope: Scope) -> tuple[Statement, ...]:
    """The meaning of statements; those that have none are reported and left out."""
    found: list[Statement] = []
    for step in steps:
        try:
            found.extend(_elaborate_statement(step, scope))
        except Reject:
            continue
    return tuple(found)


def _elaborate_statement(step: Step, scope: Scope) -> list[Statement]:
    if isinstance(step, Assignment):
        return [_assign(step, scope)]
    if isinstance(step, CallStatement):
        return [elaborate_block_call(step.call, scope)]
    if isinstance(step, If):
        return _branch(step, scope)
    if isinstance(step, Case):
        return _choose(step, scope)
    if isinstance(step, For):
        return _count(step, scope)
    if isinstance(step, While):
        return [_repeat(step, scope)]
    if isinstance(step, Leave):
        return [_leave(step, scope)]
    return [Assert(_condition(step.condition, scope, "the condition of #ASSERT"), step.name, step.span)]


def _assign(step: Assignment, scope: Scope) -> Statement:
    target = elaborate_target(step.target, scope, elaborate)
    name = step.target.text if isinstance(step.target, Name | Member) else "the element"
    value = elaborate_as(step.value, target.type, scope, f"a value for '{name}'")
    return Assign(target, value, step.span)


def _condition(node: Node, scope: Scope, what: str) -> Expression:
    expression = elaborate(node, scope)
    if expression.type != BOOL:
        raise scope.reject("no-condition", node.span, what=what, found=describe_type(expression.type))
    return expression


def _branch(step: If, scope: Scope) -> list[Statement]:
    if len(step.arms) > MOST_ARMS:
        raise scope.reject("too-many-arms", step.span, what="this IF and its ELSIF", most=MOST_ARMS)
    arms: list[tuple[Expression | None, tuple[Statement, ...], Node | None]] = []
    for node, steps in step.arms:
        try:
            test = _condition(node, scope, "the condition of IF") if node else None
        except Reject:
            test = None
        arms.append((test, _inside(steps, scope), node))
    rest = _inside(step.otherwise, scope)
    for test, body, node in reversed(arms):
        if test is not None and node is not None:
            rest = (Branch(test, body, rest, node.span),)
    return list(rest)


def _inside(steps: Sequence[Step], scope: Scope) -> tuple[Statement, ...]:
    """Statements one level deeper."""
    scope.depth += 1
    try:
        return elaborate_statements(steps, scope)
    finally:
        scope.depth -= 1


def _choose(step: Case, scope: Scope) -> list[Statement]:
    if len(step.arms) > MOST_ARMS:
        raise scope.reject("too-many-arms", step.span, what="this CASE and its labels", most=MOST_ARMS)
    if sum(len(labels) for labels, _ in step.arms) > MOST_LABELS:
        raise scope.reject("too-many-arms", step.span, what="this CASE and its labels", most=MOST_LABELS)
    selector = _selector(step, scope)
    covered: list[tuple[int, int, int]] = []
    arms: list[tuple[Expression | None, tuple[Statement, ...], Span]] = []
    for labels, steps in step.arms:
        test = _test_labels(labels, selector, covered, scope) if selector else None
        arms.append((test, _inside(steps, scope), _stretch(labels[0].span, labels[-1].span)))
    rest = _inside(step.otherwise, scope)
    head = _stretch(step.span, step.selector.span) if step.selector else step.span
    for test, body, labels_span in reversed(arms):
        if test is not None:
            rest = (Branch(test, body, rest, head, labels_span),)
    return list(rest)


def _stretch(first: Span, last: Span) -> Span:
    """From the begin of the one to the end of the other."""
    return Span(first.line, first.column, last.end_line, last.end_column)


def _selector(step: Case, scope: Scope) -> Expression | None:
    if step.selector is None:
        return None
    try:
        selector = settle(elaborate(step.selector, scope))
        type_ = selector.type
        if not isinstance(type_, Scalar) or type_.kind not in ("int", "bits", "enum"):
            raise scope.reject("wrong-selector", step.selector.span, found=describe_type(type_))
    except Reject:
        return None
    return selector


def _test_labels(labels: Sequence[Label], selector: Expression, covered: list[tuple[int, int, int]],
                 scope: Scope) -> Expression | None:
    """Whether the selector is one of the labels; None if one of them has no meaning."""
    try:
        tests = [_test_label(label, selector, covered, scope) for label in labels]
    except Reject:
        return None
    while len(tests) > 1:  # in pairs, so that many labels do not nest deeply
        tests = [Operation("or", (*pair,), BOOL, pair[0].span) if len(pair) > 1 else pair[0]
                 for pair in (tests[index:index + 2] for index in range(0, len(tests), 2))]
    return tests[0]


def _test_label(label: Label, selector: Expression, covered: list[tuple[int, int, int]], scope: Scope) -> Expression:
    low = _label_value(label.low, selector, scope)
    high = _label_value(label.high, selector, scope) if label.high else low
    if high.value < low.value:
        raise scope.reject("empty-range", label.span, low=low.value, high=high.value)
    for first, last, line in covered:
        if low.value <= last and first <= high.value:
            scope.report("label-twice", label.span, value=max(low.value, first), line=line)
            break
    covered.append((low.value, high.value, label.span.line))
    if label.high is None:
        return operate("=", [selector, low], label.low, scope)
    bounds = (operate(">=", [selector, low], label.low, scope), operate("<=", [selector, high], label.high, scope))
    return Operation("and", bounds, BOOL, label.span)


def _label_value(node: Node, selector: Expression, scope: Scope) -> Constant:
    constant = elaborate_constant(node, scope, "a label of CASE")
    assert isinstance(selector.type, Scalar)
    value = _take(constant, selector.type, scope, "a label of this CASE")
    return value if isinstance(value, Constant) else Constant(constant.value, selector.type, node.span)


def _take(value: Expression, type_: Scalar, scope: Scope, what: str) -> Expression:
    """A label or a bound of FOR in the type that it is needed in, as a constant of another integer type is that the
    type holds."""
    source = value.type
    if not isinstance(value, Constant) or not isinstance(source, Scalar) or source.kind not in ("int", "bits") \
            or type_.kind not in ("int", "bits"):
        return coerce(value, type_, scope, what)
    number = fit_constant(value, type_)
    if number is None:
        low, high = range_of(type_)
        raise scope.reject("out-of-range", value.span, value=value.value, type=type_.name, low=low, high=high)
    return number


def _count(step: For, scope: Scope) -> list[Statement]:
    """FOR as a loop that tests before each turn. The sign of the step tells which test; it is looked at in every turn
    if it is not known before."""
    name = step.variable
    counter = elaborate_place(name, scope, elaborate)
    if not isinstance(counter, Place) or not isinstance(counter.type, Scalar) or counter.type.kind != "int":
        raise scope.reject("wrong-counter", name.span, name=name.text, found=describe_type(counter.type),
                           constant=isinstance(counter, Constant))
    elaborate_target(name, scope, elaborate)
    start = _take(elaborate(step.start, scope), counter.type, scope, f"the first value of '{name.text}'")
    limit = _take(elaborate(step.limit, scope), counter.type, scope, f"the last value of '{name.text}'")
    by = (_take(elaborate(step.step, scope), counter.type, scope, f"the step of '{name.text}'") if step.step
          else Constant(1, counter.type, step.span))
    if isinstance(by, Constant) and by.value == 0:
        raise scope.reject("zero-step", by.span, name=name.text)
    scope.counters.append(name.key)
    body = _inside_loop(step, scope)
    scope.counters.pop()
    following = Assign(counter, Operation("+", (counter, by), counter.type, step.span), step.span)
    return [Assign(counter, start, step.span),
            Loop(_within(counter, limit, by), body, (following,), span=step.span)]


def _inside_loop(step: For | While, scope: Scope) -> tuple[Statement, ...]:
    if scope.loops == MOST_LOOPS:
        scope.report("deep-loops", step.span, most=MOST_LOOPS)
        return ()
    scope.loops += 1
    body = _inside(step.body, scope)
    scope.loops -= 1
    return body


def _within(counter: Place, limit: Expression, by: Expression) -> Expression:
    """Whether a counter has not passed its last value."""
    up = Operation("<=", (counter, limit), BOOL, limit.span)
    down = Operation(">=", (counter, limit), BOOL, limit.span)
    if isinstance(by, Constant):
        return up if by.value > 0 else down
    nothing = Constant(0, by.type, by.span)
    rises = Operation("and", (Operation(">=", (by, nothing), BOOL, by.span), up), BOOL, by.span)
    falls = Operation("and", (Operation("<", (by, nothing), BOOL, by.span), down), BOOL, by.span)
    return Operation("or", (rises, falls), BOOL, by.span)


def _repeat(step: While, scope: Scope) -> Statement:
    word = "WHILE" if step.tests_first else "UNTIL"
    condition: Expression | None = None
    try:
        condition = _condition(step.condition, scope, f"the condition of {word}") if step.condition else None
    finally:
        body = _inside_loop(step, scope)
    if condition is None:
        raise Reject
    if not step.tests_first:
        condition = Operation("not", (condition,), BOOL, condition.span)
    return Loop(condition, body, tests_first=step.tests_first, span=step.span)


def _leave(step: Leave, scope: Scope) -> Statement:
    if step.to != "return" and not scope.loops:
        raise scope.reject("no-loop", step.span, word=step.to.upper())
    return Jump(step.to, step.span)
