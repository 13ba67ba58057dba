"""Time runs for a timer whether it is called or not, and once in a scan however often it is called."""

from __future__ import annotations

import pytest

from benchmarks.plc.c_source import emit_c
from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.source_run import simulate_source
from chatdev.departments.plc.st.reading import read_program

SELDOM = """FUNCTION_BLOCK Seldom
VAR_OUTPUT early : BOOL; END_VAR
VAR Cool : TON; n : INT; END_VAR
n := n + 1;
IF n = 1 OR n >= 10 THEN Cool(IN := TRUE, PT := T#500ms); END_IF;
IF n > 10 THEN n := 10; END_IF;
early := n = 10 AND Cool.Q;
END_FUNCTION_BLOCK
"""
TWICE = """FUNCTION_BLOCK Twice
VAR_INPUT go : BOOL; END_VAR
VAR_OUTPUT done : BOOL; END_VAR
VAR Wait : TON; n : INT; END_VAR
Wait(IN := go, PT := T#1s);
IF NOT go THEN n := 0; ELSIF n < 100 THEN n := n + 1; END_IF;
Wait();
done := Wait.Q;
END_FUNCTION_BLOCK
"""
NEGATIVE = """FUNCTION_BLOCK Negative
VAR_INPUT a : BOOL; P : TIME; END_VAR
VAR_OUTPUT q : BOOL; END_VAR
VAR T : TON; END_VAR
T(IN := a, PT := P);
q := T.Q;
END_FUNCTION_BLOCK
"""
ROW = """FUNCTION_BLOCK Row
VAR_INPUT go : BOOL; END_VAR
VAR_OUTPUT last : BOOL; END_VAR
VAR T : ARRAY[1..3] OF {kind}; i : INT; END_VAR
i := i MOD 3 + 1;
T[i](IN := go, PT := T#250ms);
last := T[3].Q;
END_FUNCTION_BLOCK
"""


def proved(source: str, *parameters: str, pattern: str = "implication") -> str:
    """The verdict on a property, at 100 ms from scan to scan."""
    wanted = Property(f"pattern-{pattern}", parameters)
    return next(one.verdict for one in verify(source, None, [wanted], cycle_ms=100) if one.asked == wanted)


def test_time_runs_while_a_timer_is_not_called() -> None:
    assert proved(SELDOM, "n = 9", "NOT Cool.Q", pattern="statechange-duringcycle") == "VIOLATED"
    assert proved(SELDOM, "n = 9", "Cool.Q", pattern="statechange-duringcycle") == "PROVED"
    rows = simulate_source(SELDOM, cycles=10).csv.splitlines()
    assert [row.startswith("TRUE") for row in rows[1:]] == [False] * 9 + [True]


def test_two_calls_in_a_scan_count_its_time_once() -> None:
    assert proved(TWICE, "done", "n > 10") == "PROVED"
    assert proved(TWICE, "n > 10", "done") == "PROVED"


def test_a_time_below_zero_is_over_at_once() -> None:
    assert proved(NEGATIVE, "a AND P <= T#0s", "q") == "PROVED"
    assert proved(NEGATIVE, "T.ET >= T#0s", pattern="invariant") == "PROVED"


@pytest.mark.parametrize("kind", ["TON", "TOF", "TP"])
def test_timers_in_arrays_have_clocks_of_their_own(kind: str) -> None:
    rows = simulate_source(ROW.format(kind=kind), inputs="go\n" + "TRUE\n" * 6 + "FALSE\n" * 6).csv.splitlines()
    done = "".join("1" if row.split(",")[1] == "TRUE" else "0" for row in rows[1:])
    assert done == {"TON": "000001110000", "TOF": "001111111110", "TP": "001110000000"}[kind]


def test_only_programs_with_timers_have_clocks() -> None:
    program = read_program("FUNCTION_BLOCK A VAR_OUTPUT q : BOOL; END_VAR q := TRUE; END_FUNCTION_BLOCK").program
    assert program is not None
    assert len(program.entry.body) == 1
    timed = read_program(TWICE).program
    assert timed is not None
    assert "since" in emit_c(timed)
