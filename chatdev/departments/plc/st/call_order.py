"""Who calls whom, by the names in the syntax: the order in which bodies are best read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from chatdev.departments.plc.st.syntax import Unit


def names_of_others(units: Iterable[Unit]) -> set[str]:
    """The names that units call or look into, without their own."""
    return {one for unit in units for part in (unit, *unit.members) for one in part.calls if one != unit.name.key}


def sort_by_calls(units: Sequence[Unit], known: Mapping[str, Unit]) -> Iterator[Unit]:
    """Each behind those that it calls by their names, where there is no circle."""
    done: set[str] = set()
    for first in units:
        waiting = [first]
        while waiting:
            unit = waiting[-1]
            if unit.name.key in done:
                waiting.pop()
                continue
            open_ = [known[one] for one in sorted(unit.calls) if one in known and one not in done
                     and known[one].kind == "function" and known[one] not in waiting]
            if open_:
                waiting += open_[:1]
                continue
            waiting.pop()
            done.add(unit.name.key)
            yield unit
