"""What is said of programs with errors: each one once, at its place, and nothing that only follows from it."""

from __future__ import annotations

import pytest

from chatdev.departments.plc.st.diagnostics import MOST_ERRORS, MOST_WARNINGS, format_diagnostics, messages
from chatdev.departments.plc.st.reading import read_program

HEAD = """FUNCTION_BLOCK F
VAR_INPUT a : BOOL; n : INT; w : WORD; r : REAL; END_VAR
VAR_OUTPUT q : BOOL; o : INT; END_VAR
VAR t : TON; i : INT; arr : ARRAY[1..3] OF INT; d : DINT; tm : TIME; END_VAR
VAR CONSTANT K : INT := 3; END_VAR
"""
END = "\nEND_FUNCTION_BLOCK\n"
BODIES = {  # statements from line 6 on -> line:column code of all that is said
    "IF a THEN\n q := TRUE;\n": "9:1 not-closed",
    "IF a THEN\n IF q THEN\n  q := FALSE;\n END_IF;\n o := 1;": "11:1 not-closed",
    "IF a THEN\n q := a;\nELSE IF q THEN\n o := 1;\nEND_IF;": "8:1 else-if 11:1 not-closed",
    "IF a THEN q := a; ELSE q := a; ELSIF q THEN o := 1; END_IF;": "6:32 after-else",
    "IF a q := TRUE; END_IF;": "6:6 expected",
    "IF a := TRUE THEN q := a; END_IF;": "6:6 assigns-in-condition",
    "IF a == TRUE THEN q := a; END_IF;": "6:6 foreign-operator",
    "IF n THEN q := TRUE; END_IF;": "6:4 no-condition",
    "if (a) { o := 1; }": "6:8 braces",
    "o := 1\nq := a;": "6:7 missing-semicolon",
    "o = 1;\nq := a;": "6:3 equals-assigns",
    "x : INT;": "6:3 colon-assigns",
    "o;": "6:1 half-statement",
    "o += 1;": "6:1 half-statement",
    "if := 3;\no := 40000;": "6:1 reserved-name 7:6 out-of-range",
    "o := IF;\nq := a;": "6:6 no-expression",
    "o := n n;\nq := 7;": "6:8 unexpected 7:6 type-mismatch",
    "o := (n + 1;\nq := 7;": "6:12 open-bracket 7:6 type-mismatch",
    "o := T#5x;": "6:6 bad-literal",
    "o := 16#FG;": "6:6 bad-literal",
    "o := 'abc;": "6:6 open-string",
    "q := “x”;": "6:6 wrong-character",
    "(* never closed\no := 1;": "6:1 open-comment",
    "(* swallows\no := 1; (* next *)": "6:1 open-comment",
    "{IF defined (A)} o := 1; {ELSE} o := 2; {END_IF}": "6:1 undefined-names",
    "{IF hasvalue (A, '1')} o := 1; {END_IF}": "6:1 refused-pragma",
    "{IF defined (type: A)}{ELSIF A}{END_IF}": "6:1 refused-pragma 6:23 refused-pragma",
    "{define A}\n{IF NOT NOT defined (A)}{END_IF}": "6:1 refused-pragma 7:1 undefined-names",
    "{IF defined (A)} o := 1;": "6:1 open-pragma",
    "{ELSE}\n{END_IF}": "6:1 stray-pragma 7:1 stray-pragma",
    "{error 'no target'}": "6:1 error-pragma",
    "{ while (1) { x = 1; } }\n{ f(x); }": "6:1 foreign-code",
    "//#ASSERT o > 1 {IF defined (A)} : name": "6:17 refused-pragma",
    "o := n + LINT#1;": "6:6 type-mismatch",
    "d := w + w;": "6:6 bits-arithmetic",
    "o := SHL(n, 2);": "6:6 shifts-integer",
    "END_IF;\nq := 7;": "6:1 stray 7:6 type-mismatch",
    "END_VAR\nq := 7;": "6:1 stray 7:6 type-mismatch",
    "7;": "6:1 no-statement",
    "o := nn + 1; o := nn + 2; o := xyzzy;": "6:6 undeclared 6:32 undeclared",
    "o := 5.5;": "6:6 type-mismatch",
    "o := d;": "6:6 type-mismatch",
    "o := w;": "6:6 risky-conversion",
    "o := a + 1;": "6:6 wrong-operands",
    "q := NOT n = 3;": "6:6 wrong-operand",
    "q := 1 < n < 3;": "6:6 wrong-operands",
    "o := o / 0;": "6:6 division-by-zero",
    "q := r = 1.0;": "6:6 real-equality",
    "tm := T#1s + n;": "6:7 wrong-operands",
    "t(IN := a, PTT := T#1s);": "6:12 unknown-parameter",
    "t(IN := a, PT := 1000);": "6:18 type-mismatch",
    "t(a, T#1s, a);": "6:12 too-many-arguments",
    "t(IN := a, IN := q);": "6:12 twice-given",
    "t(Q => o);": "6:3 output-type",
    "t(Q => w.3);": "6:8 assign-input",
    "t.Q := a;": "6:1 assign-member",
    "q := t.QX;": "6:6 unknown-member",
    "q := t.last;": "6:6 private-member",
    "q := t(IN := a);": "6:6 block-in-expression",
    "TON(IN := a);": "6:1 block-as-instance",
    "q := TON(a, tm);": "6:6 block-as-function",
    "n(a);": "6:1 no-block",
    "o := LIMT(0, n, 5);": "6:6 unknown-function",
    "o := t.Q(3);": "6:6 no-function",
    "q := SQRT(r) > REAL#1E39;": "6:16 out-of-range",
    "r := 9999999999999999999999999999999999999999;": "6:1 assign-input 6:6 out-of-range",
    "q := r < 1E39;": "",
    "o := LEN('abc');": "",
    "o := TO_INT(t);": "6:6 no-conversion",
    "q := w.%B2 > 1;": "6:6 no-slice",
    "o := LIMIT(0, n);": "6:6 missing-arguments",
    "o := REAL_TO_INT(r, r);": "6:6 argument-count",
    "o := STRING_TO_INT('5'); o := LEN(INT_TO_STRING(n));": "",
    "tm := STRING_TO_TIME('T#5s');": "6:7 gap-text",
    "tm := TIME();": "",
    "q := LTIME#200000d > LTIME#1d;": "6:6 gap-long-time",
    "o := arr^;": "6:6 no-pointer",
    "o := SIZEOF(t);": "6:6 gap-size",
    "q := ADR(o) = ADR(o);": "6:6 gap-pointer",
    "JMP there; there: o := 1;": "6:1 gap-jump",
    "JMP there; o := 1;": "6:1 gap-jump 6:5 no-label",
    "JMP a1; a1: o := 1; a1: o := 2;": "6:1 gap-jump 6:21 declared-twice",
    "LIMIT(0, n, 5);": "6:1 unused-result",
    "ABS(n).x := 5;": "6:1 result-parts",
    "arr[5] := 1;": "6:5 index-range",
    "arr[a] := 1;": "6:5 wrong-index",
    "arr[1, 2] := 3;": "6:1 no-elements",
    "o.x := 3;": "6:1 no-parts",
    "w.%X16 := a;": "6:1 no-bit",
    "K := 4;": "6:1 assign-constant",
    "n := 4;": "6:1 assign-input",
    "FOR i := 1 TO 3 DO i := 2; END_FOR;": "6:20 assign-counter",
    "FOR a := 1 TO 3 DO ; END_FOR;": "6:5 wrong-counter",
    "FOR i := 1 TO 3 BY 0 DO ; END_FOR;": "6:20 zero-step",
    "FOR i := 1 TO o + 1 BY n DO o := 3; n := 2; END_FOR;\no := 4;":
        "6:29 assign-bound 6:37 assign-input 6:37 assign-bound",
    "FOR i := 1 TO 3\n o := i;\nEND_FOR;": "7:2 expected",
    "FOR i := 1 TO 3 DO\n o := i;\nEND_WHILE;\nq := 7;": "8:1 not-closed 9:6 type-mismatch",
    "WHILE a\n o := 1;\nEND_WHILE;": "7:2 expected",
    "REPEAT\n o := 1;\nEND_REPEAT;": "8:1 expected",
    "EXIT;": "6:1 no-loop",
    "CASE n OF\n 1: o := 1;\n 2, 1: o := 2;\n 3..1: o := 3;\n a: o := 4;\nEND_CASE;":
        "8:5 label-twice 9:2 empty-range 10:2 not-constant",
    "CASE n OF\n 1: IF a THEN o := 1;\n 2: o := 2;\nEND_CASE;": "8:2 not-closed",
    "CASE a OF 1: o := 1; END_CASE;": "6:6 wrong-selector",
    "CASE 3 OF 1: o := 1; 40000: o := 2; END_CASE;": "6:22 out-of-range",
    "CASE 3.5 OF 1: o := 1; END_CASE;": "6:6 wrong-selector",
    "//#ASSERT o > : name\n//#ASSERT o >\n//#ASSERT": "6:14 no-expression 7:14 no-expression 8:10 no-expression",
    "o := %IW*;": "6:6 gap-address 6:6 risky-conversion",
}
TEXTS = {  # whole texts
    "": "1:1 empty",
    "\0\1": "1:1 binary",
    " " * 4_000_001: "1:1 too-long",
    "x := 1;": "1:1 outside",
    "FUNCTION_BLOCK\nVAR x : INT; END_VAR\nx := y;\nEND_FUNCTION_BLOCK": "2:1 expected 3:6 undeclared",
    "FUNCTION_BLOCK F\nVAR\n x INT;\n INT y;\n if : INT;\n int : BOOL;\nEND_VAR\nEND_FUNCTION_BLOCK":
        "3:4 type-first 4:6 type-first 5:2 reserved-name 6:2 reserved-name",
    "FUNCTION_BLOCK F\nVAR\n z : BOOLE;\n x : INT;\n X : REAL;\n c : INT = 5;\n 7;\nEND_VAR\nz := x;\n"
    "END_FUNCTION_BLOCK":
        "3:6 unknown-type 5:2 declared-twice 6:10 equals-assigns 7:2 no-declaration",
    "FUNCTION_BLOCK F\nVAR x : INT;\nx := TRUE;\nEND_FUNCTION_BLOCK": "3:1 not-closed 3:6 type-mismatch",
    "FUNCTION_BLOCK F\n;\nVAR x : INT; END_VAR\nx := 1;\nVAR y : INT; END_VAR\nEND_FUNCTION_BLOCK": "5:1 late-section",
    "FUNCTION_BLOCK F\nFUNCTION_BLOCK G\nEND_FUNCTION_BLOCK": "2:1 not-closed",
    "FUNCTION f\nEND_FUNCTION\nPROGRAM P END_PROGRAM": "1:10 no-result",
    "FUNCTION f : INT\nVAR_OUTPUT x : INT; END_VAR\nVAR t : TON; END_VAR\nEND_FUNCTION":
        "3:5 block-in-function",
    "FUNCTION f : INT\nf := 1;\nEND_FUNCTION": "1:1 no-entry",
    "FUNCTION f : INT\nVAR_INPUT a : INT; END_VAR\nf := g(a);\nEND_FUNCTION\nFUNCTION g : INT\n"
    "VAR_INPUT a : INT; END_VAR\ng := f(a);\nEND_FUNCTION": "7:6 recursion",
    "FUNCTION_BLOCK F\nVAR g : G; END_VAR\nEND_FUNCTION_BLOCK\nFUNCTION_BLOCK G\nVAR f : F; END_VAR\n"
    "END_FUNCTION_BLOCK": "5:9 recursion",
    "FUNCTION f : INT\nVAR_INPUT a : INT; END_VAR\nf := a + f(a - 1);\nEND_FUNCTION\nPROGRAM P END_PROGRAM":
        "3:10 recursion",
    "FUNCTION f : INT\nVAR_INPUT a : INT; END_VAR\nf(a);\nEND_FUNCTION\nPROGRAM P END_PROGRAM": "3:1 recursion",
    "PROGRAM P\nVAR i : P; q : ARRAY[1..2] OF P; s : WSTRING; END_VAR\ni();\nq[1]();\nEND_PROGRAM":
        "2:9 recursion 2:31 recursion",
    "TYPE T : STRUCT a : T; END_STRUCT; END_TYPE\nPROGRAM P VAR t : T; END_VAR END_PROGRAM": "1:21 recursive-type",
    "TYPE A : (x, y); B : (y, z); END_TYPE\nPROGRAM P VAR a : A; END_VAR a := y; END_PROGRAM": "2:35 ambiguous-value",
    "FUNCTION_BLOCK F\nVAR_IN_OUT a : INT; END_VAR\nEND_FUNCTION_BLOCK\nPROGRAM P\nVAR f1 : F; END_VAR\nf1();\n"
    "f1(a := 3);\nEND_PROGRAM": "6:1 unbound 7:9 no-place",
    "PROGRAM P\nVAR a : ARRAY[1..2] OF INT := 5; b : ARRAY[1..2] OF INT := [3(1)];\nc : ARRAY[1..1000000] OF INT; "
    "e : REAL (1..2); END_VAR\nVAR CONSTANT k : INT; END_VAR\nEND_PROGRAM":
        "2:31 initial-form 2:63 too-many-values 3:5 large-array 3:41 no-subrange 4:14 constant-value",
    "VAR_GLOBAL g : INT; END_VAR\nFUNCTION f : INT\nf := g;\nEND_FUNCTION\nFUNCTION_BLOCK F2\nVAR_EXTERNAL h : INT; "
    "END_VAR\ng := 1;\nEND_FUNCTION_BLOCK\nPROGRAM P\nVAR g : BOOL; x : F2; END_VAR\nx();\nEND_PROGRAM":
        "6:14 no-global 11:1 global-hidden",
    "CLASS C\nEND_CLASS": "1:1 unsupported",
    "FUNCTION_BLOCK A\nVAR_INPUT a : ARRAY[*] OF INT; END_VAR\nEND_FUNCTION_BLOCK": "2:11 open-array",
    "FUNCTION_BLOCK A EXTENDS B\nEND_FUNCTION_BLOCK": "1:26 no-base",
    "INTERFACE I\nMETHOD go : BOOL\nEND_METHOD\nEND_INTERFACE\nFUNCTION_BLOCK A IMPLEMENTS I\nEND_FUNCTION_BLOCK\n"
    "FUNCTION_BLOCK M\nVAR i : I; END_VAR\ni.go();\nEND_FUNCTION_BLOCK":
        "5:29 no-method 8:9 gap-dispatch",
    "METHOD go : BOOL\nEND_METHOD": "1:1 no-owner",
    "FUNCTION_BLOCK B\nMETHOD FB_init : BOOL\nVAR_INPUT i, c : BOOL; n : INT; END_VAR\nEND_METHOD\nEND_FUNCTION_BLOCK\n"
    "PROGRAM P\nVAR b : ARRAY[0..1] OF B[(1)]; n : ARRAY[0..1] OF INT[(1), (2)]; END_VAR\nEND_PROGRAM":
        "7:5 array-arguments 7:36 no-arguments",
    "FUNCTION_BLOCK A\nMETHOD go\nEND_METHOD\nVAR b : BOOL; END_VAR\nb := go();\nEND_FUNCTION_BLOCK":
        "5:6 without-result",
    "FUNCTION_BLOCK A\nVAR_TEMP u : INT; END_VAR\nACTION go:\nu := 1;\nEND_ACTION\nEND_FUNCTION_BLOCK\nPROGRAM P\n"
    "VAR a : A; END_VAR\na.go();\nEND_PROGRAM": "9:1 member-unbound",
    "PROGRAM P\nVAR s : STRING; b : BOOL; f : F; w : WORD; END_VAR\nb := s[1] = 'a';\nf(io := w.1);\nEND_PROGRAM\n"
    "FUNCTION_BLOCK F\nVAR_IN_OUT io : BOOL; END_VAR\nEND_FUNCTION_BLOCK": "3:6 gap-character 4:3 bit-bound",
    "PROGRAM P\nVAR u : V; r : REFERENCE TO INT; b : V2 (size := 3); k : ANY; END_VAR\nr := 1;\nEND_PROGRAM\n"
    "TYPE V : UNION x : INT; y : BYTE; END_UNION; END_TYPE\nFUNCTION_BLOCK V2\nEND_FUNCTION_BLOCK\n"
    "VAR_CONFIG END_VAR\nDATA_BLOCK D\nSTRUCT x : ARRAY[0..1] OF INT; END_STRUCT;\nBEGIN\nx[1] := 5;\nEND_DATA_BLOCK":
        "2:16 gap-reference 2:34 gap-init 2:58 gap-type 5:10 gap-union 8:1 gap-config",
    "FUNCTION_BLOCK F\nVAR w : WORD; v AT w : BYTE; u AT x : BYTE; END_VAR\nw := v;\nEND_FUNCTION_BLOCK":
        "2:35 undeclared 3:6 gap-overlay",
    "FUNCTION_BLOCK F\nVAR a, b : INT; END_VAR\na := b := 3;\nEND_FUNCTION_BLOCK": "3:6 unexpected",
    "DATA_BLOCK D\nSTRUCT x : ARRAY[0..1] OF INT; END_STRUCT;\nBEGIN\nx[2] := 5;\nEND_DATA_BLOCK\n"
    "DATA_BLOCK E\nSTRUCT x : INT; END_STRUCT;\nBEGIN\ny := 5;\nEND_DATA_BLOCK\n"
    "DATA_BLOCK G\nSTRUCT x : INT; END_STRUCT;\nBEGIN\nx.y := 5;\nEND_DATA_BLOCK\nPROGRAM P\nEND_PROGRAM":
        "4:3 index-range 9:1 unknown-member 14:1 no-parts",
    "PROGRAM P\nVAR x : INT; END_VAR\nEND_PROGRAM\nPROGRAM Q\nVAR f : F; END_VAR\nf();\nEND_PROGRAM\nFUNCTION_BLOCK F\n"
    "VAR y : INT; END_VAR\ny := Q.f.y + P.x;\nEND_FUNCTION_BLOCK\nCONFIGURATION c\nRESOURCE r ON PLC\n"
    "TASK t(INTERVAL := T#20ms);\nPROGRAM a WITH t : Q;\nPROGRAM b WITH t : P;\nEND_RESOURCE\nEND_CONFIGURATION":
        "4:9 gap-own-program 16:20 gap-tasks",
}
UNTRIED = {"gap-missing", "gap-body", "unverified", "no-such-entry", "too-deep", "deep-calls", "deep-loops",
           "too-many-arms", "long-name", "not-asked", "code-page", "utf-16", "no-text", "unreadable-file",
           "file-too-long", "program-too-long",
           "broken-xml", "document-type", "large-xml", "foreign-xml", "wrong-xml-name", "no-xml-type", "not-code",
           "no-unit", "graphical", "outside-project", "outside-folder", "missing-file",
           "abstract-instance", "abstract-member", "abstract-call", "final", "no-access", "no-instance",
           "other-result", "gap-unbound", "gap-begins", "gap-signs", "wide-enumeration", "gap-located",
           "no-interface", "timer-kind", "gap-instruction", "gap-overlap", "sizes-apart", "gap-try"}  # tested apart


def said(source: str) -> str:
    return " ".join(f"{found.span} {found.code}" for found in read_program(source).diagnostics)


@pytest.mark.parametrize(("body", "expected"), BODIES.items(), ids=list(BODIES.values()))
def test_an_error_in_statements(body: str, expected: str) -> None:
    assert said(HEAD + body + END) == expected


@pytest.mark.parametrize(("source", "expected"), TEXTS.items(), ids=list(TEXTS.values()))
def test_an_error_in_a_text(source: str, expected: str) -> None:
    assert said(source) == expected


def test_every_sentence_is_tried() -> None:
    tried = {word for table in (BODIES, TEXTS) for line in table.values() for word in line.split()[1::2]}
    assert messages().keys() - tried == UNTRIED


def test_the_remedy_names_the_nearest_name() -> None:
    found = read_program(HEAD + "t(IN := a, PTT := T#1s); o := arrr[1]; o := LIMT(0, n, 5);" + END).diagnostics
    assert [one.hint for one in found] == ["Did you mean 'PT'? It has: IN, PT.", "Did you mean 'arr'?",
                                           "Did you mean LIMIT?"]


def test_an_unclosed_block_names_its_opener() -> None:
    found = read_program(HEAD + "o := 1;\nIF a THEN\n o := 2;" + END).diagnostics
    assert found[0].message == "expected END_IF, found 'END_FUNCTION_BLOCK' (IF opened at line 7)"


def test_the_line_is_shown_with_a_caret() -> None:
    source = HEAD + "\to := n + nope;" + END
    assert format_diagnostics(source, read_program(source).diagnostics).splitlines()[1:3] == [
        "   o := n + nope;", "            ^^^^"]


def test_warnings_end_some_time() -> None:
    reading = read_program(HEAD + "o := w;\n" * 1000 + END)
    assert reading.program is not None
    assert len(reading.diagnostics) == MOST_WARNINGS


def test_a_circle_is_named() -> None:
    found = read_program("FUNCTION a : INT\na := b();\nEND_FUNCTION\nFUNCTION b : INT\nb := c();\nEND_FUNCTION\n"
                         "FUNCTION c : INT\nc := a();\nEND_FUNCTION\nPROGRAM P END_PROGRAM").diagnostics
    assert [(one.span.line, one.message) for one in found] == [(8, "recursion: a calls b calls c calls a")]


def test_an_entry_that_is_not_there() -> None:
    found = read_program(HEAD + END, entry="G").diagnostics[0]
    assert (found.code, found.hint) == ("no-such-entry", "There are: F.")


def test_the_reading_ends_after_many_errors() -> None:
    source = HEAD + "".join(f"x{i} := 1;\n" for i in range(100)) + END
    assert len(read_program(source).diagnostics) == MOST_ERRORS


@pytest.mark.parametrize(("source", "code"), [
    (HEAD + "o := " + "(" * 300 + "1" + ")" * 300 + ";" + END, "too-deep"),
    (HEAD + "o := 1" + "+ n" * 300 + ";" + END, "too-deep"),
    (HEAD + "o := " + "-" * 300 + "n;" + END, "too-deep"),
    (HEAD + "o := n" + ".a" * 300 + ";" + END, "too-deep"),
    (HEAD + "IF a THEN " * 300 + "o := 1;" + "END_IF;" * 300 + END, "too-deep"),
    (HEAD + "WHILE a DO " * 30 + "o := 1;" + "END_WHILE;" * 30 + END, "deep-loops"),
    (HEAD + "o := " + "n" * 50_000 + ";" + END, "long-name"),
    (HEAD + "CASE n OF " + ",".join(map(str, range(2000))) + ": o := 1; END_CASE;" + END, "too-many-arms"),
    (HEAD + "IF a THEN ; " + "ELSIF q THEN ; " * 300 + "END_IF;" + END, "too-many-arms"),
    ("".join(f"FUNCTION_BLOCK F{i} VAR x : F{i + 1}; END_VAR END_FUNCTION_BLOCK\n" for i in range(300)), "deep-calls"),
    ("".join(f"FUNCTION_BLOCK F{i} VAR a, b, c, d : F{i + 1}; END_VAR END_FUNCTION_BLOCK\n" for i in range(30))
     + "FUNCTION_BLOCK F30 VAR x : INT; END_VAR END_FUNCTION_BLOCK", "large-array"),
    ("".join(f"TYPE T{i} : STRUCT a : T{i + 1}; END_STRUCT; END_TYPE\n" for i in range(300)), "deep-calls"),
    ("".join(f"FUNCTION F{i} : INT F{i} := F{i + 1}(); END_FUNCTION\n" for i in range(299))
     + "FUNCTION F299 : INT F299 := 1; END_FUNCTION", "deep-calls"),
    ("(*" * 100_000, "open-comment"),
    ("FUNCTION_BLOCK F\nx := T#" + "1d" * 50_000, "bad-literal"),
    ("FUNCTION_BLOCK F\nx := " + "1" * 50_000, "bad-literal"),
])
def test_hostile_texts_are_refused(source: str, code: str) -> None:
    assert code in said(source)
