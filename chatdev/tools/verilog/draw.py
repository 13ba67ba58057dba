"""`verilog.draw`: the waveforms around the first mismatch, as a picture for the run's report."""

from __future__ import annotations

import hashlib
from itertools import islice
from typing import Any

from chatdev.tools.base import ToolContext, throwaway_copy
from chatdev.tools.function import tool
from chatdev.tools.verilog.answer import Answer, Refused, answer_of
from chatdev.tools.verilog.bench import BenchReport
from chatdev.tools.verilog.design.design import Design
from chatdev.tools.verilog.design.elaborate import DesignError
from chatdev.tools.verilog.mismatch import columns_of, scope_of, wrong_outputs
from chatdev.tools.verilog.simulation import simulate
from chatdev.tools.verilog.waveform.picture import diagram
from chatdev.tools.verilog.waveform.vcd import Waves
from chatdev.workspace.file_tree import explain_os_errors

_BEFORE, _CHANGES = 24, 160  # rows before a mismatch; changes of signals from the start where there is none
_MOST = 12  # signals besides the outputs


@tool(reads=("software",))
def draw(context: ToolContext) -> dict[str, Any]:
    """Draw how the inputs and outputs of the Verilog module `TopModule` change in the test bench, with reference and
    answer of each output next to each other and mismatches marked.

    The picture is a file of the run folder, and stands in its report; there is none without a bench, and for a module
    that cannot be simulated.
    """
    bench, reference = context.inputs.get("bench"), context.inputs.get("reference")
    try:
        answer = answer_of(context.software)
    except Refused:
        return {"pictures": {}}
    if not bench:
        return {"pictures": {}}
    with throwaway_copy(context.scratch, {}) as folder:
        found = simulate(answer.text, bench, reference, context.sandbox, folder, dump=True)
        if found.report is None or found.waves is None:
            return {"pictures": {}}
        title, picture = _drawn(answer, bench, found.report, Waves.open(found.waves))
    name = f"waves-{hashlib.sha256(answer.text.encode()).hexdigest()[:8]}.svg"
    with explain_os_errors("write", context.run_folder / name):
        (context.run_folder / name).write_text(picture, encoding="utf-8")
    return {"pictures": {title: name}}


def _drawn(answer: Answer, bench: str, report: BenchReport, waves: Waves) -> tuple[str, str]:
    """The picture's title and SVG."""
    inputs, outputs = _signals(answer, waves, bench, report)
    wrong = wrong_outputs(report, waves, bench)
    sides = [side for name in outputs for side in columns_of(name, waves)]
    start, end = _window([*inputs, *sides], waves, wrong[0].sampled if wrong else None)
    title = f"Waveforms up to the first mismatch, at {wrong[0].time}" if wrong else "Waveforms"
    return title, diagram(waves, [*inputs, *sides], [one.sampled for one in wrong], start=start, end=end)


def _signals(answer: Answer, waves: Waves, bench: str, report: BenchReport) -> tuple[list[str], list[str]]:
    """Full names of the answer's inputs as the waveform has them, and names of its outputs, the wrong ones first."""
    scope = scope_of(bench)
    try:
        ports = Design.of(answer.text).ports
    except DesignError:
        ports = ()
    inputs = [f"{scope}.{port.name}" for port in ports if port.direction == "in"]
    outputs = sorted(report.outputs, key=lambda name: not report.outputs[name].count)
    return [name for name in inputs if name in waves.signals][:_MOST], outputs[:_MOST]


def _window(names: list[str], waves: Waves, mismatch: int | None) -> tuple[int, int]:
    """The part of the waveform that is drawn: some rows up to the mismatch and a little more, else the beginning."""
    if mismatch is None:
        times = [time for time, _, _ in islice(waves.changes(names), _CHANGES)]
        return 0, max(times, default=0) + 1
    rows = waves.rows_before(names, mismatch, _BEFORE)
    start = rows[0].time if rows else 0
    return start, mismatch + max(1, (mismatch - start) // 8)

