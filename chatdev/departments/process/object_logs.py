"""Event logs of objects (OCEL 1.0 and 2.0, as JSON, XML and SQLite), flattened to one type of object: each object is a
case, and an event about several is in the case of each (van der Aalst: Object-centric process mining, 2019)."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from chatdev.departments.process.event_log import Event, LogChoice, list_some, name_activity
from chatdev.departments.process.log_times import TimeReader
from chatdev.errors import ConfigError

_LARGEST = 1 << 30  # bytes: it is read whole
_CHUNK = 1 << 16
_DEEPEST = 100
_SQLITE = b"SQLite format 3\0"
_XML = re.compile(rb"<(?:object-types|event-types|objects|events)\b|<global\s+scope=.(?:event|object). *>\s*"
                  rb"<string\s+key=.ocel:")
_LONGEST_VALUE = 1 << 20  # bytes of a value in a database


class _Objects(NamedTuple):
    """The type of each object, and of each event activity, time and objects."""

    types: Mapping[str, str]
    events: Iterable[tuple[str, str, Sequence[str]]]


def is_of_objects(name: str, begin: bytes) -> bool:
    """Whether a file that is called so (without `.gz`) and begins so is a log of objects."""
    if begin.startswith(_SQLITE) or name.endswith((".jsonocel", ".json", ".xmlocel", ".sqlite")):
        return True
    return name.endswith(".xml") and bool(_XML.search(begin))


def read_objects(data: BufferedReader[Any], path: Path, choice: LogChoice) -> Iterator[tuple[str, Event]]:
    """The events, each in the case of every object of the wanted type that it is about. Raises ConfigError."""
    try:
        found = _read(data, path)
        wanted = _object_type(found.types, choice.case, path)
        times, names = TimeReader(choice.time_format), dict[str, str]()
        events = sorted(((activity, times(time), objects) for activity, time, objects in found.events),
                        key=lambda event: event[1])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path} is no event log in OCEL ({type(error).__name__}: {str(error)[:120]}); as JSON it "
                          "has `ocel:events` and `ocel:objects` (1.0), or `events` and `objects` (2.0)") from None

    def refuse(reason: str) -> ConfigError:
        return ConfigError(f"{path}: {reason}")

    for activity, time, objects in events:
        for one in dict.fromkeys(objects):
            if found.types.get(one) == wanted:
                yield one, Event(name_activity(str(activity), names, refuse), time, "", "")


def _read(data: BufferedReader[Any], path: Path) -> _Objects:
    begin = data.peek().lstrip(b"\xef\xbb\xbf \t\r\n")
    if begin.startswith(_SQLITE):
        return _read_sqlite(path)
    if begin.startswith(b"<"):
        return _XmlReader(path).read(data)
    text = data.read(_LARGEST + 1)
    _check_size(len(text), path)
    found = json.loads(text)
    return _read_first(found) if "ocel:events" in found else _read_second(found)


def _check_size(size: int, path: Path) -> None:
    if size > _LARGEST:
        raise ConfigError(f"{path} is larger than {_LARGEST >> 30} GB, the most that is read of a log of objects")


def _object_type(types: Mapping[str, str], given: str | None, path: Path) -> str:
    counts = Counter(types.values())
    if given is not None and given in counts:
        return given
    if given is None and len(counts) == 1:
        return next(iter(counts))
    known = list_some(f"{name:.60} ({count})" for name, count in sorted(counts.items()))
    reason = "objects of which type are the cases?" if given is None else f"there are no objects of the type {given!r};"
    raise ConfigError(f"{path}: {reason} Name it with --case: {known or 'it has no objects'}")


def _read_first(found: Mapping[str, Any]) -> _Objects:
    return _Objects({name: one["ocel:type"] for name, one in found["ocel:objects"].items()},
                    [(one["ocel:activity"], one["ocel:timestamp"], one["ocel:omap"])
                     for one in found["ocel:events"].values()])


def _read_second(found: Mapping[str, Any]) -> _Objects:
    return _Objects({one["id"]: one["type"] for one in found["objects"]},
                    [(one["type"], one["time"], [link["objectId"] for link in one.get("relationships") or ()])
                     for one in found["events"]])


# XML


class _XmlReader:
    """Takes type, time and objects of what lies in `log/events` and `log/objects`: attributes in 2.0, elements with a
    key and a value in 1.0."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: list[str] = []
        self._one: dict[str, str] = {}
        self._links: list[str] = []
        self._are_links = False
        self._types: dict[str, str] = {}
        self._events: list[tuple[str, str, Sequence[str]]] = []
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = self._refuse_doctype

    def read(self, data: BufferedReader[Any]) -> _Objects:
        """All of the file."""
        size = 0
        try:
            while chunk := data.read(_CHUNK):
                size += len(chunk)
                _check_size(size, self._path)
                self._parser.Parse(chunk)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise ConfigError(f"{self._path}:{error.lineno}:{error.offset + 1}: no whole XML: "
                              f"{expat.errors.messages[error.code]}") from None
        return _Objects(self._types, self._events)

    def _refuse(self, reason: str) -> ConfigError:
        parser = self._parser
        return ConfigError(f"{self._path}:{parser.CurrentLineNumber}:{parser.CurrentColumnNumber + 1}: {reason}")

    def _refuse_doctype(self, *_: Any) -> None:
        raise self._refuse("a document type or entities, which no event log needs; remove the declaration")

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        depth = len(self._open)
        if not depth and tag != "log":
            raise self._refuse(f"the file is a <{tag:.60}> and no <log>; an event log in OCEL is wanted")
        if depth >= _DEEPEST:
            raise self._refuse(f"elements are nested more than {_DEEPEST} deep")
        self._open.append(tag)
        self._take(tag, depth, attributes)

    def _take(self, tag: str, depth: int, attributes: Mapping[str, str]) -> None:
        if depth == 2:
            self._one, self._links = dict(attributes), []
        elif depth == 3:
            self._are_links = tag == "objects" or attributes.get("key") == "omap"
            if "value" in attributes:
                self._one[attributes.get("key", "")] = attributes["value"]
        elif depth == 4 and self._are_links:
            self._links.append(attributes.get("object-id") or attributes.get("value", ""))

    def _end(self, tag: str) -> None:
        self._open.pop()
        inside, one = self._open[1:], self._one
        if inside == ["objects"] and tag == "object":
            self._need(one, "an object", ("id",), ("type",))
            self._types[one["id"]] = one["type"]
        elif inside == ["events"] and tag == "event":
            self._need(one, "an event", ("type", "activity"), ("time", "timestamp"))
            self._events.append((one.get("activity") or one["type"], one.get("time") or one["timestamp"], self._links))

    def _need(self, one: Mapping[str, str], what: str, *wanted: Sequence[str]) -> None:
        for names in wanted:
            if not any(map(one.get, names)):
                raise self._refuse(f"{what} without {names[0]}")


# SQLite (OCEL 2.0)


def _read_sqlite(path: Path) -> _Objects:
    """What the tables of the standard say. The database may be a stranger's: it is opened read-only, and one that would
    run anything when it is read is refused."""
    _check_size(path.stat().st_size, path)
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) != _SQLITE:
            raise ConfigError(f"{path} is a packed database, which cannot be read; unpack it: gunzip")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
            database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
            _refuse_strange(database, path)
            types = dict(_rows(database, "object", "ocel_id", "ocel_type"))
            kinds = dict(_rows(database, "event", "ocel_id", "ocel_type"))
            times: dict[str, str] = {}
            for _, table in _rows(database, "event_map_type", "ocel_type", "ocel_type_map"):
                times.update(_rows(database, f"event_{table}", "ocel_id", "ocel_time"))
            links: dict[str, list[str]] = {event: [] for event in kinds}
            for event, one in _rows(database, "event_object", "ocel_event_id", "ocel_object_id"):
                links.setdefault(event, []).append(one)
    except sqlite3.Error as error:
        raise ConfigError(f"{path} is no database of OCEL 2.0: {error}; one has the tables event, object, "
                          "event_object, event_map_type, and one of each type of event") from None
    if missing := next((event for event in kinds if event not in times), None):
        raise ConfigError(f"{path}: the event {missing!r:.80} has no time: the table of {kinds[missing]!r:.80} has no "
                          "row for it")
    return _Objects(types, [(kind, times[event], links[event]) for event, kind in kinds.items()])


def _refuse_strange(database: sqlite3.Connection, path: Path) -> None:
    """Views, virtual tables and computed columns may hold any program."""
    for kind, name, text in database.execute("SELECT type, name, sql FROM sqlite_master"):
        if kind in ("view", "trigger") or re.match(r"\s*CREATE\s+VIRTUAL", text or "", re.IGNORECASE):
            raise ConfigError(f"{path}: the {kind} {name!r:.80} is nothing that OCEL has; export the log again")
        columns = database.execute("SELECT hidden FROM pragma_table_xinfo(?)", (name,)) if kind == "table" else ()
        if any(hidden for hidden, in columns):
            raise ConfigError(f"{path}: the table {name!r:.80} has computed columns; export the log again")


def _rows(database: sqlite3.Connection, table: str, *columns: str) -> Iterator[tuple[str, str]]:
    """Two columns of a table, as text, in the order of its rows."""
    quoted = ('"' + name.replace('"', '""') + '"' for name in (*columns, table))
    first, second, place = quoted
    known = {name for _, name, *_ in database.execute("SELECT 0, name FROM pragma_table_xinfo(?)", (table,))}
    if missing := [name for name in columns if name not in known]:
        raise sqlite3.DatabaseError(f"the table {table!r:.80} has no column {missing[0]}" if known else
                                    f"there is no table {table!r:.80}")
    for one, other in database.execute(f"SELECT {first}, {second} FROM {place}"):
        yield str(one), str(other)
