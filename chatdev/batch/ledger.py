"""The ledger of a batch: every job, its state and its result, in one table of any SQL database (design §11).

A job is claimed by one worker for a while (a lease), which the worker renews; when it dies, the lease runs out and the
job can be claimed again. Each claim has a number, so that a worker who was given up for dead cannot write over the
result of the one that took its place: every job is done once in the results, however often it was tried.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sql

from chatdev.batch.attempt import Expense
from chatdev.batch.database import clock, open_database, refuse_strange, transaction
from chatdev.errors import ConfigError

State = Literal["open", "running", "done", "failed"]

MOST_LOST = 10
"""A job whose worker died more often is taken to be what kills them."""

_LONGEST = 300  # characters of a key
_AT_A_TIME = 1000  # rows that go to or come from the database together
_TABLES = sql.MetaData()
_JOBS = sql.Table(
    "chatdev_jobs", _TABLES,
    sql.Column("batch", sql.String(200), primary_key=True), sql.Column("key", sql.String(_LONGEST), primary_key=True),
    sql.Column("position", sql.Integer, nullable=False), sql.Column("spec", sql.JSON, nullable=False),
    sql.Column("state", sql.String(10), nullable=False, default="open"),
    sql.Column("tries", sql.Integer, nullable=False, default=0),
    sql.Column("lost", sql.Integer, nullable=False, default=0),
    sql.Column("number", sql.Integer, nullable=False, default=0),
    sql.Column("worker", sql.String(200)), sql.Column("lease_ends", sql.Float), sql.Column("seconds", sql.Float),
    sql.Column("cost", sql.Float, default=0.0), sql.Column("tokens", sql.BigInteger, nullable=False, default=0),
    sql.Column("result", sql.JSON), sql.Column("problem", sql.Text),
    sql.Index("chatdev_jobs_next", "batch", "state", "tries", "position"),
)
_KINDS: Mapping[Any, Sequence[str]] = {
    dict: ("spec",), dict | None: ("result",), str: ("key", "state"), str | None: ("problem",),
    int: ("tries", "lost", "tokens"), int | float | None: ("seconds", "cost")}


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work: `spec` says all that is needed to do it, as plain JSON values."""

    key: str
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JobClaim:
    """A job that is this worker's until its lease ends. `tries` counts this attempt, but none whose worker died;
    `number` distinguishes this claim of the job from all others."""

    key: str
    spec: Mapping[str, Any]
    tries: int
    number: int


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """A job as the ledger has it; `result` when it is done, `problem` when an attempt failed, `lost` the attempts whose
    worker died, `spent` what all its attempts are known to have cost."""

    key: str
    spec: Mapping[str, Any]
    state: State
    tries: int
    seconds: float | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    lost: int = 0
    spent: Expense = field(default_factory=Expense)


class Ledger:
    """The jobs of one `batch` in the database at `url` (SQLAlchemy's; a file name stands for SQLite).

    `lease`: seconds that a worker may be silent before its jobs are given to others. Raises ConfigError for an address
    that is none, WorkspaceError when the database cannot be used; so does every method.
    """

    def __init__(self, url: str, batch: str, *, most_tries: int = 3, lease: float = 60.0) -> None:
        self.batch = batch
        self.most_tries = most_tries
        self.lease = lease
        self._url = url
        refuse_strange(url, [_JOBS])
        self._engine = open_database(url)
        with self._transaction(alone=True) as connection:
            _TABLES.create_all(connection)

    def add(self, jobs: Iterable[Job]) -> int:
        """Enter the jobs that are not there yet; how many those are. Raises ConfigError for a spec that is no JSON
        and for a key of more than 300 characters."""
        with self._transaction(alone=True) as connection:
            known = set(connection.scalars(sql.select(_JOBS.c.key).where(_JOBS.c.batch == self.batch)))
            new = {job.key: job for job in jobs if job.key not in known}
            rows = [{"batch": self.batch, "key": _checked_key(job.key), "position": position,
                     "spec": plain_json(job.spec, f"the spec of the job {job.key}")}
                    for position, job in enumerate(new.values(), start=len(known))]
            for start in range(0, len(rows), _AT_A_TIME):
                connection.execute(sql.insert(_JOBS), rows[start:start + _AT_A_TIME])
        return len(new)

    def claim(self, worker: str) -> JobClaim | None:
        """The next job: an open one (those tried before come last), else one whose worker fell silent; None if there is
        none, perhaps because other workers have the last ones."""
        lost = sql.and_(_JOBS.c.state == "running", _JOBS.c.lease_ends < clock(self._engine))
        with self._transaction(lasting=False) as connection:
            if claim := self._take(connection, worker, _JOBS.c.state == "open"):
                return claim
            connection.execute(sql.update(_JOBS).where(self._mine, lost, _JOBS.c.lost >= MOST_LOST).values(
                state="failed", problem=f"its worker died or fell silent in each of {MOST_LOST + 1} attempts"))
            return self._take(connection, worker, lost)

    def renew(self, *claims: JobClaim) -> list[JobClaim]:
        """Keep the jobs for another while; those of them that somebody else has now."""
        ends = clock(self._engine) + self.lease
        with self._transaction(lasting=False) as connection:
            return [claim for claim in claims if not self._change(connection, claim, lease_ends=ends)]

    def finish(self, claim: JobClaim, result: Mapping[str, Any], seconds: float) -> bool:
        """Write the result; False when somebody else has the job now, and nothing is written. Its numbers `cost` (US
        dollars, None: unknown) and `tokens` are counted as spent. Raises ConfigError when it is no JSON."""
        result = plain_json(result, f"the result of the job {claim.key}")
        return self._write(claim, Expense.of(result), state="done", result=result, seconds=seconds, problem=None)

    def fail(self, claim: JobClaim, problem: str, *, final: bool = False, spent: Expense | None = None) -> bool:
        """Write why the attempt failed; the job is open again unless its tries are used up or this is `final`."""
        state = "failed" if final or claim.tries >= self.most_tries else "open"
        return self._write(claim, spent, state=state, problem=_storable(problem))

    def pause(self, claim: JobClaim, problem: str, spent: Expense) -> bool:
        """Take back an attempt that has spent so much and can be gone on with later; it did not fail. False when
        somebody else has the job now."""
        return self._write(claim, spent, state="open", tries=claim.tries - 1, problem=_storable(problem))

    def give_back(self, *claims: JobClaim) -> None:
        """Take these attempts back: the worker stops, and the jobs did not fail."""
        with self._transaction(lasting=False) as connection:
            for claim in claims:
                self._change(connection, claim, state="open", tries=claim.tries - 1)

    def release(self, worker: str) -> int:
        """End the leases of a dead worker's jobs at once; returns their number. If it is alive after all, it keeps jobs
        that no other worker has claimed."""
        with self._transaction() as connection:
            return connection.execute(sql.update(_JOBS).where(
                self._mine, _JOBS.c.state == "running", _JOBS.c.worker == worker).values(lease_ends=0.0)).rowcount

    def retry_failed(self) -> int:
        """Open all failed jobs again, with all their tries; how many they are."""
        with self._transaction() as connection:
            return connection.execute(sql.update(_JOBS).where(self._mine, _JOBS.c.state == "failed")
                                      .values(state="open", tries=0, lost=0)).rowcount

    def counts(self) -> dict[State, int]:
        """How many jobs are in each state."""
        found: dict[State, int] = {"open": 0, "running": 0, "done": 0, "failed": 0}
        with self._transaction(reading=True) as connection:
            for state, count in connection.execute(sql.select(_JOBS.c.state, sql.func.count()).where(self._mine)
                                                   .group_by(_JOBS.c.state)):
                found[state] = count
        return found

    def expense(self) -> Expense:
        """Known expense of all attempts of all workers; dollars are None if one price is unknown."""
        cost, tokens = _JOBS.c.cost, _JOBS.c.tokens
        with self._transaction(reading=True) as connection:
            jobs, priced, dollars, total = connection.execute(sql.select(
                sql.func.count(), sql.func.count(cost), sql.func.sum(_at_least_nothing(cost)),
                sql.func.sum(_at_least_nothing(tokens)))
                .where(self._mine)).one()
        return Expense((dollars or 0.0) if jobs == priced else None, int(total or 0))

    def entries(self, state: State | None = None) -> Iterator[LedgerEntry]:
        """The jobs in the order in which they were entered."""
        wanted = sql.select(_JOBS).where(self._mine).order_by(_JOBS.c.position)
        if state:
            wanted = wanted.where(_JOBS.c.state == state)
        with (self._transaction(reading=True) as connection,
              connection.execution_options(yield_per=_AT_A_TIME).execute(wanted) as rows):
            for row in rows.mappings():
                yield _entry(row)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    @property
    def is_file(self) -> bool:
        """Whether it is a file, which only processes on one machine may share."""
        return self._engine.dialect.name == "sqlite"

    @property
    def reopen(self) -> Callable[[], Ledger]:
        """Opens the same ledger; to be handed to another process."""
        url = self._url if "://" in self._url else str(Path(self._url).absolute())
        return partial(Ledger, url, self.batch, most_tries=self.most_tries, lease=self.lease)

    @property
    def _mine(self) -> sql.ColumnElement[bool]:
        return _JOBS.c.batch == self.batch

    def _take(self, connection: sql.Connection, worker: str, which: sql.ColumnElement[bool]) -> JobClaim | None:
        """Claim one of these jobs; of several who ask at once each gets another one (SKIP LOCKED)."""
        row = connection.execute(
            sql.select(_JOBS).where(self._mine, which).order_by(_JOBS.c.tries, _JOBS.c.position).limit(1)
            .with_for_update(skip_locked=True)).mappings().first()
        if row is None:
            return None
        _entry(row)
        lost = row["state"] == "running"
        claim = JobClaim(row["key"], row["spec"], row["tries"] + (not lost), row["number"] + 1)
        connection.execute(sql.update(_JOBS).where(self._mine, _JOBS.c.key == claim.key).values(
            state="running", tries=claim.tries, number=claim.number, lost=row["lost"] + lost, worker=worker,
            lease_ends=clock(self._engine) + self.lease))
        return claim

    def _write(self, claim: JobClaim, spent: Expense | None = None, **values: Any) -> bool:
        """Change a job, if it is still this claim's."""
        if spent:
            values["cost"] = sql.null() if spent.cost is None else _JOBS.c.cost + spent.cost
            values["tokens"] = _JOBS.c.tokens + spent.tokens
        with self._transaction() as connection:
            return self._change(connection, claim, **values)

    def _change(self, connection: sql.Connection, claim: JobClaim, **values: Any) -> bool:
        return bool(connection.execute(
            sql.update(_JOBS).where(self._mine, _JOBS.c.key == claim.key, _JOBS.c.state == "running",
                                    _JOBS.c.number == claim.number).values(**values)).rowcount)

    @contextmanager
    def _transaction(self, **kind: bool) -> Iterator[sql.Connection]:
        """A transaction. Raises ConfigError for what this module has not written: a ledger may be a stranger's."""
        try:
            with transaction(self._engine, **kind) as connection:
                yield connection
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigError(f"the ledger holds something else than jobs of chatdev ({str(error)[:100]}); it is "
                              "damaged, or none") from error


def _entry(row: sql.RowMapping) -> LedgerEntry:
    """The job in a row. Raises TypeError for what is none: SQLite keeps any kind of value in any column."""
    for kinds, names in _KINDS.items():
        if odd := next((name for name in names if not isinstance(row[name], kinds)), None):
            raise TypeError(f"{odd}: {row[odd]!r:.60}")
    return LedgerEntry(row["key"], row["spec"], row["state"], row["tries"], row["seconds"], row["result"] or {},
                       row["problem"] or "", row["lost"], Expense(row["cost"], row["tokens"]))


def plain_json(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The values as JSON has them. Raises ConfigError when they are none; `name` says what they are."""
    try:
        return dict(json.loads(json.dumps(dict(values), allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"{name} must be made of plain JSON values: {error}") from error


def _at_least_nothing(spent: sql.Column[Any]) -> sql.ColumnElement[Any]:
    """Spending of a job as SQL; a negative amount in a ledger counts as 0."""
    return sql.case((spent < 0, 0), else_=spent)


def _checked_key(key: str) -> str:
    if len(key) > _LONGEST:
        raise ConfigError(f"the key of a job has at most {_LONGEST} characters, and this one {len(key)}: {key[:60]}…")
    return key


def _storable(text: str) -> str:
    """Text without what no database takes: NUL, and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
