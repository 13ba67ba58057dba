"""The programs that the studies run on: the examples, the reference sheets, and the benchmark's references."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.plc.sheets import Snippet, read_examples, read_sheets
from benchmarks.study import ROOT
from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.proof.properties import read_properties
from chatdev.departments.plc.simulation.test_cases import read_tasks

DATA = ROOT / "benchmarks" / "data" / "agents4plc"


@dataclass(frozen=True, slots=True)
class Subject:
    """A program with what is asked of it."""

    name: str
    source: str
    asked: Sequence[Property]


def read_references() -> list[dict[str, Any]]:
    """The benchmark's tasks that have a reference, by their ids."""
    return read_tasks((DATA / "benchmark_v2" / "high-fidelity.jsonl").read_text(encoding="utf-8"))


def reference_of(task: dict[str, Any]) -> Subject:
    """The reference of a task with the task's properties."""
    return Subject(task["id"], task["ground_truth"], read_properties(task.get("properties_to_be_validated", [])))


def examples() -> Iterator[Subject]:
    """The company's examples."""
    return map(_subject_of, read_examples())


def sheets() -> Iterator[Subject]:
    """The programs of the reference sheets of which something is claimed."""
    return (_subject_of(snippet) for snippet in read_sheets() if snippet.properties)


def _subject_of(snippet: Snippet) -> Subject:
    asked = [one for text in snippet.properties for one in read_properties(text)]
    return Subject(snippet.place, snippet.source, asked)
