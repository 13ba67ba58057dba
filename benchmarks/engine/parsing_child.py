"""What it costs to read what models wrote in a child, beside reading it in this process.

    python -m benchmarks.engine.parsing_child

A Python file of 200 and of 2,000 lines, read into an Outline and compiled, and a Verilog module looked through; each
text is another one, and the two ways take turns. Milliseconds by the clock that nine of ten calls take at least, so
that other programs count little; and how long a child takes until it has read its first text. Prints a table and writes
benchmarks/results/parsing_child.json.
"""

from __future__ import annotations

import os
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.study import RESULTS_FOLDER, machine, markdown_table, write_results
from chatdev.departments.verilog.slang import find_names
from chatdev.isolation import parent
from chatdev.replies.python.reader import read
from chatdev.workspace.python_facts import fault_in_python

TIMES, STARTS = 200, 10
_WARMING = 3  # calls that do not count
_FUNCTION = """\
def part_{number}(given, *, limit=10):
    \"\"\"Gather what is given, up to a limit.\"\"\"
    found = [given]
    for value in range(limit):
        if value % 2:
            found.append({{"value": value, "text": f"{{value}} of {{limit}}"}})
    return found


"""
_LINES = _FUNCTION.count("\n")
_MODULE = """\
module TopModule(input clk, input [7:0] a, output reg [7:0] q);
wire [7:0] next_{number} = a + 8'd{digit};
always @(posedge clk) q <= next_{number};
endmodule
"""


def python_text(lines: int, number: int) -> str:
    """A program of so many lines; every number gives another."""
    return "".join(_FUNCTION.format(number=number * 1000 + part) for part in range(lines // _LINES))


READERS: dict[str, tuple[Any, Callable[[int], tuple[object, ...]]]] = {
    "200 lines of Python, outline": (read, lambda number: (python_text(200, number),)),
    "200 lines of Python, compiled": (fault_in_python, lambda number: (python_text(200, number).encode(), "main.py")),
    "2,000 lines of Python, outline": (read, lambda number: (python_text(2000, number),)),
    "2,000 lines of Python, compiled": (fault_in_python, lambda number: (python_text(2000, number).encode(), "a.py")),
    "a small Verilog module, names": (find_names, lambda number: (_MODULE.format(number=number, digit=number % 9),)),
}


def warm_times(function: Any, arguments: Callable[[int], tuple[object, ...]], times: int) -> dict[str, float]:
    """What calls here and in the child take, in milliseconds."""
    ways: dict[str, Callable[..., object]] = {"here": function.__wrapped__, "child": function}
    taken: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(times + _WARMING):
        given = arguments(number)
        for way, call in ways.items():
            started = time.perf_counter()
            call(*given)
            taken[way].append(1000 * (time.perf_counter() - started))
    return {way: round(_quick(seconds[_WARMING:]), 2) for way, seconds in taken.items()}


def _quick(times: list[float]) -> float:
    return statistics.quantiles(times, n=10)[0]


def start_times(function: Callable[..., object], given: tuple[object, ...], starts: int) -> tuple[float, float]:
    """Until a new child has read its first text: milliseconds by the clock, and of a processor."""
    by_clock, of_processor, ask = [], [], parent.ask
    for _ in range(starts):
        reader, before = parent.Reader(), _children_seconds()
        parent.ask = reader.ask
        started = time.perf_counter()
        function(*given)
        by_clock.append(1000 * (time.perf_counter() - started))
        reader.end()
        of_processor.append(1000 * (_children_seconds() - before))
    parent.ask = ask
    return round(_quick(by_clock), 1), round(_quick(of_processor), 1)


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(times: int = TIMES, starts: int = STARTS) -> dict[str, Any]:
    """The study."""
    warm = {name: warm_times(function, arguments, times) for name, (function, arguments) in READERS.items()}
    start = {name: start_times(READERS[name][0], READERS[name][1](0), starts)
             for name in ("200 lines of Python, outline", "a small Verilog module, names")}
    return {"machine": machine(), "load": round(os.getloadavg()[0], 1), "times": times, "milliseconds": warm,
            "start": start}


def table(study: dict[str, Any]) -> str:
    """What was measured, for people."""
    warm = markdown_table(["text, warm", "in this process, ms", "in the child, ms", "difference, ms"],
                          [(name, row["here"], row["child"], round(row["child"] - row["here"], 2))
                           for name, row in study["milliseconds"].items()])
    start = markdown_table(["first text of a new child", "by the clock, ms", "of a processor, ms"],
                           [(name, *times) for name, times in study["start"].items()])
    return f"{warm}\n\n{start}"


if __name__ == "__main__":
    result = measured()
    write_results(RESULTS_FOLDER / "parsing_child.json", result)
    print(table(result))
