"""Build the five programs by `make run`, try them, and write the results down.

    python -m benchmarks.first_runs.run_all [--model local] [--only Primes] [--times N] [--accept FOLDER]

`--accept` tries a finished software folder (with `--only`) instead of building anything.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import yaml

from benchmarks.first_runs.record import TABLE, Row, save
from benchmarks.study import ROOT
from chatdev.evaluation.trial import Check, program_copy
from chatdev.journal import read_journal
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.kinds import find_sandbox
from chatdev.workspace.file_tree import read_tree

_WAREHOUSE = ROOT / "warehouse"
_DOCUMENTS = {".md", ".txt", ".json"}


def main() -> int:
    """Run the study; 0 when every program was accepted."""
    options = _options()
    tasks = [t for t in yaml.safe_load(Path(__file__).with_name("tasks.yaml").read_text(encoding="utf-8"))["tasks"]
             if options.only in (None, t["name"])]
    sandbox = find_sandbox()
    if options.accept:
        return 0 if all(c.passed for t in tasks for c in _shown(try_out(t, options.accept, sandbox))) else 1
    rows = []
    for number, task in itertools.product(range(1, options.times + 1), tasks):
        rows.append(build_and_try(task, number, options, sandbox))
        save(TABLE, rows, options.model)
    return 0 if all(row.accepted for row in rows) else 1


def build_and_try(task: dict[str, str], number: int, options: argparse.Namespace, sandbox: Sandbox) -> Row:
    """One program, from the request typed at `make run` to the verdict, for the first time or once more."""
    print(f"{task['name']}: building …", flush=True)
    before = set(_WAREHOUSE.glob("*/"))
    subprocess.run(["make", "run", f"TASK={task['task']}", f"NAME={task['name']}", f"MODEL={options.model}"], cwd=ROOT,
                   check=False)  # what came of it stands in the run's folder
    if not (made := set(_WAREHOUSE.glob("*/")) - before):
        sys.exit(f"make run ended before it made anything for {task['name']}; its message stands above")
    folder = made.pop()
    name = task["name"] if number == 1 else f"{task['name']} {number}"
    return _row(name, folder, _shown(try_out(task, folder / "software", sandbox)))


def try_out(task: dict[str, str], software: Path, sandbox: Sandbox) -> list[Check]:
    """The checks of the task's acceptance script; one failed check when there is nothing to start."""
    script = import_module(f"benchmarks.first_runs.{task['accept'].removesuffix('.py')}")
    try:
        with program_copy(software, sandbox) as program:
            return list(script.accept(program))
    except FileNotFoundError as error:
        return [Check("there is a program", passed=False, detail=str(error))]


def _row(name: str, folder: Path, checks: list[Check]) -> Row:
    software = read_tree(folder / "software")
    events = list(read_journal(folder / "run" / "journal.jsonl"))
    calls = [event for event in events if event["kind"] == "ModelCalled" and not event["replayed"]]
    ends = [event for event in events if event["kind"] == "RunFinished"]  # several, if it was gone on with
    end = ends[-1]
    verdicts = [event for event in events if event["kind"] == "ToolCalled" and event["tool"] == "software.use"]
    failed = [check.name for check in checks if not check.passed]
    accepted = end["status"] == "success" and not failed
    return Row(name, len(calls), sum(call["prompt_tokens"] for call in calls),
               sum(call["completion_tokens"] for call in calls),
               round(sum(event["seconds"] for event in ends) / 60, 1), len(software),
               sum(len(content.splitlines()) for path, content in software.items()
                   if Path(path).suffix not in _DOCUMENTS),
               bool(verdicts and verdicts[-1]["passed"]), accepted, len(checks) - len(failed), len(checks),
               "" if accepted else "; ".join(failed) or end["reason"])


def _shown(checks: list[Check]) -> list[Check]:
    for check in checks:
        print(f"  {'✓' if check.passed else '✗'} {check.name}{'' if check.passed else f': {check.detail}'}", flush=True)
    return checks


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="local", help="model that builds the programs")
    parser.add_argument("--only", help="name of one task")
    parser.add_argument("--times", type=int, default=1, help="how often each is built")
    parser.add_argument("--accept", type=Path, metavar="FOLDER", help="try this software, build nothing")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
