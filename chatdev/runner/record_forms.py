"""Forms of a journal's records, checked because a journal may be damaged or written by a stranger.

Fields of later versions may be missing in old journals, and unknown fields are ignored.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from chatdev.engine.activity import Replied, result_from_json
from chatdev.errors import JournalError
from chatdev.events import KINDS
from chatdev.journal import read_journal
from chatdev.plain_values import check_depth, is_amount

_DEEPEST = 150  # levels: those of a value, and of the record around it
_OWN_KINDS: Mapping[str, Mapping[str, Any]] = {
    "Order": {"company": str, "source": dict, "inputs": dict, "images": dict, "software": dict, "values": dict,
              "options": dict, "profiles": list},
    "Message": {"hash": str, "message": dict},
    "Activity": {"place": str, "digest": str, "request": dict, "result": dict},
}


def run_records(journal: Path) -> Iterator[dict[str, Any]]:
    """The records of a run's journal, in order. Raises JournalError for what is no journal of a run, or damaged."""
    for number, record in enumerate(read_journal(journal), start=1):
        check_line(record, journal, number)
        yield record


def check_line(record: Mapping[str, Any], journal: Path, number: int) -> None:
    """Raise JournalError when the record in a line of the journal lacks what belongs to it."""
    try:
        check_record(record)
    except (KeyError, TypeError, ValueError) as error:
        raise JournalError(f"{journal}, line {number}: the record ({record['kind']!r:.40}) lacks what belongs to it "
                           f"({error!s:.200}); the journal is damaged") from error


def check_record(record: Mapping[str, Any]) -> None:
    """Raise KeyError, TypeError, ValueError or JournalError when a field is missing, or holds another kind of value."""
    check_depth(record, _DEEPEST)
    kind = record["kind"]
    if kind in KINDS:
        check_fields(KINDS[kind], record)
    for name, hint in _OWN_KINDS.get(kind, {}).items():
        _check_field(record, name, hint)
    if kind == "Activity":
        _check_activity(record)


def check_fields(form: type, record: Mapping[str, Any]) -> None:
    """Raise KeyError or TypeError unless `record` holds what the dataclass `form` declares; what has a default may be
    missing."""
    for name, (hint, required) in _fields(form).items():
        if required or name in record:
            _check_field(record, name, hint)


def _check_field(record: Mapping[str, Any], name: str, hint: Any) -> None:
    if not _fits(record[name], hint):
        raise TypeError(f"{name}: {record[name]!r:.80}")


def _check_activity(record: Mapping[str, Any]) -> None:
    """Of a model's reply it must be known who was asked what: that is counted and compared."""
    request = record["request"]
    if isinstance(result_from_json(record["result"]), Replied):
        model, messages = request["sampling"]["model"], request["messages"]
        if not (isinstance(model, str) and _fits(messages, tuple[str, ...])):
            raise TypeError(f"request: {request!r:.80}")


@functools.cache
def _fields(form: type) -> Mapping[str, tuple[Any, bool]]:
    """The type of each field, and whether it has no default."""
    hints = typing.get_type_hints(form)
    return {field.name: (hints[field.name], field.default is field.default_factory is dataclasses.MISSING)
            for field in dataclasses.fields(form)}


def _fits(value: Any, hint: Any) -> bool:
    """Whether a JSON value is of the type that a field is declared with."""
    if origin := typing.get_origin(hint):
        return _FITTING[origin](value, typing.get_args(hint))
    if hint in (int, float):
        return is_amount(value) and isinstance(value, int | hint)
    return isinstance(value, hint)


def _fits_any(value: Any, hints: Sequence[Any]) -> bool:
    return any(_fits(value, hint) for hint in hints)


_FITTING: Mapping[Any, Callable[[Any, Sequence[Any]], bool]] = {
    types.UnionType: _fits_any, typing.Union: _fits_any,
    Literal: lambda value, _: isinstance(value, str),  # later versions may know more words
    tuple: lambda value, hints: isinstance(value, list) and all(_fits(one, hints[0]) for one in value),
    dict: lambda value, hints: isinstance(value, dict) and all(_fits(one, hints[1]) for one in value.values()),
}
"""By the kind of a generic type: whether a value is of it, given what stands in its brackets."""
