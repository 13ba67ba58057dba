"""Read assertions, which stand in comments so that every other tool passes them over:

    //#ASSERT Level <= 100 : never_too_full

The condition is an expression as in a program, and has tokens of its own, since it stands within one.
"""

from __future__ import annotations

from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.cursor import Cursor, SyntaxStop
from chatdev.departments.plc.st.parse_expression import parse_expression
from chatdev.departments.plc.st.syntax import Assertion
from chatdev.departments.plc.st.tokens import split_tokens


def parse_assertion(cursor: Cursor) -> Assertion | None:
    """The assertion at the cursor, of which the last colon begins the name; nothing if it cannot be read."""
    token = cursor.take()
    head = token.text.upper().index("#ASSERT") + len("#ASSERT")
    condition, colon, name = token.text[head:].rpartition(":")
    if not colon or not name.strip():
        cursor.findings.report("assertion-form", token.span)
        return None
    inner = Cursor(split_tokens(condition, cursor.findings, token.line, token.column + head), cursor.findings)
    try:
        node = parse_expression(inner)
        if inner.token.kind != "end":
            raise inner.stop("expected", expected="an operator or ' : name'", after="the condition of #ASSERT")
    except SyntaxStop:
        return None
    return Assertion(node, name.strip(), Span(token.line, token.column, token.line, token.column + len(token.text) - 1))
