"""What the commands of `chatdev process` print."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from chatdev.runner.report import escape_json

if TYPE_CHECKING:
    from chatdev.departments.process.development.summary import Rows
    from chatdev.departments.process.pool_statistics import PoolEntry
    from chatdev.departments.process.process_tree import Instance

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
    from chatdev.departments.process.pool_statistics import measure_diversity

    lines = [(str(entry.frequency), str(entry.successes), f"{entry.success_rate:.2f}",
              f"{measure_diversity(entry.instance, default).mean:.2f}", format_instance(entry.instance) or "(none)")
             for entry in entries]
    return table(("N", "Q", "Q/N", "diversity", "instance"), lines)


def entry_data(entry: PoolEntry) -> dict[str, Any]:
    """An entry, for JSON."""
    return {**asdict(entry), "success_rate": entry.success_rate}


def summary_table(groups: Mapping[str, Rows], default: Instance) -> str:
    """What came of groups of runs, a line each, and why proposals could not be run."""
    from chatdev.departments.process.development.summary import summarise
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
