"""A source held against properties: it is checked, then the properties, then each of them is decided."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from importlib.util import find_spec

from chatdev.errors import MissingProgram
from chatdev.tools.plc.proof.outcome import Outcome, Verdict
from chatdev.tools.plc.source_check import SourceCheck, SourceRefused, check_source, find_unreadable
from chatdev.tools.plc.st.core import MOST_TURNS


class WrongProperties(ValueError):
    """Properties that are none, or are about what the source does not have; the text has a line for each."""


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


def prove_source(source: str, entry: str | None, properties: str, options: ProofOptions = ProofOptions()
                 ) -> SourceProof:
    """Decide properties (a JSON text as `proof.properties` describes it; empty for none) and what is owed at run time.

    Raises WrongProperties, MissingProgram without a solver, and SandboxError when no process can be started."""
    if find_spec("z3") is None:
        raise MissingProgram("z3 cannot be imported, which proves properties: pip install 'chatdev-chain[plc]'")
    from chatdev.tools.plc.proof.properties import PropertyError, read_properties
    from chatdev.tools.plc.proof.verify import verify

    try:
        asked = read_properties(properties) if properties else []
    except PropertyError as error:
        raise WrongProperties(str(error)) from None
    check = check_source(source, entry)
    if check.errors:
        return SourceProof(source, check, (), options)
    try:
        unreadable = find_unreadable(source, entry, asked)
    except SourceRefused as refused:
        raise WrongProperties(f"the conditions of the properties cannot be read: {refused}") from None
    if unreadable:
        raise WrongProperties("\n".join(f"property {number}, {why}" for number, why in unreadable.items()))
    return SourceProof(source, check, tuple(verify(source, entry, asked, **asdict(options))), options)
