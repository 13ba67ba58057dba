"""Any database that SQLAlchemy supports, a stranger's too: opened, errors in words, calls retried while it is away."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, InterfaceError, NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_delay,
    wait_exponential,
    wait_fixed,
)

from chatdev.errors import ConfigError, MissingProgram, WorkspaceError
from chatdev.paths import refuse_other_kinds
from chatdev.safe_text import keep_address

T = TypeVar("T")

RETRY_SECONDS = 600.0
"""A finished job is worth waiting for a database that is being restarted."""

_GRACE = 10.0  # seconds that a call gets to end when everything is to stop
_PAUSE = 0.05  # seconds between two tries to open a file that another process makes
_BUSY = 60_000  # milliseconds to wait for another process that writes the same SQLite file
_LOCK = int.from_bytes(b"chatdev", "big")  # the advisory lock by which PostgreSQL lets one in at a time
_PLAIN = ("postgres://", "postgresql://")  # as providers hand addresses out
_PSYCOPG = "postgresql+psycopg://"
_READ_ONLY = "postgresql_readonly"  # an option of a connection, which other databases pass over


def open_database(url: str) -> sql.Engine:
    """The database at `url`; a text without `://` is the path of a SQLite file, which is made when it is not there.
    Raises ConfigError for an address that is none, MissingProgram without its driver."""
    keep_address(url)
    try:
        engine = sql.create_engine(_address(url), pool_pre_ping=True,
                                   json_serializer=partial(json.dumps, allow_nan=False))
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(f"{url} is no address of a database ({error}); give the path of a file, or e.g. "
                          "postgresql://user@host/name") from error
    except ImportError as error:
        driver = "psycopg[binary]" if error.name in (None, "psycopg") else error.name
        raise MissingProgram(f"the driver of {url} is not installed: pip install '{driver}'") from error
    if engine.dialect.name == "sqlite":
        sql.event.listen(engine, "connect", _prepare_sqlite)
        sql.event.listen(engine, "begin", _begin_sqlite)
    return engine


@contextmanager
def transaction(engine: sql.Engine, *, reading: bool = False, alone: bool = False,
                lasting: bool = True) -> Iterator[sql.Connection]:
    """One transaction, written whole or not at all. `reading`: it writes nothing and keeps no writer waiting; `alone`:
    no other such transaction is under way meanwhile; not `lasting`: what it writes may be gone after a power cut.
    Raises WorkspaceError when the database cannot be used."""
    try:
        options = {"reading": reading, "lasting": lasting, **({_READ_ONLY: True} if reading else {})}
        with engine.connect().execution_options(**options) as connection, connection.begin():
            if alone and engine.dialect.name == "postgresql":
                connection.execute(sql.select(sql.func.pg_advisory_xact_lock(_LOCK)))
            yield connection
    except SQLAlchemyError as error:
        reason = str(error.__cause__ or error).strip().splitlines()[0]
        raise WorkspaceError(f"the database {engine.url.render_as_string()} cannot be used: {reason}; what is written "
                             "is kept, go on with the same command when it can") from error


def is_temporary(error: BaseException) -> bool:
    """Whether the database may work again after a while: it is away, busy or full."""
    return isinstance(error, WorkspaceError) and isinstance(error.__cause__, OperationalError | InterfaceError)


def clock(engine: sql.Engine) -> sql.ColumnElement[float]:
    """Seconds since 1970 by the one clock of all who share the database: PostgreSQL's own, so that the clocks of the
    workers' machines need not agree; for a file that of its machine."""
    if engine.dialect.name == "postgresql":
        return sql.cast(sql.extract("epoch", sql.func.clock_timestamp()), sql.Float)
    return sql.literal(time.time())


def _address(url: str) -> str | sql.URL:
    if "://" not in url:
        Path(url).parent.mkdir(parents=True, exist_ok=True)
        return sql.URL.create("sqlite", database=url)
    plain = next((plain for plain in _PLAIN if url.startswith(plain)), None)
    return f"{_PSYCOPG}{url.removeprefix(plain)}" if plain else url


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Readers beside one writer, and transactions that begin where we say so."""
    connection.isolation_level = None  # the driver would begin them too late
    connection.execute(f"PRAGMA busy_timeout={_BUSY}")
    # A change of the mode does not wait: where several open a new file at once, one is refused at once.
    for attempt in Retrying(retry=retry_if_exception(_is_busy), wait=wait_fixed(_PAUSE),
                            stop=stop_after_delay(_BUSY / 1000), reraise=True):
        with attempt:
            connection.execute("PRAGMA journal_mode=WAL")


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode == sqlite3.SQLITE_BUSY


def _begin_sqlite(connection: sql.Connection) -> None:
    """A writer is the only one from its beginning: one that has read first could find that another wrote meanwhile."""
    options = connection.get_execution_options()
    connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options.get('lasting') else 'NORMAL'}")
    connection.exec_driver_sql("BEGIN" if options.get("reading") else "BEGIN IMMEDIATE")


class RetryingExecutor:
    """Makes calls to the database one after another in a thread of its own, so that the event loop is not blocked.

    While the database is away, busy or full, a call is retried, and `on_trouble` is called with what is wrong; when the
    database answers again, it is called with an empty text.
    """

    def __init__(self, on_trouble: Callable[[str], None], retry_seconds: float = RETRY_SECONDS) -> None:
        self._on_trouble = on_trouble
        self._retry_seconds = retry_seconds
        self._thread = ThreadPoolExecutor(1, "ledger")

    async def run(self, call: Callable[[], T]) -> T:
        """The value of `call`. Raises WorkspaceError when the database cannot be used; when that may pass, only after
        `retry_seconds` of retries."""
        loop = asyncio.get_running_loop()
        async for attempt in AsyncRetrying(
                retry=retry_if_exception(is_temporary), wait=wait_exponential(multiplier=0.25, max=15),
                stop=stop_after_delay(self._retry_seconds), before_sleep=self._report, reraise=True):
            with attempt:
                value = await loop.run_in_executor(self._thread, call)
        if attempt.retry_state.attempt_number > 1:
            self._on_trouble("")
        return value

    async def run_shielded(self, call: Callable[[], T], undo: Callable[[T], object] | None = None) -> T:
        """`run`, also when the task is cancelled meanwhile: then the call gets some seconds to end, and `undo` gets its
        unused value."""
        doing = asyncio.ensure_future(self.run(call))
        try:
            return await asyncio.shield(doing)
        except asyncio.CancelledError:
            done, _ = await asyncio.wait({doing}, timeout=_GRACE)
            if undo and done and not doing.cancelled() and not doing.exception():
                value = doing.result()
                await self.run_shielded(lambda: undo(value))
            doing.cancel()
            raise

    async def close(self) -> None:
        """Let go of the thread when the call under way has ended, so that its connection is returned before the
        database is closed; a call that hangs is left behind after some seconds."""
        last = asyncio.get_running_loop().run_in_executor(self._thread, lambda: None)
        await asyncio.wait({last}, timeout=_GRACE)
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _report(self, state: RetryCallState) -> None:
        self._on_trouble(str(state.outcome.exception()) if state.outcome else "")


# Reading databases that somebody else may have written: a file in the working folder, one that a company names.

READ_SECONDS = 10.0
"""The longest time that a file may take to be read."""

_LARGEST = 2 << 30  # bytes of a file
_LONGEST_VALUE = 16 << 20  # bytes of one value
_MOST_ENTRIES = 1000  # of a schema
_STEPS = 1000  # of SQLite's machine between two looks at the clock
_BUSY_SECONDS = 5.0  # to wait for a writer
_BESIDE = ("", "-wal", "-shm", "-journal")  # what SQLite opens with a file
_ENTRIES = "SELECT sql FROM sqlite_master LIMIT ?"
_PLAIN_OF_STRICT_READER = (["create", "table"], ["create", "index"])
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
    if tokens[:2] not in _PLAIN_OF_STRICT_READER and tokens[:3] != ["create", "unique", "index"]:
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
