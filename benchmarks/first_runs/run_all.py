"""Build the five programs with the `chatdev` company, try them, and write the results down.

    python -m benchmarks.first_runs.run_all [--model local] [--only Primes] [--accept FOLDER]

`--accept` tries a finished software folder (with `--only`) instead of building anything.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml

from benchmarks.first_runs.program import Check, copied
from benchmarks.first_runs.record import Row, save, write_page
from chatdev import Company, Run
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.choose import choose

_DOCUMENTS = {".md", ".txt", ".json"}


def main() -> int:
    """Run the study; 0 when every program was accepted."""
    options = _options()
    tasks = [t for t in yaml.safe_load(Path(__file__).with_name("tasks.yaml").read_text(encoding="utf-8"))["tasks"]
             if options.only in (None, t["name"])]
    sandbox = choose()
    if options.accept:
        return 0 if all(c.passed for t in tasks for c in _shown(try_out(t, options.accept, sandbox))) else 1
    rows = []
    for task in tasks:
        rows.append(build_and_try(task, options, sandbox))
        write_page(save(rows, options.model))
    return 0 if all(row.accepted for row in rows) else 1


def build_and_try(task: dict[str, str], options: argparse.Namespace, sandbox: Sandbox) -> Row:
    """One program, from the request to the verdict."""
    print(f"{task['name']}: building …", flush=True)
    run = Company.load("chatdev", sets=options.set).run(
        task["task"], name=task["name"], model=options.model, warehouse=options.warehouse)
    checks = _shown(try_out(task, run.software_folder, sandbox))
    return _row(task["name"], run, checks)


def try_out(task: dict[str, str], software: Path, sandbox: Sandbox) -> list[Check]:
    """The checks of the task's acceptance script; one failed check when there is nothing to start."""
    script = import_module(f"benchmarks.first_runs.{task['accept'].removesuffix('.py')}")
    try:
        with copied(software, sandbox) as program:
            return list(script.accept(program))
    except FileNotFoundError as error:
        return [Check("there is a program", passed=False, detail=str(error))]


def _row(name: str, run: Run, checks: list[Check]) -> Row:
    lines = sum(len(content.splitlines()) for path, content in run.software.items()
                if Path(path).suffix not in _DOCUMENTS)
    failed = [check.name for check in checks if not check.passed]
    accepted = run.success and not failed
    reason = "" if accepted else "; ".join(failed) or run.reason
    verdict: Any = run.values.get("test") or {}
    return Row(name, run.usage.calls, run.usage.prompt_tokens, run.usage.completion_tokens,
               round(run.usage.seconds / 60, 1), len(run.software), lines,
               bool(verdict.get("passed")), accepted, len(checks) - len(failed), len(checks), reason)


def _shown(checks: list[Check]) -> list[Check]:
    for check in checks:
        print(f"  {'✓' if check.passed else '✗'} {check.name}{'' if check.passed else f': {check.detail}'}", flush=True)
    return checks


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="local", help="model that builds the programs")
    parser.add_argument("--only", help="name of one task")
    parser.add_argument("--accept", type=Path, metavar="FOLDER", help="try this software, build nothing")
    parser.add_argument("--warehouse", default="warehouse")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                        help="change the company, e.g. for an ablation")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
