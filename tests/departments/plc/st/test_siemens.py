"""SCL of TIA Portal (STEP 7 V17, its online help): what it has of its own is run, and the same to a proof."""

import pytest

from chatdev.departments.plc.proof.properties import read_properties
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine
from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.reading import read_program

SCL = Dialect("siemens")
MORE = """
TYPE "U"
VERSION : 0.1
   STRUCT
      a { ExternalWritable := 'False'} : Int := 7;
      b : Bool;
      c : STRUCT
         d : Int;
         e : Int := 2;
      END_STRUCT;
   END_STRUCT;
END_TYPE
DATA_BLOCK "D"
{ S7_Optimized_Access := 'TRUE' }
VERSION : 0.1
NON_RETAIN
   VAR
      s : "U" := (3, (), (4, ()));
      t : Array[1..3] of "U";
   END_VAR
   VAR RETAIN
      g, h : Int;
   END_VAR
BEGIN
   t[2].c.d := 5;
   t[2].a := 6;
   g := -3;
END_DATA_BLOCK
FUNCTION "total" : Int
VAR_INPUT
   row : Array[*] of Int;
END_VAR
VAR_TEMP
   i : DInt;
END_VAR
BEGIN
   #total := 0;
   FOR #i := LOWER_BOUND(ARR := #row, DIM := 1) TO UPPER_BOUND(ARR := #row, DIM := 1) DO
      #total := #total + #row[#i];
   END_FOR;
END_FUNCTION
"""


def source(body: str, declared: str = "") -> str:
    """A block with an input `x` and outputs `n` and `m`."""
    return f"""{MORE}
FUNCTION_BLOCK "F"
TITLE = 'a block'
{{ S7_Optimized_Access := 'TRUE' }}
AUTHOR : me
VERSION : 0.1
VAR_INPUT x : Int; go : Bool; END_VAR
VAR_OUTPUT n, m : Int; END_VAR
VAR
{declared}
END_VAR
BEGIN
{body}
END_FUNCTION_BLOCK
"""


def verdicts(text: str, *conditions: str) -> list[str]:
    """What is proved of these invariants."""
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [one]}
                             for one in conditions])
    return [one.verdict for one in verify(text, "F", asked, dialect=SCL)[:len(asked)]]


def said(text: str, dialect: Dialect = SCL) -> list[str]:
    return [one.code for one in read_program(text, "F", dialect).diagnostics if one.severity != "warning"]


@pytest.mark.parametrize(("body", "declared", "expected"), [
    ("#n := \"D\".t[2].c.d * 10 + \"D\".t[2].a;", "", 56),  # what a data block begins with, part by part
    ("#n := \"D\".t[1].a * 10 + \"D\".t[2].c.e;", "", 72),
    ("#n := \"D\".s.a * 100 + \"D\".s.c.d * 10 + \"D\".s.c.e;", "", 342),  # the values in order, () its own
    ("#n := \"D\".g; \"D\".h := 5;", "", -3),
    ("#n := #m := #x; #n := #n + #m;", "", 8),  # "Multiple assignments"
    ("#a[1].b := #n := #x; #n += #a[1].b;", "a : Array[0..1] of Struct b : Int; END_STRUCT;", 8),
    ("(/**/)\n#n := 1; (/* de-DE: (so) */)\n#n := #n + 1;", "", 2),  # "Multilingual comments"
    ("#n := ABS(/* of */ -3);", "", 3),
    ("REGION one (1)\n#n := 2;\nEND_REGION", "", 2),
    ("#n := #zero + #x;", "END_VAR\nVAR CONSTANT zero : Int;", 4),  # of a constant without a value
    ("#n := \"total\"(#row);", "row : Array[0..2] of Int := [1, 2, 3];", 6),  # Array[*] as an input
    ("#len := 'abc'; #n := LEN(#len);", "len : String;", 3),
    ("#p := #q; #n := #p.i * 10 + #p.s.j;", "p : Struct i : Int; s : Struct j : Int; END_STRUCT; END_STRUCT;\n"
     "q : Struct i : Int := 4; s : Struct j : Int := 2; END_STRUCT; END_STRUCT;", 42),  # "Assigning structures"
    ("#t.TON(IN := TRUE, PT := T#0s, Q => #b); IF #b AND #t.Q THEN #n := 1; END_IF;", "t : IEC_TIMER; b : Bool;", 1),
    ("#t[1].TOF(IN := TRUE, PT := T#1s); #n := BOOL_TO_INT(#t[1].Q);", "t : Array[0..1] of IEC_TIMER;", 1),
    ("#t(IN := TRUE, PT := T#0s); #n := BOOL_TO_INT(#t.Q);",
     "t {InstructionName := 'TON_TIME'; LibVersion := '1.0'} : TON_TIME;", 1),
    ("#r := 0.5; #r := SQR(#x) + SQR(#r); #n := REAL_TO_INT(#r * 4.0);", "r : Real;", 65),
    ("CASE #x OF\n 1, 3..5:\n #n := 2;\n ELSE:\n #n := 3;\nEND_CASE;", "", 2),
    ("#n := W#16#0F + B#16#1 + 2#1010_0000;", "", 176),
])
def test_it_runs_and_the_proof_says_the_same(body: str, declared: str, expected: int) -> None:
    text = source(body, declared)
    found = read_program(text, "F", SCL)
    assert found.program, found.diagnostics
    assert not found.gaps
    assert Machine(found.program).scan({"x": 4})["n"] == expected
    assert verdicts(text, f"x <> 4 OR n = {expected}", f"x <> 4 OR n <> {expected}") == ["PROVED", "VIOLATED"]


@pytest.mark.parametrize(("body", "declared", "gaps", "open_ones"), [
    ("#m := 1; IF #v.s = 'a' THEN #n := 1; END_IF", "b : DWord; v AT b : Struct s : String[2]; END_STRUCT;",
     ["gap-overlay"], "n"),
    ("#n := DWORD_TO_INT(PEEK(area := 16#84, dbNumber := 1, byteOffset := 0)); #m := 1;", "", ["gap-instruction"],
     "n"),
    ("#n := 3; #k := MOVE_BLK_VARIANT(SRC := #x, COUNT := 1, DEST => #n); #m := 1;", "k : Int;", ["gap-instruction"],
     "n"),
    ("#d := DTL#2024-02-29-12:00:00.5; #n := UINT_TO_INT(#d.YEAR); #m := 1;", "d : DTL;", ["gap-type"],
     "n"),
])
def test_a_gap_makes_unknown_what_it_touches_and_no_more(body: str, declared: str, gaps: list[str],
                                                         open_ones: str) -> None:
    text = source(body, declared)
    assert said(text) == gaps
    assert verdicts(text, f"{open_ones} = 0", f"{open_ones} <> 0", "m = 1") == ["UNKNOWN", "UNKNOWN", "PROVED"]


VIEWS = "w : DWord; bits AT w : Array[0..31] of Bool; bytes AT w : Array[1..4] of Byte; y : Word;\n" \
        "s AT y : Struct low : Bool; high : Bool; END_STRUCT; i : Int;"


def test_parts_of_a_view_are_those_of_the_variable() -> None:
    """The first byte is the highest: "Overlaying tags with AT"."""
    text = source("#w := INT_TO_DWORD(#x); #y := 0; #bytes[1] := 16#A1; #bytes[4] := BYTE#16#0F; #s.high := TRUE;\n"
                  "#n := BOOL_TO_INT(#bits[0]) * 100 + BOOL_TO_INT(#bits[1]) * 10 + BOOL_TO_INT(#bits[24]);", VIEWS)
    found = read_program(text, "F", SCL)
    assert found.program
    assert not found.gaps
    seen = Machine(found.program).scan({"x": 0x1200})
    assert (seen["w"], seen["y"], seen["n"]) == (0xA100120F, 0x0200, 101)
    assert verdicts(text, "n = 101", "y = 16#0200", "w.%B3 = 16#A1", "w.%B1 = 0") == [
        "PROVED", "PROVED", "PROVED", "VIOLATED"]


def test_the_tick_of_the_controller_counts_milliseconds_and_begins_anew() -> None:
    """"Read system time": TIME_TCK goes from 0 to 2147483647."""
    text = source("#last := #now; #now := TIME_TCK(); IF #begun THEN #n := DINT_TO_INT(TIME_TO_DINT(#now - #last)); "
                  "END_IF; #begun := TRUE;", "last, now : Time; begun : Bool;")
    found = read_program(text, "F", SCL)
    assert found.program
    machine = Machine(found.program)
    seen = [machine.scan({"time()": 2**31 - 150} if scan == 0 else {})["now"] for scan in range(3)]
    assert seen == [2**31 - 50, 50, 150]
    assert verdicts(text, "now >= T#0s", "now >= last", "n <= 1000 OR now < last") == ["PROVED", "VIOLATED", "PROVED"]


def test_a_view_is_written_and_read_by_an_index_that_varies() -> None:
    text = source("#w := 0; IF #x >= 0 THEN #bits[#x MOD 32] := TRUE; END_IF; #n := BOOL_TO_INT(#w.%X24);", VIEWS)
    assert said(text) == []
    assert verdicts(text, "n = 0 OR w.%B3 = 1", "n = 0", "NOT bits[0] OR n = 1") == ["PROVED", "VIOLATED", "PROVED"]


def test_a_view_of_an_input_is_that_of_each_call() -> None:
    block = ("FUNCTION_BLOCK G\nVAR_INPUT w : Word; b AT w : Array[0..1] of Byte; END_VAR\n"
             "VAR_OUTPUT q : Byte; END_VAR\n#q := #b[0];\nEND_FUNCTION_BLOCK\n")
    text = block + source("#g(w := INT_TO_WORD(#x)); #m := BYTE_TO_INT(#g.q);", "g : G;")
    assert said(text) == []
    assert verdicts(text, "x < 0 OR m = x / 256", "m = 0") == ["PROVED", "VIOLATED"]


def test_a_view_that_is_larger_than_its_variable_is_a_gap() -> None:
    text = source("#m := 1; #bits[1] := TRUE;", "w : Word; bits AT w : Array[0..31] of Bool;")
    assert said(text) == ["gap-overlay"]
    assert verdicts(text, "m = 1") == ["UNKNOWN"]


def test_a_timer_of_any_kind_runs_as_the_block_of_its_kind() -> None:
    kinds = ("TON", "TOF", "TP")
    text = source("\n".join(f"#any_{one}.{one}(IN := #go, PT := T#200ms);\n#own_{one}(IN := #go, PT := T#200ms);"
                            for one in kinds) + "\n#n := BOOL_TO_INT(#any_TON.Q);",
                  "\n".join(f"any_{one} : IEC_TIMER; own_{one} : {one}_TIME;" for one in kinds))
    same = [f"any_{one}.Q = own_{one}.Q AND any_{one}.ET = own_{one}.ET" for one in kinds]
    assert verdicts(text, *same, "n = 0") == ["PROVED", "PROVED", "PROVED", "VIOLATED"]


RIGHT = source("#t.TON(IN := #go, PT := T#1s);\nIF #t.Q THEN\n#n := #m := \"total\"(#row);\nEND_IF;\n#p := \"D\".s;",
               "t : IEC_TIMER; row : Array[0..2] of Int := [1, 2(5)]; p : \"U\"; q : Struct z : Int; END_STRUCT;")


def test_right_scl_is_taken() -> None:
    assert said(RIGHT) == []


@pytest.mark.parametrize(("right", "wrong", "code"), [
    ("END_IF;", "", "not-closed"), ("END_FOR;", "", "not-closed"), ("END_FUNCTION\n", "", "not-closed"),
    ("   END_STRUCT;\nEND_TYPE", "END_TYPE", "not-closed"), ("END_DATA_BLOCK", "", "not-closed"),
    ("#t.Q", "#t.Z", "unknown-member"), ("#t.Q", "#s.Q", "undeclared"), ("#t.TON(", "#t(", "timer-kind"),
    ("#t.TON(", "#t.TONX(", "unknown-member"), ("#t.TON(", "#row.TON(", "no-parts"),
    ("PT := T#1s", "PT := 5", "type-mismatch"), ("PT := T#1s", "PX := T#1s", "unknown-parameter"),
    ("#n := #m :=", "#n := 3 :=", "unexpected"), ("#n := #m :=", "#n := #go :=", "type-mismatch"),
    ("#n := #m :=", "#n := #zz :=", "undeclared"), ("(#row)", "(#x)", "output-type"),
    ("(#row)", "(#row, 3)", "too-many-arguments"), ("\"total\"(#row)", "\"totals\"(#row)", "unknown-function"),
    ("#p := \"D\".s;", "#q := \"D\".s;", "type-mismatch"), ("\"D\".s;", "\"E\".s;", "undeclared"),
    ("\"D\".s;", "\"D\".x;", "unknown-member"), ("p : \"U\"", "p : \"V\"", "unknown-type"),
    ("(3, (), (4, ()))", "(3, (), (4, (), 5))", "too-many-values"), ("(3, (), (4, ()))", "(TRUE)", "initial-form"),
    ("(3, (), (4, ()))", "(3, 4, ())", "type-mismatch"), ("t[2].a := 6;", "t[4].a := 6;", "index-range"),
    ("t[2].a := 6;", "t[2].z := 6;", "unknown-member"), ("t[2].a := 6;", "t[2].a := T#1s;", "type-mismatch"),
    ("#row[#i]", "#row[#go]", "undeclared"), ("[1, 2(5)]", "[1, 3(5)]", "too-many-values"),
])
def test_scl_with_one_mistake_is_refused(right: str, wrong: str, code: str) -> None:
    assert right in RIGHT
    assert code in said(RIGHT.replace(right, wrong, 1))


def test_a_global_name_that_a_local_one_hides_is_told() -> None:
    text = source("#n := \"D\".g;", "D : Int;")
    assert said(text) == ["global-hidden"]
