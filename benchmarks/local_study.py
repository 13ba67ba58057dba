"""Studies with the local model: run through the ledger as a user would, kept as results that a page is written from."""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import dropwhile
from pathlib import Path
from typing import Any

from benchmarks.study import ROOT, KeptTable, machine, markdown_table, write_results
from chatdev.batch.ledger import Job, Ledger
from chatdev.evaluation.reporting.formats import as_text
from chatdev.evaluation.reporting.study_results import Results
from chatdev.runner.recorded import JOURNAL

FOLDER = ROOT / "studies"
MODEL = "local"
_JOBS = "jobs.json"
_ELSEWHERE = re.compile(r'(?:/[^/"\s]+)+/studies/')


@dataclass(frozen=True, slots=True)
class LocalStudy(KeptTable):
    """A study of this name; `steps` are the arguments of `chatdev eval`, `results` and `journals` what is kept of it:
    the rows, and what `more` makes of the run folders, by variant."""

    name: str
    steps: Sequence[Sequence[str]]
    journals: Path
    more: Callable[[Mapping[str, Sequence[Path]]], Mapping[str, Any]] = lambda _: {}

    def main(self, about: str | None) -> None:
        """The command line: run what is missing, keep what came of it, write the page."""
        parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        only = parser.add_mutually_exclusive_group()
        only.add_argument("--collect", action="store_true", help="run nothing; take what the ledger has, or is kept")
        only.add_argument("--write", action="store_true", help="only write the page from the results that are kept")
        options = parser.parse_args()
        if not (options.collect or options.write):
            self.run()
        if not options.write:
            self.collect()
        self.write()

    def run(self) -> None:
        """Run what is missing, after what is kept has been put back; raises CalledProcessError."""
        self.restore()
        for step in self._steps_left():
            subprocess.run([sys.executable, "-m", "chatdev", "eval", *step], cwd=ROOT, check=True)

    def _steps_left(self) -> Iterator[Sequence[str]]:
        """The steps from the one on which open jobs belong to: `chatdev eval` refuses to begin beside them."""
        with self._open_ledger() as ledger:
            begun = {entry.spec["variant"]["company"] for entry in ledger.entries("open")}
        return dropwhile(lambda step: not begun <= _companies(step), self.steps)

    def restore(self) -> None:
        """Put the jobs that are kept into a ledger without any, and their journals in their places, so that a study
        which takes days can go on in a new checkout."""
        with self._open_ledger() as ledger:
            if not self.journals.exists() or any(ledger.counts().values()):
                return
            with tarfile.open(self.journals) as archive:
                if f"{self.name}/{_JOBS}" not in archive.getnames():
                    return  # it was kept before jobs were
                archive.extractall(FOLDER, filter="data")
            kept = json.loads((FOLDER / self.name / _JOBS).read_text(encoding="utf-8"))
            ledger.add(Job(job["key"], job["spec"]) for job in kept)
            done = {job["key"]: job for job in kept}
            while claim := ledger.claim("restore"):
                ledger.finish(claim, done[claim.key]["result"], done[claim.key]["seconds"])

    def collect(self) -> None:
        """Keep rows and journals; of what is kept where there is nothing new."""
        self.restore()
        rows = self._rows()
        folders: dict[str, list[Path]] = {}
        for row in rows:
            folders.setdefault(row["variant"], []).append(FOLDER / self.name / row["folder"])
        write_results(self.results, {"machine": machine(), "date": datetime.now(UTC).date().isoformat(), "rows": rows,
                                     **self.more(folders)})
        self._keep_journals([folder for found in folders.values() for folder in found])

    def _open_ledger(self) -> closing[Ledger]:
        FOLDER.mkdir(parents=True, exist_ok=True)
        return closing(Ledger(str(FOLDER / "ledger.sqlite"), self.name))

    def _rows(self) -> list[Mapping[str, Any]]:
        with self._open_ledger() as ledger:
            return list(Results.read(ledger).rows)

    def _keep_journals(self, runs: Sequence[Path]) -> None:
        """All jobs that are done and all journals in one archive, as they are but for the place of the study on this
        machine."""
        with self._open_ledger() as ledger:
            done = [{"key": entry.key, "spec": entry.spec, "result": entry.result, "seconds": entry.seconds}
                    for entry in ledger.entries("done")]
        texts = {f"{self.name}/{_JOBS}": json.dumps(done, ensure_ascii=False)}
        texts |= {f"{folder.relative_to(FOLDER)}/run/{JOURNAL}": (folder / "run" / JOURNAL).read_text(encoding="utf-8")
                  for folder in runs}
        with tarfile.open(self.journals, "w:xz") as archive:
            for name, text in texts.items():
                data = _ELSEWHERE.sub("studies/", text).encode()
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))

    def report(self, study: Mapping[str, Any]) -> str:
        """The report of the rows, and on what they were measured."""
        rows = study["rows"]
        variants = list(dict.fromkeys(row["variant"] for row in rows))
        report = as_text(Results(self.name, rows, (), variants))
        return f"```text\n{report}```\n\nMachine: {study['machine']}; date: {study['date']}."


def _companies(step: Sequence[str]) -> set[str]:
    """Those that a step names."""
    return set(step[step.index("--companies") + 1].split(",")) if "--companies" in step else set()


def each_task(rows: Sequence[Mapping[str, Any]], title: str, cell: Callable[[Mapping[str, Any]], str]) -> str:
    """A table of all tasks by all variants, each with its repeats one after the other."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        found.setdefault((row["task"], row["variant"]), []).append(cell(row))
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    tasks = list(dict.fromkeys(row["task"] for row in rows))
    return markdown_table([title, *variants],
                          [[task, *(" / ".join(found.get((task, name), ["–"])) for name in variants)]
                           for task in tasks])
