"""Whether a source can be run, what its entry has, and which properties hold: read in the child of this process, as a
model may have written it. What reads is imported there, and not by the process that asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec

from chatdev.departments.plc.proof.outcomes import UNREADABLE, Outcome, Property, Verdict
from chatdev.departments.plc.simulation.layout import all_variables
from chatdev.departments.plc.st.core import IEC, MOST_TURNS, Dialect, Program, Section, Span, assertions_of
from chatdev.departments.plc.st.diagnostics import Diagnostic, FilePlace
from chatdev.errors import MissingProgram
from chatdev.isolation.isolate import isolate

_WHOLE = Span(1, 1, 1, 1)
_MOST_NAMES = 30


class SourceRefused(ValueError):
    """A source cannot be read to its end, or has errors where none may be; the text says why."""


@dataclass(frozen=True, slots=True)
class EntryVariable:
    """A variable of the entry: its name as its author wrote it, and its type in words."""

    name: str
    section: Section
    type: str


@dataclass(frozen=True, slots=True)
class SourceCheck:
    """What the checker says of a source. With an error among the diagnostics, `entry` and the rest are empty;
    `assertions` are the names of all `//#ASSERT`. A library has no entry, and its `contents` tell what is in it."""

    entry: str
    diagnostics: tuple[Diagnostic, ...]
    variables: tuple[EntryVariable, ...] = ()
    assertions: tuple[str, ...] = ()
    contents: str = ""
    cycle_ms: int | None = None
    """From scan to scan, where the entry's TASK says it."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics for which it cannot be run."""
        return tuple(one for one in self.diagnostics if one.severity == "error")


def check_source(source: str, entry: str | None = None, dialect: Dialect = IEC, places: Sequence[FilePlace] = (),
                 needs_entry: bool = True) -> SourceCheck:
    """The diagnostics of a source, and what its entry (without one: as `read_program` finds it) has. A source that
    takes too long to read, or too much memory, has one error that says so. `places` and `needs_entry` as for
    `read_program`."""
    try:
        return _check(source, entry, dialect, tuple(places), needs_entry)
    except SourceRefused as refused:
        return SourceCheck("", (Diagnostic("error", "refused", str(refused), _WHOLE),))


@dataclass(frozen=True, slots=True)
class MendedSource:
    """A source in which everything is mended that needs no thought, and the findings that were so."""

    source: str
    mended: tuple[Diagnostic, ...] = ()


def mend_source(source: str, entry: str | None = None, asked: str | None = None, dialect: Dialect = IEC
                ) -> MendedSource:
    """Mend a source (see `st/slips.py`), and where `asked`, the requirement, is given, leave out what is neither needed
    for `entry` nor named there. A source that takes too long to read, or too much memory, stays as it is."""
    try:
        return _mend(source, entry, asked, dialect)
    except SourceRefused:
        return MendedSource(source)


@isolate(SourceRefused)
def find_unreadable(source: str, entry: str | None, properties: Sequence[Property], dialect: Dialect = IEC
                    ) -> dict[str, str]:
    """What is wrong with the conditions of properties, by the number of the property (from 1, as text): unknown
    variables, wrong types. Raises SourceRefused for a source with errors, too."""
    program = readable_program(source, entry, dialect)
    found = {}
    for number, asked in enumerate(properties, 1):
        if asked.pattern == UNREADABLE:
            found[str(number)] = asked.parameters[1]
            continue
        wrong = [line for text in asked.parameters for line in _wrong_in(text, program)]
        if wrong:
            found[str(number)] = "; ".join(wrong)
    return found


def readable_program(source: str, entry: str | None, dialect: Dialect = IEC, together: bool = False) -> Program:
    """The program, for what runs in the child; with `together` those of all tasks. Raises SourceRefused for one with
    errors."""
    from chatdev.departments.plc.st.reading import read_program

    reading = read_program(source, entry, dialect, together=together)
    if reading.program is None:
        first = next(one for one in reading.diagnostics if one.severity == "error")
        raise SourceRefused(f"the program has errors, the first one at {first.span}: {first.message}")
    return reading.program


@isolate(SourceRefused)
def _mend(source: str, entry: str | None, asked: str | None, dialect: Dialect) -> MendedSource:
    from chatdev.departments.plc.st.slips import leave_out_strangers, mend_text

    strangers: tuple[Diagnostic, ...] = ()
    if entry and asked is not None:
        source, strangers = leave_out_strangers(source, entry, asked)
    source, mended = mend_text(source, entry, dialect)
    return MendedSource(source, strangers + mended)


@isolate(SourceRefused)
def _check(source: str, entry: str | None, dialect: Dialect, places: tuple[FilePlace, ...], needs_entry: bool
           ) -> SourceCheck:
    from chatdev.departments.plc.st.functions import describe_type
    from chatdev.departments.plc.st.reading import read_program

    reading = read_program(source, entry, dialect, places, needs_entry)
    program = reading.program
    if program is None:
        return SourceCheck("", reading.diagnostics, contents=reading.summary)
    variables = tuple(EntryVariable(one.written or one.name, one.section, describe_type(one.type))
                      for one in all_variables(program, program.entry) if not one.is_hidden)
    names = tuple(one.name for one in assertions_of(program))
    return SourceCheck(program.entry.written or program.entry.name, reading.diagnostics, variables, names,
                       reading.summary, program.cycle_ms)


def _wrong_in(text: str, program: Program) -> Iterator[str]:
    from chatdev.departments.plc.st.reading import read_condition

    for one in read_condition(text, program).diagnostics:
        if one.severity == "error":
            hint = _known_names(program) if one.code == "undeclared" else one.hint
            yield f"in `{text}`: {one.message}{f' ({hint})' if hint else ''}"


def _known_names(program: Program) -> str:
    """What a condition may name, which nobody can declare there."""
    names = [one.written or one.name for one in all_variables(program, program.entry) if not one.is_hidden]
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"{program.entry.written or program.entry.name} has {', '.join(names[:_MOST_NAMES])}{more}"


# A source held against properties: it is checked, then they are, then each is decided.


class WrongProperties(ValueError):
    """What is given as properties is no list of them; the text says what it is."""


@dataclass(frozen=True, slots=True)
class ProofOptions:
    """What each check may take, as in `proof.verify`: seconds, scans that are looked at, milliseconds from scan to scan
    if that is fixed, whether integers may not overflow, either, and how many turns of a loop are no fault."""

    seconds: float = 10.0
    most_k: int = 30
    cycle_ms: int | None = None
    watch_overflow: bool = False
    most_turns: int = MOST_TURNS


@dataclass(frozen=True, slots=True)
class SourceProof:
    """The verdicts on the properties, in their order, then those on what the program owes at run time. There are none
    for a source with errors."""

    source: str
    check: SourceCheck
    outcomes: tuple[Outcome, ...]
    options: ProofOptions = ProofOptions()
    dialect: Dialect = IEC

    def count(self, *verdicts: Verdict) -> int:
        """How many have one of these verdicts."""
        return sum(one.verdict in verdicts for one in self.outcomes)

    @property
    def verdict(self) -> Verdict:
        """Of all together: the worst one; UNKNOWN where another verifier contradicts one of them."""
        if any(one.is_contradicted for one in self.outcomes):
            return "UNKNOWN"
        order: tuple[Verdict, ...] = ("VIOLATED", "UNKNOWN", "BOUNDED")
        return next((one for one in order if self.count(one)), "PROVED")


def prove_source(source: str, entry: str | None, properties: str, options: ProofOptions = ProofOptions(),
                 dialect: Dialect = IEC, places: Sequence[FilePlace] = ()) -> SourceProof:
    """Decide properties (a JSON text as `proof.properties` describes it; empty for none) and what is owed at run time.
    A property that cannot be read is UNKNOWN, with what is wrong with it.

    Raises WrongProperties, MissingProgram without a solver, and SandboxError when no process can be started."""
    if find_spec("z3") is None:
        raise MissingProgram("z3 cannot be imported, which proves properties: pip install 'chatdev-chain[plc]'")
    from chatdev.departments.plc.proof.properties import PropertyError, read_each_property
    from chatdev.departments.plc.proof.verify import verify

    try:
        asked = read_each_property(properties) if properties else []
    except PropertyError as error:
        raise WrongProperties(str(error)) from None
    check = check_source(source, entry, dialect, places)
    if check.errors:
        return SourceProof(source, check, (), options, dialect)
    unreadable = _find_unreadable(source, entry, asked, dialect)
    readable = [Property(UNREADABLE, (one.pattern, unreadable[number])) if number in unreadable else one
                for number, one in enumerate(asked)]
    if options.cycle_ms is None:
        options = replace(options, cycle_ms=check.cycle_ms)
    outcomes = verify(source, entry, readable, **asdict(options), dialect=dialect)
    outcomes[:len(asked)] = (replace(outcome, asked=one) for outcome, one in zip(outcomes, asked, strict=False))
    return SourceProof(source, check, tuple(outcomes), options, dialect)


def _find_unreadable(source: str, entry: str | None, asked: Sequence[Property], dialect: Dialect) -> dict[int, str]:
    """Why properties cannot be read, by their numbers from 0. Of many that take too long to read the ones are sought
    that do."""
    try:
        said = find_unreadable(source, entry, asked, dialect)
    except SourceRefused as refused:
        if len(asked) < 2:
            return dict.fromkeys(range(len(asked)), f"it cannot be read: {refused}")
    else:
        return {int(number) - 1: why for number, why in said.items()}
    half = len(asked) // 2
    earlier, later = (_find_unreadable(source, entry, some, dialect) for some in (asked[:half], asked[half:]))
    return earlier | {half + number: why for number, why in later.items()}
