"""Icarus Verilog: its command lines, and what its messages mean.

Flags and order of the files are those of VerilogEval's Makefile.
"""

from __future__ import annotations

import functools
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from chatdev.departments.verilog import cocotb_bench
from chatdev.departments.verilog.cocotb_bench import PythonBench
from chatdev.departments.verilog.compilation import COMPILING, GIVEN, PREPROCESSING, PROGRAM, Defines, Message
from chatdev.departments.verilog.target import Target
from chatdev.errors import MissingProgram
from chatdev.sandbox.base import Execution, ProcessLimits, Sandbox, SandboxJob

GENERATION = "-g2012"
"""The version of the language: SystemVerilog (IEEE 1800-2012), as far as Icarus Verilog knows it."""
TIME = "$simtime"
"""The time in units of the waveform, in what a bench prints."""

_FLAGS = ("-Wall", "-Winfloop", "-Wno-timescale", GENERATION)
INCLUDING = ("-I", GIVEN.rstrip("/"))
_LINE = re.compile(r"(?:(?P<file>[\w./-]+):(?P<line>\d{1,9}): )?(?P<text>\S.*)")
_MORE = re.compile(r"(?:[\w./-]+:\d+:)? +: (?P<text>.*)")
_SEVERITY = re.compile(r"(?:error|(?P<warning>warning)): ")
_NO_ERROR = re.compile(r"sorry: constant selects in always_\* processes ")  # it goes on
_SETTINGS = "settings.txt"
_LONGEST = 2000  # characters of a message
_NOISE = re.compile(r"\d+ error\(s\) during elaboration\.|I give up\.|\*\*\*.*|\s+\S+ referenced \d+ times\.")


def require_icarus() -> None:
    """Raise MissingProgram without iverilog."""
    if not shutil.which("iverilog"):
        raise MissingProgram("iverilog not found, which compiles and simulates Verilog; install it: apt-get install "
                             "iverilog")


def preprocess(paths: Sequence[str], defines: Defines, sandbox: Sandbox, folder: Path) -> Execution:
    """Print the files in the folder without macros, where its preprocessor is found with marks of lines (`` `line``).
    Raises MissingProgram."""
    require_icarus()
    program = _preprocessor()
    if program is None:
        return sandbox.run(SandboxJob(["iverilog", "-E", GENERATION, *INCLUDING, *_definitions(defines), "-o",
                                       "/dev/stdout", *paths], folder, PREPROCESSING))
    macros = "".join(f"D:{name}={value}\n" for name, value in (("__ICARUS__", "1"), *defines))
    (folder / _SETTINGS).write_text(f"{macros}I:{INCLUDING[-1]}\n", encoding="utf-8")
    return sandbox.run(SandboxJob([program, "-L", f"-F{_SETTINGS}", *paths], folder, PREPROCESSING))


def _definitions(defines: Defines) -> list[str]:
    return [f"-D{name}={value}" for name, value in defines]


@functools.cache
def _preprocessor() -> str | None:
    """The program that `iverilog -E` runs; it can say more than that."""
    prefix = Path(shutil.which("iverilog") or "").resolve().parent.parent
    found = (path for pattern in ("lib*/ivl/ivlpp", "lib*/*/ivl/ivlpp") for path in prefix.glob(pattern))
    return next(map(str, found), None)


def compile_with_icarus(paths: Sequence[str], tops: Sequence[str], target: Target, sandbox: Sandbox, folder: Path,
                        unit: str = "") -> Execution:
    """Compile the files in the folder, in this order, with these root modules; `unit` is that of time where nothing
    says another one. The module alone has the target's parameters. Raises MissingProgram."""
    require_icarus()
    if unit:
        (folder / _SETTINGS).write_text(f"+timescale+{unit}\n", encoding="utf-8")
    settings = ("-f", _SETTINGS) if unit else ()
    parameters = target.parameters if [*tops] == [target.top] else ()
    roots = [*(part for top in tops for part in ("-s", top)),
             *(f"-P{target.top}.{name}={value}" for name, value in parameters)]
    return sandbox.run(SandboxJob(["iverilog", *_FLAGS, *INCLUDING, *settings, *_definitions(target.defines), *roots,
                                   "-o", PROGRAM, *paths], folder, COMPILING))


def run_with_icarus(folder: Path, sandbox: Sandbox, *, dump: bool, limits: ProcessLimits,
                    bench: PythonBench | None = None) -> Execution:
    """Simulate the program in the folder, with a bench in Python where one is given."""
    loaded = ("-m", str(cocotb_bench.library("icarus"))) if bench else ()
    return sandbox.run(SandboxJob(["vvp", "-n", *loaded, PROGRAM, *(() if dump else ("-none",))], folder, limits,
                                  env=bench.variables if bench else {}, bindings=bench.bindings if bench else ()))


def read_messages(log: str) -> list[Message]:
    """The messages of a log, each once; lines that go on with one are joined to it."""
    found: list[tuple[str, int, str]] = []
    for line in filter(None, (line.rstrip()[:_LONGEST] for line in log.splitlines())):
        if _NOISE.fullmatch(line):
            continue
        more = _MORE.match(line)
        if more and found:
            file, number, text = found.pop()
            found.append((file, number, f"{text} {more['text']}"[:_LONGEST]))
        elif said := _LINE.match(line.lstrip()):
            found.append((said["file"] or "", int(said["line"] or 0), said["text"]))
    return [_message(*line) for line in dict.fromkeys(found)]


def _message(file: str, line: int, text: str) -> Message:
    severity = _SEVERITY.match(text)
    warning = (severity and severity["warning"]) or _NO_ERROR.match(text)
    return Message(_SEVERITY.sub("", text, count=1), file, line, "warning" if warning else "error")
