"""A small laboratory for tests of studies: a data set of three tasks, two tiny companies, a scripted model server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from chatdev.batch.ledger import Ledger
from chatdev.batch.local import BatchProgress, work_through
from chatdev.departments.software.evaluation.srdd import Srdd
from chatdev.evaluation.measure import Row
from chatdev.evaluation.study import Conditions, Study
from chatdev.evaluation.variants import MODEL_SIGN, Variant, variants
from tests.engine.studio import WRITE, Studio, program
from tests.support.chat_server import ChatServer, Received

ALONE = {key: value for key, value in WRITE.items() if key != "instructor"}
TALKING = {"coding": WRITE, "code_review": {**WRITE, "opens": "instructor", "dehallucination": True,
                                            "on_no_solution": "keep", "reads": ["task", "software"]}}
TASKS = {
    "work": ("Work", "Sums", {"Adder": "Add all numbers given as arguments and print the sum.",
                              "Doubler": "Double the number given as argument and print it."}),
    "game": ("Game", "Dice", {"Die": "Print a number from one to six, drawn by chance."}),
}
ACCEPT = '''
from chatdev.evaluation.trial import Check, numbers, said

def accept(program):
    yield Check("2 and 3 are 5", numbers(said(program.start("2", "3"))) == [5])
    yield Check("nothing is 0", numbers(said(program.start())) == [0])
'''
GOOD = program("import sys\nprint(sum(map(int, sys.argv[1:])))")
BROKEN = program("print(1 / 0)")

Answer = Callable[[Received, str], Any]
"""The reply to a request of the run of that task; an embedder's requests belong to none."""


@dataclass
class Lab:
    """Everything that a study needs, in one folder."""

    folder: Path
    server: ChatServer
    answer: Answer = field(default=lambda request, task: GOOD)

    def __post_init__(self) -> None:
        self.server.route(self._route)
        for name, (area, category, tasks) in TASKS.items():
            entries = [{"name": task, "description": text, **({"acceptance": "adder"} if task == "Adder" else {})}
                       for task, text in tasks.items()]
            self.write(f"data/{name}.yaml", yaml.safe_dump({"area": area, "category": category, "tasks": entries}))
        self.write("data/acceptance/adder.py", ACCEPT)
        self.company("alone", {"coding": ALONE})
        self.company("chain", {"coding": ALONE, "code_review": {**ALONE, "reads": ["task", "software"]}})

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def companies(self) -> list[str]:
        """Paths of the two companies."""
        return [str(self.folder / name / "stage") for name in ("alone", "chain")]

    def write(self, path: str, text: str) -> Path:
        """A file of the laboratory."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def company(self, name: str, phases: Mapping[str, Any]) -> Path:
        """A company of this name, which is done when its program starts."""
        (self.folder / name).mkdir(exist_ok=True)
        return Studio(self.folder / name, self.server).company(
            phases, [*({"phase": phase} for phase in phases), {"tool": "software.run", "writes": "test"}],
            company=name, success="test.passed")

    def variants(self, *companies: str, **options: Any) -> list[Variant]:
        """The variants of the companies, those of the laboratory if none is named."""
        return variants(companies or self.companies, models=["scripted"], **options)

    def study(self, **conditions: Any) -> Study:
        """A study of the data set."""
        return Study(Srdd(self.data), self.folder / "study", Conditions(**{"install": "never", **conditions}),
                     base_url=self.server.url)

    def ledger(self, name: str = "study") -> Ledger:
        """A ledger of one try a job."""
        return Ledger(str(self.folder / "ledger.sqlite"), name, most_tries=1)

    def run(self, chosen: Sequence[Variant], study: Study | None = None, name: str = "study") -> BatchProgress:
        """Enter the jobs and work through them."""
        study, ledger = study or self.study(), self.ledger(name)
        study.enter(ledger, list(study.jobs(study.data.tasks(), chosen)))
        progress = asyncio.run(work_through(ledger, study.work, at_once=3))
        ledger.close()
        return progress

    def rows(self, name: str = "study") -> dict[str, Row]:
        """The rows in the ledger, by key without the model."""
        ledger = self.ledger(name)
        found = {_short(entry.key): dict(entry.result) for entry in ledger.entries("done")}
        ledger.close()
        return found

    def problems(self, name: str = "study") -> dict[str, str]:
        """Why jobs failed, by key without the model."""
        ledger = self.ledger(name)
        found = {_short(entry.key): entry.problem for entry in ledger.entries("failed")}
        ledger.close()
        return found

    def _route(self, request: Received) -> Any:
        return self.answer(request, request.headers.get("X-ChatDev-Run", "").partition("-")[0])


def _short(key: str) -> str:
    return key.replace(f"{MODEL_SIGN}scripted/", "/", 1)
