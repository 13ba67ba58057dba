"""Properties as the benchmark writes them, and what each pattern means in one scan.

A property is harm that must never be done at the end of a scan. Patterns over several scans remember one bit or two
from the scans before (monitors, which begin as FALSE).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chatdev.departments.plc.proof.outcomes import UNREADABLE, Property
from chatdev.departments.plc.proof.terms import Term, both, either, negate
from chatdev.departments.plc.st.core import Expression, Program
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
