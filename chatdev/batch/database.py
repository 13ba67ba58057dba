"""Any database that SQLAlchemy supports: opened, its errors in words, and calls that are retried while it is away."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, InterfaceError, NoSuchModuleError, OperationalError, SQLAlchemyError
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_delay, wait_exponential

from chatdev.errors import ConfigError, MissingProgram, WorkspaceError
from chatdev.secrets import keep_address

T = TypeVar("T")

RETRY_SECONDS = 600.0
"""A finished job is worth waiting for a database that is being restarted."""

_GRACE = 10.0  # seconds that a call gets to end when everything is to stop
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
    cursor = connection.cursor()
    for setting in ("journal_mode=WAL", f"busy_timeout={_BUSY}"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


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
