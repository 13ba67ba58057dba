"""Read statements, and assertions in comments; go on after an error in one of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal as OneOf

from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Fix
from chatdev.departments.plc.st.parse_expression import (
    parse_address,
    parse_assigning,
    parse_expression,
    parse_operand,
    parse_place,
)
from chatdev.departments.plc.st.syntax import (
    Alone,
    Assertion,
    Assignment,
    Binary,
    CallStatement,
    Case,
    For,
    Foreign,
    If,
    Invocation,
    Label,
    Leave,
    Member,
    Name,
    Node,
    Step,
    While,
)
from chatdev.departments.plc.st.tokens import (
    BOUNDARIES,
    CLOSING_WORDS,
    INNER_ENDS,
    Cursor,
    SyntaxStop,
    Token,
    begins_member,
    pass_region,
    split_tokens,
)


def parse_statements(cursor: Cursor) -> tuple[Step, ...]:
    """The statements up to the word that ends or divides the block they stand in."""
    steps: list[Step] = []
    while not _at_end(cursor):
        try:
            step = None if _is_stray(cursor) else _parse_statement(cursor)
        except SyntaxStop:
            cursor.skip_statement()
        else:
            steps.extend([step] if step else [])
    return tuple(steps)


def _at_end(cursor: Cursor) -> bool:
    """Whether the block goes on or ends here, also with the wrong word."""
    token = cursor.token
    if token.kind == "end" or cursor.awaits(token.key) or begins_member(cursor):
        return True
    if token.key not in CLOSING_WORDS | INNER_ENDS:
        return _at_boundary(cursor) or (cursor.awaits("END_CASE") and _at_label(cursor))
    return token.key in CLOSING_WORDS and token.key.startswith("END_") and cursor.in_block


def _is_stray(cursor: Cursor) -> bool:
    """Whether a word that closes or continues nothing stands here, which is then reported and passed over."""
    if pass_region(cursor):
        return True
    if cursor.token.key not in CLOSING_WORDS | INNER_ENDS:
        return False
    cursor.findings.report("stray", cursor.token.span, found=cursor.token.key)
    if cursor.take().key == "ELSIF" and cursor.skip_to("THEN"):
        cursor.take()
    cursor.accept(";")
    return True


def _parse_statement(cursor: Cursor) -> Step | None:
    """One statement; nothing for a `;` that stands alone."""
    token = cursor.token
    if token.key == ";":
        cursor.take()
        return None
    if token.kind == "assert":
        return parse_assertion(cursor)
    if token.kind == "foreign":
        cursor.take()
        return Foreign("code of another language", token.span)
    if token.key in ("jmp", "goto") and cursor.ahead().kind == "name":
        cursor.take()
        target = cursor.take()
        cursor.finish_statement("a jump")
        cursor.findings.report("gap-jump", token.span)
        return Foreign("a jump to a label", target.span, jumps_to=target.key)
    if token.key == "__try" and cursor.ahead().key not in _BEHIND_PLACES:
        return _parse_try(cursor)
    if token.kind == "address":
        return _parse_simple(cursor)
    if token.kind == "keyword" and cursor.ahead().key == ":=":
        cursor.take()
        cursor.findings.report("reserved-name", token.span, name=token.text)
        raise SyntaxStop
    if token.key in _STATEMENTS:
        return _STATEMENTS[token.key](cursor)
    if token.kind != "name":
        raise cursor.stop("no-statement")
    return _parse_simple(cursor)


_BEHIND_PLACES = frozenset((":=", "(", "[", ".", "^"))


def _parse_try(cursor: Cursor) -> Step | None:
    """`__TRY … __CATCH(code) … __FINALLY … __ENDTRY` of CODESYS and TwinCAT."""
    opener = cursor.take()
    with cursor.open(opener, "__catch", "__finally", "__endtry"):
        body = parse_statements(cursor)
        while cursor.token.key in ("__catch", "__finally"):
            if cursor.take().key == "__catch" and cursor.accept("("):
                parse_expression(cursor)
                cursor.expect(")", "the variable of __CATCH")
            body += parse_statements(cursor)
    cursor.findings.report("gap-try", opener.span)
    return _end_block(cursor, opener, "__endtry", Foreign("exceptions (__TRY)", opener.span, body=body))


def _parse_simple(cursor: Cursor) -> Step:
    """An assignment, or a call."""
    first = cursor.token.span
    target = parse_place(cursor) if cursor.token.kind == "name" else parse_address(cursor)
    sign = cursor.token
    if sign.key in (":=", "="):
        if sign.key == "=":
            cursor.findings.report("equals-assigns", sign.span, Fix.instead(sign.span, ":="))
        cursor.take()
        return Assignment(target, _parse_value(cursor), cursor.span_from(first))
    if cursor.ahead().key == "=" and cursor.ahead().column == sign.column + len(sign.text):
        if (word := sign.key.upper() + "=") in _SIGNS:
            cursor.take()
            cursor.take()
            return Assignment(target, _parse_value(cursor), cursor.span_from(first), _SIGNS[word])
        if sign.key in _REPEATED:
            cursor.take()
            cursor.take()
            value = Binary(sign.key, target, _parse_value(cursor), sign.span)
            return Assignment(target, value, cursor.span_from(first), "+=")
    if isinstance(target, Invocation):
        cursor.finish_statement("a call")
        return CallStatement(target, target.span)
    if sign.key == ":":
        return _parse_label(cursor, target)
    if sign.key == ";" and isinstance(target, Name | Member) and not target.key.startswith("begin"):
        cursor.take()
        return Alone(target, target.span)
    raise _report_half(cursor, target)


def _parse_value(cursor: Cursor) -> Node:
    """What is assigned, and the end of the statement."""
    value = parse_assigning(cursor)
    cursor.finish_statement("an expression")
    return value


def _parse_label(cursor: Cursor, target: Node) -> Step:
    """`name:`, where a jump goes to."""
    if not isinstance(target, Name) or not _is_label(cursor):
        raise cursor.stop("colon-assigns")
    cursor.take()
    cursor.findings.report("gap-jump", target.span)
    return Foreign("a jump to a label", target.span, label=target.key)


_SIGNS: dict[str, OneOf["S=", "R=", "REF="]] = {"S=": "S=", "R=": "R=", "REF=": "REF="}
_REPEATED = ("+", "-", "*", "/")
"""Operators that may stand before the `=` of an assignment, as in `n += 1`."""


def _is_label(cursor: Cursor) -> bool:
    """Whether the colon ends a label: a statement begins behind it, or nothing is left of the line."""
    behind = cursor.ahead()
    return behind.line > cursor.token.line or behind.key in _STATEMENTS or (
        behind.kind == "name" and cursor.ahead(2).key in (":=", "(", ".", "["))


def _report_half(cursor: Cursor, target: Node) -> SyntaxStop:
    """A name or place stands alone, or what follows it makes no statement; the exception is to be raised."""
    sign = cursor.token
    is_end = sign.key == ";" or sign.line > cursor.previous.line
    begins = is_end and isinstance(target, Name) and target.key.startswith("begin")  # what other languages have there
    cursor.findings.report("half-statement", target.span, Fix.instead(target.span, "") if begins else None,
                           found=cursor.describe(), name=cursor.previous.text, end=is_end,
                           sign=sign.key if cursor.ahead().key in ("=", sign.key) else "")
    return SyntaxStop()


def _parse_header(cursor: Cursor, opener: Token, *ends: str) -> Node | None:
    """The expression of a statement's head and the word behind it; None where it cannot be read."""
    condition = None
    try:
        condition = parse_expression(cursor)
    except SyntaxStop:
        if not cursor.skip_to(*ends):
            return None
    if cursor.token.key == ":=":
        cursor.findings.report("assigns-in-condition", cursor.token.span, Fix.instead(cursor.token.span, "="))
        condition = None
        if not cursor.skip_to(*ends):
            return None
    if cursor.token.key in ends:
        cursor.take()
    else:
        cursor.findings.report("expected", cursor.token.span, expected=f"{ends[0]} or an operator",
                               after=f"the {'selector' if ends[0] == 'OF' else 'condition'} of {opener.key}",
                               found=cursor.describe())
        if cursor.token.line == opener.line and cursor.token.kind != "name":
            cursor.skip_to(*ends)
            cursor.accept(ends[0])
    return condition


def _parse_if(cursor: Cursor) -> Step | None:
    opener = cursor.take()
    arms: list[tuple[Node | None, tuple[Step, ...]]] = []
    otherwise: tuple[Step, ...] = ()
    with cursor.open(opener, "ELSIF", "ELSE", "END_IF"):
        arms.append((_parse_header(cursor, opener, "THEN"), parse_statements(cursor)))
        while cursor.token.key == "ELSIF":
            arm = cursor.take()
            arms.append((_parse_header(cursor, arm, "THEN"), parse_statements(cursor)))
        if cursor.token.key == "ELSE":
            _warn_of_else_if(cursor)
            cursor.take()
            otherwise = parse_statements(cursor)
            while cursor.token.key in ("ELSE", "ELSIF"):
                cursor.findings.report("after-else", cursor.token.span, found=cursor.token.key)
                if cursor.take().key == "ELSIF":
                    _parse_header(cursor, opener, "THEN")
                parse_statements(cursor)
    return _end_block(cursor, opener, "END_IF", If(tuple(arms), otherwise, opener.span))


def _warn_of_else_if(cursor: Cursor) -> None:
    """`ELSE IF` opens a statement of its own, which wants an END_IF of its own."""
    behind = cursor.ahead()
    if behind.key == "IF" and behind.line == cursor.token.line:
        cursor.findings.report("else-if", cursor.token.span)


def _parse_case(cursor: Cursor) -> Step | None:
    opener = cursor.take()
    arms: list[tuple[tuple[Label, ...], tuple[Step, ...]]] = []
    otherwise: tuple[Step, ...] = ()
    with cursor.open(opener, "ELSE", "END_CASE"):
        selector = _parse_header(cursor, opener, "OF")
        while cursor.token.key not in ("ELSE", "END_CASE") and not _at_boundary(cursor):
            try:
                labels = _parse_labels(cursor)
            except SyntaxStop:
                cursor.skip_statement()
                parse_statements(cursor)
            else:
                arms.append((labels, parse_statements(cursor)))
        if cursor.accept("ELSE"):
            cursor.accept(":")
            otherwise = parse_statements(cursor)
    return _end_block(cursor, opener, "END_CASE", Case(selector, tuple(arms), otherwise, opener.span))


def _at_boundary(cursor: Cursor) -> bool:
    token = cursor.token
    return token.kind == "end" or (token.key in BOUNDARIES and token.key not in _STATEMENTS)


def _parse_labels(cursor: Cursor) -> tuple[Label, ...]:
    labels = []
    while True:
        first = cursor.token.span
        low = parse_expression(cursor)
        high = parse_expression(cursor) if cursor.accept("..") else None
        labels.append(Label(low, high, cursor.span_from(first)))
        if not cursor.accept(","):
            break
    if not cursor.accept(":"):
        raise cursor.stop("expected", expected="':' or ',' or '..'", after="the label of a CASE")
    return tuple(labels)


def _at_label(cursor: Cursor) -> bool:
    """Whether a label of a CASE begins here: a number, or names with dots between them before `:`, `,` or `..`."""
    token = cursor.token
    if token.kind in ("integer", "based", "typed") or token.key == "-":
        return True
    if token.kind != "name":
        return False
    distance = 1
    while cursor.ahead(distance).key == "." and cursor.ahead(distance + 1).kind == "name":
        distance += 2
    return cursor.ahead(distance).key in (":", ",", "..")


def _parse_for(cursor: Cursor) -> Step | None:
    opener = cursor.take()
    head = None
    with cursor.open(opener, "END_FOR"):
        try:
            head = _parse_range(cursor)
        except SyntaxStop:
            cursor.skip_to("DO")
            cursor.accept("DO")
        body = parse_statements(cursor)
    return _end_block(cursor, opener, "END_FOR", For(*head, body, opener.span) if head else None)


def _parse_range(cursor: Cursor) -> tuple[Node, Node, Node, Node | None]:
    if cursor.token.kind != "name":
        raise cursor.stop("expected", expected="the name of a variable", after="FOR")
    variable = parse_place(cursor)
    if cursor.token.key == "=":
        sign = cursor.take()
        cursor.findings.report("equals-assigns", sign.span, Fix.instead(sign.span, ":="))
    else:
        cursor.expect(":=", "the variable of FOR")
    start = parse_expression(cursor)
    cursor.expect("TO", "the first value of FOR")
    limit = parse_expression(cursor)
    step = parse_expression(cursor) if cursor.accept("BY") else None
    if not cursor.accept("DO"):
        cursor.findings.report("expected", cursor.token.span, expected="DO" if step else "BY or DO",
                               after="the range of FOR", found=cursor.describe())
    return variable, start, limit, step


def _parse_while(cursor: Cursor) -> Step | None:
    opener = cursor.take()
    with cursor.open(opener, "END_WHILE"):
        condition = _parse_header(cursor, opener, "DO")
        body = parse_statements(cursor)
    return _end_block(cursor, opener, "END_WHILE", While(condition, body, True, opener.span))


def _parse_repeat(cursor: Cursor) -> Step | None:
    opener = cursor.take()
    with cursor.open(opener, "UNTIL", "END_REPEAT"):
        body = parse_statements(cursor)
        condition = None
        if cursor.token.key == "UNTIL":
            until = cursor.take()
            try:
                condition = parse_expression(cursor)
            except SyntaxStop:
                cursor.skip_to("END_REPEAT", ";")
            cursor.accept(";")
        else:
            until = opener
            cursor.findings.report("expected", cursor.token.span, expected="UNTIL", found=cursor.describe(),
                                   after=f"the statements of REPEAT (opened at line {opener.line})")
    return _end_block(cursor, opener, "END_REPEAT", While(condition, body, False, until.span))


def _parse_jump(cursor: Cursor) -> Step:
    """EXIT, CONTINUE, RETURN; `RETURN(condition)` returns where it holds."""
    token = cursor.take()
    condition = parse_operand(cursor) if token.key == "RETURN" and cursor.token.key == "(" else None
    cursor.finish_statement(token.key)
    to = {"EXIT": "exit", "CONTINUE": "continue", "RETURN": "return"}[token.key]
    return Leave(to, token.span, condition)  # type: ignore[arg-type]


def _end_block(cursor: Cursor, opener: Token, end: str, step: Step | None) -> Step | None:
    """The `;` behind END_… is not needed."""
    if cursor.close(opener, end):
        cursor.accept(";")
    return step


_STATEMENTS: dict[str, Callable[[Cursor], Step | None]] = {
    "IF": _parse_if, "CASE": _parse_case, "FOR": _parse_for, "WHILE": _parse_while, "REPEAT": _parse_repeat,
    "EXIT": _parse_jump, "CONTINUE": _parse_jump, "RETURN": _parse_jump,
}


# Assertions, which stand in comments so that every other tool passes them over.

_NAME = re.compile(r":(?!\d)(?=[^:]*$)")  # the colons of a time of day stand before digits


def parse_assertion(cursor: Cursor) -> Assertion | None:
    """The assertion at the cursor, of which the last colon begins the name; without one its condition is its name.
    Nothing if it cannot be read."""
    token = cursor.take()
    head = token.text.upper().index("#ASSERT") + len("#ASSERT")
    condition, *name = _NAME.split(token.text[head:], maxsplit=1)
    inner = Cursor(split_tokens(condition, cursor.findings, token.line, token.column + head), cursor.findings)
    try:
        node = parse_expression(inner)
        if inner.token.kind != "end":
            raise inner.stop("expected", expected="an operator or ' : name'", after="the condition of #ASSERT")
    except SyntaxStop:
        return None
    end = token.column + len(token.text) - 1
    return Assertion(node, "".join(name).strip() or condition.strip(),
                     Span(token.line, token.column, token.line, end))
