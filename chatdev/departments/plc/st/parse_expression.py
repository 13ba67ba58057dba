"""Read expressions: operators by their rank, places, literals, calls."""

from __future__ import annotations

from chatdev.departments.plc.st.core import Span, Value
from chatdev.departments.plc.st.diagnostics import Fix
from chatdev.departments.plc.st.syntax import (
    Argument,
    Binary,
    Invocation,
    Literal,
    Member,
    Name,
    Node,
    Subscript,
    Unary,
)
from chatdev.departments.plc.st.tokens import (
    KEYWORDS,
    MOST_NESTING,
    BadLiteral,
    Cursor,
    SyntaxStop,
    Token,
    read_number,
    read_string,
    read_time,
    read_typed,
)

_RANKS = {
    "OR": (1, "or"), "OR_ELSE": (1, "or_else"), "XOR": (2, "xor"), "AND": (3, "and"), "&": (3, "and"),
    "AND_THEN": (3, "and_then"), "=": (4, "="), "<>": (4, "<>"), "<": (5, "<"), ">": (5, ">"), "<=": (5, "<="),
    ">=": (5, ">="), "+": (6, "+"), "-": (6, "-"), "*": (7, "*"), "/": (7, "/"), "MOD": (7, "mod"), "**": (8, "**"),
}
"""From the weakest on; operators of one rank are read from left to right."""
_FOREIGN = {"==": (4, "="), "!=": (4, "<>"), "-->": (0, "-->")}
"""What properties may say as well; a program may not."""


def parse_expression(cursor: Cursor, rank: int = 0) -> Node:
    """The expression that begins at the cursor, of operators of this rank and above."""
    left = _parse_operand(cursor)
    count = 0
    while found := _RANKS.get(cursor.token.key) or _FOREIGN.get(cursor.token.key):
        if found[0] < rank:
            break
        sign = cursor.take()
        if sign.key in _FOREIGN and not cursor.allows_foreign:
            fix = Fix.instead(sign.span, found[1]) if sign.key != "-->" else None
            cursor.findings.report("foreign-operator", sign.span, fix, found=sign.key, right=found[1])
        count += 1
        if count > MOST_NESTING:
            raise cursor.stop("too-deep", most=MOST_NESTING)
        right = parse_expression(cursor, found[0] + 1)
        left = Binary(found[1], left, right, _join(left.span, right.span))
    return left


def take_name(cursor: Cursor) -> Name:
    """The name at the cursor, without the signs of a dialect."""
    token = cursor.take()
    return Name(token.key, token.text.strip('#"'), token.span)


def parse_place(cursor: Cursor) -> Node:
    """A name and the way into it: members, indices, arguments."""
    node: Node = take_name(cursor)
    for _ in range(MOST_NESTING):
        key = cursor.token.key
        if key == ".":
            cursor.take()
            node = _parse_member(cursor, node)
        elif key == "[":
            node = _parse_subscript(cursor, node)
        elif key == "(":
            with cursor.nest():
                arguments = _parse_arguments(cursor)
            node = Invocation(node, arguments, cursor.span_from(node.span))
        elif key == "^":
            raise cursor.stop("unsupported", what="a pointer")
        else:
            return node
    raise cursor.stop("too-deep", most=MOST_NESTING)


def parse_literal(cursor: Cursor) -> Node:
    """The literal at the cursor."""
    token = cursor.token
    if token.kind == "typed" and _names_value(token):
        cursor.take()
        prefix, name = token.text.split("#", 1)
        return Member(Name(prefix.lower(), prefix, token.span), name.lower(), name, token.span)
    try:
        type_name, value = _read_literal(token)
    except BadLiteral as error:
        raise cursor.stop("bad-literal", why=str(error)) from None
    cursor.take()
    return Literal(value, type_name, token.span)


def _parse_operand(cursor: Cursor) -> Node:
    token = cursor.token
    if token.kind == "name":
        return parse_place(cursor)
    if token.key == "(":
        return _parse_bracket(cursor)
    if token.key in ("NOT", "-", "+"):
        with cursor.nest():
            cursor.take()
            operand = _parse_operand(cursor)
        span = _join(token.span, operand.span)
        return operand if token.key == "+" else Unary("not" if token.key == "NOT" else "neg", operand, span)
    if token.kind in ("integer", "real", "based", "time", "typed", "string") or token.key in ("TRUE", "FALSE"):
        return parse_literal(cursor)
    if token.key in ("AND", "OR", "XOR", "MOD") and cursor.ahead().key == "(":
        return parse_place(cursor)  # AND(a, b) is a function
    raise _refuse_operand(cursor)


def _parse_bracket(cursor: Cursor) -> Node:
    opener = cursor.take()
    with cursor.nest():
        inner = parse_expression(cursor)
    if not cursor.accept(")"):
        raise cursor.stop("open-bracket", bracket="(", expected=")", line=opener.line, column=opener.column,
                          key=cursor.token.key)
    return inner


def _refuse_operand(cursor: Cursor) -> SyntaxStop:
    token = cursor.token
    if token.kind == "address":
        return cursor.stop("unsupported", what="a direct address")
    stop = cursor.stop("no-expression", reserved=token.key in KEYWORDS)
    if token.key in KEYWORDS and cursor.ahead().key in (";", ")", *_RANKS):
        cursor.take()  # a word that was meant as a name; statements do not go on so
    return stop


def _names_value(token: Token) -> bool:
    rest = token.text.split("#", 1)[1]
    return not (rest[0].isdigit() or rest[0] in "+-" or rest.upper() in ("TRUE", "FALSE"))


def _read_literal(token: Token) -> tuple[str, Value]:
    if token.kind == "time":
        return "TIME", read_time(token.text)
    if token.kind == "typed":
        return read_typed(token.text)
    if token.kind == "string":
        return "STRING", read_string(token.text)
    if token.kind == "keyword":
        return "BOOL", token.key == "TRUE"
    return "", read_number(token.text)


def _parse_member(cursor: Cursor, base: Node) -> Node:
    token = cursor.token
    if token.kind == "address":
        key = token.text.lstrip("%").lstrip("Xx")
        if not key.isdigit():
            raise cursor.stop("unsupported", what="a slice of a word")
    elif token.kind in ("name", "integer", "keyword"):
        key = token.key.lower()
    else:
        raise cursor.stop("expected", expected="the name of a member", after="'.'")
    cursor.take()
    return Member(base, key, token.text, cursor.span_from(base.span))


def _parse_subscript(cursor: Cursor, base: Node) -> Node:
    opener = cursor.take()
    with cursor.nest():
        indices = [parse_expression(cursor)]
        while cursor.accept(","):
            indices.append(parse_expression(cursor))
    if not cursor.accept("]"):
        raise cursor.stop("open-bracket", bracket="[", expected="]", line=opener.line, column=opener.column,
                          key=cursor.token.key)
    return Subscript(base, tuple(indices), cursor.span_from(base.span))


def _parse_arguments(cursor: Cursor) -> tuple[Argument, ...]:
    opener = cursor.take()
    arguments: list[Argument] = []
    if cursor.accept(")"):
        return ()
    while True:
        arguments.append(_parse_argument(cursor))
        if cursor.accept(")"):
            return tuple(arguments)
        if not cursor.accept(","):
            raise cursor.stop("open-bracket", bracket="(", expected="',' or ')", line=opener.line,
                              column=opener.column, key=cursor.token.key)


def _parse_argument(cursor: Cursor) -> Argument:
    first = cursor.token
    if cursor.ahead().key == "=>" and first.kind == "name":
        cursor.take()
        cursor.take()
        return Argument(first.key, parse_expression(cursor), True, cursor.span_from(first.span))
    if cursor.ahead().key == ":=" and first.kind in ("name", "keyword"):
        cursor.take()
        cursor.take()
        return Argument(first.key.lower(), parse_expression(cursor), False, cursor.span_from(first.span))
    return Argument("", parse_expression(cursor), False, cursor.span_from(first.span))


def _join(first: Span, last: Span) -> Span:
    return Span(first.line, first.column, last.end_line, last.end_column)
