"""What the commands of `chatdev process` take (the pool, the company, the tasks), and what they print."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import STUDIES
from chatdev.department import explain_absence
from chatdev.errors import ConfigError, MissingProgram
from chatdev.safe_text import escape_json

if TYPE_CHECKING:
    from chatdev.departments.process.development.stages import Rows
    from chatdev.departments.process.pool import InstancePool, PoolEntry
    from chatdev.departments.process.process_company import ProcessCompany
    from chatdev.departments.process.process_tree import Instance
    from chatdev.evaluation.study import DataSet
    from chatdev.evaluation.tasks import Task


Command = Callable[..., Any]
STARTER_POOL = "starter"
_TASKS = re.compile(r"(?P<data>.+?)(?::(?P<limit>[1-9][0-9]*))?")
_POOL = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)

class ShareRange(click.FloatRange):
    """A number of a range; NaN is in none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number != number:
            self.fail(f"{value!r} is no number", param, ctx)
        return number


company_option = click.option("--company", default="top", show_default=True, metavar="NAME_OR_PATH",
                              help="The company, whose chain has a `process` step with `phases`.")
_pool_options = (
    click.option("--pool", "pool_name", default="top", show_default=True, metavar="NAME",
                 help=f"The instance pool; `{STARTER_POOL}` is the one that the company comes with."),
    click.option("--ledger", "ledger_url", metavar="PATH_OR_URL", default=str(STUDIES / "ledger.sqlite"),
                 show_default=True, help="A SQLite file, or the address of a database, e.g. postgresql://host/name."),
)
least_option = click.option("--least", type=ShareRange(0, 1), default=0.3, show_default=True, metavar="SHARE",
                            help="Successes from which an instance is worth learning from.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def pool_options(command: Command) -> Command:
    """Add `--company`, `--pool` and `--ledger`; the command gets `company` and `outcomes`, those of the pool."""
    @wraps(command)
    def collect(*, company: str, pool_name: str, ledger_url: str, **given: Any) -> Any:
        found = load_process_company(company)
        return command(company=found, outcomes=read_outcomes(found, ledger_url, pool_name), **given)

    extended: Command = report_outcome(company_option(pool_name_options(collect)))
    return extended


def pool_name_options(command: Command) -> Command:
    """Add `--pool` and `--ledger`, as `pool_name` and `ledger_url`."""
    for add in reversed(_pool_options):
        command = add(command)
    return command


def load_process_company(name_or_path: str, sets: Sequence[str] = ()) -> ProcessCompany:
    """The company. Raises ConfigError, MissingProgram."""
    from chatdev.departments.process.process_company import ProcessCompany
    from chatdev.runner.api import Company

    return ProcessCompany.of(Company.load(name_or_path, sets=sets).config)


@contextmanager
def opened_pool(company: ProcessCompany, ledger_url: str, name: str) -> Iterator[InstancePool]:
    """The pool of that name, for writing; it is made when there is none. Raises ConfigError, MissingProgram."""
    if name == STARTER_POOL:
        raise ConfigError(f"the pool {name!r} belongs to the company and is only read; name one of yours: --pool NAME")
    if not _POOL.fullmatch(name):
        raise ConfigError(f"--pool {name!r}: a pool has a name of at most 100 letters, digits and `-_.`")
    try:
        from chatdev.departments.process.pool import InstancePool
    except ImportError as error:
        raise MissingProgram(f"an instance pool needs {error.name}: pip install 'chatdev-chain[eval]'") from error
    pool = InstancePool(ledger_url, name, company.default)
    try:
        yield pool
    finally:
        pool.close()


def read_outcomes(company: ProcessCompany, ledger_url: str, name: str) -> list[Any]:
    """The outcomes of a pool that is there. Raises ConfigError where there is none."""
    if name == STARTER_POOL:
        return list(company.starter_outcomes())
    try:
        from chatdev.departments.process.pool import find_outcomes
    except ImportError as error:
        raise MissingProgram(f"an instance pool needs {error.name}: pip install 'chatdev-chain[eval]'") from error
    found = find_outcomes(ledger_url, name, company.default)
    if found is None:
        raise ConfigError(f"there is no pool {name!r} in {ledger_url}; begin one with `chatdev process develop`, or "
                          f"look at the one that the company comes with: --pool {STARTER_POOL}")
    return found


def read_tasks(given: str, seed: int) -> tuple[DataSet, list[Task]]:
    """The data set and its tasks that `--tasks` names. Raises ConfigError."""
    from chatdev.evaluation.study import open_tasks
    from chatdev.evaluation.tasks import Selection

    found = _TASKS.fullmatch(given.strip())
    name, limit = (found["data"], found["limit"]) if found else ("", None)
    base: Any = open_tasks(name)
    if base is None:
        raise ConfigError(f"--tasks {given!r} names no data set; give srdd, easy:tuning, or a file or folder of tasks "
                          f"as in srdd/tasks, with `:N` behind it for N of them, e.g. srdd:20{explain_absence()}")
    tasks = Selection(limit=int(limit) if limit else None, seed=seed).select(base.tasks())
    base.check(tasks)
    return base, tasks


# What they print.

_WORDS = ("", "instance")  # columns of words


def json_text(data: Any) -> str:
    """The data for machines."""
    return escape_json(json.dumps(data, ensure_ascii=False, indent=1))


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Columns of equal width; words are flush left, numbers right."""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) if name not in _WORDS else cell.ljust(width)
                               for name, cell, width in zip(head, line, widths, strict=True)).rstrip()
                     for line in (head, *lines))


def entries_table(entries: Sequence[PoolEntry], default: Instance) -> str:
    """The entries of a pool, a line each: how often, how often well, how far from the default, and the whole instance,
    since many differ only near their ends."""
    from chatdev.departments.process.instances import format_instance
    from chatdev.departments.process.pool import measure_diversity

    lines = [(str(entry.frequency), str(entry.successes), f"{entry.success_rate:.2f}",
              f"{measure_diversity(entry.instance, default).mean:.2f}", format_instance(entry.instance) or "(none)")
             for entry in entries]
    return table(("N", "Q", "Q/N", "diversity", "instance"), lines)


def entry_data(entry: PoolEntry) -> dict[str, Any]:
    """An entry, for JSON."""
    return {**asdict(entry), "success_rate": entry.success_rate}


def summary_table(groups: Mapping[str, Rows], default: Instance) -> str:
    """What came of groups of runs, a line each, and why proposals could not be run."""
    from chatdev.departments.process.development.stages import summarise
    from chatdev.evaluation.reporting.formats import format_interval, format_mean

    head = ("", "proposed", "can be run", "distinct", "diversity", "developed", "success", "starts", "solved", "tokens")
    lines, faults = [], []
    for name, rows in groups.items():
        found = summarise(rows, default)
        lines.append((name, str(found.proposals), _share(found.legal), str(found.distinct), _share(found.diversity),
                      str(found.developed), format_interval(found.success, 2), format_interval(found.starts, 2),
                      format_interval(found.solved, 2), format_mean(found.tokens, "tokens")))
        faults += [f"{name or 'proposals'}: {kind} {count} times" for kind, count in sorted(found.faults.items())]
    return "\n".join([table(head, lines), *faults])


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
