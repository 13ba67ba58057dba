"""Event logs that were published: are they read, as pm4py reads them, by one command, and how good is the model?

    PM4PY=/tmp/pm4py/bin/python python -m benchmarks.process.public_logs [--from FOLDER] [--only NAME | --write]

The repositories are cloned from GitHub at the commits below, into studies/public; `--from` names a folder that has them
already, as `owner+name/repo`. Nothing of them is kept but counts. The reader was written with the half `read` in view;
the `unseen` ones were read once, at the end. Without PM4PY (benchmarks/process/oracle.py) its columns are left empty.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.process.oracle import ask
from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptTable, machine, markdown_table, marks, write_results
from chatdev.departments.process.conformance import measure_quality
from chatdev.departments.process.event_log import LogChoice
from chatdev.departments.process.inductive_miner import mine
from chatdev.departments.process.log_files import read_log
from chatdev.departments.process.process_tree import from_plain

FOLDER = ROOT / "studies" / "public"
NOISE = 0.2
_PATIENCE = 300  # seconds for pm4py with one log


@dataclass(frozen=True, slots=True)
class PublicLog:
    """A log: its place, and the options by which it is read."""

    half: str
    repository: str
    path: str
    options: Sequence[str] = ()

    @property
    def name(self) -> str:
        """As the table calls it."""
        case = f" ({self.options[1]})" if self.options[:1] == ("--case",) and ".jsonocel" in self.path else ""
        return Path(self.path).name.split(".")[0] + case


COMMITS = {"process-intelligence-solutions/pm4py": "0a56171c2b51efa9d409a84b16b00c9a2a791e15",
           "ShiningVision/Process-Mining-Visualization": "4caa15ac53e9ffcc38b51af60884e101c5433bb3",
           "fit-process-mining/POWL": "e3812e7a6482bbe96176bb64cd040d97ac3aac18",
           "suwa-sh/open-process-mining": "bdfb2f44d4464bf0ecda24e79ef7962d8ff6d218"}
_PM4PY, _SHINING, _POWL, _OPEN = COMMITS
_PACKED = ("01_running-example", "02_teleclaims", "03_repairExample", "04_reviewing", "06_bpic2013_closed",
           "08_receipt", "09_a32f0n00", "10_orders", "11_tickets", "12_roadtraffic_1t_per_variant",
           "13_SEPSIS_1t_per_variant",
           "14_Billing_1t_per_variant", "15_bpic2020_permit_log_1t_per_variant")
LOGS = (
    *(PublicLog("read", _PM4PY, f"tests/compressed_input_data/{name}.xes.gz") for name in _PACKED),
    PublicLog("read", _PM4PY, "tests/input_data/helpdesk.xes.gz"),
    PublicLog("read", _PM4PY, "tests/input_data/bpic2012.xes.gz"),
    PublicLog("read", _PM4PY, "tests/input_data/receipt.csv"),
    PublicLog("read", _PM4PY, "tests/input_data/ocel/recruiting-red.jsonocel", ("--case", "applications")),
    PublicLog("unseen", _SHINING, "tests/testcsv/CallcenterExample.csv",
              ("--case", "Service ID", "--activity", "Operation", "--time", "Start Date",
               "--time-format", "%d.%m.%y %H:%M")),
    PublicLog("unseen", _SHINING, "tests/testcsv/test_csv.csv"),
    PublicLog("unseen", _SHINING, "tests/testcsv/basicexample.csv"),
    PublicLog("unseen", _POWL, "examples/hospital.csv"),
    *(PublicLog("unseen", _OPEN, f"dbt/seeds/raw_{name}_2024.csv",
                ("--case", case, "--activity", activity, "--time", time))
      for name, case, activity, time in (
          ("billing", "bill_id", "bill_status", "status_changed_at"),
          ("employee_onboarding", "candidate_id", "recruitment_status", "status_changed_at"),
          ("invoice_approval", "invoice_id", "approval_status", "status_time"),
          ("itsm", "incident_id", "status", "reported_at"),
          ("order_to_cash", "order_id", "order_status", "status_changed_at"),
          ("system_development", "project_id", "phase", "phase_changed_at"))))


def fetch(log: PublicLog, given: Path | None, to: Path) -> Path:
    """The file of a log, taken out of its repository."""
    repository = (given or FOLDER) / log.repository.replace("/", "+")
    repository = repository / "repo" if (repository / "repo").is_dir() else repository
    if not repository.is_dir():
        subprocess.run(["git", "clone", "--quiet", "--bare", f"https://github.com/{log.repository}", str(repository)],
                       check=True)
    found = to / Path(log.path).name
    found.write_bytes(subprocess.run(["git", "-C", str(repository), "show", f"{COMMITS[log.repository]}:{log.path}"],
                                     check=True, capture_output=True).stdout)
    return found


def measure(log: PublicLog, file: Path, python: str | None) -> dict[str, Any]:
    """The row of a log."""
    row: dict[str, Any] = {"log": log.name, "half": log.half, "repository": log.repository,
                           "bytes": file.stat().st_size}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", _CHILD, "process", "mine", "--log", str(file), *log.options],
                          capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row["seconds"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        lines = done.stderr.strip().replace(f"{file.parent}/", "").splitlines()
        return {**row, "refused": lines[0] if lines else f"exit code {done.returncode}"}
    row["megabytes"] = int(done.stderr.strip().splitlines()[-1]) // 1024
    choice: dict[str, Any] = {name.removeprefix("--").replace("-", "_"): value
                              for name, value in zip(log.options[::2], log.options[1::2], strict=True)}
    found, events = read_log(file, LogChoice(**choice)), read_log(file, LogChoice(**choice, lifecycles="all"))
    model = mine(found.variants, NOISE)
    row |= {"cases": found.cases, "variants": len(found.variants), "activities": len(found.activities),
            "events": events.events, "ours": measure_quality(model, found.variants)._asdict()}
    if python and ".jsonocel" not in log.path:
        row |= compare(python, file, events.cases, found)
    return row


_CHILD = """import sys
from pathlib import Path
from chatdev.cli.app import command_line
try:
    command_line()
finally:
    status = dict(line.split(':', 1) for line in Path('/proc/self/status').read_text().splitlines())
    print(status['VmHWM'].split()[0], file=sys.stderr)
"""
# Not `ru_maxrss`, which a child has from the process that began it.


def compare(python: str, file: Path, cases: int, found: Any) -> dict[str, Any]:
    """Whether pm4py finds the same cases, and the quality of its model of the same variants."""
    answers: dict[str, Any] = {}
    jobs: dict[str, Mapping[str, Any]] = {"mined": {"do": "mine", "noise": NOISE, "pool": [
        [[*variant], count] for variant, count in sorted(found.variants.items())]}}
    if ".xes" in file.name:
        jobs["read"] = {"do": "read_log", "path": str(file)}
    for name, job in jobs.items():
        try:
            _, [answers[name]] = ask(python, [job], _PATIENCE)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            continue
    row: dict[str, Any] = {}
    if "read" in answers:
        row["same"] = answers["read"]["cases"] == cases
    if "mined" in answers:
        row["theirs"] = measure_quality(from_plain(answers["mined"]["tree"]), found.variants)._asdict()
    return row


def f_score(quality: Mapping[str, float] | None) -> float | None:
    """The harmonic mean of fitness and precision."""
    if quality is None:
        return None
    fitness, precision = quality["fitness"], quality["precision"]
    return 2 * fitness * precision / (fitness + precision) if fitness + precision else 0.0


def told(study: Mapping[str, Any]) -> str:
    """The table."""
    rows = []
    for row in study["rows"]:
        ours, theirs = f_score(row.get("ours")), f_score(row.get("theirs"))
        counts = [f"{row[name]:,}" for name in ("cases", "events", "activities", "variants")] if "cases" in row else \
            [row["refused"], "", "", ""]
        rows.append([row["log"], row["half"], *counts, {True: "yes", False: "no"}.get(row.get("same"), "–"),
                     f"{row['seconds']:.2f}", str(row.get("megabytes", "–")),
                     *("–" if value is None else f"{value:.3f}" for value in (ours, theirs))])
    both = [(f_score(row["ours"]), f_score(row["theirs"])) for row in study["rows"] if row.get("theirs")]
    sources = ", ".join(f"{name} {commit[:8]}" for name, commit in COMMITS.items())
    means = [sum(filter(None, column)) / len(both) for column in zip(*both, strict=True)] if both else []
    mean = (f" Mean F of the {len(both)} logs that both mined: ours {means[0]:.3f}, pm4py's {means[1]:.3f}."
            if both else "")
    head = ["log", "half", "cases", "events", "activities", "variants", "cases as pm4py reads", "s", "MB",
            f"F at noise {NOISE}", "pm4py's model"]
    return (f"{markdown_table(head, rows)}\n\n`s` and `MB`: processor time and memory of `chatdev process mine --log "
            f"FILE`. F: of fitness and precision of the model with noise {NOISE}, both measured by our automaton."
            f"{mean} Sources: {sources}. Machine: {study['machine']}; date: {study['date']}.")


STUDY = KeptTable(told, RESULTS_FOLDER / "process_public_logs.json", DOCS / "process.md",
                  marks("public logs", "process.public_logs"))


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="given", type=Path, help="a folder that has the repositories already")
    parser.add_argument("--only", help="the half to measure: read, unseen")
    parser.add_argument("--write", action="store_true", help="only write the page from the results that are kept")
    options = parser.parse_args()
    if not options.write:
        kept = json.loads(STUDY.results.read_text())["rows"] if STUDY.results.exists() and options.only else []
        rows = [row for row in kept if row["half"] != options.only]
        with tempfile.TemporaryDirectory() as folder:
            for log in LOGS:
                if options.only in (None, log.half):
                    rows.append(measure(log, fetch(log, options.given, Path(folder)), os.environ.get("PM4PY")))
                    print(json.dumps(rows[-1]), flush=True)
        write_results(STUDY.results, {"machine": machine(), "date": datetime.now(UTC).date().isoformat(), "rows": rows})
    STUDY.write()


if __name__ == "__main__":
    main()
