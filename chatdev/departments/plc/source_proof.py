"""A source held against properties: it is checked, then the properties, then each of them is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec

from chatdev.departments.plc.proof.outcome import UNREADABLE, Outcome, Property, Verdict
from chatdev.departments.plc.source_check import SourceCheck, SourceRefused, check_source, find_unreadable
from chatdev.departments.plc.st.core import IEC, MOST_TURNS, Dialect
from chatdev.errors import MissingProgram


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
                 dialect: Dialect = IEC) -> SourceProof:
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
    check = check_source(source, entry, dialect)
    if check.errors:
        return SourceProof(source, check, (), options, dialect)
    unreadable = _find_unreadable(source, entry, asked, dialect)
    readable = [Property(UNREADABLE, (one.pattern, unreadable[number])) if number in unreadable else one
                for number, one in enumerate(asked)]
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
