"""Which file a fenced block is meant for: what its fence, the line above it or its first line say."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from string import whitespace

from chatdev.replies.languages import fits, is_known, language_of

_LONGEST = 2000  # characters; a longer line names no file
_LAYERS = 6  # of emphasis, quotes and remarks around a name
_DECORATION = re.compile(r"^(?:#{1,6}\s+|[-*+•>]\s+|\(?\d{1,3}[.)]\s+)*")
_LABEL = re.compile(
    r"[*_`]*(?:(?:new|updated|modified|changed|complete|full|the)\s+)?"
    r"(?:file\s?name|file_name|file\s?path|file|path|name|title|module)[*_`]*\s*[:=：][*_]*\s*", re.IGNORECASE)
_REMARK = re.compile(r"[(（][^()（）]*[)）]$")
_QUOTED = re.compile(r"[*_]*([`\"'])(?P<name>[^`\"']+)\1[*_]*")
_NAME_THEN_TEXT = re.compile(r"(?P<name>\S++)(?:(?<=[:：])\s|\s+(?:[-–—|]++|[:：])\s)\s*\S")
_ATTRIBUTE = re.compile(
    r"(?:file_?name|title|file|path|name)\s*[=:]\s*(?:\"(?P<a>[^\"]+)\"|'(?P<b>[^']+)'|(?P<c>[^\s}\"',]+))",
    re.IGNORECASE)
_COMMENT = re.compile(
    r"\s*(?:(?:#++|//++|--++|;++|%++|'|REM\s)(?P<line>.*)|/\*(?P<c>.*)\*/|\(\*(?P<st>.*)\*\)|<!--(?P<html>.*)-->)\s*",
    re.IGNORECASE)
_FRAMES = {"line": "", "c": "*", "st": "*", "html": "-"}
"""What may stand around the text of each kind of comment, beside blanks."""
_PLACEHOLDER = re.compile(
    r"(?:.*/)?(?:(?i:file_?name)(?:\.\w+)?|LANGUAGE(?:\.\w+)?|(?i:your_?file(?:_?name)?)(?:\.\w+)?)|(?i:/?path/to/.*)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_FLAGS = ("whole", "delete")
_NOT_IN_NAMES = set('<>|?*"=;`{}')
_EXTENSION = re.compile(r"[^/\\]\.[A-Za-z][\w+#-]{0,15}$")
_DOTFILE = re.compile(r"(?:^|[/\\])\.[A-Za-z][\w.-]*$")
_BARE_NAMES = {
    "dockerfile", "makefile", "license", "licence", "readme", "procfile", "gemfile", "rakefile", "jenkinsfile",
    "vagrantfile", "changelog", "notice", "authors", "copying", "contributing", "justfile", "brewfile", "pipfile",
}
_OUTSIDE = ("/", "~", "../", "..\\", ".git/", ".git\\")
_COMMAND_WORDS = {"python", "python3", "pip", "pip3", "node", "npm", "run", "open", "edit", "java", "go", "bash", "sh"}


@dataclass(frozen=True, slots=True)
class Info:
    """What the words behind an opening fence say. `word` is the language as written, `name` a file if there is one."""

    word: str = ""
    name: str | None = None
    whole: bool = False
    delete: bool = False

    @property
    def language(self) -> str | None:
        """The language meant by `word`, or None."""
        return language_of(self.word)


def read_info(info: str) -> Info:
    """Words behind a fence: `python`, `python main.py`, `python:main.py`, `py title="main.py"`, `delete`, `whole`."""
    info = info[:_LONGEST]
    attribute = _ATTRIBUTE.search(info)
    name = attribute[attribute.lastgroup or 0] if attribute else None
    rest = info[:attribute.start()] + info[attribute.end():] if attribute else info
    word, tokens = _language_word(_tokens(rest, braces=info.startswith("{")))
    flags = {token.casefold() for token in (word, *tokens)}
    name = name or next((token for token in tokens if looks_like_path(token)), None)
    word = "" if word.casefold() in _FLAGS else word
    return Info(word, _real_name(name), "whole" in flags, "delete" in flags)


def _tokens(info: str, *, braces: bool) -> list[str]:
    tokens = [token.strip(",") for token in re.split(r"[\s{}()]+", info) if token.strip(",#")]
    if braces and tokens:  # {.python .numberLines}
        tokens[0] = tokens[0].lstrip(".")
    return tokens


def _language_word(tokens: list[str]) -> tuple[str, list[str]]:
    """The word for the language, and what else stands there."""
    word, others = (tokens[0], tokens[1:]) if tokens else ("", [])
    if ":" in word and not _DRIVE.match(word):
        word, _, name = word.partition(":")
        return word, [name, *others]
    if looks_like_path(word) and (is_known(word) or word.startswith(".")) and not language_of(word):
        return "", tokens
    return word, others


def looks_like_path(text: str, *, blanks: bool = False) -> bool:
    """Whether `text` has the shape of a file's path, safe or not: `main.py`, `a/b.c`, `Dockerfile`, `.gitignore`."""
    if not text or not _can_be_path(text) or (not blanks and len(text.split()) != 1):
        return False
    basename = re.split(r"[/\\]", text)[-1]
    if basename.casefold() in _BARE_NAMES or _EXTENSION.search(text) or _DOTFILE.search(text):
        return True
    return text.startswith(_OUTSIDE) and bool(basename.strip(".~"))


def _can_be_path(text: str) -> bool:
    if len(text) > _LONGEST or _NOT_IN_NAMES & set(text) or "://" in text:
        return False
    return ":" not in text or _DRIVE.match(text) is not None


def _real_name(name: str | None) -> str | None:
    """`name`, unless it is a placeholder copied from the prompt."""
    return None if name is None or _PLACEHOLDER.fullmatch(name) else name


def name_on(line: str, known: Collection[str] = ()) -> str | None:
    """The path that `line` names and does little else: plain, bold, quoted, heading, `File: x`, with a remark.

    `known` are paths that exist; they are recognised in any shape.
    """
    if len(line) > _LONGEST:
        return None
    text = _strip_label(_DECORATION.sub("", line.strip(), count=1).strip())
    bare, quoted = _strip_decoration(text)
    if bare in known or looks_like_path(bare):
        return _real_name(bare)
    if quoted and looks_like_path(bare, blanks=True) and bare.split()[0].casefold() not in _COMMAND_WORDS:
        return _real_name(bare)
    if first := _NAME_THEN_TEXT.match(text):
        name = re.sub(r"[:：]$", "", first["name"]).rstrip("`*_\"'").strip("*`\"'[]")
        return _real_name(name) if looks_like_path(name) else None
    return None


def _strip_label(text: str) -> str:
    """`text` without `File:`, `Path:`, `FILENAME:` before the name."""
    label = _LABEL.match(text)
    return text[label.end():] if label else text


def _strip_decoration(text: str) -> tuple[str, bool]:
    """`text` without remarks, colons, emphasis and quotes; and whether it was quoted."""
    quoted = False
    for _ in range(_LAYERS):
        text = _REMARK.sub("", text.strip()).strip()
        text = text.rstrip(":：,").strip()
        if found := _QUOTED.fullmatch(text):
            text, quoted = found["name"], True
        text = text.strip("*`").strip()
        for left, right in (("__", "__"), ("_", "_"), ("[", "]"), ("<", ">")):
            inner = text[len(left):-len(right)]
            if text.startswith(left) and text.endswith(right) and looks_like_path(inner):
                text = inner
    return text, quoted


def names_within(line: str, language: str | None) -> list[str]:
    """Paths mentioned in a line of prose whose extension fits `language` (`Here is the new main.py:`)."""
    if language is None or len(line) > _LONGEST:
        return []
    tokens = (token.strip("*`\"'()[],:;!").rstrip(".") for token in re.split(r"[\s`*]+", line))
    return list(dict.fromkeys(token for token in tokens
                              if looks_like_path(token) and fits(token, language) and _real_name(token)))


@dataclass(frozen=True, slots=True)
class FirstLine:
    """A file named on the first line of a block, and the content without that line if it says nothing else."""

    name: str
    content: str


def name_inside(content: str, language: str | None) -> FirstLine | None:
    """The file that a block's first line names: a comment (after `#!`), or the bare path.

    A comment that says more than the name stays in the content.
    """
    head, line, rest = _first_line(content)
    if len(line) > _LONGEST:
        return None
    comment = _COMMENT.fullmatch(line.rstrip("\r\n"))
    text = _comment_text(comment) if comment else line.strip()
    name = name_on(text)
    if name is None or not _may_hold(name, language):
        return None
    alone = _strip_decoration(_strip_label(text))[0] == name
    if comment:
        return FirstLine(name, head + rest if alone else content)
    return FirstLine(name, head + rest) if alone and (language or not _is_listing(rest)) else None


def _may_hold(name: str, language: str | None) -> bool:
    return fits(name, language) if language else is_known(name)


def _comment_text(comment: re.Match[str]) -> str:
    return next((comment[kind].strip(whitespace + frame) for kind, frame in _FRAMES.items() if comment[kind]), "")


def _is_listing(text: str) -> bool:
    """Whether a text goes on with nothing but paths, as a list of files does."""
    lines = [line.strip() for line in text.split("\n", 5)[:5] if line.strip()]
    return all(map(looks_like_path, lines))


def _first_line(content: str) -> tuple[str, str, str]:
    """What stands before the line that may name the file (an interpreter line), that line, and the rest."""
    first, newline, rest = content.partition("\n")
    if not first.startswith("#!"):
        return "", first + newline, rest
    second, second_newline, tail = rest.partition("\n")
    return first + newline, second + second_newline, tail
