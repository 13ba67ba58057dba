"""The ledger of a batch: every job, its state and its result, in one table of any SQL database (design §11).

A job is claimed by one worker for a while (a lease), which the worker renews; when it dies, the lease runs out and the
job can be claimed again. Each claim has a number, so that a worker who was given up for dead cannot write over the
result of the one that took its place: every job is done once in the results, however often it was tried.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Literal

import sqlalchemy as sql

from chatdev.batch.database import opened, transaction

State = Literal["open", "running", "done", "failed"]

_TABLES = sql.MetaData()
_JOBS = sql.Table(
    "chatdev_jobs", _TABLES,
    sql.Column("batch", sql.String(200), primary_key=True), sql.Column("key", sql.String(300), primary_key=True),
    sql.Column("position", sql.Integer, nullable=False), sql.Column("spec", sql.JSON, nullable=False),
    sql.Column("state", sql.String(10), nullable=False), sql.Column("tries", sql.Integer, nullable=False),
    sql.Column("worker", sql.String(200)), sql.Column("lease_ends", sql.Float), sql.Column("seconds", sql.Float),
    sql.Column("result", sql.JSON), sql.Column("problem", sql.Text),
    sql.Index("chatdev_jobs_open", "batch", "state", "position"),
)
_CANDIDATES = 16  # looked at together, so that workers who ask at once rarely want the same job


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of work: `spec` says all that is needed to do it, as plain JSON values."""

    key: str
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that is this worker's until `lease_ends` (seconds since 1970); `tries` counts this attempt."""

    key: str
    spec: Mapping[str, Any]
    tries: int
    lease_ends: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A job as the ledger has it; `result` when it is done, `problem` when an attempt failed."""

    key: str
    spec: Mapping[str, Any]
    state: State
    tries: int
    seconds: float | None = None
    result: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""


class Ledger:
    """The jobs of one `batch` in the database at `url` (SQLAlchemy's; a file name stands for SQLite).

    Raises ConfigError for an address that is none, WorkspaceError when the database cannot be used.
    """

    def __init__(self, url: str, batch: str, *, most_tries: int = 3, lease: float = 300.0) -> None:
        self.batch = batch
        self.most_tries = most_tries
        self.lease = lease
        self._engine = opened(url)
        with self._transaction() as connection:
            _TABLES.create_all(connection)

    def add(self, jobs: Iterable[Job]) -> int:
        """Enter the jobs that are not there yet; how many those are."""
        with self._transaction() as connection:
            known = set(connection.scalars(sql.select(_JOBS.c.key).where(_JOBS.c.batch == self.batch)))
            new = {job.key: job for job in jobs if job.key not in known}
            if new:
                connection.execute(sql.insert(_JOBS), [
                    {"batch": self.batch, "key": job.key, "position": len(known) + number, "spec": dict(job.spec),
                     "state": "open", "tries": 0} for number, job in enumerate(new.values())])
        return len(new)

    def claim(self, worker: str) -> Claim | None:
        """A job to do now; None when there is none (perhaps because others are at the last ones)."""
        with self._transaction() as connection:
            now = time.time()
            waiting = connection.execute(
                sql.select(_JOBS.c.key, _JOBS.c.spec, _JOBS.c.tries, _JOBS.c.state).where(self._claimable(now))
                .order_by(_JOBS.c.position).limit(_CANDIDATES)).all()
            for key, spec, tries, state in waiting:
                ends = now + self.lease
                claimed = connection.execute(
                    sql.update(_JOBS).where(self._is(key), _JOBS.c.state == state, _JOBS.c.tries == tries)
                    .values(state="running", tries=tries + 1, worker=worker, lease_ends=ends))
                if claimed.rowcount:
                    return Claim(key, spec, tries + 1, ends)
        return None

    def renew(self, claim: Claim) -> bool:
        """Keep the job for another while; False when somebody else has it now."""
        return self._write(claim, lease_ends=time.time() + self.lease)

    def finish(self, claim: Claim, result: Mapping[str, Any], seconds: float) -> bool:
        """Write the result; False when somebody else has the job now, and nothing is written."""
        return self._write(claim, state="done", result=dict(result), seconds=seconds, problem=None)

    def fail(self, claim: Claim, problem: str, *, final: bool = False) -> bool:
        """Write why the attempt failed; the job is open again unless its tries are used up or this is `final`."""
        state = "failed" if final or claim.tries >= self.most_tries else "open"
        return self._write(claim, state=state, problem=problem)

    def give_back(self, claim: Claim) -> bool:
        """Take the attempt back: the worker stops, and the job did not fail."""
        return self._write(claim, state="open", tries=claim.tries - 1)

    def retry_failed(self) -> int:
        """Open all failed jobs again, with all their tries; how many they are."""
        with self._transaction() as connection:
            return connection.execute(sql.update(_JOBS).where(_JOBS.c.batch == self.batch, _JOBS.c.state == "failed")
                                      .values(state="open", tries=0)).rowcount

    def counts(self) -> dict[State, int]:
        """How many jobs are in each state."""
        with self._transaction() as connection:
            rows = connection.execute(sql.select(_JOBS.c.state, sql.func.count()).where(_JOBS.c.batch == self.batch)
                                      .group_by(_JOBS.c.state)).all()
        found: dict[State, int] = {"open": 0, "running": 0, "done": 0, "failed": 0}
        for state, count in rows:
            found[state] = count
        return found

    def entries(self, state: State | None = None) -> Iterator[Entry]:
        """The jobs in the order in which they were entered."""
        wanted = sql.select(_JOBS).where(_JOBS.c.batch == self.batch).order_by(_JOBS.c.position)
        if state:
            wanted = wanted.where(_JOBS.c.state == state)
        with self._transaction() as connection:
            for row in connection.execute(wanted).mappings():
                yield Entry(row["key"], row["spec"], row["state"], row["tries"], row["seconds"], row["result"] or {},
                            row["problem"] or "")

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def _claimable(self, now: float) -> sql.ColumnElement[bool]:
        """Open jobs, and those whose worker has not been heard of; after too many tries neither."""
        lost = sql.and_(_JOBS.c.state == "running", _JOBS.c.lease_ends < now)
        return sql.and_(_JOBS.c.batch == self.batch, sql.or_(_JOBS.c.state == "open", lost),
                        _JOBS.c.tries < self.most_tries)

    def _is(self, key: str) -> sql.ColumnElement[bool]:
        return sql.and_(_JOBS.c.batch == self.batch, _JOBS.c.key == key)

    def _write(self, claim: Claim, **values: Any) -> bool:
        """Change a job, if it is still this claim's."""
        with self._transaction() as connection:
            changed = connection.execute(
                sql.update(_JOBS).where(self._is(claim.key), _JOBS.c.state == "running", _JOBS.c.tries == claim.tries)
                .values(**values))
        return bool(changed.rowcount)

    def _transaction(self) -> AbstractContextManager[sql.Connection]:
        return transaction(self._engine)
