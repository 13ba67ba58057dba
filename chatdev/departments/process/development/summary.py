"""What the rows of a stage say: how many proposals could be run, how different they were, how many led to software."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from chatdev.departments.process.pool import measure_diversity
from chatdev.departments.process.process_tree import Instance
from chatdev.evaluation.reporting.statistics import MeanEstimate, estimate

Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Summary:
    """`proposals` are all that models proposed, `legal` the share of them that could be run; `faults` counts why the
    others could not. `distinct` instances came of the legal ones, on average so far from the default (`diversity`,
    equation 5). Of `developed` softwares, `success` is the share that passed its trial, `starts` that starts, `solved`
    that passes all hidden checks (None: there are none)."""

    proposals: int
    legal: float | None
    faults: Mapping[str, int]
    distinct: int
    diversity: float | None
    developed: int
    success: MeanEstimate
    starts: MeanEstimate
    solved: MeanEstimate
    tokens: float | None


def summarise(rows: Rows, default: Instance) -> Summary:
    """The summary of these runs; `default` is the default instance."""
    refused, legal = _divide_proposals(rows)
    developed = [row for row in rows if "executability" in row and row["instance"]]
    success, starts, solved = (_estimate(developed, name) for name in ("succeeded", "executability", "solved"))
    return Summary(
        proposals=len(refused) + len(legal), legal=_mean([0] * len(refused) + [1] * len(legal)),
        faults=Counter(kind for one in refused for kind in one["kinds"]), distinct=len(set(legal)),
        diversity=_mean([measure_diversity(one, default).mean for one in legal]),
        developed=len(developed), success=success, starts=starts, solved=solved,
        tokens=_mean([row["tokens"] for row in rows]))


def _divide_proposals(rows: Rows) -> tuple[list[Mapping[str, Any]], list[Instance]]:
    """The proposals that were refused, with the reasons, and the instances that could be run."""
    proposed = [row for row in rows if row["proposed"]]
    return ([one for row in proposed for one in row["refused"]],
            [tuple(row["instance"]) for row in proposed if row["fits"]])


def _estimate(rows: Rows, name: str) -> MeanEstimate:
    return estimate([float(row[name]) for row in rows if row.get(name) is not None])


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def group_rows(rows: Iterable[Mapping[str, Any]], key: str) -> dict[str, list[Mapping[str, Any]]]:
    """The rows by the text of a field, in the order in which its values come."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(str(row[key]), []).append(row)
    return groups
