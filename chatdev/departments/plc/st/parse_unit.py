"""Read a whole source: types, global variables, functions, function blocks and programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from chatdev.departments.plc.st.core import Section
from chatdev.departments.plc.st.cursor import SECTION_WORDS, UNIT_ENDS, UNIT_WORDS, Cursor, SyntaxStop
from chatdev.departments.plc.st.diagnostics import Findings, Fix
from chatdev.departments.plc.st.parse_expression import take_name
from chatdev.departments.plc.st.parse_statement import parse_statements
from chatdev.departments.plc.st.parse_type import parse_declarations, parse_type
from chatdev.departments.plc.st.syntax import Declaration, Name, SourceFile, Step, TypeNode, Unit
from chatdev.departments.plc.st.tokens import Token, split_tokens

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
