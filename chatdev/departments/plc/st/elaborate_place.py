"""Find what a name, a member or an element means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from chatdev.departments.plc.st.coerce import coerce, settle
from chatdev.departments.plc.st.core import (
    Array,
    Bit,
    Branch,
    Constant,
    Expression,
    Field,
    Forget,
    Operation,
    Place,
    Record,
    Scalar,
    Type,
    Unknown,
    Variable,
)
from chatdev.departments.plc.st.diagnostics import find_nearest
from chatdev.departments.plc.st.functions import (
    BOOL,
    LINT,
    SCALARS,
    UNKNOWN_TYPE,
    WSTRING,
    describe_type,
    is_opaque,
)
from chatdev.departments.plc.st.instances import DISPATCH, ID, NAMELESS, numbered_type
from chatdev.departments.plc.st.scope import BASE, NO_REFERENT, OPEN_DIALECTS, VIEWS, Scope, constant_of
from chatdev.departments.plc.st.syntax import Address, Invocation, Member, Name, Node, Subscript, Target

Elaborate = Callable[[Node, Scope], Expression]


def elaborate_place(node: Node, scope: Scope, elaborate: Elaborate) -> Place | Bit | Constant | Unknown:
    """A variable or what is in it, the constant of that name, or what is not known there. `elaborate` reads the
    indices."""
    if isinstance(node, Name):
        return find_referent(node, scope, elaborate, "references") or _find_name(node, scope)
    if isinstance(node, Member):
        return _find_value(node, scope) or _find_own(node, scope) or _find_qualified(node, scope) \
            or _enter_member(_base(node.base, scope, elaborate), node, scope)
    if isinstance(node, Subscript):
        return _enter_elements(_base(node.base, scope, elaborate), node, scope, elaborate)
    if isinstance(node, Target):
        return _follow(node, scope, elaborate)
    if isinstance(node, Address):
        return _find_address(node, scope)
    if isinstance(node, Invocation):
        result = elaborate(node, scope)
        if isinstance(result, Place | Unknown):
            return result
        raise scope.reject("result-parts", node.span)
    raise scope.reject("no-place", node.span)


def elaborate_target(node: Node, scope: Scope, elaborate: Elaborate) -> Place | Bit | Unknown:
    """A place that may be written, or what is not known there. Raises Reject, with the error reported, if it is
    none."""
    place = elaborate_place(node, scope, elaborate)
    if isinstance(place, Unknown):
        return place
    if isinstance(place, Constant):
        written = node.text if isinstance(node, Name | Member) else ""
        raise scope.reject("assign-constant", node.span, name=written)
    whole = place.place if isinstance(place, Bit) else place
    variable = scope.find(whole.root)
    if variable is None and whole.steps and any(one.name == whole.root for one in scope.temporaries):
        raise scope.reject("result-parts", node.span)
    if variable is not None:
        _check_variable(variable, whole, scope)
        _check_member(variable, whole, scope)
    return place


def _check_variable(variable: Variable, place: Place, scope: Scope) -> None:
    """Constants are not written; inputs and the counter of an open FOR should not be."""
    is_read_only = (scope.routine.partition("@")[0], variable.name) in scope.world.read_only
    if variable.section == "constant" or is_read_only:
        raise scope.reject("assign-constant", place.span, name=variable.written)
    if variable.section == "input" and not scope.is_standard:
        scope.report("assign-input", place.span, name=variable.written)
    if variable.name in scope.counters and not place.steps:
        scope.report("assign-counter", place.span, name=variable.written)
    if any(_is_part(place, bound) or _is_part(bound, place) for bound in scope.bounds):
        scope.report("assign-bound", place.span, name=variable.written)


def _is_part(place: Place, whole: Place) -> bool:
    """Whether a place is certainly a part of another one, or that one."""
    return (place.root, *place.steps[:len(whole.steps)]) == (whole.root, *whole.steps) \
        and all(isinstance(step, str | Constant) for step in whole.steps)


def _check_member(variable: Variable, place: Place, scope: Scope) -> None:
    """Of a function block only the inputs are written from outside."""
    if not isinstance(variable.type, Record) or not variable.type.block or len(place.steps) != 1:
        return
    part = scope.world.find_part(variable.type, str(place.steps[0]))
    if part is not None and part.section != "input" and not _is_program(variable.type, scope):
        raise scope.reject("assign-member", place.span, name=f"{variable.written}.{part.name}", section=part.section)


def is_own_instance(node: Node, word: str = "this") -> bool:
    """Whether it is THIS^, or SUPER^."""
    return isinstance(node, Target) and isinstance(node.base, Name) and node.base.key == word


def opaque_type(name: str, why: str) -> Scalar:
    """The type of values of which nothing is known, and why."""
    return Scalar(name, "opaque", 64, signed=False, names=(why,))


def _find_own(node: Member, scope: Scope) -> Place | Constant | Unknown | None:
    """`THIS^.name`: a variable of the block, whatever else has its name here."""
    if not is_own_instance(node.base) and not is_own_instance(node.base, "super"):
        return None
    if scope.kind == "function":
        raise scope.reject("no-instance", node.base.span)
    variable = scope.find_owned(node.key) if node.key in scope.owned else (
        scope.variables.get(node.key) if scope.kind != "member" else None)
    if variable is None and scope.owner in scope.world.partial:
        return Unknown(BASE, UNKNOWN_TYPE, node.span)
    if variable is None:
        raise scope.reject("unknown-member", node.span, name=node.text, base="THIS^", near="", known="")
    return constant_of(variable, node.span) or Place(variable.name, (), variable.type, node.span)


def _find_qualified(node: Member, scope: Scope) -> Place | Constant | Unknown | None:
    """`list.name` of a list of global variables, or of a namespace, of which the dialect tells the names."""
    base = node.base
    if not isinstance(base, Name) or base.key not in scope.world.namespaces or scope.find(base.key) is not None:
        return None
    return _find_name(Name(node.key, node.text, node.span), scope)


def find_referent(name: Name, scope: Scope, elaborate: Elaborate, why: str) -> Place | None:
    """The variable that a reference or pointer of the routine stands for. Where it may stand for none yet, that is
    looked at before."""
    referent, variable = scope.referents.get(name.key), scope.variables.get(name.key)
    if referent is None or variable is None or not is_opaque(variable.type) or why_unknown(variable.type) != why:
        return None
    others, scope.referents = scope.referents, {key: one for key, one in scope.referents.items() if key != name.key}
    try:
        place = elaborate_place(referent.node, scope, elaborate)  # references in a circle stand for nothing
    finally:
        scope.referents = others
    if not isinstance(place, Place) or place.type != scope.world.pointees.get(variable.type.name) or not _outlasts(  # type: ignore[union-attr]
            place, variable, scope):
        return None
    if not referent.is_bound:
        cell = Place(variable.name, (), variable.type, name.span)
        is_none = Operation("=", (cell, Constant(0, variable.type)), BOOL, name.span)
        scope.before.append(Branch(is_none, (Forget(NO_REFERENT, name.span),), span=name.span))
    return replace(place, span=name.span)


def _outlasts(place: Place, variable: Variable, scope: Scope) -> bool:
    """Whether a variable is the same one, and there, as long as a reference may stand for it."""
    root = scope.find(place.root)
    is_kept = scope.kind in ("block", "program") and variable.section != "temp"
    return root is not None and not (is_kept and root.section in ("temp", "in_out"))


def _follow(node: Target, scope: Scope, elaborate: Elaborate) -> Place | Unknown:
    """What a pointer points to."""
    if is_own_instance(node) or is_own_instance(node, "super"):
        if scope.kind == "function":
            raise scope.reject("no-instance", node.span)
        if is_own_instance(node) and (number := _find_own_number(scope, node)) is not None:
            return number
        scope.report("gap-pointer", node.span)
        return Unknown("pointers", UNKNOWN_TYPE, node.span)
    if isinstance(node.base, Name) and (found := find_referent(node.base, scope, elaborate, "pointers")) is not None:
        return found
    base = elaborate_place(node.base, scope, elaborate)
    if not is_opaque(base.type):
        raise scope.reject("no-pointer", node.span, found=describe_type(base.type))
    scope.report("gap-pointer", node.span)
    assert isinstance(base.type, Scalar)
    return Unknown("pointers", scope.world.pointees.get(base.type.name, UNKNOWN_TYPE), node.span)


def _find_own_number(scope: Scope, node: Target) -> Place | None:
    """THIS^ as a value: the number of the instance, where it has one."""
    signature = scope.world.signatures.get(scope.owner)
    variable = scope.owned.get(ID) if scope.kind == "member" else scope.variables.get(ID)
    if variable is None or signature is None:
        return None
    own = scope.find_owned(ID) if scope.kind == "member" else variable
    number = Place(own.name, (), numbered_type(signature.written), node.span)
    is_nameless = Operation("=", (number, Constant(NAMELESS, number.type)), BOOL, node.span)
    scope.before.append(Branch(is_nameless, (Forget(DISPATCH, node.span),), span=node.span))
    return number


_ADDRESSED = {"X": "bool", "B": "byte", "W": "word", "D": "dword", "L": "lword"}


_ADDRESSED_PARTS = "bwdl"


def _find_address(node: Address, scope: Scope) -> Place | Unknown:
    variable = scope.find(node.text.lower())
    if variable is not None and not is_opaque(variable.type):
        return Place(variable.name, (), variable.type, node.span)
    size = node.text[2:3].upper()
    if variable is None:
        scope.report("gap-address", node.span)
    why = why_unknown(variable.type) if variable else "direct addresses"
    return Unknown(why, SCALARS[_ADDRESSED.get(size, "bool")], node.span)


def elaborate_base(node: Node, scope: Scope, elaborate: Elaborate) -> Expression:
    """What stands before a dot or an index: a variable, or what a property gives."""
    is_property = isinstance(node, Name | Member) and node.key in scope.world.properties
    return elaborate(node, scope) if is_property else elaborate_place(node, scope, elaborate)


def _base(node: Node, scope: Scope, elaborate: Elaborate) -> Place | Unknown:
    base = elaborate_base(node, scope, elaborate)
    if isinstance(base, Place) and is_opaque(base.type):
        return Unknown(why_unknown(base.type), UNKNOWN_TYPE, node.span)
    if isinstance(base, Constant) and isinstance(base.type, Scalar) and base.type.kind == "string":
        return Unknown("strings", UNKNOWN_TYPE, node.span)
    if not isinstance(base, Place | Unknown):
        raise scope.reject("no-parts", node.span, type=describe_type(base.type))
    return base


def why_unknown(type_: Type) -> str:
    """Why nothing is known of the values of a type."""
    assert isinstance(type_, Scalar)
    return type_.names[0] if type_.names else type_.name


def _find_name(node: Name, scope: Scope) -> Place | Constant | Unknown:
    if node.key in scope.aliases:
        return scope.aliases[node.key]
    if node.is_quoted and scope.world.dialect.name in OPEN_DIALECTS:
        return Constant(node.text, WSTRING, node.span)
    variable = scope.find(node.key)
    if node.is_quoted and node.key in scope.variables and node.key in scope.world.globals and _is_siemens(scope):
        raise scope.reject("global-hidden", node.span, name=node.text)  # TIA Portal means the global one
    if variable is not None:
        return _find_variable(variable, node, scope)
    return _find_other(node, scope)


def _find_variable(variable: Variable, node: Name, scope: Scope) -> Place | Constant | Unknown:
    if is_opaque(variable.type) and why_unknown(variable.type) == "references":
        scope.report("gap-reference", node.span)
        return Unknown("references", scope.world.pointees.get(variable.type.name, UNKNOWN_TYPE), node.span)  # type: ignore[union-attr]
    if is_opaque(variable.type) and why_unknown(variable.type) == VIEWS:
        return _lose_view(node, variable, scope)
    return constant_of(variable, node.span) or Place(variable.name, (), variable.type, node.span)


def _find_other(node: Name, scope: Scope) -> Place | Constant | Unknown:
    """What a name means that is no variable's: a value of an enumeration, ENO, a text of CODESYS, NULL."""
    values = scope.find_values(node.key)
    if len(values) > 1:
        raise scope.reject("ambiguous-value", node.span, name=node.text,
                           types=", ".join(f"{type_.name}#{node.text}" for type_, _ in values))
    if values:
        return Constant(values[0][1], values[0][0], node.span)
    if node.key == "eno" and scope.routine:
        scope.world.tells_enabled.add(scope.routine)
        scope.aliases[node.key] = scope.add_temporary("eno", BOOL, True)
        return scope.aliases[node.key]
    if node.is_quoted and not _is_siemens(scope):
        return Constant(node.text, WSTRING, node.span)
    if node.key in ("null", "nullptr") and not _is_siemens(scope):
        return Unknown("pointers", UNKNOWN_TYPE, node.span)
    return scope.miss(node.text, node.span)


def _lose_view(node: Name, variable: Variable, scope: Scope) -> Unknown:
    """A view of another variable of which it is not known how it lies upon it."""
    assert isinstance(variable.type, Scalar)
    over, why, type_ = scope.world.views.get(variable.type.name, ("another variable", "it is not there", UNKNOWN_TYPE))
    scope.report("gap-overlay", node.span, name=node.text, over=over, why=why, open=scope.world.dialect.name == "iec")
    return Unknown(VIEWS, type_, node.span)


def _is_siemens(scope: Scope) -> bool:
    return scope.world.dialect.name == "siemens"


def _find_value(node: Member, scope: Scope) -> Constant | None:
    """`Type.Value` of an enumeration, if the base is the name of one and no variable's."""
    if not isinstance(node.base, Name) or scope.find(node.base.key) is not None:
        return None
    type_ = scope.world.types.get(node.base.key, (None, None))[0]
    if not isinstance(type_, Scalar) or type_.kind != "enum":
        return None
    number = scope.world.find_number(type_, node.key)
    if number is None and scope.world.dialect.name == "siemens":
        return None
    if number is None:
        raise scope.reject("unknown-member", node.span, name=node.text, base=type_.name,
                           near=find_nearest(node.text, type_.names), known=", ".join(filter(None, type_.names[:12])))
    return Constant(number, type_, node.span)


def _enter_member(base: Place | Unknown, node: Member, scope: Scope) -> Place | Bit | Unknown:
    type_ = base.type
    if isinstance(base, Unknown):
        part = scope.world.find_part(type_, node.key) if isinstance(type_, Record) else None
        return Unknown(base.why, part.type if part else UNKNOWN_TYPE, node.span)
    if node.key.isdigit():
        return _enter_bit(base, int(node.key), node, scope)
    if node.key[:1] in _ADDRESSED_PARTS and node.key[1:].isdigit() and node.text.startswith("%"):
        return _enter_slice(base, SCALARS[_ADDRESSED[node.key[0].upper()]], int(node.key[1:]), node, scope)
    if not isinstance(type_, Record):
        raise scope.reject("no-parts", node.span, type=describe_type(type_))
    part = scope.world.find_part(type_, node.key)
    if part is None and (located := scope.world.located.get(type_.block, {}).get(node.key)):
        return _find_name(Name(located, node.text, node.span), scope)  # type: ignore[return-value]  # no constant
    if part is None and type_.block in scope.world.partial:
        return Unknown(BASE, UNKNOWN_TYPE, node.span)
    return _enter_part(base, part, type_, node, scope)


def _enter_part(base: Place, part: Field | None, type_: Record, node: Member, scope: Scope) -> Place:
    """A part that is seen from here."""
    if part is None or not _is_visible(part, type_, scope):
        known = [_authors_name(part, type_, scope) for part in type_.fields if _is_visible(part, type_, scope)]
        if part is not None:
            raise scope.reject("private-member", node.span, name=node.text, block=describe_type(type_),
                               known=", ".join(known[:12]), standard=type_.block in scope.world.standard)
        raise scope.reject("unknown-member", node.span, name=node.text, base=_describe_base(node.base, type_),
                           near=find_nearest(node.text, known), known=", ".join(known[:12]))
    return Place(base.root, (*base.steps, node.key), part.type, node.span)


def _is_visible(part: Field, record: Record, scope: Scope) -> bool:
    """Outside of a function block its inputs and outputs are seen, and of a program all; a property sees all, as does
    whoever reads in CODESYS and TwinCAT."""
    return not record.block or part.section in ("input", "output") or scope.sees_all or _is_program(record, scope) or (
        scope.world.dialect.name in OPEN_DIALECTS and record.block not in scope.world.standard)


def _is_program(record: Record, scope: Scope) -> bool:
    return record.block in scope.world.signatures and scope.world.signatures[record.block].kind == "program"


def _authors_name(part: Field, record: Record, scope: Scope) -> str:
    """A part's name as its author wrote it, where that is known."""
    signature = scope.world.signatures.get(record.block)
    variables = signature.variables if signature else ()
    return next((one.written for one in variables if one.name == part.name), part.name)


def _describe_base(node: Node, type_: Record) -> str:
    written = node.text if isinstance(node, Name | Member) else "the element"
    return f"{written} ({describe_type(type_)})"


def _enter_bit(base: Place, index: int, node: Member, scope: Scope) -> Bit:
    type_ = base.type
    if not isinstance(type_, Scalar) or type_.kind not in ("int", "bits"):
        raise scope.reject("no-parts", node.span, type=describe_type(type_))
    if index >= type_.bits:
        raise scope.reject("no-bit", node.span, index=index, type=type_.name, last=type_.bits - 1)
    return Bit(base, index, BOOL, node.span)


def _enter_slice(base: Place, part: Scalar, number: int, node: Member, scope: Scope) -> Bit | Place:
    """`word.%B1`: a part of a bit string (IEC 61131-3, third edition, 6.4.4.5); parts are counted from the lowest."""
    type_ = base.type
    if not isinstance(type_, Scalar) or type_.kind not in ("int", "bits"):
        raise scope.reject("no-parts", node.span, type=describe_type(type_))
    if (number + 1) * part.bits > type_.bits:
        raise scope.reject("no-slice", node.span, name=node.text, type=type_.name, count=type_.bits // part.bits,
                           part=part.name)
    return Bit(base, number * part.bits, part, node.span) if part.bits < type_.bits or type_.kind == "int" else base


def _enter_elements(base: Place | Unknown, node: Subscript, scope: Scope, elaborate: Elaborate) -> Place | Unknown:
    place = base
    if isinstance(place, Place) and isinstance(place.type, Scalar) and place.type.kind == "string":
        scope.report("gap-character", node.span)
        place = Unknown("strings", UNKNOWN_TYPE, node.span)
    for index in node.indices:
        if isinstance(place, Unknown):
            elaborate(index, scope)
            element = place.type.element if isinstance(place.type, Array) else UNKNOWN_TYPE
            place = Unknown(place.why, element, node.span)
            continue
        if not isinstance(place.type, Array):
            raise scope.reject("no-elements", node.span, type=describe_type(base.type), count=len(node.indices),
                               array=isinstance(base.type, Array))
        step = _elaborate_index(index, place.type, scope, elaborate)
        place = Place(place.root, (*place.steps, step), place.type.element, node.span)
    return place


def _elaborate_index(node: Node, array: Array, scope: Scope, elaborate: Elaborate) -> Expression:
    index = elaborate(node, scope)
    type_ = index.type
    if is_opaque(type_):
        return coerce(index, LINT, scope, "an index")
    if isinstance(type_, Scalar) and type_.kind == "bits" and not isinstance(index, Constant):
        index = coerce(index, LINT, scope, "an index")
    elif not isinstance(type_, Scalar) or type_.kind not in ("int", "enum"):
        raise scope.reject("wrong-index", node.span, found=describe_type(type_))
    if isinstance(index, Constant) and not array.low <= index.value <= array.high:
        raise scope.reject("index-range", node.span, index=index.value, low=array.low, high=array.high)
    return settle(index)


