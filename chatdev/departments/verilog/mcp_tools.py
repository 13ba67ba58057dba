"""What `chatdev mcp` offers of this department: `verilog_judge`, `verilog_trace`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from pydantic import Field

from chatdev.cli.mcp.served import Served
from chatdev.departments.verilog.judge import check_bench
from chatdev.departments.verilog.judge import judge as judge_software
from chatdev.departments.verilog.mismatch import trace as trace_software
from chatdev.departments.verilog.target import ANSWER
from chatdev.errors import ConfigError
from chatdev.tools.base import ToolContext, Verdict, tool

File = Annotated[str, Field(description="Path of the Verilog file with the module that is judged")]
Bench = Annotated[str | None, Field(description="Path of a test bench that says by itself what fails")]
Reference = Annotated[str | None, Field(description="Path of a right module (RefModule, or of the same name) that the "
                                                    "module is compared with")]
Given = Annotated[list[str] | None, Field(description="Paths of what comes with it: packages, submodules, headers, "
                                                      "contents of memories")]
Top = Annotated[str | None, Field(description="Name of the module; by default that which the bench tests, or "
                                              "TopModule")]
Simulator = Annotated[Literal["icarus", "verilator"], Field(description="The simulator that compiles and runs it")]


@tool(name="verilog_judge")
def judge(served: Served, *, file: File, bench: Bench = None, reference: Reference = None, given: Given = None,
          top: Top = None, simulator: Simulator = "icarus") -> Verdict:
    """Judge a Verilog module: compile it, look for mistakes such as latches, and simulate it with a test bench against
    a reference. Without a bench it is only compiled (`judged` is false)."""
    with _context(served, file, {"bench": bench, "reference": reference, "top": top, "simulator": simulator},
                  given or []) as context:
        verdict: Verdict = judge_software.call(context, {})
        return verdict


@tool(name="verilog_trace")
def trace(served: Served, *, file: File, bench: Annotated[str, Field(description="Path of the test bench")],  # noqa: PLR0913 - options
          reference: Reference = None, given: Given = None, top: Top = None, simulator: Simulator = "icarus",
          levels: Annotated[int, Field(ge=1, le=12, description="How far to go back")] = 3,
          outputs: Annotated[list[str] | None, Field(description="Only these outputs")] = None) -> Verdict:
    """Simulate a Verilog module with its test bench and trace a wrong output back: the lines of the source that gave
    it its value, and a table of the signals before the first mismatch."""
    with _context(served, file, {"bench": bench, "reference": reference, "top": top, "simulator": simulator},
                  given or []) as context:
        verdict: Verdict = trace_software.call(context, {"levels": levels, "outputs": outputs})
        return verdict


@contextmanager
def _context(served: Served, file: str, asked: Mapping[str, str | None],
             given: Sequence[str]) -> Iterator[ToolContext]:
    """What the tools of a run are given, of files that a client names. Raises ToolError for a bench or given files that
    cannot be used."""
    inputs: dict[str, Any] = {name: served.read(path, name) if path and name in ("bench", "reference") else path
                              for name, path in asked.items()}
    names = [served.find(path).name for path in given]
    if len({*names}) < len(names):
        raise ConfigError("given: two files have one name; give each another one")
    inputs["given"] = {name: served.read(path, name) for name, path in zip(names, given, strict=True)}
    software = {ANSWER: served.read(file, "file").encode()}
    with served.open_sandbox() as (sandbox, folder):
        scratch = folder / "scratch"
        scratch.mkdir()
        context = ToolContext(software, {}, inputs, sandbox=sandbox, run_folder=folder, scratch=scratch)
        check_bench.call(context, {})
        yield context
