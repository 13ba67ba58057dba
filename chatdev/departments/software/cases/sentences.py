"""Running text: what stands in it between marks, what shows without any, and what it surely names of a product."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chatdev.departments.software.cases.case import TypedCommand, read_command
from chatdev.departments.software.cases.layout import Passage, make_passage, role_of
from chatdev.departments.software.cases.wording import (
    COLONS,
    FILE_NAME,
    MARK,
    begins_with,
    end_at,
    is_concrete,
    is_literal,
    is_word_of_speech,
    last_clause,
    last_sentence,
    places_of,
    rows_of,
    says,
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
