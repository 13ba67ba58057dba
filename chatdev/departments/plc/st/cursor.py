"""The place of a parser in its tokens, with what every part of it needs to report errors and to go on after them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Findings, Fix
from chatdev.departments.plc.st.tokens import Token

MOST_NESTING = 100
"""So deep brackets and operators may stand in each other."""
MOST_BLOCKS = 90
"""So deep may statements: Python, in which programs are run, indents 100 times at the most."""
SECTION_WORDS = frozenset(("VAR", "VAR_INPUT", "VAR_OUTPUT", "VAR_IN_OUT", "VAR_TEMP", "VAR_STAT", "VAR_GLOBAL",
                           "VAR_EXTERNAL"))
UNIT_WORDS = frozenset(("FUNCTION", "FUNCTION_BLOCK", "PROGRAM", "TYPE"))
STATEMENT_WORDS = frozenset(("IF", "CASE", "FOR", "WHILE", "REPEAT", "EXIT", "CONTINUE", "RETURN"))
CLOSING_WORDS = frozenset(("END_IF", "END_CASE", "END_FOR", "END_WHILE", "END_REPEAT", "ELSE", "ELSIF", "UNTIL"))
UNIT_ENDS = frozenset(("END_FUNCTION", "END_FUNCTION_BLOCK", "END_PROGRAM"))
INNER_ENDS = frozenset(("END_TYPE", "END_VAR", "END_STRUCT"))
BOUNDARIES = SECTION_WORDS | UNIT_WORDS | STATEMENT_WORDS | CLOSING_WORDS | UNIT_ENDS | INNER_ENDS
"""Words that only begin or end something: after an error the reading goes on there."""


class SyntaxStop(Exception):
    """What is being read cannot be gone on with; the error is reported."""


class Cursor:
    """A list of tokens and the one that is looked at."""

    def __init__(self, tokens: list[Token], findings: Findings, allows_foreign: bool = False) -> None:
        self.findings = findings
        self.allows_foreign = allows_foreign
        """Whether operators of other languages may stand for those of Structured Text, as in properties."""
        self.broken = False
        """Whether a declaration was lost to an error, so that names may be missing."""
        self._tokens = tokens
        self._index = 0
        self._depth = 0
        self._openers: list[tuple[Token, frozenset[str]]] = []
        self.token = tokens[0]

    def take(self) -> Token:
        """The token that is looked at; go on to the next one."""
        taken = self.token
        if taken.kind != "end":
            self._index += 1
            self.token = self._tokens[self._index]
        return taken

    def accept(self, key: str) -> bool:
        """Whether the token is this one, which is then taken."""
        if self.token.key == key:
            self.take()
            return True
        return False

    def ahead(self, distance: int = 1) -> Token:
        """The token so far behind the one that is looked at."""
        return self._tokens[min(self._index + distance, len(self._tokens) - 1)]

    @property
    def previous(self) -> Token:
        """The token taken last."""
        return self._tokens[max(self._index - 1, 0)]

    def behind(self) -> Span:
        """The place just behind the token taken last, where something is missing."""
        last = self.previous
        column = last.column + len(last.text)
        return Span(last.line, column, last.line, column)

    def span_from(self, first: Span) -> Span:
        """From there to the token taken last."""
        last = self.previous
        return Span(first.line, first.column, last.line, last.column + len(last.text) - 1)

    def expect(self, key: str, after: str) -> None:
        """Take this token; where it is missing, say so and read on as if it stood there."""
        if not self.accept(key):
            self.findings.report("expected", self.token.span, expected=f"'{key}'", after=after, found=self.describe())

    def stop(self, code: str, **facts: object) -> SyntaxStop:
        """Report an error at the token; the exception is to be raised."""
        self.findings.report(code, self.token.span, found=self.describe(), **facts)
        return SyntaxStop()

    def describe(self) -> str:
        """The token in words."""
        token = self.token
        if token.kind == "end":
            return "the end of the text"
        return f"'{token.text[:40]}'"

    @contextmanager
    def nest(self, most: int = MOST_NESTING) -> Iterator[None]:
        """One level deeper, as long as it lasts."""
        if self._depth >= most:
            raise self.stop("too-deep", most=most)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    # blocks that have to be closed

    @contextmanager
    def open(self, opener: Token, *ends: str) -> Iterator[None]:
        """Within a block that one of these words ends or divides."""
        self._openers.append((opener, frozenset(ends)))
        try:
            with self.nest(MOST_BLOCKS):
                yield
        finally:
            self._openers.pop()

    def awaits(self, key: str) -> bool:
        """Whether some open block goes on or ends with this word."""
        return any(key in ends for _, ends in self._openers)

    @property
    def in_block(self) -> bool:
        """Whether a statement is open."""
        return bool(self._openers)

    def close(self, opener: Token, end: str) -> bool:
        """Take the word that ends a block, or another block's end in its place; where it is missing, say what opened
        the block. Whether one was taken."""
        if self.accept(end):
            return True
        self.findings.report("not-closed", self.token.span, expected=end, found=self.describe(), opener=opener.key,
                             line=opener.line)
        if self.token.key.startswith("END_") and self.token.key in CLOSING_WORDS and not self.awaits(self.token.key):
            self.take()
            return True
        return False

    def finish_statement(self, what: str) -> None:
        """Take the `;`, or say where it is missing; what is left of the line is then passed over."""
        if self.accept(";"):
            return
        token = self.token
        if token.kind == "end" or token.line > self.previous.line or token.key in BOUNDARIES:
            place = self.behind()
            self.findings.report("missing-semicolon", place, Fix.before(place, ";"),
                                 after=f"'{self.previous.text[:40]}'", what=what)
            return
        self.findings.report("unexpected", token.span, found=self.describe(), what=what, key=token.key)
        self.skip_statement()

    def skip_statement(self) -> None:
        """Pass over the rest of a statement: to behind its `;`, or to a word that begins or ends another one."""
        while self.token.kind != "end" and self.token.key not in BOUNDARIES:
            if self.take().key == ";":
                return

    def skip_to(self, *keys: str) -> bool:
        """Pass over a header's rest; whether one of the keys stands there. It ends at `;` and at other statements."""
        while self.token.key not in keys:
            if self.token.kind == "end" or self.token.key == ";" or self.token.key in BOUNDARIES:
                return False
            self.take()
        return True
