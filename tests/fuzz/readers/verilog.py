"""Readers of Verilog, of what its simulator prints and writes, and of plans and specifications."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import islice

from chatdev.departments.verilog.answer import Answer, NoAnswer, broken_rules, normalise
from chatdev.departments.verilog.bench import HiddenBench, dump_everything
from chatdev.departments.verilog.bench_report import BenchReport
from chatdev.departments.verilog.design.records import Part, Trigger
from chatdev.departments.verilog.equivalence import SeenDifferences
from chatdev.departments.verilog.identify import ELEMENTS, WaveTable, contradictions, observations
from chatdev.departments.verilog.plan import (
    Extraction,
    Plan,
    bare_id,
    build_graph,
    find_gaps,
    find_task,
    join_loose,
    merge_links,
    parse,
    repair_plan,
    unlinked_nodes,
)
from chatdev.departments.verilog.simulators import read_compilation
from chatdev.departments.verilog.specification import declared_names, identifiers, listed_ports
from chatdev.departments.verilog.target import module_names
from chatdev.departments.verilog.tracing.trace import History
from chatdev.departments.verilog.waveform.comparison import merge_reference
from chatdev.departments.verilog.waveform.picture import draw_diagram, render_table
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.errors import ToolError
from chatdev.sandbox.base import Execution
from tests.fuzz.readers.reader import Reader, value_in, write

VERILOG = ["module TopModule(", "endmodule", "macromodule ", "module ", "input ", "output ", "logic ", "[7:0] ", "a",
           ", ", ");", "(", ")", ";", "//", "/*", "*/", '"', "\\a+b ", "\\", "`define A", "`A", "`", "$display(",
           "$", "tb.", ".", "#", "@", "always ", "static ", "assign ", "=", "begin ", "end ", " ", "\n", "\t",
           "force ", "\0", "é", "1'b0", "{", "}", "$finish;", "initial ", "if (", "1", "generate ", "for ("]
SPECIFICATION = [" - input ", " - output ", "inout ", "`", "input`:", "wire ", "reg ", "[7:0] ", "[", "]",
                 "(8 bits)", "(", ")", "8", "-", "bits", "a", " ", "\n", "\t", "|", ":", ",", "*", "1.", "module a ",
                 "module ", "#(", ";", "\\x+", "'b01", "'", "clk", "_", "é", "•"]
COMPILER = ["top.sv:3: ", "top.sv:", "error: ", "warning: ", "syntax error", "\n", " : ", ":3: : ",
            "3 error(s) during ", "elaboration.", "I give up.", "*** ", " x referenced 3 times.", "referenced ",
            "times.", "a", "  ", "9" * 40, ":", "Unable to bind ", "port ``q'' ", "is not a port of ",
            "Unknown module type: ", "\r", "\0", "é", "tb.", "/"]
BENCH = ["Hint: Output 'q' has ", "Hint: Output '", "' has ", "no mismatches.",
         "3 mismatches. First mismatch occurred at ", "time 5.", "Mismatches: ", "3 in 5 samples",
         "Simulation finished at ", "9" * 40, "\n", " ", "q", "$dumpvars", "$dumpvars(", "$dumpfile", "(", ")", ";",
         "module tb ", "TopModule ", "#(", "`timescale 1ns", "/", "TopModule", "a"]
DUMP = ["$date ", "$end\n", "$timescale 1ps $end\n", "$scope module tb $end\n", "$upscope $end\n",
        "$var wire 1 ! a $end\n", "$var wire 8 # q [7:0] $end\n", "$var ", "$enddefinitions $end\n", "#0\n", "#5\n",
        "#", "1!\n", "0!\n", "x!\n", "b1010 #\n", "b", "r1.5 !\n", "$dumpvars\n", "$comment ", "\n", " ", "9" * 40,
        "1" * 80, "\\a+b ", "!", "\0", "\xff", "$end"]
HEADER = "".join(f"{line} $end\n" for line in (
    "$timescale 1ps", "$scope module tb", "$var wire 1 ! a", "$var wire 8 # q [7:0]", "$upscope", "$enddefinitions"))
PLANS = ['{"subtasks": [', '{"content": "', '", "id": "', '", "source": "', '", "parents": ["', '"]}, ', "]}", "1",
         "Task 1", "sub-task #", "a b c d ", "the output q", " ", "\\n", '"', "{", "}", "[", "]", ",", ":", "q", "-",
         "#", ".", "null", '{"content": "a", "id": "1", "parents": ["2"]}, ',
         '{"content": "b", "id": "2", "parents": ["1"]}, ', "é", "\\u0000"]
ROWS = ["0", "1", "x", "2", ",", " ", "a"]
TASK = " - input clk\n - input a (8 bits)\n - output q (8 bits)\nThe output q is a delayed by one rising edge of clk.\n"


def source(text: str) -> None:
    """The text of an answer."""
    try:
        answer = normalise(Answer("top.sv", text))
    except NoAnswer:
        return
    lines = text.count("\n") + text.count("\r") + 1
    assert all(0 <= message.line <= lines for message in broken_rules(answer.text, answer.text, {"a"}))
    module_names(answer.text)


def specification(text: str) -> None:
    """The ports and names of a specification."""
    for port in listed_ports(text):
        assert port["direction"] in ("input", "output", "inout")
    identifiers(text)
    declared_names(text)
    bare_id(text)


def compiler_log(text: str) -> None:
    """What the compiler printed."""
    result = read_compilation(Execution(1, None, "", text, 0.1))
    assert all(message.text for message in result.messages)


def bench_report(text: str) -> None:
    """What a bench printed, and a bench itself."""
    report = BenchReport.read(text)
    assert report.share <= 1 or report.samples == 0
    assert dump_everything(text, "tb")[0].count("\n") == text.count("\n")
    bench = HiddenBench(text).marked("mark")
    said = BenchReport.read_lines(bench.lines_of(text), text, complains=bench.complains, right=report)
    assert 0 <= said.share <= 1


def waveform(text: str) -> None:
    """A file of waves: its header, its changes, the table and the picture of them."""
    path = write("wave.vcd", text)
    with suppress(ToolError):
        waves = Waves.open(path)
        names = [*waves.signals][:4]
        waves.values_at(names, 7)
        render_table(waves, names, 7)
        draw_diagram(waves, names, [5], start=0, end=100)


def two_waveforms(text: str) -> None:
    """The same file as what answer and reference did: merged, where both differ, and the past that a trace asks for."""
    path = write("wave.vcd", text)
    with suppress(ToolError):
        found = merge_reference(path, path, "tb", ["q", "a", "v"], path.with_name("merged.vcd"))
        merged = Waves.open(path.with_name("merged.vcd"))
        assert found == [] or "z" in text.lower()  # a bench that compares finds two `z` different
        may_differ = re.search("(?i)z|_ref|_dut", text)  # z accepts none, and a pair of the file's own may differ
        assert may_differ or not SeenDifferences.find(merged, "tb", 100).every
        assert merged.path.stat().st_size < 1000 + 40 * len(text.encode("utf-8", "surrogatepass"))
    with suppress(ToolError):
        waves = Waves.open(path)
        SeenDifferences.find(waves, "tb", 100)
        history = History.of(waves, "tb", ["q", "a", "v", "u.a"], 50)
        clock = (Trigger("posedge", Part("a", 0, 1), 1),)
        for sample in islice(history.samples_at_triggers(clock, 50), 100):
            history.value_before(Part("q", 0, 8), sample.until)


def task_plan(text: str) -> None:
    """A plan of sub-tasks, and the graph that is made of it."""
    with suppress(ToolError):
        tasks, notes = repair_plan(parse(Plan, value_in(text)))
        gaps = find_gaps(tasks, notes, TASK)
        tasks = join_loose(tasks, [*gaps.vague, *gaps.unquoted], notes)
        graph = build_graph(tasks, parse(Extraction, {"signals": [{"name": "output q", "about": text[:5000]}]}))
        merge_links(graph, [{"from": "task 1", "to": text[:100]}])
        unlinked_nodes(graph)
        find_task(text[:5000], {task.id: task.content for task in tasks})


def extraction(text: str) -> None:
    """Signals and facts that a model found."""
    with suppress(ToolError):
        graph = build_graph([], parse(Extraction, {"signals": [{"name": name} for name in text.split("\n")],
                                                   "examples": [{"text": text}]}))
        merge_links(graph, value_in(text) if isinstance(value_in(text), list) else [])
        unlinked_nodes(graph)


def columns(text: str) -> None:
    """A waveform as a table, of which an element is told."""
    values = text.split(",")
    with suppress(ToolError):
        table = WaveTable.of([*"01" * (len(values) // 2 + 1)][:len(values)], values, {"d": values[::-1], "e": values})
        for element in ELEMENTS:
            contradictions(table, element)
            observations(table, element)


READERS = {
    "Verilog": Reader(source, VERILOG, ("{}", "module TopModule({});endmodule", "/*{}")),
    "specification": Reader(specification, SPECIFICATION, ("{}", "module a({});", " - input {}")),
    "log of the compiler": Reader(compiler_log, COMPILER, ("{}", "top.sv:3: error: {}")),
    "report of a bench": Reader(bench_report, BENCH, ("{}", "$dumpvars({}")),
    "waveform": Reader(waveform, DUMP, ("{}", HEADER + "{}", "$scope module tb $end\n{}")),
    "two waveforms": Reader(two_waveforms, DUMP, ("{}", HEADER + "{}", "$scope module tb $end\n{}")),
    "plan of sub-tasks": Reader(task_plan, PLANS, ("{}", '{"subtasks": [{}]}', '{"subtasks": [{"content": "{}"}]}')),
    "extraction": Reader(extraction, [*SPECIFICATION, "output q", "{", '"from"', "signal a", "task 1"]),
    "columns of a waveform": Reader(columns, ROWS, ("{}", "0,1,{}")),
}
