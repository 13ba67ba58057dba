"""Readers of Structured Text, of conditions and properties about it, and of traces; and what runs and translates a
program that was read."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from itertools import islice

from benchmarks.plc.c_source import Untranslatable, emit_c
from chatdev.departments.plc.proof.properties import PropertyError, read_properties
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.trace import WrongTrace, random_inputs, read_trace, run_trace, write_trace
from chatdev.departments.plc.st.core import Program
from chatdev.departments.plc.st.diagnostics import Diagnostic, format_diagnostics
from chatdev.departments.plc.st.reading import read_condition, read_program
from tests.fuzz.readers.reader import Reader, value_in

SCANS = 3
STATEMENTS = ["IF ", "a ", "THEN ", "ELSIF ", "ELSE ", "END_IF;", "CASE ", "n ", "OF ", "1: ", "2..5: ", "END_CASE;",
              "FOR i := 0 TO 3 DO ", "BY -1 ", "END_FOR;", "WHILE ", "DO ", "END_WHILE;", "REPEAT ", "UNTIL ",
              "END_REPEAT;", "EXIT;", "CONTINUE;", "RETURN;", ":= ", "=> ", "; ", "\n", "n := n + 1;", "r := r / 3;",
              "x[i] := n;", "x[", "] ", "( ", ") ", ", ", "+ ", "- ", "* ", "/ ", "** ", "MOD ", "AND ", "OR ", "XOR ",
              "NOT ", "AND_THEN ", "= ", "<> ", "< ", ">= ", "r ", "t ", "w ", "w.3 ", "w.%X15 ", "d ", "e ", "Idle ",
              "Mode#Busy ", "timer(IN := a, PT := t);", "timer.Q ", "timer.ET ", "p.x ", "TRUE ", "0 ", "32767 ",
              "-32768 ", "16#FFFF ", "1E38 ", "1.5 ", "T#1s ", "INT#5 ", "'a' ", "ABS(", "LIMIT(", "SEL(", "MUX(",
              "SHL(", "EXPT(", "SQRT(", "MAX(", "REAL_TO_INT(", "INT_TO_REAL(", "TO_TIME(", "twice(", "twice(n)",
              "//#ASSERT n > 0 : low\n", "//", "(*", "*)", "{", "}", "'", "\"", "#", "%IW0", "&", "!", "\0", "é",
              "\ufeff", "9" * 40, "1:", "f(", "box(n := n);", "box.y ", "{IF defined (A)} ",
              "{ELSIF NOT defined (B№)} ", "{ELSE} ", "{END_IF} ", "{define A} ", "{attribute 'a'} ", "{ C { } } ",
              "(* (* *) *) ", "/* /* */ */ ",
              "276.48 ", "u := i * 1.5;", "Mode.Idle ", "e := Mode.Halted;"]
DECLARATIONS = ["VAR ", "VAR_INPUT ", "VAR_OUTPUT ", "VAR_IN_OUT ", "VAR_TEMP ", "VAR_GLOBAL ", "VAR_EXTERNAL ",
                "CONSTANT ", "RETAIN ", "END_VAR ", "n ", ": ", "INT ", "BOOL;", "REAL ", "LREAL;", "STRING[9];",
                "ARRAY[0..3] OF ", "STRUCT ", "END_STRUCT;", "TYPE ", "END_TYPE ", "(A, B := 3);", "INT (0..9);", ":= ",
                "[1, 3(2)];", "(x := 1);", "TON;", "B;", "P;", "T;", "; ", ", ", "\n", "FUNCTION ", "FUNCTION_BLOCK ",
                "PROGRAM ", "END_FUNCTION ", "END_FUNCTION_BLOCK ", "END_PROGRAM ", "B ", "P ", "T ", "BEGIN ",
                "AT %IX0.0 ", "POINTER TO ",
                "v№ : INT;\n", "c№ : BOOL := TRUE; ", "T№ : (A№, C№);\n", "9" * 9, "-1", "..", "1E39;", "n := 1;",
                "VERSION : 1\n", "METHOD "]
FRAME = ("TYPE Mode : (Idle, Busy); END_TYPE TYPE Point : STRUCT x : INT; y : REAL; END_STRUCT; END_TYPE "
         "FUNCTION twice : INT VAR_INPUT v : INT; END_VAR twice := 2 * v; END_FUNCTION "
         "FUNCTION_BLOCK Box VAR_INPUT n : INT; END_VAR VAR_OUTPUT y : INT; END_VAR y := y + n; END_FUNCTION_BLOCK "
         "PROGRAM P VAR_INPUT a, b : BOOL; n : INT; u : REAL; END_VAR VAR_OUTPUT q : BOOL; END_VAR "
         "VAR i : INT; d : DINT; w : WORD; r : REAL; t : TIME; e : Mode; x : ARRAY[0..3] OF INT; p : Point; "
         "box : Box; timer : TON; END_VAR\n{}\nEND_PROGRAM")
CONDITIONS = ["n ", "q ", "a ", "timer.Q ", "instance.", "P.", "x[1] ", "x[i] ", "p.x ", "e ", "Busy ", "Mode#Idle ",
              "--> ", "== ", "!= ", "= ", "<= ", "AND ", "OR ", "NOT ", "( ", ") ", "; ", "5 ", "1.5 ", "T#1s ", "+ ",
              "TRUE ", "ABS(", "twice(", ", ", ":= ", "nowhere ", "\0", "é", "(*", "9" * 40]
PROPERTIES = ['[{"job_req": "pattern", "pattern_id": "', 'pattern-invariant', 'pattern-implication', 'pattern-never',
              '", "pattern_params": {"0": "', '", "1": "', '"}}]', "[", "]", "{", "}", '"property": ', '"job_req": ',
              '"assertion"', '"pattern_params": ', "null", "1", "1e999", ", ", ": ", '"', "a = b", "\\u0000", "NaN",
              '"property_description": ']
ROWS = ["n", "a", "q", "timer.ET", "x[1]", "x[9]", "p.y", ",", ";", "\n", "TRUE", "1", "0", "-5", "1.5", "T#1s", "16#F",
        "inf", "nan", '"', "'", " ", "\t", "\0", "9" * 40, "e", "Busy", "nowhere", "[", "]", ".", "\r"]


@cache
def whole() -> Program:
    """The program that conditions and traces are about."""
    program = read_program(FRAME.replace("{}", "q := a AND n > 5; timer(IN := a, PT := T#1s);")).program
    assert program is not None
    return program


def structured_text(text: str) -> None:
    """A source; if it is right, it runs and becomes C."""
    reading = read_program(text)
    check_places(text, reading.diagnostics)
    assert (reading.program is None) == any(one.severity == "error" for one in reading.diagnostics)
    if reading.program is None:
        return
    machine = Machine(reading.program)
    with suppress(RunTimeFault):
        for inputs in islice(random_inputs(reading.program), SCANS):
            machine.scan(inputs)
    with suppress(Untranslatable):
        emit_c(reading.program)


def check_places(text: str, diagnostics: tuple[Diagnostic, ...]) -> None:
    """Every diagnostic says something of a place within the text."""
    for one in diagnostics:
        assert 1 <= one.span.line <= text.count("\n") + 1
        assert one.span.column >= 1
        assert one.message
        assert "{{" not in one.message
    format_diagnostics(text, diagnostics)


def condition(text: str) -> None:
    """What a property asks for, looked at in a scan."""
    found = read_condition(text, whole())
    assert (found.expression is None) == any(one.severity == "error" for one in found.diagnostics)
    if found.expression is not None:
        machine = Machine(whole())
        with suppress(RunTimeFault):
            assert machine.watch(found.expression)(machine.scan({"a": True, "n": 7})) in (True, False)


def properties(text: str) -> None:
    """A file of properties, as a text and as a value."""
    for given in (text, value_in(text)):
        with suppress(PropertyError):
            read_properties(given)


def trace(text: str) -> None:
    """A table of scans, run and written again."""
    with suppress(WrongTrace):
        given = read_trace(text, whole())
        assert read_trace(write_trace(given), whole()).columns == given.columns
        with suppress(RunTimeFault):
            run_trace(whole(), given)


READERS = {
    "Structured Text": Reader(structured_text, [*STATEMENTS, *DECLARATIONS],
                              ("{}", FRAME, FRAME.replace("{}", "IF {} THEN q := TRUE; END_IF;"),
                               FRAME.replace("{}", "CASE {} OF 1: q := a; ELSE q := b; END_CASE;"),
                               FRAME.replace("{}", "r := {};"), FRAME.replace("{}", "n := {};"),
                               "{} PROGRAM P VAR n : INT; END_VAR n := n + 1; END_PROGRAM",
                               "PROGRAM P {} n := 1; END_PROGRAM", "PROGRAM P VAR {} END_VAR END_PROGRAM",
                               "TYPE {} END_TYPE PROGRAM P END_PROGRAM")),
    "condition of a property": Reader(condition, CONDITIONS, ("{}", "n > {}", "({})")),
    "properties": Reader(properties, PROPERTIES, ("{}", '[{"property": {}}]',
                                                  '[{"job_req": "pattern", "pattern_id": "pattern-invariant", {}}]')),
    "trace of scans": Reader(trace, ROWS, ("{}", "n,a\n{}", "n,a,q\n1,TRUE,FALSE\n{}")),
}
