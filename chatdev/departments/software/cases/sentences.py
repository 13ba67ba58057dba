"""Running text of a request: what stands in it between marks, what shows without any, what it surely names of a
product, and what it says of the program as a whole and of input for which there is no answer.

`any other chord: print "not in the book", exit status 1` has no command beside it, so that of an example is taken, with
input of which this is certain.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from chatdev.departments.software.cases.case import UNKNOWN, Case, Start, TypedCommand, read_command
from chatdev.departments.software.cases.layout import Passage, commands_of, make_passage, role_of
from chatdev.departments.software.cases.wording import (
    COLONS,
    FILE_NAME,
    MARK,
    begins_with,
    end_at,
    ends_sentence,
    first_sentence,
    is_all_of,
    is_concrete,
    is_literal,
    is_word_of_speech,
    last_clause,
    last_sentence,
    new_files,
    places_of,
    rows_of,
    says,
    status_in,
    without,
    without_asides,
)

_SPAN = re.compile(r"`([^`]+)`|\"([^\"]+)\"|“([^“”]+)”|„([^„“”]+)[“”]|«\s?([^«»]+?)\s?»|「([^「」]+)」")
_PIECE = re.compile(rf"[(（][^()（）]*[)）]|{MARK}|[^{MARK}(（]+|[(（]")
_FEW = 3  # words
_FURTHEST = 300  # characters before an output that say what it is


def strip_marks(text: str) -> str:
    """The text without the marks around it."""
    text = text.strip()
    found = _SPAN.fullmatch(text)
    return next(filter(None, found.groups())) if found else text


def start_passage(start: TypedCommand, group: int, *, certain: bool = True, cue: str = "",
                  inline: bool = False) -> Passage:
    """The passage of a command; one with names for what has to be typed is not known."""
    sure = certain and is_concrete(start.arguments)
    return Passage("command" if sure else "unknown", (), group, start, cue=cue, inline=inline,
                   form=not is_concrete(start.arguments))


class Sentences:
    """One reading of running text; `rest` is what is said behind the last passage."""

    def __init__(self, command: str, group: int) -> None:
        self._command = command
        self._in_prose = command_in_prose(command)
        self._group = group
        self.rest = ""

    def read(self, text: str) -> list[Passage]:
        """The passages of a paragraph, without what stands in brackets."""
        text = _without_marks_of_files(text)
        spans = deque(next(filter(None, span.groups())) for span in _SPAN.finditer(text))
        found: list[Passage] = []
        pieces = _PIECE.findall(_SPAN.sub(MARK, text))
        for place, piece in enumerate(pieces):
            if piece == MARK:
                found.append(self._span(spans.popleft()))
            elif piece[0] in "(（" and len(piece) > 1:
                for _ in range(piece.count(MARK)):
                    spans.popleft()
                self._pass_aside(piece, found)
            else:
                found += self._running(piece, last=place == len(pieces) - 1)
        return list(_add_what_follows(found, self.rest))

    def _pass_aside(self, aside: str, found: list[Passage]) -> None:
        """Brackets are left out; right behind an output, they may say that it can be another one."""
        if found and not self.rest.strip() and says("loosely", aside):
            found[-1] = replace(found[-1], role="unknown")
        self.rest += " " if found else aside.replace(MARK, " ")

    def awaits_output(self, found: Sequence[Passage]) -> bool:
        """Whether what was read ends with a command, and what stands below can only be its output: `COMMAND:`"""
        if not found or found[-1].role != "command" or not self.rest.rstrip().endswith(COLONS):
            return False
        if re.search(r"\w", self.rest):
            return role_of(self.rest, block=True) == "printed"
        before = without("wish", last_sentence(found[-1].cue))
        return not says("stop", before) and (says("printed", before) or _is_plain(before))

    def _take_cue(self) -> str:
        cue, self.rest = self.rest, ""
        return cue

    def _span(self, text: str) -> Passage:
        cue = self._take_cue()
        start = read_command(text, self._command)
        if start is None:
            return make_passage(cue, (text,), self._group, block=False)
        before = last_sentence(without_asides(cue))
        certain = not says("stop", without("wish", before)) or rows_of(FILE_NAME.sub("", before)) is not None
        return start_passage(start, self._group, certain=certain, cue=cue, inline=True)

    def _running(self, text: str, *, last: bool) -> Iterator[Passage]:
        """Text without marks; a command in it is one only where it is certain where it ends."""
        place = 0
        for found in self._in_prose.finditer(text):
            if found.start() < place:
                continue
            end, words = arguments_at(text, found.end())
            start = read_command(" ".join((found[0], *words)), self._command)
            yield from self._bare(text[place:found.start()], last=False)
            if start:
                certain = ends_command(text, end)
                yield start_passage(start, self._group, certain=certain, cue=self._take_cue(), inline=True)
            place = end
        yield from self._bare(text[place:], last=last)

    def _bare(self, text: str, *, last: bool) -> Iterator[Passage]:
        """Text without marks and commands, with the outputs in it that have a certain end."""
        place = 0
        for begin, end in places_of("printed", text):
            shown = output_at(text, end, last=last) if begin >= place else None
            if shown and role_of((self.rest + text[place:shown[0]])[-_FURTHEST:], block=False) == "printed":
                self.rest += text[place:shown[0]]
                yield make_passage(self._take_cue(), (text[slice(*shown)],), self._group, block=False)
                place = shown[1]
        if last and (listed := listed_lines(text)) and listed[0] >= place:
            self.rest += text[place:listed[0]]
            yield make_passage(self._take_cue(), tuple(listed[1]), self._group, block=False)
            place = len(text)
        self.rest += text[place:]


def _without_marks_of_files(text: str) -> str:
    """The text without the marks around the names of files, but for names that are what is printed or typed there."""
    plain, place = "", 0
    for span in _SPAN.finditer(text):
        name = next(filter(None, span.groups()))
        cue = text[max(place, span.start() - _FURTHEST):span.start()]
        is_spoken_of = FILE_NAME.fullmatch(name) and role_of(cue, block=False) not in ("printed", "typed")
        plain += text[place:span.start()] + (name if is_spoken_of else span[0])
        place = span.end()
    return plain + text[place:]


def _is_plain(text: str) -> bool:
    """Whether a text says nothing of what is typed or of a file."""
    rows = rows_of(text)
    if rows is None:
        return len(text.split()) <= _FEW and not FILE_NAME.search(text)
    return not rows & {"typed", "holds"}


def command_in_prose(command: str) -> re.Pattern[str]:
    """A command in running text, up to its arguments."""
    return re.compile(rf"(?<![\w./-])(?:{command})(?=\s|$|[?:,.;])")


def _add_what_follows(passages: Sequence[Passage], rest: str) -> Iterator[Passage]:
    """Each passage with the words behind it, which may say what it is: `6` is printed."""
    for place, passage in enumerate(passages):
        after = passages[place + 1].cue if place + 1 < len(passages) else rest
        behind = passage.role == "unknown" and not passage.command and begins_with("printed_behind", after)
        said_behind = behind and rows_of(last_clause(passage.cue)) is not None and not says("stop", passage.cue)
        yield replace(passage, after=after, role="printed" if said_behind else passage.role)


# What shows without marks: the arguments of a command, an output, and lines that it counts up.

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


# What a request surely names of a product that is not typed: labels of buttons, and paths that a service answers.
# What may be there, or only sometimes, is left out.

_MOST = 100_000  # characters of a request that are looked at
_ITEM = (r"""(?:["“„`'‘](?P<{0}>[^"”“`'’\n]{{1,30}})["”“`'’]|"""
         r"(?<![\w.])(?P<{1}>\d\s?(?:-|–|to)\s?\d|\d|[-+*/=×÷−%.])(?![\w]))")
_LIST = re.compile(
    rf"\bbuttons?(?:\s*:)?\s+(?:(?:that\s+(?:say|are|is)s?|saying|for|with(?:\s+the)?(?:\s+labels?|\s+texts?)?|(?:which\s+are\s+)?"
    rf"(?:labell?ed|named|called))\s+)?(?:the\s+digits?\s+)?:?\s*(?P<items>{_ITEM.format('a', 'b')}"
    rf"(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*|\s+){_ITEM.format('c', 'd')})*)", re.IGNORECASE)
_BEFORE = re.compile(r"""["“„`](?P<label>[^"”“`\n]{1,30})["”“`]\s+buttons?\b""", re.IGNORECASE)
_ONE = re.compile(_ITEM.format("quoted", "sign"))
_DOUBT = re.compile(
    r"\b(?:no|not|without|instead|either|or|if|when|while|once|after|until|unless|maybe|may|might|could|can|should"
    r"|optional(?:ly)?|perhaps|such\s+as|like|e\.?g|for\s+example|ideally|pop|dialog|second|next|then|log)\b|n't\b|\?",
    re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z])|\n\s*\n|\n(?=\s*[-*•]\s)")
_ROUTE = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\s+`?(/[\w/.-]*)(?![\w/{<:*?])")


def named_buttons(request: str) -> list[str]:
    """The labels that buttons must bear by the request, such as `+` and `0` to `9`."""
    sentences = [part for part in _SENTENCE.split(request[:_MOST]) if not _DOUBT.search(part)]
    found = (label for part in sentences for label in _labels(part))
    return list(dict.fromkeys(found))


def _labels(sentence: str) -> Iterator[str]:
    for match in _LIST.finditer(sentence):
        items = match["items"].rstrip()
        for one in _ONE.finditer(items.removesuffix(".") if _ends(sentence, match) else items):
            yield from [one["quoted"].strip()] if one["quoted"] else _signs(one["sign"])
    yield from (match["label"].strip() for match in _BEFORE.finditer(sentence))


def _ends(sentence: str, match: re.Match[str]) -> bool:
    """Whether a dot behind a list may be the end of the sentence."""
    return not sentence[match.end():].strip(" .")


def _signs(sign: str) -> Iterator[str]:
    first, last = sign[0], sign[-1]
    if first.isdigit() and last.isdigit() and len(sign) > 1:
        yield from map(str, range(int(first), int(last) + 1))
    else:
        yield sign


def named_routes(request: str) -> set[str]:
    """What the request asks of a service by method and path, `GET /health`: without places to fill in."""
    return {f"{match[1]} {match[2].rstrip('.') or '/'}" for match in _ROUTE.finditer(request[:_MOST])}


# What a request says of its program as a whole, and of input for which there is no answer: `any other chord: print
# "not in the book", exit status 1`. No command stands beside it, so that of an example is taken, with input of
# which this is certain.

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
