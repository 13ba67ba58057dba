"""The twenty designs: benches of any style are understood, and nothing that is right is told to be a mistake."""

from __future__ import annotations

import pytest
import yaml

from benchmarks.verilog.subjects import DESIGNS, Subject, designs
from chatdev.departments.verilog.answer import lint, outside_names, undriven_signals
from chatdev.departments.verilog.bench import add_parameters, read_target
from chatdev.departments.verilog.specification import port_differences

TWENTY = designs()
each = pytest.mark.parametrize("subject", TWENTY, ids=lambda subject: subject.name)


def test_there_are_twenty() -> None:
    assert len(TWENTY) == 20


@each
def test_a_bench_is_understood(subject: Subject) -> None:
    about = yaml.safe_load((DESIGNS / subject.name / "about.yaml").read_text())
    bench = subject.bench
    assert bench.layout.root == about["bench_top"]
    assert set(bench.layout.missing) == {about["top"]}
    assert read_target({"bench": bench.text, "given": dict(bench.target.given)}).top == about["top"]
    assert bench.can_be_marked


@each
def test_nothing_is_told_of_a_right_design(subject: Subject) -> None:
    target = add_parameters(subject.bench, subject.text).including(subject.text)
    assert lint(subject.text, target) == []
    assert outside_names(subject.text, target) == []
    assert undriven_signals(subject.text, target) == []
    assert [one for one in port_differences(subject.text, subject.specification, subject.bench.target)
            if one.severity == "error"] == []
