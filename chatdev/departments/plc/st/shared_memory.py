"""Variables that lie in the same memory: the parts of a UNION, what is declared AT overlapping addresses, and other
views of a variable. Each has a value of its own, and behind every write to one its bits are carried to the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from chatdev.departments.plc.st.bit_layout import (
    Chunk,
    Layout,
    Leaf,
    NoLayout,
    Window,
    carry,
    check_overlap,
    find_chunks,
    find_parts,
    is_exact,
)
from chatdev.departments.plc.st.core import (
    NOWHERE,
    Array,
    Assign,
    Bit,
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
    Span,
    Statement,
    Type,
    Unknown,
    Value,
    Variable,
)
from chatdev.departments.plc.st.functions import BOOL, DINT, SCALARS
from chatdev.departments.plc.st.scope import Scope, World

_BITS = {8: SCALARS["byte"], 16: SCALARS["word"], 32: SCALARS["dword"], 64: SCALARS["lword"]}
OVERLAP = "variables in the same memory that a call is given"
MOST_UNIONS = 200
"""So many UNIONs of one variable are followed from scan to scan; of more a proof by induction knows less."""
_NAN, _NO_BOOL = "the bits of a NaN", "a BOOL whose byte is neither 0 nor 1"


class Sharing:
    """What is carried in a routine. `shared` are the windows of each variable that has some, by its name."""

    def __init__(self, routine: Routine, shared: Mapping[str, Sequence[Window]], dialect: str) -> None:
        self._routine = routine
        self._shared = shared
        self._dialect = dialect
        self._types = {one.name: one.type for one in routine.variables}
        self._frozen: list[Variable] = []

    def apply(self, views: Iterable[Sequence[Window]]) -> Routine:
        """The routine with all that is carried behind its writes; the `views` of variables begin with what those
        have."""
        body = (*(one for windows in views for one in self._begin(windows)), *self._walk(self._routine.body))
        return replace(self._routine, body=body, variables=(*self._routine.variables, *self._frozen))

    def _begin(self, windows: Sequence[Window]) -> Iterator[Statement]:
        """A call may have written to an input; what the routine keeps is as it was."""
        over = next(one for one in self._routine.variables if one.name == windows[0].root)
        sources = windows[0].leaves(self._dialect)
        for view in windows[1:] if over.section in ("input", "in_out") or is_exact(over.type) else ():
            yield from carry_over(windows[0], sources, sources, view, self._dialect, NOWHERE)

    def _walk(self, statements: Iterable[Statement]) -> tuple[Statement, ...]:
        found: list[Statement] = []
        for one in statements:
            if isinstance(one, Branch):
                found.append(replace(one, then=self._walk(one.then), otherwise=self._walk(one.otherwise)))
            elif isinstance(one, Loop):
                found.append(replace(one, body=self._walk(one.body), after=self._walk(one.after)))
            elif isinstance(one, Assign):
                found += self._assign(one)
            elif isinstance(one, Invoke):
                found += self._invoke(one)
            else:
                found.append(one)
        return tuple(found)

    def _assign(self, one: Assign) -> Iterator[Statement]:
        target = one.target.place if isinstance(one.target, Bit) else one.target
        known = self._freeze(target) if any(self._overlays(target)) else target
        for step, old in zip(known.steps, target.steps, strict=True):
            if step is not old:
                assert isinstance(step, Place)
                assert not isinstance(old, str)
                yield Assign(step, old, one.span)
        yield replace(one, target=replace(one.target, place=known) if isinstance(one.target, Bit) else known)
        yield from self.carry(known, one.span)

    def _invoke(self, call: Invoke) -> Iterator[Statement]:
        """A call writes its outputs and its in-outs; two of those in one memory are not followed."""
        written = [place for _, place in call.in_outs] + [place for place, _ in call.outputs]
        given = [place for name, place in call.in_outs if place != replace(place, root=name, steps=())]
        over = [place for place in written if any(self._overlays(place))]
        if any(self._is_touched(one, other) for one in given for other in written if one is not other) or any(
                _is_open(place) for place in over):
            yield Forget(OVERLAP, call.span)
            return
        yield call
        for place in over:
            yield from self.carry(place, call.span)

    def _is_touched(self, one: Place, other: Place) -> bool:
        """Whether a write to one place is carried to another one."""
        return any((window.root, _names(window.steps)) == (other.root, _names(other.steps)[:len(window.steps)])
                   for windows, number, _ in self._overlays(one) for window in windows if window != windows[number])

    def _freeze(self, place: Place) -> Place:
        """The place with its indices as they are before the write."""
        steps: list[str | Expression] = []
        for step in place.steps:
            if not isinstance(step, str | Constant):
                assert isinstance(step.type, Scalar)
                variable = Variable(f"@index{len(self._frozen) + 1}", step.type, 0, "temp")
                self._frozen.append(variable)
                step = Place(variable.name, (), step.type, step.span)
            steps.append(step)
        return replace(place, steps=tuple(steps))

    def _overlays(self, place: Place) -> Iterator[tuple[Sequence[Window], int, tuple[str | Expression, ...]]]:
        """The memories in which a place lies, the innermost first: their windows, which of them the place lies in, and
        the way from there."""
        found: list[tuple[Sequence[Window], int, tuple[str | Expression, ...]]] = []
        windows = self._shared.get(place.root, ())
        for number, window in enumerate(windows):
            if window.root == place.root:
                found.append((windows, number, place.steps))
        type_ = self._types.get(place.root)
        for depth, step in enumerate(place.steps):
            if isinstance(type_, Array):
                type_ = type_.element
                continue
            if not isinstance(type_, Record):
                break
            if type_.is_union:
                windows = find_parts(type_, place.root, place.steps[:depth])
                number = next(at for at, part in enumerate(type_.fields) if part.name == step)
                found.append((windows, number, place.steps[depth + 1:]))
            type_ = next(part.type for part in type_.fields if part.name == step)
        return reversed(found)

    def carry(self, place: Place, span: Span) -> Iterator[Statement]:
        """What a write to a place changes in the same memory."""
        for windows, number, rest in self._overlays(place):
            window = windows[number]
            sources = window.leaves(self._dialect)
            touched = [leaf for leaf in sources if _is_within(leaf.outer, rest)]
            for other in windows:
                if other is not window:
                    yield from carry_over(window, sources, touched, other, self._dialect, span)


def carry_over(window: Window, sources: Sequence[Leaf], touched: Sequence[Leaf], other: Window, dialect: str,
               span: Span) -> Iterator[Statement]:
    """What a write to some leaves of a window changes in another one."""
    for leaf in other.leaves(dialect, every=True):
        if any(one.first < leaf.end and leaf.first < one.end for one in touched):
            target = Place(other.root, (*other.steps, *leaf.steps), leaf.type, span)
            yield from _Carried(window, target, leaf, find_chunks(leaf, sources, dialect), span).write()


@dataclass(frozen=True, slots=True)
class _Carried:
    """The bits that one leaf gets from those of a window."""

    window: Window
    target: Place
    leaf: Leaf
    chunks: Sequence[Chunk]
    span: Span

    def write(self) -> list[Statement]:
        """The statements; of a NaN the bits are not known."""
        first = self.chunks[0]
        if len(self.chunks) == 1 and first.leaf.type == self.leaf.type and first.width == self.leaf.size:
            return [Assign(self.target, self._place(first.leaf), self.span)]
        statements = self._write_bits()
        for leaf in {one.leaf: None for one in self.chunks if one.leaf.type.kind == "real"}:
            number = self._place(leaf)
            is_number = Operation("=", (number, number), BOOL, self.span)
            unknown = Assign(self.target, Unknown(_NAN, self.leaf.type, self.span), self.span)
            statements = [Branch(is_number, tuple(statements), (unknown,), self.span)]
        return statements

    def _write_bits(self) -> list[Statement]:
        kind, first = self.leaf.type.kind, self.chunks[0]
        if kind in ("int", "bits"):
            if first.width == self.leaf.size:
                return [Assign(self.target, Convert(self._part(first), self.leaf.type), self.span)]
            return [Assign(Bit(self.target, one.to, _part_type(one.width), self.span), self._part(one), self.span)
                    for one in self.chunks]
        if kind == "bool" and self.leaf.size == 1:
            return [Assign(self.target, self._part(first), self.span)]
        whole = self._gather()
        if kind == "bool":
            is_plain = Operation("<=", (whole, Constant(1, whole.type)), BOOL, self.span)
            value = Operation("=", (whole, Constant(1, whole.type)), BOOL, self.span)
            unknown = Assign(self.target, Unknown(_NO_BOOL, BOOL, self.span), self.span)
            return [Branch(is_plain, (Assign(self.target, value, self.span),), (unknown,), self.span)]
        if kind == "real":
            return [Assign(self.target, Call("@OF_BITS", (whole,), self.leaf.type, self.span), self.span)]
        return [Assign(self.target, Convert(whole, self.leaf.type, self.span), self.span)]

    def _gather(self) -> Expression:
        """All bits of the leaf as one bit string, with those that the window does not have as they were."""
        type_ = _BITS[self.leaf.size]
        covered = sum((1 << one.width) - 1 << one.to for one in self.chunks)
        rest = ((1 << type_.bits) - 1) & ~covered
        whole: Expression | None = None
        if rest:
            whole = Operation("and", (_bits_of(self.target, type_), Constant(rest, type_)), type_, self.span)
        for one in self.chunks:
            part: Expression = Convert(self._part(one), type_, self.span)
            if one.to:
                part = Call("SHL", (part, Constant(one.to, DINT)), type_, self.span)
            whole = Operation("or", (whole, part), type_, self.span) if whole else part
        assert whole is not None
        return whole

    def _part(self, chunk: Chunk) -> Expression:
        """The bits of a chunk: a BOOL, or a bit string."""
        leaf, place, type_ = chunk.leaf, self._place(chunk.leaf), _part_type(chunk.width)
        if leaf.type.kind == "bool":
            if leaf.size == 1 or (chunk.width == 1 and chunk.index == 0):
                return place
            return Constant(False, BOOL) if chunk.width == 1 else Convert(place, type_, self.span)
        if chunk.width == leaf.size:
            return _bits_of(place, type_)
        if leaf.type.kind in ("int", "bits"):
            return Bit(place, chunk.index, type_, self.span)
        whole = _BITS[leaf.size]
        moved = Call("SHR", (_bits_of(place, whole), Constant(chunk.index, DINT)), whole, self.span)
        if chunk.width > 1:
            return Convert(moved, type_, self.span)
        one = Operation("and", (moved, Constant(1, whole)), whole, self.span)
        return Operation("=", (one, Constant(1, whole)), BOOL, self.span)

    def _place(self, leaf: Leaf) -> Place:
        return Place(self.window.root, (*self.window.steps, *leaf.steps), leaf.type, self.span)


def _bits_of(place: Place, type_: Scalar) -> Expression:
    """A whole scalar as a bit string."""
    if isinstance(place.type, Scalar) and place.type.kind == "real":
        return Call("@BITS_OF", (place,), type_, place.span)
    return place if place.type == type_ else Convert(place, type_, place.span)


def _part_type(width: int) -> Scalar:
    return BOOL if width == 1 else _BITS[width]


def _is_within(way: Sequence[str | Expression], written: Sequence[str | Expression]) -> bool:
    """Whether what lies at the end of a way may be changed by a write to the end of another one."""
    return all(one == other if isinstance(other, str) else not isinstance(other, Constant) or (
        isinstance(one, Constant) and one.value == other.value) for one, other in zip(way, written, strict=False))


def _names(steps: Sequence[str | Expression]) -> tuple[str, ...]:
    """The names on a way; which element of an array it is does not count."""
    return tuple(step if isinstance(step, str) else "[]" for step in steps)


def _is_open(place: Place) -> bool:
    return any(not isinstance(step, str | Constant) for step in place.steps)


# Programs.


def add_view(name: str, view: tuple[Type, Value], over: Variable, scope: Scope) -> tuple[Type, Value]:
    """The type and the beginning of another view of a variable, which is noted. Raises NoLayout."""
    dialect = scope.world.dialect.name
    window, viewed = Window(name, (), view[0]), Window(over.name, (), over.type)
    if dialect == "iec":
        raise NoLayout("the order of bytes, which the standard leaves open")
    if Layout(dialect).size(view[0]) > Layout(dialect).size(over.type):
        raise NoLayout("it is larger")
    windows = scope.viewed.setdefault(over.name, [viewed])
    check_overlap([*windows, window], dialect)
    windows.append(window)
    scope.viewed[name] = windows
    return view[0], carry(over.initial, viewed, view[1], window, dialect)


def share_memory(program: Program, world: World) -> Program:
    """The program in which all that lies in one memory is the same."""
    dialect, shared = program.dialect.name, world.shared
    routines = {name: _share(one, program, world) for name, one in program.routines.items()}
    entry = routines[program.entry.name]
    begun = tuple(_begin_scan(program.entry, shared, dialect))
    entry = replace(entry, body=(*begun, *entry.body))
    return replace(program, entry=entry, routines={**routines, entry.name: entry})


def _share(routine: Routine, program: Program, world: World) -> Routine:
    """A routine that has such variables."""
    shared, viewed = world.shared, world.viewed.get(routine.name.partition("@")[0], {})
    globals_ = {one.name: one.span for one in program.globals}
    known = {one.name for one in routine.variables if globals_.get(one.name) == one.span} & shared.keys()
    if not known and not viewed and not any(has_union(one.type) for one in routine.variables):
        return routine
    views = {id(one): one for one in viewed.values()}.values()
    return Sharing(routine, {**{name: shared[name] for name in known}, **viewed}, program.dialect.name).apply(views)


def has_union(type_: Type) -> bool:
    """Whether there is a UNION in a value."""
    if isinstance(type_, Array):
        return has_union(type_.element)
    return isinstance(type_, Record) and (type_.is_union or any(has_union(part.type) for part in type_.fields))


def _begin_scan(entry: Routine, shared: Mapping[str, Sequence[Window]], dialect: str) -> Iterator[Statement]:
    """That what lies in one memory is the same when a scan begins: of inputs, which have any value, and for a proof,
    which begins with any state. It follows what tells most of the memory."""
    for memory in {id(one): one for one in shared.values()}.values():
        yield from _follow_first(_by_size(memory, dialect), dialect, entry)
    for variable in entry.variables:
        if variable.section in ("input", "output", "local", "in_out") and variable.name not in shared:
            unions = list(islice(find_unions(Place(variable.name, (), variable.type, variable.span)),
                                 None if variable.section == "input" else MOST_UNIONS + 1))
            for union, type_ in unions if variable.section == "input" or len(unions) <= MOST_UNIONS else ():
                windows = find_parts(type_, union.root, union.steps)
                yield from _follow_first(_by_size(windows, dialect), dialect, entry)


def _by_size(windows: Sequence[Window], dialect: str) -> list[Window]:
    """The windows, the one that tells most of the memory first."""
    layout = Layout(dialect)
    return sorted(windows, key=lambda one: (layout.size(one.type, one.is_bit), is_exact(one.type)), reverse=True)


def _follow_first(windows: Sequence[Window], dialect: str, entry: Routine) -> Iterator[Statement]:
    first = windows[0]
    is_input = any(one.name == first.root and one.section == "input" for one in entry.variables)
    if not is_exact(first.type) and not is_input:
        return
    sources = first.leaves(dialect)
    for other in windows[1:]:
        yield from carry_over(first, sources, sources, other, dialect, NOWHERE)


def find_unions(place: Place) -> Iterator[tuple[Place, Record]]:
    """The places of all UNIONs in a value, the outer ones first."""
    type_ = place.type
    if not has_union(type_):
        return
    if isinstance(type_, Array):
        for index in range(type_.low, type_.high + 1):
            step = Constant(index, DINT)
            yield from find_unions(Place(place.root, (*place.steps, step), type_.element, place.span))
        return
    assert isinstance(type_, Record)
    if type_.is_union:
        yield place, type_
    for part in type_.fields:
        yield from find_unions(Place(place.root, (*place.steps, part.name), part.type, place.span))
