"""How programs that keep things are judged when no example says what they print: the table in docs/execution.md.

    python -m benchmarks.software.keeping [--write]

Every right and every wrong program of benchmarks/data/keeping/ is tried with `software.use` and its Tester's plan.
Takes about two minutes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from benchmarks.study import RESULTS_FOLDER, ROOT, KeptStudy, markdown_table
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.registry import registry

DATA = ROOT / "benchmarks" / "data" / "keeping"
RESULTS, PAGE = RESULTS_FOLDER / "keeping.json", ROOT / "docs" / "execution.md"
BEGIN, END = "<!-- keeping: written by python -m benchmarks.software.keeping -->", "<!-- end of keeping -->"
KINDS = {"right": "right", "unlisted": "what is added is not listed", "unremoved": "what is added is not removed",
         "emptied": "removing one thing loses the others", "another": "another thing is removed",
         "asking": "asks for what is typed behind the command"}
HALVES = {"read while this was made": range(1, 16), "tried once, at the end": range(16, 31)}
_AT_ONCE = 2


def read_cases() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The name of each case, with its `task`, the Tester's `plan`, and its `programs` by kind."""
    for file in sorted(DATA.glob("*.yaml")):
        yield file.stem, yaml.safe_load(file.read_text(encoding="utf-8"))


def try_case(task: str, plan: list[str], program: str) -> Verdict:
    """The verdict on a program for which a Tester made this plan."""
    with tempfile.TemporaryDirectory() as folder:
        context = ToolContext({"main.py": program.encode()}, {"task": task, "commands": plan}, {}, find_sandbox(),
                              Path(folder), Path(folder))
        verdict = registry()["software.use"].call(context, {})
    assert isinstance(verdict, Verdict)
    return verdict


def judge(name: str, case: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How the programs of a case are judged, and whether by what they keep."""
    rows = []
    for kind, program in case["programs"].items():
        verdict = try_case(case["task"], case["plan"], program)
        kept = any(one["from"] == "program" and not one["passed"] for one in verdict.evidence.get("cases", ()))
        rows.append({"case": name, "kind": kind, "passed": verdict.passed, "by_keeping": kept})
    return rows


def table(study: Mapping[str, Any]) -> str:
    """By half of the cases and kind of program: how many pass, and why the others fail."""
    rows = []
    for half, numbers in HALVES.items():
        for kind, shown in KINDS.items():
            found = [row for row in study["rows"] if int(row["case"]) in numbers and row["kind"] == kind]
            counts = (sum(row["passed"] for row in found), sum(row["by_keeping"] for row in found))
            rows.append((half, shown, *map(str, (len(found), *counts, len(found) - sum(counts)))))
    return markdown_table(["cases", "program", "tried", "pass", "fail by what they keep", "fail otherwise"], rows)


def measure() -> dict[str, Any]:
    """The rows of all cases."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(lambda case: judge(*case), read_cases())
        return {"rows": [row for rows in found for row in rows]}


if __name__ == "__main__":
    KeptStudy(measure, table, RESULTS, PAGE, (BEGIN, END)).main(__doc__)
