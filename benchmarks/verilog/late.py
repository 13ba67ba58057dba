"""Benches that complain late, memories that are written at the edge at which the bench changes their inputs, and
registers that two blocks write: does a trace begin where the bench first minds a difference, and is the mistake told?

Benches of our own (`data/verilog_late`), each with mistakes made by hand, and with `--problems` those of VerilogEval,
which are made to print nothing but one word at their end. *Begins right* is a trace that begins at the very first
difference that there is, or, of VerilogEval, at the latest at the first mismatch that the bench as it was reported.
*Omits* is a report which says that nothing lies further back, though a line of all that may lead there is neither shown
nor named.

    python -m benchmarks.verilog.late [--write] [--problems 40] [--processes 2]
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptStudy, machine, markdown_table, marks
from benchmarks.verilog.localise import order_in_turns
from benchmarks.verilog.mutants import Mutant, mutants
from benchmarks.verilog.subjects import Subject, verilogeval_subjects
from chatdev.departments.verilog.answer import Answer
from chatdev.departments.verilog.bench import HiddenBench, add_parameters
from chatdev.departments.verilog.compilation import SIMULATING
from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.equivalence import SeenDifferences, find_minded
from chatdev.departments.verilog.mismatch import explain_result
from chatdev.departments.verilog.simulation import simulate_answer
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.isolation.isolate import read_here
from chatdev.sandbox.kinds import find_sandbox

DESIGNS = ROOT / "benchmarks" / "data" / "verilog_late" / "designs.yaml"
LEVELS = (3, 8)
_PRINTS = re.compile(r"(?:if \(stats1\.errors_\w+\) |else )?"
                     r"\$display\(\"(?:Hint|Simulation finished|Mismatches):?[^;]*;")
_SPOKEN = 'if (stats1.errors != 0) $display("FAIL"); else $display("PASS");'
_LIMITS = replace(SIMULATING, cpu=20)


@dataclass(frozen=True, slots=True)
class Row:
    """A mistake that the bench told at `complaint`: whether the trace begins right, for each of `LEVELS` whether its
    line is shown, and whether any report omits something."""

    subject: str
    operator: str
    line: int
    complaint: int | None
    begins: int | None
    begins_right: bool
    shows: list[bool]
    omits: bool


def own_cases() -> list[tuple[Subject, list[Mutant]]]:
    """The designs of our own with their mistakes."""
    found = []
    for row in yaml.safe_load(DESIGNS.read_text(encoding="utf-8")):
        text = row["module"]
        subject = Subject(row["name"], "", text, HiddenBench(row["bench"], text))
        found.append((subject, [_mistake(text, **one) for one in row["mistakes"]]))
    return found


def _mistake(text: str, old: str, new: str, at: str | None = None) -> Mutant:
    if old not in text:
        raise ValueError(f"{old!r} is not in the module; mend {DESIGNS.name}")
    changed = text.replace(old, new, 1)
    return Mutant("by hand", changed, changed[:changed.index(at or new)].count("\n") + 1)


def late_bench(bench: HiddenBench) -> HiddenBench:
    """A bench of VerilogEval that only says at its end whether all is well."""
    text, count = _PRINTS.subn("", bench.text)
    final = text.find("final begin")
    if not count or final < 0:
        raise ValueError("this is no bench of VerilogEval")
    start = final + len("final begin")
    return replace(bench, text=f"{text[:start]}\n{_SPOKEN}{text[start:]}")


def rows_of_own(case: tuple[Subject, list[Mutant]]) -> list[Row]:
    """The rows of a design of our own."""
    read_here()
    subject, some = case
    return [row for mutant in some if (row := _row_of(subject, mutant, subject.bench, None))]


def rows_of_problem(subject: Subject) -> list[Row]:
    """The rows of up to two mutants of a problem that its bench rejects."""
    read_here()
    found, bench = list[Row](), replace(subject.bench, target=add_parameters(subject.bench, subject.text))
    for mutant in order_in_turns(mutants(subject.text, bench.target), subject.name):
        first = _first_mismatch(mutant, bench)
        if first is not None and (row := _row_of(subject, mutant, late_bench(bench), first)):
            found.append(row)
        if len(found) == 2:
            break
    return found


def _first_mismatch(mutant: Mutant, bench: HiddenBench) -> int | None:
    """When the bench as it is reports the first one."""
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        result = simulate_answer(mutant.text, bench, find_sandbox(), Path(folder), limits=_LIMITS)
    outputs = result.report.outputs.values() if result.report else ()
    return min((one.first_time for one in outputs if one.first_time is not None), default=None)


def _row_of(subject: Subject, mutant: Mutant, bench: HiddenBench, first: int | None) -> Row | None:
    answer = Answer("top.sv", mutant.text)
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        result = simulate_answer(mutant.text, bench, find_sandbox(), Path(folder), dump=True, limits=_LIMITS)
        if result.outcome != "mismatches" or result.waves is None or result.report is None:
            return None
        minded = find_minded(result, answer, bench, find_sandbox(), Path(folder))
        said = [explain_result(answer, bench, result, levels, minded=minded) for levels in LEVELS]
        every = SeenDifferences.find(Waves.open(result.waves), bench.layout.root).every
    begins, complaint = said[0].evidence.get("time"), result.report.first_complaint
    is_right = begins is not None and (
        begins == every[0].time if first is None else any(one.time == begins <= first for one in every))
    return Row(subject.name, mutant.operator, mutant.line, complaint.time if complaint else None, begins, is_right,
               [re.search(rf"^ *{mutant.line} \|", one.report, re.MULTILINE) is not None for one in said],
               any(_omits(one.report, mutant.text, bench, str(one.evidence.get("output"))) for one in said))


def _omits(report: str, text: str, bench: HiddenBench, output: str) -> bool:
    """Whether it says that nothing lies further back, and leaves out a line of what may lead to the output."""
    if "lies further back" not in report or "More lies further back" in report:
        return False
    try:
        design = Design.of(text, bench.target)
        cone = design.cone_of(design.part(output))
    except DesignError:
        return False
    return not cone <= set(_told_lines(report))


def _told_lines(report: str) -> Iterator[int]:
    """The lines that it shows or names."""
    yield from map(int, re.findall(r"^ *(\d+) \|", report, re.MULTILINE))
    for said in re.findall(r"\blines? (\d[\d, –]*)", report):
        for first, last in re.findall(r"(\d+)(?:–(\d+))?", said):
            yield from range(int(first), int(last or first) + 1)


def told(results: Mapping[str, Any]) -> str:
    """By set: traces that begin right, mistakes that are shown, and reports that omit something."""
    table = markdown_table(
        ["benches", "mistakes that are told", "the trace begins at the very first difference",
         *(f"shown within {level}" for level in LEVELS), "reports that omit something"],
        [(name, len(rows), sum(row["begins_right"] for row in rows),
          *(sum(row["shows"][at] for row in rows) for at in range(len(LEVELS))), sum(row["omits"] for row in rows))
         for name, rows in results["rows"].items()])
    return f"{table}\n\n{results['date']}; {results['machine']}."


def measure(processes: int, problems: int) -> dict[str, Any]:
    """The rows of our own designs, and of about so many problems of VerilogEval."""
    every = verilogeval_subjects()
    some: Sequence[Subject] = every[::max(1, len(every) // problems)]
    with ProcessPoolExecutor(processes) as pool:
        own, late = pool.map(rows_of_own, own_cases()), pool.map(rows_of_problem, some)
        rows = {"of our own": _flat(own), "VerilogEval, one word at the end": _flat(late)}
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "rows": rows}


def _flat(found: Iterable[list[Row]]) -> list[dict[str, Any]]:
    return [asdict(row) for rows in found for row in rows]


STUDY = KeptStudy(told, RESULTS_FOLDER / "verilog_late.json", DOCS / "verilog.md",
                  marks("late", "verilog.late"), measure,
                  {"processes": (2, "at a time"), "problems": (40, "of VerilogEval")})

if __name__ == "__main__":
    STUDY.main(__doc__)
