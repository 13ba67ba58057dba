"""Whatever a tool meets, raises or gives: no exception leaves it, the journal has how it ended, and a resume takes it
from there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.errors import ToolCrashed, ToolError
from chatdev.events import Noted
from chatdev.safe_text import keep_secret
from chatdev.sandbox.base import Execution
from chatdev.tools.base import ToolContext, Verdict
from tests.runner.tool_stage import OddSandbox, ToolStage

DIGITS = "9" * 5000
DONE = Execution(0, None, "", "", 0.1)


class Endless(Exception):
    """Cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


RAISED = {kind.__name__: kind("of my own") for kind in (
    TypeError, KeyError, ValueError, OSError, RecursionError, MemoryError, StopIteration, StopAsyncIteration,
    SystemExit, GeneratorExit, asyncio.CancelledError, TimeoutError, AssertionError, Endless)}


def circle() -> list[Any]:
    values: list[Any] = []
    values.append(values)
    return values


def nested() -> list[Any]:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    return value


GIVEN: dict[str, Any] = {
    "an object": object(), "bytes": b"x", "a set": {1}, "no number": float("nan"), "infinity": {"a": float("inf")},
    "half a character": "\ud800", "a circle": circle(), "nested": nested(), "a long number": 10**5000,
    "too much": ["x" * 1000] * 10_001, "a key that is no text": {(1,): 2}, "evidence": Verdict(True, "", 0, {"a": {1}}),
    "no evidence": Verdict(True, "", 0, evidence=None),  # type: ignore[arg-type]
}


def raising(ctx: ToolContext, *, which: str) -> str:
    """Raises what it is asked to."""
    raise RAISED[which]


def giving(ctx: ToolContext, *, which: str) -> Any:
    """Gives what it is asked to."""
    return GIVEN[which]


def telling(ctx: ToolContext) -> str:
    """Tells what nobody should read."""
    raise OSError(f"no file {ctx.scratch}/a.txt of sk-planted-key-123456789 {'x' * 5000} \ud800")


@pytest.fixture
def stage(tmp_path: Path) -> ToolStage:
    return ToolStage(tmp_path, OddSandbox(DONE), [raising, giving, telling])


@pytest.mark.parametrize("which", RAISED)
def test_what_a_tool_raises_is_a_result_that_agents_read(stage: ToolStage, which: str) -> None:
    ended = stage.call("mine.raising", which=which)
    assert isinstance(ended, ToolCrashed)
    assert f"mine.raising ended with an unexpected {which}" in str(ended)
    assert "in raising" in (stage.folder / "tool_errors.log").read_text()
    assert ["tool_errors.log" in event.text for event in stage.events if isinstance(event, Noted)] == [True, True]


@pytest.mark.parametrize("which", GIVEN)
def test_what_no_journal_can_hold_is_a_failure_of_the_tool(stage: ToolStage, which: str) -> None:
    assert isinstance(stage.call("mine.giving", which=which), ToolCrashed)


def test_agents_read_no_folder_and_no_secret_of_a_crash(stage: ToolStage) -> None:
    keep_secret("sk-planted-key-123456789")
    ended = str(stage.call("mine.telling"))
    assert "no file …/a.txt of [secret]" in ended
    assert len(ended) < 400
    log = (stage.folder / "tool_errors.log").read_text()
    assert "sk-planted" not in log
    assert __file__ in log


def test_ctrl_c_in_a_tool_still_stops_the_run(tmp_path: Path) -> None:
    def stopped(ctx: ToolContext) -> str:
        """Is stopped."""
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ToolStage(tmp_path, OddSandbox(DONE), [stopped]).call("mine.stopped")


plain = st.recursive(
    st.sampled_from([None, True, 0, -1, 10**4000, 1e308, "", "\0", "\ud800", "python main.py 2 3", "é" * 70_000,
                     f"python main.py {'x' * 200_000}", "python main.py \0", "python main.py '", "`", "a => b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["command", "inputs", "expected", "passed", "report", "judged", "id", "content", "parents",
                         "subtasks", "name", "from", "to", "nodes", "edges", "type", "signals", "odd\ud800"]),
        inner, max_size=4), max_leaves=8)
odd_files = st.dictionaries(
    st.sampled_from(["main.py", "other.py", "index.html", "main.js", "Main.java", "top.sv", "requirements.txt",
                     "data.json", "pyproject.toml"]),
    st.sampled_from([b"", b"x = 1 \\\r\n", b"print(1)\n", b"\xff\xfe", b"\0", b"def f(:\n", b"# TODO \\\r", b"'''",
                     b"<script src='a.js'></script>", b'{"a": NaN, "b": ' + DIGITS.encode() + b"}",
                     b"x = 0x" + b"f" * 6000, b"import no_such_module\n",
                     b"module TopModule(input a, output b); assign b = a; endmodule\n"]),
    max_size=4)
said = st.sampled_from(["", f'Traceback (most recent call last):\n  File "main.py", line {DIGITS}, in f\n    x\nE: y',
                        f":CONSOLE:{DIGITS}] \"Uncaught x\", source: main.js (1)\n", f"top.sv:{DIGITS}: error: x\n",
                        f"Mismatches: {DIGITS} in {DIGITS} samples\n", f"Hint: Output 'a' has {DIGITS} mismatches. "
                        f"First mismatch occurred at time {DIGITS}.\n", f"Simulation finished at {DIGITS}", "\0\x1b[2J",
                        "Traceback (most recent call last):", "usage: x", "PASS\nFAIL " + DIGITS])
executions = st.builds(Execution, st.sampled_from([0, 1, 97, 126, None]), st.sampled_from([None, 9, 11, 77]), said,
                       said, st.just(0.1), st.booleans(), st.booleans(),
                       st.sampled_from([None, "memory", "disk", "output", "command"]))
TOOLS = ["software.compiles", "software.complete", "software.mend", "software.packages", "software.run", "software.use",
         "value.check", "verilog.plan", "verilog.relate", "verilog.ports"]
names = st.sampled_from(["commands", "examples", "slogan", "least_words", "options", "plan", "extraction", "links"])


@pytest.mark.parametrize("tool", TOOLS)
@settings(max_examples=15)
@given(values=st.dictionaries(names, plain, max_size=3), software=odd_files, execution=executions)
def test_no_value_program_or_file_breaks_a_tool(
        tmp_path_factory: pytest.TempPathFactory, tool: str, values: dict[str, Any], software: dict[str, bytes],
        execution: Execution) -> None:
    folder = tmp_path_factory.mktemp("odd")
    inputs = {"task": f"output a [{DIGITS}:0]\n- input b ({DIGITS} bits)\n`a` => `b`"}
    ended = ToolStage(folder, OddSandbox(execution), inputs=inputs).call(tool, software, values)
    assert not isinstance(ended, ToolCrashed), f"{ended}\n{(folder / 'tool_errors.log').read_text()}"


ODD: list[Any] = [None, True, 0, -1, 10**4000, 1e308, "", "\0", "\ud800", "x" * 10_000, [], ["\ud800", 10**400],
                  {"a": []}, [[["x"]]]]


@pytest.mark.parametrize("tool", ["verilog.check", "verilog.minimise", "verilog.identify", "verilog.trace",
                                  "verilog.retrieve"])
@settings(max_examples=15)
@given(arguments=st.dictionaries(st.sampled_from(["source", "table", "variables", "outputs", "levels", "task", "hops",
                                                  "inputs", "odd\ud800"]), st.sampled_from(ODD),
                                 max_size=3),
       values=st.dictionaries(st.just("graph"), plain), software=odd_files)
def test_no_argument_of_an_agent_breaks_a_tool(
        tmp_path_factory: pytest.TempPathFactory, tool: str, arguments: dict[str, Any], values: dict[str, Any],
        software: dict[str, bytes]) -> None:
    folder = tmp_path_factory.mktemp("odd")
    ended = ToolStage(folder, OddSandbox(DONE)).call(tool, software, values, **arguments)
    assert not isinstance(ended, ToolCrashed), f"{ended}\n{(folder / 'tool_errors.log').read_text()}"
    assert isinstance(ended, ToolError | dict | str | list)


