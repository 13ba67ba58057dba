"""How long it takes until all outputs of a source are traced, here and with pyverilog.

    python -m benchmarks.verilog.speed [--write]

The references of VerilogEval that pyverilog 1.3.0 can parse, each traced three levels deep over all drivers, without a
simulation. pyverilog is timed twice: as it comes, when it builds its parser for every file, and with one parser for all
files. Times are of the processor, one for each source. Writes benchmarks/results/verilog_speed.json and the table of
docs/verilog.md; needs pip install pyverilog==1.3.0.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from benchmarks.verilog.localise import LEVELS
from benchmarks.verilog.pyverilog import Parser, sliced
from benchmarks.verilog.subjects import DATA
from chatdev.departments.verilog import trace_drivers
from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.simulation import reference_as_answer
from chatdev.departments.verilog.verilogeval import VerilogEval

OURS = "pyslang"


def measured() -> dict[str, Any]:
    """Milliseconds of the sources by method."""
    parse = Parser()
    methods: Mapping[str, Callable[[str, list[str]], object]] = {
        OURS: lambda text, outputs: trace_drivers(text, outputs, levels=LEVELS).lines(),
        "pyverilog, one parser for all": lambda text, outputs: sliced(parse(text), outputs, LEVELS),
        "pyverilog, a parser for each": lambda text, outputs: sliced(Parser()(text), outputs, LEVELS)}
    sources = [reference_as_answer(problem.reference) for problem in VerilogEval(DATA).problems()]
    parsed = [text for text in sources if parse(text) is not None]
    return {"machine": machine(), "sources": len(sources), "parsed": len(parsed),
            "milliseconds": {name: _summary([_timed(method, text) for text in parsed])
                             for name, method in methods.items()}}


def _timed(method: Callable[[str, list[str]], object], text: str) -> float:
    outputs = [port.name for port in Design.of(text).ports if port.direction == "out"]
    started = time.process_time()
    method(text, outputs)
    return 1000 * (time.process_time() - started)


def _summary(times: Sequence[float]) -> dict[str, float]:
    return {"median": round(statistics.median(times), 2), "most": round(max(times), 2), "all": round(sum(times), 1)}


def told(study: Mapping[str, Any]) -> str:
    """The table for the page."""
    rows, ours = study["milliseconds"], study["milliseconds"][OURS]
    table = markdown_table(["traced with", "milliseconds a source (median)", "most", "times as long, all sources"],
                           [(method, f"{row['median']:.1f}", f"{row['most']:.1f}", f"{row['all'] / ours['all']:.1f}")
                            for method, row in rows.items()])
    return (f"{table}\n\nThe {study['parsed']} of {study['sources']} references that pyverilog can parse; pyslang "
            f"takes all of them. ({study['machine']})")


STUDY = KeptStudy(told, RESULTS_FOLDER / "verilog_speed.json", DOCS / "verilog.md",
                  marks("speed", "verilog.speed"), measured)

if __name__ == "__main__":
    STUDY.main(__doc__)
