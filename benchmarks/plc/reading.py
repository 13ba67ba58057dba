"""How long does it take to check a source?

Every program of the references, examples and sheets is checked, fifty times; the quickest counts, as seconds of the
processor. Python's own compiler, which is written in C, is timed on the modules that do the checking: the ratio says
more than milliseconds do when the machine is another one. And the command: one call for 500 files of 40 lines, beside
calls of a file each.

    python -m benchmarks.plc.reading [--times 50]

With another number of times, nothing is written down.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.plc.corpus import examples, read_references, reference_of, sheets
from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, SizedStudy, machine, markdown_table, marks
from chatdev.departments.plc.st.reading import read_program

TIMES = 50
LINES = 70
"""Of a usual program; times are told for so many."""
YARDSTICK = "Python's compiler"
FILES, ALONE = 500, 10
"""Files of one call of the command, and how many of them are given to calls of their own."""
_BLOCK = """FUNCTION_BLOCK Station{number}
VAR_INPUT Start, Stop : BOOL; Speed : INT; END_VAR
VAR_OUTPUT Running : BOOL; Total : DINT; END_VAR
VAR Ramp : TON; Step : INT; Seen : ARRAY[0..7] OF INT; END_VAR
{steps}
END_FUNCTION_BLOCK
"""
_STEP = """IF Start AND NOT Stop THEN
  Running := TRUE;
ELSIF Stop THEN
  Running := FALSE;
END_IF;
Ramp(IN := Running, PT := T#{step}s);
Step := (Step + 1) MOD 8;
Seen[Step] := Speed; Total := Total + Speed;"""


def measure(times: int) -> dict[str, Any]:
    """Milliseconds for 70 lines of each source."""
    subjects = [one for one in (*map(reference_of, read_references()), *examples(), *sheets())
                if read_program(one.source).program]
    modules = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "chatdev/departments/plc/st").glob("*.py"))]
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "times": times,
            "check": _summary([_time(read_program, subject.source, times) for subject in subjects]),
            YARDSTICK: _summary([_time(lambda text: compile(text, "module", "exec"), text, times) for text in modules
                                 if text]), "command": measure_command()}


def measure_command() -> dict[str, Any]:
    """Seconds of the processor for the command with one file (the median) and with all."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"station{number}.st" for number in range(FILES)]
        for number, file in enumerate(files):
            file.write_text(_BLOCK.format(number=number, steps="\n".join(_STEP.format(step=step)
                                                                          for step in range(1, 5))))
        alone = statistics.median(_run_check([file]) for file in files[:ALONE])
        return {"files": FILES, "lines": len(files[0].read_text().splitlines()), "alone": round(alone, 3),
                "together": round(_run_check(files), 3)}


def _run_check(files: Sequence[Path]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "chatdev", "plc", "check", "--each", *map(str, files)], check=True,
                   stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _time(read: Callable[[str], object], source: str, times: int) -> tuple[int, float]:
    """Lines, and the fewest milliseconds."""
    found = []
    for _ in range(times):
        began = time.process_time_ns()
        read(source)
        found.append((time.process_time_ns() - began) / 1e6)
    return len(source.splitlines()), min(found)


def _summary(timed: Sequence[tuple[int, float]]) -> dict[str, Any]:
    rates = [LINES * spent / lines for lines, spent in timed]
    lines = sum(lines for lines, _ in timed)
    return {"sources": len(timed), "lines": lines, "median": round(statistics.median(rates), 3),
            "most": round(max(rates), 3), "mean": round(LINES * sum(spent for _, spent in timed) / lines, 3)}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    table = markdown_table(
        ["", "sources", "lines", f"milliseconds for {LINES} lines (mean of all)", "median of sources", "most"],
        [(name, row["sources"], row["lines"], f"{row['mean']:.2f}", f"{row['median']:.2f}", f"{row['most']:.2f}")
         for name, row in (("check", results["check"]), (YARDSTICK, results[YARDSTICK]))])
    ratio = results["check"]["mean"] / results[YARDSTICK]["mean"]
    command = results["command"]
    times = command["alone"] * command["files"] / command["together"]
    return (f"{table}\n\nLine for line, checking takes {ratio:.1f} times what {YARDSTICK} takes. `chatdev plc check` "
            f"takes {command['alone']:.2f} s of the processor for a file of {command['lines']} lines; for "
            f"{command['files']} of them in one call {command['together']:.2f} s, {times:.0f} times less than in a "
            f"call each. {results['date']}; {results['machine']}.")


STUDY = SizedStudy(told, RESULTS_FOLDER / "plc_reading.json", DOCS / "plc.md", marks("reading", "plc.reading"), "times",
                   TIMES, measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
