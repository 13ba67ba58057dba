"""The runs below a folder: what stands of each in a list, kept, and read anew only where a journal has grown; and the
studies of `chatdev eval` there: variants beside each other on the same tasks, with the run behind each figure."""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from chatdev.errors import ChatDevError, ConfigError
from chatdev.journal import SCHEMA
from chatdev.paths import open_plain
from chatdev.runner.recorded import JOURNAL
from chatdev.web.record import RunRecord

PAGE = 50
"""Runs on one page of the list."""
_HEAD = re.compile(rb'\{"v": (\d{1,4}), (?:"time": "([^"]{0,40})", )?"kind": "(\w{1,40})"')
_TOLD = {b"RunStarted", b"RunResumed", b"RunFinished", b"ModelCalled", b"PhaseStarted", b"PersonAsked",
         b"PersonAnswered"}
_LONGEST = 4 << 20  # bytes of a line of these kinds
_TASK = 300  # characters of a task in the list
_PATIENCE = 0.3  # seconds in which a page of the list is made
_FRESH = 1.0  # seconds that a look at the folder holds
_OPEN = 8  # records of runs that are kept in memory
_RECENT = 90  # seconds since a journal was written, where the system does not tell whether it is locked


@dataclass(slots=True)
class RunSummary:
    """A run in the list. `cost` is None as soon as one price is unknown; `seconds` sums over its sessions."""

    id: str
    company: str = ""
    task: str = ""
    status: str = ""  # of RunFinished; running, waiting, interrupted, or `unreadable` with the reason
    reason: str = ""
    started: str = ""
    last: str = ""
    phase: str = ""
    seconds: float = 0.0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    models: list[str] = field(default_factory=list)

    def add(self, kind: str, record: Mapping[str, Any]) -> None:
        """Count one event."""
        if kind == "RunStarted":
            inputs = record.get("inputs")
            self.company = str(record.get("company", ""))
            self.task = str(inputs.get("task", "") if isinstance(inputs, dict) else "")[:_TASK]
            self.started = self.started or str(record.get("time", ""))
            self.status = ""
        elif kind == "RunResumed":
            self.status = ""
        elif kind == "RunFinished":
            self.status, self.reason = str(record.get("status", "")), str(record.get("reason", ""))[:_TASK]
            self.seconds += _number(record.get("seconds"))
        elif kind == "PhaseStarted":
            self.phase = str(record.get("phase", ""))
        elif kind == "ModelCalled":
            self._add_call(record)

    def fits(self, words: list[str], status: str, company: str) -> bool:
        """Whether it is one of those that are looked for; empty: any."""
        haystack = f"{self.id} {self.task} {self.company} {' '.join(self.models)}".casefold()
        return status in ("", self.status) and company in ("", self.company) and all(word in haystack for word in words)

    def _add_call(self, record: Mapping[str, Any]) -> None:
        self.calls += 1
        self.prompt_tokens += int(_number(record.get("prompt_tokens")))
        self.completion_tokens += int(_number(record.get("completion_tokens")))
        cost = record.get("cost")
        self.cost = None if self.cost is None or cost is None else self.cost + _number(cost)
        if (model := str(record.get("model", ""))) not in self.models:
            self.models.append(model)


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else 0.0


@dataclass(slots=True)
class _Known:
    """What is known of a journal of this size and time, and where reading goes on when it has grown."""

    summary: RunSummary
    state: tuple[int, int, int] = (0, 0, 0)
    end: int = 0
    asked: set[str] = field(default_factory=set)  # questions to people that wait for an answer


class Warehouse:
    """The runs in `root` (a warehouse, or a study: runs may lie some folders deep)."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._known: dict[str, _Known] = {}
        self._journals: dict[str, tuple[int, int, int]] = {}
        self._looked = float("-inf")
        self._locked: tuple[float, frozenset[int] | None] = (float("-inf"), None)
        self._records: dict[str, RunRecord] = {}
        self._lock = threading.Lock()

    def folder(self, name: str) -> Path:
        """The folder of a run below the root. Raises ConfigError where there is none; no link is followed."""
        parts = name.split("/")
        path = self.root.joinpath(*parts) if "\0" not in name else self.root
        if not name or any(part in ("", ".", "..") for part in parts) or path.resolve() != path \
                or not (path / "run").is_dir():
            raise ConfigError(f"there is no run {name[:200]!r} in {self.root}")
        return path

    def record(self, name: str) -> RunRecord:
        """The record of a run, which stays open for the next who ask. Raises ConfigError."""
        folder = self.folder(name)
        with self._lock:
            record = self._records.pop(name, None) or RunRecord(folder)
            self._records[name] = record
            while len(self._records) > _OPEN:
                del self._records[next(iter(self._records))]
            return record

    def summary(self, name: str) -> RunSummary:
        """What the list has of one run. Raises ConfigError."""
        journal = self.folder(name) / "run" / JOURNAL
        with self._lock:
            return self._summarize(name, _state(journal) or (0, 0, 0))

    def status(self, name: str) -> str:
        """What the list has of how a run stands. Raises ConfigError."""
        return self.summary(name).status

    def page(self, *, text: str = "", status: str = "", company: str = "", number: int = 1) -> dict[str, Any]:
        """One page of the list, newest first, of the runs with `text` in name or task. While not all journals have
        been looked at, a list that is filtered has those that have: `looked` of `all`."""
        names = self._names()
        begin = PAGE * (number - 1)
        if text or status or company:
            looked = self._look_at(names)
            known = (one for name in names if (one := looked.get(name)))
            found = [one for one in known if one.fits(text.casefold().split(), status, company)]
            shown, most, seen = found[begin:begin + PAGE], len(found), len(looked)
        else:
            shown, most, seen = [self._now(name) for name in names[begin:begin + PAGE]], len(names), len(names)
        return {"runs": [asdict(one) for one in shown], "found": most, "all": len(names), "looked": seen,
                "page": number, **self._kinds()}

    def _look_at(self, names: list[str]) -> dict[str, RunSummary]:
        """The runs that are known, and as many others as a page may wait for."""
        until = time.monotonic() + _PATIENCE
        return {name: self._now(name) for name in names if name in self._known or time.monotonic() < until}

    def read_all(self) -> None:
        """Look at all journals; for a thread of its own."""
        for name in self._names():
            self._now(name)

    def _kinds(self) -> dict[str, list[str]]:
        known = [one.summary for one in tuple(self._known.values())]
        return {"companies": sorted({one.company for one in known if one.company}),
                "statuses": sorted({one.status for one in known if one.status})}

    def _names(self) -> list[str]:
        """The runs, those first of which something was written last."""
        with self._lock:
            if time.monotonic() - self._looked > _FRESH:
                self._journals = dict(_journals(self.root))
                self._looked = time.monotonic()
                for gone in self._known.keys() - self._journals.keys():
                    del self._known[gone]
            return sorted(self._journals, key=lambda name: (self._journals[name][0], name), reverse=True)

    def _now(self, name: str) -> RunSummary:
        with self._lock:
            return self._summarize(name, self._journals.get(name, (0, 0, 0)))

    def _summarize(self, name: str, state: tuple[int, int, int]) -> RunSummary:
        known = self._known.get(name)
        if known is None or known.end > state[1] or known.state[2] != state[2]:
            known = self._known[name] = _Known(RunSummary(name))
        if known.state != state:
            known.state = state
            _read_on(known, self.root / name / "run" / JOURNAL)
        summary = known.summary
        if summary.status in ("", "running", "waiting", "interrupted"):
            under_way = self._is_written(state)
            summary.status = ("waiting" if known.asked else "running") if under_way else "interrupted"
        return summary

    def _is_written(self, state: tuple[int, int, int]) -> bool:
        """Whether a process has the journal locked; taking the lock to find out might stop one that begins."""
        looked, locked = self._locked
        if time.monotonic() - looked > _FRESH:
            locked = _locked_inodes()
            self._locked = (time.monotonic(), locked)
        return time.time() - state[0] / 1e9 < _RECENT if locked is None else state[2] in locked


def _read_on(known: _Known, journal: Path) -> None:
    summary = known.summary
    try:
        with os.fdopen(open_plain(journal), "rb") as file:
            file.seek(known.end)
            while (line := file.readline(_LONGEST)).endswith(b"\n") or len(line) == _LONGEST:
                if problem := _read_line(line, known):
                    summary.status, summary.reason = "unreadable", problem
                    return
                known.end += len(line)
                while not line.endswith(b"\n") and (line := file.readline(_LONGEST)):  # the rest of a long one
                    known.end += len(line)
    except OSError as error:
        summary.status, summary.reason = "unreadable", error.strerror or str(error)


def _read_line(line: bytes, known: _Known) -> str:
    """Count a line; what is wrong with it. Only lines that the list needs are parsed."""
    head = _HEAD.match(line)
    if head is None:
        return "the journal is damaged, or none of chatdev"
    if int(head[1]) != SCHEMA:
        return (f"written with version {int(head[1])} of the journal's form, and this chatdev reads version {SCHEMA}; "
                "look at it with the chatdev that wrote it")
    known.summary.last = (head[2] or b"").decode("ascii", "replace")
    if head[3] in _TOLD and line.endswith(b"\n"):
        try:
            record = json.loads(line.decode("utf-8", "surrogatepass"))
            known.summary.add(head[3].decode(), record)
        except (ValueError, RecursionError):
            return "the journal is damaged"
        if head[3] == b"PersonAsked":
            known.asked.add(str(record.get("id")))
        elif head[3] == b"PersonAnswered":
            known.asked.discard(str(record.get("id")))
    return ""


def _journals(root: Path) -> Iterator[tuple[str, tuple[int, int, int]]]:
    """The names of runs, with time, size and inode of their journals."""
    try:
        entries = list(os.scandir(root))
    except OSError as error:
        raise ConfigError(f"cannot read {root}: {error.strerror}") from error
    for entry in entries:
        if not entry.name.startswith(".") and (state := _state(f"{entry.path}/run/{JOURNAL}")) \
                and not entry.is_symlink():
            yield entry.name, state


def _state(journal: Path | str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(journal, follow_symlinks=False)  # noqa: PTH116 - ten thousand of them, and a Path costs
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _locked_inodes() -> frozenset[int] | None:
    """The inodes of files that some process has locked; None where the system does not tell."""
    try:
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
        fields = (line.split() for line in lines)
        return frozenset(int(row[5].rpartition(":")[2]) for row in fields if row[1:2] == ["FLOCK"])
    except (OSError, ValueError, IndexError):
        return None


# Studies of `chatdev eval`: variants beside each other on the same tasks, with the run behind each figure.

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
