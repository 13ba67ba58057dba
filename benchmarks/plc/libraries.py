"""How time and memory grow with the units of a library, in one file or in many, as text or in containers.

Each size is read and checked in a process of its own, which tells the processor's seconds and its greatest memory.

    python -m benchmarks.plc.libraries
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.plc.export import write_plcopen, write_twincat
from chatdev.departments.plc.project import check_project, read_project
from chatdev.isolation.isolate import read_here

SIZES = (1000, 5000, 20_000)
FORMS = ("one file", "a file each", "TwinCAT objects", "PLCopen XML")


def write_library(form: str, units: int, folder: Path) -> None:
    """A library of so many units."""
    texts = [_function(number // 2) if number % 2 == 0 else _block(number // 2) for number in range(units)]
    if form == "a file each":
        files = {f"unit{number:05}.st": text for number, text in enumerate(texts)}
    elif form == "one file":
        files = {"library.st": "".join(texts)}
    elif form == "TwinCAT objects":
        files = write_twincat("".join(texts))
    else:
        files = {"library.xml": write_plcopen("".join(texts), "library")}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def _function(number: int) -> str:
    return f"FUNCTION F{number} : INT\nVAR_INPUT x : INT; END_VAR\nF{number} := x + {number % 100};\nEND_FUNCTION\n"


def _block(number: int) -> str:
    return (f"FUNCTION_BLOCK B{number}\nVAR_INPUT x : INT; END_VAR\nVAR_OUTPUT y : INT; END_VAR\nVAR t : TON; END_VAR\n"
            f"t(IN := x > 0, PT := T#1s);\ny := F{number}(x);\nEND_FUNCTION_BLOCK\n")


def measure(folder: Path) -> dict[str, float]:
    """The seconds of the processor and the megabytes that reading and checking a folder takes in this process, beside
    what the tools take by themselves; raises ValueError if something is wrong with it."""
    before = _megabytes()
    began = time.process_time()
    checks = check_project(read_project([folder]))
    seconds = time.process_time() - began
    wrong = [one.message for check in checks.values() for one in check.errors]
    if wrong:
        raise ValueError(wrong[0])
    return {"seconds": round(seconds, 2), "megabytes": round(_megabytes() - before)}


def _megabytes() -> float:
    """The greatest memory of this process so far, as Linux tells it (`ru_maxrss` is also that of what started it)."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def study() -> dict[str, Any]:
    """A row for each form and size."""
    rows = []
    for form in FORMS:
        for units in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                write_library(form, units, Path(folder))
                command = [sys.executable, "-m", "benchmarks.plc.libraries", "--folder", folder]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append({"form": form, "units": units, **json.loads(done.stdout)})
            print(rows[-1], flush=True)
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "rows": rows}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    table = []
    for form in FORMS:
        rows = [row for row in results["rows"] if row["form"] == form]
        first, last = rows[0], rows[-1]
        exponent = math.log(last["seconds"] / first["seconds"]) / math.log(last["units"] / first["units"])
        table.append((form, *(f"{row['seconds']:.2f} s, {row['megabytes']} MB" for row in rows), f"n^{exponent:.2f}"))
    return (f"{markdown_table(('library', *(f'{units:,} units' for units in SIZES), 'time grows as'), table)}\n\n"
            f"{results['date']}; {results['machine']}.")


TABLE = KeptTable(told, RESULTS_FOLDER / "plc_libraries.json", DOCS / "plc.md", marks("libraries", "plc.libraries"))


def main() -> None:
    """Study, write the results, print them; with a folder, measure that."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--folder", type=Path)
    folder = parser.parse_args().folder
    if folder is None:
        print(TABLE.keep(study()))
    else:
        read_here()
        print(json.dumps(measure(folder)))


if __name__ == "__main__":
    main()
