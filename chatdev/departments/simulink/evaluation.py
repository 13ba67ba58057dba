"""Our models as a data set (a picture, a description or a list of each, and how near to it comes what is made of it),
beside the paper's figures."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from chatdev.departments.simulink.acceptance import NO_SIGNAL, derive_acceptance
from chatdev.departments.simulink.agreement import to_investigation
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.execute import BuildResult, execute_program
from chatdev.departments.simulink.experiment import isolated_experiment
from chatdev.departments.simulink.metric import Agreement, compare, count_connections
from chatdev.departments.simulink.painter import draw_png
from chatdev.departments.simulink.reference_models import ReferenceModel, reference_models
from chatdev.errors import ConfigError, MissingProgram
from chatdev.evaluation.measure import Bench, FinishedRun, Row, statistics
from chatdev.evaluation.reporting.formats import format_mean
from chatdev.evaluation.reporting.study_results import ColumnSet, Results
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.variants import Variant
from chatdev.safe_text import sanitize
from chatdev.workspace.file_tree import Software, find_entry

Given = Literal["picture", "description", "list"]
Half = Literal["open", "unseen", "all"]
_TASKS: Mapping[Given, str] = {"picture": "Build the model that the picture shows.",
                               "list": "Build the model of the listed blocks and connections."}
_COLUMN_SET = "simulink"
_SMALL, _MIDDLE = 10, 20  # blocks
_NOTHING_MADE = Diagram("nothing")

COLUMNS = ColumnSet(
    about="Accuracy is equation 1 of SimuGen: the mean of the shares of blocks and of connections that were found "
          "again. Precision is the same mean over what was made, so that what is too much counts, and F1 is the "
          "harmonic mean of both. Runs: the program builds a model without an error; what does not run has made "
          "nothing. Exact: nothing is missing and nothing is too much. Simulates: simulating what was built fails in "
          "nothing. Accepted: its signals do what those of the right model do, to 1 % of their range; known where that "
          "simulates, and the signals bear the same names. A block counts with the parameters that its "
          "display name stands for; a net of physical ports has one connection less than it has ports.",
    metrics=("accuracy", "precision", "f1", "runs", "exact", "simulates", "accepted"), main="accuracy",
    compared=("accuracy", "f1", "runs"),
    statistics=("seconds", "tokens", "calls", "cost"),
    further=("block_recall", "block_precision", "block_f1", "connection_recall", "connection_precision",
             "connection_f1"),
    further_statistics=("prompt_tokens", "completion_tokens", "tool_calls"), per="exact",
    divided=(("size", "accuracy"), ("set", "accuracy")))

REVIEWER, LOCATOR = ("unit_test_review", "reexamine"), ("locate_fault",)
"""The phases of the agents that SimuGen's ablations leave out (arXiv 2506.15695, table 2)."""
_BY_AGENTS = ("writer", "inputs.writer.default=agents")
"""An input by which no tool takes an agent's place, and how it is set: the paper has agents alone."""


@dataclass(frozen=True, slots=True)
class SimulinkModels:
    """Our models, of one half or all; companies get of each what is `given`."""

    given: Given = "picture"
    half: Half = "open"
    name: str = "simulink"

    def tasks(self) -> Sequence[Task]:
        """All models as tasks, in their order; areas and categories are their domains."""
        return [Task(model.name, model.domain, model.domain, _TASKS.get(self.given, model.explanation))
                for model in reference_models().values() if self.half in (model.half, "all")]

    def inputs(self, task: Task) -> Mapping[str, bytes]:
        """The picture with its explanation, or the list; a description is the task itself."""
        model = self.model(task.name)
        if self.given == "picture":
            return {"picture": _picture(model.name), "explanation": model.explanation.encode("utf-8")}
        if self.given == "list":
            return {"list": json.dumps(to_investigation(model.diagram), indent=1).encode("utf-8")}
        return {}

    def verdict(self, task: Task, folder: Path, bench: Bench) -> Row:
        """How near the model that the delivered program builds comes to the one asked for, and what the run took.
        Blocking; raises JournalError, SandboxError and such."""
        run, asked = FinishedRun.read(folder), self.model(task.name)
        built = _build(run.software if run.has_delivered else Software({}), bench)
        return {"measures": _COLUMN_SET, "given": self.given, "set": asked.half, "size": _size(asked.diagram),
                "blocks": len(asked.diagram.blocks), "connections": count_connections(asked.diagram),
                **_figures(compare(asked.diagram, built.diagram or _NOTHING_MADE)), "runs": float(built.passed),
                "outcome": built.outcome, "detail": sanitize(built.message), "tool_calls": run.tool_calls,
                "model": ", ".join(run.models), "status": run.status, "reason": sanitize(run.reason),
                **_behaviour(task.name, built.diagram), **statistics(run)}

    def model(self, name: str) -> ReferenceModel:
        """The model of that name. Raises ConfigError."""
        found = reference_models()
        if name not in found or self.half not in (found[name].half, "all"):
            there = [model.name for model in found.values() if self.half in (model.half, "all")]
            raise ConfigError(f"there is no model {name!r} in the set {self.half!r}; there are: {', '.join(there)}")
        return found[name]


def add_review_ablations(found: Iterable[Variant]) -> Iterator[Variant]:
    """Each variant, followed by those of the paper: agents alone, where a tool can take their place; without the
    reviewer, the locator, and both, where there is such a phase."""
    for variant in found:
        yield variant
        company = variant.load().config
        name, change = _BY_AGENTS
        alone = (*variant.sets, change) if name in company.inputs else variant.sets
        if alone != variant.sets:
            yield _variant(variant, "by agents alone", alone)
        reviewer, locator = ([phase for phase in who if phase in company.phases] for who in (REVIEWER, LOCATOR))
        for what, phases in (("reviewer", reviewer), ("locator", locator), ("both", [*reviewer, *locator])):
            if phases and (what != "both" or (reviewer and locator)):
                yield _variant(variant, f"without {what}", alone, phases)


def _variant(variant: Variant, what: str, sets: tuple[str, ...], without: Sequence[str] = ()) -> Variant:
    model = variant.name.removeprefix(variant.short_name)
    return replace(variant, name=f"{variant.short_name} {what}{model}", sets=sets,
                   without=(*variant.without, *without))


def _build(software: Software, bench: Bench) -> BuildResult:
    """What comes of the delivered program; MATLAB is not asked, so that all are judged alike."""
    path = find_entry(software).path
    if path is None:
        return BuildResult(False, "no program was delivered", outcome="no_program")
    with tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as scratch:
        return execute_program(software[path].decode("utf-8", "replace"), sandbox=bench.sandbox, scratch=Path(scratch),
                               backend="builtin", name=path)


def _behaviour(name: str, built: Diagram | None) -> Row:
    """Whether what was built simulates, and does what the right model does; None where nobody knows."""
    if not (wanted := acceptance_of(name)):
        return {"simulates": None, "accepted": None}
    found = isolated_experiment(built.text(), wanted) if built else None
    if found is None or found.outcome in ("refused", "failed"):
        return {"simulates": 0.0, "accepted": 0.0}
    is_known = found.outcome == "simulated" and not any(one.why == NO_SIGNAL for one in found.judged)
    return {"simulates": None if found.outcome == "unknown" else 1.0,
            "accepted": float(found.passed) if is_known else None}


@functools.cache
def acceptance_of(name: str) -> str:
    """What the right model's own simulation gives, as YAML; empty where it does not simulate here."""
    model = reference_models()[name]
    try:
        found = isolated_experiment(model.diagram.text(), json.dumps(dict(model.simulation)))
    except MissingProgram:
        return ""
    is_right = found.outcome == "simulated"
    return json.dumps(derive_acceptance(found.results(), found.stop, settings=model.simulation)) if is_right else ""


def _figures(found: Agreement) -> Row:
    blocks, connections = found.blocks, found.connections
    return {"accuracy": found.accuracy, "precision": found.precision, "f1": found.f1, "exact": float(found.f1 == 1),
            "block_recall": blocks.recall, "block_precision": blocks.precision, "block_f1": blocks.f1,
            "connection_recall": connections.recall, "connection_precision": connections.precision,
            "connection_f1": connections.f1}


def _size(diagram: Diagram) -> str:
    count = len(diagram.blocks)
    return f"up to {_SMALL}" if count <= _SMALL else f"up to {_MIDDLE}" if count <= _MIDDLE else f"over {_MIDDLE}"


@functools.cache
def _picture(name: str) -> bytes:
    """A model's picture (PNG), as our painter draws it."""
    return draw_png(reference_models()[name].diagram)


# The figures of SimuGen's paper beside those of a study.

PAPER: Sequence[tuple[str, float, float | None, float | None]] = (
    ("SimuGen, o4-mini and o3-mini", 0.945, 0.17, 275.0),
    ("SimuGen, GPT-4.1", 0.832, None, None),
    ("  without reviewer", 0.862, None, None),
    ("  without locator", 0.839, None, None),
    ("  without both", 0.517, None, None),
)
"""Accuracy, cost in US dollars and seconds of a model (arXiv 2506.15695): means over its nine models."""
_DIFFERENT = """\
What differs: the models are our own, of the same nine sizes and of twenty more; the pictures are drawn by our painter;
programs run in our stand-in for MATLAB, which refuses some joins that MATLAB takes; of a physical net |net| - 1
connections count, where the paper's rule is not known; a block counts only with its defining parameters and ports."""
_COLUMNS = ("", "accuracy (all)", "models", "accuracy (the nine)", "models", "cost", "seconds")


def compare_with_paper(results: Results) -> str:
    """A table of accuracies, costs and times: the paper's, then those of each variant, over all its models and over
    those with the counts of the paper's nine."""
    lines = [_COLUMNS, *(_paper_line(*row) for row in PAPER), *(_line(results, name) for name in results.variants)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = ("  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width
                                                   in zip(line[1:], widths[1:], strict=True))]).rstrip()
             for line in lines)
    return "\n".join(["Beside the paper", *shown, _DIFFERENT])


def _paper_line(name: str, accuracy: float, cost: float | None, seconds: float | None) -> Sequence[str]:
    return (name, "–", "–", f"{accuracy:.3f}", "9", format_mean(cost, "cost"), format_mean(seconds, "seconds"))


def _line(results: Results, variant: str) -> Sequence[str]:
    rows = [row for row in results.rows if row.get("variant") == variant]
    nine = [row for row in rows if _is_of_the_nine(row)]
    return (variant, _mean(rows, "accuracy"), str(_count(rows)), _mean(nine, "accuracy"), str(_count(nine)),
            _mean(rows, "cost"), _mean(rows, "seconds"))


def _is_of_the_nine(row: Mapping[str, Any]) -> bool:
    model = reference_models().get(str(row.get("name")))
    return model is not None and bool(model.paper)


def _count(rows: Sequence[Mapping[str, Any]]) -> int:
    return len({row.get("name") for row in rows})


def _mean(rows: Sequence[Mapping[str, Any]], field: str) -> str:
    values = [float(row[field]) for row in rows if row.get(field) is not None]
    mean = fmean(values) if values else None
    return format_mean(mean, field) if field != "accuracy" or mean is None else f"{mean:.3f}"
