"""Whether a source can be run, and what its entry has: read in the child of this process, as a model may have written
it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chatdev.departments.plc.proof.outcome import UNREADABLE, Property
from chatdev.departments.plc.simulation.layout import all_variables
from chatdev.departments.plc.st.core import IEC, Dialect, Program, Section, Span, assertions_of
from chatdev.departments.plc.st.diagnostics import Diagnostic
from chatdev.departments.plc.st.reading import read_condition, read_program
from chatdev.departments.plc.st.scalars import describe_type
from chatdev.departments.plc.st.slips import leave_out_strangers, mend_text
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
    `assertions` are the names of all `//#ASSERT`."""

    entry: str
    diagnostics: tuple[Diagnostic, ...]
    variables: tuple[EntryVariable, ...] = ()
    assertions: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics for which it cannot be run."""
        return tuple(one for one in self.diagnostics if one.severity == "error")


def check_source(source: str, entry: str | None = None, dialect: Dialect = IEC) -> SourceCheck:
    """The diagnostics of a source, and what its entry (without one: as `read_program` finds it) has. A source that
    takes too long to read, or too much memory, has one error that says so."""
    try:
        return _check(source, entry, dialect)
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


def readable_program(source: str, entry: str | None, dialect: Dialect = IEC) -> Program:
    """The program, for what runs in the child. Raises SourceRefused for one with errors."""
    reading = read_program(source, entry, dialect)
    if reading.program is None:
        first = next(one for one in reading.diagnostics if one.severity == "error")
        raise SourceRefused(f"the program has errors, the first one at {first.span}: {first.message}")
    return reading.program


@isolate(SourceRefused)
def _mend(source: str, entry: str | None, asked: str | None, dialect: Dialect) -> MendedSource:
    strangers: tuple[Diagnostic, ...] = ()
    if entry and asked is not None:
        source, strangers = leave_out_strangers(source, entry, asked)
    source, mended = mend_text(source, entry, dialect)
    return MendedSource(source, strangers + mended)


@isolate(SourceRefused)
def _check(source: str, entry: str | None, dialect: Dialect) -> SourceCheck:
    reading = read_program(source, entry, dialect)
    program = reading.program
    if program is None:
        return SourceCheck("", reading.diagnostics)
    variables = tuple(EntryVariable(one.written or one.name, one.section, describe_type(one.type))
                      for one in all_variables(program, program.entry))
    names = tuple(one.name for one in assertions_of(program))
    return SourceCheck(program.entry.written or program.entry.name, reading.diagnostics, variables, names)


def _wrong_in(text: str, program: Program) -> Iterator[str]:
    for one in read_condition(text, program).diagnostics:
        if one.severity == "error":
            hint = _known_names(program) if one.code == "undeclared" else one.hint
            yield f"in `{text}`: {one.message}{f' ({hint})' if hint else ''}"


def _known_names(program: Program) -> str:
    """What a condition may name, which nobody can declare there."""
    names = [one.written or one.name for one in all_variables(program, program.entry)]
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"{program.entry.written or program.entry.name} has {', '.join(names[:_MOST_NAMES])}{more}"

