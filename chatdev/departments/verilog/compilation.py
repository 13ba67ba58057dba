"""What the simulators have in common: names of files, limits, messages, and how compiling and simulating may end; and
the words in which agents are told, as data beside this module (the `.yaml` files, and the templates in `reports`).

What a compiler says is sorted into the classes of `outcomes.yaml`.
"""

from __future__ import annotations

import functools
import re
import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from chatdev.paths import bundled_table
from chatdev.sandbox.base import Execution, ProcessLimits
from chatdev.tools.base import render_file, template

# What is said to agents, as data beside this module: the `.yaml` files, and the templates in `reports`.

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Message:
    """What a tool says of a line; `file` is "" and `line` 0 where it names none."""

    text: str
    file: str = ""
    line: int = 0
    severity: Literal["error", "warning"] = "error"


def outcomes() -> dict[str, dict[str, Any]]:
    """How a check or simulation may end: name -> passed, judged, score, says, and for the compiler's errors
    `pattern`, the more specific first."""
    return _read_yaml("outcomes.yaml")


def rules() -> dict[str, dict[str, Any]]:
    """What an answer must keep: name -> says, and where a pattern finds it `pattern`."""
    rules: dict[str, dict[str, Any]] = _read_yaml("rules.yaml")["rules"]
    return rules


def word_list(which: str) -> frozenset[str]:
    """One of the lists of `rules.yaml`."""
    return frozenset(_read_yaml("rules.yaml")[which])


def port_messages() -> list[dict[str, str]]:
    """What may be said of the bench's connections: `pattern` and `says` of each."""
    ports: list[dict[str, str]] = _read_yaml("rules.yaml")["ports"]
    return ports


def output_messages() -> dict[str, str]:
    """What may be said of outputs that differ from the reference's where a bench passes."""
    outputs: dict[str, str] = _read_yaml("rules.yaml")["outputs"]
    return outputs


def words_of_verilator() -> list[dict[str, str]]:
    """What it says otherwise than Icarus Verilog: `pattern` and `says` of each."""
    words: list[dict[str, str]] = _read_yaml("verilator.yaml")["words"]
    return words


def render_text(source: str, /, **facts: Any) -> str:
    """The text of a template, without blanks around it."""
    text: str = template(source).render(facts)
    return text.strip()


def render_report(name: str, /, **facts: Any) -> str:
    """The same of the file `reports/NAME.j2`."""
    return render_file(_HERE / "reports" / f"{name}.j2", **facts)


@functools.cache
def _read_yaml(name: str) -> dict[str, Any]:
    data: dict[str, Any] = bundled_table(_HERE / name)
    return data


# What the simulators have in common: names of files, limits, and how compiling and simulating may end.

BENCH, REFERENCE, GIVEN = "bench.sv", "reference.sv", "given/"
"""What the files are called while they are compiled, beside the answer; the compiler's messages name them."""
WAVES = "wave.vcd"
Defines = Sequence[tuple[str, str]]
"""Macros that are defined before the first line, with what they stand for."""
PROGRAM = "a.out"
"""What is simulated."""
COMPILING = ProcessLimits(cpu=20, seconds=300, memory=1 << 30, file_size=64 << 20, disk=128 << 20, written=4 << 20)
PREPROCESSING = replace(COMPILING, output=4 << 20)
"""Of what is printed half is kept from the head, and half from the tail."""
SIMULATING = ProcessLimits(cpu=30, seconds=600, memory=1 << 30, file_size=256 << 20, disk=320 << 20, written=8 << 20)
"""The time is that of the processor, so that a verdict does not depend on what else the machine does. VerilogEval's
script gives 30 seconds; its longest problem takes 5."""


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
    tests: Sequence[Any] = ()
    """Those of a bench in Python (`cocotb_bench.TestResult`)."""


def as_bytes(files: Mapping[str, str]) -> dict[str, bytes]:
    """Texts as they are written."""
    return {path: text.encode("utf-8", "replace") for path, text in files.items()}


def sort_compilation(execution: Execution, log: str, messages: Iterable[Message]) -> CompileResult:
    """What a compiler's exit status and messages come to."""
    if is_endless(execution) or execution.exceeded:
        return CompileResult("compiler_endless", log=log)
    messages = tuple(messages)
    if execution.exit_status == 0:  # Icarus Verilog is "sorry" for what it does otherwise, too
        return CompileResult("compiled", tuple(replace(message, severity="warning") for message in messages), log)
    errors = [message.text for message in messages if message.severity == "error"]
    return CompileResult(error_class(errors) if errors else "compiler_crashed", messages, log)


def error_class(errors: Sequence[str]) -> str:
    """The first class of `outcomes.yaml` that one of the errors belongs to."""
    classes = {name: row["pattern"] for name, row in outcomes().items() if "pattern" in row}
    return next(name for name, pattern in classes.items() if any(re.search(pattern, error) for error in errors))


def is_endless(execution: Execution) -> bool:
    """Whether its time was up."""
    return execution.timed_out or execution.signal == signal.SIGXCPU


def ending_of(execution: Execution) -> str:
    """How a simulation ended: `finished`, or an outcome of `outcomes.yaml`."""
    if is_endless(execution):
        return "timed_out"
    if execution.exceeded:
        return {"output": "flooded", "memory": "too_much_memory", "disk": "too_much_written"}[execution.exceeded]
    if execution.signal == signal.SIGXFSZ:
        return "too_much_written"
    return "finished" if execution.exit_status == 0 else "crashed"
