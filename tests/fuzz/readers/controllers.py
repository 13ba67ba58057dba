"""Readers of what surrounds a program in Structured Text: the task that shows its interface, proposed properties, the
units that nobody asked for, counterexamples, the benchmark's cases, and texts for other tools."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from chatdev.departments.plc.adapters.verifiers import name_variables, strip_line_comments
from chatdev.departments.plc.proof.outcomes import Cycle
from chatdev.departments.plc.report.listing import explain_run
from chatdev.departments.plc.simulation.test_cases import read_case, read_tasks, run_case
from chatdev.departments.plc.simulation.trace import Columns
from chatdev.departments.plc.simulation.values import WrongValue, read_text
from chatdev.departments.plc.source_check import EntryVariable
from chatdev.departments.plc.st.slips import leave_out_strangers, mend_text
from chatdev.errors import ToolError
from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolContext, registry
from tests.fuzz.readers.plc import DECLARATIONS, ROWS, STATEMENTS, whole
from tests.fuzz.readers.reader import Reader, is_short, value_in

UNITS = ["FUNCTION_BLOCK B№\nVAR x : INT; END_VAR\nx := 1;\nEND_FUNCTION_BLOCK\n", "PROGRAM P\n", "END_PROGRAM\n",
         "FUNCTION f№ : INT\nf№ := f0();\nEND_FUNCTION\n", "VAR_INPUT a : BOOL; END_VAR\n", "VAR b№ : B№; END_VAR\n",
         "TYPE T№ : (A№, C№); END_TYPE\n", "```\n", "b№();\n", "x := 1\n", "\n", "“", "(*", "*)", "{IF defined (A№)}",
         "{END_IF}", "VAR_GLOBAL g№ : INT; END_VAR\n", "g№ := 1;\n"]
CASES = ['{"task": 1, "test_cases": [', '{"description": "a", "input_trace": {"n": [1, 2]}, ',
         '"expected_output_trace": ', '{"q": [true]}', "}, ", "]}", "{", "}", "[", "]", ",", "null",
         "1e9", '"x": [[1, 2]]', '"State": 3', " ", "\n",
         '"initial_state": {"n": 4}, ']
INTERFACE = {"found": True, "entry": "P", "source": "PROGRAM P\nEND_PROGRAM"}
WORDS = ["stops ", "it ", "Start ", "№ ", "a_b ", ". ", "\n", "é", "`q`", "  ", "\0"]


def context(task: str, **values: Any) -> ToolContext:
    """What a tool of the company gets."""
    return ToolContext({}, values, {"task": task}, Unconfined(), Path(), Path())


def company_program(text: str) -> None:
    """A program that is mended, and of which is left out what neither entry nor request needs."""
    mend_text(text)
    source, _ = leave_out_strangers(text, "P", text[:len(text) // 2])
    assert len(source) <= len(text)


def task(text: str) -> None:
    """A task that may show the interface."""
    found = registry()["plc.interface"].call(context(text), {})
    assert found["found"] in (True, False)


def proposal(text: str) -> None:
    """A proposed property, and the place of the task that it quotes."""
    half = len(text) // 2
    proposed = [{"pattern": "nothing", "conditions": [text], "about": text, "source": text[at:at + half]}
                for at in (0, 7)]
    with suppress(ToolError):
        found = registry()["plc.propose"].call(
            context(text + text, proposed_properties=proposed, program_interface=INTERFACE), {})
        assert not found.passed
        is_short(len(found.evidence["dropped"]))


def counterexample(text: str) -> None:
    """What is told of a run, made ready to be read, and read again."""
    lines = text.split("\n")
    changed = tuple((name, value) for line in lines for name, _, value in [line.partition(",")])
    cycles = [Cycle(1, 100, changed, tuple(range(len(lines)))), Cycle(2, 100, changed[:3], (1,), "a fault")]
    run = explain_run(cycles, text, [EntryVariable("n", "input", "INT")])
    assert len(run.signals) == len({name for name, _ in changed})
    columns = Columns(whole())
    for name, value in changed:
        with suppress(WrongValue):
            read_text(value, columns.find(name).type, name)


def benchmark_tasks(text: str) -> None:
    """Tasks of the benchmark with their cases, run."""
    with suppress(ValueError):
        for one in read_tasks(text):
            cases = one.get("test_cases") if isinstance(one, dict) else None
            for case in cases if isinstance(cases, list) else []:
                with suppress(AttributeError, TypeError):  # whoever reads them knows their form
                    run_case(whole(), read_case(case))
    value_in(text)


def other_tools(text: str) -> None:
    """What other compilers and verifiers are given."""
    assert strip_line_comments(text).count("\n") == text.count("\n")
    name_variables(text, ["n", "q", "Timer"])


READERS = {
    "program of a company": Reader(company_program, [*UNITS, *STATEMENTS, *DECLARATIONS],
                                   ("{}", "PROGRAM P\n{}\nEND_PROGRAM", "{}\nPROGRAM P\nEND_PROGRAM")),
    "task with an interface": Reader(task, UNITS, ("{}", "Write it.\n```\n{}```\n")),
    "proposed property": Reader(proposal, WORDS),
    "counterexample": Reader(counterexample, [*ROWS, "v№,1\n", "x[№],2\n", "n,№\n"]),
    "tasks of the benchmark": Reader(benchmark_tasks, CASES, ("{}", '{"test_cases": [{}]}')),
    "Structured Text for other tools": Reader(other_tools, [*STATEMENTS, "'", "$", "(*", "*)", "/*", "*/", '"', "//"]),
}
