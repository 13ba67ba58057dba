"""Where things stand in a request: lines, what is between marks, and commands, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chatdev.departments.software.cases.case import split_words
from chatdev.departments.software.cases.wording import (
    COLONS,
    MARK,
    begins_with,
    is_concrete,
    is_literal,
    is_unmistakable,
    is_word_of_speech,
    places_of,
    says,
)

Place = tuple[int, int]
"""Where something begins and ends, in characters of the request."""

OPENING, CLOSING = "`\"“„'«「‘*", "`\"”“'»」’*"
BARE = " \t`\"“”„'«»「」|*"
"""What may stand around a text that is whole."""
ASIDE = re.compile(r"(?<!\s)\s*[(（][^()（）]*[)）]\s*$")
BULLET = re.compile(r"^[ \t]*(?:[-*•]|>{1,2}|\d{1,2}[.)])[ \t]+")
ARROW = r"=>|(?<!-)-+>|→|⇒|⟶|↦"
_SPAN = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^“”\n]+)”|„([^„“”\n]+)[“”]|«\s?([^«»\n]+?)\s?»"
                   r"|「([^「」\n]+)」|(?<!\w)'([^'\n]+)'(?!\w)|‘([^‘’\n]+)’"
                   r"|(?<![\w*])\*{1,2}(?=[^\s*])([^*\n]+?)(?<!\s)\*{1,2}(?![\w*])")
_LABEL = re.compile(r"[ \t]*(?:[-*•][ \t]+|\d{1,2}[.)][ \t]+)?([^\s:：`\"][^:：`\"\n]{0,40}?)[ \t]*"
                    r"[:：](?=\s|$|[\u3000-\u9fff])[ \t]*")
_HEADS = re.compile(r"[ \t]*|.*[$>%][ \t]*|[ \t]*(?:[-*•>]|\d{1,2}[.)])[ \t]+|(?:.*[?.!])?[ \t]*[^\s:]{1,20}:[ \t]+")
"""What may stand before a command that has its line for itself."""
_BEHIND = re.compile(rf"[ \t]*(?:{ARROW}|\|)|[ \t]+#[ \t]|[ \t]{{3,}}|\t")
_COMMENT = re.compile(r"[ \t]+#[ \t].*")
_FIGURE = re.compile(r"\s+[-+$€£]?(\d+)")
_IS = re.compile(r"\s*(?:is|ist|est|es|=)\b")
_WORD = re.compile(r"\"[^\"]*\"|'[^']*'|[^\s\"'`“”„]+")
_FORM = re.compile(r"[A-Z]{3,}\d?|[\[<].*|.*[\]>]")
_MOST_WORDS, _NEAR = 12, 60  # words of a command, characters behind it


@dataclass(frozen=True, slots=True)
class PlacedCommand:
    """The arguments of a command; `whole` says that a line or marks end it, and not a guess where the sentence goes
    on."""

    arguments: tuple[str, ...]
    place: Place
    whole: bool


def placed_lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line, and where it begins."""
    begin = 0
    for line in text.splitlines(keepends=True):
        yield begin, line.rstrip("\r\n")
        begin += len(line)


def marked_places(text: str) -> Iterator[Place]:
    """What stands between marks, without these."""
    for found in _SPAN.finditer(text):
        yield found.span(next(number for number in range(1, 10) if found[number]))


def label_of(line: str) -> tuple[str, int] | None:
    """The label that a line begins with, and where what follows it begins."""
    found = _LABEL.match(line)
    return (found[1].casefold(), found.end()) if found else None


def plain_words(text: str) -> tuple[str, ...]:
    """The words of a text as a shell takes them; none where a shell would have a say, or where there are many."""
    words = split_words(text)
    if words is None or len(words) > _MOST_WORDS or any(word.operator for word in words):
        return ()
    return tuple(word.text for word in words)


def is_form(words: Sequence[str]) -> bool:
    """Whether words are names for what has to be typed; a single letter may be meant as it is."""
    return not is_concrete([word for word in words if len(word) > 1]) or any(map(_FORM.fullmatch, words))


def command_pattern(command: str) -> re.Pattern[str]:
    """What stands before a program's arguments, in running text, too."""
    return re.compile(rf"(?<![\w./-])(?:{command})(?=[\s`\"'|?:,.;)”“‘’„«»]|$)")


def commands_in(text: str, command: str) -> list[PlacedCommand]:
    """The commands of a text that are no mere forms, in its order."""
    pattern, spans = command_pattern(command), list(marked_places(text))
    starts = list(pattern.finditer(text))
    ends = [*(found.start() for found in starts[1:]), len(text)]
    found = (_command_at(text, start, end, spans) for start, end in zip(starts, ends, strict=False))
    return [placed for placed in found if not is_form(placed.arguments)]


def _command_at(text: str, start: re.Match[str], end: int, spans: Sequence[Place]) -> PlacedCommand:
    """The command that begins there, up to the end of its marks or line, or as far as it seems to go in a sentence."""
    line_end = text.find("\n", start.end()) % (len(text) + 1)
    span = next((span for span in spans if span[0] <= start.start() and start.end() <= span[1]), (0, line_end))
    rest = _BEHIND.split(text[start.end():min(end, line_end, span[1])], maxsplit=1)[0]
    if span == (0, line_end):
        if not _HEADS.fullmatch(text[text.rfind("\n", 0, start.start()) + 1:start.start()]):
            return _command_of_speech(rest, start)
        rest = re.split(r":(?:\s|$)", rest, maxsplit=1)[0]
        if rest.rstrip().endswith(".") or any(begins_with("after_command", word) for word in rest.split()[1:]):
            return _command_of_speech(rest, start)
    return PlacedCommand(plain_words(rest), (start.start(), start.end() + len(rest.rstrip())), whole=True)


def _command_of_speech(rest: str, start: re.Match[str]) -> PlacedCommand:
    words, length = _words_of_speech(rest)
    return PlacedCommand(words, (start.start(), start.end() + length), whole=False)


def _words_of_speech(rest: str) -> tuple[tuple[str, ...], int]:
    """The arguments of a command in a sentence, and where they end: before a word that goes on with the sentence."""
    kept, end = list[str](), 0
    for found in _WORD.finditer(rest):
        word = re.split(r"[，。；：、]", found[0])[0].rstrip(",;:)!?")
        word = word.removesuffix(".")
        if not word or (is_word_of_speech(word) if kept else _goes_on(word)):
            break
        kept.append(word.strip("\"'"))
        end = found.start() + len(word)
        if word != found[0]:
            break
    return tuple(kept), end


def shows_output(text: str, command: Place, following: int) -> bool:
    """Whether something that has the form of an output stands next to a command and before the following one: the line
    below one that has its line for itself, what stands behind an arrow or in the next cell, or what is between marks
    near a word that says so, or a figure of its own right behind such a word."""
    line_begin, line_end = text.rfind("\n", 0, command[0]) + 1, text.find("\n", command[1]) % (len(text) + 1)
    rest = text[command[1]:line_end].lstrip(CLOSING)
    if _HEADS.fullmatch(text[line_begin:command[0]].rstrip(OPENING)) and not _COMMENT.sub("", rest).strip(" \t:："):
        below = text[line_end + 1:].partition("\n")[0].rstrip()
        if below != "" and not below.endswith((".", ":")) and following > line_end + len(below):
            return True
    near = rest[:min(_NEAR, max(0, following - line_end + len(rest)))]
    return _has_output_behind(rest) or rest.lstrip(" \t").startswith("= ") or _speaks_of_output(near) or (
        _says_figure(near, text[slice(*command)]))


def _has_output_behind(text: str) -> bool:
    """Whether an arrow, a gap, the edge of a cell or the sign of a comment leads to what is printed, and not to what
    the command does."""
    behind = _BEHIND.match(text)
    if not behind:
        return False
    said = text[behind.end():].strip(" \t|")
    is_output = is_unmistakable(said, ()) if "#" in behind[0] else is_literal([said])
    return said[:1] in tuple(OPENING) or (is_output and not says("describes", said))


def printed_places(text: str) -> Iterator[Place]:
    """What stands between marks or below a colon, behind a word that says that it is printed."""
    for begin, end in (*marked_places(text), *_below_colons(text)):
        if says("printed", text[max(0, begin - _NEAR):begin]):
            yield begin, end


def _below_colons(text: str) -> Iterator[Place]:
    """The first line below each that ends in a colon."""
    leads = False
    for begin, line in placed_lines(text):
        if leads and line.strip():
            yield begin, begin + len(line)
        leads = line.rstrip().endswith(COLONS) if line.strip() else leads


def _speaks_of_output(text: str) -> bool:
    """Whether something stands between marks, and beside it a word that says that it is printed."""
    span = next((found for found in _SPAN.finditer(text) if found.start()), None)
    if span is None:
        return False
    between = text[:span.start()]
    return _IS.match(between) is not None or any(says("printed", words) for words in (between, text[span.end():]))


def _says_figure(text: str, command: str) -> bool:
    """Whether a word that says that something is printed has a figure behind it that is not of the command."""
    figures = (_FIGURE.match(text, end) for _, end in places_of("printed", text))
    return any(figure and figure[1] not in re.findall(r"\d+", command) for figure in figures)


def _goes_on(word: str) -> bool:
    """Whether the first word behind a command goes on with the sentence."""
    return begins_with("after_command", word) or begins_with("no_arguments_behind", word)


def hide(text: str, places: Sequence[Place]) -> str:
    """The text with nothing to be found at these places."""
    signs = list(text)
    for begin, end in places:
        signs[begin:end] = [sign if sign == "\n" else MARK for sign in signs[begin:end]]
    return "".join(signs)
