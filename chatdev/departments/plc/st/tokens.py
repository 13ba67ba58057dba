"""Split Structured Text into tokens, with comments left out and every dialect's way of writing names undone; the values
of literals, and a parser's place in the tokens."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Literal, NamedTuple

from chatdev.departments.plc.st.core import Span, Value
from chatdev.departments.plc.st.diagnostics import Findings, Fix
from chatdev.departments.plc.st.pragmas import Pragmas

TokenKind = Literal["name", "keyword", "integer", "based", "real", "time", "typed", "string", "address", "operator",
                    "assert", "foreign", "end"]
_WORDS = """
    AND AND_THEN ARRAY AT BEGIN BY CASE CONSTANT CONTINUE DO ELSE ELSIF END_ACTION END_ACTIONS END_CASE
    END_CONFIGURATION END_CONST END_DATA_BLOCK END_FOR END_FUNCTION END_FUNCTION_BLOCK END_GET END_IF END_INTERFACE
    END_METHOD END_NAMESPACE END_ORGANIZATION_BLOCK END_PROGRAM END_PROPERTY END_REPEAT END_RESOURCE END_SET END_STRUCT
    END_TYPE END_UNION END_VAR END_WHILE EXIT FALSE FOR FUNCTION FUNCTION_BLOCK IF MOD NOT OF OR OR_ELSE PROGRAM REPEAT
    RETAIN RETURN STRUCT THEN TO TRUE TYPE UNTIL VAR VAR_EXTERNAL VAR_GLOBAL VAR_INPUT VAR_INST VAR_IN_OUT VAR_OUTPUT
    VAR_STAT VAR_TEMP WHILE XOR
"""
KEYWORDS = frozenset(_WORDS.split())
_OTHER_WORDS = {"FUNCTIONBLOCK": "FUNCTION_BLOCK"}
"""Words that CODESYS 2.3 writes for others."""
_PATTERN = re.compile(r"""(?:
    (?P<space>\s++)
  | (?P<name>[^\W\d]\w*+(?!\#) | \#[^\W\d]\w*+ | "[^"\n]*" | \#"[^"\n]+")
  | (?P<assert>//\#ASSERT\b[^\n]*)
  | (?P<comment>//[^\n]* | (?<![\w"\]])\(/\*(?:[^/*]++ | /(?!\*) | \*(?!/))*+\*/\)
                | \(\*(?:[^(*]++ | \((?!\*) | \*(?!\)))*+\*\) | /\*(?:[^/*]++ | /(?!\*) | \*(?!/))*+\*/)
  | (?P<pragma>\{[^{}]*+\})
  | (?P<open>\(\* | /\* | \{)
  | (?P<operator>:= | => | <> | <= | >= | \*\* | \.\. | == | != | --> | [-+*/=<>()\[\],;:.&^])
  | (?P<based>\d++\#\w+)
  | (?P<real>\d[\d_]*\.\d[\d_]*(?:E[-+]?\d+)? | \d[\d_]*E[-+]?\d+)
  | (?P<integer>\d[\d_]*)
  | (?P<time>(?:T|TIME|LT|LTIME|S5T|S5TIME)\#[-+]?[\w.]+ | L?D(?:ATE)?\#[\d_]+-[\d_]+-[\d_]+
             | L?(?:TOD|TIME_OF_DAY)\#[\d_]+(?::[\d_.]+)+
             | (?:DTL|L?DT|L?DATE_AND_TIME)\#[\d_]+(?:-[\d_]+)+(?::[\d_.]+)+)
  | (?P<typed>[^\W\d]\w*\#(?:[-+]?\d[\d_]*(?:\#\w+ | (?:\.\d[\d_]*)?(?:E[-+]?\d+)?) | [^\W\d]\w*))
  | (?P<string>(?:W?(?:STRING|CHAR)\#)?'(?:\$.|[^'$\n])*+')
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
                    if pragmas.is_foreign and text[:1] == "{":
                        tokens.append(Token("foreign", "{", "{", line, at))
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
    upper = _OTHER_WORDS.get(upper, upper)
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
        return -1
    if text[0] != "{":
        if opener not in _BRACKETS and pragmas.counts:
            _report_wrong(text, span.line, span.column, pragmas.findings)
    elif not pragmas.read(text, span, bool(tokens) and tokens[-1].key in _BEFORE_BLOCKS):
        _cut("braces", span, pragmas.findings)
        return -1
    return end


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


# The values of literals: `16#8A04`, `INT#5`, `T#1m30s`, `1.5E3`, `'it$'s'`.

_UNITS: dict[str, int | Fraction] = {
    "d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1, "us": Fraction(1, 1000),
    "ns": Fraction(1, 1_000_000)}
_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ms|us|ns|d|h|m|s)")
_SIEMENS = {"B": "BYTE", "W": "WORD", "DW": "DWORD", "LW": "LWORD", "DINT": "DINT", "L": "DINT"}
_ESCAPES = {"L": "\n", "N": "\n", "P": "\f", "R": "\r", "T": "\t"}
MOST_DIGITS = 64


class BadLiteral(Exception):
    """A literal that says no value; the text tells why."""


def read_number(text: str) -> int | float:
    """The value of `12`, `1_000`, `16#FF`, `2#1010` or `1.5E3`."""
    if len(text) > 2 * MOST_DIGITS:
        raise BadLiteral(f"it has more than {2 * MOST_DIGITS} characters")
    plain = text.replace("_", "")
    if "#" in plain:
        base, digits = plain.split("#", 1)
        if base not in ("2", "8", "10", "16"):
            raise BadLiteral(f"the base {base} is none of 2, 8, 10, 16")
        try:
            return int(digits, int(base))
        except ValueError:
            raise BadLiteral(f"'{digits}' has other digits than those of base {base}") from None
    if any(sign in plain for sign in ".eE"):
        value = float(plain)
        if value in (float("inf"), float("-inf")):
            raise BadLiteral("it is larger than any REAL or LREAL")
        return value
    return int(plain)


def read_time(text: str) -> tuple[str, int]:
    """The type and the count of `T#1m30s`, `TIME#-1.5s`, `LTIME#1us`, of a date or a time of day. A duration that is
    no whole number of milliseconds is an LTIME."""
    prefix, _, digits = text.upper().partition("#")
    if prefix == "DTL":
        return prefix, _read_moment("LDT", digits.replace("_", ""))[1]
    if prefix not in _DURATIONS:
        return _read_moment(prefix, digits.replace("_", ""))
    total = _read_duration(text) * 1_000_000
    if total.denominator != 1:
        raise BadLiteral("a duration counts in whole nanoseconds here")
    if prefix.startswith("L") or total % 1_000_000:
        if not -2 ** 63 <= total < 2 ** 64:
            raise BadLiteral("an LTIME ends after 213503 days")
        return "LTIME", int(total)
    return "TIME", int(total) // 1_000_000


_DURATIONS = frozenset(("T", "TIME", "LT", "LTIME", "S5T", "S5TIME"))
_MOMENTS = {"D": "DATE", "TOD": "TIME_OF_DAY", "DT": "DATE_AND_TIME"}
_EPOCH = datetime.date(1970, 1, 1)


def _read_moment(prefix: str, digits: str) -> tuple[str, int]:
    """A date in seconds from 1970 on, a time of day in milliseconds, and both in nanoseconds with an `L` before it."""
    is_long = prefix.startswith("L")
    name = _MOMENTS.get(prefix.removeprefix("L"), prefix.removeprefix("L"))
    day, clock = digits, ""
    if name != "DATE":
        day, _, clock = digits.rpartition("-")
    try:
        days = (datetime.date(*map(int, day.split("-"))) - _EPOCH).days if name != "TIME_OF_DAY" else 0
        hours, minutes, seconds = [*map(Fraction, clock.split(":") if clock else ()), *[Fraction(0)] * 3][:3]
    except (ValueError, TypeError):
        raise BadLiteral("a date is written D#2024-02-29, a time of day TOD#13:30:00, both DT#2024-02-29-13:30:00"
                         ) from None
    if not (0 <= hours < 24 and 0 <= minutes < 60 and 0 <= seconds < 60):
        raise BadLiteral("a time of day ends at 23:59:59.999")
    total = days * 86400 + hours * 3600 + minutes * 60 + seconds
    if is_long:
        return f"L{name}", int(total * 10**9)
    if not 0 <= total < 2**32:
        raise BadLiteral("a DATE goes from D#1970-01-01 to D#2106-02-06 here")
    return name, int(total * 1000) if name == "TIME_OF_DAY" else int(total)


def _read_duration(text: str) -> Fraction:
    """Milliseconds."""
    if len(text) > 2 * MOST_DIGITS:
        raise BadLiteral(f"it has more than {2 * MOST_DIGITS} characters")
    digits = text.split("#", 1)[1].replace("_", "").lower()
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    total, end, last = Fraction(0), 0, Fraction(2 ** 31)
    for part in _PARTS.finditer(digits):
        if part.start() != end:
            break
        if _UNITS[part[2]] >= last:
            raise BadLiteral("its units go from long to short, each once, as in T#1h30m")
        last = Fraction(_UNITS[part[2]])
        total, end = total + Fraction(part[1]) * last, part.end()
    if end != len(digits) or not digits:
        raise BadLiteral("a duration has numbers with units d, h, m, s, ms, as in T#1m30s or T#250ms")
    if total >= 2 ** 32 and not text.upper().startswith("L"):
        raise BadLiteral("a TIME ends at T#24d20h31m23s647ms, and that of CODESYS and TwinCAT at T#49d17h2m47s295ms")
    return sign * total


def read_typed(text: str) -> tuple[str, Value]:
    """The type and the value of `INT#5`, `WORD#16#FF`, `BOOL#1`, `W#16#8001`; the type is in upper case."""
    prefix, rest = text.split("#", 1)
    type_name = _SIEMENS.get(prefix.upper(), prefix.upper())
    if rest.upper() in ("TRUE", "FALSE"):
        return type_name, rest.upper() == "TRUE"
    sign = -1 if rest.startswith("-") else 1
    return type_name, sign * read_number(rest.lstrip("+-"))


def read_string(text: str) -> str:
    """The characters of `'it$'s$N'`."""
    def undo(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 16)) if len(code) == 2 else _ESCAPES.get(code.upper(), code)

    return re.sub(r"\$([0-9A-Fa-f]{2}|.)", undo, text[text.index("'") + 1:-1])


# A parser's place in its tokens, with what every part needs to report errors and to go on after them.

MOST_NESTING = 100
"""So deep brackets and operators may stand in each other."""
MOST_BLOCKS = 90
"""So deep may statements: Python, in which programs are run, indents 100 times at the most."""
SECTION_WORDS = frozenset(("VAR", "VAR_INPUT", "VAR_OUTPUT", "VAR_IN_OUT", "VAR_TEMP", "VAR_STAT", "VAR_GLOBAL",
                           "VAR_EXTERNAL", "VAR_INST"))
UNIT_WORDS = frozenset(("FUNCTION", "FUNCTION_BLOCK", "PROGRAM", "TYPE"))
STATEMENT_WORDS = frozenset(("IF", "CASE", "FOR", "WHILE", "REPEAT", "EXIT", "CONTINUE", "RETURN"))
CLOSING_WORDS = frozenset(("END_IF", "END_CASE", "END_FOR", "END_WHILE", "END_REPEAT", "ELSE", "ELSIF", "UNTIL"))
UNIT_ENDS = frozenset(("END_FUNCTION", "END_FUNCTION_BLOCK", "END_PROGRAM", "END_INTERFACE", "END_ORGANIZATION_BLOCK",
                       "END_DATA_BLOCK", "END_CONFIGURATION", "END_RESOURCE", "END_NAMESPACE", "END_ACTIONS"))
MEMBER_WORDS = frozenset(("method", "property", "property_get", "property_set", "action"))
MEMBER_ENDS = frozenset(("END_METHOD", "END_PROPERTY", "END_ACTION", "END_GET", "END_SET"))
INNER_ENDS = frozenset(("END_TYPE", "END_VAR", "END_STRUCT", "END_UNION", "END_CONST"))
BOUNDARIES = SECTION_WORDS | UNIT_WORDS | STATEMENT_WORDS | CLOSING_WORDS | UNIT_ENDS | MEMBER_ENDS | INNER_ENDS
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
        self.calls: set[str] = set()
        """The names that something is called by."""
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


def begins_member(cursor: Cursor) -> bool:
    """Whether a METHOD, PROPERTY or ACTION begins here: two names in a row are no statement."""
    return cursor.token.key in MEMBER_WORDS and cursor.ahead().kind == "name" and cursor.ahead().key != "ref" \
        and cursor.ahead().line == cursor.token.line


_BEHIND_NAMES = (":=", "(", ".", "[", ":", ",", "AT", "=", "^")


def pass_region(cursor: Cursor) -> bool:
    """Whether `REGION name` or `END_REGION name` stands here, which divides nothing and is passed over."""
    token = cursor.token
    is_head = token.key in ("region", "end_region") and cursor.ahead().key not in _BEHIND_NAMES
    while is_head and cursor.token.line == token.line and cursor.token.kind != "end":
        cursor.take()
    return is_head
