"""Which ports a block has, by its record in the catalogue and its parameters.

Only the standard library is imported here: the executor's sandbox runs this file, too.

A port's record has `direction` (in, out, conserving), `domain` (signal, ps, electrical, three_phase, …, any), and may
have `side` (left, right: a physical port, LConn or RConn), `name` (a port without a number, such as enable), `label`,
`count` (the parameter that says how many there are; with `names` it may list their names), `each` (the parameter that
lists their labels) and `when` (parameter: value or values at which it is there).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

MOST_PORTS = 1000
"""Of one record; more are refused."""
_SIGNS = re.compile(r"[-+*/|]+")
_VECTOR = re.compile(r"\[(.*)\]|\{(.*)\}", re.DOTALL)
_INNER = re.compile(r"\[[^][]*\]")
CONTROLS = {"EnablePort": "enable", "TriggerPort": "trigger", "ActionPort": "ifaction", "ResetPort": "reset"}
"""The control input of a subsystem that a block inside makes, by what files call the block."""
_SIDES = {"left": "LConn", "right": "RConn"}


class BlockPort(NamedTuple):
    """A port as `add_line` names it: "1" of a signal (counted for inputs and outputs apart), "LConn1", "enable"."""

    name: str
    direction: str
    domain: str
    label: str = ""

    @property
    def is_physical(self) -> bool:
        """Whether lines to it have no direction of their own."""
        return is_physical_name(self.name)


def is_physical_name(name: str) -> bool:
    """Whether a port's name is that of a physical one, such as LConn1."""
    return name.startswith(("LConn", "RConn"))


def expand_ports(records: Sequence[Mapping[str, Any]], parameters: Mapping[str, str]) -> list[BlockPort]:
    """The ports of a block with these parameters (defaults included), in their order. Raises ValueError where a count
    is no number, signs or vector."""
    numbers: Counter[str] = Counter()
    return [BlockPort(_name(record, numbers), record["direction"], record["domain"], label)
            for record in records if _is_there(record.get("when") or {}, parameters)
            for label in _labels(record, parameters)]


def _name(record: Mapping[str, Any], numbers: Counter[str]) -> str:
    if record.get("name"):
        return str(record["name"])
    kind = _SIDES[record["side"]] if record.get("side") else ""
    row = kind or record["direction"]
    numbers[row] += 1
    return f"{kind}{numbers[row]}"


def _is_there(when: Mapping[str, Any], parameters: Mapping[str, str]) -> bool:
    return all(parameters.get(name, "") in ([values] if isinstance(values, str) else list(values))
               for name, values in when.items())


def _labels(record: Mapping[str, Any], parameters: Mapping[str, str]) -> list[str]:
    """The label of each port that a record stands for."""
    if record.get("names") and (names := names_of(parameters.get(record["count"], ""))):
        return names
    if record.get("each"):
        text = parameters.get(record["each"], "")
        labels = text.split(",", MOST_PORTS) if text.strip() else []
        if len(labels) > MOST_PORTS:
            raise ValueError(f"{record['each']} names more than {MOST_PORTS} ports")
        return [label.strip() for label in labels]
    return [record.get("label") or ""] * _count(record.get("count"), parameters)


def _count(parameter: str | None, parameters: Mapping[str, str]) -> int:
    if parameter is None:
        return 1
    text = parameters.get(parameter, "").strip()
    number = count_of(text)
    if number is None:
        raise ValueError(f"{parameter} is {text[:80]!r}, which says no number of ports; give a number or signs")
    if number > MOST_PORTS:
        raise ValueError(f"{parameter} is {text[:80]!r}: more than {MOST_PORTS} ports")
    return number


def count_of(text: str) -> int | None:
    """How many ports a parameter's value says: a number, signs (`|` is a spacer), or as many as a vector or a cell
    array has."""
    if re.fullmatch(r"\d{1,9}", text):
        return int(text)
    if _SIGNS.fullmatch(text):
        return len(text.replace("|", ""))
    if vector := _VECTOR.fullmatch(text):
        inside = _INNER.sub("0", vector[1] if vector[1] is not None else vector[2])
        return len(inside.replace(",", " ").split())
    return None


def names_of(text: str) -> list[str]:
    """The names that a list of signals says (`a,b` or `'a','b'`); nothing where it is a count."""
    if not text.strip() or count_of(text.strip()) is not None:
        return []
    return [name.strip(" '\"") for name in text.split(",", MOST_PORTS)]


def merge_parameters(defaults: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The defaults with what is given over them; as for MATLAB, `gain` is the parameter `Gain`."""
    names = {name.lower(): name for name in defaults}
    return {**defaults, **{name if name in defaults else names.get(name.lower(), name): value
                           for name, value in given.items()}}


def sides(ports: Sequence[BlockPort]) -> Iterator[tuple[str, list[BlockPort]]]:
    """The ports at the left and at the right of a block that is not turned, each from top to bottom."""
    yield "left", [p for p in ports if p.name.startswith("LConn") or (not p.is_physical and p.direction == "in")]
    yield "right", [p for p in ports if p.name.startswith("RConn") or (not p.is_physical and p.direction != "in")]
