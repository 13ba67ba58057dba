"""Any database that SQLAlchemy speaks to: opened, and its failures told in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from chatdev.errors import ConfigError, MissingProgram, WorkspaceError
from chatdev.secrets import keep_address

_BUSY = 60_000  # milliseconds to wait for another process that writes the same SQLite file


def opened(url: str) -> sql.Engine:
    """The database at `url`; a text without `://` is the path of a SQLite file, which is made when it is not there.
    Raises ConfigError for an address that is none, MissingProgram without its driver."""
    if "://" not in url:
        Path(url).parent.mkdir(parents=True, exist_ok=True)
        url = f"sqlite:///{url}"
    keep_address(url)
    try:
        engine = sql.create_engine(url, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError) as error:
        raise ConfigError(f"{url} is no address of a database ({error}); give the path of a file, or e.g. "
                          "postgresql+psycopg://user@host/name") from error
    except ModuleNotFoundError as error:
        raise MissingProgram(f"the driver {error.name} of {url} is not installed: pip install {error.name}") from error
    if engine.dialect.name == "sqlite":
        sql.event.listen(engine, "connect", _prepare_sqlite)
        sql.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    return engine


@contextmanager
def transaction(engine: sql.Engine) -> Iterator[sql.Connection]:
    """One transaction, written whole or not at all. Raises WorkspaceError when the database cannot be used."""
    try:
        with engine.begin() as connection:
            yield connection
    except SQLAlchemyError as error:
        reason = str(error.__cause__ or error).strip().splitlines()[0]
        raise WorkspaceError(f"the database {engine.url.render_as_string()} cannot be used: {reason}; what is written "
                             "is kept, go on with the same command when it can") from error


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Readers beside one writer, every commit on the disk, and transactions that begin where we say so."""
    connection.isolation_level = None  # the driver would begin them too late
    cursor = connection.cursor()
    for setting in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_BUSY}"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()
