"""Files of event logs, as other programs write them: XES (IEEE 1849-2016) and tables (CSV), also packed by gzip, each
read as a stream; those of objects are read by `object_logs`."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from xml.parsers import expat

from chatdev.departments.process.event_log import Event, EventLog, LogChoice, list_some, name_activity
from chatdev.departments.process.log_times import TimeReader, choose_order
from chatdev.departments.process.object_logs import is_of_objects, read_objects
from chatdev.errors import ConfigError

ACTIVITY, TIME, LIFECYCLE, INSTANCE = "concept:name", "time:timestamp", "lifecycle:transition", "concept:instance"
SUFFIXES = (".xes", ".csv", ".tsv", ".jsonocel", ".xmlocel", ".sqlite")
_COLUMNS = {  # of a table, as usual exports call them
    "case": ("case:concept:name", "case id", "caseid", "case", "trace id", "traceid", "case key"),
    "activity": ("concept:name", "activity", "activity name", "activityname", "task", "event", "event name", "action"),
    "time": ("time:timestamp", "timestamp", "time", "complete timestamp", "completetimestamp", "end timestamp",
             "datetime", "date", "start timestamp"),
    "lifecycle": ("lifecycle:transition", "lifecycle", "transition", "event type", "eventtype"),
}
_CHUNK = 1 << 16  # bytes
_LONGEST_TAG = 1 << 24  # bytes without the end of an element: nothing that a log holds
_LONGEST_HEAD = 100_000  # characters of a table's head
_DEEPEST = 100


def is_log(path: Path) -> bool:
    """Whether a file is called as an event log is."""
    return path.name.lower().removesuffix(".gz").endswith(SUFFIXES)


def read_log(path: Path, choice: LogChoice | None = None, progress: Callable[[int], None] = lambda _: None) -> EventLog:
    """The variants of an event log; `progress` is told how many bytes of the file were read since it was told last.
    Raises ConfigError with the place for what is none, and for a name of an attribute that is not there."""
    choice, log = choice or LogChoice(), EventLog()
    try:
        with path.open("rb") as file, _Unpacked(file, progress) as data:
            for events in _read_cases(data, path, choice, log):
                log.add(events, choice.lifecycles)
    except (OSError, EOFError, zlib.error) as error:
        raise ConfigError(f"{path} cannot be read to its end: {getattr(error, 'strerror', None) or error}") from None
    if not any(log.variants):
        passed_over = list_some(f"{count:,} {why}" for why, count in log.passed_over.items())
        raise ConfigError(f"{path} has no events" + (f" that are steps, but {passed_over}" if passed_over else ""))
    return log


def _read_cases(data: io.RawIOBase, path: Path, choice: LogChoice, log: EventLog) -> Iterator[Sequence[Event]]:
    name = path.name.lower().removesuffix(".gz")
    source = io.BufferedReader(data, _CHUNK)
    if is_of_objects(name, source.peek()):
        return _in_cases(read_objects(source, path, choice))
    if name.endswith((".xes", ".xml")):
        return _read_xes(source, path, choice, log)
    return _in_cases(_read_table(source, path, choice, log))


class _Unpacked(io.RawIOBase):
    """The bytes of a file, unpacked where it is packed by gzip; tells how far the file was read."""

    def __init__(self, file: BinaryIO, progress: Callable[[int], None]) -> None:
        magic = file.read(2)
        file.seek(0)
        self._file, self._progress, self._told = file, progress, 0
        self._data: Any = gzip.GzipFile(fileobj=file) if magic == b"\x1f\x8b" else file

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer."""
        data = self._data.read(len(buffer))
        buffer[:len(data)] = data
        place = self._file.tell()
        self._progress(place - self._told)
        self._told = place
        return len(data)


def _in_cases(events: Iterable[tuple[str, Event]]) -> Iterator[Sequence[Event]]:
    """Events by case, in their order. They pass through a database in a temporary file, so that memory stays small."""
    with closing(sqlite3.connect("")) as kept:
        kept.execute("PRAGMA journal_mode = OFF")
        kept.execute("CREATE TABLE events (case_id TEXT, activity TEXT, time REAL, transition TEXT, instance TEXT)")
        kept.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?)", ((case, *event) for case, event in events))
        rows = kept.execute("SELECT * FROM events ORDER BY case_id, rowid")
        names: dict[str, str] = {}
        for _, found in groupby(rows, key=lambda row: row[0]):
            yield [Event(names.setdefault(row[1], row[1]), *row[2:]) for row in found]


# XES


class _XesReader:
    """Takes the events of a trace together, of each only the attributes that are wanted."""

    def __init__(self, path: Path, choice: LogChoice, log: EventLog) -> None:
        self._path, self._log = path, log
        self._activity = _parts_of(choice.activity, ACTIVITY)
        self._time, self._lifecycle = choice.time or TIME, choice.lifecycle or LIFECYCLE
        self._wanted = {name: name for name in (*self._activity, self._time, self._lifecycle, INSTANCE)}
        self._times = TimeReader(choice.time_format)
        self._names: dict[str, str] = {}
        self._open: list[str] = []
        self._event: dict[str, str] = {}
        self._events: list[Event] = []
        self.traces: list[list[Event]] = []
        self.keys: set[str] = set()
        self.found = False
        self.parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        parser.EntityDeclHandler = self._refuse_doctype

    def refuse(self, reason: str) -> ConfigError:
        """The error with the place."""
        return ConfigError(f"{self._path}:{self.parser.CurrentLineNumber}:{self.parser.CurrentColumnNumber + 1}: "
                           f"{reason}")

    def _refuse_doctype(self, *_: Any) -> None:
        raise self.refuse("a document type or entities, which no event log needs; remove the declaration")

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        if not self._open and tag != "log":
            raise self.refuse(f"the file is a <{tag:.60}> and no <log>; an event log in XES is wanted")
        if len(self._open) >= _DEEPEST:
            raise self.refuse(f"elements are nested more than {_DEEPEST} deep")
        inside = self._open[-1] if self._open else ""
        self._open.append(tag)
        if inside == "event":
            self._take(attributes)
        elif tag == "event":
            self._event = {}
        elif tag == "extension":
            self._extend(attributes.get("name", "").lower(), attributes.get("prefix", ""))

    def _extend(self, name: str, prefix: str) -> None:
        """Know the attributes of an extension by the prefix that the log gives it."""
        for usual in [wanted for wanted in self._wanted if wanted.startswith(f"{name}:")]:
            self._wanted[f"{prefix}:{usual.partition(':')[2]}"] = usual

    def _take(self, attributes: Mapping[str, str]) -> None:
        key = attributes.get("key", "")
        if len(self.keys) < 50:
            self.keys.add(key)
        if key in self._wanted:
            self._event[self._wanted[key]] = attributes.get("value", "")

    def _end(self, tag: str) -> None:
        tag = self._open.pop()
        if tag == "event" and self._open[-1] != "trace":
            self._log.passed_over["outside of a trace"] += 1
        elif tag == "event":
            self._keep()
        elif tag == "trace":
            self.traces.append(self._events)
            self._events = []

    def _keep(self) -> None:
        event = self._event
        activity = "+".join(filter(None, (event.get(part) for part in self._activity)))
        if not activity:
            self._log.passed_over["without activity"] += 1
            return
        self.found = True
        time = event.get(self._time)
        try:
            seconds = None if not time else self._times(time)
        except ValueError as error:
            raise self.refuse(str(error)) from None
        self._events.append(Event(name_activity(activity, self._names, self.refuse), seconds,
                                  event.get(self._lifecycle, ""), event.get(INSTANCE, "")))


def _read_xes(data: io.BufferedReader[Any], path: Path, choice: LogChoice, log: EventLog) -> Iterator[Sequence[Event]]:
    reader = _XesReader(path, choice, log)
    parser, read, seen = reader.parser, 0, -1
    if choice.case:
        raise ConfigError(f"--case {choice.case}: in XES a case is a <trace>; leave the option out")
    try:
        while chunk := data.read(_CHUNK):
            parser.Parse(chunk)
            read += len(chunk)
            seen = max(seen, parser.CurrentByteIndex)
            if read - seen > _LONGEST_TAG:
                raise reader.refuse("an element without an end")
            yield from reader.traces
            reader.traces = []
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ConfigError(f"{path}:{error.lineno}:{error.offset + 1}: no whole XML: "
                          f"{expat.errors.messages[error.code]}; {log.cases:,} cases before it are whole") from None
    yield from reader.traces
    if not reader.found and reader.keys:
        raise ConfigError(f"{path}: no event has the attribute {'+'.join(_parts_of(choice.activity, ACTIVITY))!r}; "
                          f"name another one, --activity: its events have {list_some(sorted(reader.keys))}")


def _parts_of(given: str | None, usual: str) -> list[str]:
    return (given or usual).split("+")


# tables


def _read_table(data: io.BufferedReader[Any], path: Path, choice: LogChoice, log: EventLog
                ) -> Iterator[tuple[str, Event]]:
    """The events of a table with a head. Bytes that are no UTF-8 are read as Windows' cp1252."""
    lines = map(_mend, _text_of(data, path))
    head = next(filter(str.strip, lines), "")
    separator = _separator(choice.separator, head)
    columns = list(map(str.strip, _cells(head, separator)))
    places = _find_columns(columns, choice, path)
    times = TimeReader(choice.time_format or _order_of_dates(path, places.time, separator))
    rows, names = csv.reader(lines, delimiter=separator, strict=True), dict[str, str]()

    def refuse(reason: str) -> ConfigError:
        return ConfigError(f"{path}:{rows.line_num + 1}: {reason}")

    try:
        for row in filter(None, rows):
            if len(row) != len(columns):
                raise refuse(f"{len(row)} values where the head has {len(columns)} columns")
            case, activity, time, transition = places.cells(row)
            if case and activity:
                yield case, Event(name_activity(activity, names, refuse), times.optional(time), transition, "")
            else:
                log.passed_over["without case or activity"] += 1
    except csv.Error as error:
        raise refuse(f"no whole line of a table: {error}") from None
    except ValueError as error:
        raise refuse(str(error)) from None


def _text_of(data: io.BufferedReader[Any], path: Path) -> io.TextIOWrapper:
    return io.TextIOWrapper(data, _encoding(path), "surrogateescape", newline="")


def _cells(head: str, separator: str) -> list[str]:
    return next(csv.reader([head[:_LONGEST_HEAD]], delimiter=separator), [])


class _Places(NamedTuple):
    """The columns that are meant."""

    case: int
    activity: Sequence[int]
    time: int | None
    lifecycle: int | None

    def cells(self, row: Sequence[str]) -> tuple[str, str, str, str]:
        """Case, activity, time and transition of a row; empty where there is no such column."""
        activity = "+".join(filter(None, (row[place].strip() for place in self.activity)))
        time, transition = ("" if place is None else row[place].strip() for place in (self.time, self.lifecycle))
        return row[self.case], activity, time, transition


def _find_columns(columns: Sequence[str], choice: LogChoice, path: Path) -> _Places:
    """The columns of case, activity, time and lifecycle. Raises ConfigError with the columns there are."""
    activity = choice.activity
    names = [activity] if activity is None or activity in columns else activity.split("+")
    case, *activities = (_need_column(columns, what, name, path) for what, name in
                         (("case", choice.case), *(("activity", name) for name in names)))
    return _Places(case, activities, _find_column(columns, "time", choice.time, path),
                   _find_column(columns, "lifecycle", choice.lifecycle, path))


def _need_column(columns: Sequence[str], what: str, given: str | None, path: Path) -> int:
    place = _find_column(columns, what, given, path)
    if place is None:
        raise ConfigError(f"{path}: which column is the {what}? Name it with --{what}; there are: "
                          f"{list_some(columns) or 'none'}")
    return place


def _find_column(columns: Sequence[str], what: str, given: str | None, path: Path) -> int | None:
    """The column that is given, else the first that is usually called so; None where there is none."""
    if given is None:
        plain = [" ".join(re.split(r"[\s_-]+", column.lower())) for column in columns]
        return next((plain.index(name) for name in _COLUMNS[what] if name in plain), None)
    if given not in columns:
        raise ConfigError(f"{path}: there is no column {given!r:.80}; it has: {list_some(columns)}")
    return columns.index(given)


def _separator(given: str | None, head: str) -> str:
    """What stands between columns: as given, else what divides the head most."""
    if given is None:
        return max(",;\t|", key=lambda one: len(_cells(head, one)))
    text = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}.get(given, given)
    if len(text) != 1 or text in "\"\r\n":
        raise ConfigError(f"--separator {given!r}: give one character, or `tab`")
    return text


def _order_of_dates(path: Path, place: int | None, separator: str) -> str | None:
    """Whether the day or the month comes first where both are numbers, by all dates of the table; None where its dates
    are not of that kind. Raises ConfigError where they leave it open."""
    if place is None:
        return None
    with path.open("rb") as file, _Unpacked(file, lambda _: None) as data:
        lines = _text_of(io.BufferedReader(data, _CHUNK), path)
        rows = csv.reader(map(_mend, lines), delimiter=separator)
        try:
            return choose_order((row[place] for row in rows if len(row) > place), str(path))
        except csv.Error:
            return None  # told with its place when it is read


def _encoding(path: Path) -> str:
    with path.open("rb") as file, _Unpacked(file, lambda _: None) as data:
        begin = data.read(3) or b""
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    return "utf-8-sig"


def _mend(text: str) -> str:
    """The text, read as cp1252 where it is no UTF-8."""
    if text.isascii() or not any("\udc80" <= sign <= "\udcff" for sign in text):
        return text
    return text.encode("utf-8", "surrogateescape").decode("cp1252", "replace")
