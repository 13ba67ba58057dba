"""Give types (named ones, arrays, structures, enumerations, data of blocks) their meaning, and variables a value."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace

from chatdev.departments.plc.st.bit_layout import NoLayout, check_overlap, find_parts, share_parts
from chatdev.departments.plc.st.coerce import coerce, settle
from chatdev.departments.plc.st.core import (
    Array,
    Constant,
    Convert,
    Field,
    Place,
    Record,
    Scalar,
    Span,
    Type,
    Unknown,
    Value,
    initial_value,
)
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.elaborate_expression import elaborate, elaborate_constant
from chatdev.departments.plc.st.elaborate_place import opaque_type, why_unknown
from chatdev.departments.plc.st.functions import (
    BOOL,
    DINT,
    INT,
    SCALARS,
    UNKNOWN_TYPE,
    UNSUPPORTED,
    base_of,
    describe_type,
    find_scalar,
    is_opaque,
    keep_bits,
    range_of,
    round_real,
)
from chatdev.departments.plc.st.instances import DISPATCH, is_numbered, numbered_type
from chatdev.departments.plc.st.scope import OPEN, OPEN_DIALECTS, Reject, Scope, UnknownValue, World
from chatdev.departments.plc.st.syntax import (
    ArrayOf,
    Declaration,
    EnumOf,
    Initials,
    Member,
    Name,
    Node,
    PointerTo,
    StructOf,
    TypeName,
    TypeNode,
    TypeOf,
)

MOST_NUMBERS = 1_000_000
"""So far apart the numbers of an enumeration may lie."""
MOST_TYPES = 50
"""So many types may contain each other in a row."""


class Types:
    """The types of a source, found as they are asked for. `find_block` gives the data of a function block by its
    lower-case name, or nothing if there is no such block."""

    def __init__(self, world: World, declarations: Sequence[Declaration],
                 find_block: Callable[[str, Span], Record | None], blocks: Sequence[str],
                 interfaces: Container[str] = (), opened: Container[str] = ()) -> None:
        self._world = world
        self._find_block = find_block
        self._blocks = blocks
        self._declared: dict[str, Declaration] = {}
        self._open: set[str] = set()
        self._opened = opened
        self._interfaces = interfaces
        for declaration in declarations:
            self._note(declaration)

    def resolve_all(self) -> None:
        """Look at every declared type, so that its errors are reported and its values are known."""
        for key, declaration in self._declared.items():
            try:
                self._find(key, declaration.names[0].span)
            except Reject:
                self._world.lost.add(key)

    def resolve(self, node: TypeNode, scope: Scope, name: str = "") -> tuple[Type, Value]:
        """A type and the value that its variables begin with; `name` is that of an enumeration or structure.
        Raises Reject, with the error reported, if there is no such type."""
        try:
            return self._resolve(node, scope, name)
        except UnknownValue as unknown:
            return opaque_type(name or "a type", str(unknown)), 0

    def _resolve(self, node: TypeNode, scope: Scope, name: str) -> tuple[Type, Value]:
        if isinstance(node, TypeName):
            return self._resolve_name(node, scope)
        if isinstance(node, ArrayOf):
            return self._resolve_array(node, scope, name)
        if isinstance(node, PointerTo):
            return self._resolve_pointer(node, scope)
        if isinstance(node, TypeOf):
            found = settle(elaborate_constant(node.value, scope, "a constant")).type
            return found, initial_value(found)
        if isinstance(node, EnumOf):
            enumeration = self._resolve_values(node, scope, name)
            self._world.unnamed |= {enumeration} if name.lower() not in self._declared else set()
            return enumeration, initial_value(enumeration)
        record = self._resolve_struct(node, scope, name)
        return _unite_parts(record, node, scope) if node.is_union else (record, initial_value(record))

    def resolve_followed(self, node: PointerTo, scope: Scope) -> Type:
        """The type of a reference or pointer of which it is known what it stands for."""
        return self._resolve_pointer(node, scope, is_followed=True)[0]

    def _resolve_pointer(self, node: PointerTo, scope: Scope, is_followed: bool = False) -> tuple[Type, Value]:
        """A pointer's value is never known; what it points to has a type."""
        if not is_followed:
            scope.report("gap-reference" if node.is_reference else "gap-pointer", node.span)
        key = node.target.name.key if isinstance(node.target, TypeName) else ""
        is_open = key in self._open or key in self._opened
        target = UNKNOWN_TYPE if is_open else self.resolve(node.target, scope)[0]
        type_ = opaque_type(f"{'REFERENCE' if node.is_reference else 'POINTER'} TO {describe_type(target)}",
                            "references" if node.is_reference else "pointers")
        self._world.pointees[type_.name] = target
        return type_, 0

    def _note(self, declaration: Declaration) -> None:
        for name in declaration.names:
            if name.key in self._declared or name.key in SCALARS:
                self._world.findings.report("declared-twice", name.span, name=name.text, what="type", line=0)
            elif declaration.type is None:
                self._world.lost.add(name.key)
            else:
                self._declared[name.key] = declaration

    def _find(self, key: str, span: Span) -> tuple[Type, Value]:
        """A type that the source declares."""
        if key in self._world.types:
            return self._world.types[key]
        if key in self._open:
            raise Scope(self._world, {}).reject("recursive-type", span, name=self._declared[key].names[0].text)
        if len(self._open) == MOST_TYPES:
            raise Scope(self._world, {}).reject("deep-calls", span, most=MOST_TYPES)
        self._open.add(key)
        try:
            declaration = self._declared[key]
            assert declaration.type is not None
            scope = Scope(self._world, {}, broken=self._world.broken)
            found, initial = self.resolve(declaration.type, scope, declaration.names[0].text)
            self._world.measure(found, declaration.names[0].text, declaration.names[0].span)
            if declaration.initial is not None:
                self._world.types[key] = found, initial
                found, initial = begin_with(declaration.initial, found, initial, scope)
        finally:
            self._open.discard(key)
        self._world.types[key] = found, initial
        return found, initial

    def _resolve_name(self, node: TypeName, scope: Scope) -> tuple[Type, Value]:
        key = node.name.key
        found: tuple[Type, Value] | None = None
        if key in SCALARS:
            scalar = self._measure_text(find_scalar(key, scope.world.dialect.name), node, scope)
            found = scalar, initial_value(scalar)
        elif key in self._declared:
            found = self._find(key, node.name.span)
        elif (record := self._find_block(key, node.name.span)) is not None:
            found = record, initial_value(record)
        elif key in self._interfaces:
            found = self._resolve_interface(node.name, scope), 0
        if found is None and key in UNSUPPORTED:
            scope.report("gap-type", node.name.span, name=node.name.text.upper())
            found = opaque_type(node.name.text.upper(), f"the type {node.name.text.upper()}"), 0
        if found is None and self._world.dialect.allows_missing:
            missing = scope.miss(node.name.text, node.name.span)
            found = opaque_type(node.name.text, missing.why), 0
        if found is None:
            raise self._reject_unknown(node.name)
        return self._limit(found[0], node.limits, scope) if node.limits else found

    def _resolve_interface(self, name: Name, scope: Scope) -> Type:
        """The number of an instance where all of them are known; else nothing is known of it."""
        if self._world.is_closed:
            return numbered_type(name.text)
        scope.report("gap-dispatch", name.span)
        return opaque_type(name.text, DISPATCH)

    def _measure_text(self, scalar: Scalar, node: TypeName, scope: Scope) -> Scalar:
        """A STRING of so many characters; without a length, of as many as the dialect has."""
        if scalar.name not in ("STRING", "WSTRING"):
            return scalar
        usual = 254 if scope.world.dialect.name == "siemens" else 80
        most = _whole(node.length, DINT, scope, "the length of a STRING") if node.length else usual
        return replace(scalar, high=max(most, 0))

    def _reject_unknown(self, name: Name) -> Reject:
        if name.key not in self._world.lost and not self._world.broken:
            known = [*(one.upper() for one in SCALARS), *self._blocks,
                     *(one.names[0].text for one in self._declared.values())]
            self._world.findings.report("unknown-type", name.span, name=name.text, near=find_nearest(name.text, known),
                                        unsupported=name.key in UNSUPPORTED)
        return Reject()

    def _limit(self, type_: Type, limits: tuple[Node, Node], scope: Scope) -> tuple[Type, Value]:
        is_open = scope.world.dialect.name in OPEN_DIALECTS
        if not isinstance(type_, Scalar) or (type_.kind != "int" and not (is_open and type_.kind == "bits")):
            raise scope.reject("no-subrange", limits[0].span, type=describe_type(type_))
        low, high = (_whole(limit, type_, scope, "the limit of a subrange") for limit in limits)
        if low > high:
            raise scope.reject("empty-range", limits[0].span, low=low, high=high)
        limited = Scalar(type_.name, type_.kind, type_.bits, type_.signed, low=low, high=high)
        return limited, initial_value(limited)

    def _resolve_array(self, node: ArrayOf, scope: Scope, name: str) -> tuple[Type, Value]:
        found, value = self.resolve(node.element, scope, name)
        if node.given and not is_opaque(found) and not (isinstance(found, Record) and found.block):
            raise scope.reject("no-arguments", node.span, type=describe_type(found))
        for bounds in reversed(node.bounds):
            if bounds is None:
                found, value = Array(found, 0, OPEN), []
                continue
            low, high = (_whole(bound, DINT, scope, "the bound of an array") for bound in bounds)
            if low > high:
                raise scope.reject("empty-range", bounds[0].span, low=low, high=high)
            found = Array(found, low, high)
            scope.world.measure(found, name, node.span)
            value = [value] * (high - low + 1)
        return found, value

    def _resolve_values(self, node: EnumOf, scope: Scope, name: str) -> Scalar:
        """An enumeration; its values are known by their names from then on. Numbers that none has are left empty."""
        base = SCALARS.get(node.base, INT)
        base = base if base.kind in ("int", "bits") else INT
        numbers: dict[int, str] = {}
        seen: set[str] = set()
        following = 0
        for value, said in node.values:
            if said is not None:
                following = _whole(said, base, scope, "a value of an enumeration")
            if value.key in seen or following in numbers:
                raise scope.reject("declared-twice", value.span, name=value.text, what="value", line=0)
            seen.add(value.key)
            numbers[following] = value.text
            following += 1
        low, high = min(numbers), max(numbers)
        if high - low > MOST_NUMBERS:
            raise scope.reject("wide-enumeration", node.span, low=low, high=high, most=MOST_NUMBERS)
        names = tuple(numbers.get(number, "") for number in range(low, high + 1))
        enumeration = Scalar(name or "enumeration", "enum", base.bits, base.signed, names, low, high)
        for number, text in numbers.items():
            self._world.values.setdefault(text.lower(), []).append((enumeration, number))
        return enumeration

    def _resolve_struct(self, node: StructOf, scope: Scope, name: str) -> Record:
        fields: dict[str, Field] = {}
        if node.base is not None:
            base = self._resolve_name(TypeName(node.base), scope)[0]
            if not isinstance(base, Record):
                raise UnknownValue(describe_type(base)) if is_opaque(base) else scope.reject(
                    "no-base", node.base.span, name=node.base.text, what="a structure")
            fields = {part.name: part for part in base.fields}
            self._world.bases[(name or "structure").lower()] = node.base.key
        for declaration in node.parts:
            if declaration.type is None:
                raise Reject
            is_bit = _is_bit(declaration.type, scope)
            found, initial = (BOOL, False) if is_bit else self.resolve(
                declaration.type, scope, declaration.names[0].text)
            self._world.measure(found, declaration.names[0].text, declaration.names[0].span)
            if declaration.initial is not None:
                found, initial = begin_with(declaration.initial, found, initial, scope)
            for part in declaration.names:
                if part.key in fields:
                    raise scope.reject("declared-twice", part.span, name=part.text, what="part", line=0)
                fields[part.key] = Field(part.key, found, initial, written=part.text, is_bit=is_bit)
        return Record(name or "structure", tuple(fields.values()))


def _is_bit(node: TypeNode, scope: Scope) -> bool:
    """Whether it is a BOOL that takes one bit of a structure, as CODESYS and TwinCAT have it."""
    return isinstance(node, TypeName) and node.name.key == "bit" and scope.world.dialect.name in OPEN_DIALECTS


def _unite_parts(record: Record, node: StructOf, scope: Scope) -> tuple[Type, Value]:
    """A UNION of these parts; nothing is known of one whose parts do not lie in one place for sure."""
    union, dialect = replace(record, is_union=True), scope.world.dialect.name
    try:
        check_overlap(find_parts(union), dialect)
        value = {part.name: part.initial for part in union.fields}
        for part in union.fields:
            if part.initial != initial_value(part.type):
                value = share_parts(value, part.name, union, dialect)
    except NoLayout as why:
        scope.report("gap-union", node.span, why=why, open=dialect == "iec")
        return opaque_type(record.name, "unions"), 0
    return replace(union, fields=tuple(replace(part, initial=value[part.name]) for part in union.fields)), value


def _whole(node: Node, type_: Scalar, scope: Scope, what: str) -> int:
    """An integer that is known before the program runs."""
    constant = coerce(elaborate_constant(node, scope, what), base_of(type_), scope, what)
    if not isinstance(constant, Constant):
        raise scope.reject("not-constant", node.span, what=what)
    return int(constant.value)


# The values that variables begin with.


def begin_with(initials: Initials, type_: Type, default: Value, scope: Scope) -> tuple[Type, Value]:
    """The type and the value that a variable begins with; nothing is known of one whose value is not."""
    try:
        return type_, elaborate_initial(initials, type_, default, scope)
    except UnknownValue as unknown:
        return opaque_type(describe_type(type_), str(unknown)), 0


def elaborate_initial(initials: Initials, type_: Type, default: Value, scope: Scope) -> Value:
    """The value that is written; parts that are not have their value of `default`. Raises Reject, with the error
    reported, if it is none of the type, and UnknownValue where it is not there."""
    if is_numbered(type_):
        return _begin_by_number(initials, type_, scope)
    if is_opaque(type_):
        if isinstance(initials.value, Name) and scope.find(initials.value.key) is not None:
            coerce(elaborate(initials.value, scope), type_, scope, "the initial value")
        return 0
    if initials.is_default:
        return default
    if initials.placed:
        return _place_all(initials, type_, default, scope)
    if not isinstance(type_, Scalar):
        return _whole_initial(initials, type_, default, scope)
    if initials.value is None:
        raise scope.reject("initial-form", initials.span, type=describe_type(type_), wanted="a value")
    return _scalar(initials.value, type_, scope)


def _begin_by_number(initials: Initials, type_: Type, scope: Scope) -> Value:
    """A variable of an interface begins with none; of one that begins with an instance it is not known which."""
    value = coerce(elaborate(initials.value, scope), type_, scope, "the initial value") if initials.value else None
    if not isinstance(value, Constant):
        scope.before.clear()
        scope.report("gap-dispatch", initials.span)
        raise UnknownValue(DISPATCH)
    return value.value


def _whole_initial(initials: Initials, type_: Array | Record, default: Value, scope: Scope) -> Value:
    """The value of an array or structure."""
    if isinstance(type_, Array) and initials.parts:
        return _fill_array(_expand(initials, type_, scope), type_, default, initials, scope)
    if isinstance(type_, Record) and initials.names:
        return _fill_record(initials, type_, default, scope)
    if isinstance(type_, Record) and initials.parts and scope.world.dialect.name == "siemens":
        return _fill_in_order(initials, type_, default, scope)
    found = _find_constant(initials.value, type_, scope) if initials.value is not None else None
    if found is None:
        wanted = "[value, 4(value)]" if isinstance(type_, Array) else "(part := value)"
        raise scope.reject("initial-form", initials.span, type=describe_type(type_), wanted=wanted)
    return found


def _find_constant(node: Node, type_: Type, scope: Scope) -> Value | None:
    """The value of a constant structure or array that a variable begins with; None if the name is none's."""
    if not isinstance(node, Name | Member):
        return None
    place = elaborate(node, scope)
    if isinstance(place, Unknown) or is_opaque(place.type):
        raise UnknownValue(place.why if isinstance(place, Unknown) else why_unknown(place.type))
    variable = scope.find(place.root) if isinstance(place, Place) and not place.steps else None
    if variable is None or variable.type != type_:
        return None
    if variable.section != "constant":
        raise _begin_unknown(node, scope)
    return variable.initial


def _begin_unknown(node: Node, scope: Scope) -> Exception:
    """A variable begins with what another one is then, as CODESYS and TwinCAT take it; to be raised."""
    if scope.world.dialect.name not in OPEN_DIALECTS:
        return scope.reject("not-constant", node.span, what="the initial value")
    scope.report("gap-begins", node.span)
    return UnknownValue("what a variable begins with")


def _scalar(node: Node, type_: Scalar, scope: Scope) -> Value:
    what = "the initial value"
    expression = elaborate(node, scope)
    if isinstance(expression, Unknown):
        raise UnknownValue(expression.why)
    expression = coerce(expression, type_, scope, what)
    if isinstance(expression, Convert) and isinstance(expression.operand, Constant) and type_.kind != "bool":
        value = expression.operand.value
        value = round_real(value, type_) if type_.kind == "real" else keep_bits(value, type_)
        expression = Constant(value, type_, node.span)
    if not isinstance(expression, Constant):
        raise _begin_unknown(node, scope)
    if type_.low is not None:
        low, high = range_of(type_)
        if not low <= expression.value <= high:
            raise scope.reject("out-of-range", node.span, value=expression.value, type=type_.name, low=low,
                               high=high)
    return expression.value


def _expand(initials: Initials, type_: Array, scope: Scope) -> list[Initials]:
    """The parts one by one, those with a count so many times."""
    found: list[Initials] = []
    for count, part in initials.parts:
        times = elaborate_constant(count, scope, "how often a value is repeated").value if count else 1
        if not isinstance(times, int) or times < 0 or len(found) + times > _leaves(type_):
            raise scope.reject("too-many-values", part.span, most=_leaves(type_))
        found.extend([part] * times)
    return found


def _leaves(type_: Type) -> int:
    return (type_.high - type_.low + 1) * _leaves(type_.element) if isinstance(type_, Array) else 1


def _fill_array(parts: Sequence[Initials], type_: Array, default: Value, initials: Initials, scope: Scope) -> Value:
    """An array of arrays takes lists, or the values of all of them one after another."""
    size = type_.high - type_.low + 1
    element = type_.element
    values = list(default)
    if isinstance(element, Array) and not any(part.parts for part in parts):
        width = _leaves(element)
        for index in range(0, len(parts), width):
            values[index // width] = _fill_array(parts[index:index + width], element, values[index // width],
                                                 initials, scope)
        return values
    if len(parts) > size:
        raise scope.reject("too-many-values", initials.span, most=size)
    done: dict[int, Value] = {}
    for index, part in enumerate(parts):
        if id(part) not in done:
            done[id(part)] = elaborate_initial(part, element, values[index], scope)
        values[index] = done[id(part)]
    return values


def _fill_record(initials: Initials, type_: Record, default: Value, scope: Scope) -> Value:
    values = dict(default)
    parts = {part.name: part for part in type_.fields if part.section in ("local", "input", "output")}
    for name, inner in initials.names:
        part = _find_field(name, parts, type_, scope)
        values[part.name] = elaborate_initial(inner, part.type, values[part.name], scope)
        if type_.is_union:
            values = _share_initial(values, part.name, type_, scope)
    return values


def _share_initial(value: Value, name: str, union: Record, scope: Scope) -> Value:
    """A UNION of which one part begins with a value."""
    try:
        return share_parts(value, name, union, scope.world.dialect.name)
    except NoLayout as why:
        raise UnknownValue(str(why)) from why


def _find_field(name: Name, parts: Mapping[str, Field], type_: Record, scope: Scope) -> Field:
    if name.key not in parts:
        raise scope.reject("unknown-member", name.span, name=name.text, base=describe_type(type_),
                           near=find_nearest(name.text, list(parts)), known=", ".join(list(parts)[:12]))
    return parts[name.key]


def _fill_in_order(initials: Initials, type_: Record, default: Value, scope: Scope) -> Value:
    """The values of a structure's parts in the order of their declaration, as TIA Portal writes them."""
    if len(initials.parts) > len(type_.fields):
        raise scope.reject("too-many-values", initials.span, most=len(type_.fields))
    values = dict(default)
    for part, (_, inner) in zip(type_.fields, initials.parts, strict=False):
        values[part.name] = elaborate_initial(inner, part.type, values[part.name], scope)
    return values


def _place_all(initials: Initials, type_: Type, default: Value, scope: Scope) -> Value:
    """The values that a DATA_BLOCK gives to parts of its variables, one after another."""
    value = default
    for way, inner in initials.placed:
        value = _place(way, inner, type_, value, scope)
    return value


def _place(way: Sequence[Node], inner: Initials, type_: Type, value: Value, scope: Scope) -> Value:
    if not way or is_opaque(type_):
        return elaborate_initial(inner, type_, value, scope)
    step, *rest = way
    if isinstance(type_, Array):
        at = _whole(step, DINT, scope, "an index")
        if not type_.low <= at <= type_.high:
            raise scope.reject("index-range", step.span, index=at, low=type_.low, high=type_.high)
        values = list(value)
        values[at - type_.low] = _place(rest, inner, type_.element, values[at - type_.low], scope)
        return values
    if not isinstance(type_, Record) or not isinstance(step, Name):
        raise scope.reject("no-parts", step.span, type=describe_type(type_))
    part = _find_field(step, {one.name: one for one in type_.fields}, type_, scope)
    return {**value, part.name: _place(rest, inner, part.type, value[part.name], scope)}


def scalar_of(result: TypeNode | None) -> str | None:
    """The elementary type that a member gives, in capital letters, or `nothing`; None of a type that has another name
    somewhere."""
    if result is None:
        return "nothing"
    key = result.name.key if isinstance(result, TypeName) and result.limits is None else ""
    return key.upper() if key in SCALARS else None


def bound_widely(type_: Type) -> Type:
    """An open array with some bounds, to look at what is never called."""
    if not isinstance(type_, Array):
        return type_
    inner = bound_widely(type_.element)
    return Array(inner, 0, 99) if type_.high == OPEN < type_.low else Array(inner, type_.low, type_.high)
