"""A program runs scan by scan as the core says: state, numbers, faults, asserts, and the lines that ran."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.values import WrongValue
from chatdev.departments.plc.st.reading import read_condition
from chatdev.departments.plc.st.scope import MOST_LOOPS
from tests.departments.plc.simulation.sources import LOOPS, MOTOR, NUMBERS, program


def block(variables: str, body: str) -> Machine:
    return Machine(program(f"FUNCTION_BLOCK Main\n{variables}\n{body}\nEND_FUNCTION_BLOCK"))


def result(type_: str, expression: str, inputs: str = "", **values: Any) -> Any:
    """What an expression gives."""
    machine = block(f"VAR_INPUT {inputs} END_VAR VAR_OUTPUT y : {type_}; END_VAR", f"y := {expression};")
    return machine.scan(values)["y"]


def test_what_is_not_temporary_is_kept_from_scan_to_scan() -> None:
    machine = block("VAR_INPUT go : BOOL; END_VAR VAR n : INT := 5; END_VAR VAR_TEMP t : INT := 7; END_VAR",
                    "IF go THEN n := n + 1; END_IF; t := t + 1;")
    assert [machine.scan({"go": go})["n"] for go in (True, False, True)] == [6, 6, 7]
    assert machine.scan({})["n"] == 8, "an input that is left out keeps its value"
    assert machine.scan({})["t"] == 8
    machine.reset()
    assert machine.state["n"] == 5
    assert machine.scans == 0


def test_a_delay_counts_the_time_of_the_scans() -> None:
    machine = block("VAR_INPUT go : BOOL; END_VAR VAR t : TON; END_VAR", "t(IN := go, PT := T#250ms);")
    seen = [machine.scan({"go": True})["t"] for _ in range(4)]
    assert [(one["et"], one["q"]) for one in seen] == [(0, False), (100, False), (200, False), (250, True)]
    assert machine.scan({"go": False})["t"]["et"] == 0
    machine.scan({"go": True})
    assert machine.scan({}, cycle_ms=200)["t"]["et"] == 200


@pytest.mark.parametrize(("type_", "expression", "value"), [
    ("INT", "INT#32767 + n", -32768), ("INT", "n * 30000 * 3", 24464), ("USINT", "USINT#0 - INT_TO_USINT(n)", 255),
    ("INT", "(n - 8) / 2", -3), ("INT", "(n - 8) MOD 4", -3), ("INT", "-(n - 8) MOD -4", 3),
    ("INT", "(-32767 - n) / (n - 2)", -32768), ("DINT", "REAL_TO_DINT(2.5) + REAL_TO_DINT(3.5)", 6),
    ("SINT", "INT_TO_SINT(n + 199)", -56), ("REAL", "1.0 / 3.0 * INT_TO_REAL(n)", 0.3333333432674408),
    ("REAL", "INT_TO_REAL(n) / 0.0", math.inf), ("LREAL", "LREAL#1.0 / 3.0", 1 / 3), ("BOOL", "n = 1 XOR n <> 1", True),
    ("WORD", "NOT INT_TO_WORD(n)", 0xFFFE), ("TIME", "T#1s * n - T#1500ms", -500), ("INT", "LIMIT(2, n, 5)", 2)])
def test_numbers_are_those_of_a_controller(type_: str, expression: str, value: Any) -> None:
    assert result(type_, expression, "n : INT;", n=1) == value


@pytest.mark.parametrize(("variables", "body", "kind", "line", "message"), [
    ("VAR_INPUT n : INT := 4; END_VAR VAR a : ARRAY[1..3] OF INT; END_VAR", "n := n;\na[n] := 1;", "index", 4,
     "the index 4 lies outside of 1..3"),
    ("VAR_INPUT n : INT := 4; END_VAR VAR a : ARRAY[1..3] OF INT; END_VAR", "n := a[n - 4];", "index", 3,
     "the index 0 lies outside of 1..3"),
    ("VAR n, m : INT; END_VAR", "\nm := 5 / n;", "division", 4, "division by zero"),
    ("VAR n, m : INT; END_VAR", "m := 5 MOD n;", "division", 3, "division by zero"),
    ("VAR n : INT; END_VAR", "WHILE n < 1 DO n := -n; END_WHILE;", "loop", 3, "more than 10000 turns"),
    ("VAR n : INT(0..5) := 5; END_VAR", "n := n + 1;", "subrange", 3, "the value 6 lies outside of 0..5")])
def test_what_a_controller_stops_at_is_a_fault_with_its_place(variables: str, body: str, kind: str, line: int,
                                                              message: str) -> None:
    machine = block(variables, body)
    with pytest.raises(RunTimeFault, match=message) as caught:
        machine.scan({})
    assert (caught.value.kind, caught.value.span.line, caught.value.scan) == (kind, line, 1)


def test_loops_within_loops_end_together() -> None:
    machine = block("VAR i, j : INT; END_VAR", "FOR i := 1 TO 9999 DO FOR j := 1 TO 9999 DO ; END_FOR; END_FOR;")
    with pytest.raises(RunTimeFault, match="together"):
        machine.scan({})


def test_asserts_are_noted_and_the_scan_goes_on() -> None:
    machine = block("VAR_INPUT n : INT; END_VAR VAR_OUTPUT y : INT; END_VAR",
                    "//#ASSERT n < 5 : n is small\ny := n;")
    assert machine.scan({"n": 4})["y"] == 4
    assert not list(machine.broken)
    assert machine.scan({"n": 9})["y"] == 9
    broken, = machine.broken
    assert (broken.name, broken.span.line, broken.scan) == ("n is small", 3, 2)


def test_the_lines_that_ran_are_known() -> None:
    machine = block("VAR_INPUT n : INT; END_VAR VAR_OUTPUT y : INT; END_VAR",  # body from line 3 on
                    "IF n = 1 THEN\ny := 1;\nELSIF n = 2 THEN\ny := 2;\nELSE\ny := 3;\nEND_IF;\nIF n = 3 THEN\n"
                    "RETURN;\nEND_IF;\nWHILE y < 2 DO\ny := y + 1;\nEND_WHILE;\nCASE n OF\n1: y := 7;\n2: y := 8;\n"
                    "END_CASE;")

    def lines(n: int) -> list[int]:
        machine.scan({"n": n})
        return sorted(machine.lines)

    assert lines(1) == [3, 4, 10, 13, 14, 16, 17]
    assert lines(2) == [3, 5, 6, 10, 13, 16, 18]
    assert lines(3) == [3, 5, 8, 10, 11]


def test_a_label_of_case_ran_only_with_its_arm() -> None:
    machine = block("VAR_INPUT n : INT; go : BOOL; END_VAR VAR_OUTPUT y : INT; END_VAR",  # body from line 3 on
                    "CASE\nn\nOF\n1,\n2:\ny := 1;\n3: ;\n4:\nIF go THEN\ny := 4;\nEND_IF;\nELSE\n"
                    "IF go THEN\ny := 5;\nELSIF n = 9 THEN\ny := 9;\nEND_IF;\nEND_CASE;")

    def lines(n: int, go: bool = False) -> list[int]:
        machine.scan({"n": n, "go": go})
        return sorted(machine.lines)

    assert lines(1) == lines(2) == [3, 4, 6, 7, 8]
    assert lines(3) == [3, 4, 9]
    assert (lines(4), lines(4, True)) == ([3, 4, 10, 11], [3, 4, 10, 11, 12])
    assert (lines(8), lines(9), lines(9, True)) == ([3, 4, 15, 17], [3, 4, 15, 17, 18], [3, 4, 15, 16])


def test_in_outs_are_the_places_that_they_are_bound_to() -> None:
    machine = Machine(program(LOOPS))
    seen = machine.scan({"given": [5, -4, 30, 2, 1], "turn": 4})
    assert seen["work"] == [-4, 1, 2, 5, 30]
    assert seen["counts"] == [0, 6, 3]
    assert seen["total"] == 34
    assert (seen["first"], seen["turns"], seen["sorter"]["calls"]) == (2, 4, 1)
    assert seen["given"] == [5, -4, 30, 2, 1]


def test_structures_are_copied_and_not_shared() -> None:
    machine = Machine(program(MOTOR))
    seen = [machine.scan({"start": True, "speed": speed}) for speed in (10, 20, 30)]
    assert [point["x"] for point in seen[2]["points"]] == [30, 20, 10]
    assert [point["x"] for point in seen[0]["points"]] == [10, 0, 0]
    assert seen[2]["state"] == 1


def test_the_state_is_held_against_the_declarations() -> None:
    machine = Machine(program(MOTOR))
    machine.state = {"Count": 7, "delay": {"et": 200}, "points": [{"x": 1}, {"y": 2}, {}], "State": "halted"}
    state = machine.state
    assert (state["count"], state["delay"]["et"], state["delay"]["pt"]) == (7, 200, 0)
    assert state["points"] == [{"x": 1, "y": 2.5}, {"x": 0, "y": 2.0}, {"x": 0, "y": 2.5}]
    assert state["state"] == 2
    machine.state = machine.scan({})


@pytest.mark.parametrize(("values", "message"), [
    ({"speed": 40000}, "speed: 40000 is no INT, which goes from -32768 to 32767"), ({"run": 2}, "run: 2 is no BOOL"),
    ({"foo": 1}, "foo is no variable of Motor; it has start, stop"), ({"run": "yes"}, "'yes' is no BOOL"),
    ({"points": [1]}, "points: 1 values given; an array from 1 to 3 takes a list of 3"),
    ({"points": [{}, {}, {"z": 1}]}, r"points\[3\] has no part z; it has x, y"),
    ({"points": [{}, {}, {"y": True}]}, r"points\[3\].y: True is no REAL"), ({"delay": 5}, "delay: 5 is no TON"),
    ({"state": "gone"}, "one of Idle, Busy, Halted"), ({"state": 3}, "3 is no Mode")])
def test_a_state_that_does_not_fit_is_refused_in_words(values: dict[str, Any], message: str) -> None:
    machine = Machine(program(MOTOR))
    before = machine.state
    with pytest.raises(WrongValue, match=message):
        machine.state = {"count": 9, **values}
    assert machine.state == before


def test_only_inputs_are_given_to_a_scan() -> None:
    machine = Machine(program(MOTOR))
    with pytest.raises(WrongValue, match="Run is no input of Motor; it has start, stop, speed"):
        machine.scan({"Run": True})
    assert machine.scan({"SPEED": 3, "Start": 1})["start"] is True


def test_a_condition_is_looked_at_in_any_scan() -> None:
    machine = Machine(whole := program(MOTOR))
    condition = read_condition("Run --> MAX(Speed, 1) > 2 AND Delay.PT = T#300ms", whole).expression
    assert condition
    holds = machine.watch(condition)
    assert [holds(machine.scan({"start": True, "speed": speed})) for speed in (1, 2, 3)] == [False, False, True]


def test_nesting_and_long_chains_run() -> None:
    deep = "IF n > 0 THEN " * 89 + "n := n + 1;" + "END_IF;" * 89
    assert block("VAR n : INT := 1; END_VAR", deep).scan({})["n"] == 2
    chain = "IF n = 0 THEN n := 5; " + "".join(f"ELSIF n = {n} THEN n := n + 2; " for n in range(1, 200)) + "END_IF;"
    assert block("VAR n : INT := 150; END_VAR", chain).scan({})["n"] == 152
    assert block("VAR n : INT := 2; END_VAR", f"n := {' + '.join(['n'] * 95)};").scan({})["n"] == 190
    loops = f"{'WHILE n < 5 DO ' * MOST_LOOPS}n := n + 1;{'END_WHILE;' * MOST_LOOPS}"
    assert block("VAR n : INT; END_VAR", loops).scan({})["n"] == 5
    assert block("VAR n : LREAL := 1; END_VAR", f"n := {' + '.join(['n'] * 80)};").scan({})["n"] == 80.0


def test_a_condition_may_be_deep() -> None:
    machine = block("VAR_INPUT n : INT; END_VAR", "")
    condition = read_condition(f"{'n + (' * 70}n{')' * 70} = 71", machine.program).expression
    assert condition
    assert machine.watch(condition)(machine.scan({"n": 1}))


def test_names_and_texts_of_an_author_are_never_run() -> None:
    machine = block("VAR_INPUT __import__, exec, d, stop, lambda : INT; END_VAR VAR_OUTPUT h : INT; END_VAR",
                    "h := __import__ + exec + d + stop + lambda;\n//#ASSERT h < 0 : \"'); raise SystemExit #")
    assert machine.scan({"d": 1, "exec": 2, "__import__": 3, "stop": 4, "lambda": 5})["h"] == 15
    assert len(machine.broken) == 1


def test_ten_thousand_scans_take_little_time() -> None:
    machine = Machine(program(NUMBERS))
    begin = time.process_time()
    for number in range(10_000):
        machine.scan({"a": number % 700, "b": number % 13, "g": number % 2 == 0})
    assert time.process_time() - begin < 4, "it should be a tenth of that"
