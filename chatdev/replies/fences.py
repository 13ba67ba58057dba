"""Fenced code blocks of a reply, found line by line as CommonMark does, with care for what models really send: of
nested fences the outer counts, and a fence within a string or a comment is none."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Protocol

from chatdev.replies.languages import language_of
from chatdev.replies.patch import is_patch

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_USUAL = 3  # marks of a fence; who writes more says where the block ends
LanguageAt = Callable[[str, str], str | None]
"""The language of a block, by the text above it and the words on its fence."""
_FIRST_LINES = 20  # of a block: where it shows what it is
NEWEST = 1 << 30
"""For `semantics`: read as a run does that begins now (`engine/context.py:SEMANTICS`)."""
_SLOPPY_INDENT = 3  # a closing fence may be indented this much deeper than its opening; deeper ones are content


@dataclass(frozen=True, slots=True)
class Fence:
    """One fence line: its character, how many of them, its indentation in columns, and the words behind it."""

    char: str
    length: int
    indent: int
    info: str


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """A fenced block. `content` is as sent, with its line endings; `above` is the text since the block before.

    `start` and `end` are offsets of the whole block, fences included. `closed` is False when the reply ended inside.
    """

    info: str
    content: str
    above: str
    start: int
    end: int
    closed: bool


Unfenced = Callable[[Sequence[str], int], tuple[int, bool] | None]
"""End of an unfenced block that begins at a line (index of the line behind it), and whether it is whole; None without
one."""


def lines_of(text: str) -> list[str]:
    r"""The lines of `text` with their ends; only `\n` ends a line, so form feeds and the like stay content."""
    return _LINE.findall(text)


def indentation(line: str) -> str:
    """The blanks a line begins with."""
    return line[:len(line) - len(line.lstrip(" \t"))]


def fence_of(line: str) -> Fence | None:
    """The fence on `line`, opening or closing, or None."""
    body = line.lstrip(" \t")
    if body[:3] not in ("```", "~~~"):
        return None
    char = body[0]
    rest = body.lstrip(char)
    info = rest.strip()
    if char == "`" and "`" in info:  # inline code
        return None
    indent = len(line[: len(line) - len(body)].expandtabs(4))
    return Fence(char, len(body) - len(rest), indent, info)


def closes(line: str, opening: Fence) -> bool:
    """Whether `line` ends the block that `opening` began."""
    fence = fence_of(line)
    return fence is not None and _closes(fence, opening)


def _closes(fence: Fence, opening: Fence) -> bool:
    return (not fence.info and fence.char == opening.char and fence.length >= opening.length
            and fence.indent <= opening.indent + _SLOPPY_INDENT)


def language_on_fence(_above: str, info: str) -> str | None:
    """The language that the first word behind a fence names."""
    return language_of(info.split()[0]) if info else None


def scan(text: str, language_at: LanguageAt = language_on_fence, *, semantics: int = NEWEST) -> list[FencedBlock]:
    """All outermost blocks of `text`, in order.

    `language_at(above, info)` says in what language a block is. A fence within a string, a comment or the like is part
    of it. Outside of them a fence with words behind it opens a nested block, which a bare one closes; in
    Markdown a bare one may open one, too, where a blank line or a colon invites it. Before semantics 5 the first bare
    fence closes a block that is no Markdown; from 6 on a fence on a line of a patch that stays is part of the patch.
    """
    return list(each_block(text, language_at, semantics=semantics))


def each_block(text: str, language_at: LanguageAt = language_on_fence, *, semantics: int = NEWEST,
               unfenced: Unfenced | None = None) -> Iterator[FencedBlock]:
    """The blocks of `scan`, one by one, and among them those that `unfenced` finds, without words."""
    lines, reader = lines_of(text), _Closer(semantics)
    index = position = after = 0
    while index < len(lines):
        fence = fence_of(lines[index])
        above = text[after:position] if fence else ""
        end = reader.closing_line(lines, index, fence, language_at(above, fence.info)) if fence else None
        bare = unfenced(lines, index) if unfenced and not fence else None
        if not bare and (fence is None or (end is None and semantics > 4
                                           and reader.forgives_opening(lines, index))):
            position += len(lines[index])
            index += 1
            continue
        start = position
        if fence:
            last = len(lines) if end is None else end
            behind, info, closed = last + 1, fence.info, end is not None
            content = "".join(_dedent(line, fence.indent) for line in lines[index + 1:last])
        elif bare:
            behind, info, closed = bare[0], "", bare[1]
            above, content = text[after:position], "".join(lines[index:behind])
        after = position = start + sum(map(len, lines[index:behind]))
        yield FencedBlock(info, content, above, start, after, closed)
        index = behind


class _Closer:
    """Finds the line that closes a block."""

    def __init__(self, semantics: int) -> None:
        self._nested, self._patches = semantics > 4, semantics > 5
        self._fruitless: set[tuple[str | None, type[Spans], int]] = set()
        """Ways of reading that found no end for a block of a language. Where there is another one, they are not tried
        again: each would go through the whole text."""
        self._forgiven = False

    def closing_line(self, lines: Sequence[str], start: int, opening: Fence, language: str | None) -> int | None:
        """Index of the line that closes the block opened at `start`; None when none does."""
        in_markdown = language == "markdown"
        if opening.length > _USUAL and not in_markdown:
            language = "text"
        head = lines[start + 1:start + _FIRST_LINES]
        readings = readings_of(language, head, patches=self._patches) if self._nested else readings_of("text", ())
        for number, spans in enumerate(readings, 1):
            reading = language, type(spans), number
            if number == len(readings) or reading not in self._fruitless:
                end = _OpenFences(opening, in_markdown, self._nested).end(lines, start, spans)
                if end is not None:
                    return end
                self._fruitless.add(reading)
        return None if language == "python" or not self._nested else _only_close(lines, start, opening)

    def forgives_opening(self, lines: Sequence[str], start: int) -> bool:
        """Whether an unclosed fence is opened again at once or after a file's name, as small models do; it is then
        ignored. True once a text."""
        first, second = [*(line for line in lines[start + 1:start + _FIRST_LINES] if line.strip()), "", ""][:2]
        again = fence_of(first) or (fence_of(second) if len(first.split()) == 1 else None)
        forgiven, self._forgiven = self._forgiven, self._forgiven or bool(again and again.info)
        return self._forgiven and not forgiven


class _OpenFences:
    """The fences that are open within a block, the outermost first."""

    def __init__(self, opening: Fence, in_markdown: bool, nested: bool) -> None:
        self._opening, self._in_markdown, self._nested = opening, in_markdown, nested
        self._inner: list[Fence] = []

    def end(self, lines: Sequence[str], start: int, spans: Spans) -> int | None:
        """Index of the line behind `start` that closes the block, if there is one."""
        for index in range(start + 1, len(lines)):
            fence = fence_of(lines[index])
            if fence and not spans.holds(lines[index]) and self._step(fence, lines, index):
                return index
            spans.take(lines[index])
        return None

    def _step(self, fence: Fence, lines: Sequence[str], index: int) -> bool:
        """Open or close a nested block; whether the fence closes the outermost instead."""
        innermost = self._inner[-1] if self._inner else self._opening
        if not _closes(fence, innermost):
            opens = bool(fence.info) and fence.char == innermost.char and (self._nested or self._in_markdown)
        elif self._inner:
            self._inner.pop()
            return self._nested and fence.length >= self._opening.length > innermost.length
        else:
            opens = self._in_markdown and _opens_nested(lines, index)
            if not opens:
                return True
        self._inner += [fence] * opens
        return False


def _only_close(lines: Sequence[str], start: int, opening: Fence) -> int | None:
    """The last filled line of a reply, if it is the only one that could close the block: a lexer of a few words may be
    wrong, or the source."""
    last = next(index for index in range(len(lines) - 1, -1, -1) if lines[index].strip())
    fences = (index for index in range(start + 1, last + 1) if fence_of(lines[index]))
    return last if next(fences, None) == last and closes(lines[last], opening) else None


def _opens_nested(lines: Sequence[str], index: int) -> bool:
    """Whether a bare fence in Markdown looks like the beginning of a nested block, not like the end of the file.

    Something introduces it (a blank line, a colon), code follows, and that is not the next file's path and fence.
    """
    before, following = lines[index - 1].strip(), [line.strip() for line in lines[index + 1:index + 3]]
    if (before and not before.endswith(":")) or len(following) < 2 or not following[0] or fence_of(following[0]):
        return False
    fence = fence_of(following[1])
    return fence is None or not fence.info


def _dedent(line: str, indent: int) -> str:
    """`line` without as much of its indentation as the opening fence had (a block inside a list)."""
    return line[min(indent, len(indentation(line))):] if indent else line


# Spans of source over several lines (strings, comments, here-documents): a fence within one ends no block.

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
