"""What a program owes at run time: usual idioms are proved, and what goes wrong is shown by a run."""

from __future__ import annotations

from chatdev.departments.plc.proof.outcomes import Outcome
from chatdev.departments.plc.proof.properties import read_properties
from chatdev.departments.plc.proof.verify import verify

RINGS = (
    "a[i] := x; i := i + 1; IF i > 9 THEN i := 0; END_IF;",
    "a[i] := x; i := (i + 1) MOD 10;",
    "IF go THEN a[i] := x; i := (i + 1) MOD 10; END_IF;",
    "IF go THEN a[u] := x; u := (u + 1) MOD 10; END_IF;",
    "IF go THEN a[d] := x; d := (d + 1) MOD 10; END_IF;",
    "IF go THEN a[i] := x; IF i = 9 THEN i := 0; ELSE i := i + 1; END_IF; END_IF;",
    "IF go THEN i := i + 1; IF i >= 10 THEN i := 0; END_IF; a[i] := x; END_IF;",
    "IF i = 0 THEN i := 10; END_IF; i := i - 1; a[i] := x;",
    "IF go AND n < 10 THEN a[i] := x; i := (i + 1) MOD 10; n := n + 1; END_IF; "
    "IF NOT go AND n > 0 THEN y := a[j]; j := (j + 1) MOD 10; n := n - 1; END_IF;",
    "IF go AND n < 10 THEN a[n] := x; n := n + 1; END_IF; IF NOT go AND n > 0 THEN n := n - 1; y := a[n]; END_IF;",
    "y := y - a[i] + x; a[i] := x; i := (i + 1) MOD 10; IF n < 10 THEN n := n + 1; END_IF; y := y / n;",
)
OVERFLOWS = {  # a statement: the operators whose result may not fit, in the order of the source
    "y := x + 1;": "+", "y := x * 2 - 1;": "*-", "y := -x;": "neg", "y := x / (-1);": "/",
    "IF x < 1000 THEN y := x + 1; END_IF;": "", "y := MIN(x, 100) - MAX(x, -100);": "", "n := n + 5000;": "+",
    "IF m < 50 THEN m := m + 1; END_IF;": "", "u := u - 1;": "-", "d := x + d * 0;": "",
    "IF go THEN d := x * x; END_IF;": "*", "c(CU := go, PV := 3);": "", "y := i + (x - x) * 0;": "",
}


def test_what_goes_round_in_an_array_stays_within_it() -> None:
    blocks = "".join(f"FUNCTION_BLOCK Ring{number} VAR_INPUT x : INT; go : BOOL; END_VAR VAR i, j, n, y : INT; "
                     f"u : UINT; d : DINT; a : ARRAY[0..9] OF INT; END_VAR {body} END_FUNCTION_BLOCK\n"
                     for number, body in enumerate(RINGS))
    instances = "".join(f"r{number} : Ring{number};\n" for number in range(len(RINGS)))
    calls = "".join(f"r{number}(x := x, go := go);\n" for number in range(len(RINGS)))
    found = verify(f"{blocks}PROGRAM P VAR_INPUT x : INT; go : BOOL; END_VAR\nVAR\n{instances}END_VAR\n{calls}"
                   "END_PROGRAM", None, [])
    assert len({line_of(one) for one in found}) == len(RINGS)
    assert [RINGS[line_of(one) - 1] for one in found if one.verdict != "PROVED"] == []


def test_what_does_not_fit_its_type_is_shown() -> None:
    source = ("PROGRAM P VAR_INPUT x : INT; go : BOOL; END_VAR VAR i, m, n, y : INT; u : UINT; d : DINT; c : CTU; "
              "END_VAR " + "\n".join(OVERFLOWS) + "\nEND_PROGRAM")
    shown = dict.fromkeys(OVERFLOWS, "")
    for one in verify(source, None, [], watch_overflow=True, most_k=8):
        if one.verdict == "VIOLATED" and one.cycles:
            shown[list(OVERFLOWS)[line_of(one) - 1]] += one.asked.parameters[2]
    assert shown == OVERFLOWS


def line_of(outcome: Outcome) -> int:
    return int(outcome.asked.parameters[1].split(":")[0])


def test_a_range_is_owed_by_what_is_handed_over() -> None:
    source = ("FUNCTION F : INT\nVAR_INPUT n : INT (0..10); END_VAR\nF := n;\nEND_FUNCTION\n"
              "FUNCTION_BLOCK B\nVAR_INPUT n : INT (0..10); END_VAR\nEND_FUNCTION_BLOCK\n"
              "PROGRAM P\nVAR_INPUT x, z : INT; END_VAR\nVAR b : B; y : INT; END_VAR\n"
              "y := F(x);\ny := F(LIMIT(0, x, 10));\nb(n := z);\nb(n := ABS(z MOD 11));\nEND_PROGRAM")
    assert [(one.asked.parameters[:2], one.verdict) for one in verify(source, None, [])] == [
        (("subrange", "11:6"), "VIOLATED"), (("subrange", "12:6"), "PROVED"),
        (("subrange", "13:1"), "VIOLATED"), (("subrange", "14:1"), "PROVED")]


def test_an_input_is_written_before_the_next_one_is_looked_at() -> None:
    source = ("FUNCTION_BLOCK B\nVAR_INPUT a, c : INT; END_VAR\nVAR_OUTPUT y : INT; END_VAR\ny := c;\n"
              "END_FUNCTION_BLOCK\nPROGRAM P\nVAR_INPUT x : INT; END_VAR\nVAR b : B; END_VAR\nb(a := x, c := b.a);\n"
              "END_PROGRAM")
    same = {"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": {"0": "b.y = x"}}
    assert verify(source, None, read_properties([same]))[0].verdict == "PROVED"
