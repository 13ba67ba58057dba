"""Likely examples: what a request seems to show, where nothing in it is certain.

Only what comes in is read: commands, texts, and what stands at the left. Outputs are not parsed, since a misread output
would fail a correct program: what the program prints is looked for in the request (`likely_example.py`).
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from chatdev.departments.software.cases.comparison import answers_in
from chatdev.departments.software.cases.likely_example import LikelyExample, LikelyStart
from chatdev.departments.software.cases.places import (
    ARROW,
    ASIDE,
    BARE,
    BULLET,
    Place,
    PlacedCommand,
    commands_in,
    is_form,
    label_of,
    marked_places,
    placed_lines,
    plain_words,
    printed_places,
    shows_output,
)
from chatdev.departments.software.cases.texts import PlacedText, texts_in
from chatdev.departments.software.cases.wording import (
    COLONS,
    FILE_NAME,
    is_concrete,
    is_literal,
    is_readable,
    request_says,
    says,
)

_COLUMNS = re.compile(rf"[ \t]*(?:{ARROW}|\||[ \t]{{3,}}|\t|=(?=[ \t])|[ \t][–—/](?=[ \t]))[ \t]*")
_PROGRAM = re.compile(r"(?:(?<!\S)\S*\s+)?(?:\./)?(?<![\w-])[\w-]+\.py\s+|(?:with|for|from|mit|für)\s+")
_NUMBER = r"-?\d+(?:[.:]\d+)?"
_SEQUENCE = re.compile(rf"(?<![\w.]){_NUMBER}(?:(?:,? and |, |,|,? then |,? und | by | x | ){_NUMBER})+(?!\w)")
_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|[.!?](?!\s|$)|\n(?!\s*\n))+")
_FED = re.compile(r"\||\.py\b.*\s<{1,3}\s?[\w'\"](?![^<>\n]*>)")
"""What a shell writes where something comes in; the name of an argument is between such signs, too."""
_BELOW = re.compile(r"\s*\S.*")
_MOST_TEXTS, _MOST_WORDS, _MOST_ROWS, _MOST_LIKELY, _MOST_DIALOGUES = 10, 5, 12, 60, 4


@functools.lru_cache(maxsize=16)
def likely_examples(request: str, command: str) -> tuple[LikelyExample, ...]:
    """What a request seems to show, the surest first; `command` is the pattern of what stands before a program's
    arguments. None of a request that speaks of chance."""
    if not is_readable(request) or says("random", request):
        return ()
    source = _Source(request, command)
    found = list[LikelyExample]()
    known = set[object]()
    for example in source.examples():
        starts = tuple((start.arguments, start.stdin) for start in example.starts)
        key = (starts, tuple(example.files.items()), example.dialogue)
        if example.starts and key not in known:
            known.add(key)
            found.append(example)
        if len(found) == _MOST_LIKELY:
            break
    return tuple(found)


class _Source:
    """A request in which examples are looked for."""

    def __init__(self, request: str, command: str) -> None:
        self._request = request
        self._commands = commands_in(request, command)
        texts = texts_in(request, command)
        loose = sorted((text for text in texts if text.loose), key=lambda text: (not text.told, -len(text.lines)))
        self._texts = [*[text for text in texts if not text.loose][:_MOST_TEXTS], *loose[:_MOST_TEXTS]]
        names = dict.fromkeys(FILE_NAME.findall(request))  # those that the program makes last
        self._names = tuple(sorted(names, key=lambda name: request_says("makes", _line_with(request, name))))
        self._reads_typed = any(says(row, request) for row in ("reads_typed", "typed")) or bool(_FED.search(request))
        self._places = tuple(command.place for command in self._commands)
        self._printed = list(printed_places(request))

    def examples(self) -> Iterator[LikelyExample]:
        """All of them; where there are commands with arguments, only these are taken for arguments."""
        yield from self._with_dialogues()
        if _with_arguments(self._commands):
            yield from self._with_commands()
            return
        yield from self._with_labels()
        yield from self._with_rows()
        yield from self._with_files([LikelyStart()], self._names)
        if not self._commands or says("arguments", self._request):  # else it is started as it is shown, without any
            yield from (replace(example, starts=(LikelyStart((next(iter(example.files)),)),))
                        for example in self._with_files([LikelyStart()], self._names[:1]))
        if self._reads_typed or not self._names:
            yield from self._with_typed(())
        yield from self._with_values()

    def _with_dialogues(self) -> Iterator[LikelyExample]:
        """What a terminal shows of a start, with the arguments of the last command above it: the longest texts with
        something that may be an answer. One is surely shown where the program asks for something, or where the same
        prompt comes again with other lines between."""
        asks = request_says("asks_user", self._request)
        found = [text for text in self._texts if not text.loose and len(text.lines) > 1 and any(answers_in(text.lines))]
        for text in sorted(found, key=lambda text: -len(text.lines))[:_MOST_DIALOGUES]:
            above = [command for command in self._commands if command.place < text.places[0]]
            start = LikelyStart(above[-1].arguments if above else (), None, text.places[0])
            shown = asks or _repeats_prompt(text.lines)
            yield LikelyExample(0, (start,), {}, text.places, shown=shown, dialogue=text.text)

    def _with_commands(self) -> Iterator[LikelyExample]:
        """The commands one after another, with the files that they name, or with something typed into the first."""
        for commands in self._choices():
            starts = [LikelyStart(command.arguments, None, command.place) for command in commands]
            words = {word for start in starts for word in start.arguments}
            used = [name for name in self._names if name in words]
            if not used:
                yield LikelyExample(0, tuple(starts), {}, self._places, shown=self._shows_output())
            yield from self._with_files(starts, used or self._names)
        if self._reads_typed:
            yield from self._with_typed(_with_arguments(self._commands)[0].arguments)

    def _shows_output(self) -> bool:
        """Whether something that has the form of an output stands next to a command."""
        following = [*(begin for begin, _ in self._places[1:]), len(self._request)]
        return any(shows_output(self._request, place, end)
                   for place, end in zip(self._places, following, strict=False))

    def _choices(self) -> Iterator[list[PlacedCommand]]:
        """The commands that may be meant: those that something ends, those with arguments, and of sentences their
        first words."""
        given, whole = _with_arguments(self._commands), [command for command in self._commands if command.whole]
        concrete = [command for command in whole if is_concrete(command.arguments)]
        yield from filter(_with_arguments, (whole, concrete, given))
        if not _with_arguments(whole):
            for count in range(1, _MOST_WORDS):
                yield [replace(command, arguments=command.arguments[:count]) for command in given]

    def _with_files(self, starts: Sequence[LikelyStart], names: Sequence[str]) -> Iterator[LikelyExample]:
        """The starts with the texts of the request as what one file or two hold."""
        for name in names[:2]:
            for text in self._texts:
                yield self._fed(starts, {name: text.text}, [text])
        for first in self._texts[:4] if len(names) > 1 else ():
            for second in self._texts[:4]:
                if first is not second:
                    yield self._fed(starts, {names[0]: first.text, names[1]: second.text}, [first, second])

    def _with_typed(self, arguments: tuple[str, ...]) -> Iterator[LikelyExample]:
        for text in self._texts:
            if not (arguments and text.loose):
                yield self._fed([LikelyStart(arguments, text.text)], {}, [text])

    def _fed(self, starts: Sequence[LikelyStart], files: Mapping[str, str],
             texts: Sequence[PlacedText]) -> LikelyExample:
        """An example in which texts of the request come in."""
        places = tuple(place for text in texts for place in text.places)
        part_of = sum(text.lies_in(other) for text in texts for other in self._texts[:self._texts.index(text)])
        return LikelyExample(1, tuple(starts), files, (*self._places, *places), part_of=part_of,
                             shown=all(text.is_shown for text in texts) and self._shows_beside(places))

    def _shows_beside(self, places: Sequence[Place]) -> bool:
        """Whether there is an output beside what stands at these places: next to a command, as another text, or as
        what is said to be printed."""
        def lies_beside(other: Place) -> bool:
            return not any(begin < other[1] and other[0] < end for begin, end in places)

        return (self._shows_output() or any(map(lies_beside, self._printed))
                or any(text.is_shown and all(map(lies_beside, text.places)) for text in self._texts))

    def _with_labels(self) -> Iterator[LikelyExample]:
        """What stands behind the same label again and again."""
        entries = dict[str, list[Place]]()
        for begin, line in placed_lines(self._request):
            if (label := label_of(line)) and label[1] < len(line):
                said = ASIDE.sub("", line)
                entries.setdefault(label[0], []).append((begin + label[1], begin + len(said)))
        for places in entries.values():
            yield from self._as_starts(places, shown=len(places) > 1)

    def _with_rows(self) -> Iterator[LikelyExample]:
        """What stands left of arrows and in columns but the last one, with and without the first row."""
        rows, outputs = list[list[Place]](), list[str]()
        for begin, line in placed_lines(self._request):
            cells = [(begin + cell[0], begin + cell[1]) for cell in _cells(line)]
            if len(cells) > 1 and not set(line) <= set("|-+: "):
                rows.append([(cells[0][0], cells[-2][1]), *cells[:-1]])
                outputs.append(self._request[slice(*cells[-1])])
        for part in (rows, rows[1:]):
            for column in range(min(map(len, part), default=0)):
                yield from self._as_starts([row[column] for row in part], shown=len(rows) > 1 and is_literal(outputs))

    def _as_starts(self, places: Sequence[Place], *, shown: bool) -> Iterator[LikelyExample]:
        """The texts at these places as arguments, as one argument each, and as what is typed."""
        if not places:
            return
        places = places[:_MOST_ROWS]
        texts = [_COLUMNS.sub(" ", self._request[begin:end]).strip(BARE) for begin, end in places]
        for arguments in ([plain_words(_PROGRAM.sub("", text)) for text in texts], [(text,) for text in texts]):
            if all(arguments) and not any(map(is_form, arguments)):
                yield self._below_each_other(places, [LikelyStart(given) for given in arguments], shown=shown)
        yield self._below_each_other(places, [LikelyStart((), f"{text}\n") for text in texts], shown=shown)

    def _below_each_other(self, places: Sequence[Place], starts: Sequence[LikelyStart], *,
                          shown: bool) -> LikelyExample:
        placed = [replace(start, place=place) for start, place in zip(starts, places, strict=True)]
        return LikelyExample(1, tuple(placed), {}, tuple(places), shown=shown)

    def _with_values(self) -> Iterator[LikelyExample]:
        """Numbers and what is between marks, as arguments."""
        by_count = dict[int, list[LikelyStart]]()
        for found in _SEQUENCE.finditer(self._request):
            numbers = tuple(re.findall(_NUMBER, found[0]))
            by_count.setdefault(len(numbers), []).append(LikelyStart(numbers, None, found.span()))
        for starts in by_count.values():
            if len(starts) > 1:
                places = tuple(start.place for start in starts if start.place)
                yield LikelyExample(2, tuple(starts), {}, places, shown=False)
        spans = list(marked_places(self._request))
        for sentence in _SENTENCE.finditer(self._request):
            values = [(sentence.start() + found.start(), sentence.start() + found.end())
                      for found in re.finditer(rf"(?<![\w.]){_NUMBER}(?!\w)", sentence[0])]
            marked = spans[bisect_left(spans, (sentence.start(),)):bisect_left(spans, (sentence.end(),))]
            for group in (values, marked):
                yield from self._of_sentence(group, (sentence.start(), self._end_of_said(sentence)))

    def _end_of_said(self, sentence: re.Match[str]) -> int:
        """Where that ends which a sentence says: below it, where it ends in a colon."""
        below = _BELOW.match(self._request, sentence.end()) if sentence[0].rstrip().endswith(COLONS) else None
        return below.end() if below else sentence.end()

    def _of_sentence(self, places: Sequence[Place], window: Place) -> Iterator[LikelyExample]:
        """The first values of a sentence, and each by itself, as arguments, where its output stands in the window."""
        groups = [list(places[:count]) for count in range(1, min(_MOST_WORDS, len(places)) + 1)]
        for group in groups + [[place] for place in places[1:]]:
            texts = [self._request[begin:end] for begin, end in group]
            for words in dict.fromkeys((tuple(texts), plain_words(texts[0]) if len(texts) == 1 else tuple(texts))):
                if words and not is_form(words):
                    yield LikelyExample(3, (LikelyStart(words),), {}, tuple(group), window, shown=False)


def _repeats_prompt(lines: Sequence[str]) -> bool:
    """Whether a prompt such as `>` stands several times among lines that have none."""
    answers = list(answers_in(lines))
    prompts = Counter(answer.prompt for answer in answers if answer.prompt.endswith(">"))
    return max(prompts.values(), default=0) > 1 and len(answers) < len(lines)


def _with_arguments(commands: Sequence[PlacedCommand]) -> list[PlacedCommand]:
    return [command for command in commands if command.arguments]


def _cells(line: str) -> Iterator[Place]:
    """Where the cells of a row stand in its line."""
    begin = found.end() if (found := BULLET.match(line)) else 0
    for gap in [*_COLUMNS.finditer(line, begin), None]:
        end = gap.start() if gap else len(line)
        if line[begin:end].strip(BARE):
            yield begin, end
        begin = gap.end() if gap else end


def _line_with(text: str, name: str) -> str:
    return next((line for line in text.splitlines() if name in line), "")
