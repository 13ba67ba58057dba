"""Read expressions: operators by their rank, literals, names and what follows them, calls."""

from __future__ import annotations

from chatdev.departments.plc.st.core import Span, Value
from chatdev.departments.plc.st.diagnostics import Fix
from chatdev.departments.plc.st.syntax import (
    Address,
    Argument,
    Assigning,
    Binary,
    Invocation,
    Literal,
    Member,
    Name,
    Node,
    Subscript,
    Target,
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
    left = parse_operand(cursor)
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
    return Name(token.key, token.text.strip('#"'), token.span, token.text.startswith('"'))


def parse_place(cursor: Cursor) -> Node:
    """A name and the way into it: members, indices, arguments."""
    node: Node = take_name(cursor)
    for _ in range(MOST_NESTING):
        key = cursor.token.key
        if key == ".":
            if isinstance(node, Name):
                cursor.calls.add(node.key)
            cursor.take()
            node = _parse_member(cursor, node)
        elif key == "[":
            node = _parse_subscript(cursor, node)
        elif key == "(":
            if isinstance(node, Name):
                cursor.calls.add(node.key)
            with cursor.nest():
                arguments = parse_arguments(cursor)
            node = Invocation(node, arguments, cursor.span_from(node.span))
        elif key == "^":
            cursor.take()
            node = Target(node, cursor.span_from(node.span))
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


def parse_operand(cursor: Cursor) -> Node:
    """What stands between operators."""
    token = cursor.token
    if token.kind == "name":
        return parse_place(cursor)
    if token.kind == "address":
        return parse_address(cursor)
    if token.key == "(":
        return _parse_bracket(cursor)
    if token.key in ("NOT", "-", "+"):
        with cursor.nest():
            cursor.take()
            operand = parse_operand(cursor)
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
        inner = parse_assigning(cursor, in_brackets=True)
    if not cursor.accept(")"):
        raise cursor.stop("open-bracket", bracket="(", expected=")", line=opener.line, column=opener.column,
                          key=cursor.token.key)
    return inner


def _refuse_operand(cursor: Cursor) -> SyntaxStop:
    token = cursor.token
    stop = cursor.stop("no-expression", reserved=token.key in KEYWORDS)
    if token.key in KEYWORDS and cursor.ahead().key in (";", ")", *_RANKS):
        cursor.take()  # a word that was meant as a name; statements do not go on so
    return stop


def _names_value(token: Token) -> bool:
    rest = token.text.split("#", 1)[1]
    return not (rest[0].isdigit() or rest[0] in "+-" or rest.upper() in ("TRUE", "FALSE"))


def _read_literal(token: Token) -> tuple[str, Value]:
    if token.kind == "time":
        return read_time(token.text)
    if token.kind == "typed":
        return read_typed(token.text)
    if token.kind == "string":
        return "WSTRING" if token.text[0] in "wW" else "STRING", read_string(token.text)
    if token.kind == "keyword":
        return "BOOL", token.key == "TRUE"
    return "", read_number(token.text)


def _parse_member(cursor: Cursor, base: Node) -> Node:
    token = cursor.token
    if token.kind == "address":
        key = token.text.lstrip("%").lstrip("Xx").lower()
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


def parse_arguments(cursor: Cursor) -> tuple[Argument, ...]:
    """What a call is given, in its brackets."""
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
    if first.key in ("pointer", "reference") and cursor.ahead().key == "TO":  # __NEW(POINTER TO type, count)
        cursor.take()
        cursor.take()
        first = cursor.token
    negates = first.key == "NOT" and cursor.ahead(2).key == "=>"
    if negates:
        cursor.take()
        first = cursor.token
    if cursor.ahead().key == "=>" and first.kind in ("name", "keyword"):
        cursor.take()
        cursor.take()
        if cursor.token.key in (",", ")"):  # taken by nobody
            return Argument(first.key.lower(), Name("", "", first.span), True, first.span)
        return Argument(first.key.lower(), parse_expression(cursor), True, cursor.span_from(first.span), negates)
    if cursor.ahead().key == ":=" and first.kind in ("name", "keyword"):
        cursor.take()
        cursor.take()
        if cursor.token.key in (",", ")"):  # left as it is
            return Argument(first.key.lower(), Name("", "", first.span), False, first.span)
        return Argument(first.key.lower(), parse_expression(cursor), False, cursor.span_from(first.span))
    return Argument("", parse_expression(cursor), False, cursor.span_from(first.span))


def _join(first: Span, last: Span) -> Span:
    return Span(first.line, first.column, last.end_line, last.end_column)


def parse_assigning(cursor: Cursor, in_brackets: bool = False) -> Node:
    """An expression, or an assignment in its place."""
    value = parse_expression(cursor)
    if cursor.token.key != ":=" or not isinstance(value, Name | Member | Subscript | Target):
        return value
    cursor.take()
    with cursor.nest():
        return Assigning(value, parse_assigning(cursor, in_brackets), cursor.span_from(value.span), in_brackets)


def parse_address(cursor: Cursor) -> Node:
    token = cursor.take()
    return Address(token.text, token.span)
