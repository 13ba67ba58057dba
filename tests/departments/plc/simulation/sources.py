"""Programs that use much of the language, for what runs them in two ways."""

from __future__ import annotations

from chatdev.departments.plc.st.core import IEC, Dialect, Program
from chatdev.departments.plc.st.reading import read_program

MOTOR = """\
TYPE Mode : (Idle, Busy, Halted); END_TYPE
TYPE Point : STRUCT X : INT; Y : REAL := 2.5; END_STRUCT END_TYPE
FUNCTION Twice : INT
VAR_INPUT a : INT; END_VAR
Twice := a * 2;
END_FUNCTION
FUNCTION_BLOCK Motor
VAR_INPUT Start, Stop : BOOL; Speed : INT; END_VAR
VAR_OUTPUT Run, Warn : BOOL; Count : INT; END_VAR
VAR
    Delay : TON; Off : TOF; Pulse : TP; Starts : CTU; Level : CTUD; Edge : R_TRIG; Fall : F_TRIG; Latch : SR;
    State : Mode; Points : ARRAY[1..3] OF Point; Last : Point;
END_VAR
Edge(CLK := Start);
Fall(CLK := Start);
IF Edge.Q AND NOT Stop THEN
    Run := TRUE;
ELSIF Stop THEN
    Run := FALSE;
END_IF;
Delay(IN := Run, PT := T#300ms);
Off(IN := Run, PT := T#250ms);
Pulse(IN := Fall.Q, PT := T#1s);
Starts(CU := Delay.Q, R := Count > 100, PV := 5);
Level(CU := Start, CD := Stop, PV := 3);
Latch(S1 := Off.Q, R := Pulse.Q, Q1 => Warn);
Count := Twice(Speed) + Starts.CV;
CASE State OF
    Idle: IF Run THEN State := Busy; END_IF;
    Busy: IF Stop THEN State := Halted; END_IF;
    ELSE State := Idle;
END_CASE;
Last.X := Speed;
Last.Y := Last.Y / 3.0 + Points[2].Y;
Points[3] := Points[2];
Points[2] := Points[1];
Points[1] := Last;
END_FUNCTION_BLOCK
"""

NUMBERS = """\
FUNCTION_BLOCK Numbers
VAR_INPUT
    a, b : INT; c, d : DINT; e : LINT; u : USINT; v : UINT; w : WORD; x : DWORD; q : ULINT; r, s : REAL; l : LREAL;
    t : TIME; g : BOOL;
END_VAR
VAR_OUTPUT
    sum, product, rest, share : INT; wide : DINT; long : LINT; small : SINT; octet : USINT; word1 : WORD; word2 : DWORD;
    huge : ULINT; ratio, root, whole : REAL; exact : LREAL; time1 : TIME; flag : BOOL;
END_VAR
sum := a + b - 3;
product := a * b + a;
IF b <> 0 THEN rest := a MOD b; share := a / b; END_IF;
IF d <> 0 THEN wide := c / d + c MOD d * 7; END_IF;
long := e * 3 - DINT_TO_LINT(c) * e;
small := INT_TO_SINT(a);
octet := INT_TO_USINT(b) + u;
word1 := (w XOR 16#A5A5) AND NOT SHR(w, 3) OR ROL(w, a);
word2 := SHL(x, b) XOR ROR(x, 5);
IF q <> 0 THEN huge := q * q / (q - q / 2) ; END_IF;
ratio := (r - s) / (r * s);
root := SQRT(ABS(r)) + DINT_TO_REAL(c) * 0.1;
whole := MAX(r, s, 1.5) - MIN(r, s) + LIMIT(-1.0, r, 1.0);
exact := l * 3.1 / 7.3 + LINT_TO_LREAL(e);
IF ABS(r) < 1.0E9 THEN wide := wide + REAL_TO_DINT(r) + TRUNC(s); END_IF;
time1 := t * 2 - T#1s;
flag := g XOR (a >= b) OR (r <= s) AND_THEN (w.3 OR_ELSE c <> d);
word1.15 := flag;
small := SEL(flag, small, MUX(a, small, SINT#3, -128));
END_FUNCTION_BLOCK
"""

LOOPS = """\
FUNCTION Sum : DINT
VAR_INPUT values : ARRAY[1..5] OF INT; limit : INT; END_VAR
VAR i : INT; END_VAR
FOR i := 1 TO 5 DO
    IF values[i] > limit THEN RETURN; END_IF;
    Sum := Sum + values[i];
END_FOR;
END_FUNCTION
FUNCTION_BLOCK Sorter
VAR_IN_OUT list : ARRAY[1..5] OF INT; swaps : INT; END_VAR
VAR calls : INT; END_VAR
VAR_TEMP i, j, held : INT; END_VAR
calls := calls + 1;
FOR i := 5 TO 2 BY -1 DO
    FOR j := 1 TO i - 1 DO
        IF list[j] <= list[j + 1] THEN CONTINUE; END_IF;
        held := list[j]; list[j] := list[j + 1]; list[j + 1] := held;
        swaps := swaps + 1;
    END_FOR;
END_FOR;
END_FUNCTION_BLOCK
FUNCTION_BLOCK Lists
VAR_INPUT given : ARRAY[1..5] OF INT; turn : INT; END_VAR
VAR_OUTPUT total : DINT; first, turns : INT; END_VAR
VAR sorter : Sorter; work : ARRAY[1..5] OF INT; counts : ARRAY[0..2] OF INT; k : INT; last : INT(-50..50); END_VAR
work := given;
sorter(list := work, swaps := counts[1]);
total := Sum(work, 40);
k := 0;
WHILE TRUE DO
    k := k + 1;
    IF work[k] > 0 OR k = 5 THEN EXIT; END_IF;
END_WHILE;
first := k;
turns := 0;
REPEAT
    turns := turns + 1;
    IF turns = 3 THEN CONTINUE; END_IF;
    counts[2] := counts[2] + 1;
UNTIL turns >= turn END_REPEAT;
IF turn > 0 THEN last := given[turn] / (turn - 1); END_IF;
//#ASSERT first < 5 : some is positive
END_FUNCTION_BLOCK
"""

REALS = ["ABS", "SQRT", "EXP", "LN", "LOG", "SIN", "COS", "TAN", "ASIN", "ACOS", "ATAN", "MOVE"]
INTEGERS, BITS = ["TRUNC", "ROUND", "FLOOR", "CEIL"], ["SHL", "SHR", "ROL", "ROR"]
FUNCTIONS = f"""\
FUNCTION_BLOCK Functions
VAR_INPUT r : REAL; l : LREAL; n : DINT; w : DWORD; b : BYTE; k : SINT; END_VAR
VAR_OUTPUT
    {", ".join(f"{name}_r" for name in REALS)} : REAL; {", ".join(f"{name}_l" for name in REALS)} : LREAL;
    {", ".join(f"{name}_n" for name in INTEGERS)} : DINT; {", ".join(f"{name}_w" for name in BITS)} : DWORD;
    {", ".join(f"{name}_b" for name in BITS)} : BYTE; rest, one, two, three : DINT; small : SINT;
END_VAR
{" ".join(f"{name}_r := {name}(r); {name}_l := {name}(l);" for name in REALS)}
{" ".join(f"{name}_n := {name}(r);" for name in INTEGERS)}
{" ".join(f"{name}_w := {name}(w, n); {name}_b := {name}(b, n);" for name in BITS)}
one := MIN(n, 7, -n, 3); two := MAX(n, -5, 12); three := LIMIT(-3, n, 9) + MUX(n, 1, 2, 3) + SEL(n > 3, 4, n);
small := ABS(k);
rest := MOD(n, k);
END_FUNCTION_BLOCK
"""


def program(source: str, dialect: Dialect = IEC) -> Program:
    """The program of a source that is right."""
    reading = read_program(source, None, dialect)
    assert reading.program, reading.diagnostics
    return reading.program

DEEP = f"""\
FUNCTION_BLOCK Deep
VAR_INPUT n : INT; r, s : LREAL; g : BOOL; END_VAR
VAR_OUTPUT total : INT; exact : LREAL; flag : BOOL; END_VAR
VAR a : ARRAY[0..3] OF INT := [2, 3, 1, 0]; END_VAR
total := {"n - (" * 80}n{")" * 80};
exact := {"s * (" * 70}r / s{" + r)" * 70};
WHILE {"(total MOD 7 < n) AND (" * 70}total < 40 AND total > -100{")" * 70} DO
    total := total + 1 + ABS(total MOD 3);
END_WHILE;
flag := {"g OR_ELSE (" * 75}r / s > 1.0{")" * 75};
total := {"a[" * 70}n{"]" * 70};
END_FUNCTION_BLOCK
"""
"""Operators and indices within each other, more deeply than Python or C could read."""
