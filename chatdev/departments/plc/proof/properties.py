"""Properties as the benchmark writes them, what each pattern means in one scan, and what came of asking.

A property is harm that must never be done at the end of a scan. Patterns over several scans remember one bit or two
from the scans before (monitors, which begin as FALSE).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from chatdev.departments.plc.proof.terms import Term, both, either, negate
from chatdev.departments.plc.st.core import MOST_TURNS, Expression, Program
from chatdev.departments.plc.st.reading import read_condition

MOST_PROPERTIES = 500
_SHOWN = 80  # characters of what cannot be read
Seen = Callable[[int], Term]
"""Whether the parameter of a number holds at some moment."""


class PropertyError(ValueError):
    """A property cannot be read; the text says which part, why, and what is right."""


@dataclass(frozen=True)
class Step:
    """One scan as a property sees it: whether harm is done, whether what the property is about has come up, and the
    monitors after the scan."""

    harm: Term
    trigger: Term = True
    monitors: Mapping[str, Term] = field(default_factory=dict)


@dataclass(frozen=True)
class Pattern:
    """What the parameters mean: `observe` takes what holds at the begin of a scan (inputs are
    read), at its end, and the monitors before it. With `is_goal` the "harm" is what has to be reached.

    `undefined` says what each parameter is taken for where it has no value (an index outside of its array, a divisor of
    0): so that there is harm, as the property does not hold there, and no goal."""

    undefined: tuple[bool, ...]
    observe: Callable[[Seen, Seen, Mapping[str, Term]], Step]
    is_goal: bool = False

    @property
    def parameters(self) -> int:
        """How many there are."""
        return len(self.undefined)


def _implication(_begin: Seen, end: Seen, _monitors: Mapping[str, Term]) -> Step:
    return Step(both(end(0), negate(end(1))), end(0))


def _invariant(_begin: Seen, end: Seen, _monitors: Mapping[str, Term]) -> Step:
    return Step(negate(end(0)))


def _absence(_begin: Seen, end: Seen, _monitors: Mapping[str, Term]) -> Step:
    return Step(end(0))


def _during_cycle(begin: Seen, end: Seen, _monitors: Mapping[str, Term]) -> Step:
    return Step(both(begin(0), negate(end(1))), begin(0))


def _between_cycles(_begin: Seen, end: Seen, monitors: Mapping[str, Term]) -> Step:
    asked = both(monitors["$before"], end(1))
    return Step(both(asked, negate(end(2))), asked, {"$before": end(0)})


def _leads_to(_begin: Seen, end: Seen, monitors: Mapping[str, Term]) -> Step:
    """Where the first one holds, there was a change from the second to the third in this scan or one before."""
    seen = either(monitors["$seen"], both(monitors["$before"], end(2)))
    return Step(both(end(0), negate(seen)), end(0), {"$before": end(1), "$seen": seen})


MONITORS = ("$before", "$seen")
PATTERNS: dict[str, Pattern] = {
    "pattern-invariant": Pattern((False,), _invariant),
    "pattern-implication": Pattern((True, False), _implication),
    "pattern-forbidden": Pattern((True,), _absence),
    "pattern-statechange-duringcycle": Pattern((True, False), _during_cycle),
    "pattern-statechange-betweencycles": Pattern((True, True, False), _between_cycles),
    "pattern-reachability": Pattern((False,), _absence, is_goal=True),
    "pattern-leadsto-trigger": Pattern((True, False, False), _leads_to),
    "pattern-repeatability": Pattern((False,), _absence, is_goal=True),
}
ASSERTION = "assertion"
"""All `//#ASSERT` of the source."""


def read_properties(data: Any) -> list[Property]:
    """The properties in a JSON list, or in its text: each an object with `job_req` (assertion or pattern), `pattern_id`
    and `pattern_params` (of which the order counts), wrapped in `property` or not. Raises PropertyError."""
    return [_read_property(item, f"property {number}") for number, item in enumerate(_read_list(data), 1)]


def read_each_property(data: Any) -> list[Property]:
    """The same, where one that cannot be read is `UNREADABLE` and spoils no other. Raises PropertyError for what is no
    list."""
    return [_read_or_tell(item) for item in _read_list(data)]


def _read_or_tell(item: Any) -> Property:
    try:
        return _read_property(item, "the item")
    except PropertyError as error:
        return Property(UNREADABLE, (json.dumps(item, ensure_ascii=False)[:_SHOWN], str(error)))


def _read_list(data: Any) -> list[Any]:
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise PropertyError(f"the properties are no JSON: {error}") from None
    if not isinstance(data, list):
        raise PropertyError(f"the properties are a list of objects, not {type(data).__name__}")
    if len(data) > MOST_PROPERTIES:
        raise PropertyError(f"{len(data)} properties are given; at most {MOST_PROPERTIES} are checked at once")
    return data


def _read_property(item: Any, where: str) -> Property:
    inner = item.get("property", item) if isinstance(item, dict) else item
    if not isinstance(inner, dict):
        raise PropertyError(f"{where} is an object with job_req, pattern_id and pattern_params, not "
                            f"{type(inner).__name__}")
    description = str(item.get("property_description") or inner.get("pattern_description") or "")
    if inner.get("job_req", "pattern") not in (ASSERTION, "pattern"):
        raise PropertyError(f"{where}: job_req is pattern or {ASSERTION}, not {inner['job_req']!r}")
    if inner.get("job_req") == ASSERTION:
        return Property(ASSERTION, (), description)
    name = inner.get("pattern_id")
    if not isinstance(name, str) or name not in PATTERNS:
        raise PropertyError(f"{where}: there is no pattern_id {name!r}; there are {', '.join(PATTERNS)}")
    parameters = _read_parameters(inner.get("pattern_params"), where)
    if len(parameters) != PATTERNS[name].parameters:
        raise PropertyError(f"{where}: {name} takes {PATTERNS[name].parameters} pattern_params, not {len(parameters)}")
    return Property(name, parameters, description)


def _read_parameters(given: Any, where: str) -> tuple[str, ...]:
    if isinstance(given, list):
        given = {str(number): text for number, text in enumerate(given)}
    if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
        raise PropertyError(f'{where}: pattern_params is an object of expressions: {{"0": "A", "1": "B"}}')
    if not all(str(key).isdecimal() for key in given):
        raise PropertyError(f"{where}: the names of pattern_params are numbers, not {', '.join(map(str, given))}")
    return tuple(given[key] for key in sorted(given, key=int))


def read_conditions(asked: Property, program: Program) -> list[Expression]:
    """The parameters of a property as expressions over the entry's variables. Raises PropertyError."""
    found = []
    for text in asked.parameters:
        condition = read_condition(text, program)
        if condition.expression is None:
            errors = [one for one in condition.diagnostics if one.severity == "error"]
            why = "; ".join(f"{one.message}{f' ({one.hint})' if one.hint else ''}" for one in errors)
            raise PropertyError(f"the condition `{text}` cannot be read: {why}")
        found.append(condition.expression)
    return found


# What is asked of a program, and what came of it.

Verdict = Literal["PROVED", "VIOLATED", "BOUNDED", "UNKNOWN"]
"""PROVED: in every run, however long. VIOLATED: there is a run that shows it, and it was replayed. BOUNDED: not in the
first k scans, nothing is known of later ones; that is no proof. UNKNOWN: nothing is known, and the reason is said."""
RUN_TIME = "run-time"
"""The pattern of what every program owes without being asked; its parameters are the kind of fault, its place
(`line:column`) and more about it."""
ENDS_RUN = ("index", "division", "subrange", "loop")
"""Run-time faults that end a run. Others only have to be reported."""


UNREADABLE = "unreadable"
"""The pattern of what was given as a property and is none; its parameters are how it begins, and why it is none."""


@dataclass(frozen=True, slots=True)
class Property:
    """A requirement: a pattern by its PLCverif name with its expressions, or `RUN_TIME`, or `UNREADABLE`."""

    pattern: str
    parameters: tuple[str, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Cycle:
    """One scan of a counterexample: the variables that changed in it (inputs among them) with their values after it, in
    the order of their declaration; the source lines that ran; the run-time fault that ended it, if one did."""

    number: int
    milliseconds: int
    changed: tuple[tuple[str, str], ...]
    lines: tuple[int, ...]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """What another verifier, `by`, says of a property. `said` tells why it is UNKNOWN, with the verifier's words; with
    `scans` it looked at fewer scans than that, not at every run."""

    by: str
    verdict: Literal["SATISFIED", "VIOLATED", "UNKNOWN"]
    said: str = ""
    scans: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on a property. `k` is how many scans were looked at, `seconds` how long a processor worked on it;
    `cycles` are the run that shows it (for reachability the one that gets there); `vacuous` says why a proof says
    nothing of the program, if it does not; `opinion` is that of another verifier, if one was asked."""

    asked: Property
    verdict: Verdict
    k: int = 0
    seconds: float = 0.0
    reason: str = ""
    vacuous: str = ""
    cycles: tuple[Cycle, ...] = ()
    opinion: Opinion | None = None

    @property
    def is_decided(self) -> bool:
        """Whether it is known whether the property holds."""
        return self.verdict in ("PROVED", "VIOLATED")

    @property
    def is_contradicted(self) -> bool:
        """Whether the other verifier says the contrary, of runs that both looked at."""
        if self.opinion is None or (self.opinion.scans and len(self.cycles) >= self.opinion.scans):
            return False
        return (self.verdict, self.opinion.verdict) in (("PROVED", "VIOLATED"), ("VIOLATED", "SATISFIED"))


@dataclass(frozen=True, slots=True)
class Limits:
    """What a check may take: seconds of a processor, scans that are looked at, whether integers may not overflow,
    either, and how many turns of a loop in a scan are no fault."""

    seconds: float = 10.0
    most_k: int = 30
    watch_overflow: bool = False
    most_turns: int = MOST_TURNS
    assumed: tuple[tuple[str, ...], ...] = ()
    """The parameters of the run-time obligations that are taken for granted, as a run that breaks one ends there."""
    alone: bool = False
    """Nothing is looked at but what the question itself depends on: neither other obligations, nor whether loops end
    that it has nothing to do with. That takes little time."""
