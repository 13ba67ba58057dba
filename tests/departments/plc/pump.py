"""A program of blocks with an interface, an heir and members of every kind."""

RIGHT = """INTERFACE IPump
METHOD Start : BOOL
VAR_INPUT speed : INT; END_VAR
END_METHOD
PROPERTY Level : INT
END_PROPERTY
END_INTERFACE
FUNCTION_BLOCK ABSTRACT Base
VAR_INPUT rate : INT; END_VAR
VAR hidden : INT; END_VAR
METHOD ABSTRACT Reset : BOOL
END_METHOD
METHOD PRIVATE Secret : INT
Secret := hidden;
END_METHOD
METHOD PROTECTED Inner : INT
Inner := hidden + 1;
END_METHOD
METHOD PUBLIC Open : INT
Open := Secret() + Inner();
END_METHOD
END_FUNCTION_BLOCK
FUNCTION_BLOCK Pump EXTENDS Base IMPLEMENTS IPump
VAR_OUTPUT running : BOOL; END_VAR
VAR CONSTANT Most : INT := 7; END_VAR
METHOD PUBLIC Reset : BOOL
running := FALSE;
Reset := TRUE;
END_METHOD
METHOD PUBLIC Start : BOOL
VAR_INPUT speed : INT; END_VAR
running := speed > 0;
Start := running;
END_METHOD
PROPERTY PUBLIC Level : INT
GET
Level := Most;
END_GET
END_PROPERTY
END_FUNCTION_BLOCK
FUNCTION Twice : INT
VAR_INPUT x : INT; END_VAR
Twice := x + x;
END_FUNCTION
PROGRAM Main
VAR_INPUT go : BOOL; END_VAR
VAR pump : Pump; n : INT; ok : BOOL; any : IPump; t : TON; a : ARRAY[1..3] OF INT; END_VAR
any := pump;
pump(rate := 3);
ok := pump.Start(speed := n);
n := pump.Level + Twice(n) + pump.Open();
t(IN := go, PT := T#1s);
IF t.Q THEN a[2] := n; END_IF
END_PROGRAM
"""
