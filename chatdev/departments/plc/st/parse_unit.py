"""Read a whole source: types, global variables, functions, function blocks, programs, and all their declarations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from chatdev.departments.plc.st.core import Section
from chatdev.departments.plc.st.diagnostics import Findings, Fix
from chatdev.departments.plc.st.parse_declaration import GENERIC, parse_declarations, parse_type, pass_constants
from chatdev.departments.plc.st.parse_expression import parse_place, take_name
from chatdev.departments.plc.st.parse_statement import parse_statements
from chatdev.departments.plc.st.syntax import (
    Assignment,
    Declaration,
    Initials,
    Invocation,
    Member,
    Name,
    Node,
    SourceFile,
    Step,
    StructOf,
    Subscript,
    Task,
    TypeNode,
    Unit,
    UnitKind,
)
from chatdev.departments.plc.st.tokens import (
    MEMBER_ENDS,
    MEMBER_WORDS,
    SECTION_WORDS,
    UNIT_ENDS,
    UNIT_WORDS,
    Cursor,
    SyntaxStop,
    Token,
    begins_member,
    pass_region,
    split_tokens,
)

_SECTIONS: dict[str, Section] = {"VAR": "local", "VAR_STAT": "local", "VAR_INST": "local", "VAR_INPUT": "input",
                                 "VAR_OUTPUT": "output", "VAR_IN_OUT": "in_out", "VAR_TEMP": "temp"}
_QUALIFIERS = ("CONSTANT", "RETAIN", "non_retain", "persistent", "public", "private", "protected", "internal",
               "db_specific")
_RETAINED = frozenset({"RETAIN", "persistent"})
_KINDS: dict[str, UnitKind] = {
    "FUNCTION": "function", "FUNCTION_BLOCK": "block", "PROGRAM": "program", "interface": "interface",
    "organization_block": "program"}
_ACCESS = frozenset(("public", "private", "protected", "internal", "abstract", "final", "override"))
WITHOUT_RESULT = "without result"
"""Among the words of a function of which no type of result is written."""
_FOREIGN_UNITS = frozenset(("class", "sfc", "var_config", "var_access"))
_HEADER_NAMES = frozenset(("version", "title", "author", "family", "name", "know_how_protect"))
_BEGINNINGS = UNIT_WORDS | {"VAR_GLOBAL", "interface", "configuration", "namespace", "organization_block", "data_block",
                            "actions", *MEMBER_WORDS}


def parse_source(source: str, findings: Findings, defines: Iterable[str] = ()) -> SourceFile:
    """All that a source declares where these names are defined. What cannot be read is reported and left out."""
    reader, defined, broken = _Reader(), tuple(defines), False
    for line, text in findings.split_files(source):  # what one file leaves open swallows nothing of the next
        with findings.one_file():
            reader.read(Cursor(split_tokens(text, findings, line, defines=defined), findings))
        broken |= reader.cursor.broken
    return SourceFile(reader.types, reader.variables, reader.units, broken or findings.cut, reader.tasks,
                      frozenset(reader.namespaces))


class _Reader:
    """Reads the files of a source from begin to end."""

    cursor: Cursor

    def __init__(self) -> None:
        self.types: list[Declaration] = []
        self.variables: list[Declaration] = []
        self.units: list[Unit] = []
        self.tasks: list[Task] = []
        self.namespaces: set[str] = set()
        self._said_of_tasks: dict[tuple[str, str], Node] = {}
        self._owner = ""

    def read(self, cursor: Cursor) -> None:
        """All of a file."""
        self.cursor = cursor
        while self.cursor.token.kind != "end":
            try:
                self._read_one()
            except SyntaxStop:
                self.cursor.skip_statement()

    def _read_one(self) -> None:
        cursor, key = self.cursor, self.cursor.token.key
        if key == "TYPE":
            self.types.extend(_parse_types(cursor))
        elif key == "VAR_GLOBAL":
            self.variables.extend(_parse_section(cursor))
        elif key in UNIT_WORDS:
            self.units.append(_parse_unit(cursor))
        elif not self._read_headed(key) and not pass_config(cursor) and not pass_region(cursor):
            if key in (";", "END_NAMESPACE", "END_ACTIONS") or cursor.token.kind == "foreign":
                cursor.take()
            else:
                _pass_over(cursor)

    def _read_headed(self, key: str) -> bool:
        """Whether something stands here whose first word may also be a name, which is then read."""
        if self.cursor.ahead().kind != "name":
            return False
        if key in _KINDS:
            self.units.append(_parse_unit(self.cursor))
        elif key in MEMBER_WORDS:
            self._read_members()
        elif key in ("namespace", "using", "actions"):
            self._pass_head(key)
        elif key == "data_block":
            self._read_data()
        elif key in ("configuration", "resource"):
            self._read_resource()
        else:
            return False
        return True

    def _pass_head(self, key: str) -> None:
        """`NAMESPACE a.b`, `USING a.b;`; `ACTIONS name` tells whose actions follow."""
        self.cursor.take()
        name = _parse_dotted(self.cursor)
        if key == "actions":
            self._owner = name.key
        elif key == "namespace":
            self.namespaces.add(name.key)
        self.cursor.accept(";")

    def _read_members(self) -> None:
        """Methods and actions that stand behind the unit that they belong to."""
        members = _parse_member(self.cursor)
        for number in range(len(self.units) - 1, -1, -1):
            owner = self.units[number]
            if self._owner in ("", owner.name.key):
                self.units[number] = replace(owner, members=owner.members + tuple(members))
                return
        self.cursor.findings.report("no-owner", members[0].span if members else self.cursor.token.span)

    def _read_data(self) -> None:
        """A DATA_BLOCK: a global variable, of a structure or of a function block, and what it begins with."""
        cursor = self.cursor
        opener = cursor.take()
        name = take_name(cursor)
        _skip_header(cursor)
        while cursor.token.key in ("non_retain", "RETAIN"):
            cursor.take()
        parts: list[Declaration] = []
        is_plain = cursor.token.key == "VAR"
        while cursor.token.key == "VAR":
            parts += _parse_section(cursor)
        type_ = StructOf(tuple(parts), opener.span) if is_plain else parse_type(cursor)
        cursor.accept(";")
        cursor.accept("BEGIN")
        body = parse_statements(cursor)
        _close_unit(cursor, opener)
        placed = tuple((_way_to(one.target), Initials(one.span, one.value)) for one in body
                       if isinstance(one, Assignment))
        initial = Initials(opener.span, placed=placed) if placed else None
        self.variables.append(Declaration((name,), type_, initial, "local", opener.span))

    def _read_resource(self) -> None:
        """A CONFIGURATION or RESOURCE: its global variables, its tasks, and the programs that they run."""
        cursor = self.cursor
        end = f"END_{cursor.take().key.upper()}"
        while cursor.token.kind != "end" and cursor.token.key != end:
            key = cursor.token.key
            if key == "resource":
                self._read_resource()
            elif key == "VAR_GLOBAL":
                self.variables.extend(_parse_section(cursor))
            elif key == "task" and cursor.ahead().kind == "name":
                self._read_task()
            elif key == "PROGRAM":
                self._read_instance()
            elif not pass_config(cursor):
                cursor.take()
        cursor.accept(end)
        cursor.accept(";")

    def _read_task(self) -> None:
        """`TASK name (INTERVAL := T#20ms, PRIORITY := 1);`"""
        cursor = self.cursor
        cursor.take()
        call = parse_place(cursor)
        cursor.accept(";")
        for argument in call.arguments if isinstance(call, Invocation) and isinstance(call.callee, Name) else ():
            if argument.name in ("interval", "priority"):
                self._said_of_tasks[call.callee.key, argument.name] = argument.value  # type: ignore[union-attr]

    def _read_instance(self) -> None:
        """`PROGRAM name WITH task : Type;`"""
        cursor = self.cursor
        cursor.take()
        while cursor.token.key in _QUALIFIERS:
            cursor.take()
        take_name(cursor)
        task = ""
        if cursor.accept("with"):
            task = take_name(cursor).key
        if cursor.accept(":"):
            said = (self._said_of_tasks.get((task, one)) for one in ("interval", "priority"))
            self.tasks.append(Task(_parse_dotted(cursor), *said))
        cursor.skip_statement()


def _way_to(place: Node) -> tuple[Node, ...]:
    """The names and indices that lead to a part, from outside to inside."""
    if isinstance(place, Member):
        return (*_way_to(place.base), Name(place.key, place.text, place.span))
    return (*_way_to(place.base), *place.indices) if isinstance(place, Subscript) else (place,)


def pass_config(cursor: Cursor) -> bool:
    """Whether VAR_ACCESS or VAR_CONFIG stands here, which is passed over up to its END_VAR."""
    token = cursor.token
    if token.key not in ("var_access", "var_config"):
        return False
    cursor.findings.report("gap-config", token.span, name=token.key.upper())
    while cursor.token.kind != "end" and not cursor.accept("END_VAR"):
        cursor.take()
    cursor.accept(";")
    return True


def _parse_dotted(cursor: Cursor) -> Name:
    """The last of the names that dots divide."""
    name = take_name(cursor)
    while cursor.token.key == "." and cursor.ahead().kind == "name":
        cursor.take()
        name = take_name(cursor)
    return name


def _parse_types(cursor: Cursor) -> list[Declaration]:
    opener = cursor.take()
    while cursor.token.key in _ACCESS and cursor.ahead().kind == "name":
        cursor.take()
    if cursor.ahead().key == "extends":  # TYPE name EXTENDS base : STRUCT …
        name = take_name(cursor)
        cursor.take()
        base = _parse_dotted(cursor)
        cursor.expect(":", "the base of a structure")
        type_ = parse_type(cursor)
        if isinstance(type_, StructOf):
            type_ = replace(type_, base=base)
        cursor.accept(";")
        return [Declaration((name,), type_, None), *parse_declarations(cursor, opener, "END_TYPE")]
    if cursor.ahead().key in ("STRUCT", *_HEADER_NAMES):  # TYPE "Name" VERSION : 0.1 STRUCT … without a colon
        name = take_name(cursor)
        _skip_header(cursor)
        found = [Declaration((name,), parse_type(cursor), None)]
        cursor.accept(";")
        return found + parse_declarations(cursor, opener, "END_TYPE")
    found = parse_declarations(cursor, opener, "END_TYPE")
    cursor.accept(";")
    return found


def _parse_unit(cursor: Cursor) -> Unit:
    """From its first word to its END_…, also if that is missing."""
    broken, cursor.broken = cursor.broken, False
    calls, cursor.calls = cursor.calls, set()
    opener = cursor.take()
    words = _parse_access(cursor)
    name = _parse_unit_name(cursor, opener)
    base: Name | None = None
    interfaces: list[Name] = []
    generic = _parse_generic(cursor)
    while cursor.token.key in ("extends", "implements"):
        is_base = cursor.take().key == "extends" and opener.key != "interface"
        interfaces.append(_parse_base(cursor))
        while cursor.accept(","):
            interfaces.append(_parse_base(cursor))
        if is_base:
            base = interfaces.pop(0)
    is_function = opener.key == "FUNCTION"
    has_result = cursor.accept(":")
    result = _parse_result(cursor) if has_result else None
    _skip_header(cursor)
    parts = _Parts()
    parts.declarations += generic
    body = _parse_parts(cursor, parts)
    if is_function and not has_result:
        words |= {WITHOUT_RESULT}
    _close_unit(cursor, opener)
    unit = Unit(_KINDS[opener.key], name, result, tuple(parts.declarations), tuple(parts.externals), body, cursor.broken
                or cursor.findings.cut, opener.span, tuple(parts.members), base, tuple(interfaces), words,
                frozenset(cursor.calls))
    cursor.broken, cursor.calls = broken, calls
    return unit


def _parse_generic(cursor: Cursor) -> list[Declaration]:
    """VAR_GENERIC CONSTANT: what an instance tells between `<` and `>`."""
    if cursor.token.key != "var_generic":
        return []
    opener = cursor.take()
    cursor.accept("CONSTANT")
    found = parse_declarations(cursor, opener, "END_VAR")
    return [replace(one, type=GENERIC, initial=None) for one in found]


def _parse_base(cursor: Cursor) -> Name:
    """The name of a block or an interface, without the constants that it is given."""
    name = _parse_dotted(cursor)
    pass_constants(cursor)
    return name


def _parse_access(cursor: Cursor) -> frozenset[str]:
    """PUBLIC, ABSTRACT and the like before a name."""
    words = set()
    while cursor.token.key in _ACCESS and cursor.ahead().kind in ("name", "keyword"):
        words.add(cursor.take().key)
    return frozenset(words)


def _parse_unit_name(cursor: Cursor, opener: Token) -> Name:
    if cursor.token.kind != "name":
        cursor.findings.report("expected", cursor.token.span, expected="a name", after=opener.key.upper(),
                               found=cursor.describe())
        return Name("", "", opener.span)
    return _parse_dotted(cursor)


def _parse_result(cursor: Cursor) -> TypeNode | None:
    if cursor.token.key == "void":
        cursor.take()
        return None
    try:
        result = parse_type(cursor)
    except SyntaxStop:
        return None
    cursor.accept(";")
    return result


def _skip_header(cursor: Cursor) -> None:
    """Lines such as `VERSION : 0.1`, which some dialects have."""
    while cursor.token.key in _HEADER_NAMES and (cursor.ahead().key in (":", "=")
                                                 or cursor.token.key == "know_how_protect"):
        line = cursor.token.line
        while cursor.token.line == line and cursor.token.kind != "end":
            cursor.take()


class _Parts:
    """What stands between the head of a unit and its end."""

    def __init__(self) -> None:
        self.declarations: list[Declaration] = []
        self.externals: list[Declaration] = []
        self.members: list[Unit] = []


def _parse_parts(cursor: Cursor, parts: _Parts, in_member: bool = False) -> tuple[Step, ...]:
    """Declarations and statements up to the end of a unit; of a member also up to where another one begins."""
    body: list[Step] = []
    while True:
        key = cursor.token.key
        if (key in SECTION_WORDS and key != "VAR_GLOBAL") or (key == "const" and cursor.ahead(2).key == ":="):
            if body:
                cursor.findings.report("late-section", cursor.token.span, found=key)
            (parts.externals if key == "VAR_EXTERNAL" else parts.declarations).extend(_parse_section(cursor))
            continue
        if begins_member(cursor):
            if in_member:
                return tuple(body)
            parts.members.extend(_parse_member(cursor))
            continue
        if pass_config(cursor):
            continue
        cursor.accept("BEGIN")
        steps = parse_statements(cursor)
        body.extend(steps)
        if cursor.token.key not in SECTION_WORDS - {"VAR_GLOBAL"} and not begins_member(cursor):
            return tuple(body)


def _parse_member(cursor: Cursor) -> list[Unit]:
    """A METHOD, an ACTION, or the accessors of a PROPERTY."""
    broken, cursor.broken = cursor.broken, False
    calls, cursor.calls = cursor.calls, set()
    opener = cursor.take()
    words = _parse_access(cursor)
    name = _parse_dotted(cursor) if cursor.token.kind == "name" else _parse_unit_name(cursor, opener)
    result = _parse_result(cursor) if cursor.accept(":") and opener.key != "action" else None
    cursor.accept(";")
    if opener.key == "property":
        found = _parse_accessors(cursor, opener, name, result, words)
    else:
        parts = _Parts()
        body = _parse_parts(cursor, parts, in_member=True)
        end = f"END_{opener.key.upper().partition('_')[0]}"
        if not cursor.accept(end) and cursor.token.key in MEMBER_ENDS:
            raise cursor.stop("not-closed", expected=end, opener=opener.key.upper(), line=opener.line)
        if cursor.previous.key != end:
            _miss_end(cursor, opener, end)
        kind: UnitKind = {"method": "method", "action": "action", "property_get": "get"}.get(  # type: ignore[assignment]
            opener.key, "set")
        found = [Unit(kind, name, result, tuple(parts.declarations), tuple(parts.externals), body, cursor.broken,
                      opener.span, words=words, calls=frozenset(cursor.calls))]
    cursor.accept(";")
    cursor.broken, cursor.calls = broken, calls
    return found


def _parse_accessors(cursor: Cursor, opener: Token, name: Name, result: TypeNode | None,
                     words: frozenset[str]) -> list[Unit]:
    """GET and SET of a PROPERTY; in an INTERFACE they have no body, and may not stand there."""
    found: list[Unit] = []
    while cursor.token.key in ("get", "set", *_ACCESS):
        own = _parse_access(cursor)
        accessor = cursor.take()
        own |= _parse_access(cursor)  # TwinCAT has them in the accessor's declaration
        parts = _Parts()
        body = _parse_parts(cursor, parts, in_member=True)
        if not cursor.accept(f"END_{accessor.key.upper()}") and body:
            _miss_end(cursor, accessor, f"END_{accessor.key.upper()}")
        cursor.accept(";")
        found.append(Unit(accessor.key, name, result, tuple(parts.declarations),  # type: ignore[arg-type]
                          tuple(parts.externals), body, cursor.broken, opener.span, words=words | own,
                          calls=frozenset(cursor.calls)))
    if not cursor.accept("END_PROPERTY") and any(one.body for one in found):
        _miss_end(cursor, opener, "END_PROPERTY")
    return found or [Unit("get", name, result, (), (), (), cursor.broken, opener.span, words=words | {"abstract"})]


def _miss_end(cursor: Cursor, opener: Token, end: str) -> None:
    cursor.findings.report("not-closed", cursor.token.span, None, expected=end,
                           found=cursor.describe(), opener=opener.key.upper(), line=opener.line)


def _parse_section(cursor: Cursor) -> list[Declaration]:
    opener = cursor.take()
    section = _SECTIONS.get(opener.key, "local")
    words: set[str] = set()
    while cursor.token.key in _QUALIFIERS and cursor.ahead().key not in (":", ","):
        words.add(cursor.take().key)
    is_read_only = "CONSTANT" in words and section == "in_out"
    section = "constant" if "CONSTANT" in words and section == "local" else section
    is_const = opener.key == "const"
    found = parse_declarations(cursor, opener, "END_CONST" if is_const else "END_VAR",
                               "constant" if is_const else section)
    if opener.key == "VAR_INST":
        found = [replace(one, is_kept=True) for one in found]
    if words & _RETAINED:
        found = [replace(one, is_retained=True) for one in found]
    if is_read_only:
        found = [replace(one, is_read_only=True) for one in found]
    cursor.accept(";")
    return found


def _close_unit(cursor: Cursor, opener: Token) -> None:
    token, end = cursor.token, f"END_{opener.key.upper()}"
    if token.key != end:
        is_slip = token.key in UNIT_ENDS and not cursor.findings.failed  # else it may belong to another unit
        fix = Fix.instead(token.span, end) if is_slip else None
        cursor.findings.report("not-closed", token.span, fix, expected=end, found=cursor.describe(),
                               opener=opener.key.upper(), line=opener.line)
        if token.key in UNIT_WORDS or token.key == "VAR_GLOBAL":
            return
    cursor.take()
    cursor.accept(";")


def _pass_over(cursor: Cursor) -> None:
    """Report what stands outside of every unit, once, and go to where something begins."""
    token = cursor.token
    found = cursor.describe()
    passed = [cursor.take()]
    while cursor.token.kind != "end" and not (cursor.token.key in _BEGINNINGS
                                              and cursor.token.line > cursor.previous.line):
        passed.append(cursor.take())
    if token.key in _FOREIGN_UNITS:
        cursor.findings.report("unsupported", token.span, what=f"{token.text.upper()}", found=f"'{token.text}'")
        cursor.broken = True
    else:
        is_end = all(one.key == ";" or one.key.upper().startswith("END") for one in passed)
        fix = Fix.instead(cursor.span_from(token.span), "") if is_end else None  # it ends what nothing began
        cursor.findings.report("outside", token.span, fix, found=found)
