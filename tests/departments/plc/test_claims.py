"""Whatever the sheets and examples claim is proved, and their tables are runs that the interpreter sees, too."""

from __future__ import annotations

import pytest

from benchmarks.plc.sheets import Snippet, read_examples, read_sheets
from chatdev.departments.plc.proof.checks import check_property, list_obligations
from chatdev.departments.plc.proof.outcomes import Limits
from chatdev.departments.plc.proof.properties import read_properties
from chatdev.departments.plc.simulation.trace import read_trace, run_trace
from chatdev.departments.plc.st.core import Program
from chatdev.departments.plc.st.reading import read_program

SNIPPETS = [*read_sheets(), *read_examples()]
check, owe = check_property.__wrapped__, list_obligations.__wrapped__  # type: ignore[attr-defined]
"""In this process: a child for each program would take longer than all proofs."""


def read(snippet: Snippet) -> Program:
    program = read_program(snippet.source).program
    assert program
    return program


@pytest.mark.parametrize("snippet", [one for one in SNIPPETS if one.properties], ids=str)
def test_a_claim_is_proved_and_says_something(snippet: Snippet) -> None:
    about = snippet.source, read(snippet).entry.name, None
    outcomes = [check(*about, claim, Limits()) for text in snippet.properties for claim in read_properties(text)]
    assert [outcome for outcome in outcomes if outcome.verdict != "PROVED" or outcome.vacuous] == []


@pytest.mark.parametrize("snippet", [one for one in SNIPPETS if not one.mistake], ids=str)
def test_no_run_of_a_program_ends_with_a_fault(snippet: Snippet) -> None:
    about = snippet.source, read(snippet).entry.name, None
    outcomes = [check(*about, duty, Limits()) for duty in owe(*about, Limits())]
    assert [outcome for outcome in outcomes if outcome.verdict not in ("PROVED", "BOUNDED")] == []


@pytest.mark.parametrize("snippet", [one for one in SNIPPETS if one.traces], ids=str)
def test_a_table_is_what_the_interpreter_sees(snippet: Snippet) -> None:
    program = read(snippet)
    for table in snippet.traces:
        assert run_trace(program, read_trace(table, program), cycle_ms=100).mismatches == ()
