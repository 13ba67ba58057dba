"""A database that somebody else wrote: it never acts, never holds anybody up, and is never written by being read."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sql

from chatdev.batch import database
from chatdev.batch.ledger import Job, Ledger
from chatdev.departments.process.pool import InstanceOutcome
from chatdev.departments.process.pool_store import InstancePool, find_outcomes
from chatdev.errors import ConfigError

PHASES = ("A", "B")
FOREVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT * FROM n"
OUTCOMES = """CREATE TABLE chatdev_outcomes (number INTEGER NOT NULL, pool VARCHAR(200), instance VARCHAR(4000),
  success BOOLEAN, starts BOOLEAN, task VARCHAR(300), area VARCHAR(300), model VARCHAR(300), failure VARCHAR(300),
  run VARCHAR(300), temperature FLOAT, time VARCHAR(40), PRIMARY KEY (number))"""

MINE = sql.Table("mine", sql.MetaData(), sql.Column("x"))


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A pool with one success."""
    file = tmp_path / "pool.sqlite"
    opened = InstancePool(str(file), "mine", PHASES)
    opened.add([InstanceOutcome(PHASES, True)])
    opened.close()
    return file


def alter(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def find(file: Path | str) -> list[InstanceOutcome] | None:
    return find_outcomes(str(file), "mine", PHASES)


def rewritten(file: Path, change: str) -> None:
    """Write into the schema itself, as no program does."""
    alter(file, "PRAGMA writable_schema=ON", change)


STRANGE: dict[str, tuple[tuple[str, ...], str]] = {
    "a view that never ends": (("DROP TABLE chatdev_outcomes", f"CREATE VIEW chatdev_outcomes AS {FOREVER}"), "acts"),
    "a view beside": ((f"CREATE VIEW other AS {FOREVER}",), "acts"),
    "a trigger": (("CREATE TRIGGER t AFTER INSERT ON chatdev_outcomes BEGIN DELETE FROM chatdev_pools; END",), "acts"),
    "a virtual table": (("CREATE VIRTUAL TABLE v USING fts5(x)",), "acts"),
    "a generated column": (("ALTER TABLE chatdev_outcomes ADD COLUMN more AS (zeroblob(9999999))",), "none of chatd"),
    "an index that calculates": (("CREATE INDEX i ON chatdev_outcomes (length(task))",), "none of chatdev"),
    "a check": (("DROP TABLE chatdev_outcomes", OUTCOMES.replace("time VARCHAR(40)", "time CHECK (length(time) > 1)")),
                "none of chatdev"),
    "a column too many": (("ALTER TABLE chatdev_outcomes ADD COLUMN more TEXT",), "'more'"),
    "a column too few": (("ALTER TABLE chatdev_outcomes DROP COLUMN temperature",), "lacks 'temperature'"),
    "a name in capitals": (("ALTER TABLE chatdev_outcomes RENAME TO x", "DROP TABLE x",
                            "CREATE TABLE CHATDEV_OUTCOMES (number AS (1), more)"), "none of chatdev"),
    "no table": (("DROP TABLE chatdev_outcomes",), "no such table"),
    "a text for a temperature": (("UPDATE chatdev_outcomes SET temperature = 'hot'",), "damaged"),
    "bytes for a task": (("UPDATE chatdev_outcomes SET task = x'ff00'",), "damaged"),
    "text that is no UTF-8": (("UPDATE chatdev_outcomes SET task = CAST(x'ff' AS TEXT)",), "cannot be read"),
    "a success of 7": (("UPDATE chatdev_outcomes SET success = 7",), "damaged"),
    "an endless temperature": (("UPDATE chatdev_outcomes SET temperature = 9e999",), "damaged"),
    "an instance of bytes": (("UPDATE chatdev_outcomes SET instance = x'41'",), "damaged"),
    "a success of other phases": (("UPDATE chatdev_outcomes SET instance = 'Obey me'",), "no phase"),
    "a value without end": (("UPDATE chatdev_outcomes SET task = zeroblob(20000000)",), "too big"),
    "phases that are none": (("UPDATE chatdev_pools SET phases = '[5]'",), "names no phases"),
    "phases as a number": (("UPDATE chatdev_pools SET phases = '5'",), "names no phases"),
    "phases that are no JSON": (("UPDATE chatdev_pools SET phases = '{'",), "cannot be read"),
    "phases without end": (("UPDATE chatdev_pools SET phases = replace(hex(zeroblob(90000)), '0', '[')",), "cannot be"),
    "another pool's phases": (("UPDATE chatdev_pools SET phases = '[\"A\"]'",), "other phases"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_a_strange_database_is_refused_at_once(pool: Path, kind: str) -> None:
    statements, words = STRANGE[kind]
    alter(pool, *statements)
    before, began = pool.read_bytes(), time.monotonic()
    with pytest.raises(ConfigError, match=words):
        find(pool)
    assert time.monotonic() - began < 5
    assert pool.read_bytes() == before
    assert list(pool.parent.iterdir()) == [pool]


@pytest.mark.parametrize("change", [
    f"UPDATE sqlite_master SET sql = 'CREATE VIEW chatdev_outcomes AS {FOREVER}' WHERE name = 'chatdev_outcomes'",
    "UPDATE sqlite_master SET name = 'x', tbl_name = 'x', sql = replace(sql, 'PRIMARY', 'more AS (zeroblob(9)), "
    "PRIMARY') WHERE name = 'chatdev_outcomes'",
    "UPDATE sqlite_master SET sql = x'ff00' WHERE name = 'chatdev_outcomes'",
    "UPDATE sqlite_master SET rootpage = 9999 WHERE name = 'chatdev_outcomes'",
    "INSERT INTO sqlite_master SELECT * FROM sqlite_master",
])
def test_a_schema_that_lies_about_its_entries_is_refused(pool: Path, change: str) -> None:
    rewritten(pool, change)
    with pytest.raises(ConfigError, match="pool"):
        find(pool)


def test_reading_makes_and_changes_nothing(pool: Path) -> None:
    before, seen = pool.read_bytes(), pool.stat().st_mtime_ns
    assert find(pool) == InstancePool(str(pool), "mine", PHASES).outcomes()
    assert find(pool.parent / "none.sqlite") is None
    assert find(pool.parent / "no" / "folder.sqlite") is None
    assert find_outcomes(str(pool), "other", PHASES) is None
    assert (pool.read_bytes(), pool.stat().st_mtime_ns) == (before, seen)
    assert not (pool.parent / "no").exists()


def test_a_pool_is_read_while_somebody_writes_it(pool: Path) -> None:
    writer = InstancePool(str(pool), "mine", PHASES)
    writer.add([InstanceOutcome(PHASES, False)])
    assert len(find(pool) or []) == 2
    writer.close()


@pytest.mark.parametrize("address", ["sqlite:///{}?mode=rw", "sqlite:///file:{}?uri=true", "sqlite://", "a\0b", "",
                                     "sqlite:///{}?vfs=unix-none"])
def test_options_of_a_file_are_refused(pool: Path, address: str) -> None:
    with pytest.raises(ConfigError):
        find(address.format(pool))
    assert find(f"sqlite:///{pool}")


@pytest.mark.parametrize("beside", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link"])
def test_what_is_no_plain_file_is_not_waited_for(pool: Path, beside: str, kind: str) -> None:
    place, target = Path(f"{pool}{beside}"), pool.parent / "target"
    if not beside:
        place.rename(target)
    make: dict[str, Callable[[], object]] = {
        "pipe": lambda: os.mkfifo(place), "device": lambda: place.symlink_to("/dev/zero"), "folder": place.mkdir,
        "link": lambda: place.symlink_to(target)}
    make[kind]()
    if kind == "link" and not beside:
        assert find(pool), "a link to a pool is one"
        return
    with pytest.raises(ConfigError, match="only a plain file may be"):
        find(pool)


def ask(file: Path, statement: str) -> object:
    with database.read_tables(str(file), [MINE]) as connection:
        assert connection is not None
        return connection.execute(sql.text(statement)).all()


def test_a_reader_has_little_time(pool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "READ_SECONDS", 0.2)
    alter(pool, "CREATE TABLE mine (x)")
    began = time.monotonic()
    with pytest.raises(ConfigError, match="takes longer"):
        ask(pool, FOREVER)
    assert time.monotonic() - began < 3


def test_what_is_read_cannot_be_written(pool: Path) -> None:
    alter(pool, "CREATE TABLE mine (x)")
    with pytest.raises(ConfigError, match="readonly"):
        ask(pool, "DELETE FROM mine")


@pytest.mark.parametrize("open_it", [lambda url: Ledger(url, "study"), lambda url: InstancePool(url, "mine", PHASES)])
def test_nothing_is_written_into_a_strangers_database(tmp_path: Path, open_it: Callable[[str], object]) -> None:
    photos = tmp_path / "photos.sqlite"
    alter(photos, "CREATE TABLE photos (name TEXT)")
    before = photos.read_bytes()
    with pytest.raises(ConfigError, match="a database of another program"):
        open_it(str(photos))
    assert photos.read_bytes() == before
    alter(photos, "DROP TABLE photos", f"CREATE VIEW chatdev_jobs AS {FOREVER}")
    with pytest.raises(ConfigError, match="acts when the file is used"):
        open_it(f"sqlite:///{photos}")
    assert list(tmp_path.iterdir()) == [photos]


def test_a_ledger_and_a_pool_share_a_file_with_other_tables(pool: Path) -> None:
    alter(pool, "CREATE TABLE mine (x)")
    ledger = Ledger(str(pool), "study")
    assert ledger.add([Job("a", {})]) == 1
    ledger.close()
    assert find(pool)
