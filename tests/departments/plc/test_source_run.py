"""A run of a source is plain data: values, lines, what was asserted and expected, and the fault that ended it."""

from __future__ import annotations

import pytest

from chatdev.departments.plc.simulation.trace import WrongTrace
from chatdev.departments.plc.simulation.values import WrongValue
from chatdev.departments.plc.source_check import SourceRefused
from chatdev.departments.plc.source_run import simulate_source

SHARE = """FUNCTION_BLOCK Share
VAR_INPUT Parts : INT := 4; END_VAR
VAR_OUTPUT Each : INT; Late : BOOL; END_VAR
VAR Delay : TON; END_VAR
//#ASSERT Parts <> 3 : no thirds
Each := 100 / Parts;
Delay(IN := TRUE, PT := T#150ms, Q => Late);
END_FUNCTION_BLOCK
"""


def test_inputs_are_held_until_the_last_cycle() -> None:
    run = simulate_source(SHARE, inputs="Parts,Each\n5,20\n", cycles=3)
    assert run.passed
    assert run.csv.startswith("Parts,Each,Late,Delay.IN,Delay.PT,Delay.Q,Delay.ET,Delay.last,Delay.since\n"
                              "5,20,FALSE,TRUE,T#150ms,")
    assert [row[:3] for row in run.trace.rows] == [(5, 20, False), (5, 20, False), (5, 20, True)]
    assert run.milliseconds == (100, 100, 100)
    assert run.lines[0] == (5, 6, 7)


def test_a_row_of_empty_cells_is_a_scan_and_an_empty_line_is_none() -> None:
    run = simulate_source(SHARE, inputs="Parts,Each\n5,20\n,\n\n,20\n")
    assert run.passed
    assert len(run.trace.rows) == 3


def test_a_table_is_cut_and_may_set_the_time() -> None:
    run = simulate_source(SHARE, inputs="Parts,CYCLE_TIME()\n1,\n2,T#200ms\n3,\n", cycle_ms=10, cycles=2)
    assert run.milliseconds == (10, 200)
    assert len(run.trace.rows) == 2


def test_without_a_table_inputs_have_their_initial_values() -> None:
    assert [row[1] for row in simulate_source(SHARE, cycles=2).trace.rows] == [25, 25]
    assert simulate_source(SHARE, cycles=1, initial={"Parts": 50}).trace.rows[0][1] == 2


def test_what_goes_wrong_is_part_of_the_result() -> None:
    run = simulate_source(SHARE, inputs="Parts,Each\n2,49\n3,\n0,\n1,\n")
    assert [(one.scan, one.expected, one.seen) for one in run.mismatches] == [(1, 49, 50)]
    assert [(one.name, one.scan) for one in run.broken] == [("no thirds", 2)]
    assert run.fault
    assert (run.fault.kind, run.fault.scan, run.fault.span.line) == ("division", 3, 6)
    assert (len(run.trace.rows), len(run.lines), len(run.milliseconds)) == (2, 3, 2)


@pytest.mark.parametrize(("given", "error", "message"), [
    ({"source": SHARE + "FUNCTION"}, SourceRefused, "the program has errors, the first one at 9:"),
    ({"entry": "Other"}, SourceRefused, "no FUNCTION_BLOCK or PROGRAM 'Other'"),
    ({"inputs": "Prts\n1\n"}, WrongTrace, "no variable 'Prts'; Share has Parts"),
    ({"inputs": "Parts\n1\n", "cycles": 0}, WrongTrace, "0 scans are asked for"),
    ({"cycles": 10**9}, WrongTrace, "1 to 100000 can be run"),
    ({"initial": {"Prts": 1}}, WrongValue, "no variable of Share"),
    ({"source": SHARE.replace("100 / Parts", "+".join(["Parts"] * 200))}, SourceRefused, "within each other")])
def test_what_cannot_be_run_is_refused_in_words(given: dict[str, object], error: type[Exception],
                                                message: str) -> None:
    with pytest.raises(error, match=message):
        simulate_source(**({"source": SHARE} | given))  # type: ignore[arg-type]
