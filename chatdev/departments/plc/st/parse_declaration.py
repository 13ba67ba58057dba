"""Read declarations of variables and types: names, their type, and what they begin with."""

from __future__ import annotations

from chatdev.departments.plc.st.core import NOWHERE, Section
from chatdev.departments.plc.st.diagnostics import Fix
from chatdev.departments.plc.st.parse_expression import parse_arguments, parse_expression, parse_literal, take_name
from chatdev.departments.plc.st.syntax import (
    Argument,
    ArrayOf,
    Declaration,
    EnumOf,
    Initials,
    Name,
    Node,
    PointerTo,
    StructOf,
    TypeName,
    TypeNode,
    TypeOf,
)
from chatdev.departments.plc.st.tokens import (
    BOUNDARIES,
    KEYWORDS,
    Cursor,
    SyntaxStop,
    Token,
    pass_region,
)


def parse_declarations(cursor: Cursor, opener: Token, end: str, section: Section = "local") -> list[Declaration]:
    """The declarations up to the word that ends them, which is taken.

    What cannot be read is passed over up to the next `;`; its names are kept, with a type of None.
    """
    found: list[Declaration] = []
    while cursor.token.kind != "end" and cursor.token.key != end and not _leaves_section(cursor, section):
        if cursor.token.kind == "foreign" or cursor.token.key == ";":
            cursor.take()
            continue
        if pass_region(cursor):
            continue
        names: list[Name] = []
        try:
            found.append(_parse_declaration(cursor, names, section))
        except SyntaxStop:
            cursor.broken = cursor.broken or not names
            found.append(Declaration(tuple(names), None, None, section))
            _skip_declaration(cursor)
    cursor.close(opener, end)
    return found


def parse_type(cursor: Cursor) -> TypeNode:
    """What stands behind the `:` of a declaration."""
    token = cursor.token
    if token.key == "ARRAY":
        return _parse_array(cursor)
    if token.key == "STRUCT" or (token.key == "union" and cursor.ahead(2).key in (":", ",")):
        return _parse_struct(cursor)
    if token.key == "(":
        return _parse_values(cursor)
    if token.kind != "name":
        raise cursor.stop("expected", expected="a type", after="':'")
    name = take_name(cursor)
    if token.key in _POINTERS and (cursor.token.key == "TO" or token.key == "ref_to"):
        return _parse_pointer(cursor, token)
    if token.key in ("string", "wstring") and cursor.token.key in ("[", "("):
        closer = "]" if cursor.take().key == "[" else ")"
        length = parse_expression(cursor)
        cursor.expect(closer, "the length of a string")
        return TypeName(name, length=length)
    return _parse_name(cursor, name)


_POINTERS = ("pointer", "reference", "ref_to")


def _parse_struct(cursor: Cursor) -> TypeNode:
    """A STRUCT or a UNION."""
    opener = cursor.take()
    cursor.accept("overlap")
    with cursor.nest():
        parts = parse_declarations(cursor, opener, f"END_{opener.key.upper()}")
    return StructOf(tuple(parts), opener.span, is_union=opener.key == "union")


def _parse_pointer(cursor: Cursor, opener: Token) -> TypeNode:
    """What follows POINTER, REFERENCE or REF_TO."""
    cursor.accept("TO")
    with cursor.nest():
        target = parse_type(cursor)
    return PointerTo(target, opener.key == "reference", cursor.span_from(opener.span))


def _parse_name(cursor: Cursor, name: Name) -> TypeNode:
    """A type by its name, with what stands before its dots and the limits behind it."""
    prefix = name.key
    while cursor.token.key == "." and cursor.ahead().kind == "name":
        cursor.take()
        name = take_name(cursor)
    prefix = prefix if prefix != name.key else ""
    if pass_constants(cursor):
        if cursor.token.key == "(":
            parse_arguments(cursor)
        return GENERIC
    return _parse_limits(cursor, name) if cursor.token.key == "(" else TypeName(name, prefix=prefix)


GENERIC = TypeName(Name("generic constants", "generic constants", NOWHERE))
"""The type of a variable of which generic constants (`List<5>`) tell what it is."""


def pass_constants(cursor: Cursor) -> bool:
    """Whether generic constants stand here, `<5, N>`, which are passed over."""
    if cursor.token.key != "<":
        return False
    opener = cursor.take()
    depth = 1
    while depth and cursor.token.key not in (";", ":=", "") and cursor.token.line == opener.line:
        depth += {"<": 1, ">": -1}.get(cursor.take().key, 0)
    if depth:
        raise cursor.stop("expected", expected="'>'", after="generic constants")
    return True


def parse_initials(cursor: Cursor) -> Initials:
    """What stands behind the `:=` of a declaration."""
    token = cursor.token
    if token.key == "[":
        return _parse_elements(cursor)
    cursor.accept("STRUCT")
    if cursor.token.key == "(" and cursor.ahead().key == ")":
        return Initials(cursor.span_from((cursor.take(), cursor.take())[0].span))
    if cursor.token.key == "(" and cursor.ahead().kind == "name" and cursor.ahead(2).key == ":=":
        return _parse_named(cursor)
    if cursor.token.key == "(" and _is_list(cursor):
        return _parse_elements(cursor, ")")
    if token.kind == "integer" and cursor.ahead().key == "(":
        return Initials(token.span, parts=(_parse_element(cursor),))
    value = parse_expression(cursor)
    return Initials(value.span, value)


def _parse_declaration(cursor: Cursor, names: list[Name], section: Section) -> Declaration:
    names.append(_parse_new_name(cursor))
    while cursor.accept(","):
        names.append(_parse_new_name(cursor))
    address, over = _parse_place(cursor)
    if section == "constant" and cursor.token.key == ":=" and cursor.previous.kind == "name":
        return _parse_constant(cursor, names)
    if cursor.token.key == ":=" or not cursor.accept(":"):
        code = "type-first" if cursor.token.kind == "name" else "expected"
        raise cursor.stop(code, expected="':' and a type", after="the name of a variable")
    type_ = parse_type(cursor)
    initial = _parse_beginning(cursor, isinstance(type_, ArrayOf))
    edge = cursor.take().key.replace("edge", "trig") if cursor.token.key in ("r_edge", "f_edge") else ""
    if not (isinstance(type_, StructOf) and cursor.token.key != ";"):
        cursor.finish_statement("a declaration")
    return Declaration(tuple(names), type_, initial, section, cursor.span_from(names[0].span), edge,
                       address=address, over=over)


def _parse_place(cursor: Cursor) -> tuple[str, Name | None]:
    """The address, or the variable, that stands behind AT."""
    if not cursor.accept("AT"):
        return "", None
    if cursor.token.kind == "name":
        return "", take_name(cursor)
    return cursor.take().text.upper(), None


def _parse_constant(cursor: Cursor, names: list[Name]) -> Declaration:
    """`name := value`, whose type is the value's."""
    cursor.take()
    value = parse_initials(cursor)
    cursor.finish_statement("a declaration")
    if value.value is None:
        raise SyntaxStop
    return Declaration(tuple(names), TypeOf(value.value), value, "constant", cursor.span_from(names[0].span))


def _parse_beginning(cursor: Cursor, is_array: bool) -> Initials | None:
    """What a variable begins with, if that is said; of a reference what it stands for."""
    if cursor.token.key == "ref" and cursor.ahead().key == "=":
        cursor.take()
        cursor.take()
        value = parse_expression(cursor)
        return Initials(value.span, value)
    if cursor.token.key == "=":
        cursor.findings.report("equals-assigns", cursor.token.span, Fix.instead(cursor.token.span, ":="))
    elif cursor.token.key != ":=":
        return None
    cursor.take()
    initial = parse_initials(cursor)
    return _parse_rest(cursor, initial) if cursor.token.key == "," and is_array else initial


def _parse_new_name(cursor: Cursor) -> Name:
    token = cursor.token
    if token.key in KEYWORDS and cursor.ahead().key in (":", ",", "AT"):
        cursor.take()
        cursor.findings.report("reserved-name", token.span, name=token.text)
        raise SyntaxStop
    if token.kind != "name":
        raise cursor.stop("no-declaration")
    return take_name(cursor)


def _leaves_section(cursor: Cursor, section: Section) -> bool:
    """Whether something follows that is no declaration, so that the section's end is missing."""
    token, behind = cursor.token, cursor.ahead()
    if section == "constant" and behind.key == ":=":
        return False
    if token.key in BOUNDARIES:
        return behind.key not in (":", ",") or token.key.startswith("END_")
    return token.kind == "name" and behind.key in (":=", "(", "[", ".")


def _skip_declaration(cursor: Cursor) -> None:
    while cursor.token.kind != "end" and not cursor.accept(";"):
        if cursor.token.key in BOUNDARIES and cursor.ahead().key not in (":", ","):
            return
        cursor.take()


def _parse_array(cursor: Cursor) -> TypeNode:
    opener = cursor.take()
    cursor.expect("[", "ARRAY")
    bounds = [_parse_open_bounds(cursor)]
    while cursor.accept(","):
        bounds.append(_parse_open_bounds(cursor))
    cursor.expect("]", "the bounds of an array")
    cursor.expect("OF", "the bounds of an array")
    with cursor.nest():
        element = parse_type(cursor)
    given = _parse_given(cursor) if cursor.token.key == "[" and cursor.ahead().key == "(" else ()
    return ArrayOf(tuple(bounds), element, cursor.span_from(opener.span), given)


def _parse_given(cursor: Cursor) -> tuple[tuple[Argument, ...], ...]:
    """`[(1), (size := 2)]`: what FB_init is given for each element."""
    cursor.take()
    given = [parse_arguments(cursor)]
    while cursor.accept(","):
        given.append(parse_arguments(cursor))
    cursor.expect("]", "the arguments of FB_init")
    return tuple(given)


def _parse_open_bounds(cursor: Cursor) -> tuple[Node, Node] | None:
    return None if cursor.accept("*") else _parse_bounds(cursor)


def _parse_bounds(cursor: Cursor) -> tuple[Node, Node]:
    low = parse_expression(cursor)
    if not cursor.accept(".."):
        raise cursor.stop("expected", expected="'..'", after="the lower bound")
    return low, parse_expression(cursor)


def _parse_values(cursor: Cursor) -> TypeNode:
    """`(Idle, Running := 5)`, and a type behind it that says how wide it is."""
    opener = cursor.take()
    values: list[tuple[Name, Node | None]] = []
    while True:
        if cursor.token.kind != "name":
            raise cursor.stop("expected", expected="the name of a value", after=f"'{cursor.previous.text}'")
        name = take_name(cursor)
        number = parse_expression(cursor) if cursor.accept(":=") else None
        values.append((name, number))
        if not cursor.accept(","):
            break
    cursor.expect(")", "the values of an enumeration")
    base = cursor.take().key if cursor.token.kind == "name" else ""
    return EnumOf(tuple(values), cursor.span_from(opener.span), base)


def _parse_limits(cursor: Cursor, name: Name) -> TypeNode:
    """`INT (0..100)`; `INT (Idle := 0, …)` is an enumeration, and `Block (size := 3)` gives arguments to FB_init."""
    if name.key in _INTEGERS and cursor.ahead().kind == "name" and cursor.ahead(2).key in (":=", ",", ")"):
        return _parse_values(cursor)
    if name.key not in _INTEGERS and not _has_limits(cursor):
        return TypeName(name, arguments=parse_arguments(cursor))
    cursor.take()
    limits = _parse_bounds(cursor)
    cursor.expect(")", "the limits of a subrange")
    return TypeName(name, limits)


def _has_limits(cursor: Cursor) -> bool:
    """Whether `..` stands in the bracket that begins here."""
    depth = 0
    for distance in range(_MOST_AHEAD):
        key = cursor.ahead(distance).key
        depth += (key == "(") - (key == ")")
        if not depth or key in (";", "END_VAR"):
            return False
        if key == ".." and depth == 1:
            return True
    return False


_MOST_AHEAD = 200
_INTEGERS = frozenset(("sint", "int", "dint", "lint", "usint", "uint", "udint", "ulint", "byte", "word", "dword",
                       "lword"))


def _is_list(cursor: Cursor) -> bool:
    """Whether the bracket holds nothing, or the values of a structure in their order."""
    depth = distance = 0
    while (key := cursor.ahead(distance).key) not in (";", "") or not distance:
        depth += (key in ("(", "[")) - (key in (")", "]"))
        if not depth:
            return distance == 1
        if key == "," and depth == 1:
            return True
        distance += 1
    return False


def _parse_elements(cursor: Cursor, closer: str = "]") -> Initials:
    opener = cursor.take()
    parts = []
    with cursor.nest():
        while cursor.token.key != closer:
            parts.append(_parse_element(cursor))
            if not cursor.accept(","):
                break
    cursor.expect(closer, "the values of an array" if closer == "]" else "the values of a structure")
    return Initials(cursor.span_from(opener.span), parts=tuple(parts))


def _parse_rest(cursor: Cursor, first: Initials) -> Initials:
    """`1, 2, 3(0)` from the first comma on."""
    parts: list[tuple[Node | None, Initials]] = list(first.parts) if first.parts else [(None, first)]
    while cursor.accept(","):
        parts.append(_parse_element(cursor))
    return Initials(cursor.span_from(first.span), parts=tuple(parts))


def _parse_element(cursor: Cursor) -> tuple[Node | None, Initials]:
    """A value, or `4(value)`, which stands for so many of them."""
    if cursor.ahead().key != "(" or cursor.token.kind not in ("integer", "name"):
        return None, parse_initials(cursor)
    count = parse_literal(cursor) if cursor.token.kind == "integer" else take_name(cursor)
    cursor.take()
    inner = parse_initials(cursor)
    cursor.expect(")", "the value that is repeated")
    return count, inner


def _parse_named(cursor: Cursor) -> Initials:
    opener = cursor.take()
    names = []
    with cursor.nest():
        while True:
            if cursor.token.kind != "name":
                raise cursor.stop("expected", expected="the name of a part", after=f"'{cursor.previous.text}'")
            name = take_name(cursor)
            cursor.expect(":=", "the name of a part")
            names.append((name, parse_initials(cursor)))
            if not cursor.accept(","):
                break
    cursor.expect(")", "the values of a structure")
    return Initials(cursor.span_from(opener.span), names=tuple(names))
