"""What lies in one memory is one: parts of a UNION, variables whose addresses overlap, addresses in statements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.plc.shared_memory import WRITERS, compare, write_addresses, write_union
from chatdev.departments.plc.proof.outcomes import Property, Verdict
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.reading import Reading, read_program

U = """TYPE U : UNION
  w : WORD; b : ARRAY[0..1] OF BYTE; n : INT; s : STRUCT lo : BYTE; hi : SINT; END_STRUCT;
  bits : STRUCT b0 : BIT; b1 : BIT; END_STRUCT;
END_UNION END_TYPE
TYPE R : UNION r : REAL; d : DWORD; b : ARRAY[0..3] OF BYTE; u : ARRAY[0..1] OF U; END_UNION END_TYPE
"""
HEAD = "PROGRAM P\nVAR_INPUT x : WORD; f : REAL; i : INT; END_VAR\nVAR u : U; r : R; a : ARRAY[0..2] OF U;\n"


def read(source: str, dialect: str = "twincat") -> Reading:
    return read_program(source, "P", Dialect(dialect))  # type: ignore[arg-type]


def verdicts(source: str, *conditions: str, dialect: str = "twincat") -> list[Verdict]:
    asked = [Property("pattern-invariant", (one,)) for one in conditions]
    return [one.verdict for one in verify(source, "P", asked, seconds=5, dialect=Dialect(dialect))][:len(conditions)]  # type: ignore[arg-type]


def program(body: str, declared: str = "", head: str = U + HEAD) -> str:
    return f"{head}{declared}\nEND_VAR\n{body}\nEND_PROGRAM\n"


@pytest.mark.parametrize(("body", "right", "wrong"), [
    ("u.w := x;", "u.b[0] = WORD_TO_BYTE(x)", "u.b[1] = WORD_TO_BYTE(x)"),
    ("u.w := x;", "u.bits.b1 = x.1", "u.bits.b0 = x.1"),
    ("u.w := x; u.b[1] := 0;", "u.w = (x AND 16#00FF)", "u.w = x"),
    ("u.w := 0; u.b[ABS(i MOD 2)] := 1;", "u.w = 1 OR u.w = 256", "u.w = 1"),
    ("u.s.hi := -1; u.s.lo := 0;", "u.n = -256", "u.n = 255"),
    ("r.r := -2.0;", "r.d = 16#C0000000", "r.d = 16#40000000"),
    ("r.d := 16#3F800000;", "r.r = 1.0", "r.r = 2.0"),
    ("r.r := f; r.b[3] := r.b[3] AND 16#7F;", "NOT (r.r < 0.0)", "NOT (r.r > 0.0)"),
    ("r.u[1].b[0] := 7;", "r.b[2] = 7", "r.b[3] = 7"),
    ("IF i >= 0 THEN a[i MOD 3].n := 5; END_IF", "a[2].w = 0 OR a[2].b[0] = 5", "a[1].b[0] = 0"),
    ("IF x = 3 THEN u.w := 3; END_IF", "u.b[0] = 0 OR u.w = 3", "u.b[0] = 0"),
])
def test_the_parts_of_a_union_are_one_memory(body: str, right: str, wrong: str) -> None:
    assert verdicts(program(body), right, wrong) == ["PROVED", "VIOLATED"]


BUMP = "FUNCTION Bump : INT\nVAR_IN_OUT n : INT; END_VAR\nn := n + 1; Bump := n;\nEND_FUNCTION\n"
TWO = "FUNCTION Two : INT\nVAR_IN_OUT n : INT; w : WORD; END_VAR\nn := 1; w := 0; Two := n;\nEND_FUNCTION\n"


def test_what_a_call_writes_is_carried() -> None:
    source = BUMP + program("u.w := 16#FF; Bump(u.n);")
    assert verdicts(source, "u.b[1] = 1", "u.b[0] = 16#FF") == ["PROVED", "VIOLATED"]


def test_two_parts_of_a_union_that_a_call_is_given_are_not_followed() -> None:
    source = TWO + program("y := Two(u.n, u.w); z := 3;", "y, z : INT;")
    assert verdicts(source, "y = 1", "z = 3") == ["UNKNOWN", "PROVED"]
    found = read(source).program
    assert found is not None
    with pytest.raises(RunTimeFault, match="same memory"):
        Machine(found).scan({}, 10)


def test_a_union_begins_with_what_one_part_begins_with() -> None:
    found = read(program("", "v : U := (n := -2); END_VAR\nVAR_INPUT given : U;")).program
    assert found is not None
    machine = Machine(found)
    assert (machine.state["v"]["w"], machine.state["v"]["b"]) == (0xFFFE, [0xFE, 0xFF])
    given = {**machine.state["given"], "w": 0x0102}
    assert machine.scan({"given": given}, 10)["given"]["b"] == [2, 1]


def test_a_state_of_a_union_is_one_for_induction() -> None:
    body = "IF x = 7 AND u.w < 5 THEN u.w := u.w + 1; END_IF"
    assert verdicts(program(body), "u.b[1] = 0", "u.b[0] < 5") == ["PROVED", "VIOLATED"]


@pytest.mark.parametrize(("dialect", "union", "why"), [
    ("iec", "UNION a : WORD; b : ARRAY[0..1] OF BYTE; END_UNION", "the order of bytes"),
    ("iec", "UNION a : BYTE; b : STRUCT c : BYTE; d : INT; END_STRUCT; END_UNION", "which the standard leaves open"),
    ("codesys", "UNION a : LWORD; b : STRUCT c : BYTE; d : DWORD; END_STRUCT; END_UNION", "aligned"),
    ("codesys", "UNION a : LWORD; b : STRING[7]; END_UNION", "the type STRING"),
    ("codesys", "UNION a : ARRAY[0..999] OF BYTE; b : BYTE; END_UNION", "more than 256 values"),
])
def test_a_union_whose_layout_is_not_known_is_a_gap(dialect: str, union: str, why: str) -> None:
    part = "v.a[0]" if "999" in union else "v.a"
    source = (f"TYPE V : {union} END_TYPE\nPROGRAM P\nVAR v : V; y, z : BOOL; END_VAR\n{part} := 1; y := {part} = 1;"
              "\nz := TRUE;\nEND_PROGRAM\n")
    gaps = read(source, dialect).gaps
    assert [one.code for one in gaps][:1] == ["gap-union"]
    assert why in gaps[0].message
    assert verdicts(source, "y", "z", dialect=dialect) == ["UNKNOWN", "PROVED"]


def test_equal_parts_need_no_dialect() -> None:
    source = "TYPE V : UNION a : INT; b : WORD; END_UNION END_TYPE\n" + program(
        "v.a := -1;", "v : V;", "PROGRAM P\nVAR\n")
    assert verdicts(source, "v.b = 16#FFFF", "v.b = 1", dialect="iec") == ["PROVED", "VIOLATED"]


ADDRESSED = """VAR_GLOBAL number AT %MW2 : WORD; same AT %MW2 : INT; END_VAR
FUNCTION_BLOCK F
VAR q AT %QB1 : BYTE; END_VAR
VAR_INPUT g : BYTE; END_VAR
q := USINT_TO_BYTE(BYTE_TO_USINT(q) + BYTE_TO_USINT(g));
END_FUNCTION_BLOCK
PROGRAM P
VAR bit AT %MX5.0 : BOOL; far AT %MX2.0 : BOOL; f1, f2 : F; out AT %QX1.0 : BOOL;
on AT %IX0.2 : BOOL; all AT %IB0 : BYTE; seen : BOOL; END_VAR
number := 0;
same := 256;
seen := on;
f1(g := 1);
f2(g := 2);
IF %QB1 = 6 THEN %QB1 := 0; END_IF
END_PROGRAM
"""


@pytest.mark.parametrize(("dialect", "bit", "far"), [("codesys", True, False), ("twincat", False, False),
                                                     ("siemens", False, True)])
def test_addresses_overlap_as_the_dialect_has_it(dialect: str, bit: bool, far: bool) -> None:
    """%MW2 are the bytes 4 and 5 in CODESYS, 2 and 3 elsewhere; the first byte is the highest one for Siemens."""
    wanted = f"bit = {str(bit).upper()}", f"far = {str(far).upper()}", "number = 256", "seen = all.2"
    assert verdicts(ADDRESSED, *wanted, "on = all.3", "seen = all.3", dialect=dialect) == ["PROVED"] * 4 + [
        "VIOLATED"] * 2


def test_instances_have_one_variable_at_an_address() -> None:
    found = read(ADDRESSED).program
    assert found is not None
    machine = Machine(found)
    assert [machine.scan({}, 10)["%qb1"] for _ in range(3)] == [3, 0, 3]
    assert machine.state["p.out"] is True
    source = ADDRESSED.replace("seen := on;", "seen := f2.q = F3();") + (
        "FUNCTION F3 : BYTE\nF3 := %QB1;\nEND_FUNCTION\n")
    assert verdicts(source, "seen", "NOT seen") == ["PROVED", "VIOLATED"]


def test_the_standard_does_not_say_how_addresses_overlap() -> None:
    reading = read(ADDRESSED, "iec")
    assert [one.code for one in reading.diagnostics] == ["gap-overlap", "sizes-apart"]
    assert verdicts(ADDRESSED, "number = 256", "seen = all.2", "seen = on", dialect="iec") == [
        "UNKNOWN", "VIOLATED", "PROVED"]
    alone = ADDRESSED.replace("bit AT %MX5.0", "bit").replace("far AT %MX2.0", "far")
    assert verdicts(alone, "number = 256", "same = 255", dialect="iec") == ["PROVED", "VIOLATED"]


def test_what_overlaps_begins_with_one_value() -> None:
    source = "VAR_GLOBAL a AT %MW0 : WORD := 16#0102; b AT %MB1 : BYTE; END_VAR\nPROGRAM P\nVAR y : BYTE; END_VAR\n"
    for dialect, wanted in (("twincat", 1), ("siemens", 2)):
        found = read(source + "y := b;\nEND_PROGRAM\n", dialect).program
        assert found is not None
        assert Machine(found).scan({}, 10)["y"] == wanted


def test_addresses_that_overlap_and_are_given_to_one_call_are_not_known() -> None:
    source = ("VAR_GLOBAL a AT %MW0 : INT; END_VAR\nFUNCTION Go : BOOL\nVAR_IN_OUT n : INT; END_VAR\nn := 5; "
              "Go := %MB0 = 5;\nEND_FUNCTION\nPROGRAM P\nVAR y, z : BOOL; END_VAR\ny := Go(a);\n"
              "z := TRUE;\nEND_PROGRAM\n")
    assert verdicts(source, "y", "z") == ["UNKNOWN", "PROVED"]


@pytest.mark.parametrize("what", WRITERS)
@pytest.mark.parametrize("seed", range(3))
def test_memory_is_what_its_bytes_say(what: str, seed: int) -> None:
    """`python -m benchmarks.plc.shared_memory` compares many more."""
    assert compare(WRITERS[what](1000 + seed), seed) == ""


def test_the_study_finds_another_order_of_bytes() -> None:
    programs = [one for one in map(write_addresses, range(12)) if one.dialect == "twincat"]
    assert any(compare(one, 0, read_as="siemens") for one in programs)
    moved = [replace(one, cells=[replace(cell, byte=cell.byte ^ 1) for cell in one.cells])
             for one in map(write_union, range(3))]
    assert all(compare(one, 0) for one in moved)
