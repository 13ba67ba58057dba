"""Event logs of objects (OCEL): as JSON, XML and SQLite they say the same; what is none is refused with its place."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from chatdev.departments.process.event_log import EventLog, LogChoice
from chatdev.departments.process.log_files import read_log
from chatdev.errors import ConfigError

TYPES = {"o1": "order", "o2": "order", "i1": "item"}
EVENTS = {"2": ("pack", "2026-01-02T00:00:00Z", ["o1", "o2", "i1"]),
          "1": ("order", "2026-01-01T00:00:00Z", ["o1", "o1"])}


def write_first_json(path: Path) -> None:
    path.write_text(json.dumps({
        "ocel:objects": {name: {"ocel:type": kind} for name, kind in TYPES.items()},
        "ocel:events": {name: {"ocel:activity": activity, "ocel:timestamp": time, "ocel:omap": objects}
                        for name, (activity, time, objects) in EVENTS.items()}}))


def write_second_json(path: Path) -> None:
    path.write_text(json.dumps({
        "objects": [{"id": name, "type": kind} for name, kind in TYPES.items()],
        "events": [{"id": name, "type": activity, "time": time,
                    "relationships": [{"objectId": one, "qualifier": ""} for one in objects]}
                   for name, (activity, time, objects) in EVENTS.items()]}))


def write_first_xml(path: Path) -> None:
    events = "".join(
        f'<event><string key="id" value="{name}"/><date key="timestamp" value="{time}"/>'
        f'<string key="activity" value="{activity}"/><list key="omap">'
        + "".join(f'<string key="object-id" value="{one}"/>' for one in objects)
        + '</list><list key="vmap"><string key="note" value="o2"/></list></event>'
        for name, (activity, time, objects) in EVENTS.items())
    objects = "".join(f'<object><string key="id" value="{name}"/><string key="type" value="{kind}"/>'
                      '<list key="ovmap"/></object>' for name, kind in TYPES.items())
    path.write_text('<log><global scope="event"><string key="ocel:activity" value="none"/></global>'
                    f"<events>{events}</events><objects>{objects}</objects></log>")


def write_second_xml(path: Path) -> None:
    objects = "".join(f'<object id="{name}" type="{kind}"><attributes><attribute name="a" time="t">o2</attribute>'
                      '</attributes><objects><relationship object-id="o2" qualifier="of"/></objects></object>'
                      for name, kind in TYPES.items())
    events = "".join(f'<event id="{name}" type="{activity}" time="{time}"><attributes/><objects>'
                     + "".join(f'<relationship object-id="{one}" qualifier=""/>' for one in objects)
                     + "</objects></event>" for name, (activity, time, objects) in EVENTS.items())
    path.write_text(f'<?xml version="1.0"?><log><object-types/><event-types/><objects>{objects}</objects>'
                    f"<events>{events}</events></log>")


def write_database(path: Path, *more: str) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(
            "CREATE TABLE object (ocel_id TEXT, ocel_type TEXT); CREATE TABLE event (ocel_id TEXT, ocel_type TEXT);"
            "CREATE TABLE event_map_type (ocel_type TEXT, ocel_type_map TEXT);"
            "CREATE TABLE event_object (ocel_event_id TEXT, ocel_object_id TEXT, ocel_qualifier TEXT);"
            'CREATE TABLE "event_o""rder" (ocel_id TEXT, ocel_time TEXT);'
            "CREATE TABLE event_Pack (ocel_id TEXT, ocel_time TEXT, weight REAL);")
        tables = {"order": 'o"rder', "pack": "Pack"}
        database.executemany("INSERT INTO object VALUES (?, ?)", TYPES.items())
        database.executemany("INSERT INTO event_map_type VALUES (?, ?)", tables.items())
        for name, (activity, time, objects) in EVENTS.items():
            table = tables[activity].replace('"', '""')
            database.execute("INSERT INTO event VALUES (?, ?)", (name, activity))
            database.execute(f'INSERT INTO "event_{table}" (ocel_id, ocel_time) VALUES (?, ?)', (name, time))
            database.executemany("INSERT INTO event_object VALUES (?, ?, '')", [(name, one) for one in objects])
        for statement in more:
            database.execute(statement)
        database.commit()


WRITERS: dict[str, Callable[[Path], None]] = {
    "1.jsonocel": write_first_json, "2.jsonocel": write_second_json, "2.json": write_second_json,
    "1.xmlocel": write_first_xml, "1.xml": write_first_xml, "2.xmlocel": write_second_xml, "2.xml": write_second_xml,
    "2.sqlite": write_database}


def read(path: Path, case: str | None = None) -> EventLog:
    """The log, flattened to objects of this type."""
    return read_log(path, LogChoice(case=case))


def refusal(path: Path, case: str | None = "order") -> str:
    """Why it is refused."""
    with pytest.raises(ConfigError) as caught:
        read(path, case)
    return str(caught.value)


@pytest.mark.parametrize("name", WRITERS)
def test_an_object_of_the_wanted_type_is_a_case(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    assert read(path, "order").variants == {("order", "pack"): 1, ("pack",): 1}
    assert read(path, "item").variants == {("pack",): 1}
    assert "Name it with --case: item (1), order (2)" in refusal(path, None)
    assert "no objects of the type 'box'" in refusal(path, "box")


def test_packed_files_are_read_but_databases(tmp_path: Path) -> None:
    for name in ("2.xmlocel", "2.sqlite"):
        WRITERS[name](tmp_path / name)
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert read(tmp_path / "2.xmlocel.gz", "item").variants == {("pack",): 1}
    assert "unpack it" in refusal(tmp_path / "2.sqlite.gz")


@pytest.mark.parametrize(("statement", "reason"), [
    ("CREATE VIEW more AS SELECT 1", "the view 'more'"),
    ("CREATE TRIGGER t AFTER INSERT ON event BEGIN SELECT 1; END", "the trigger 't'"),
    ("CREATE TABLE event_Sum (ocel_id TEXT, ocel_time TEXT AS (ocel_id))", "'event_Sum' has computed columns"),
    ("CREATE VIRTUAL TABLE words USING fts5(text)", "is nothing that OCEL has"),
    ("DELETE FROM event_Pack", "the event '2' has no time: the table of 'pack'"),
    ("DROP TABLE event_object", "there is no table 'event_object'"),
    ("ALTER TABLE object RENAME COLUMN ocel_type TO kind", "the table 'object' has no column ocel_type"),
    ("INSERT INTO event_map_type VALUES ('sell', 'Sell')", "there is no table 'event_Sell'"),
    ("UPDATE event_Pack SET ocel_time = 'soon'", "'soon' is no time"),
])
def test_a_strange_database_is_refused(statement: str, reason: str, tmp_path: Path) -> None:
    write_database(tmp_path / "log.sqlite", statement)
    assert reason in refusal(tmp_path / "log.sqlite")


@pytest.mark.parametrize(("name", "text", "reason"), [
    ("log.sqlite", "SQLite format 3\0" + "x" * 200, "is no database of OCEL 2.0"),
    ("log.xmlocel", '<!DOCTYPE log [<!ENTITY a "b">]><log/>', "document type"),
    ("log.xmlocel", "<log><events>\n<event id='1' type='a'/></events></log>", "log.xmlocel:2:"),
    ("log.xmlocel", "<log><events><event id='1' type='a'/></events></log>", "an event without time"),
    ("log.xmlocel", "<log><objects><object id='1'/></objects></log>", "an object without type"),
    ("log.xmlocel", "<log><events/>", "no whole XML"),
    ("log.xmlocel", "<pnml/>", "no <log>"),
    ("log.xmlocel", f"<log>{'<a>' * 200}", "nested more than 100"),
    ("log.xmlocel", "<log/>", "it has no objects"),
])
def test_what_is_no_log_is_refused_with_its_place(name: str, text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert reason in refusal(tmp_path / name)


def test_xes_that_is_called_xml_is_read(tmp_path: Path) -> None:
    (tmp_path / "log.xml").write_text('<log><trace><event><string key="concept:name" value="a"/></event></trace></log>')
    assert read(tmp_path / "log.xml").variants == {("a",): 1}
