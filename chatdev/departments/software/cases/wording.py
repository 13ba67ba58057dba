"""What a clause of a request says of the text next to it: that it is typed, printed, or what a file holds."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from chatdev.paths import bundled_table

ROLES = ("printed", "typed", "holds")
FILE_NAME = re.compile(r"(?<![\w./-])[\w-]{1,60}\.(?!py\b)(?:txt|csv|tsv|json|md|log|dat|ini|cfg|yaml|yml|xml|html|"
                       r"pgm|ppm|pbm|svg|wav|list|lst|out|in|db|conf)(?![\w-])")
"""A name of a file that is no program, in ASCII letters or others."""
ENDS = (".", "!", "?", "。", "！", "？")
COLONS = (":", "：")
MARK = "\ue000"
"""Stands for what is between marks, or for the marks, while a text is read."""
_LONGEST = 20_000  # characters of a request in which examples are looked for
_CLAUSE = re.compile(r"[,;!?](?=\s|$)|\.(?=\s|$)|[。！？，；]")
_MOST_STATUS = 255
_FEW = 2  # words
_SAID = 30  # characters before the name of a file that say what it is
_ASIDE = re.compile(r"\([^()]*\)|（[^（）]*）")
_FIGURE = re.compile(r"\d+(?:[.,]\d+)?")
_FIGURE_AND_SIGN = re.compile(r"[=:：$€£]\s{0,3}-?\d|\d\s?[%€°]")
_WIDE = r"\u3040-\u30ff\u3400-\u9fff"
_FORM = re.compile(r"[A-Z]{3,}\d?|[\[<].*|.*[\]>]")
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++(?=\s|$)|[。！？]")
_CLAUSE_END = re.compile(r"(?<![,;:—–])[,;:—–]++(?=\s|$)|[，；：、]|\s-+>?\s")


@functools.cache
def wording() -> dict[str, Any]:
    """The table of words."""
    data: dict[str, Any] = bundled_table(Path(__file__).with_name("wording.yaml"))
    return data


@functools.cache
def _pattern(*names: str) -> re.Pattern[str]:
    """Matches any of the words in these rows of the table, as the group of the row's name; the longest one first."""
    return re.compile("|".join(f"(?P<{name}>{any_word_of(name)})" for name in names), re.IGNORECASE)


@functools.cache
def any_word_of(row: str) -> str:
    """A pattern of any of the words in a row of the table, for a place within another pattern."""
    return f"(?:{_any_of(map(str, wording()[row]))})"


def _any_of(words: Iterable[str]) -> str:
    """Words as one pattern. What is written without blanks has no ends of words. Where the others have to begin and end
    stands around all of them: a pattern that looks for it in each word takes seconds for a long text."""
    wide, bounded = list[str](), list[str]()
    for word in sorted(words, key=len, reverse=True):
        (wide if re.search(f"[{_WIDE}]", word) else bounded).append(
            re.escape(word).replace(r"\ ", r"\s{1,3}").replace("'", "['’]"))
    return "|".join(([rf"(?<!\w)(?:{'|'.join(bounded)})(?!\w)"] if bounded else []) + wide)


def is_readable(request: str) -> bool:
    """Whether examples are looked for in a request: it is no book, and has no character that means something here."""
    return len(request) <= _LONGEST and MARK not in request


def says(row: str, text: str) -> bool:
    """Whether a word of this row of the table stands in the text."""
    return bool(_pattern(row).search(text))


@functools.lru_cache(maxsize=32)
def request_says(row: str, text: str) -> bool:
    """The same of a text that may be a whole request, and is asked again for every example or file in it."""
    return says(row, text)


def is_all_of(row: str, text: str) -> bool:
    """Whether the text is nothing but a word of this row."""
    return bool(_pattern(row).fullmatch(text.strip()))


def places_of(row: str, text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Where words of this row stand in the text, each with its beginning and its end."""
    return (found.span() for found in _pattern(row).finditer(text, start))


def end_at(row: str, text: str, place: int) -> int:
    """Where a word of this row ends that stands at a place of the text; the place where there is none."""
    found = _pattern(row).match(text, place + (text[place:place + 1] == " "))
    return found.end() if found else place


def without(row: str, text: str) -> str:
    """The text without the words of this row of the table."""
    return _pattern(row).sub(" ", text)


def begins_with(row: str, text: str) -> bool:
    """Whether the text begins with a word of this row."""
    return bool(_pattern(row).match(text.lstrip(" \t\n,;:.!?)—–，；：。）")))


def rows_of(text: str) -> set[str] | None:
    """The rows of all words of a clause; None when one of them is in no row."""
    names = (*ROLES, "afterwards", "below", "together", "subject", "run", "filler")
    found, rest = set[str](), []
    place = 0
    for word in _pattern(*names).finditer(text):
        rest.append(text[place:word.start()])
        place = word.end()
        found.add(str(word.lastgroup))
        if word.lastgroup == "subject" and says("printed", word[0]):
            found.add("printed")
    rest.append(text[place:])
    return None if re.search(r"\w", "".join(rest)) else found


def without_asides(text: str) -> str:
    """The text without what stands in brackets."""
    return _ASIDE.sub(" ", text)


def last_clause(text: str) -> str:
    """What a text says last: after the last comma, colon or the like that something follows."""
    text = last_sentence(text).rstrip(" \t\n,;:—–，；：、>=-")
    place = max((end.end() for end in _CLAUSE_END.finditer(text)), default=0)
    return text[place:].strip()


def last_sentence(text: str) -> str:
    """The sentence that a text ends in, ended or not."""
    text = text.rstrip()
    ends = [end.end() for end in _SENTENCE_END.finditer(text) if end.end() < len(text)]
    return text[ends[-1] if ends else 0:].strip()


def first_sentence(text: str) -> str:
    """The text up to the end of its first sentence."""
    end = _SENTENCE_END.search(text)
    return text[:end.start()] if end else text


def ends_sentence(text: str) -> bool:
    """Whether a sentence ends somewhere in the text."""
    return bool(_SENTENCE_END.search(text))


def number_of_lines(text: str) -> int | None:
    """How many lines a clause announces; None when it announces none, or they are not counted."""
    row = "|".join(map(re.escape, wording()["line_words"]))
    names = "|".join(map(re.escape, wording()["numbers"]))
    found = re.search(rf"(?:\b(\d{{1,2}}|{names})\s{{1,3}}|(\d{{1,2}}|{names}))(?:{row})", text, re.IGNORECASE)
    if not found:
        return None
    number = (found[1] or found[2]).casefold()
    return int(number) if number.isdigit() else int(wording()["numbers"][number])


def counts_of_arguments(text: str) -> set[int]:
    """How many arguments a request says that there are."""
    said = (sentence for sentence in re.split(r"(?<=[.!?])\s|。", text) if says("arguments", sentence))
    words = {word for sentence in said for word in re.findall(r"\w+", sentence.casefold())}
    return {int(number) for name, number in wording()["numbers"].items() if name in words}


def status_in(text: str) -> int | None:
    """The exit status that a text names, where it names one: a number that the program ends with, and no code of
    anything else."""
    names, joins = ("|".join(map(re.escape, wording()[row])) for row in ("status_words", "status_is"))
    number = re.compile(rf"(?:{names})\s{{0,3}}(?:{joins})?\s{{0,3}}(\d{{1,9}})", re.IGNORECASE)
    clauses = [part for part in _CLAUSE.split(text) if number.fullmatch(part.strip(" .")) or (
        says("ends_with", part) and not says("answers_with", part))]
    found = {int(status) for clause in clauses for status in number.findall(clause)}
    return found.pop() if len(found) == 1 and max(found) <= _MOST_STATUS else None


def is_concrete(words: Sequence[str]) -> bool:
    """Whether arguments are what somebody really types, and no names for what has to be typed."""
    placeholders = set(wording()["placeholders"])
    return not any(word in placeholders or re.search(r"<[^<>]*>|\{\w+\}|^\[.*\]$|\.\.\.|…", word) for word in words)


def is_form(words: Sequence[str]) -> bool:
    """Whether words are names for what has to be typed; a single letter may be meant as it is."""
    return not is_concrete([word for word in words if len(word) > 1]) or any(map(_FORM.fullmatch, words))


def is_word_of_speech(word: str) -> bool:
    """Whether a word behind a command goes on with the sentence, and is no argument."""
    return begins_with("after_command", word) or begins_with("no_arguments_behind", word) or rows_of(word) is not None


def is_wrapped(words: Sequence[str]) -> bool:
    """Whether the words behind a command at the beginning of a line may be a sentence."""
    return any(is_all_of(row, word.rstrip(",;:."))
               for row in ("after_command", "no_arguments_behind") for word in words)


def is_literal(lines: Iterable[str]) -> bool:
    """Whether lines without any mark are what is typed or printed, and do not speak of it."""
    return not any(says("describes", line) or len(line) > 100 or is_all_of("vague", line.rstrip(".")) for line in lines)


def is_unmistakable(text: str, arguments: Iterable[str]) -> bool:
    """Whether a text without any mark is what a command with these arguments prints, as no description of it would have
    such figures or signs: `6`, `25%`, `total: 7`, `25 slices in 3 loaves`."""
    if not any(map(str.isalpha, text)):
        return True
    words = len(text.split())
    return _is_code(text) if words == 1 else _has_result(text, words, arguments)


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word)) or (word.isupper() and len(word) > 1 and is_concrete([word]))


def _has_result(text: str, words: int, arguments: Iterable[str]) -> bool:
    """Whether a text of some words has figures that were not given, or several of them."""
    figures, given = set(_FIGURE.findall(text)), set(_FIGURE.findall(" ".join(arguments)))
    if len(figures) > 1 or _FIGURE_AND_SIGN.search(text):
        return True
    return bool(figures - given) and (bool(given) or (words == _FEW and not says("figures", text)))


def new_files(request: str) -> frozenset[str]:
    """The files of which the sentence that names them first says that the program makes them."""
    places = {name: request.index(name) for name in set(FILE_NAME.findall(request))}
    before = {name: request[max(0, place - 2 * _SAID):place] for name, place in places.items()}
    return frozenset(name for name, said in before.items() if says("new_file", last_sentence(said)[-_SAID:]))


def is_sentence(line: str) -> bool:
    """Whether a line may be a sentence about something."""
    return line.rstrip().endswith(ENDS) and len(line.split()) > 4
