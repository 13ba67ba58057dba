"""What engineers' dialects have beside the plain language: read, run, and the same to a proof."""

import pytest

from chatdev.departments.plc.proof.properties import read_properties
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.st.core import IEC, Dialect
from chatdev.departments.plc.st.reading import Reading, read_program

COUNTER = """
INTERFACE ICount
METHOD Add : INT
VAR_INPUT n : INT; END_VAR
END_METHOD
END_INTERFACE
FUNCTION_BLOCK Base IMPLEMENTS ICount
VAR kept : INT; seen : ARRAY[0..3] OF INT; END_VAR
VAR_OUTPUT out : INT; END_VAR
METHOD PUBLIC Add : INT
VAR_INPUT n : INT := 1; END_VAR
VAR_INST calls : INT; END_VAR
calls := calls + 1;
kept := kept + Scale(n);
seen[calls MOD 4] := kept;
Add := kept;
END_METHOD
METHOD PROTECTED Scale : INT
VAR_INPUT v : INT; END_VAR
Scale := v;
END_METHOD
PROPERTY Total : INT
GET
Total := THIS^.kept;
END_GET
SET
kept := Total;
END_SET
END_PROPERTY
ACTION Clear: kept := 0; END_ACTION
out := kept;
END_FUNCTION_BLOCK
FUNCTION_BLOCK Derived EXTENDS Base
VAR factor : INT := 3; END_VAR
METHOD Scale : INT
VAR_INPUT v : INT; END_VAR
Scale := SUPER^.Scale(v) * factor;
END_METHOD
SUPER^();
END_FUNCTION_BLOCK
FUNCTION divide : INT
VAR_INPUT a, b : INT; END_VAR
VAR_OUTPUT rest : INT; END_VAR
VAR_IN_OUT count : INT; END_VAR
count := count + 1; rest := a MOD b; divide := a / b;
END_FUNCTION
FUNCTION sum : INT
VAR_IN_OUT row : ARRAY[*] OF INT; END_VAR
VAR i : DINT; END_VAR
FOR i := LOWER_BOUND(row, 1) TO UPPER_BOUND(row, 1) DO sum := sum + row[i]; END_FOR
END_FUNCTION
VAR_GLOBAL g : INT; END_VAR
FUNCTION bump : INT
g := g + 1; bump := g;
END_FUNCTION
"""


def read(body: str, declared: str = "", more: str = "", dialect: Dialect = IEC) -> Reading:
    head = f"{more}\nPROGRAM P\nVAR_INPUT x : INT; c : BOOL; END_VAR\nVAR y : DINT; s : STRING; b : BOOL;\n{declared}\n"
    return read_program(f"{head}END_VAR\n{body}\nEND_PROGRAM", "P", dialect)


def value(body: str, declared: str = "", more: str = "", dialect: Dialect = IEC, name: str = "y") -> object:
    """A variable after a scan with x = 10 and c TRUE."""
    reading = read(body, declared, more, dialect)
    assert reading.program, reading.diagnostics
    return Machine(reading.program).scan({"x": 10, "c": True})[name]


@pytest.mark.parametrize(("body", "declared", "expected"), [
    ("y := f.Add(2);", "f : Base;", 2), ("y := f.Add(2) + f.Add();", "f : Base;", 5),
    ("y := f.Add(n := 2); y := f.add__calls;", "f : Base;", 1),
    ("y := f.Add(2) + f.Add(1);", "f : Derived;", 15), ("f.Add(2); f(); y := f.out;", "f : Derived;", 6),
    ("f.Total := 7; y := f.Total + 1;", "f : Base;", 8), ("f.Total := 7; f.Clear(); y := f.Total;", "f : Base;", 0),
    ("f[1].Total := 4; y := f[0].Total + f[1].Add(1);", "f : ARRAY[0..1] OF Base;", 5),
    ("y := divide(x, 3, rest => k, count := n) * 100 + k * 10 + n;", "k, n : INT;", 311),
    ("divide(a := x, b := 3, rest => y, count := n);", "n : INT;", 1),
    ("WHILE divide(n, 2, count := k) < 3 DO n := n + 1; END_WHILE; y := n * 100 + k;", "k, n : INT;", 607),
    ("REPEAT n := n + 1; CONTINUE; UNTIL divide(n, 2, count := k) = 3 END_REPEAT; y := n * 100 + k;",
     "k, n : INT;", 606),
    ("FOR n := 1 TO divide(4, 2, count := k) DO y := y + n; END_FOR; y := y * 10 + k;", "k, n : INT;", 33),
    ("IF c AND_THEN bump() > 5 THEN y := 1; ELSIF bump() = 2 THEN y := 2; END_IF", "", 2),
    ("b := c OR_ELSE bump() > 0; y := g;", "", 0),
    ("y := sum(a) * 100 + sum(d);", "a : ARRAY[1..3] OF INT := [1, 2, 3]; d : ARRAY[0..1] OF INT := [7, 8];", 615),
    ("CASE bump() OF 1: y := 5; END_CASE", "", 5), ("bump(); bump(); y := g;", "", 2),
])
def test_what_changes_something_may_stand_in_an_expression(body: str, declared: str, expected: int) -> None:
    assert value(body, declared, COUNTER, Dialect("twincat")) == expected


@pytest.mark.parametrize(("body", "declared", "expected"), [
    ("IF c THEN y := 1; END_IF y := y + 1;", "", 2), ("CASE x OF 10: y := 3; END_CASE\ny := y + 1;", "", 4),
    ("b S= c; b R= FALSE; IF b THEN y := 1; END_IF", "", 1), ("b S= c; b R= c; IF NOT b THEN y := 1; END_IF", "", 1),
    ("REGION all of it (1)\nEND_REGION all of it\ny := 1; y += 2;", "", 3), ("ENO := c; y := 5;", "", 5),
    ("y := Standard.ABS(-3);", "", 3),
    ("t(IN := c, PT := T#0s); IF t.Q THEN y := 1; END_IF", "t : Standard.TON;", 1),
    ("y := f(EN := c, IN := 4, ENO => b);", "", 4),
    ("y := 3; y := f(EN := c);", "", 0), ("y := w + 250;", "w : BYTE := 10;", 4),
    ("w := 1; y := w - 2;", "w : WORD;", 65535), ("w := SHL(x, 2); y := w;", "w : INT;", 40),
    ("y := SHR(i, 1);", "i : INT := -5;", -3), ("y := SHR(i, 20);", "i : INT := -5;", -1),
    ("y := REAL_TO_DINT(x / 2.5);", "", 4), ("y := g(a, 2);", "a : INT;", 2),
    ("y := TO_DINT(7.5) + TRUNC_INT(2.9);", "", 10),
])
def test_what_a_dialect_writes_is_run(body: str, declared: str, expected: int) -> None:
    more = ("FUNCTION f : DINT\nVAR_INPUT IN : DINT; END_VAR\nf := IN;\nEND_FUNCTION\nFUNCTION g : DINT\n"
            "VAR_IN_OUT n : INT; END_VAR\nVAR_INPUT m : INT; END_VAR\nn := m;\ng := n;\nEND_FUNCTION")
    assert value(body, declared, more, Dialect("codesys")) == expected


@pytest.mark.parametrize(("text", "expected"), [
    ("LEN('abc')", 3), ("LEN('')", 0), ("LEFT('ASTR', 3)", "AST"), ("RIGHT('ASTR', 3)", "STR"),
    ("MID('ASTR', 2, 2)", "ST"),
    ("CONCAT('AB', 'CD', 'E')", "ABCDE"), ("INSERT('ABC', 'XY', 2)", "ABXYC"), ("INSERT('ABC', 'XY', 0)", "XYABC"),
    ("DELETE('ABXYC', 2, 3)", "ABC"), ("REPLACE('ABCDE', 'X', 2, 3)", "ABXE"), ("FIND('ABCBC', 'BC')", 2),
    ("FIND('ABC', 'X')", 0), ("LEFT('AB', 9)", "AB"), ("MID('AB', 1, 5)", ""), ("INT_TO_STRING(x)", "10"),
    ("STRING_TO_INT('-12.7x')", -12), ("BOOL_TO_STRING(c)", "TRUE"), ("SEL(c, 'no', 'yes')", "yes"),
    ("MID(STR := 'ASTR', LEN := 2, POS := 2)", "ST"), ("DATE_TO_STRING(D#2024-02-29)", "D#2024-02-29"),
    ("CONCAT('12345', '678')", "12345678"),
])
def test_texts_are_those_of_the_table(text: str, expected: object) -> None:
    """IEC 61131-3, third edition, table 34: the first character has the number 1."""
    target = "s" if isinstance(expected, str) else "y"
    assert value(f"{target} := {text};", name=target) == expected


def test_a_text_is_cut_where_its_variable_ends() -> None:
    assert value("k := 'abcdef'; s := CONCAT(k, k);", "k : STRING[4];", name="s") == "abcdabcd"
    assert value("k := s; s := k;", "k : STRING(2);", "", name="s") == ""


@pytest.mark.parametrize(("body", "declared", "name", "expected"), [
    ("d := DT#2024-02-28-23:59:50 + T#20s;", "d : DT;", "d", 1709164810),
    ("d := DT_TO_DATE(DT#2024-02-29-13:30:00);", "d : DATE;", "d", 1709164800),
    ("d := DT_TO_TOD(DT#2024-02-29-13:30:00);", "d : TOD;", "d", 48_600_000),
    ("d := D#2024-03-01 - D#2024-02-28;", "d : TIME;", "d", 172_800_000),
    ("d := TOD#12:00:00 - T#1h;", "d : TIME_OF_DAY;", "d", 39_600_000),
    ("d := TOD#12:00:00 - TOD#11:59:59.5;", "d : TIME;", "d", 500),
    ("d := T#1ms + LTIME#5us;", "d : LTIME;", "d", 1_005_000),
    ("d := LTIME_TO_TIME(LTIME#1500us);", "d : TIME;", "d", 1),
    ("d := CONCAT_DATE_TOD(D#2024-02-29, TOD#01:00:00);", "d : DT;", "d", 1709168400),
    ("IF D#2024-02-29 > D#2024-02-28 THEN y := 1; END_IF", "", "y", 1),
    ("y := DATE_TO_DINT(D#1970-01-02);", "", "y", 86400),
    ("d := T#100us;", "d : LTIME;", "d", 100_000), ("d := LTIME#1s * 2;", "d : LTIME;", "d", 2 * 10**9),
    ("d := LDT#2024-02-29-00:00:00;", "d : LDT;", "d", 1709164800 * 10**9),
    ("d := LDT_TO_LDATE(LDT#2024-02-29-13:30:00);", "d : LDATE;", "d", 1709164800 * 10**9),
    ("d := ADD_TIME(T#1s, T#2s);", "d : TIME;", "d", 3000), ("d := MULTIME(T#1s, 3);", "d : TIME;", "d", 3000),
])
def test_dates_and_times_are_reckoned(body: str, declared: str, name: str, expected: int) -> None:
    assert value(body, declared, name=name) == expected


def test_an_input_may_be_told_its_edges() -> None:
    reading = read_program("FUNCTION_BLOCK F\nVAR_INPUT go : BOOL R_EDGE; END_VAR\nVAR_OUTPUT n : INT; END_VAR\n"
                           "IF go THEN n := n + 1; END_IF\nEND_FUNCTION_BLOCK")
    assert reading.program
    machine = Machine(reading.program)
    assert [machine.scan({"go": one})["n"] for one in (True, True, False, True)] == [1, 1, 1, 2]


def test_a_source_without_an_entry_is_a_library() -> None:
    source = ("FUNCTION f : INT\nf := 1;\nEND_FUNCTION\nTYPE A : (x, y); B : INT; END_TYPE\n"
              "VAR_GLOBAL g, h : INT; END_VAR")
    reading = read_program(source, needs_entry=False)
    assert (reading.program, reading.diagnostics, reading.summary) == (
        None, (), "1 function, 2 types, 2 global variables")
    assert [one.code for one in read_program(source).diagnostics] == ["no-entry"]


def test_a_task_says_what_is_run_and_how_often() -> None:
    reading = read_program(
        "PROGRAM A END_PROGRAM\nPROGRAM B END_PROGRAM\nCONFIGURATION c\nVAR_GLOBAL g : INT; END_VAR\n"
        "RESOURCE r ON PLC\n"
        "TASK t(INTERVAL := T#20ms, PRIORITY := 0);\nPROGRAM main WITH t : A;\nEND_RESOURCE\nEND_CONFIGURATION")
    assert reading.program
    assert (reading.program.entry.name, reading.program.cycle_ms, reading.diagnostics) == ("a", 20, ())


@pytest.mark.parametrize(("body", "declared", "why"), [
    ("y := 1; m(go := c, done => b); IF m.out THEN y := 2; END_IF", "m : Motor;", "'Motor', which is not there"),
    ("y := 1; b := Other(x);", "", "'Other', which is not there"),
    ("y := 1; b := GVL.run;", "", "'GVL', which is not there"),
    ("y := 1; p := ADR(y); p := p + 1; p^ := 5;", "p : POINTER TO DINT;", "pointers"),
    ("y := 1; r := 5;", "r : REFERENCE TO DINT;", "references"),
    ("y := 1; i.Go();", "i : I;", "a reference or pointer that stands for nothing"),
    ("y := 1; b := %I*;", "", "direct addresses"),
    ("y := 1; u.a := 1; b := u.b = 0;", "u : U;", "unions"),
])
def test_a_run_ends_where_something_is_not_known(body: str, declared: str, why: str) -> None:
    more = "INTERFACE I\nMETHOD Go\nEND_METHOD\nEND_INTERFACE\nTYPE U : UNION a : INT; b : BYTE; END_UNION END_TYPE\n"
    reading = read(body, declared, more, Dialect(allows_missing=True))
    assert reading.gaps
    assert reading.program
    with pytest.raises(RunTimeFault) as fault:
        Machine(reading.program).scan({"x": 1, "c": True})
    assert (fault.value.kind, fault.value.message) == ("gap", f"not run: {why}")


def test_a_gap_of_a_kind_is_named_once() -> None:
    reading = read("p^ := 1; q^ := 2; b := Missing(x); b := Missing(x + 1); k := Missing(x);",
                   "p, q : POINTER TO INT; k : INT;", dialect=Dialect(allows_missing=True))
    assert [(one.code, one.severity) for one in reading.diagnostics] == [("gap-pointer", "gap"), ("gap-missing", "gap")]


def test_missing_names_are_errors_where_none_may_miss() -> None:
    found = read("y := Missing(x); z := 1;", "m : Motor;").diagnostics
    assert [one.code for one in found] == ["unknown-type", "unknown-function", "undeclared"]


@pytest.mark.parametrize(("condition", "verdict", "reason"), [
    ("y >= 0", "PROVED", ""), ("y < 3", "VIOLATED", ""),
    ("k = 7", "UNKNOWN", "not verified: 'Motor', which is not there"),
    ("kept = 5", "PROVED", ""), ("lost = 0", "UNKNOWN", "not verified: 'Motor', which is not there"),
    ("m.out", "UNKNOWN", "in `m.out`: not verified: 'Motor', which is not there"),
])
def test_a_stub_never_makes_a_verdict(condition: str, verdict: str, reason: str) -> None:
    """What does not depend on it is decided; a run of the other parts shows what is violated."""
    source = ("PROGRAM P\nVAR_INPUT x : INT (0..5); END_VAR\n"
              "VAR m : Motor; y : INT; k, lost : INT; kept : INT := 5; END_VAR\n"
              "m(go := x > 3, speed := lost, limit := kept + 0);\nIF m.ready THEN k := 7; END_IF\ny := x;\nEND_PROGRAM")
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [condition]}])
    found = verify(source, None, asked, dialect=Dialect(allows_missing=True))[0]
    assert found.verdict == verdict
    assert found.reason == reason or (condition == "m.out" and "not verified" in found.reason)


@pytest.mark.parametrize(("condition", "verdict"), [
    ("f.kept <= 100", "PROVED"), ("f.kept < 100", "VIOLATED"), ("f.calls >= 0", "PROVED"), ("n <= 10", "PROVED")])
def test_methods_are_proved_where_their_dispatch_is_static(condition: str, verdict: str) -> None:
    source = """
FUNCTION_BLOCK Base
VAR kept, calls : INT; END_VAR
METHOD Step : INT
VAR_INPUT n : INT; END_VAR
IF calls < 10 THEN calls := calls + 1; END_IF
kept := Limited(kept + n);
Step := calls;
END_METHOD
METHOD Limited : INT
VAR_INPUT n : INT; END_VAR
Limited := LIMIT(0, n, 1000);
END_METHOD
END_FUNCTION_BLOCK
FUNCTION_BLOCK Fine EXTENDS Base
METHOD Limited : INT
VAR_INPUT n : INT; END_VAR
Limited := MIN(SUPER^.Limited(n), 100);
END_METHOD
END_FUNCTION_BLOCK
PROGRAM P
VAR_INPUT x : INT (0..50); END_VAR
VAR f : Fine; n : INT; END_VAR
n := f.Step(x);
END_PROGRAM
"""
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [condition]}])
    assert verify(source, None, asked)[0].verdict == verdict


def test_a_pointer_makes_unknown_what_it_may_touch_and_no_more() -> None:
    source = ("PROGRAM P\nVAR_INPUT x : INT; END_VAR\nVAR p : POINTER TO INT; y, z : INT; END_VAR\n"
              "p^ := 3;\ny := 1;\nEND_PROGRAM")
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [one]}
                             for one in ("y = 1", "z = 0")])
    found = verify(source, None, asked)
    assert [(one.verdict, one.reason) for one in found[:2]] == [("PROVED", ""), ("UNKNOWN", "not verified: pointers")]


def test_lists_of_global_variables_are_namespaces() -> None:
    more = "NAMESPACE GVL_Main\nVAR_GLOBAL level : INT := 4; END_VAR\nEND_NAMESPACE\n"
    assert value("y := GVL_Main.level + level;", more=more) == 8
    assert [one.code for one in read("y := GVL_Other.level;", more=more).diagnostics] == ["undeclared"]


def test_a_body_that_is_drawn_is_a_stub() -> None:
    """It may write its own variables and global ones, and nothing else."""
    source = ("VAR_GLOBAL g : INT; END_VAR\nFUNCTION_BLOCK Drawn\nVAR_OUTPUT q : BOOL; END_VAR\nEND_FUNCTION_BLOCK\n"
              "PROGRAM P\nVAR_INPUT x : INT; END_VAR\nVAR d : Drawn; y, z : INT; END_VAR\n"
              "d();\nIF d.q THEN y := 1; END_IF\nEND_PROGRAM")
    dialect = Dialect(stubs=("Drawn",))
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [one]}
                             for one in ("z = 0", "y = 0", "g = 0", "y <= 1")])
    found = verify(source, None, asked, dialect=dialect)
    assert [one.verdict for one in found[:4]] == ["PROVED", "UNKNOWN", "UNKNOWN", "PROVED"]
    reading = read_program(source, None, dialect)
    assert [(one.code, one.severity) for one in reading.diagnostics] == [("gap-body", "gap")]
    assert reading.program
    with pytest.raises(RunTimeFault, match="not run: the body of Drawn, which is not there"):
        Machine(reading.program).scan({"x": 1})


PARTS = """PROGRAM P
VAR_INPUT x : BYTE; y : WORD; END_VAR
VAR w, d : DWORD; i : INT; l : LWORD; b : BYTE; END_VAR
w.%B0 := x;
w.%W1 := y;
d := l.%D1;
l.%D1 := w;
i.%B1 := w.%B3;
b := w.%B1;
END_PROGRAM"""


def test_a_part_of_a_word_is_read_and_written() -> None:
    """IEC 61131-3, third edition, 6.4.4.5.2: parts are counted from the lowest one, and the others stay."""
    reading = read_program(PARTS)
    assert (reading.diagnostics, reading.program is not None) == ((), True)
    assert reading.program
    machine = Machine(reading.program)
    machine.scan({"x": 0xAB, "y": 0x9234})
    state = machine.scan({"x": 1, "y": 0x8000})
    assert [state[name] for name in ("w", "l", "d", "i", "b")] == [
        0x80000001, 0x80000001 << 32, 0x923400AB, -32768, 0]


@pytest.mark.parametrize(("claim", "verdict"), [
    ("w.%B0 = x AND w.%W1 = y AND b = 0", "PROVED"), ("l.%D0 = 0 AND l.%D1 = w", "PROVED"),
    ("(i < 0) = (y >= 16#8000)", "PROVED"), ("w.%B0 <> 16#AB", "VIOLATED"), ("w.%B2 = 0", "VIOLATED")])
def test_parts_of_words_are_proved(claim: str, verdict: str) -> None:
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [claim]}])
    assert verify(PARTS, None, asked)[0].verdict == verdict


UPTIME = """FUNCTION Now : DWORD
Now := TIME_TO_DWORD(TIME());
END_FUNCTION
PROGRAM P
VAR last, passed : DWORD; begun : BOOL; long : LTIME; n : DINT; END_VAR
IF begun THEN passed := Now() - last; END_IF
last := Now();
begun := TRUE;
long := LTIME();
n := TIME_TO_DINT(TIME());
END_PROGRAM"""


def test_the_clock_of_the_controller_counts_the_scans() -> None:
    reading = read_program(UPTIME)
    assert (reading.gaps, reading.program is not None) == ((), True)
    assert reading.program
    machine = Machine(reading.program, cycle_ms=50)
    machine.scan({"time()": 2**31 - 90})
    state = machine.scan({"time()": 7})  # it counts in the first scan only
    assert (state["n"], state["passed"], state["long"]) == (2**31 - 90 + 100 - 2**32, 50, (2**31 + 10) * 1_000_000)


@pytest.mark.parametrize(("claim", "verdict"), [
    ("passed <= 1000", "PROVED"),
    ("n > 0", "VIOLATED"), ("passed <= 500", "VIOLATED")])
def test_how_long_the_controller_ran_before_is_not_known(claim: str, verdict: str) -> None:
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [claim]}])
    assert verify(UPTIME, None, asked)[0].verdict == verdict


@pytest.mark.parametrize(("body", "verdict"), [
    ("d := d + T#1s;", "UNKNOWN"), ("IF d < DT#2030-01-01-00:00:00 THEN d := d + T#1s; END_IF", "PROVED")])
def test_moments_are_proved_as_integers(body: str, verdict: str) -> None:
    source = f"PROGRAM P\nVAR d : DT := DT#2024-01-01-00:00:00; END_VAR\n{body}\nEND_PROGRAM"
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [
        "d >= DT#2024-01-01-00:00:00"]}])
    found = verify(source, None, asked, seconds=2 if verdict == "UNKNOWN" else 10)[0].verdict
    assert found == verdict or (verdict == "UNKNOWN" and found == "BOUNDED")


HEIR = """FUNCTION_BLOCK Heir EXTENDS Library.Task
VAR n : INT; END_VAR
METHOD Step
n := n + 1;
END_METHOD
METHOD Go
{body}
END_METHOD
END_FUNCTION_BLOCK
PROGRAM P
VAR h : Heir; seen, k : INT; END_VAR
{use}
seen := h.n;
k := 3;
END_PROGRAM"""


@pytest.mark.parametrize(("body", "use", "verdict"), [
    ("Step();", "h.Go();", "VIOLATED"), (";", "h.Go();", "PROVED"),
    ("THIS^.Restore();", "h.Go();", "UNKNOWN"), ("SUPER^.Restore();", "h.Go();", "UNKNOWN"),
    ("THIS^.Done := TRUE;", "h.Go();", "UNKNOWN"), ("IF THIS^.Done THEN n := 1; END_IF", "h.Go();", "UNKNOWN"),
    (";", "h.Restore();", "UNKNOWN"), (";", "h(execute := TRUE);", "UNKNOWN"),
    (";", "k := h.Other;", "PROVED")])
def test_members_of_a_block_that_is_not_there_may_do_anything(body: str, use: str, verdict: str) -> None:
    dialect = Dialect("twincat", allows_missing=True)
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": ["seen = 0"]}])
    source = HEIR.format(body=body, use=use)
    assert read_program(source, "P", dialect).program, read_program(source, "P", dialect).diagnostics
    assert verify(source, "P", asked, dialect=dialect, seconds=2 if verdict == "UNKNOWN" else 10)[0].verdict == verdict


def test_a_missing_member_stays_an_error_where_the_base_is_there() -> None:
    source = HEIR.format(body="THIS^.Restore();", use="h.Other();").replace(" EXTENDS Library.Task", "")
    assert [one.code for one in read_program(source, "P", Dialect("twincat", allows_missing=True)).diagnostics] == [
        "unknown-member", "unknown-member"]


@pytest.mark.parametrize("given", ["(THIS^)", "(THIS^, eMode.None)", "(3)", "(a, b)", "(size := 3)", "(f(1), 2)"])
def test_arguments_of_fb_init_are_a_gap(given: str) -> None:
    source = (f"FUNCTION_BLOCK B\nEND_FUNCTION_BLOCK\nPROGRAM P\nVAR b1 : B{given}; n : INT; END_VAR\n"
              "n := 1;\nEND_PROGRAM")
    reading = read_program(source, "P", Dialect("twincat"))
    assert ([one.code for one in reading.diagnostics], reading.program is not None) == (["gap-init"], True)


@pytest.mark.parametrize("given", ["(3)", "(1, 2)", "(1..)"])
def test_limits_of_a_number_stay_errors(given: str) -> None:
    assert not read_program(f"PROGRAM P\nVAR n : INT {given}; END_VAR\nn := 1;\nEND_PROGRAM").program


OWN = """TYPE Speed : STRUCT now : INT; END_STRUCT END_TYPE
TYPE Drive EXTENDS Speed : STRUCT on : BOOL; END_STRUCT END_TYPE
FUNCTION_BLOCK Brake
VAR_INPUT most : INT; END_VAR
VAR_IN_OUT speed : Speed; END_VAR
VAR n, calls : INT; END_VAR
IF speed.now > most THEN speed.now := most; END_IF
METHOD Stop
speed.now := 0;
END_METHOD
PROPERTY Asked : INT
GET
calls := calls + 1;
Asked := calls;
END_GET
END_PROPERTY
PROPERTY Last : Speed
GET
Last.now := n + 5;
END_GET
END_PROPERTY
END_FUNCTION_BLOCK
FUNCTION_BLOCK Soft EXTENDS Brake
SUPER^(most := 7, speed := speed);
n := speed.now;
Stop();
END_FUNCTION_BLOCK
PROGRAM P
VAR_INPUT x : INT; END_VAR
VAR s : Soft; b : Brake; d : Drive; y, k : INT; r : REAL; l : LREAL; END_VAR
d.now := x;
{body}
END_PROGRAM"""


@pytest.mark.parametrize(("body", "name", "expected"), [
    ("b(most := 3, speed := d); y := d.now;", "y", 3),
    ("s(speed := d); y := s.n;", "y", 7), ("s(speed := d); y := d.now;", "y", 0),
    ("b.Asked; b.Asked; y := b.Asked;", "y", 3), ("y := b.Last.now;", "y", 5),
    ("l := 0.1; r := l; y := REAL_TO_INT(r * 100.0);", "y", 10)])
def test_what_blocks_and_structures_inherit(body: str, name: str, expected: object) -> None:
    source, dialect = OWN.format(body=body), Dialect("twincat")
    reading = read_program(source, "P", dialect)
    assert reading.program, reading.diagnostics
    assert Machine(reading.program).scan({"x": 10})[name] == expected
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [
        f"x <> 10 OR y = {expected} OR k > 0"]}])
    body += " IF k < 3 THEN k := k + 1; END_IF"
    assert verify(OWN.format(body=body), "P", asked, dialect=dialect)[0].verdict == "PROVED"


@pytest.mark.parametrize(("body", "expected"), [
    ("b.Stop();", ["gap-unbound"]), ("b.n;", ["half-statement"]), ("b.Missing;", ["half-statement"]),
    ("b.Last.now := 3;", ["result-parts"]), ("y;", ["half-statement"]),
    ("b(speed := y);", ["output-type"]), ("b(speed := s);", ["output-type"])])
def test_what_a_block_does_not_have(body: str, expected: list[str]) -> None:
    reading = read_program(OWN.format(body=body), "P", Dialect("twincat"))
    assert [one.code for one in reading.diagnostics] == expected


def test_a_method_that_writes_an_unbound_in_out_may_write_anything() -> None:
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": ["k = 0"]}])
    found = verify(OWN.format(body="b.Stop();"), "P", asked, dialect=Dialect("twincat"))[0]
    assert (found.verdict, found.reason) == ("UNKNOWN", "not verified: an in-out outside of the call of its block")


def test_a_base_block_that_stands_for_its_heir_is_not_known() -> None:
    body = "use(b := s);"
    user = "FUNCTION_BLOCK Use\nVAR_IN_OUT b : Brake; END_VAR\nVAR n : INT; END_VAR\nn := b.n;\nEND_FUNCTION_BLOCK\n"
    source = OWN.format(body=body).replace("PROGRAM P\n", f"{user}PROGRAM P\nVAR use : Use; END_VAR\n")
    assert [one.code for one in read_program(source, "P", Dialect("twincat")).diagnostics] == ["gap-dispatch"]


OPENLY = """TYPE Code : (Ok, Bad := 16#303, Worse := 167206) DINT; END_TYPE
TYPE Small : (A, B := 200) BYTE; END_TYPE
TYPE Other : (C, D := 200); END_TYPE
TYPE Fault : STRUCT code : Code; text : STRING; END_STRUCT END_TYPE
VAR_GLOBAL CONSTANT none : Fault := (code := Code.Bad, text := 'no'); END_VAR
VAR_GLOBAL start : INT := 5; END_VAR
FUNCTION_BLOCK Reader
VAR_OUTPUT fault : Fault := none; k : INT{begins}; empty : Fault := (); END_VAR
VAR shown : INT; END_VAR
PROPERTY Shown : INT
SET PROTECTED
shown := Shown;
END_SET
END_PROPERTY
END_FUNCTION_BLOCK
PROGRAM P
VAR_INPUT x : INT; c : BOOL; END_VAR
VAR r : Reader(); y, z : INT; u, v : UDINT; q : USINT; b : BYTE; e : Small; o : Other; d : DINT; l : ULINT; END_VAR
{body}
END_PROGRAM"""


@pytest.mark.parametrize(("body", "expected"), [
    ("z := y := x;", 10), ("IF (z := x + 1) > 10 THEN y := z; END_IF", 11), ("y := z + (z := 3);", 3),
    ("z := 2; y := z + (z := 3) * z;", 11), ("y := 1; RETURN(c); y := 2;", 1),
    ("RETURN(c := x > 50); y := 2;", 2), ("y := DINT_TO_INT(r.fault.code) + r.empty.text = r.fault.text;", None),
    ("u := 12; v := u OR 3; y := UDINT_TO_INT(v XOR u);", 3), ("u := NOT u; IF u = 4294967295 THEN y := 7; END_IF", 7),
    ("FOR q := 5 TO 1 BY -1 DO y := y + q; END_FOR", 15), ("d := Code.Worse; y := DINT_TO_INT(d / 1000);", 167),
    ("e := Small.B; b := e; y := b;", 200), ("o := Small.B; IF o = Other.D THEN y := 4; END_IF", 4),
    ("u := -1; IF u > 5 THEN y := 9; END_IF", 9)])
def test_what_codesys_and_twincat_take(body: str, expected: int | None) -> None:
    source, dialect = OPENLY.format(body=body, begins=""), Dialect("twincat")
    reading = read_program(source, "P", dialect)
    if expected is None:
        assert not reading.program
        return
    assert reading.program, reading.diagnostics
    assert reading.gaps == ()
    assert Machine(reading.program).scan({"x": 10, "c": True})["y"] == expected
    assert (read_program(source, "P").program is None) == ("Code" not in body)
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [
        f"x <> 10 OR NOT c OR k > 0 OR y = {expected}"]}])
    counted = source.replace("PROGRAM P\n", "PROGRAM P\nVAR_OUTPUT k : INT; END_VAR\n").replace(
        f"{body}\nEND_PROGRAM", f"k := seen; seen := 1;\n{body}\nEND_PROGRAM").replace("VAR r :", "VAR seen : INT; r :")
    assert verify(counted, "P", asked, dialect=dialect)[0].verdict == "PROVED"


@pytest.mark.parametrize(("body", "begins", "expected"), [
    ("IF l <= y THEN z := 1; END_IF", "", ["gap-signs"]), ("d := l + y;", "", ["gap-signs"]),
    ("y := r.k;", " := start", ["gap-begins"]), ("u := -2147483649;", "", ["out-of-range"]),
    ("e := 3;", "", ["type-mismatch"]), ("b := c;", "", ["type-mismatch"]), ("c := (y := 3);", "", ["type-mismatch"]),
    ("y := x y;", "", ["unexpected"])])
def test_what_is_not_known_there_or_wrong(body: str, begins: str, expected: list[str]) -> None:
    reading = read_program(OPENLY.format(body=body, begins=begins), "P", Dialect("codesys"))
    assert [one.code for one in reading.diagnostics if one.severity != "warning"] == expected


def test_an_enumeration_has_a_bound_for_its_numbers() -> None:
    source = "TYPE E : (A, B := 16#7FFFFFFF) DINT; END_TYPE\nPROGRAM P\nVAR e1 : E; END_VAR\ne1 := A;\nEND_PROGRAM"
    assert [one.code for one in read_program(source, "P").diagnostics][:1] == ["wide-enumeration"]


def test_new_takes_a_type_and_a_count() -> None:
    body = "p := __NEW(POINTER TO INT, 3); y := 1;"
    assert {one.code for one in read(body, "p : POINTER TO INT;", dialect=Dialect("twincat")).diagnostics} == {
        "gap-pointer"}
