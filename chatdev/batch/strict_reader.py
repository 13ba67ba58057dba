"""Reading databases that somebody else may have written: a file in the working folder, one that a company names.

A SQLite file can act: a view may never end, a trigger writes, a generated column or a check calculates whatever it
says. So before anything is read, every entry of the file's schema is looked at, in words: plain tables and indexes
alone, and of the tables that are read only what chatdev itself writes. A file is opened for reading only, within limits
of time and size, and never made. Values are the caller's to check: SQLite keeps any kind of value in any column.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from chatdev.batch.database import open_database, transaction
from chatdev.errors import ConfigError
from chatdev.plain_file import refuse_other_kinds

READ_SECONDS = 10.0
"""The longest time that a file may take to be read."""

_LARGEST = 2 << 30  # bytes of a file
_LONGEST_VALUE = 16 << 20  # bytes of one value
_MOST_ENTRIES = 1000  # of a schema
_STEPS = 1000  # of SQLite's machine between two looks at the clock
_BUSY_SECONDS = 5.0  # to wait for a writer
_BESIDE = ("", "-wal", "-shm", "-journal")  # what SQLite opens with a file
_ENTRIES = "SELECT sql FROM sqlite_master LIMIT ?"
_PLAIN = (["create", "table"], ["create", "index"])
_TOKEN = re.compile(r"\w+|[^\s\w]")
_WORDS = frozenset({"create", "table", "unique", "index", "on", "not", "null", "primary", "key", "varchar", "integer",
                    "bigint", "float", "boolean", "json", "text", "(", ")", ",", '"'})


@contextmanager
def read_tables(url: str, tables: Collection[sql.Table]) -> Iterator[sql.Connection | None]:
    """A connection on which these tables of the database at `url` can be read, and nothing written; None where there is
    no such file, or not the first of the tables. Raises ConfigError for a file that is none of chatdev's, or is not
    read in time; WorkspaceError for a server that cannot be used."""
    file = file_of(url)
    if file is None:
        engine = open_database(url)
        try:
            with transaction(engine, reading=True) as connection:
                yield connection if sql.inspect(connection).has_table(next(iter(tables)).name) else None
        finally:
            engine.dispose()
        return
    if not os.path.lexists(file):
        yield None
        return
    engine = sql.create_engine("sqlite://", creator=lambda: _open(file), poolclass=NullPool)
    with _name_trouble(file), engine.connect() as connection:
        yield connection if _check(file, connection.connection.driver_connection, tables) else None


def refuse_strange(url: str, tables: Collection[sql.Table]) -> None:
    """Raise ConfigError where there is a file at `url` that may not be written as one with these tables: one that acts,
    that has these tables in another form, or that belongs to another program."""
    file = file_of(url)
    if file is None or not file.exists() or not file.stat().st_size:
        return
    with _name_trouble(file), closing(_open(file)) as connection:
        _check(file, connection, tables)
        names = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        if names and not any(name.startswith("chatdev_") for name in names):
            raise ConfigError(f"{file} is a database of another program (it has {names[0]!r:.60}), which chatdev "
                              "writes nothing into; name another file")


def file_of(url: str) -> Path | None:
    """The SQLite file that an address means; None for a server. Raises ConfigError for options of a file, and for what
    no file can be called."""
    if "://" not in url:
        name = url
    elif url.startswith("sqlite"):
        try:
            address = sql.make_url(url)
        except (ArgumentError, ValueError) as error:
            raise ConfigError(f"{url!r:.200} is no address of a database ({error}); give the path of a file") from error
        name = address.database or ""
        if address.query or name.startswith("file:") or name in ("", ":memory:"):
            raise ConfigError(f"{url!r:.200}: a file is given by its path alone, without options")
    else:
        return None
    if not name or "\0" in name:
        raise ConfigError(f"{url!r:.200} is the name of no file; give the path of a SQLite file")
    return Path(name)


@contextmanager
def _name_trouble(file: Path) -> Iterator[None]:
    """What goes wrong while a file is read, as a ConfigError."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error, OSError, TypeError, ValueError, RuntimeError, OverflowError) as error:
        cause = getattr(error, "orig", None) or error
        reason = str(getattr(cause, "strerror", None) or cause).strip().partition("\n")[0]
        if reason == "interrupted":
            reason = f"it takes longer than {READ_SECONDS:.0f} s"
        raise ConfigError(f"{file} cannot be read as a database of chatdev: {reason:.200}; name another one") from error


def _open(file: Path) -> sqlite3.Connection:
    """A file that is only read. Raises OSError for what is no plain file, sqlite3.Error."""
    file = file.resolve()
    for beside in _BESIDE:
        refuse_other_kinds(Path(f"{file}{beside}"))
    if file.stat().st_size > _LARGEST:
        raise OSError(f"it is larger than {_LARGEST >> 30} GiB")
    alone = not any(os.path.lexists(f"{file}{beside}") for beside in _BESIDE[1:])
    try:
        return _connect(file, "&immutable=1" if alone else "")  # then nothing is made beside it
    except sqlite3.DatabaseError:
        return _connect(file, "")  # somebody began to write just now


def _connect(file: Path, option: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(os.fsencode(file))}?mode=ro{option}", uri=True, timeout=_BUSY_SECONDS,
                                 check_same_thread=False, isolation_level=None)
    ends = time.monotonic() + READ_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    try:
        for setting in ("query_only=ON", "trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", "schema_version"):
            connection.execute(f"PRAGMA {setting}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def _check(file: Path, connection: Any, tables: Collection[sql.Table]) -> bool:
    """Whether the first of the tables is there. Raises ConfigError unless nothing in the file acts and what there is of
    the tables has the form that chatdev gives them."""
    entries = list(connection.execute(_ENTRIES, (_MOST_ENTRIES + 1,)))
    if len(entries) > _MOST_ENTRIES:
        raise ConfigError(f"{file} has more than {_MOST_ENTRIES} tables and indexes, and is no database of chatdev")
    for (words,) in entries:
        if words is not None:
            _check_words(file, words, tables)
    found = {table: {row[1] for row in connection.execute(f"PRAGMA table_xinfo({table.name})")} for table in tables}
    for table, columns in found.items():
        if columns and (missing := sorted(set(table.columns.keys()) - columns)):
            raise ConfigError(f"{file}: the table {table.name!r} lacks {missing[0]!r}; it is damaged, or of another "
                              "version of chatdev")
    return bool(next(iter(found.values())))


def _check_words(file: Path, words: str, tables: Iterable[sql.Table]) -> None:
    """Raise ConfigError unless the words that made an entry of the schema make a plain table or index, and one of these
    tables only as chatdev does. The other columns of a schema may lie: SQLite goes by the words."""
    tokens = [token.lower() for token in _TOKEN.findall(words)]
    if tokens[:2] not in _PLAIN and tokens[:3] != ["create", "unique", "index"]:
        raise ConfigError(f"{file} has a view, a trigger or the like ({words!r:.60}), which acts when the file is "
                          "used; no database of chatdev has any, so name another file")
    for table in tables:
        if table.name in tokens and (odd := _odd_token(table, tokens)):
            raise ConfigError(f"{file}: the table {table.name!r} is none of chatdev's ({odd!r:.60} in its form); name "
                              "another file")


def _odd_token(table: sql.Table, tokens: Iterable[str]) -> str:
    """First token in the SQL of a table or its index that chatdev does not write; empty if there is none."""
    ours = _WORDS | {table.name, *table.columns.keys(), *(str(index.name) for index in table.indexes)}
    return next((token for token in tokens if token not in ours and not token.isdecimal()), "")
