"""What a request says of input for which the program has no answer: `any other chord: print "not in the book", exit
status 1`. No command stands beside it, so that of an example is taken, with input of which this is certain."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from chatdev.tools.software.cases.assembly import Facts
from chatdev.tools.software.cases.case import Case, Start
from chatdev.tools.software.cases.passage import Passage
from chatdev.tools.software.cases.wording import (
    FILE_NAME,
    MARK,
    first_sentence,
    is_concrete,
    last_sentence,
    says,
    status_in,
)

_UNKNOWN = "zq7"  # in no table, in no list, in no folder, and no number
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|[。！？]|\n\s*\n")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _Refusal:
    """What is printed with which exit status, and the sentence that says when."""

    sentence: str
    prints: str
    status: int


def refusal_case(request: str, passages: Sequence[Passage], cases: Sequence[Case], facts: Facts) -> Case | None:
    """The case of input that the program refuses; None where it is not certain which input that is. It wants a text and
    a status where the request tells of one such refusal and has an example, and nothing where it only speaks of a
    message: then the program must not crash."""
    commands = [passage.command.arguments for passage in passages if passage.command]
    if len({len(words) for words in commands}) != 1:
        return None
    if refusals := list(_refusals(passages)):
        return _told_case(refusals[0], cases[0], commands, facts) if len(refusals) == 1 and cases else None
    return next(_plain_cases(request, [words for words in commands if is_concrete(words)], facts), None)


def _told_case(refusal: _Refusal, example: Case, commands: Sequence[Sequence[str]], facts: Facts) -> Case | None:
    """The case of a refusal of which the request tells, made from an example."""
    words, said = example.starts[0].arguments, set(refusal.prints.split())
    if example.starts[0].stdin is not None or any(said & set(command) for command in commands):
        return None  # what is printed may tell what was given
    missing = {name for name in example.files if name in refusal.sentence and _is_of_file(name, refusal.sentence)}
    refused = words if missing else _refused_arguments(words, refusal.sentence, facts)
    files = {name: text for name, text in example.files.items() if name not in missing}
    start = Start(tuple(refused or ()), prints=refusal.prints, status=refusal.status)
    return Case("request", (start,), files) if refused is not None else None


def _plain_cases(request: str, commands: Sequence[Sequence[str]], facts: Facts) -> Iterator[Case]:
    """A case of each sentence that speaks of a message without showing it."""
    for sentence in _SENTENCES.split(request) if commands and not facts.files else ():
        refused = _refused_arguments(commands[0], sentence, facts) if says("message", sentence) else None
        if refused:
            yield Case("request", (Start(tuple(refused)),))


def _refusals(passages: Sequence[Passage]) -> Iterator[_Refusal]:
    """The texts of which their own sentence says that they are printed when the program ends with an error."""
    for passage in passages:
        sentence = last_sentence(f"{passage.cue}{MARK}") + first_sentence(passage.after)
        status = status_in(sentence)
        if not passage.inline or passage.command or not status or says("error_stream", sentence):
            continue
        if says("printed", sentence) and is_concrete([*sentence.split(), *passage.lines[0].split()]):
            yield _Refusal(sentence, passage.lines[0], status)


def _refused_arguments(words: Sequence[str], sentence: str, facts: Facts) -> Sequence[str] | None:
    """Arguments of which the sentence speaks whichever of them it means: all numbers are 0 where it names that, or none
    is one; nobody knows a file, or the words. Of words alone the first may be a command."""
    numbers = [word for word in words if _NUMBER.fullmatch(word)]
    if numbers and not says("computed", sentence) and (says("zero", sentence) or says("no_number", sentence)):
        return _replaced(words, numbers, "0" if says("zero", sentence) else _UNKNOWN)
    if says("arguments", sentence):
        return None
    if len(words) == 1 and FILE_NAME.fullmatch(words[0]):
        return [f"{_UNKNOWN}.{words[0].rpartition('.')[2]}"] if _is_of_file(words[0], sentence) else None
    names = [word for word in words if _WORD.fullmatch(word)]
    are_values = (names == [*words] and len(names) == 1) or (numbers == [*words[:1]] and names == [*words[1:]] != [])
    if are_values and says("not_known", sentence) and not says("counted", sentence) and not facts.remembers:
        return _replaced(words, names, _UNKNOWN)
    return None


def _replaced(words: Sequence[str], some: Collection[str], value: str) -> list[str]:
    return [value if word in some else word for word in words]


def _is_of_file(name: str, sentence: str) -> bool:
    """Whether a sentence says that a file is not there, whether it calls it by its name or not."""
    return says("no_file", sentence.replace(name, "file"))
