"""Compiling and simulating with Icarus Verilog, in the sandbox, in a folder of the call's own.

Flags and order of the files are those of VerilogEval's Makefile. What it says is sorted into the classes of
`outcomes.yaml`.
"""

from __future__ import annotations

import functools
import re
import shutil
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatdev.errors import MissingProgram
from chatdev.sandbox.base import Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.tools.verilog.messages import Message, outcomes
from chatdev.tools.verilog.target import USUAL, Target
from chatdev.workspace.file_tree import write_tree

BENCH, REFERENCE, GIVEN = "bench.sv", "reference.sv", "given/"
"""What the files are called while they are compiled, beside the answer; the compiler's messages name them."""
WAVES = "wave.vcd"
COMPILING = ProcessLimits(cpu=20, seconds=300, memory=1 << 30, file_size=64 << 20, disk=128 << 20, written=4 << 20)
SIMULATING = ProcessLimits(cpu=30, seconds=600, memory=1 << 30, file_size=256 << 20, disk=320 << 20, written=8 << 20)
"""The time is that of the processor, so that a verdict does not depend on what else the machine does. VerilogEval's
script gives 30 seconds; its longest problem takes 5."""

GENERATION = "-g2012"
"""The version of the language: SystemVerilog (IEEE 1800-2012), as far as Icarus Verilog knows it."""

_FLAGS = ("-Wall", "-Winfloop", "-Wno-timescale", GENERATION)
INCLUDING = ("-I", GIVEN.rstrip("/"))
_PROGRAM = "a.out"
_LINE = re.compile(r"(?:(?P<file>[\w./-]+):(?P<line>\d{1,9}): )?(?P<text>\S.*)")
_MORE = re.compile(r"(?:[\w./-]+:\d+:)? +: (?P<text>.*)")
_SEVERITY = re.compile(r"(?:error|(?P<warning>warning)): ")
_LONGEST = 2000  # characters of a message
_NOISE = re.compile(r"\d+ error\(s\) during elaboration\.|I give up\.|\*\*\*.*|\s+\S+ referenced \d+ times\.")


@dataclass(frozen=True, slots=True)
class CompileResult:
    """How compiling ended: the name of one of `outcomes.yaml`, and what was said."""

    outcome: str
    messages: tuple[Message, ...] = ()
    log: str = ""
    text: str = ""
    """Of an answer: what the simulator reads, its macros replaced."""

    @property
    def passed(self) -> bool:
        """Whether there is something to simulate."""
        return self.outcome == "compiled"

    @property
    def errors(self) -> tuple[Message, ...]:
        """Its errors, in order."""
        return tuple(message for message in self.messages if message.severity == "error")

    @property
    def warnings(self) -> tuple[Message, ...]:
        """Its warnings, in order."""
        return tuple(message for message in self.messages if message.severity == "warning")


@dataclass(frozen=True, slots=True)
class SimulatorRun:
    """How a simulation ended: `finished`, or an outcome of `outcomes.yaml`."""

    ended: str
    stdout: str
    seconds: float
    waves: Path | None = None


def require_icarus() -> None:
    """Raise MissingProgram without iverilog."""
    if not shutil.which("iverilog"):
        raise MissingProgram("iverilog not found, which compiles and simulates Verilog; install it: apt-get install "
                             "iverilog")


def compile_files(files: Mapping[str, str], tops: Sequence[str], sandbox: Sandbox, folder: Path,
                  target: Target = USUAL) -> CompileResult:
    """Compile what is given with the target, then `files` (in that order), with these root modules; `folder` is empty
    and the call's own.

    Raises MissingProgram without iverilog, SandboxError and WorkspaceError.
    """
    require_icarus()
    folder.mkdir()
    target = functools.reduce(Target.including, files.values(), target)
    given = [GIVEN + path for path in target.sources]
    write_tree(folder, as_bytes({**files, **{GIVEN + path: text for path, text in target.texts.items()}}))
    roots = [part for top in tops for part in ("-s", top)]
    argv = ["iverilog", *_FLAGS, *INCLUDING, *roots, "-o", _PROGRAM, *given, *files]
    return read_compilation(sandbox.run(SandboxJob(argv, folder, COMPILING)))


def run_program(compiled: Path, folder: Path, sandbox: Sandbox, *, dump: bool, limits: ProcessLimits = SIMULATING,
                data: Mapping[str, str] | None = None) -> SimulatorRun:
    """Simulate what was compiled in the folder `compiled`; in `folder`, which holds nothing else but `data`, so that
    there is no source to read. Without `dump` the bench's waveforms are not written."""
    folder.mkdir()
    write_tree(folder, as_bytes(data or {}))
    shutil.move(compiled / _PROGRAM, folder / _PROGRAM)
    execution = sandbox.run(SandboxJob(["vvp", "-n", _PROGRAM, *(() if dump else ("-none",))], folder, limits))
    waves = folder / WAVES
    return SimulatorRun(_ending(execution), execution.stdout, execution.seconds,
                        waves if dump and waves.is_file() and not waves.is_symlink() else None)


def as_bytes(files: Mapping[str, str]) -> dict[str, bytes]:
    """Texts as they are written."""
    return {path: text.encode("utf-8", "replace") for path, text in files.items()}


def read_compilation(execution: Execution) -> CompileResult:
    """What the compiler's exit status (the number of errors) and messages come to."""
    log = execution.stderr + execution.stdout
    if _is_endless(execution) or execution.exceeded:
        return CompileResult("compiler_endless", log=log)
    messages = tuple(read_messages(log))
    if execution.exit_status == 0:
        return CompileResult("compiled", messages, log)
    errors = [message.text for message in messages if message.severity == "error"]
    return CompileResult(error_class(errors) if errors else "compiler_crashed", messages, log)


def error_class(errors: Sequence[str]) -> str:
    """The first class of `outcomes.yaml` that one of the errors belongs to."""
    classes = {name: row["pattern"] for name, row in outcomes().items() if "pattern" in row}
    return next(name for name, pattern in classes.items() if any(re.search(pattern, error) for error in errors))


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
    warning = severity is not None and severity["warning"] is not None
    return Message(_SEVERITY.sub("", text, count=1), file, line, "warning" if warning else "error")


def _is_endless(execution: Execution) -> bool:
    return execution.timed_out or execution.signal == signal.SIGXCPU


def _ending(execution: Execution) -> str:
    if _is_endless(execution):
        return "timed_out"
    if execution.exceeded:
        return {"output": "flooded", "memory": "too_much_memory", "disk": "too_much_written"}[execution.exceeded]
    if execution.signal == signal.SIGXFSZ:
        return "too_much_written"
    return "finished" if execution.exit_status == 0 else "crashed"
