"""The cases that a request itself gives, found by rule. What cannot be read for certain makes no case: a wrong one
would mislead everybody who works by it."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

from chatdev.departments.software.cases.assembly import Assembly, Chain
from chatdev.departments.software.cases.case import MOST_CASES, MOST_STARTS, Case, Start, texts_by_path
from chatdev.departments.software.cases.certainty import certain_starts
from chatdev.departments.software.cases.facts import Facts
from chatdev.departments.software.cases.passage import Passage, commands_of
from chatdev.departments.software.cases.passages import passages_of
from chatdev.departments.software.cases.refusals import refusal_case, refused_texts, told_refusal
from chatdev.departments.software.cases.wording import FILE_NAME, is_readable, request_says, says

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
    def refused_texts(self) -> set[str]:
        """What the request has the program print of input that it refuses."""
        return refused_texts(self.passages)

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
