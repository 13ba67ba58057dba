"""The store of pools: outcomes in any SQL database, for many writers at once (Think-on-Process, §3.2; the same kind of
database as the ledger of a batch), and event logs that are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sql
from pydantic import ValidationError

from chatdev.batch.database import open_database, read_tables, refuse_strange, transaction
from chatdev.departments.process.pool import (
    ARROW,
    MOST_PHASES,
    ExportedOutcome,
    InstanceOutcome,
    PoolEntry,
    check_phases,
    export_outcomes,
    first_fault,
    format_instance,
    read_export,
    refuse_strange_successes,
)
from chatdev.departments.process.process_tree import Instance
from chatdev.errors import ConfigError

_LONGEST = 4000  # characters of an instance
_MOST_OUTCOMES = 500_000  # that are read
_AT_ONCE = 500  # instances of one query
_TABLES = sql.MetaData()
POOLS = sql.Table("chatdev_pools", _TABLES, sql.Column("pool", sql.String(200), primary_key=True),
                   sql.Column("phases", sql.JSON, nullable=False))
_INSTANCES = sql.Table(
    "chatdev_instances", _TABLES, sql.Column("pool", sql.String(200), primary_key=True),
    sql.Column("instance", sql.String(_LONGEST), primary_key=True),
    sql.Column("frequency", sql.Integer, nullable=False), sql.Column("successes", sql.Integer, nullable=False))
_OUTCOMES = sql.Table(
    "chatdev_outcomes", _TABLES, sql.Column("number", sql.Integer, primary_key=True),
    sql.Column("pool", sql.String(200), nullable=False, index=True),
    sql.Column("instance", sql.String(_LONGEST), nullable=False),
    sql.Column("success", sql.Boolean, nullable=False), sql.Column("starts", sql.Boolean),
    *(sql.Column(name, sql.String(300), nullable=False, default="")
      for name in ("task", "area", "model", "failure", "run")),
    sql.Column("temperature", sql.Float), sql.Column("time", sql.String(40), nullable=False))

LOGS = sql.Table("chatdev_logs", sql.MetaData(), sql.Column("pool", sql.String(200), primary_key=True),
                 sql.Column("log", sql.Text, nullable=False))
"""Event logs that are kept, each as JSON under the name of a pool of its own; in ledgers where one was imported."""


class InstancePool:
    """The pool called `name` in the database at `url` (SQLAlchemy's; a file name stands for SQLite).

    `phases` are the phases that its instances may name; a pool keeps those it was made for. Raises ConfigError for a
    pool of other phases and for an address that is none, WorkspaceError when the database cannot be used; so does every
    method.
    """

    def __init__(self, url: str, name: str, phases: Iterable[str]) -> None:
        self.name = name
        self.phases = tuple(sorted(phases))
        refuse_strange(url, [POOLS, _INSTANCES, _OUTCOMES])
        self._engine = open_database(url)
        with self._transaction() as connection:
            _TABLES.create_all(connection)
            kept = connection.scalar(sql.select(POOLS.c.phases).where(POOLS.c.pool == name))
            if kept is None:
                connection.execute(sql.insert(POOLS).values(pool=name, phases=list(self.phases)))
            else:
                check_phases(kept, self.phases, _name_pool(name, url))

    def add(self, outcomes: Sequence[InstanceOutcome]) -> None:
        """Count outcomes; many may do so at once, from several processes. Raises ConfigError for an instance that is
        longer than one may be."""
        counts: dict[str, list[int]] = {}
        rows = []
        for outcome in outcomes:
            key = _key_of(outcome.instance)
            if outcome.counts:
                count = counts.setdefault(key, [0, 0])
                count[0] += 1
                count[1] += outcome.success
            row = {name: getattr(outcome, name) for name in _VALUES} | {"instance": key, "pool": self.name}
            rows.append(_fit(row | {"time": outcome.time or datetime.now(UTC).isoformat(timespec="seconds")}))
        with self._transaction() as connection:
            self._count(connection, counts)
            if rows:
                connection.execute(sql.insert(_OUTCOMES), rows)

    def entries(self) -> list[PoolEntry]:
        """All instances with what was counted, the most frequent first."""
        with transaction(self._engine, reading=True) as connection:
            rows = connection.execute(sql.select(_INSTANCES).where(_INSTANCES.c.pool == self.name).order_by(
                _INSTANCES.c.frequency.desc(), _INSTANCES.c.instance)).all()
        return [PoolEntry(_instance_of(row.instance), row.frequency, row.successes) for row in rows]

    def outcomes(self) -> list[InstanceOutcome]:
        """All outcomes, the oldest first."""
        with transaction(self._engine, reading=True) as connection:
            return _read_outcomes(connection, self.name)

    def export(self) -> str:
        """Everything as JSON, which `load` reads."""
        return export_outcomes(self.outcomes(), self.phases)

    def load(self, text: str, where: str, origin: str = "") -> int:
        """Add the outcomes of an export that are not there; how many there were. Their runs are called `origin RUN`, so
        that runs here that have the same name are others. `where` names the export in errors. Raises ConfigError for
        what is no export, or one of other phases; nothing is added then."""
        known = set(self.outcomes())
        read = read_export(text, self.phases, where)
        if origin:
            read = [replace(one, run=f"{origin} {one.run.removeprefix(f'{origin} ')}") for one in read]
        outcomes = [one for one in read if one not in known]
        self.add(outcomes)
        return len(outcomes)

    def close(self) -> None:
        """Let go of the database."""
        self._engine.dispose()

    def _count(self, connection: sql.Connection, counts: Mapping[str, Sequence[int]]) -> None:
        """Add to what was counted of these instances: times and successes."""
        keys = list(counts)
        known = {key for place in range(0, len(keys), _AT_ONCE) for key in connection.scalars(
            sql.select(_INSTANCES.c.instance).where(
                _INSTANCES.c.pool == self.name, _INSTANCES.c.instance.in_(keys[place:place + _AT_ONCE])))}
        more = sql.update(_INSTANCES).where(
            _INSTANCES.c.pool == self.name, _INSTANCES.c.instance == sql.bindparam("key")).values(
            frequency=_INSTANCES.c.frequency + sql.bindparam("times"),
            successes=_INSTANCES.c.successes + sql.bindparam("well"))
        if found := [{"key": key, "times": counts[key][0], "well": counts[key][1]} for key in keys if key in known]:
            connection.execute(more, found)
        if new := [{"pool": self.name, "instance": key, "frequency": counts[key][0], "successes": counts[key][1]}
                   for key in keys if key not in known]:
            connection.execute(sql.insert(_INSTANCES), new)

    @contextmanager
    def _transaction(self) -> Iterator[sql.Connection]:
        with transaction(self._engine, alone=True) as connection:
            yield connection


_VALUES = tuple(one.name for one in fields(InstanceOutcome))


def _key_of(instance: Instance) -> str:
    key = format_instance(instance)
    if len(instance) > MOST_PHASES:
        raise ConfigError(f"an instance of {len(instance)} phases is too long for a pool; the most is {MOST_PHASES}")
    if len(key) > _LONGEST:
        raise ConfigError(f"an instance of {len(key)} characters is too long for a pool; the most is {_LONGEST}")
    return key


def _instance_of(key: str) -> Instance:
    return tuple(key.split(ARROW)) if key else ()


def _fit(row: Mapping[str, Any]) -> dict[str, Any]:
    """The values, texts cut to the width of their columns."""
    return {name: value[:300] if isinstance(value, str) and name != "instance" else value
            for name, value in row.items()}


def _read_outcomes(connection: sql.Connection, name: str) -> list[InstanceOutcome]:
    """The outcomes of a pool. Raises ConfigError for more than can be read, and for a row that chatdev has not
    written: SQLite keeps any kind of value in any column."""
    as_they_are = (sql.type_coerce(column, sql.types.NullType()).label(column.name) for column in _OUTCOMES.c)
    rows = connection.execute(sql.select(*as_they_are).where(_OUTCOMES.c.pool == name).order_by(_OUTCOMES.c.number)
                              .limit(_MOST_OUTCOMES + 1)).mappings().all()
    if len(rows) > _MOST_OUTCOMES:
        raise ConfigError(f"the pool {name!r} has more than {_MOST_OUTCOMES} outcomes, which is too many to be read")
    try:
        return [_outcome_of(row) for row in rows]
    except ValidationError as error:
        raise ConfigError(f"the pool {name!r} is damaged ({first_fault(error)}); name another one") from None


def _outcome_of(row: sql.RowMapping) -> InstanceOutcome:
    """The outcome in a row. Raises ValidationError."""
    key = row["instance"]
    values = {name: row[name] for name in ExportedOutcome.model_fields} | {
        "instance": list(_instance_of(key)) if isinstance(key, str) and len(key) <= _LONGEST else key}
    truths = {name: bool(values[name]) for name in ("success", "starts") if values[name] in (0, 1)}
    return ExportedOutcome.model_validate({**values, **truths}).outcome


def _name_pool(name: str, url: str) -> str:
    return f"the pool {name!r} of {url}"


def find_outcomes(url: str, name: str, phases: Iterable[str]) -> list[InstanceOutcome] | None:
    """The outcomes in the pool called `name` in the database at `url`; None where there is no such database or pool.
    The database is only read, and may be a stranger's. Raises ConfigError for a pool of other phases and for what is
    none, WorkspaceError."""
    with read_tables(url, [POOLS, _OUTCOMES]) as connection:
        if connection is None:
            return None
        kept = connection.scalar(sql.select(POOLS.c.phases).where(POOLS.c.pool == name))
        if kept is None:
            return None
        if not (isinstance(kept, list) and all(isinstance(one, str) for one in kept)):
            raise ConfigError(f"{_name_pool(name, url)} names no phases; it is damaged")
        phases, which = tuple(phases), _name_pool(name, url)
        check_phases(kept, phases, which)
        outcomes = _read_outcomes(connection, name)
    refuse_strange_successes(outcomes, phases, which)
    return outcomes


def find_kept_log(url: str, name: str) -> Any:
    """The text of the event log that is kept as the pool `name`, as the database has it; None where there is none. The
    database is only read. Raises ConfigError, WorkspaceError."""
    with read_tables(url, [LOGS]) as connection:
        return None if connection is None else connection.scalar(sql.select(LOGS.c.log).where(LOGS.c.pool == name))
