"""Give statements their meaning in the core: CASE as tests, every loop as one form, and what an expression changes
before the statement that it stands in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from chatdev.departments.plc.st.coerce import coerce, settle
from chatdev.departments.plc.st.core import (
    Apply,
    Assert,
    Assign,
    Bit,
    Branch,
    Call,
    Constant,
    Convert,
    Expression,
    Forget,
    Jump,
    Loop,
    Operation,
    Place,
    Record,
    Scalar,
    Span,
    Statement,
    Type,
    Unknown,
)
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.elaborate_call import call_getter, call_setter, elaborate_call_statement
from chatdev.departments.plc.st.elaborate_expression import elaborate, elaborate_constant, operate
from chatdev.departments.plc.st.elaborate_place import elaborate_place, elaborate_target, why_unknown
from chatdev.departments.plc.st.functions import BOOL, SCALARS, describe_type, fit_constant, is_opaque, range_of
from chatdev.departments.plc.st.instances import is_lost
from chatdev.departments.plc.st.references import find_addressed, is_nothing
from chatdev.departments.plc.st.scope import (
    ANYTHING,
    BASE,
    MOST_LOOPS,
    OPEN_DIALECTS,
    Reject,
    Scope,
    Signature,
    UnknownValue,
)
from chatdev.departments.plc.st.syntax import (
    Alone,
    Assignment,
    Binary,
    CallStatement,
    Case,
    For,
    Foreign,
    If,
    Label,
    Leave,
    Member,
    Name,
    Node,
    Step,
    Unit,
    While,
)

MOST_ARMS = 200
"""Of one IF or CASE: each stands within the one before it."""
MOST_LABELS = 1000
"""Of one CASE."""


def elaborate_statements(steps: Sequence[Step], scope: Scope) -> tuple[Statement, ...]:
    """The meaning of statements; those that have none are reported and left out."""
    found: list[Statement] = []
    for step in steps:
        with _collect(scope) as before, suppress(Reject):
            try:
                made = _elaborate_statement(step, scope)
            except UnknownValue as unknown:
                made = [Forget(str(unknown), step.span)]
            found += [*before, *made]
    return tuple(found)


@contextmanager
def _collect(scope: Scope) -> Iterator[list[Statement]]:
    """What has to be done before a statement or a condition that is read meanwhile."""
    outer, scope.before = scope.before, []
    try:
        yield scope.before
    finally:
        scope.before = outer


def _elaborate_statement(step: Step, scope: Scope) -> list[Statement]:
    if isinstance(step, Assignment):
        return _assign(step, scope)
    if isinstance(step, CallStatement):
        return elaborate_call_statement(step.call, scope, elaborate)
    if isinstance(step, Alone):
        return _ask(step, scope)
    if isinstance(step, Foreign):
        return [Forget(step.what, step.span)]
    if isinstance(step, If):
        return _branch(step, scope)
    if isinstance(step, Case):
        return _choose(step, scope)
    if isinstance(step, For):
        return _count(step, scope)
    if isinstance(step, While):
        return _repeat(step, scope)
    if isinstance(step, Leave):
        return _leave(step, scope)
    return [Assert(_condition(step.condition, scope, "the condition of #ASSERT"), step.name, step.span)]


def _assign(step: Assignment, scope: Scope) -> list[Statement]:
    if (bound := _refer(step, scope)) is not None:
        return bound
    if step.sign == "REF=":
        scope.report("gap-reference", step.span)
        return []
    _check_sign(step, scope)
    if scope.world.properties and (call := call_setter(step, scope, elaborate)) is not None:
        return call
    target = elaborate_target(step.target, scope, elaborate)
    if isinstance(target, Unknown):
        elaborate(step.value, scope)
        return [Forget(target.why, step.span)] if target.why in ANYTHING else []
    if step.sign in ("S=", "R="):
        return [_latch(step, target, scope)]
    value = elaborate(step.value, scope)
    if isinstance(target, Place) and scope.world.dialect.name == "siemens" and (
            parts := _copy_parts(target, value, step.span)):
        return parts
    value = coerce(value, target.type, scope, f"a value for '{_name_of(step)}'")
    if is_lost(target.type):
        return []
    return [Assign(target, value, step.span)]


def _check_sign(step: Assignment, scope: Scope) -> None:
    """Raises Reject for `n += 1` where the dialect has none."""
    if step.sign == "+=" and scope.world.dialect.name in ("iec", "twincat"):
        sign = step.value.operator if isinstance(step.value, Binary) else ""
        raise scope.reject("half-statement", step.target.span, found=f"'{sign}'", name=_name_of(step), end=False,
                           sign=sign)


def _name_of(step: Assignment) -> str:
    return step.target.text if isinstance(step.target, Name | Member) else "the element"


def _latch(step: Assignment, target: Place | Bit, scope: Scope) -> Statement:
    """`q S= condition`, `q R= condition`."""
    condition = _condition(step.value, scope, f"the value behind {step.sign}")
    if target.type != BOOL:
        raise scope.reject("no-condition", step.target.span, what=f"the variable before {step.sign}",
                           found=describe_type(target.type))
    return Branch(condition, (Assign(target, Constant(step.sign == "S=", BOOL), step.span),), span=step.span)


def _refer(step: Assignment, scope: Scope) -> list[Statement] | None:
    """What lets a reference or pointer stand for its one variable, or for none."""
    target = step.target
    variable = scope.variables.get(target.key) if isinstance(target, Name) and target.key in scope.referents else None
    if variable is None or not is_opaque(variable.type) or (step.sign == "REF=") != (
            why_unknown(variable.type) == "references"):
        return None
    none = is_nothing(step.value)
    node = step.value if step.sign == "REF=" or none else find_addressed(step.value)
    if not none and node is not None:
        elaborate_place(node, scope, elaborate)
    assert isinstance(variable.type, Scalar)
    cell = Place(variable.name, (), variable.type, step.span)
    return [Assign(cell, Constant(0 if none else 1, variable.type), step.span)]


def _ask(step: Alone, scope: Scope) -> list[Statement]:
    """A property for what its accessor does; where the name is no property's, it is half a statement."""
    assert isinstance(step.target, Name | Member)
    if step.target.key in scope.world.properties and call_getter(step.target, scope, elaborate) is not None:
        return []
    if scope.world.dialect.allows_missing and isinstance(elaborate_place(step.target, scope, elaborate), Unknown):
        return [Forget(BASE, step.span)]
    raise scope.reject("half-statement", step.target.span, found="';'", name=step.target.text, end=True, sign="")


def _copy_parts(target: Place, source: Expression, span: Span) -> list[Statement]:
    """The copy of a structure into another one whose parts have the same names and types, part by part; nothing for one
    type, or where that is no copy."""
    if target.type == source.type or not isinstance(source, Place) or not _are_alike(target.type, source.type):
        return []
    assert isinstance(target.type, Record)
    found: list[Statement] = []
    for part in target.type.fields:
        to, of = (Place(one.root, (*one.steps, part.name), _type_of(one.type, part.name), span)
                  for one in (target, source))
        found += _copy_parts(to, of, span) if to.type != of.type else [] if is_lost(to.type) else [
            Assign(to, of, span)]
    return found


def _are_alike(one: Type, other: Type) -> bool:
    """Whether these are one type, or structures of the same parts in the same order."""
    if one == other or not isinstance(one, Record) or not isinstance(other, Record):
        return one == other
    return not one.block and not other.block and len(one.fields) == len(other.fields) and all(
        left.name == right.name and _are_alike(left.type, right.type)
        for left, right in zip(one.fields, other.fields, strict=True))


def _type_of(record: Type, name: str) -> Type:
    assert isinstance(record, Record)
    return next(part.type for part in record.fields if part.name == name)


def _condition(node: Node, scope: Scope, what: str) -> Expression:
    expression = elaborate(node, scope)
    if is_opaque(expression.type):
        return coerce(expression, BOOL, scope, what)
    if expression.type != BOOL:
        raise scope.reject("no-condition", node.span, what=what, found=describe_type(expression.type))
    return expression


def _branch(step: If, scope: Scope) -> list[Statement]:
    if len(step.arms) > MOST_ARMS:
        raise scope.reject("too-many-arms", step.span, what="this IF and its ELSIF", most=MOST_ARMS)
    arms: list[tuple[Expression | None, tuple[Statement, ...], Node | None, list[Statement]]] = []
    for node, steps in step.arms:
        with _collect(scope) as before:
            try:
                test = _condition(node, scope, "the condition of IF") if node else None
            except Reject:
                test = None
        arms.append((test, _inside(steps, scope), node, before))
    rest = _inside(step.otherwise, scope)
    for test, body, node, before in reversed(arms):
        if test is not None and node is not None:
            rest = (*before, Branch(test, body, rest, node.span))
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
        if is_opaque(type_):
            return coerce(selector, SCALARS["dint"], scope, "the selector")
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
    except UnknownValue as unknown:
        return Unknown(str(unknown), BOOL, labels[0].span)
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
    node = step.variable
    name = node.text if isinstance(node, Name | Member) else "the element"
    counter = elaborate_place(node, scope, elaborate)
    if isinstance(counter, Unknown) or is_opaque(counter.type):
        _inside_loop(step, scope)
        return [Forget(counter.why if isinstance(counter, Unknown) else why_unknown(counter.type), step.span)]
    if not isinstance(counter, Place) or not isinstance(counter.type, Scalar) or counter.type.kind not in (
            "int", "bits"):
        raise scope.reject("wrong-counter", node.span, name=name, found=describe_type(counter.type),
                           constant=isinstance(counter, Constant))
    elaborate_target(node, scope, elaborate)
    start = _take(elaborate(step.start, scope), counter.type, scope, f"the first value of '{name}'")
    with _collect(scope) as before:
        limit = _take(elaborate(step.limit, scope), counter.type, scope, f"the last value of '{name}'")
        by = elaborate(step.step, scope) if step.step else Constant(1, counter.type, step.span)
        down = counter.type if _counts_down(by, counter.type, scope) else None
        by = by if down else _take(by, counter.type, scope, f"the step of '{name}'")
    if isinstance(by, Constant) and by.value == 0:
        raise scope.reject("zero-step", by.span, name=name)
    bounds = len(scope.bounds)
    scope.counters.append(counter.root)
    scope.bounds += [*_places_in(limit), *_places_in(by)]
    body = _inside_loop(step, scope)
    scope.counters.pop()
    del scope.bounds[bounds:]
    following = Assign(counter, _step(counter, by, down, step, scope), step.span)
    return [Assign(counter, start, step.span), *before,
            Loop(_within(counter, limit, by), body, (following, *before), span=step.span)]


def _places_in(value: Expression) -> Iterator[Place]:
    """What a bound is read from."""
    if isinstance(value, Place):
        yield value
    elif isinstance(value, Bit):
        yield value.place
    elif isinstance(value, Convert):
        yield from _places_in(value.operand)
    elif isinstance(value, Operation | Call | Apply):
        for operand in value.operands:
            yield from _places_in(operand)


def _step(counter: Place, by: Expression, down: Scalar | None, step: For, scope: Scope) -> Expression:
    """What a counter is in the next turn."""
    if down is not None and isinstance(by, Constant):
        return Operation("-", (counter, Constant(-by.value, down)), down, step.span)
    return operate("+", [counter, by], step.variable, scope)


def _counts_down(by: Expression, type_: Scalar, scope: Scope) -> bool:
    """Whether a counter without sign goes down, which CODESYS and TwinCAT take."""
    return isinstance(by, Constant) and not type_.signed and -range_of(type_)[1] <= by.value < 0 \
        and scope.world.dialect.name in OPEN_DIALECTS


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


def _repeat(step: While, scope: Scope) -> list[Statement]:
    word = "WHILE" if step.tests_first else "UNTIL"
    condition: Expression | None = None
    with _collect(scope) as before:
        try:
            condition = _condition(step.condition, scope, f"the condition of {word}") if step.condition else None
        finally:
            body = _inside_loop(step, scope)
    if condition is None:
        raise Reject
    if not step.tests_first:
        condition = Operation("not", (condition,), BOOL, condition.span)
    loop = Loop(condition, body, tuple(before), step.tests_first, step.span)
    return [*before, loop] if step.tests_first else [loop]


def _leave(step: Leave, scope: Scope) -> list[Statement]:
    if step.to != "return" and not scope.loops:
        raise scope.reject("no-loop", step.span, word=step.to.upper())
    if step.condition is None:
        return [Jump(step.to, step.span)]
    if scope.world.dialect.name not in OPEN_DIALECTS:
        raise scope.reject("unexpected", step.span, found="'('", what=step.to.upper(), key="(")
    return [Branch(_condition(step.condition, scope, "the condition of RETURN"), (Jump(step.to, step.span),),
                   span=step.span)]


# Jumps to labels, which are read and not run.


def find_jumps(steps: Sequence[Step]) -> Iterator[Foreign]:
    """The jumps and labels among statements, and each __TRY that is left by RETURN, EXIT or CONTINUE; what runs is not
    known where there is one."""
    for step in steps:
        if isinstance(step, Foreign) and (step.jumps_to or step.label or _is_left(step.body)):
            yield step
        for part in (*(part for _, part in getattr(step, "arms", ())), getattr(step, "otherwise", ()),
                     getattr(step, "body", ())):
            yield from find_jumps(part)


def _is_left(steps: Sequence[Step]) -> bool:
    """Whether a RETURN, an EXIT or a CONTINUE is among statements."""
    return any(isinstance(step, Leave) or any(map(_is_left, (
        *(part for _, part in getattr(step, "arms", ())), getattr(step, "otherwise", ()), getattr(step, "body", ()))))
        for step in steps)


def check_jumps(jumps: Sequence[Foreign], scope: Scope) -> None:
    """Whether each jump has its label, and each label a name of its own."""
    labels: dict[str, Foreign] = {}
    for one in jumps:
        if one.label and (first := labels.setdefault(one.label, one)) is not one:
            scope.report("declared-twice", one.span, name=one.label, what="label", line=first.span.line)
    for one in jumps:
        if one.jumps_to and one.jumps_to not in labels:
            scope.report("no-label", one.span, name=one.jumps_to, near=find_nearest(one.jumps_to, list(labels)))


def lose_all(unit: Unit, signature: Signature, scope: Scope) -> tuple[Statement, ...]:
    """What a body that is not there may do: give any value to its own variables and to global ones."""
    why = f"the body of {unit.name.text}, which is not there"
    scope.report("gap-body", unit.name.span, name=unit.name.text)
    own = [one for one in signature.variables if one.section not in ("constant", "input")]
    shared = [one for one in scope.world.globals.values() if one.section != "constant"]
    scope.used_globals.update(one.name for one in shared)
    return tuple(Assign(Place(one.name, (), one.type), Unknown(why, one.type, unit.span), unit.span)
                 for one in (*own, *shared) if not is_lost(one.type))
