"""The department of Verilog; as a library, `trace_drivers` names the lines behind a wrong output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chatdev.department import Command, Department

if TYPE_CHECKING:
    from chatdev.departments.verilog.tracing.trace import Trace

__all__ = ["department", "trace_drivers"]

department = Department(
    name="verilog",
    tools={
        "verilog.bench": "chatdev.departments.verilog.judge:check_bench",
        "verilog.check": "chatdev.departments.verilog.judge:check",
        "verilog.draw": "chatdev.departments.verilog.mismatch:draw",
        "verilog.equivalent": "chatdev.departments.verilog.equivalence:equivalent",
        "verilog.identify": "chatdev.departments.verilog.identify:identify",
        "verilog.judge": "chatdev.departments.verilog.judge:judge",
        "verilog.mend": "chatdev.departments.verilog.judge:mend",
        "verilog.minimise": "chatdev.departments.verilog.identify:minimise",
        "verilog.plan": "chatdev.departments.verilog.plan:review",
        "verilog.ports": "chatdev.departments.verilog.specification:ports",
        "verilog.relate": "chatdev.departments.verilog.plan:relate",
        "verilog.related": "chatdev.departments.verilog.plan:look_around",
        "verilog.retrieve": "chatdev.departments.verilog.plan:retrieve",
        "verilog.simulate": "chatdev.departments.verilog.judge:simulate",
        "verilog.trace": "chatdev.departments.verilog.mismatch:trace",
        "verilog.try": "chatdev.departments.verilog.judge:try_own_bench",
    },
    commands={
        "verilog": Command("chatdev.departments.verilog.commands:command",
                           "Check, lint, simulate, judge and trace modules in Verilog and SystemVerilog."),
    },
    mcp={
        "verilog_judge": "chatdev.departments.verilog.mcp_tools:judge",
        "verilog_trace": "chatdev.departments.verilog.mcp_tools:trace",
    },
    data_sets={
        "verilogeval": Command("chatdev.departments.verilog.eval_command:command",
                               "Run companies on the problems of VerilogEval v2 and judge their modules."),
    },
    columns="chatdev.departments.verilog.verilogeval:COLUMNS",
    checks="chatdev.departments.verilog.simulators:probes",
    views="chatdev.departments.verilog.mismatch:views",
)


def trace_drivers(text: str, outputs: Sequence[str], *, levels: int = 2, top: str = "TopModule",
                  waves: Path | None = None, time: int | None = None, scope: str | None = None) -> Trace:
    """Follow outputs of the module `top` back over what drives them, `levels` deep; what comes back prints as text.

    With a VCD or FST file only those assignments are named that were active just before a mismatch: at `time` (in units
    of the file), by default where `NAME_ref` and `NAME_dut` of any output first differ in it. `scope` is where the file
    has the signals of the module, by default the first that has all its ports. The source is read in this process, and
    not in a child with limits as tools do it: give none that you do not trust. Raises DesignError for a source that
    cannot be elaborated, WaveformError for a file that cannot be read or has no such scope or difference,
    MissingProgram for FST without GTKWave's `fst2vcd`, and ToolError for an output that is not there.
    """
    from chatdev.departments.verilog.design.design import Design
    from chatdev.departments.verilog.target import Target
    from chatdev.departments.verilog.tracing.search import trace_outputs
    from chatdev.departments.verilog.tracing.trace import History, Watch

    design = Design.of(text, Target(top))
    if waves is None:
        return trace_outputs(design, outputs, levels)
    from chatdev.cli.mcp.served import Served
    from chatdev.departments.verilog.mismatch import first_difference, scope_with
    from chatdev.departments.verilog.waveform.recorded import open_recorded

    with open_recorded(waves, Served([]).open_sandbox) as recorded:
        scope = scope or scope_with(recorded, {port.name: port.width for port in design.ports})
        time = first_difference(recorded, scope) if time is None else time
        history = History.of(recorded, scope, design.widths, time)
    return trace_outputs(design, [Watch(design.part(name), time) for name in outputs], levels, history)
