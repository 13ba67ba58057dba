"""What running text shows without any marks: the arguments of a command, an output, and lines that it counts up."""

from __future__ import annotations

import re

from chatdev.departments.software.cases.wording import (
    begins_with,
    end_at,
    is_concrete,
    is_literal,
    is_word_of_speech,
    places_of,
    says,
)

_NEXT_WORD = re.compile(r"\s+(\S+)")
_TOKEN = re.compile(r"\s*([^\s。，；！？]{1,60})")
_SHOWN = re.compile(r"[-+$€£#]?\w(?:[\w.:/-]*\w)?[%€°]?")
_LABELLED = re.compile(r"\s*([A-ZÀ-ÖØ-Þ][\w' -]{0,40}[:=] ?[-+$€£#]?\d(?:[\w.:/-]*\w)?[%€°]?)")
_END = re.compile(r"[.!?](?:\s|$)|[。！？]")
_PAUSE = re.compile(r"\s*[,;，；]")
_LISTED = re.compile(r"\s([^\s,]{1,40}(?:(?:, and |, | and )[^\s,]{1,40}){1,20})\s*$")
_MOST_WORDS, _LONGEST = 12, 80  # behind a command; characters of an output


def arguments_at(text: str, place: int) -> tuple[int, list[str]]:
    """The words behind a command in running text that can only be arguments, and where they end. Words of letters alone
    are arguments only where it is certain that nothing goes on behind them."""
    words, ends = list[str](), [place]
    while len(words) < _MOST_WORDS and (found := _NEXT_WORD.match(text, ends[-1])):
        plain = found[1].rstrip("?:,;.")
        if not _is_argument(plain):
            break
        words.append(plain)
        ends.append(found.start(1) + len(plain))
        if plain != found[1]:
            break
    sure = len(words)
    if not ends_command(text, ends[-1]):
        sure = next((number for number, word in enumerate(words) if word.isalpha()), sure)
    return ends[sure], words[:sure]


def _is_argument(word: str) -> bool:
    """Whether a word behind a command can be an argument, and no name of one."""
    return bool(word) and not (word.isalpha() and (word.isupper() or is_word_of_speech(word)))


def ends_command(text: str, place: int) -> bool:
    """Whether a command in running text is over for certain at a place."""
    rest = text[place:place + _LONGEST].lstrip()
    return not rest or rest[0] in "?:,;.)，。：；" or begins_with("after_command", rest)


def output_at(text: str, place: int, *, last: bool) -> tuple[int, int] | None:
    """Where an output stands in running text, whose end is certain: a number, a word in capital letters, or a label
    with a number such as `Sum: 12` at the end of a sentence, or a text that `and nothing else` follows. `last`: nothing
    stands behind the text."""
    place = end_at("just", text, place)
    labelled = _LABELLED.match(text, place)
    if labelled and _is_over(text, labelled.end(), last=last):
        return labelled.span(1)
    token = _TOKEN.match(text, place)
    if not token:
        return None
    start, plain = token.start(1), token[1].rstrip(".,;:!?")
    if _is_figure(plain) and _is_over(text, start + len(plain), last=last):
        return start, start + len(plain)
    end, _ = next(places_of("ends_output", text[:start + _LONGEST], start), (start, start))
    phrase = text[start:end].rstrip(" ,")
    return (start, start + len(phrase)) if phrase and _is_phrase(phrase) else None


def _is_figure(word: str) -> bool:
    """Whether a word without marks can only be meant letter by letter."""
    capital = len(word) > 1 and word.isupper() and is_concrete([word])
    return bool(_SHOWN.fullmatch(word)) and (capital or any(letter.isdigit() for letter in word))


def _is_phrase(text: str) -> bool:
    """Whether some words without marks are an output, and do not speak of one."""
    return (any(letter.isdigit() for letter in text) and is_literal([text]) and not says("figures", text)
            and not re.search(r"[.;:!?]\s", text))


def _is_over(text: str, place: int, *, last: bool) -> bool:
    """Whether an output ends at a place: with the sentence, or before a reason."""
    rest = text[place:place + _LONGEST]
    if _END.match(rest) or begins_with("ends_output", rest) or end_at("because", rest, 0):
        return True
    if behind := end_at("printed_behind", rest, 0):
        return _is_over(text, place + behind, last=last)
    return last if not rest.strip() else bool(_PAUSE.match(rest)) and begins_with("reason", rest)


def listed_lines(text: str) -> tuple[int, list[str]] | None:
    """Where a text counts up lines at its end, and these: `the lines a, b, c`; each of them is a single word."""
    *_, place = (0, *(end for _, end in places_of("own_list", text)))
    listed = _LISTED.match(text, place) if place else None
    return (listed.start(1), re.split(r", and |, | and ", listed[1])) if listed else None
