"""Read a whole source: types, global variables, functions, function blocks, programs, and all their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from chatdev.departments.plc.st.core import Section
from chatdev.departments.plc.st.diagnostics import Findings, Fix
from chatdev.departments.plc.st.parse_statement import parse_expression, parse_literal, parse_statements, take_name
from chatdev.departments.plc.st.syntax import (
    ArrayOf,
    Declaration,
    EnumOf,
    Initials,
    Name,
    Node,
    SourceFile,
    Step,
    StructOf,
    TypeName,
    TypeNode,
    Unit,
)
from chatdev.departments.plc.st.tokens import (
    BOUNDARIES,
    KEYWORDS,
    SECTION_WORDS,
    UNIT_ENDS,
    UNIT_WORDS,
    Cursor,
    SyntaxStop,
    Token,
    split_tokens,
)

_SECTIONS: dict[str, Section] = {"VAR": "local", "VAR_STAT": "local", "VAR_INPUT": "input", "VAR_OUTPUT": "output",
                                 "VAR_IN_OUT": "in_out", "VAR_TEMP": "temp"}
_QUALIFIERS = ("CONSTANT", "RETAIN", "non_retain", "persistent")
_KINDS: dict[str, Literal["function", "block", "program"]] = {
    "FUNCTION": "function", "FUNCTION_BLOCK": "block", "PROGRAM": "program"}
_FOREIGN_UNITS = frozenset(("class", "interface", "method", "namespace", "configuration", "resource", "action",
                            "organization_block", "data_block", "sfc", "property"))
_HEADER_NAMES = frozenset(("version", "title", "author", "family", "name", "know_how_protect"))


def parse_source(source: str, findings: Findings, defines: Iterable[str] = ()) -> SourceFile:
    """All that a source declares where these names are defined. What cannot be read is reported and left out."""
    cursor = Cursor(split_tokens(source, findings, defines=defines), findings)
    types: list[Declaration] = []
    variables: list[Declaration] = []
    units: list[Unit] = []
    while cursor.token.kind != "end":
        key = cursor.token.key
        try:
            if key == "TYPE":
                types.extend(_parse_types(cursor))
            elif key == "VAR_GLOBAL":
                variables.extend(_parse_section(cursor))
            elif key in _KINDS:
                units.append(_parse_unit(cursor))
            elif key != ";":
                _pass_over(cursor)
            else:
                cursor.take()
        except SyntaxStop:
            cursor.skip_statement()
    return SourceFile(types, variables, units, cursor.broken or findings.cut)


def _parse_types(cursor: Cursor) -> list[Declaration]:
    opener = cursor.take()
    if cursor.ahead().key == "STRUCT":  # TYPE "Name" STRUCT … without a colon
        found = [Declaration((take_name(cursor),), parse_type(cursor), None)]
        cursor.accept(";")
        return found + parse_declarations(cursor, opener, "END_TYPE")
    found = parse_declarations(cursor, opener, "END_TYPE")
    cursor.accept(";")
    return found


def _parse_unit(cursor: Cursor) -> Unit:
    """From its first word to its END_…, also if that is missing."""
    broken, cursor.broken = cursor.broken, False
    opener = cursor.take()
    name = _parse_unit_name(cursor, opener)
    result = None
    if cursor.accept(":"):
        result = _parse_result(cursor)
    elif opener.key == "FUNCTION":
        cursor.findings.report("no-result", name.span, name=name.text)
    _skip_header(cursor)
    declarations: list[Declaration] = []
    externals: list[Declaration] = []
    body = _parse_parts(cursor, declarations, externals)
    _close_unit(cursor, opener)
    unit = Unit(_KINDS[opener.key], name, result, tuple(declarations), tuple(externals), body, cursor.broken
                or cursor.findings.cut, opener.span)
    cursor.broken = broken
    return unit


def _parse_unit_name(cursor: Cursor, opener: Token) -> Name:
    if cursor.token.kind != "name":
        cursor.findings.report("expected", cursor.token.span, expected="a name", after=opener.key,
                               found=cursor.describe())
        return Name("", "", opener.span)
    return take_name(cursor)


def _parse_result(cursor: Cursor) -> TypeNode | None:
    try:
        result = parse_type(cursor)
    except SyntaxStop:
        return None
    cursor.accept(";")
    return result


def _skip_header(cursor: Cursor) -> None:
    """Lines such as `VERSION : 0.1`, which some dialects have."""
    while cursor.token.key in _HEADER_NAMES and cursor.ahead().key in (":", "="):
        line = cursor.token.line
        while cursor.token.line == line and cursor.token.kind != "end":
            cursor.take()


def _parse_parts(cursor: Cursor, declarations: list[Declaration], externals: list[Declaration]) -> tuple[Step, ...]:
    body: list[Step] = []
    while True:
        key = cursor.token.key
        if key in SECTION_WORDS and key != "VAR_GLOBAL":
            if body:
                cursor.findings.report("late-section", cursor.token.span, found=key)
            (externals if key == "VAR_EXTERNAL" else declarations).extend(_parse_section(cursor))
            continue
        cursor.accept("BEGIN")
        steps = parse_statements(cursor)
        body.extend(steps)
        if cursor.token.key not in SECTION_WORDS - {"VAR_GLOBAL"}:
            return tuple(body)


def _parse_section(cursor: Cursor) -> list[Declaration]:
    opener = cursor.take()
    section = _SECTIONS.get(opener.key, "local")
    while cursor.token.key in _QUALIFIERS and cursor.ahead().key not in (":", ","):
        section = "constant" if cursor.take().key == "CONSTANT" and section == "local" else section
    found = parse_declarations(cursor, opener, "END_VAR", section)
    cursor.accept(";")
    return found


def _close_unit(cursor: Cursor, opener: Token) -> None:
    token, end = cursor.token, f"END_{opener.key}"
    if token.key != end:
        is_slip = token.key in UNIT_ENDS and not cursor.findings.failed  # else it may belong to another unit
        fix = Fix.instead(token.span, end) if is_slip else None
        cursor.findings.report("not-closed", token.span, fix, expected=end, found=cursor.describe(), opener=opener.key,
                               line=opener.line)
        if token.key in UNIT_WORDS or token.key == "VAR_GLOBAL":
            return
    cursor.take()
    cursor.accept(";")


def _pass_over(cursor: Cursor) -> None:
    """Report what stands outside of every unit, once, and go to where something begins."""
    token = cursor.token
    found = cursor.describe()
    passed = [cursor.take()]
    while cursor.token.kind != "end" and not (cursor.token.key in UNIT_WORDS | {"VAR_GLOBAL"}
                                              and cursor.token.line > cursor.previous.line):
        passed.append(cursor.take())
    if token.key in _FOREIGN_UNITS:
        cursor.findings.report("unsupported", token.span, what=f"{token.text.upper()}", found=f"'{token.text}'")
        cursor.broken = True
    else:
        is_end = all(one.key == ";" or one.key.upper().startswith("END") for one in passed)
        fix = Fix.instead(cursor.span_from(token.span), "") if is_end else None  # it ends what nothing began
        cursor.findings.report("outside", token.span, fix, found=found)


# Declarations of variables and types: names, their type, and what they begin with.


def parse_declarations(cursor: Cursor, opener: Token, end: str, section: Section = "local") -> list[Declaration]:
    """The declarations up to the word that ends them, which is taken.

    What cannot be read is passed over up to the next `;`; its names are kept, with a type of None.
    """
    found: list[Declaration] = []
    while cursor.token.kind != "end" and cursor.token.key != end and not _leaves_section(cursor):
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
    if token.key == "STRUCT":
        opener = cursor.take()
        with cursor.nest():
            parts = parse_declarations(cursor, opener, "END_STRUCT")
        return StructOf(tuple(parts), opener.span)
    if token.key == "(":
        return _parse_values(cursor)
    if token.kind != "name":
        raise cursor.stop("expected", expected="a type", after="':'")
    name = take_name(cursor)
    if token.key in ("pointer", "reference", "ref_to"):
        raise cursor.stop("unsupported", what="a pointer")
    if token.key in ("string", "wstring") and cursor.token.key in ("[", "("):
        closer = "]" if cursor.take().key == "[" else ")"
        parse_expression(cursor)
        cursor.expect(closer, "the length of a string")
    return _parse_limits(cursor, name) if cursor.token.key == "(" else TypeName(name)


def parse_initials(cursor: Cursor) -> Initials:
    """What stands behind the `:=` of a declaration."""
    token = cursor.token
    if token.key == "[":
        return _parse_elements(cursor)
    if token.key == "(" and cursor.ahead().kind == "name" and cursor.ahead(2).key == ":=":
        return _parse_named(cursor)
    if token.kind == "integer" and cursor.ahead().key == "(":
        return Initials(token.span, parts=(_parse_element(cursor),))
    value = parse_expression(cursor)
    return Initials(value.span, value)


def _parse_declaration(cursor: Cursor, names: list[Name], section: Section) -> Declaration:
    names.append(_parse_new_name(cursor))
    while cursor.accept(","):
        names.append(_parse_new_name(cursor))
    if cursor.accept("AT"):
        cursor.take()
    if cursor.token.key == ":=" or not cursor.accept(":"):
        code = "type-first" if cursor.token.kind == "name" else "expected"
        raise cursor.stop(code, expected="':' and a type", after="the name of a variable")
    type_ = parse_type(cursor)
    if cursor.token.key == "=":
        cursor.findings.report("equals-assigns", cursor.token.span, Fix.instead(cursor.token.span, ":="))
    initial = None
    if cursor.token.key in (":=", "="):
        cursor.take()
        initial = parse_initials(cursor)
    if not (isinstance(type_, StructOf) and cursor.token.key != ";"):
        cursor.finish_statement("a declaration")
    return Declaration(tuple(names), type_, initial, section, cursor.span_from(names[0].span))


def _parse_new_name(cursor: Cursor) -> Name:
    token = cursor.token
    if token.key in KEYWORDS and cursor.ahead().key in (":", ",", "AT"):
        cursor.take()
        cursor.findings.report("reserved-name", token.span, name=token.text)
        raise SyntaxStop
    if token.kind != "name":
        raise cursor.stop("no-declaration")
    return take_name(cursor)


def _leaves_section(cursor: Cursor) -> bool:
    """Whether something follows that is no declaration, so that the section's end is missing."""
    token, behind = cursor.token, cursor.ahead()
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
    bounds = [_parse_bounds(cursor)]
    while cursor.accept(","):
        bounds.append(_parse_bounds(cursor))
    cursor.expect("]", "the bounds of an array")
    cursor.expect("OF", "the bounds of an array")
    with cursor.nest():
        element = parse_type(cursor)
    return ArrayOf(tuple(bounds), element, cursor.span_from(opener.span))


def _parse_bounds(cursor: Cursor) -> tuple[Node, Node]:
    low = parse_expression(cursor)
    if not cursor.accept(".."):
        raise cursor.stop("expected", expected="'..'", after="the lower bound")
    return low, parse_expression(cursor)


def _parse_values(cursor: Cursor) -> TypeNode:
    """`(Idle, Running := 5)`, and a type behind it that says how wide it is, which is passed over."""
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
    if cursor.token.kind == "name":
        cursor.take()
    return EnumOf(tuple(values), cursor.span_from(opener.span))


def _parse_limits(cursor: Cursor, name: Name) -> TypeNode:
    """`INT (0..100)`; `INT (Idle := 0, …)` is an enumeration."""
    if cursor.ahead().kind == "name" and cursor.ahead(2).key in (":=", ",", ")"):
        return _parse_values(cursor)
    cursor.take()
    limits = _parse_bounds(cursor)
    cursor.expect(")", "the limits of a subrange")
    return TypeName(name, limits)


def _parse_elements(cursor: Cursor) -> Initials:
    opener = cursor.take()
    parts = []
    with cursor.nest():
        while cursor.token.key != "]":
            parts.append(_parse_element(cursor))
            if not cursor.accept(","):
                break
    cursor.expect("]", "the values of an array")
    return Initials(cursor.span_from(opener.span), parts=tuple(parts))


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
