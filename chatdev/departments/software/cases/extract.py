"""The cases that a request itself gives, found by rule. What cannot be read for certain makes no case: a wrong one
would mislead everybody who works by it."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from chatdev.departments.software.cases.case import MOST_CASES, MOST_STARTS, Case, Start, texts_by_path
from chatdev.departments.software.cases.comparison import certain_starts
from chatdev.departments.software.cases.layout import Passage, Role, commands_of
from chatdev.departments.software.cases.passages import passages_of
from chatdev.departments.software.cases.sentences import Facts, refusal_case, told_refusal
from chatdev.departments.software.cases.wording import (
    FILE_NAME,
    begins_with,
    ends_sentence,
    first_sentence,
    is_readable,
    last_sentence,
    number_of_lines,
    request_says,
    rows_of,
    says,
    status_in,
    without,
    wording,
)

_PARTS = re.compile(r"(?<=[.!?:])\s+|[。！？]|\n\s*\n")


@dataclass(frozen=True, slots=True)
class RequestReading:
    """What a request says of trying the program. `contradictory` are cases of which another one says something else;
    `files` are shown in it, and `made` what files hold that the program makes anew; `lacking` are files that it names
    and neither shows nor has the program make; `refusal` is the case of input that the program refuses, with or without
    what it says then; `passages` are what it was read from."""

    cases: tuple[Case, ...] = ()
    contradictory: tuple[Case, ...] = ()
    files: Mapping[str, str] | None = None
    made: Mapping[str, str] = field(default_factory=dict)
    lacking: frozenset[str] = frozenset()
    refusal: Case | None = None
    passages: tuple[Passage, ...] = ()
    facts: Facts = field(default_factory=Facts)

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """The arguments of all commands in it, also of those in which something has to be filled in."""
        return commands_of(self.passages)

    def refusal_beside(self, example: Case) -> Case | None:
        """The refusal of which the request tells, made from an example that was found elsewhere, as it has none."""
        return None if self.cases else told_refusal(self.passages, example, self.facts)

    @property
    def told_refusals(self) -> tuple[Case, ...]:
        """The refusal, if the request says what is printed then."""
        return tuple(case for case in (self.refusal,) if case and case.expects)

    @property
    def plain_refusals(self) -> tuple[Case, ...]:
        """The refusal, if the request does not."""
        return tuple(case for case in (self.refusal,) if case and not case.expects)


@functools.lru_cache(maxsize=16)
def read_request(request: str, command: str) -> RequestReading:
    """Read a request; `command` is the pattern of what stands before a program's arguments."""
    if not is_readable(request) or says("random", request):
        return RequestReading()
    passages = passages_of(request, command)
    facts = Facts.of(request, passages, command)
    assembly = Assembly(facts)
    chains, files = assembly.take_all(passages), assembly.known_files
    files |= _only_file(request, passages, files)
    commands = commands_of(passages)
    lacking = frozenset(_lacking_files(request, passages, files.keys()))
    able = [(case, forgetful) for case, forgetful in _certain_cases(chains, files, facts, request)
            if not lacks_file(case, lacking, commands)]
    sound, contradictory = part_contradictions(_first_cases(case for case, _ in able),
                                               [case for case, forgetful in able if forgetful])
    return RequestReading(tuple(sound), tuple(contradictory), files, _made_files(passages, facts), lacking,
                          refusal_case(request, passages, sound, facts), tuple(passages), facts)


def _made_files(passages: Iterable[Passage], facts: Facts) -> dict[str, str]:
    """What the request shows, below their names, of the files that the program makes anew."""
    shown = [passage for passage in passages if passage.role == "file" and not passage.inline]
    names = Counter(passage.name for passage in shown)
    return {passage.name: "".join(f"{line}\n" for line in passage.lines) for passage in shown
            if passage.name in facts.new_files and names[passage.name] == 1}


def _certain_cases(chains: Iterable[Chain], files: Mapping[str, str], facts: Facts,
                   request: str) -> Iterator[tuple[Case, bool]]:
    """The cases of the chains that have one, and whether in it nothing is left of what was done before."""
    for chain in chains:
        if case := _case(chain, files, facts, request):
            yield case, chain.inline and not facts.remembers


def _first_cases(cases: Iterable[Case]) -> list[Case]:
    """As many as are tried, each once."""
    kept: list[Case] = []
    for case in cases:
        kept += [] if case in kept or len(kept) == MOST_CASES else [case]
    return kept


def part_contradictions(cases: Sequence[Case], forgetful: Sequence[Case] = ()) -> tuple[list[Case], list[Case]]:
    """The cases that nothing contradicts, and those that are contradicted: the same was done, and something else is
    expected of it. In a `forgetful` one what was done before changes nothing, so that its other starts stand."""
    wrong = _contradicted_starts(cases, forgetful)
    sound, contradictory = list[Case](), list[Case]()
    for number, case in enumerate(cases):
        stands, falls = _part_case(case, {place for which, place in wrong if which == number}, case in forgetful)
        sound += stands
        contradictory += falls
    return sound, _first_cases(contradictory)


def _part_case(case: Case, wrong: Collection[int], forgetful: bool) -> tuple[list[Case], list[Case]]:
    """What of a case stands, and what does not because its starts at these places are `wrong`."""
    if not wrong or not forgetful:
        return ([], [case]) if wrong else ([case], [])
    rest = replace(case, starts=tuple(start for place, start in enumerate(case.starts) if place not in wrong))
    return [rest] if rest.expects else [], [replace(case, starts=(case.starts[place],)) for place in sorted(wrong)]


def _contradicted_starts(cases: Sequence[Case], forgetful: Sequence[Case]) -> set[tuple[int, int]]:
    """The starts of which something else is said elsewhere: numbers of cases, and places in them."""
    said = defaultdict[object, list[tuple[tuple[int, int], object]]](list)
    for number, case in enumerate(cases):
        for place, done, expected in _expectations(case, case in forgetful):
            said[done].append(((number, place), expected))
    return {where for told in said.values() if len({expected for _, expected in told}) > 1 for where, _ in told}


def _expectations(case: Case, forgetful: bool) -> Iterator[tuple[int, object, object]]:
    """The places of the starts of which something is expected, what was done before it, and what it is."""
    done: list[object] = [_as_key(case.files)]
    for place, start in enumerate(case.starts):
        done = [*(done[:1] if forgetful else done), start.act]
        if start.expects:
            yield place, tuple(done), (start.prints, _as_key(start.writes), start.status)


def _as_key(texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(texts.items()))


def _case(chain: Chain, files: Mapping[str, str], facts: Facts, request: str) -> Case | None:
    """The case of a chain, where it is certain."""
    starts, known = _starts_of_case(chain, facts), texts_by_path(files)
    if chain.broken or known is None or not 0 < len(starts) <= MOST_STARTS:
        return None
    if facts.reads_typed and None in [start.stdin for start in starts]:
        return None
    case = Case("request", tuple(_up_to_last_expected(certain_starts(starts, known, request))), known)
    is_open = not case.starts or (chain.inline and _depends_on_before(case, facts, len(starts) < len(chain.starts)))
    return None if is_open else case


def _depends_on_before(case: Case, facts: Facts, others: bool) -> bool:
    """Whether a command in running text may tell of what was done before it: it brings nothing of its own, and the
    program remembers things or other commands stand around it."""
    alone = (facts.remembers and len(case.starts) == 1) or others
    return alone and not all(_brings_something(start, case) for start in case.starts)


def _brings_something(start: Start, case: Case) -> bool:
    return len(start.arguments) > 1 or start.stdin is not None or bool(case.files.keys() & set(start.arguments))


def _starts_of_case(chain: Chain, facts: Facts) -> Sequence[Start]:
    """The starts up to the last one that prints something known. Commands in running text are no session: without
    memory only those of which something is said count, and with memory none of them may be left open, unless it says
    that they follow each other, and each brings something."""
    starts = _up_to_last_expected(chain.starts)
    if not chain.inline:
        return starts
    said = [start for start in starts if start.expects]
    if facts.remembers and len(said) != len(starts):
        return starts if chain.in_turn and _all_bring_something(starts) else []
    return said


def _all_bring_something(starts: Iterable[Start]) -> bool:
    """Whether all starts of which nothing is said can do something of which a later one tells."""
    return all(len(start.arguments) > 1 or start.stdin for start in starts if not start.expects)


def _up_to_last_expected(starts: Sequence[Start]) -> Sequence[Start]:
    """The starts up to the last one of which something is said."""
    last = max((n for n, start in enumerate(starts) if start.expects), default=-1)
    return starts[:last + 1]


def _only_file(request: str, passages: Sequence[Passage], files: Mapping[str, str]) -> dict[str, str]:
    """The only file that a request lacks, as the only block without a role above the first command, which asks for
    things that stand in it."""
    above = takewhile(lambda passage: passage.role != "command", passages)
    blocks = [passage for passage in above if not passage.inline]
    lacking = set(_lacking_files(request, passages, files))
    if [(block.role, len(lacking), len(files)) for block in blocks] != [("unknown", 1, 0)]:
        return {}
    text = "\n".join((*blocks[0].lines, ""))
    asked = _words_behind_commands(passages)
    return {lacking.pop(): text} if asked and asked <= set(re.findall(r"\w+", text)) else {}


def _words_behind_commands(passages: Iterable[Passage]) -> set[str]:
    return {word for words in commands_of(passages) for word in words}


def _lacking_files(request: str, passages: Sequence[Passage], shown: Iterable[str]) -> Iterator[str]:
    """The files that a request names, neither shows, nor has the program make: whose first mention says so."""
    parts = _PARTS.split(request)
    given = _words_behind_commands(passages)
    for name in _named_files(request, passages) - set(shown):
        first = next((part for part in parts if name in part), "")
        is_made = request_says("makes", first) or re.search(rf"\.py\b.*[^-=>]> ?{re.escape(name)}", request)
        if name in given or not is_made:
            yield name


def _named_files(request: str, passages: Sequence[Passage]) -> set[str]:
    """The files that a request names; a name in what it shows letter by letter is none."""
    lines = "\n".join(line for passage in passages if passage.role != "unknown" for line in passage.lines)
    return set(Counter(FILE_NAME.findall(request)) - Counter(FILE_NAME.findall(lines)))


def lacks_file(case: Case, lacking: Iterable[str], commands: Iterable[Sequence[str]]) -> bool:
    """Whether the case needs a file that nobody makes: one that it names, or one that the program reads by itself."""
    made = {name for start in case.starts for name in start.writes}
    own = {word for start in case.starts for word in start.arguments}
    given = {word for words in commands for word in words} - own
    return any(name not in made and name not in given for name in lacking)


# The passages put together: which output belongs to which command, input and file.

_NEAR = 2  # paragraphs between what belongs together


@dataclass(slots=True)
class Shown:
    """Lines of one role, gathered from spans that follow each other: `A`, `B` and `C`. `loose` says whether some of
    them are joined by no more than a comma or an `and`, which does not say that they are lines; `before` is the passage
    before the first."""

    first: Passage
    lines: list[str]
    before: Passage | None = None
    loose: bool = False

    def take(self, passage: Passage) -> None:
        """One more line."""
        self.lines.extend(passage.lines)
        self.loose |= not says("below", passage.cue)

    @property
    def counted(self) -> bool:
        """Whether there are as many lines as the words before them announce, where they have to."""
        if not self.first.inline:
            return True
        announced = number_of_lines(last_sentence(self.first.cue))
        if announced is None:
            return not self.loose or any(word in self.first.cue for word in wording()["line_words"])
        return announced == len(self.lines)


@dataclass(slots=True)
class Chain:
    """Starts that belong together, while they are read. A broken one is not certain. `in_turn`: running text says of
    each that it comes after the one before it."""

    group: int
    inline: bool = False
    cue: str = ""
    in_turn: bool = True
    starts: list[Start] = field(default_factory=list)
    broken: bool = False


class Assembly:
    """Takes the passages of a request one after the other."""

    def __init__(self, facts: Facts) -> None:
        self._files: dict[str, str] = {}  # one that is shown in two ways has no text
        self._facts = facts
        self._chains: list[Chain] = []
        self._command: Passage | None = None
        self._anchor: Passage | None = None  # a command, input or file of which it is not said yet what comes of it
        self._typed: str | None = None
        self._writes: dict[str, str] = {}
        self._last: Passage | None = None
        self._shown: Shown | None = None

    @property
    def known_files(self) -> dict[str, str]:
        """The files that the request shows, with what they hold."""
        return {name: text for name, text in self._files.items() if text}

    def take_all(self, passages: Iterable[Passage]) -> list[Chain]:
        """All passages of a request, one after another; all chains of it."""
        for passage in passages:
            self._take(self._resolve(passage))
        self._end_shown()
        self._leave_command()
        self._leave_file(self._writes if [len(chain.starts) for chain in self._chains] == [1] else {})
        return _join(self._chains) if self._facts.remembers else self._chains

    def _resolve(self, passage: Passage) -> Passage:
        """A passage with the role that it has in a program which takes its input in one way."""
        if passage.role == "given" and not self._facts.reads_typed and len(self._facts.files) == 1:
            return replace(passage, role="file", name=min(self._facts.files))
        if passage.role == "file" and passage.name in self._facts.new_files:
            return replace(passage, role="left")
        if passage.role not in ("given", "result"):
            return passage
        role: Role = "unknown" if not self._facts.reads_typed else "typed" if passage.role == "given" else "printed"
        return replace(passage, role=role)

    def _take(self, passage: Passage) -> None:
        """The next passage."""
        if self._shown and _continues(self._shown.first, passage):
            self._shown.take(passage)
            self._last = passage
            return
        self._end_shown()
        if self._last and passage.group - self._last.group > _NEAR:
            self._leave_command()
            self._typed = None
        if passage.role in ("printed", "typed", "file", "writes", "left"):
            self._shown = Shown(passage, list(passage.lines), self._last)
        elif passage.role == "command":
            self._leave_command()
            self._take_pointed(passage)
            chain = self._chain(passage)
            chain.in_turn &= not chain.starts or _comes_after(passage)
            self._command = self._anchor = passage
        elif passage.role == "lost":
            self._leave_command()
            self._chain(passage).broken = True
        else:
            self._take_unknown(passage)
        self._last = passage

    def _take_pointed(self, passage: Passage) -> None:
        """The block above a command that is said to be typed: `If I pipe these lines into COMMAND`."""
        block, said = self._last, last_sentence(passage.cue)
        if not block or (block.role, block.inline, block.group) != ("unknown", False, passage.group - 1):
            return
        if says("pointing", said) and says("typed", said) and not says("holds", said):
            self._typed = "".join(f"{line}\n" for line in block.lines) or None

    def _take_unknown(self, passage: Passage) -> None:
        """What nobody can tell: a command stays without what it prints, and a list of outputs is none."""
        if passage.command:
            self._leave_command()
            self._anchor = None
            if not passage.inline or not (passage.form or not passage.command.arguments):
                self._chain(passage).broken = True
        elif _goes_on(passage, self._last):
            self._break()
        elif not _is_aside(passage, self._command):
            self._leave_command()
        self._typed = None

    def _chain(self, passage: Passage) -> Chain:
        if not self._chains or self._chains[-1].group != passage.group:
            self._chains.append(Chain(passage.group, passage.inline, last_sentence(passage.cue)))
        return self._chains[-1]

    def _leave_command(self) -> None:
        """A command of which nothing is said: what it prints is left open."""
        if self._command:
            self._chains[-1].starts.append(self._start_of(self._command))
        self._command = None

    def _break(self) -> None:
        """What the last start does is uncertain after all."""
        if self._chains:
            self._chains[-1].broken = True

    def _end_shown(self) -> None:
        """All lines of a role are there."""
        if not self._shown:
            return
        shown, self._shown = self._shown, None
        passage, text = shown.first, "".join(f"{line}\n" for line in shown.lines)
        if passage.role == "printed":
            self._end_output(shown)
        elif passage.role == "writes":
            self._writes |= {passage.name: text} if shown.counted else {}
        elif passage.role == "left":
            self._leave_command()
            self._leave_file({passage.name: text})
        else:
            self._anchor = self._command or passage
            self._take_input(passage, text if shown.counted else "")

    def _leave_file(self, texts: Mapping[str, str]) -> None:
        """What files hold after the last start."""
        starts = self._chains[-1].starts if self._chains else []
        if starts:
            starts[-1] = replace(starts[-1], writes={**starts[-1].writes, **texts})

    def _take_input(self, passage: Passage, text: str) -> None:
        """What is typed, or what a file holds; empty where that is not certain."""
        if passage.role == "typed":
            self._typed = text or None
        elif self._files.get(passage.name, text) != text:
            self._files[passage.name] = ""
        else:
            self._files[passage.name] = text

    def _end_output(self, shown: Shown) -> None:
        passage, start = shown.first, self._expecting_start(shown.first)
        if start is None:
            if _goes_on(passage, shown.before):
                self._break()
            return
        if shown.counted and _is_certain(passage, self._anchor):
            status = status_in(first_sentence(passage.after)) if passage.inline else None
            start = replace(start, prints="\n".join(shown.lines), writes=self._writes, status=status)
        self._chains[-1].starts.append(start)
        self._command, self._anchor, self._typed, self._writes = None, None, None, {}

    def _start_of(self, passage: Passage) -> Start:
        """The start of a command; one that is fed a file which the request does not show makes no case."""
        assert passage.command
        file = passage.command.stdin_file
        text = self._files.get(file, "") if file else ""
        self._chains[-1].broken |= bool(file and not text)
        return Start(passage.command.arguments, text if file else passage.command.stdin)

    def _expecting_start(self, passage: Passage) -> Start | None:
        """The start that prints this: of the command before it, or one without arguments where the request has none."""
        if self._command:
            start = self._start_of(self._command)
            return start if self._typed is None or start.stdin is not None else replace(start, stdin=self._typed)
        if not self._anchor or self._facts.takes_arguments or (self._typed is None) == self._facts.reads_typed:
            return None
        self._chains.append(Chain(passage.group))
        return Start(stdin=self._typed)


def _join(chains: Sequence[Chain]) -> list[Chain]:
    """The chains of a program that remembers things: one that tells of the next start goes on with the one before, and
    of another one nobody knows what was done before it."""
    joined: list[Chain] = []
    for chain in chains:
        if joined and says("next_time", chain.cue):
            joined[-1].starts += chain.starts
            joined[-1].broken |= chain.broken
        else:
            chain.broken |= bool(joined)
            joined.append(chain)
    return joined


def _comes_after(passage: Passage) -> bool:
    """Whether the words before a command say that it comes after another one."""
    return says("next_time", passage.cue) or begins_with("together", passage.cue)


def _is_aside(passage: Passage, command: Passage | None) -> bool:
    """Whether a text is only spoken of in a sentence that goes on to say what the command prints."""
    if not command or not (command.inline and passage.inline) or command.group != passage.group:
        return False
    return not ends_sentence(passage.cue) and not says("condition", passage.cue)


def _goes_on(passage: Passage, last: Passage | None) -> bool:
    """Whether a passage stands in the sentence that said what the last start prints."""
    if not last or last.role != "printed" or not (last.inline and passage.inline) or last.group != passage.group:
        return False
    return not ends_sentence(passage.cue)


def _continues(first: Passage, passage: Passage) -> bool:
    """Whether a passage is one more line of a list that began with the first: `A`, `B` and `C`."""
    if not passage.inline or passage.group != first.group or passage.command:
        return False
    rest = re.sub(r"[\s,;、，]+", " ", passage.cue).strip()
    return not rest or rows_of(rest) == {"together"} or passage.role == "more"


def _is_certain(passage: Passage, anchor: Passage | None) -> bool:
    """Whether it is this that comes of the command, the input or the file before: said of it, without a condition."""
    if not passage.inline or not anchor:
        return True
    cue, after = passage.cue, first_sentence(passage.after)
    if passage.group != anchor.group or ends_sentence(cue):
        rows = rows_of(last_sentence(cue))
        if rows is None or "subject" not in rows:
            return False
    hedged = says("stop", without("wish", cue)) or begins_with("stop", after)
    return not hedged and not begins_with("either", after)
