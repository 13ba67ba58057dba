"""Files of event logs, as other programs write them: XES, tables (CSV) and OCEL, also packed by gzip, each read as a
stream.

XES: IEEE 1849-2016. OCEL 1.0 and 2.0 (JSON) are flattened to one type of object (van der Aalst, Object-centric process
mining, 2019).
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple
from xml.parsers import expat

from chatdev.departments.process.event_log import Event, EventLog, LogChoice
from chatdev.errors import ConfigError

ACTIVITY, TIME, LIFECYCLE = "concept:name", "time:timestamp", "lifecycle:transition"
SUFFIXES = (".xes", ".csv", ".tsv", ".jsonocel", ".json")
_COLUMNS = {  # of a table, as usual exports call them
    "case": ("case:concept:name", "case id", "caseid", "case", "trace id", "traceid", "case key"),
    "activity": ("concept:name", "activity", "activity name", "activityname", "task", "event", "event name", "action"),
    "time": ("time:timestamp", "timestamp", "time", "complete timestamp", "completetimestamp", "end timestamp",
             "datetime", "date", "start timestamp"),
    "lifecycle": ("lifecycle:transition", "lifecycle", "transition", "event type", "eventtype"),
}
_CHUNK = 1 << 16  # bytes
_LONGEST_TAG = 1 << 24  # bytes without the end of an element: nothing that a log holds
_LONGEST_NAME = 1000  # characters of an activity
_LONGEST_HEAD = 100_000  # characters of a table's head
_MOST_ACTIVITIES = 10_000
_MOST_TOLD, _LONGEST_TOLD = 40, 80  # names in a message, and characters of each
_LARGEST_JSON = 1 << 30  # bytes: it is read whole
_DEEPEST = 100


def is_log(path: Path) -> bool:
    """Whether a file is called as an event log is."""
    return path.name.lower().removesuffix(".gz").endswith(SUFFIXES[:-1])


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
    if not log.variants:
        raise ConfigError(f"{path} has no events")
    return log


def _read_cases(data: io.RawIOBase, path: Path, choice: LogChoice, log: EventLog) -> Iterator[Sequence[Event]]:
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(".xes"):
        return _read_xes(data, path, choice, log)
    if name.endswith((".jsonocel", ".json")):
        return _in_cases(_read_ocel(data, path, choice))
    return _in_cases(_read_table(data, path, choice, log))


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
        self._wanted = {*self._activity, self._time, self._lifecycle, "concept:instance"}
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

    def _take(self, attributes: Mapping[str, str]) -> None:
        key = attributes.get("key", "")
        if len(self.keys) < 50:
            self.keys.add(key)
        if key in self._wanted:
            self._event[key] = attributes.get("value", "")

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
        self._events.append(Event(_name(activity, self._names, self.refuse), seconds, event.get(self._lifecycle, ""),
                                  event.get("concept:instance", "")))


def _read_xes(data: io.RawIOBase, path: Path, choice: LogChoice, log: EventLog) -> Iterator[Sequence[Event]]:
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
                          f"name another one, --activity: its events have {_some(sorted(reader.keys))}")


def _some(names: Iterable[str]) -> str:
    """The names as a message tells them, long ones cut and the last of many left out."""
    found = list(names)
    more = f", and {len(found) - _MOST_TOLD} more" if len(found) > _MOST_TOLD else ""
    return ", ".join(name[:_LONGEST_TOLD] for name in found[:_MOST_TOLD]) + more


def _parts_of(given: str | None, usual: str) -> list[str]:
    return (given or usual).split("+")


def _name(activity: str, known: dict[str, str], refuse: Callable[[str], ConfigError]) -> str:
    """The activity, one text for all events of it."""
    if activity not in known:
        if len(activity) > _LONGEST_NAME:
            raise refuse(f"an activity of {len(activity)} characters is no name; the most is {_LONGEST_NAME}")
        if len(known) == _MOST_ACTIVITIES:
            raise refuse(f"there are more than {_MOST_ACTIVITIES:,} activities; name what is one: --activity")
    return known.setdefault(activity, activity)


# tables


def _read_table(data: io.RawIOBase, path: Path, choice: LogChoice, log: EventLog) -> Iterator[tuple[str, Event]]:
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
                yield case, Event(_name(activity, names, refuse), times.optional(time), transition, "")
            else:
                log.passed_over["without case or activity"] += 1
    except csv.Error as error:
        raise refuse(f"no whole line of a table: {error}") from None
    except ValueError as error:
        raise refuse(str(error)) from None


def _text_of(data: io.RawIOBase, path: Path) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedReader(data, _CHUNK), _encoding(path), "surrogateescape", newline="")


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
                          f"{_some(columns) or 'none'}")
    return place


def _find_column(columns: Sequence[str], what: str, given: str | None, path: Path) -> int | None:
    """The column that is given, else the first that is usually called so; None where there is none."""
    if given is None:
        plain = [" ".join(re.split(r"[\s_-]+", column.lower())) for column in columns]
        return next((plain.index(name) for name in _COLUMNS[what] if name in plain), None)
    if given not in columns:
        raise ConfigError(f"{path}: there is no column {given!r:.80}; it has: {_some(columns)}")
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
        rows = csv.reader(map(_mend, _text_of(data, path)), delimiter=separator)
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


# OCEL


def _read_ocel(data: io.RawIOBase, path: Path, choice: LogChoice) -> Iterator[tuple[str, Event]]:
    """The events, each in the case of every object of the wanted type that it is about."""
    text = b"".join(iter(lambda: data.read(_CHUNK) or b"", b""))
    if len(text) > _LARGEST_JSON:
        raise ConfigError(f"{path} is larger than {_LARGEST_JSON >> 30} GB, the most that is read as JSON")
    try:
        found = json.loads(text)
        types, events = _first_ocel(found) if "ocel:events" in found else _second_ocel(found)
        wanted = _object_type(types, choice.case, path)
        times, names = TimeReader(choice.time_format), dict[str, str]()

        def refuse(reason: str) -> ConfigError:
            return ConfigError(f"{path}: {reason}")

        for activity, time, objects in _by_time(events, times):
            for one in dict.fromkeys(objects):
                if types.get(one) == wanted:
                    yield one, Event(_name(str(activity), names, refuse), time, "", "")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path} is no event log in OCEL's JSON ({type(error).__name__}: {str(error)[:120]}); it has "
                          "`ocel:events` and `ocel:objects` (1.0), or `events` and `objects` (2.0)") from None


_Found = tuple[Mapping[str, str], Iterable[tuple[str, str, Sequence[str]]]]
"""The type of each object, and of each event activity, time and objects."""


def _first_ocel(found: Mapping[str, Any]) -> _Found:
    types = {name: one["ocel:type"] for name, one in found["ocel:objects"].items()}
    return types, ((one["ocel:activity"], one["ocel:timestamp"], one["ocel:omap"])
                   for one in found["ocel:events"].values())


def _second_ocel(found: Mapping[str, Any]) -> _Found:
    types = {one["id"]: one["type"] for one in found["objects"]}
    return types, ((one["type"], one["time"], [link["objectId"] for link in one.get("relationships") or ()])
                   for one in found["events"])


def _by_time(events: Iterable[tuple[str, str, Sequence[str]]],
                   times: TimeReader) -> list[tuple[str, float, Sequence[str]]]:
    """The events with their times as numbers, in their order. Raises ValueError."""
    return sorted(((activity, times(time), objects) for activity, time, objects in events), key=lambda one: one[1])


def _object_type(types: Mapping[str, str], given: str | None, path: Path) -> str:
    counts = Counter(types.values())
    if given is not None and given in counts:
        return given
    if given is None and len(counts) == 1:
        return next(iter(counts))
    known = _some(f"{name:.60} ({count})" for name, count in sorted(counts.items()))
    reason = "objects of which type are the cases?" if given is None else f"there are no objects of the type {given!r};"
    raise ConfigError(f"{path}: {reason} Name it with --case: {known}")


# times

DAY_FIRST, MONTH_FIRST = "day first", "month first"
_CLOCK = r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)?\s*([AaPp][Mm])?"
_DATE = re.compile(rf"(\d{{1,4}})([/.\-])(\d{{1,2}})\2(\d{{1,4}})(?:[\sT:,]+{_CLOCK})?", re.ASCII)
_OTHERS = 100  # dates that are of another kind: then all are
_NUMBER = re.compile(r"\d{1,19}(?:\.\d{1,9})?", re.ASCII)
_MILLISECONDS, _MICROSECONDS = 1e11, 1e14  # a number from here on counts these: as seconds it is the year 5138


class TimeReader:
    """Reads times, in seconds since 1970; one without a zone is in UTC. `form`: `DAY_FIRST`, `MONTH_FIRST`, or a form
    of `strptime`. Raises ValueError for what is none."""

    def __init__(self, form: str | None = None) -> None:
        self._form = form
        self._read: Callable[[str], float] = self._guess if form in (None, DAY_FIRST, MONTH_FIRST) else self._by_form

    def __call__(self, text: str) -> float:
        return self._read(text.strip().removesuffix(" UTC"))

    def optional(self, text: str) -> float | None:
        """The same; None for an empty text."""
        return self(text) if text else None

    def _by_form(self, text: str) -> float:
        try:
            return _seconds(datetime.strptime(text, self._form or ""))  # noqa: DTZ007 - `_seconds` gives it a zone
        except ValueError as error:
            raise ValueError(f"{error}; another form: --time-format") from None

    def _guess(self, text: str) -> float:
        if text[4:5] == "-":
            try:
                return _seconds(datetime.fromisoformat(text))
            except ValueError:
                pass
        if found := _DATE.fullmatch(text):
            return _seconds(self._date(found))
        if _NUMBER.fullmatch(text):
            number = float(text)
            return number / 1e6 if number >= _MICROSECONDS else number / 1e3 if number >= _MILLISECONDS else number
        raise ValueError(f"{text[:60]!r} is no time that is known; give its form: --time-format '%d.%m.%Y %H:%M:%S'")

    def _date(self, found: re.Match[str]) -> datetime:
        first, mark, second, third, hour, minute, second_part, fraction, half = found.groups()
        if len(first) == 4:
            year, month, day = first, second, third
        elif mark == "." or self._form != MONTH_FIRST:
            day, month, year = first, second, third
        else:
            month, day, year = first, second, third
        if len(year) != 4:
            raise ValueError(f"{found[0]!r}: a year of {len(year)} digits; give the form: --time-format "
                             "'%d/%m/%y %H:%M'")
        hours = int(hour or 0)
        if half:
            hours = hours % 12 + 12 * (half.lower() == "pm")
        return datetime(int(year), int(month), int(day), hours, int(minute or 0), int(second_part or 0),
                        int((fraction or "0").ljust(6, "0")[:6]), tzinfo=UTC)


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def choose_order(texts: Iterable[str], where: str) -> str | None:
    """Whether the day or the month comes first in dates such as 3/4/2026, by those that can be only one of the two;
    None where the first dates are of another kind. Raises ConfigError where all can be both."""
    example = ""
    for number, text in enumerate(texts):
        found = _DATE.fullmatch(text.strip())
        if found and found[2] != "." and len(found[1]) < 4:
            example = found[0]
            if max(int(found[1]), int(found[3])) > 12:
                return DAY_FIRST if int(found[1]) > 12 else MONTH_FIRST
        elif number == _OTHERS and not example:
            return None
    if example:
        raise ConfigError(f"{where}: is {example!r} the day or the month first? No date tells; give the form: "
                          "--time-format '%d/%m/%Y %H:%M:%S'")
    return None
