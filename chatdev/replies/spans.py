"""Spans of source over several lines: strings, comments, here-documents. A fence within one is part of the source
and not the end of its block.

Lexers of a few words for each language: what ends on its line is passed over, what goes on is followed to its end. They
take line by line, in a time that grows with the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Protocol

from chatdev.replies.patch import is_patch

SEARCH = re.compile(r"\s*+<{5,9}\s*+SEARCH\s*+:?\s*+", re.IGNORECASE)
REPLACE = re.compile(r"\s*>{5,9}\s*REPLACE\s*", re.IGNORECASE)
"""The first and the last line of a search/replace block."""


class Spans(Protocol):
    """Follows the lines of a source."""

    opened: str
    """What began the span under way, as it is written; empty outside of spans."""

    def holds(self, line: str) -> bool:
        """Whether the next line belongs to a span."""
        ...

    def take(self, line: str) -> None:
        """Go on by a line."""
        ...


class Lexis:
    """The words of a language: patterns of what ends on its line, the spans with the patterns of their ends, and how a
    here-document begins."""

    def __init__(self, passed: str = "", spans: Mapping[str, str] | None = None, here: str = "") -> None:
        self._passed, self._spans, self._here = passed, spans or {}, here

    @cached_property
    def tokens(self) -> re.Pattern[str]:
        """What a line is looked through for."""
        opens = "|".join(sorted(self._spans, key=len, reverse=True))
        parts = {"open": opens, "here": self._here, "passed": self._passed,
                 "brace": "[{}]" if "`" in self._spans else ""}
        return re.compile("|".join(f"(?P<{name}>{part})" for name, part in parts.items() if part) or "(?!)",
                          re.DOTALL | re.IGNORECASE)

    @cached_property
    def ends(self) -> Mapping[str, re.Pattern[str]]:
        """What ends each span, from behind its beginning on."""
        return {mark: re.compile(end, re.DOTALL | re.IGNORECASE) for mark, end in self._spans.items()}

    @cache  # noqa: B019 - there are a few lexes, and they stay
    def end_of(self, opening: str) -> re.Pattern[str]:
        """What ends the span that begins so."""
        return next(end for mark, end in self.ends.items() if re.fullmatch(mark, opening, re.IGNORECASE))


_DOUBLE, _SINGLE = r'"(?:[^"\\\n]|\\.)*+"?', r"'(?:[^'\\\n]|\\.)*+'?"
_STRINGS = f"{_DOUBLE}|{_SINGLE}"
_CHARACTERS = rf"{_DOUBLE}|'(?:[^'\\\n]|\\[^\n]{{1,10}}?)'"  # a quote has other uses, too: lifetimes, widths of numbers
_REGEX = (r"(?:(?<=[(,=:\[!&|?{;])|(?<=return))[ \t]{0,9}/(?![*/])"
          r"(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.){0,99}+\]){1,300}+/")
_SLASHES, _HASH, _DASHES = r"//[^\n]*+", r"\#[^\n]*+", r"--[^\n]*+"
_DOUBLE3 = {'"""': r'(?:[^"\\]|\\.|"(?!""))*+"""'}
_TRIPLE = {**_DOUBLE3, "'''": r"(?:[^'\\]|\\.|'(?!''))*+'''"}
_BLOCK = {r"/\*": r".*?\*/"}
_TEMPLATE = {"`": r"(?:[^`\\$]|\\.|\$(?!\{))*+(?:`|(?P<hole>\$\{))"}
_WORD = r"(?P<quote>['\"]?)(?P<word>[A-Z_]{2}\w*)(?P=quote)"
_HERE = rf"(?<![<\w])<<[<~-]?{_WORD}"
_ELEMENTS = {rf"<{tag}(?![\w-])": rf".*?</{tag}\s*>" for tag in ("pre", "textarea", "script", "style", "svg")}
_MARKUP = {**_ELEMENTS, "<!--": ".*?-->", r"<!\[CDATA\[": r".*?\]\]>"}

_C = Lexis(f"{_SLASHES}|{_CHARACTERS}", _BLOCK)
_SCRIPT = Lexis(f"{_SLASHES}|{_STRINGS}|{_REGEX}", _BLOCK | _TEMPLATE)
_TEXT_BLOCKS = Lexis(f"{_SLASHES}|{_CHARACTERS}", _BLOCK | _DOUBLE3)
_MARKS = Lexis("", _MARKUP)
LEXES: Mapping[str | None, Lexis] = {
    "python": Lexis(f"{_HASH}|{_STRINGS}", _TRIPLE),
    "javascript": _SCRIPT, "typescript": _SCRIPT,
    "c": _C, "c++": _C, "verilog": _C, "systemverilog": _C,
    "java": _TEXT_BLOCKS, "kotlin": _TEXT_BLOCKS, "scala": _TEXT_BLOCKS, "swift": _TEXT_BLOCKS,
    "c#": Lexis(f"{_SLASHES}|{_CHARACTERS}", {**_BLOCK, **_DOUBLE3, '@"': r'(?:[^"]|"")*+"'}),
    "rust": Lexis(f"{_SLASHES}|{_CHARACTERS}", {**_BLOCK, 'r#"': '.*?"#'}),
    "go": Lexis(f"{_SLASHES}|{_CHARACTERS}", {**_BLOCK, "`": "[^`]*+`"}),
    "dart": Lexis(f"{_SLASHES}|{_STRINGS}", _BLOCK | _TRIPLE),
    "css": Lexis(_STRINGS, _BLOCK),
    "sql": Lexis(f"{_DASHES}|{_STRINGS}", {**_BLOCK, r"\$\$": r".*?\$\$"}),
    "lua": Lexis(rf"--(?!\[\[)[^\n]*+|{_STRINGS}", {r"\[\[": r".*?\]\]"}),
    "haskell": Lexis(f"{_DASHES}|{_CHARACTERS}", {r"\{-": r".*?-\}"}),
    "julia": Lexis(rf"\#(?!=)[^\n]*+|{_CHARACTERS}", {"#=": ".*?=#", **_DOUBLE3}),
    "structured text": Lexis(rf"{_SLASHES}|'(?:[^'\n$]|\$.)*+'?", {r"\(\*": r".*?\*\)"}),
    "php": Lexis(f"{_SLASHES}|{_HASH}|{_STRINGS}", _BLOCK, _HERE),
    "ruby": Lexis(f"{_HASH}|{_STRINGS}", {}, _HERE), "perl": Lexis(f"{_HASH}|{_STRINGS}", {}, _HERE),
    "shell": Lexis(rf"\\.|\(\([^\n]*+|(?<![^\s;]){_HASH}|{_STRINGS}", {}, rf"(?<!<)<<-?[ \t]*+{_WORD}"),
    "json": Lexis("", {'"': r'(?:[^"\\]|\\.)*+"'}),
    "toml": Lexis(f"{_HASH}|{_STRINGS}", _TRIPLE),
    "html": Lexis("", {r"<html(?![\w-])": r".*?</html\s*>", **_MARKUP}), "xml": _MARKS,
    None: Lexis("", _TRIPLE),
}
_WITHOUT_ROOT = {"html": _MARKS}  # a part of a page need not close what another part does


def readings_of(language: str | None, lines: Sequence[str], *, patches: bool = True) -> list[Spans]:
    """How the lines of a block may be followed, the likeliest way first: by another only if it gives no end to it."""
    first = next((line for line in lines if line.strip()), "")
    readings: list[Spans] = [_Changes(), _Lexed(Lexis())] if SEARCH.fullmatch(first) else []
    if patches and (language == "diff" or is_patch("".join(lines).lstrip())):
        return [*readings, _Hunks(_columns(first)), _Lexed(LEXES.get(language, Lexis()))]
    if language == "yaml":
        return [*readings, _BlockScalars()]
    lexes = [LEXES.get(language, Lexis()), *([_WITHOUT_ROOT[language]] if language in _WITHOUT_ROOT else [])]
    return [*readings, *map(_Lexed, lexes)]


def open_span(language: str | None, lines: Sequence[str]) -> tuple[int, str]:
    """The line, from 1, of the span in which the lines end, and what begins it; (0, "") when they end in none."""
    spans, since = readings_of(language, lines)[-1], 0
    for number, line in enumerate(lines, 1):
        before = spans.opened if spans.holds(line) else ""
        spans.take(line)
        since = since if before and spans.opened == before else number
    return (since, spans.opened) if spans.opened else (0, "")


class _Lexed:
    """Spans by the words of a language."""

    def __init__(self, lexis: Lexis) -> None:
        self.opened = ""
        self._lexis = lexis
        self._word = ""  # that ends the here-document
        self._braces: list[int] = []  # open ones in each hole of a template string

    def holds(self, line: str) -> bool:
        """Whether the next line belongs to a span."""
        return bool(self.opened)

    def take(self, line: str) -> None:
        """Go on by a line. A fence outside of spans is no source; inside a string in backquotes it is text."""
        if self._word:
            if line.strip().rstrip(";,)") == self._word:
                self.opened = self._word = ""
            return
        if self.opened in ("", "`") and line.lstrip(" \t").startswith(("```", "~~~")):
            return
        if (word := self._scan(line)) and not self.opened:
            self._word, self.opened = word, f"<<{word}"

    def _scan(self, line: str) -> str:
        """Go on by the tokens of a line; the word of the here-document that begins behind it, if there is one."""
        at, word = 0, ""
        while at < len(line):
            found = (self._lexis.end_of(self.opened).match if self.opened else self._lexis.tokens.search)(line, at)
            if found is None:
                break
            at, word = found.end(), self._step(found) or word
        return word

    def _step(self, found: re.Match[str]) -> str:
        """Go on by a token, or by the end of a span; the word of a here-document that begins behind this line."""
        parts = found.groupdict()
        if self.opened:
            if parts.get("hole"):
                self._braces.append(0)
            self.opened = ""
        elif parts.get("open"):
            self.opened = parts["open"]
        elif brace := parts.get("brace"):
            self._count(brace)
        return parts.get("word") or ""

    def _count(self, brace: str) -> None:
        """Go on by a brace; the last one of a hole leads back into its string."""
        if not self._braces:
            return
        self._braces[-1] += 1 if brace == "{" else -1
        if self._braces[-1] < 0:
            self._braces.pop()
            self.opened = "`"


class _BlockScalars:
    """The literal and folded texts of YAML: what stands deeper than the key above it."""

    _BEGINS = re.compile(r"(?P<indent>[ \t]*(?:- +)*)(?:[^#\s].*: +|(?<=- ))(?P<mark>[|>][0-9+-]{0,2})[ \t]*(?:#.*)?")

    def __init__(self) -> None:
        self.opened = ""
        self._indent = 0

    def holds(self, line: str) -> bool:
        """Whether the next line belongs to a span."""
        return bool(self.opened) and (not line.strip() or _columns(line) > self._indent)

    def take(self, line: str) -> None:
        """Go on by a line."""
        if self.holds(line):
            return
        found = self._BEGINS.fullmatch(line.rstrip()[:1000])
        self.opened, self._indent = (found["mark"], len(found["indent"])) if found else ("", 0)


class _Changes:
    """Search/replace blocks: what stands in them may be any part of a file."""

    def __init__(self) -> None:
        self.opened = ""

    def holds(self, line: str) -> bool:
        """Whether the next line belongs to a span."""
        return bool(self.opened)

    def take(self, line: str) -> None:
        """Go on by a line."""
        if self.opened:
            self.opened = "" if REPLACE.fullmatch(line) else self.opened
        elif SEARCH.fullmatch(line):
            self.opened = "<<<<<<< SEARCH"


class _Hunks:
    """The lines of a patch that stay: a fence on one of them is part of the file."""

    def __init__(self, indent: int) -> None:
        self.opened = ""
        self._indent = indent

    def holds(self, line: str) -> bool:
        """Whether the next line has the sign of one that stays."""
        return line.startswith(" ") and _columns(line) > self._indent

    def take(self, line: str) -> None:
        """Go on by a line; whether one stays is said by its sign alone."""


def _columns(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
