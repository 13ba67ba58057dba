"""What the commands of `chatdev process` print."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from chatdev.secrets import scrub

if TYPE_CHECKING:
    from chatdev.evaluation.development.summary import Rows
    from chatdev.process.pool_statistics import PoolEntry
    from chatdev.process.process_tree import Instance

_WIDEST = 100  # characters of an instance in a table


def json_text(data: Any) -> str:
    """The data for machines."""
    return scrub(json.dumps(data, ensure_ascii=False, indent=1))


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Columns of equal width; the first is flush left, the others right."""
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) if n == 0 else cell.rjust(width)
                               for n, (cell, width) in enumerate(zip(line, widths, strict=True))).rstrip()
                     for line in (head, *lines))


def entries_table(entries: Sequence[PoolEntry], default: Instance) -> str:
    """The entries of a pool, a line each: how often, how often well, how far from the default."""
    from chatdev.process.instances import format_instance
    from chatdev.process.pool_statistics import measure_diversity

    lines = []
    for entry in entries:
        text = format_instance(entry.instance) or "(none)"
        shown = text if len(text) <= _WIDEST else f"{text[:_WIDEST - 1]}…"
        lines.append((shown, str(entry.frequency), str(entry.successes), f"{entry.success_rate:.2f}",
                      f"{measure_diversity(entry.instance, default).mean:.2f}"))
    return table(("instance", "N", "Q", "Q/N", "diversity"), lines)


def entry_data(entry: PoolEntry) -> dict[str, Any]:
    """An entry, for JSON."""
    return {**asdict(entry), "success_rate": entry.success_rate}


def summary_table(groups: Mapping[str, Rows], default: Instance) -> str:
    """What came of groups of runs, a line each, and why proposals could not be run."""
    from chatdev.evaluation.development.summary import summarise
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
