"""Split Structured Text into tokens, with comments left out and every dialect's way of writing names undone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Findings
from chatdev.departments.plc.st.pragmas import Pragmas

TokenKind = Literal["name", "keyword", "integer", "based", "real", "time", "typed", "string", "address", "operator",
                    "assert", "end"]
_WORDS = """
    AND AND_THEN ARRAY AT BEGIN BY CASE CONSTANT CONTINUE DO ELSE ELSIF END_CASE END_FOR END_FUNCTION
    END_FUNCTION_BLOCK END_IF END_PROGRAM END_REPEAT END_STRUCT END_TYPE END_VAR END_WHILE EXIT FALSE FOR FUNCTION
    FUNCTION_BLOCK IF MOD NOT OF OR OR_ELSE PROGRAM REPEAT RETAIN RETURN STRUCT THEN TO TRUE TYPE UNTIL VAR VAR_EXTERNAL
    VAR_GLOBAL VAR_INPUT VAR_IN_OUT VAR_OUTPUT VAR_STAT VAR_TEMP WHILE XOR
"""
KEYWORDS = frozenset(_WORDS.split())
_PATTERN = re.compile(r"""(?:
    (?P<space>\s++)
  | (?P<name>[^\W\d]\w*+(?!\#) | \#[^\W\d]\w*+ | "[^"\n]+" | \#"[^"\n]+")
  | (?P<assert>//\#ASSERT\b[^\n]*)
  | (?P<comment>//[^\n]* | \(\*(?:[^(*]++ | \((?!\*) | \*(?!\)))*+\*\) | /\*(?:[^/*]++ | /(?!\*) | \*(?!/))*+\*/)
  | (?P<pragma>\{[^{}]*+\})
  | (?P<open>\(\* | /\* | \{)
  | (?P<operator>:= | => | <> | <= | >= | \*\* | \.\. | == | != | --> | [-+*/=<>()\[\],;:.&^])
  | (?P<based>\d++\#\w+)
  | (?P<real>\d[\d_]*\.\d[\d_]*(?:E[-+]?\d+)? | \d[\d_]*E[-+]?\d+)
  | (?P<integer>\d[\d_]*)
  | (?P<time>(?:T|TIME|LT|LTIME|S5T|S5TIME)\#[-+]?[\w.]+)
  | (?P<typed>[^\W\d]\w*\#(?:[-+]?\d[\d_]*(?:\#\w+ | (?:\.\d[\d_]*)?(?:E[-+]?\d+)?) | [^\W\d]\w*))
  | (?P<string>'(?:\$.|[^'$\n])*+')
  | (?P<address>%[A-Z]*\*?\d*(?:\.\d+)*)
  | (?P<wrong>.)
)[ \t]*+""", re.VERBOSE | re.IGNORECASE | re.DOTALL)
MOST_NAME = 128
"""Characters of a name."""
_INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060"
_BEFORE_BLOCKS = (")", "THEN", "DO", "ELSE")
_BRACKETS = {"(*": ("*)", re.compile(r"\(\*|\*\)")), "/*": ("*/", re.compile(r"/\*|\*/")),
             "{": ("}", re.compile(r"[{}]"))}
_ODD = frozenset(("pragma", "open", "wrong"))
_HIDDEN = _ODD | {"space", "comment"}


class Token(NamedTuple):
    """One word or sign. `key` is what it is compared by: keywords and signs in upper case, names in lower case and
    without the quotes or `#` of a dialect; `text` is as written."""

    kind: TokenKind
    key: str
    text: str
    line: int
    column: int

    @property
    def span(self) -> Span:
        """Where it stands; tokens do not go over a line's end."""
        return Span(self.line, self.column, self.line, self.column + max(len(self.text), 1) - 1)


def split_tokens(source: str, findings: Findings, line: int = 1, column: int = 1,
                 defines: Iterable[str] | None = None) -> list[Token]:
    """The tokens of a source that begins at `line` and `column`, a token of the kind `end` last. What conditional
    pragmas leave out with these names defined has none; without `defines` there may be no such pragma.

    What is no token is reported and left out; after a comment that is never closed there is nothing more.
    """
    tokens: list[Token] = []
    pragmas = Pragmas(defines, findings)
    line_start, begin, counts = 1 - column, 0, True
    while begin < len(source):
        for match in _PATTERN.finditer(source, begin):
            kind, start = match.lastgroup, match.start()
            text = match[kind]  # type: ignore[index]  # without the blanks behind it
            at = start - line_start + 1
            if kind in _HIDDEN:
                if kind in _ODD:
                    begin = _pass_over(source, start, text, Span(line, at, line, at + 1), tokens, pragmas)
                    if begin < 0:
                        return [*tokens, Token("end", "", "", line, at)]
                    text, counts = source[start:begin], pragmas.counts
                if "\n" in text:
                    line += text.count("\n")
                    line_start = start + text.rindex("\n") + 1
                if kind == "open":
                    break  # the pattern goes on behind what is nested
            elif not counts:
                continue
            elif kind == "name":
                tokens.append(_name(text, line, at, findings))
            else:
                tokens.append(Token(kind, text, text, line, at))  # type: ignore[arg-type]
        else:
            break
    pragmas.end()
    return [*tokens, _end(tokens, Token("end", "", "", line, column))]


def _end(tokens: list[Token], first: Token) -> Token:
    last = tokens[-1] if tokens else first
    return Token("end", "", "", last.line, last.column + len(last.text))


def _name(text: str, line: int, column: int, findings: Findings) -> Token:
    upper = text.upper()
    if upper in KEYWORDS:
        return Token("keyword", upper, text, line, column)
    if len(text) > MOST_NAME:
        findings.report("long-name", Span(line, column, line, column + len(text) - 1), most=MOST_NAME)
        text = text[:MOST_NAME]
    return Token("name", text.strip('#"').lower(), text, line, column)


def _pass_over(source: str, start: int, opener: str, span: Span, tokens: list[Token], pragmas: Pragmas) -> int:
    """Where a pragma, a comment with others in it, or what is no token ends; -1 where nothing behind it is read: it is
    never closed or is what other languages have for a block. `opener` is the whole of what has nothing in it."""
    end = start + len(opener) if opener not in _BRACKETS else _find_end(source, start, opener)
    text = source[start:end]
    if not text:
        _cut("open-comment", span, pragmas.findings, opener=opener, closer=_BRACKETS[opener][0])
    elif text[0] != "{":
        if opener not in _BRACKETS and pragmas.counts:
            _report_wrong(text, span.line, span.column, pragmas.findings)
    elif not pragmas.read(text, span, bool(tokens) and tokens[-1].key in _BEFORE_BLOCKS):
        _cut("braces", span, pragmas.findings)
    return -1 if pragmas.findings.cut else end


def _find_end(source: str, start: int, opener: str) -> int:
    """Where a comment or pragma ends that holds others of its kind; `start` if it is never closed."""
    depth = 0
    for sign in _BRACKETS[opener][1].finditer(source, start):
        depth += 1 if sign[0] == opener else -1
        if not depth:
            return sign.end()
    return start


def _report_wrong(text: str, line: int, column: int, findings: Findings) -> None:
    """Report what is no token. What else seems wrong with its line is left unsaid."""
    span = Span(line, column, line, column + len(text) - 1)
    if text == "'":
        findings.report("open-string", span)
        findings.spoil(line)
    elif text not in _INVISIBLE:
        findings.report("wrong-character", span, character=text if text.isprintable() else f"U+{ord(text):04X}")
        findings.spoil(line)


def _cut(code: str, span: Span, findings: Findings, **facts: str) -> None:
    findings.report(code, span, **facts)
    findings.spoil(span.line)
    findings.cut = True
