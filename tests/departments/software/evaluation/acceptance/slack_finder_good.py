"""Earliest starts and slack of the tasks of a project."""

from __future__ import annotations

import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Print the plan."""
    days: dict[str, int] = {}
    waits: dict[str, list[str]] = {}
    for line in Path(arguments[0]).read_text().splitlines():
        task, length, *before = line.split()
        days[task], waits[task] = int(length), before
    for before in waits.values():
        for task in before:
            if task not in days:
                print(f"unknown task {task}")
                return 1
    try:
        order = list(TopologicalSorter(waits).static_order())
    except CycleError:
        print("cycle")
        return 1
    show(days, waits, order)
    return 0


def show(days: dict[str, int], waits: dict[str, list[str]], order: list[str]) -> None:
    """Go forward for the earliest starts, and back for the latest."""
    earliest: dict[str, int] = {}
    for task in order:
        earliest[task] = max((earliest[other] + days[other] for other in waits[task]), default=0)
    total = max(earliest[task] + days[task] for task in days)
    latest = {task: total - days[task] for task in days}
    for task in reversed(order):
        for other in waits[task]:
            latest[other] = min(latest[other], latest[task] - days[other])
    for task in days:
        print(task, earliest[task], latest[task] - earliest[task])
    print("total", total)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
