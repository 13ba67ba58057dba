"""Loops whose turns an input bounds: what does not depend on them is proved, what is wrong is not."""

from __future__ import annotations

import time

import pytest

from chatdev.departments.plc.proof.checks import Check, model_of, rules_of
from chatdev.departments.plc.proof.outcomes import RUN_TIME, Limits, Outcome, Property
from chatdev.departments.plc.proof.verify import verify

COUNTS = "ok := n > 0; s := 0; FOR i := 1 TO n DO s := s + 1; END_FOR;"
SUMS = """error := FALSE; status := 16#0; s := 0;
IF n < 0 OR n > 1000 THEN error := TRUE; status := 16#8001; RETURN; END_IF;
FOR i := 0 TO n DO s := s + 1; END_FOR;"""
HALVES = """ok := go; k := 0;
IF n > 0 THEN x := n; s := 0; WHILE x <> s DO s := x; x := (x + n / x) / 2; IF x = 0 THEN x := 1; END_IF; END_WHILE;
END_IF;"""
SORTS = """error := FALSE; status := 16#7000;
IF NOT go THEN RETURN; END_IF;
IF n < 1 OR n > 3 THEN error := TRUE; status := 16#8200; RETURN; END_IF;
k := n / 2;
WHILE k > 0 DO
  FOR i := k TO n - 1 DO
    x := a[i]; j := i;
    WHILE j >= k DO
      IF a[j - k] <= x THEN EXIT; END_IF;
      a[j] := a[j - k]; j := j - k;
    END_WHILE;
    a[j] := x;
  END_FOR;
  k := k / 2;
END_WHILE;
status := 16#1;"""
HELD = {  # a body: what is proved of it
    COUNTS: ("n <= 0 OR ok", "w <= 65535", "n < 0 OR s = n", "s >= 0", "n < 1 OR i = n + 1"),
    SUMS: ("n >= 0 OR error", "NOT error OR status = 16#8001", "NOT error OR s = 0", "error OR s = n + 1", "s <= 1001"),
    HALVES: ("ok = go", "n <= 0 OR x = s", "k = 0"),
    SORTS: ("NOT error OR status = 16#8200", "NOT go OR error OR k = 0"),
    "REPEAT s := s + 2; k := k + 1; UNTIL k >= n END_REPEAT; k := 0; s := 0;": ("k = 0", "s = 0"),
    "s := 0; FOR i := 1 TO m DO IF a[i MOD 8] > 5 THEN s := s + 1; END_IF; END_FOR;": ("s <= m", "s >= 0", "i = m + 1"),
    "s := 0; FOR i := 1 TO m DO FOR j := 1 TO m DO s := 7; END_FOR; END_FOR;": ("s = 0 OR s = 7", "i = m + 1"),
    "i := 0; ok := FALSE; WHILE i < m AND NOT ok DO ok := a[i MOD 8] = n; i := i + 1; END_WHILE;": (
        "i <= m", "ok OR i = m"),
}
BROKEN = {  # a body: what sometimes does not hold
    COUNTS: ("n < 0 OR s = n + 1", "s <= 300", "s < n", "ok", "i <= 250"),
    "s := 0; FOR i := 1 TO m DO s := s + 1; IF s > 150 THEN EXIT; END_IF; END_FOR;": ("s = m", "s < 151", "i = m + 1"),
    "s := 0; FOR i := 1 TO m DO IF i = 77 THEN CONTINUE; END_IF; s := s + 1; END_FOR;": ("s = m",),
    "ok := TRUE; FOR i := 1 TO m DO IF a[i MOD 8] = 3 THEN RETURN; END_IF; END_FOR; ok := FALSE;": ("ok", "NOT ok"),
    "s := 0; FOR i := 1 TO m DO FOR j := 1 TO i DO s := s + 1; END_FOR; END_FOR;": ("s <= 400", "s = m"),
    "i := 0; WHILE i < m DO i := i + 2; END_WHILE;": ("i = m", "i <= 299"),
    "u := 250; i := 0; WHILE i < m DO u := u + 1; i := i + 1; END_WHILE;": ("u >= 250", "u <= 252"),
    "k := 3; FOR i := 1 TO m DO IF i = 290 THEN k := 4; END_IF; END_FOR;": ("k = 3",),
}


def program_of(body: str) -> str:
    return ("PROGRAM P\nVAR_INPUT n : INT; m : INT (0..300); w : UINT; go : BOOL; a : ARRAY[0..7] OF INT; END_VAR\n"
            "VAR_OUTPUT ok, error : BOOL; status : WORD; END_VAR\nVAR i, j, k, s, x, y : INT; u : USINT; END_VAR\n"
            f"{body}\nEND_PROGRAM\n")


def always(*texts: str) -> list[Property]:
    return [Property("pattern-invariant", (text,)) for text in texts]


def duties_of(outcomes: list[Outcome], kind: str) -> list[str]:
    return [one.verdict for one in outcomes if one.asked.parameters[0] == kind]


@pytest.mark.parametrize("body", HELD)
def test_what_holds_of_an_open_loop_is_proved(body: str) -> None:
    texts = HELD[body]
    seconds = 4 if body == HALVES else 60  # whether its loop ends stays unknown, however much time there is
    found = verify(program_of(body), None, always(*texts), seconds=seconds)
    assert [(one.asked.parameters[0], one.reason) for one in found[:len(texts)] if one.verdict != "PROVED"] == []


@pytest.mark.parametrize("body", BROKEN)
def test_what_an_open_loop_breaks_is_not_proved(body: str) -> None:
    texts = BROKEN[body]
    found = verify(program_of(body), None, always(*texts), seconds=5)[:len(texts)]
    assert [one.asked.parameters[0] for one in found if one.verdict in ("PROVED", "BOUNDED")] == []
    assert all("did not replay" not in one.reason for one in found)
    assert any(one.verdict == "VIOLATED" for one in found)


def test_how_many_turns_are_a_fault_is_told() -> None:
    source = program_of("FOR i := 1 TO x DO s := 1; END_FOR; x := n;").replace("n : INT;", "n : INT (0..20000);")
    short, = verify(source, None, [])
    assert (short.verdict, short.cycles[-1].fault) == ("VIOLATED", "a loop made more than 10000 turns in one scan")
    long, = verify(source, None, [], most_turns=20_000)
    assert long.verdict == "PROVED"


def test_a_bound_of_the_type_ends_no_loop() -> None:
    """A counter that comes to the end of its type begins anew, so that it never passes its last value."""
    found = verify(program_of("FOR u := 0 TO 255 DO s := 1; END_FOR;"), None, [], most_turns=300)
    assert duties_of(found, "loop") == ["VIOLATED"]


def test_a_loop_without_end_hides_no_fault_in_it() -> None:
    found = verify(program_of("k := 0; WHILE n > 5 DO y := 10 / (k - 3); k := k + 1; END_WHILE;"), None, [])
    assert (duties_of(found, "division"), duties_of(found, "loop")) == (["VIOLATED"], [])
    found = verify(program_of("k := 0; WHILE n > 5 DO y := 10 / (k + 1); k := (k + 1) MOD 7; END_WHILE;"), None, [])
    assert (duties_of(found, "division"), duties_of(found, "loop")) == (["PROVED"], ["VIOLATED"])


def test_a_fault_in_a_late_turn_is_seen() -> None:
    found = verify(program_of("FOR i := 1 TO m DO y := 10 / (i - 180); END_FOR;"), None, [])
    assert (duties_of(found, "division"), duties_of(found, "loop")) == (["VIOLATED"], [])
    found = verify(program_of("FOR i := 0 TO m DO a[i] := 0; END_FOR;").replace("VAR_INPUT", "VAR", 1).replace(
        "m : INT (0..300);", "", 1).replace("VAR_OUTPUT", "VAR_INPUT m : INT (0..300); END_VAR VAR_OUTPUT"), None, [])
    assert duties_of(found, "index") == ["VIOLATED"]


def test_an_earlier_fault_of_a_later_turn_hides_nothing() -> None:
    """Line 7 fails in the second turn only if line 6 would fail in the third."""
    body = "FOR i := 1 TO 3 DO\ny := 10 / a[i];\ny := 10 / (x + SEL(i = 2, 1, a[3]));\nEND_FOR;\nx := 0;"
    found = verify(program_of(body), None, [])
    assert duties_of(found, "division") == ["VIOLATED", "VIOLATED"]


def test_an_assertion_in_a_loop_is_asked_of_every_turn() -> None:
    body = "s := 0; FOR i := 1 TO m DO s := s + 1;\n//#ASSERT s < 120 : few\n//#ASSERT s <= m : within\nEND_FOR;"
    assert duties_of(verify(program_of(body), None, []), "assertion") == ["VIOLATED", "PROVED"]


HARD = {  # a program with a loop that is too hard for the solver: what a simulation sees broken
    """PROGRAM P VAR_INPUT t : STRING[20]; END_VAR VAR_OUTPUT n : INT; END_VAR VAR p : INT; s : STRING[20]; END_VAR
    s := t; n := 0; p := FIND(s, ',');
    WHILE p > 0 DO n := n + 1; s := DELETE(s, p, 1); p := FIND(s, ','); END_WHILE;
    END_PROGRAM""": ("n < 2", "n >= 0 OR n < 0"),
}


@pytest.mark.parametrize("source", HARD)
def test_what_any_simulation_breaks_is_not_left_unknown(source: str) -> None:
    broken, held = verify(source, None, always(*HARD[source]), seconds=1)[:2]
    assert (broken.verdict, bool(broken.cycles)) == ("VIOLATED", True)
    assert held.verdict != "VIOLATED"


def test_random_runs_show_faults_goals_and_nothing_past_a_gap() -> None:
    """What random runs find by themselves, without the solver."""
    source = program_of("FOR i := 1 TO 10 DO s := s + a[i MOD 8]; END_FOR; y := 10 / (n - 3); ok := w = 5;")
    limits = Limits(seconds=2)
    model = model_of(source, None, rules_of(None, limits))
    duty = next(one.parameters for one in model.transition.obligations if one.kind == "division")
    for asked, verdict in ((Property(RUN_TIME, duty), "VIOLATED"),
                           (Property("pattern-reachability", ("y = 10",)), "PROVED"),
                           (Property("pattern-forbidden", ("ok AND w <> 5",)), None)):
        found = Check(model, asked, limits).decide_by_chance()
        assert (found and found.verdict) == verdict
    behind = "PROGRAM P VAR_INPUT n : INT; END_VAR VAR p : POINTER TO INT; y : INT; END_VAR y := p^; END_PROGRAM"
    model, began = model_of(behind, None, rules_of(None, Limits())), time.process_time()
    assert Check(model, always("y = 0")[0], Limits()).decide_by_chance() is None
    assert time.process_time() - began < 0.5, "runs that all end at a gap are tried on"
    beside = behind.replace("y := p^;", "IF n > 0 THEN y := p^; ELSE y := 3; END_IF;")
    found = Check(model_of(beside, None, rules_of(None, limits)), always("y = 0")[0], limits).decide_by_chance()
    assert found
    assert found.verdict == "VIOLATED"
