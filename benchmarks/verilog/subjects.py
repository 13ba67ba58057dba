"""What the studies of the Verilog tools work on: a right design, and the bench that is hidden from agents.

VerilogEval's references were looked at while the tools were made. The twenty designs of `data/verilog_twenty` were
written without a look at the tools: specification, design, bench, and what is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from benchmarks.study import ROOT
from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.simulation import reference_as_answer
from chatdev.departments.verilog.target import Target
from chatdev.departments.verilog.verilogeval import VerilogEval

DATA = ROOT / "benchmarks" / "data" / "verilogeval_v2.tar.gz"
DESIGNS = ROOT / "benchmarks" / "data" / "verilog_twenty"


@dataclass(frozen=True, slots=True)
class Subject:
    """A right module as it would be answered, its specification, and its bench."""

    name: str
    specification: str
    text: str
    bench: HiddenBench


def verilogeval_subjects() -> list[Subject]:
    """The 156 references of VerilogEval."""
    return [Subject(one.name, one.prompt, reference_as_answer(one.reference), HiddenBench(one.bench, one.reference))
            for one in VerilogEval(DATA).problems()]


def designs() -> list[Subject]:
    """The twenty designs; each is its own reference."""
    return [_read_design(folder) for folder in sorted(DESIGNS.iterdir()) if folder.is_dir()]


def _read_design(folder: Path) -> Subject:
    text, about = (folder / "design.sv").read_text(), yaml.safe_load((folder / "about.yaml").read_text())
    below = folder / "given"
    files = (path for path in sorted(below.rglob("*")) if path.is_file())
    given = {path.relative_to(below).as_posix(): path.read_text() for path in files}
    bench = HiddenBench((folder / "tb.sv").read_text(), text, Target.named(about["top"], given))
    return Subject(folder.name, (folder / "spec.md").read_text(), text, bench)
