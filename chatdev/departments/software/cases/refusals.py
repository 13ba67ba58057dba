"""What a request says of its program as a whole, and of input for which there is no answer: `any other chord: print
"not in the book", exit status 1`. No command stands beside it, so that of an example is taken, with input of which
this is certain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from chatdev.departments.software.cases.case import UNKNOWN, Case, Start
from chatdev.departments.software.cases.layout import Passage, commands_of
from chatdev.departments.software.cases.sentences import command_in_prose
from chatdev.departments.software.cases.wording import (
    FILE_NAME,
    MARK,
    begins_with,
    ends_sentence,
    first_sentence,
    is_all_of,
    is_concrete,
    is_word_of_speech,
    last_sentence,
    new_files,
    places_of,
    says,
    status_in,
    without,
)

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|[。！？]|\n\s*\n")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _Refusal:
    """What is printed with which exit status, and the sentence that says when; a `whole` one shows nothing before it,
    such as a command of which it goes on to speak."""

    sentence: str
    prints: str
    status: int
    whole: bool

    @property
    def words(self) -> set[str]:
        """The words of the text."""
        return set(self.prints.split())


def refusal_case(request: str, passages: Sequence[Passage], cases: Sequence[Case], facts: Facts) -> Case | None:
    """The case of input that the program refuses; None where it is not certain which input that is. It wants a text and
    a status where the request tells of one such refusal and has an example, and nothing where it only speaks of a
    message: then the program must not crash."""
    if any(_refusals(passages)):
        return told_refusal(passages, cases[0], facts) if cases else None
    commands = commands_of(passages)
    if len(set(map(len, commands))) != 1:
        return None
    return next(_plain_cases(request, list(filter(is_concrete, commands)), facts), None)


def told_refusal(passages: Sequence[Passage], example: Case, facts: Facts) -> Case | None:
    """The case of the one refusal of which a request tells, made from an example; none where it is not certain which
    input that is, or where what is printed may tell what was given."""
    refusals, words = list(_refusals(passages)), example.starts[0].arguments
    commands = [*commands_of(passages), words]
    has_one_form = len({len(command) for command in commands if command}) <= 1
    if len(refusals) != 1 or not has_one_form or example.starts[0].stdin:
        return None
    refused, files = _refuse(refusals[0], example, facts)
    if refused is None or {word for command in commands for word in command} & refusals[0].words:
        return None
    return Case("request", (Start(tuple(refused), prints=refusals[0].prints, status=refusals[0].status),), files)


def _refuse(refusal: _Refusal, example: Case, facts: Facts) -> tuple[Sequence[str] | None, Mapping[str, str]]:
    """The arguments and files of an example, made such that a refusal speaks of them."""
    words, files = example.starts[0].arguments, _without_missing(example.files, refusal.sentence)
    if len(files) < len(example.files):
        return words, files
    refused = _refused_arguments(words, refusal.sentence, facts)
    if refused is None and refusal.whole and _is_without_arguments(words, refusal.sentence):
        return (), files
    return refused, files


def _without_missing(files: Mapping[str, str], sentence: str) -> dict[str, str]:
    """The files without those of which a sentence says that they are not there."""
    return {name: text for name, text in files.items() if name not in sentence or not _is_of_file(name, sentence)}


def _plain_cases(request: str, commands: Sequence[Sequence[str]], facts: Facts) -> Iterator[Case]:
    """A case of each sentence that speaks of a message without showing it."""
    for sentence in _SENTENCES.split(request) if commands and not facts.files else ():
        refused = _refused_arguments(commands[0], sentence, facts) if says("message", sentence) else None
        if refused:
            yield Case("request", (Start(tuple(refused)),))


def _refusals(passages: Sequence[Passage]) -> Iterator[_Refusal]:
    """The texts of which their own sentence says that they are printed when the program ends with an error."""
    for before, passage in pairwise([None, *passages]):
        assert passage
        sentence = last_sentence(f"{passage.cue}{MARK}") + first_sentence(passage.after)
        status = status_in(sentence)
        if not passage.inline or passage.command or not status or says("error_stream", sentence):
            continue
        if _is_printed(passage) and is_concrete([*sentence.split(), *passage.lines[0].split()]):
            is_whole = not before or before.group != passage.group or ends_sentence(passage.cue)
            yield _Refusal(sentence, passage.lines[0], status, is_whole)


def _is_printed(passage: Passage) -> bool:
    """Whether the words next to a text say that it is printed; a `return code` or its like does not."""
    said = without("status_words", without("ends_with", last_sentence(f"{passage.cue}{MARK}")))
    ends = [end for row in ("printed", "printed_then_ends") for _, end in places_of(row, said)]
    is_said = bool(ends) and not says("condition", said[max(ends):])
    return is_said or begins_with("printed_behind", passage.after)


def _refused_arguments(words: Sequence[str], sentence: str, facts: Facts) -> Sequence[str] | None:
    """Arguments of which the sentence speaks, whichever of them it means."""
    return _take_numbers(words, sentence) or (
        None if says("arguments", sentence) else _take_file(words, sentence) or _take_names(words, sentence, facts))


def _is_without_arguments(words: Sequence[str], sentence: str) -> bool:
    """Whether a sentence speaks of a start without arguments, and not of those of a command, which the first word is
    where others stand behind it."""
    return says("lacks_arguments", sentence) and (len(words) == 1 or bool(words and _NUMBER.fullmatch(words[0])))


def _take_numbers(words: Sequence[str], sentence: str) -> Sequence[str] | None:
    """All numbers are 0 where the sentence names that, or none is one."""
    other = "0" if says("zero", sentence) else UNKNOWN if says("no_number", sentence) else None
    if other is None or says("computed", sentence) or not any(map(_NUMBER.fullmatch, words)):
        return None
    return [other if _NUMBER.fullmatch(word) else word for word in words]


def _take_file(words: Sequence[str], sentence: str) -> Sequence[str] | None:
    """A file that is not there."""
    if len(words) == 1 and FILE_NAME.fullmatch(words[0]) and _is_of_file(words[0], sentence):
        return [f"{UNKNOWN}.{words[0].rpartition('.')[2]}"]
    return None


def _take_names(words: Sequence[str], sentence: str, facts: Facts) -> Sequence[str] | None:
    """Words that nobody knows: a single one, or those behind a number, as otherwise the first may be a command."""
    number = words[:1] if len(words) > 1 and _NUMBER.fullmatch(words[0]) else ()
    names = words[len(number):]
    if facts.remembers or not says("not_known", sentence) or says("counted", sentence):
        return None
    are_values = (number or len(names) == 1) and all(map(_WORD.fullmatch, names))
    return [*number, *(UNKNOWN for _ in names)] if are_values else None


def _is_of_file(name: str, sentence: str) -> bool:
    """Whether a sentence says that a file is not there, whether it calls it by its name or not."""
    return says("no_file", sentence.replace(name, "file"))


# What a request as a whole says of its program.


@dataclass(frozen=True, slots=True)
class Facts:
    """What a request as a whole says of the way a program is started, and of the files that it names and makes anew."""

    takes_arguments: bool = False
    reads_typed: bool = False
    remembers: bool = False
    files: frozenset[str] = frozenset()
    new_files: frozenset[str] = frozenset()

    @classmethod
    def of(cls, request: str, passages: Sequence[Passage], command: str) -> Facts:
        """The facts of a request and its passages. `command` is what stands before a program's arguments."""
        commands = commands_of(passages)
        called = any(commands) or any(
            request[found.end():found.end() + 1] == " " and not is_word_of_speech(request[found.end():][:40])
            for found in command_in_prose(command).finditer(request))
        named = not says("no_arguments", request) and says("arguments", request)
        remembers = says("remembers", request) or any(map(_keeps, commands))
        return cls(called or named, says("reads_typed", request), remembers,
                   frozenset(FILE_NAME.findall(request)), new_files(request))


def _keeps(words: Sequence[str]) -> bool:
    """Whether a command by its name adds or removes a thing, which is known at the next start; `add 2 3` reckons."""
    is_told = any(is_all_of(row, word) for row in ("adds", "removes") for word in words[:1])
    return is_told and any(map(str.isalpha, "".join(words[1:])))
