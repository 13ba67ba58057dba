"""What somebody copied from a request, a Tester too: does it stand there letter by letter, and is it whole?

What a program has to print is whole when it is all that the request shows at that place: the lines of a block, all
pieces between marks, or the end of a sentence that says so. Half of an output would make a right program wrong.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Literal

from chatdev.departments.software.cases.case import MOST_CASES, MOST_STARTS, Case, Start, cases_from_value
from chatdev.departments.software.cases.comparison import certain_starts
from chatdev.departments.software.cases.wording import (
    COLONS,
    FILE_NAME,
    MARK,
    begins_with,
    is_readable,
    is_unmistakable,
    last_clause,
    last_sentence,
    new_files,
    request_says,
    rows_of,
    says,
    status_in,
)

Meaning = Literal["printed", "typed", "holds"]
"""What the words before a text have to say of it: rows of wording.yaml."""
Place = tuple[int, int]
"""A line, and a character in it."""

_MARKS = re.compile(r"[`\"“”„«»「」]")
_MARGIN = re.compile(r"(?:[-*•+>|]|\d{1,2}[.)])[ \t]+")
_GAP = rf"[\s{MARK}]+"
_BARE = f" \t{MARK}|"  # what may stand around a text that is whole
_SEPARATOR = re.compile(r"(?:[:：=→⇒⟶↦]|[-=]{1,2}>|\|)$")
_ENDS = re.compile(r"[.!?;。！？；(（|]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_FENCE = re.compile(r"(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}\s")
_ELISION = re.compile(r"\.\.\.|…")
_LIST = re.compile(r"\s*(?:[,，、]|\b(?:and|und)\b|和)\s*")
_MOST_LINES, _MOST_PLACES = 400, 10
_FURTHEST = 300  # characters before a text that say what it is


class CopiedRequest:
    """A request, to look for texts in. `command` is the pattern of what stands before a program's arguments."""

    def __init__(self, request: str, command: str) -> None:
        self.text = request
        self._command = re.compile(rf"(?<![\w./-])(?:{command})(?=[\s{MARK}|?:,.;]|$)")
        raw = request.splitlines()[:_MOST_LINES]
        self._fences = [bool(_FENCE.match(line.strip())) for line in raw]
        self._lines = [_plain(line) for line in raw]
        self._is_started = any(map(self._command.search, self._lines))
        self._whole_lines = [_plain(line, margin=False) for line in raw]  # with the bullets or numbers they begin with

    def places_of(self, arguments: Sequence[str]) -> list[Place]:
        """Where a command with these arguments ends; one without any may stand anywhere, also unsaid."""
        if not arguments:
            ends = [(n, found.end()) for n, line in enumerate(self._lines) for found in self._command.finditer(line)]
            return [(0, 0), *ends][:_MOST_PLACES]
        pattern = _pattern_of(" ".join(arguments))
        given = ((n, found.end()) for n, line in enumerate(self._lines) for found in pattern.finditer(line)
                 if self._may_be_arguments(line[max(0, found.start() - _FURTHEST):found.start()]))
        return list(islice(given, _MOST_PLACES))

    def _may_be_arguments(self, before: str) -> bool:
        """Whether what stands behind this part of a line may be given to the program as arguments: what is typed into
        a program, of whose arguments nobody speaks, is an answer."""
        if request_says("arguments", self.text):
            return True
        return self._is_started and bool(self._command.search(before) or not says("typed", last_clause(before)))

    def shows(self, text: str, meaning: Meaning, place: Place = (0, 0), *, before_command: bool = False,
              given: Collection[str] = ()) -> bool:
        """Whether a text stands behind a place, is whole, and is said to be what it is taken for. With `before_command`
        it has to stand before the next command. Without marks it may not speak of what was `given`."""
        lines = [_plain(line, margin=False) for line in text.splitlines() if line.strip()]
        if not lines or any(map(_ELISION.fullmatch, lines)):
            return False
        end = self._next_command(place) if before_command else (len(self._lines), 0)
        return self._is_block(lines, place[0], end[0], meaning) or any(
            _is_said(lines, sentence, meaning, first=not number and place[1] > 0, given=given)
            for number, sentence in enumerate(self._sentences(place, end)))

    def _next_command(self, place: Place) -> Place:
        """Where the next command begins, or the end."""
        for number in range(place[0], len(self._lines)):
            column = place[1] if number == place[0] else 0
            if found := self._command.search(self._lines[number], column):
                return number, found.start()
        return len(self._lines), 0

    def _is_block(self, lines: Sequence[str], first: int, end: int, meaning: Meaning) -> bool:
        """Whether lines of the request are these, all of them, with nothing more above or below."""
        last = min(end, len(self._lines)) - len(lines)
        return any(self._stand_at(start, lines) and self._is_edge(start - 1) and self._is_edge(start + len(lines))
                   and self._may_mean(start, meaning) for start in range(first, last + 1))

    def _stand_at(self, start: int, lines: Sequence[str]) -> bool:
        """Whether these are the lines from one on, all with what they begin with, or all without."""
        wanted = [line.strip(_BARE) for line in lines]
        return any([line.strip(_BARE) for line in source[start:start + len(lines)]] == wanted
                   for source in (self._lines, self._whole_lines))

    def _is_edge(self, number: int) -> bool:
        """Whether a block cannot go on in a line: it is empty, a label, a heading or a command."""
        if not 0 <= number < len(self._lines):
            return True
        line = self._lines[number].strip(_BARE)
        return bool(not line or self._fences[number] or line.endswith(COLONS) or _HEADING.match(line)
                    or self._command.search(line))

    def _may_mean(self, start: int, meaning: Meaning) -> bool:
        """Whether the words above a block allow it to be what it is taken for: below a command stands what it prints,
        but not where they say that it is no more than something like it."""
        above = next((line for line, fence in zip(self._lines[:start][::-1], self._fences[:start][::-1], strict=True)
                      if line.strip(_BARE) and not fence), "")
        sentence = last_sentence(above)
        return not (says("doubt", sentence) if meaning == "printed" else self._command.search(sentence))

    def _sentences(self, place: Place, end: Place) -> Iterator[str]:
        """The sentences between two places; a line that ends, ends one."""
        for number in range(place[0], min(end[0] + 1, len(self._lines))):
            line = self._lines[number]
            line = line[:end[1]] if number == end[0] else line
            begin = place[1] if number == place[0] else 0
            open_mark = line.count(MARK, 0, begin) % 2
            yield from _split_sentences(line[begin:].replace(MARK, "", open_mark))


def _split_sentences(line: str) -> Iterator[str]:
    """The sentences of a line, the first one even if it is empty; none ends between marks."""
    begin = 0
    for end in _SENTENCE.finditer(line):
        if line.count(MARK, 0, end.start()) % 2 == 0:
            yield line[begin:end.start()].strip()
            begin = end.end()
    yield line[begin:].strip()


def _is_said(lines: Sequence[str], sentence: str, meaning: Meaning, *, first: bool, given: Collection[str]) -> bool:
    """Whether a sentence says that these lines are printed (typed, held), and no more than these; the `first` one
    stands right behind a command."""
    if _is_doubtful(sentence, given, first=first):
        return False
    pieces = [piece.strip() for piece in sentence.split(MARK)[1::2]]
    if pieces == list(lines) and sentence.count(MARK) == 2 * len(pieces):
        return True
    if len(lines) > 1:
        return _is_enumerated(lines, sentence)
    return any(_is_led_to(before, meaning, first=first) and _is_ended(sentence[end:])
               and not (meaning == "printed" and _may_describe(lines[0].split(), given, before))
               for before, end in _occurrences(lines[0], sentence))


def _is_doubtful(sentence: str, given: Collection[str], *, first: bool) -> bool:
    """Whether a sentence takes back what it shows, or speaks of a condition and not of what was given: `if the room is
    unknown`."""
    may_be_of_others = bool(given) and not first and set(given).isdisjoint(re.findall(r"[\w.-]+", sentence))
    return says("doubt", sentence) or (may_be_of_others and says("condition", sentence))


def _occurrences(text: str, sentence: str) -> Iterator[tuple[str, int]]:
    """What stands before a text in a sentence, and where the text ends, each time that it stands there."""
    for found in islice(_pattern_of(text).finditer(sentence), _MOST_PLACES):
        yield sentence[max(0, found.start() - _FURTHEST):found.start()], found.end()


def _may_describe(words: Sequence[str], given: Collection[str], before: str) -> bool:
    """Whether words that are printed speak of what was given, and so are not meant letter by letter: of a given
    10 `10 kilometres in miles` only says what is made. Right behind a command they may say what it does."""
    if not re.search(r"\w", before):
        return not is_unmistakable(" ".join(words), given)
    return len(words) > 1 and not set(given).isdisjoint(words) and says("printed", before)


def _is_enumerated(lines: Sequence[str], sentence: str) -> bool:
    """Whether a sentence that speaks of lines lists just these."""
    if not says("line_words", sentence) or any(_LIST.search(line) for line in lines):
        return False
    return any(_is_list(lines, re.split(r"[(（.。:：]", sentence[found.start():], maxsplit=1)[0])
               and not _LIST.search(sentence[:found.start()][-3:])
               for found in islice(_pattern_of(lines[0]).finditer(sentence), _MOST_PLACES))


def _is_list(lines: Sequence[str], text: str) -> bool:
    """Whether a text begins with a list of just these lines, and goes on with words that are none of it."""
    count, last = len(lines), lines[-1]
    parts = [part.strip(_BARE) for part in _LIST.split(text) if part.strip(_BARE)]
    if len(parts) < count or parts[:count - 1] != list(lines[:-1]) or not parts[count - 1].startswith(last):
        return False
    listed = rows_of(parts[count - 1].removeprefix(last)) is not None
    return listed and (len(parts) == count or begins_with("printed", parts[count]))


def _is_led_to(before: str, meaning: Meaning, *, first: bool) -> bool:
    """Whether the words before a text lead to it: nothing but the command, a label, or words that say what it is."""
    before = before.rstrip(_BARE)
    label = _SEPARATOR.sub("", before).strip(_BARE)
    if not label:
        return first
    rows = rows_of(last_clause(label))
    speaks = meaning == "printed" and label != before and rows is not None and rows <= {"subject", "filler"}
    return speaks or (rows is not None and meaning in rows)


def _is_ended(after: str) -> bool:
    """Whether nothing that stands behind a text can belong to it."""
    after = after.lstrip(_BARE)
    return not after or bool(_ENDS.match(after)) or begins_with("reason", after)


@lru_cache(maxsize=64)  # one text is looked for in every sentence
def _pattern_of(text: str) -> re.Pattern[str]:
    """A text as a pattern, whatever marks and blanks stand in it; no part of a word. Marks alone match nothing."""
    words = text.replace(MARK, " ").split()
    if not words:
        return re.compile(r"(?!)")
    left, right = (r"(?<!\w)" if words[0][0].isascii() and words[0][0].isalnum() else "",
                   r"(?!\w)" if words[-1][-1].isascii() and words[-1][-1].isalnum() else "")
    return re.compile(left + _GAP.join(map(re.escape, words)) + right)


def _plain(line: str, *, margin: bool = True) -> str:
    """A line with single blanks, without the bullet or number that it begins with."""
    line = line.strip()
    line = _MARGIN.sub("", line, count=1) if margin and _MARGIN.match(line) else line
    return " ".join(_MARKS.sub(MARK, line).split()).strip()


# The examples that a Tester copied: what stands there letter by letter holds, what does not is a guess.

_FIELDS = {"starts", "arguments", "prints", "stdin", "writes"}
_MOST_PARTS = 2 * MOST_CASES


def copied_cases(value: object, request: str, command: str) -> list[Case]:
    """The cases of a Tester's examples: JSON cases, or lines such as `COMMAND => OUTPUT`, of which everything that is
    expected stands in the request."""
    if not is_readable(request):
        return []
    source = CopiedRequest(request, command)
    found: list[Case] = []
    for part in islice(_parts(value), _MOST_PARTS):
        known = [case.acts for case in found]
        found += [case for case in _cases_of_part(part, source, command) if case.expects and case.acts not in known]
    return found[:MOST_CASES]


def _cases_of_part(part: object, request: CopiedRequest, command: str) -> list[Case]:
    if isinstance(part, Mapping) and _FIELDS & part.keys():
        cases = cases_from_value(part, "tester", command)
        return [copied for case in cases for copied in _copied_parts(case, request)]
    return [Case("tester", (start,)) for start in examples(example_lines([part]), request.text, command)]


def _parts(value: object) -> Iterator[object]:
    """The single examples: of a list, also where it stands in a field of an object."""
    if isinstance(value, Mapping) and not _FIELDS & value.keys():
        lists = [part for part in value.values() if isinstance(part, list | tuple)]
        if len(lists) == 1:
            value = lists[0]
    yield from value if isinstance(value, list | tuple) else [value]


def _copied_parts(case: Case, request: CopiedRequest) -> list[Case]:
    """The case; where some of it is made up, and the program keeps nothing from one start to the next, what is copied
    of its starts, each by itself."""
    if (whole := _copied_case(case, request)) or says("remembers", request.text):
        return [whole] if whole else []
    parts = (replace(case, starts=(start,)) for start in case.starts)
    return [copied for part in parts if (copied := _copied_case(part, request))]


def _copied_case(case: Case, request: CopiedRequest) -> Case | None:
    """The case, if all that it types, finds and expects stands in the request."""
    case = _put_files(case, request.text)
    sound = all(request.shows(text, "holds") for text in case.files.values()) and all(
        _is_copied(start, request) for start in case.starts)
    starts = certain_starts(case.starts, case.files, request.text) if sound else []
    return replace(case, starts=tuple(starts)) if starts else None


def _put_files(case: Case, request: str) -> Case:
    """The case with its files where they belong: what the program makes is there in the end. Files that cannot be a
    user's do not count, nor empty ones: small models show the program itself, too."""
    files = {name: text for name, text in case.files.items()
             if FILE_NAME.fullmatch(name) and name in request and text.strip()}
    made = {name: files.pop(name) for name in files.keys() & new_files(request)}
    *before, last = case.starts
    return replace(case, files=files, starts=(*before, replace(last, writes={**made, **last.writes})))


def _is_copied(start: Start, request: CopiedRequest) -> bool:
    """Whether what a start prints stands behind its command, before the next one, and all else somewhere."""
    if start.status and status_in(request.text) != start.status:
        return False
    if start.stdin and not request.shows(start.stdin, "typed"):
        return False
    if not all(name in request.text and request.shows(text, "holds") for name, text in start.writes.items()):
        return False
    places = request.places_of(start.arguments)
    if start.prints is None:
        return bool(places)
    return any(request.shows(start.prints, "printed", place, before_command=True, given=start.arguments)
               for place in places)


# A Tester's lines: commands that start a program, and lines typed into it.

_MOST_EXAMPLES = 200  # lines; each is looked for in the whole request
PYTHON_COMMAND = r"(?:python[\d.]*|py)\s+(?:-m\s+[\w.]+|[\w./-]+\.py)"
"""How a person starts a Python program, as a pattern."""
_OPERATOR = re.compile(r"[|&;<>]+")
_TYPED = {"command", "commands", "cmd", "run", "type", "typed", "types", "input", "inputs", "stdin", "line", "lines",
          "keys", "steps"}
_PRINTED = {"prints", "printed", "output", "expected", "expects", "result", "stdout"}
"""What models call the fields of an object that stands where a line was asked for."""


def plan_lines(plan: object) -> Iterator[str]:
    """The lines of a plan as a model wrote it: texts and numbers, also in further lists, and objects that have a
    command or what is typed under a usual name. Whatever else stands there is no line."""
    waiting = [plan]
    while waiting:  # no recursion: a model may nest them beyond reason
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, int | float) and not isinstance(part, bool):
            yield str(part)
        elif isinstance(part, list | tuple):
            waiting += reversed(part)
        elif isinstance(part, Mapping):
            waiting += reversed(_fields(part, _TYPED))


def example_lines(plan: object) -> Iterator[str]:
    """The same of examples, in which an object may have the command and what it prints: `COMMAND => OUTPUT`."""
    for part in plan if isinstance(plan, list | tuple) else [plan]:
        typed, printed = (list(plan_lines(_fields(part, names))) for names in (_TYPED, _PRINTED))
        yield from [f"{typed[0]} => {printed[0]}"] if len(typed) == len(printed) == 1 else plan_lines(part)


def _fields(plan: object, names: set[str]) -> list[object]:
    entries = plan.items() if isinstance(plan, Mapping) else ()
    return [value for name, value in entries if str(name).casefold() in names]


def examples(lines: Iterable[str], request: str, command: str = PYTHON_COMMAND) -> list[Start]:
    """The starts of lines such as `python main.py 3 4 => 7`, of which both halves stand in the request letter by
    letter, each between backticks where it has any: what somebody made up, or worked out, is no promise. The first line
    about a command counts."""
    found = dict[str, Start]()
    spans, plain = {*map(plain_text, re.findall("`([^`]+)`", request))}, plain_text(request)
    for line in islice(lines, _MOST_EXAMPLES):
        start, arrow, printed = map(plain_text, line.partition("=>"))
        if arrow and start not in found and all(_is_quoted(part, spans, plain) for part in (start, printed)):
            first, *_ = starts_of([start], command)
            found[start] = replace(first, prints=printed)
    return [start for start in found.values() if not start.stdin][:MOST_STARTS]


def plain_text(text: str) -> str:
    """A text without the quotes that are put around code, with single blanks."""
    return " ".join(text.replace("`", " ").split())


def _is_quoted(part: str, spans: Collection[str], plain: str) -> bool:
    if spans:
        return part in spans
    return bool(part and re.search(rf"(?<!\w){re.escape(part)}(?!\w)", plain))


def starts_of(lines: Iterable[str], command: str = PYTHON_COMMAND) -> list[Start]:
    """The starts of a plan. A line such as `python main.py add "Buy milk"` starts the program, whatever its file is
    called (`command` is the pattern of what stands before the arguments); each other line is typed into the program
    started last, or into a start without arguments before any.

    What a shell would do with a command (pipes, redirections, a second command) is left out: no shell runs it.
    """
    pattern = re.compile(rf"(?:\$\s*)?(?:{command})(?=\s|$)(?P<rest>.*)", re.DOTALL)
    found: list[tuple[tuple[str, ...], list[str]]] = []
    for line in map(_quoted_code, lines):
        start = pattern.fullmatch(line)
        if start:
            found.append((_arguments(start["rest"]), []))
        elif line:
            if not found:
                found.append(((), []))
            found[-1][1].append(line.removeprefix("> "))
    return [Start(arguments, "".join(f"{line}\n" for line in typed) or None)
            for arguments, typed in found[:MOST_STARTS]]


def _quoted_code(line: str) -> str:
    """The line, without the quotes that are put around code and what is said after them."""
    quoted = re.match("`([^`]+)`", line.strip())
    return (quoted[1] if quoted else line.strip().strip("`")).strip()


def _arguments(text: str) -> tuple[str, ...]:
    """The words of a command up to the first shell operator or comment; a quote that is never closed is a character."""
    for posix in (True, False):
        words = shlex.shlex(text, posix=posix, punctuation_chars="|&;<>")
        words.whitespace_split = True
        try:
            return tuple(_words_before_operator(words))
        except ValueError:
            continue
    return tuple(text.split())


def _words_before_operator(words: Iterable[str]) -> Iterable[str]:
    for word in words:
        if _OPERATOR.fullmatch(word):
            return
        yield word
