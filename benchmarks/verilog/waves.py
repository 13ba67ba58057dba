"""How fast a large waveform is read, and in how much memory: python -m benchmarks.verilog.waves [--megabytes 100]

A dump of a clock, a counter, sixteen registers of 16 bits and the two outputs that a bench compares. Every question is
answered by a process of its own, once of that file and once of a small one, which says how much of the memory is not
the file's. pywellen, a reader in Rust, answers as well where it is installed. Writes benchmarks/results/
verilog_waves.json and the table of docs/verilog.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptTable, machine, markdown_table, marks
from chatdev.departments.verilog.waveform.waves import Waves

NAMES = ["tb.clk", "tb.q_ref", "tb.q_dut", "tb.top.count", "tb.top.r3", "tb.top.r15"]
HALF_PERIOD = 5
SMALL = 1  # megabytes


def write_dump(path: Path, megabytes: float) -> int:
    """Write a dump of about that size and return its last time."""
    registers = [chr(ord("A") + number) for number in range(16)]
    declared = [f"$var wire {width} {code} {name} $end" for width, code, name in
                [(1, "!", "clk"), (16, '"', "q_ref [15:0]"), (16, "#", "q_dut [15:0]")]]
    inner = [f"$var reg 16 {code} r{number} [15:0] $end" for number, code in enumerate(registers)]
    with path.open("w", encoding="ascii") as file:
        file.write("\n".join(["$timescale 1ps $end", "$scope module tb $end", *declared, "$scope module top $end",
                              "$var reg 32 $ count [31:0] $end", *inner, "$upscope $end", "$upscope $end",
                              "$enddefinitions $end", ""]))
        cycle = 0
        while cycle % 1000 or file.tell() < megabytes * 1e6:
            cycle += 1
            code, value = registers[cycle % 16], f"b{cycle & 0xffff:b}"
            file.write(f"#{2 * cycle * HALF_PERIOD}\n1!\nb{cycle:b} $\n{value} {code}\n{value} \"\n{value} #\n"
                       f"#{(2 * cycle + 1) * HALF_PERIOD}\n0!\n")
    return (2 * cycle + 1) * HALF_PERIOD


def _ours_at_half(path: Path, last: int) -> None:
    Waves.open(path).values_at(NAMES, last // 2)


def _ours_before_the_end(path: Path, last: int) -> None:
    Waves.open(path).rows_before(NAMES, last, 20)


def _ours_all_changes(path: Path, last: int) -> None:
    deque(Waves.open(path).changes(NAMES), maxlen=0)


def _pywellen_at_half(path: Path, last: int) -> None:
    import pywellen
    found = {variable.full_name: variable for variable in pywellen.Waveform(str(path)).all_vars()}
    for name in NAMES:
        found[name].signal.value_at(last // 2 - 1)


QUESTIONS: Mapping[str, Callable[[Path, int], None]] = {
    "values at half": _ours_at_half, "20 rows before the end": _ours_before_the_end, "all changes": _ours_all_changes,
    "values at half, pywellen": _pywellen_at_half}


def answer(question: str, path: Path, last: int) -> dict[str, float]:
    """Seconds of CPU, and the most memory in MiB, of this process; for a process that does nothing else."""
    started = time.process_time()
    QUESTIONS[question](path, last)
    seconds = time.process_time() - started
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines())
    return {"seconds": round(seconds, 3), "peak_mib": round(int(status["VmHWM"].split()[0]) / 1024, 1)}


def _asked(question: str, path: Path, last: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.verilog.waves", "--answer", question, str(path), str(last)]
    figures: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, check=True, cwd=ROOT).stdout)
    return figures


def measured(megabytes: float) -> dict[str, Any]:
    """The study: each question of the large and of the small file."""
    questions = [name for name in QUESTIONS if "pywellen" not in name or find_spec("pywellen")]
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.vcd", Path(folder) / "small.vcd"
        last, last_of_small = write_dump(large, megabytes), write_dump(small, SMALL)
        rows = {}
        for name in questions:
            figures, little = _asked(name, large, last), _asked(name, small, last_of_small)
            rows[name] = {**figures, "more_mib": round(figures["peak_mib"] - little["peak_mib"], 1)}
        return {"machine": machine(), "megabytes": round(large.stat().st_size / 1e6, 1), "questions": rows}


def told(study: Mapping[str, Any]) -> str:
    """The table for the page."""
    columns = [f"question to a dump of {study['megabytes']:.0f} MB", "seconds of CPU", "memory, MiB",
               f"more than for one of {SMALL} MB, MiB"]
    return markdown_table(columns, [(name, f"{row['seconds']:.1f}", f"{row['peak_mib']:.0f}", f"{row['more_mib']:.1f}")
                                    for name, row in study["questions"].items()]) + f"\n\n({study['machine']})"


TABLE = KeptTable(told, RESULTS_FOLDER / "verilog_waves.json", DOCS / "verilog.md", marks("waves", "verilog.waves"))


def main() -> None:
    """Measure, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--answer", nargs=3, metavar=("QUESTION", "PATH", "LAST"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.answer:
        question, path, last = arguments.answer
        print(json.dumps(answer(question, Path(path), int(last))))
        return
    print(TABLE.keep(measured(arguments.megabytes)))


if __name__ == "__main__":
    main()
