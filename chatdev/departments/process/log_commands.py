"""Event logs on the command line: `chatdev process import LOG` keeps one as a pool of its own, and what looks at a pool
(`mine`, `describe`, `filter`) looks at a log, kept or in its file, the same way."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from statistics import quantiles
from typing import Annotated, Any

import click
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chatdev.cli.outcome import report_outcome
from chatdev.departments.process.event_log import EventLog, LogChoice, Wait, keep_frequent
from chatdev.departments.process.log_files import read_log
from chatdev.departments.process.process_tree import Instance
from chatdev.departments.process.run_commands import (
    STARTER_POOL,
    ShareRange,
    check_pool_name,
    company_option,
    least_option,
    load_process_company,
    noise_option,
    pool_name_options,
    read_outcomes,
    table,
)
from chatdev.errors import ConfigError, MissingProgram

Command = Callable[..., Any]
_READ = (
    click.option("--case", metavar="NAME", help="Column of the case; of OCEL the type of object."),
    click.option("--activity", metavar="NAME", help="Attribute or column of the activity; several: A+B."),
    click.option("--time", metavar="NAME", help="Attribute or column of the time."),
    click.option("--lifecycle", metavar="NAME", help="Attribute or column that says start, complete, …"),
    click.option("--steps", "lifecycles", type=click.Choice(["pair", "complete", "start", "all"]), default="pair",
                 show_default=True, help="What is a step: start and complete as one, one of them, or every event."),
    click.option("--separator", metavar="SIGN", help="Between columns; by default seen from the head."),
    click.option("--time-format", metavar="FORM", help="Of times, as strptime has it; by default seen from them."),
)
_MOST_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Source:
    """What is looked at: the outcomes of a pool, or an event log. `order` is that in which its text names phases."""

    name: str
    order: Instance = ()
    outcomes: Sequence[Any] = ()
    log: EventLog | None = None


@dataclass(frozen=True, slots=True)
class Mined:
    """What is mined of a pool or a log: the success rate from which an instance counts, all of these or the best, of
    a log the `top` most frequent variants, of all the activities that make up the share `keep` of the steps, and how
    rare is noise."""

    least: float
    all: bool
    top: int | None
    keep: float
    noise: float

    def choose(self, entries: Sequence[Any]) -> Sequence[Any]:
        """The entries of a pool to mine."""
        from chatdev.departments.process.pool import choose_best, filter_entries

        return filter_entries(entries, self.least) if self.all else choose_best(entries, self.least)

    def instances(self, source: Source) -> Mapping[Instance, int]:
        """What is mined of a pool or a log, by how often it was seen. Raises ConfigError where nothing is left."""
        found = self._all_instances(source)
        return found if self.keep == 1 else keep_frequent(found, self.keep)

    def _all_instances(self, source: Source) -> Mapping[Instance, int]:
        from chatdev.departments.process.pool import count_instances, count_outcomes

        if source.log:
            return dict(source.log.variants.most_common(self.top))
        found = count_instances(self.choose(count_outcomes(source.outcomes)))
        if not found:
            raise ConfigError(f"no instance of the pool succeeds in at least {self.least:.0%} of its runs "
                              f"({len(source.outcomes)} outcomes), so there is nothing to mine; develop more (`chatdev "
                              "process develop`), or lower --least")
        return found


def mined_options(command: Command) -> Command:
    """Add what says what is mined; the command gets it as `mined`."""
    @wraps(command)
    def collect(*, least: float, mines_all: bool, top: int | None, keep: float, noise: float, **given: Any) -> Any:
        return command(mined=Mined(least, mines_all, top, keep, noise), **given)

    every = click.option("--all", "mines_all", is_flag=True, help="All instances that succeed often enough, not "
                                                                  "only the best eight.")
    most = click.option("--top", type=click.IntRange(min=1), metavar="N",
                        help="Of a log, the N most frequent variants.")
    keep = click.option("--keep", type=ShareRange(0, 1, min_open=True), default=1.0, show_default=True, metavar="SHARE",
                        help="Only the most frequent activities, as many as make up this share of the steps.")
    return least_option(every(most(keep(noise_option(collect)))))


def log_options(command: Command) -> Command:
    """Add what says how a log is read; the command gets it as `choice`."""
    @wraps(command)
    def collect(**given: Any) -> Any:
        names = LogChoice.__dataclass_fields__
        choice = LogChoice(**{name: value for name, value in given.items() if name in names})
        return command(choice=choice, **{name: value for name, value in given.items() if name not in names})

    for add in reversed(_READ):
        collect = add(collect)
    return collect


@dataclass(frozen=True, slots=True)
class Sources:
    """Where pools and logs are found: how a log is read, the company, and the pool of the ledger that is named."""

    choice: LogChoice
    company: str
    pool: str
    ledger: str

    def find(self, file: Path | None = None, pool: str = "") -> Source:
        """The log of a file, else the pool, or the log that is kept under its name. Raises ConfigError."""
        pool = pool or self.pool
        if file:
            return Source(file.name, log=read_shown(file, self.choice))
        if self.choice != LogChoice():
            raise ConfigError("options for reading a log need one: --log FILE")
        if pool != STARTER_POOL and (kept := find_log(self.ledger, pool)):
            return Source(pool, log=kept)
        found = load_process_company(self.company)
        return Source(found.config.company, found.default, read_outcomes(found, self.ledger, pool))


def sources_options(command: Command) -> Command:
    """Add `--company`, `--pool`, `--ledger` and how a log is read; the command gets `sources`."""
    @wraps(command)
    def collect(*, choice: LogChoice, company: str, pool_name: str, ledger_url: str, **given: Any) -> Any:
        return command(sources=Sources(choice, company, pool_name, ledger_url), **given)

    extended: Command = report_outcome(company_option(pool_name_options(log_options(collect))))
    return extended


def source_options(command: Command) -> Command:
    """Add `--log` and how it is read beside `--company`, `--pool` and `--ledger`; the command gets `source`, an empty
    one where it is given a `model`."""
    @wraps(command)
    def collect(*, file: Path | None, sources: Sources, **given: Any) -> Any:
        return command(source=Source("") if given.get("model") else sources.find(file), **given)

    with_log = click.option("--log", "file", type=click.Path(path_type=Path, exists=True, dir_okay=False),
                            metavar="FILE", help="An event log (.xes, .csv, .jsonocel, .xmlocel, .sqlite, also .gz) "
                                                 "in the place of a pool.")
    extended: Command = with_log(sources_options(collect))
    return extended


def read_shown(file: Path, choice: LogChoice) -> EventLog:
    """The log, with a bar at a terminal while a large one is read. Raises ConfigError."""
    size = file.stat().st_size
    if size < 5_000_000 or not sys.stderr.isatty():
        return read_log(file, choice)
    with click.progressbar(length=size, label=f"reading {file.name}", file=sys.stderr) as bar:
        return read_log(file, choice, bar.update)


def import_log(file: Path, choice: LogChoice, ledger_url: str, name: str, *, replace: bool) -> EventLog:
    """Keep a log as the pool `name`. Raises ConfigError for a name that is taken, unless the log is to replace one."""
    import sqlalchemy as sql

    check_pool_name(name)
    log = read_shown(file, choice)
    with _open_logs(ledger_url) as (connection, logs, pools):
        if connection.scalar(sql.select(pools.c.pool).where(pools.c.pool == name)):
            raise ConfigError(f"--pool {name}: a pool of developed software has this name; give another one")
        mine = logs.c.pool == name
        if connection.scalar(sql.select(logs.c.pool).where(mine)):
            if not replace:
                raise ConfigError(f"--pool {name}: there is a log of this name; give another one, or --replace")
            connection.execute(sql.delete(logs).where(mine))
        connection.execute(sql.insert(logs).values(pool=name, log=_to_kept(log).model_dump_json()))
    return log


def find_log(ledger_url: str, name: str) -> EventLog | None:
    """The log that is kept as the pool `name`; None where there is none. Raises ConfigError for one that is damaged."""
    try:
        from chatdev.departments.process.pool_store import find_kept_log
    except ImportError:
        return None
    text = find_kept_log(ledger_url, name)
    if text is None:
        return None
    try:
        return _from_kept(_KeptLog.model_validate_json(text))
    except (ValidationError, IndexError) as error:
        raise ConfigError(f"the log {name!r} of {ledger_url} is damaged ({str(error)[:100]}); import it again: "
                          "--replace") from None


@contextmanager
def _open_logs(ledger_url: str) -> Iterator[tuple[Any, Any, Any]]:
    """A connection that writes, and the tables of logs and of pools. Raises MissingProgram, ConfigError."""
    try:
        from chatdev.batch.database import open_database, refuse_strange, transaction
        from chatdev.departments.process.pool_store import LOGS, POOLS
    except ImportError as error:
        raise MissingProgram(f"a pool needs {error.name}: pip install 'chatdev-chain[eval]'") from error
    refuse_strange(ledger_url, [LOGS])
    engine = open_database(ledger_url)
    try:
        with transaction(engine, alone=True) as connection:
            LOGS.create(connection, checkfirst=True)
            POOLS.create(connection, checkfirst=True)
            yield connection, LOGS, POOLS
    finally:
        engine.dispose()


class _KeptLog(BaseModel):
    """A log as a pool keeps it: activities by number, and of durations the percentiles."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)

    activities: list[str]
    variants: list[tuple[Annotated[int, Field(ge=1)], list[Annotated[int, Field(ge=0)]]]]
    waits: list[tuple[int, int, int, float, float]]
    durations: list[float]
    events: int
    begin: float | None
    end: float | None
    unfinished: int
    passed_over: dict[str, int]


def _to_kept(log: EventLog) -> _KeptLog:
    places = {activity: place for place, activity in enumerate(log.activities)}
    return _KeptLog(
        activities=[*places], events=log.events, begin=log.begin, end=log.end, unfinished=log.unfinished,
        variants=[(count, [places[activity] for activity in variant]) for variant, count in log.variants.items()],
        waits=[(places[one], places[other], wait.count, wait.total, wait.longest)
               for (one, other), wait in log.waits.items()],
        durations=_percentiles(log.durations), passed_over=dict(log.passed_over))


def _percentiles(values: Sequence[float]) -> list[float]:
    """The least, 99 in between, and the greatest; all of them where they are few."""
    if len(values) <= 101:
        return sorted(values)
    return [min(values), *quantiles(values, n=100, method="inclusive"), max(values)]


def _from_kept(kept: _KeptLog) -> EventLog:
    names = kept.activities
    return EventLog(
        Counter({tuple(names[place] for place in variant): count for count, variant in kept.variants}), kept.events,
        kept.begin, kept.end, array("d", kept.durations),
        {(names[one], names[other]): Wait(count, total, longest)
         for one, other, count, total, longest in kept.waits},
        kept.unfinished, Counter(kept.passed_over))


# What is printed of a log.


def summary(log: EventLog) -> str:
    """What was read, in a few lines."""
    lines = [f"{log.cases:,} cases, {log.events:,} events, {len(log.activities):,} activities, {len(log.variants):,} "
             "variants"]
    if log.begin is not None and log.end is not None and (typical := log.typical_durations):
        lines.append(f"from {_day(log.begin)} to {_day(log.end)}; a case takes {duration(typical['median'])} (median), "
                     f"{duration(typical['p90'])} (nine in ten at most)")
    if log.unfinished:
        lines.append(f"{log.unfinished:,} steps begin and never end; they stand where they begin")
    if log.passed_over:
        told = ", ".join(f"{count:,} {name}" for name, count in log.passed_over.most_common(8))
        lines.append(f"events that are no steps: {told}")
    return "\n".join(lines)


def variants_table(log: EventLog, *, shows_all: bool) -> str:
    """The variants, the most frequent first; and the longest waits."""
    shown = log.variants.most_common(None if shows_all else _MOST_SHOWN)
    lines, covered = [], 0
    for variant, count in shown:
        covered += count
        lines.append((f"{count:,}", f"{count / log.cases:.1%}", f"{covered / log.cases:.1%}", " → ".join(variant)
                      or "(none)"))
    text = table(("cases", "share", "together", "instance"), lines)
    if len(shown) < len(log.variants):
        text += f"\n… and {len(log.variants) - len(shown):,} more variants: --all"
    if waits := sorted(log.waits.items(), key=lambda one: -one[1].total)[:10]:
        rows = [(f"{wait.count:,}", duration(wait.total / wait.count), duration(wait.longest), f"{one} → {other}")
                for (one, other), wait in waits]
        text += "\n\nwhere cases wait most\n" + table(("times", "mean", "longest", "instance"), rows)
    return text


def log_data(log: EventLog, *, shows_all: bool) -> dict[str, Any]:
    """The log, for JSON."""
    shown = log.variants.most_common(None if shows_all else _MOST_SHOWN)
    return {"cases": log.cases, "events": log.events, "activities": dict(log.activities.most_common()),
            "variants": len(log.variants), "begin": log.begin, "end": log.end, "durations": log.typical_durations,
            "unfinished": log.unfinished, "passed_over": dict(log.passed_over),
            "most_frequent": [{"cases": count, "instance": variant} for variant, count in shown],
            "waits": [{"from": one, "to": other, "count": wait.count, "mean": wait.total / wait.count,
                       "longest": wait.longest} for (one, other), wait in log.waits.items()]}


def duration(seconds: float) -> str:
    """`45 s`, `12 min`, `3.5 h`, `12 d`."""
    for length, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"


def _day(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).date().isoformat()
