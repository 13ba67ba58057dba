"""The items of a `foreach`: their names, their parents, and the order that respects them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from chatdev.config.schema import Foreach
from chatdev.errors import PhaseFailed
from chatdev.plain_values import short_name

_SHOWN = 500  # characters of the ids in an error


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its value as `as` shows it, its id, and the ids it depends on."""

    id: str
    value: Any
    parents: tuple[str, ...]


def order_items(values: Any, body: Foreach, place: str) -> list[Item]:
    """The items, parents before children and otherwise as given. Raises PhaseFailed for anything but a list, for two
    items of one id, for unknown parents and for cycles (a model wrote the list: it may be wrong)."""
    if not isinstance(values, list):
        raise PhaseFailed(f"{place}: `over: {body.over}` must give a list, not {type(values).__name__}")
    items = [_item(value, number, body) for number, value in enumerate(values, start=1)]
    by_id = {item.id: item for item in items}
    if len(by_id) < len(items):
        raise PhaseFailed(f"{place}: two items share an id; ids given: {_in_short(item.id for item in items)}")
    if body.depends_on is None:
        return items
    return [by_id[name] for name in _sort_parents_first(by_id, place)]


def _sort_parents_first(by_id: dict[str, Item], place: str) -> list[str]:
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for item in by_id.values():
        if unknown := [parent for parent in item.parents if parent not in by_id]:
            raise PhaseFailed(f"{place}: item {item.id} depends on unknown items: {_in_short(unknown)}")
        sorter.add(item.id, *item.parents)
    try:
        sorter.prepare()
    except CycleError as error:
        circle = _in_short(error.args[1], " -> ")
        raise PhaseFailed(f"{place}: the items depend on one another in a circle: {circle}") from None
    positions = {name: n for n, name in enumerate(by_id)}
    ready, result = list(sorter.get_ready()), list[str]()
    while ready:
        ready.sort(key=positions.__getitem__)  # the given order decides among the free ones
        name = ready.pop(0)
        result.append(name)
        sorter.done(name)
        ready += sorter.get_ready()
    return result


def _item(value: Any, number: int, body: Foreach) -> Item:
    fields = value if isinstance(value, dict) else {}
    parents = fields.get(body.depends_on) or [] if body.depends_on else []
    parents = parents if isinstance(parents, list) else [parents]
    return Item(_id_of(fields.get(body.id, number)), value, tuple(map(_id_of, parents)))


def _id_of(given: Any) -> str:
    """The id as places, headers and messages have it."""
    return short_name(str(given))


def _in_short(names: Iterable[str], between: str = ", ") -> str:
    text = between.join(names)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"


def outcome_of(items: Sequence[Item], done: int, failures: Sequence[PhaseFailed]) -> str:
    """The step's outcome in words. Raises the first failure when no item succeeded."""
    if failures and not done:
        raise failures[0]
    return f"{done} of {len(items)} items"
