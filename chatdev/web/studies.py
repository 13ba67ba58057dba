"""Studies of `chatdev eval`: variants beside each other on the same tasks, with the run behind each figure."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chatdev.errors import ChatDevError, ConfigError
from chatdev.web.warehouse import Warehouse

LEDGER = "ledger.sqlite"
_MOST = 3000  # runs of one study
_METRICS = 6  # columns of figures


class Studies:
    """The studies in a folder, each a folder with one a variant, in which the runs are."""

    def __init__(self, root: Path) -> None:
        self.runs = Warehouse(root)

    def names(self) -> list[str]:
        """The studies, by name."""
        return [folder.name for folder in _folders(self.runs.root) if any(_run_folders(folder))]

    def study(self, name: str) -> dict[str, Any]:
        """The runs of a study by task and variant, and the means of its rows. Raises ConfigError for another name."""
        if name not in self.names():
            raise ConfigError(f"there is no study {name[:100]!r} in {self.runs.root}")
        found = [folder.relative_to(self.runs.root).as_posix() for folder in _run_folders(self.runs.root / name)]
        cells = [{**asdict(self.runs.summary(path)), "variant": path.split("/")[1], "task": path.split("/")[2]}
                 for path in found[:_MOST]]
        return {"name": name, "runs": cells, "left_out": len(found) - len(cells), **self._figures(name)}

    def _figures(self, name: str) -> dict[str, Any]:
        """The means that `chatdev eval report` gives, where there is the ledger of the study."""
        ledger_file = self.runs.root / LEDGER
        if not ledger_file.is_file() or ledger_file.is_symlink():
            return {"about": "", "metrics": [], "figures": []}
        try:
            from chatdev.batch.ledger import Ledger
            from chatdev.evaluation.reporting.study_results import Results

            with contextlib.closing(Ledger(str(ledger_file), name)) as ledger:
                results = Results.read(ledger)
            metrics = [*results.columns.metrics[:_METRICS], *results.columns.statistics]
            rows = [{"variant": variant, "means": {metric: asdict(one) for metric, one in
                                                   results.estimates(variant, metrics=metrics).items()}}
                    for variant in results.variants]
            return {"about": results.columns.about, "metrics": metrics, "figures": rows}
        except (ChatDevError, ImportError) as error:
            return {"about": f"Its figures cannot be read: {error}", "metrics": [], "figures": []}


def _run_folders(study: Path) -> Iterator[Path]:
    for variant in _folders(study):
        for run in _folders(variant):
            if (run / "run" / "journal.jsonl").is_file():
                yield run


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir()
                      if path.is_dir() and not path.is_symlink() and not path.name.startswith("."))
    except OSError:
        return []
