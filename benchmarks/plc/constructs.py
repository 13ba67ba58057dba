"""Small right programs, one for each newer construct of the language, with what is proved of them (nothing where the
construct is a gap).

Their mutants (mutation.py) show whether a proof about the construct means something: a mistake beside it has to be
seen, and of the right program nothing may be reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.plc.corpus import Subject
from chatdev.departments.plc.proof.outcomes import Property

_SOURCES = {
    "methods": ("""FUNCTION_BLOCK Tank
VAR_OUTPUT Litres : INT; END_VAR
METHOD PUBLIC Fill : BOOL
VAR_INPUT Some : INT (0..50); END_VAR
IF Litres + Some <= 400 THEN Litres := Litres + Some; Fill := TRUE; END_IF;
END_METHOD
METHOD PUBLIC Drain
Litres := 0;
END_METHOD
END_FUNCTION_BLOCK
PROGRAM Plant
VAR_INPUT Some : INT (0..50); Open : BOOL; END_VAR
VAR_OUTPUT Done : BOOL; Left : INT; END_VAR
VAR T : Tank; END_VAR
Done := FALSE;
IF Open THEN T.Drain(); ELSE Done := T.Fill(Some); END_IF;
Left := T.Litres;
END_PROGRAM
""", ("Left >= 0 AND Left <= 400", "NOT Open OR Left = 0", "NOT (Open AND Done)")),
    "properties": ("""FUNCTION_BLOCK Motor
VAR Rpm : INT; END_VAR
PROPERTY PUBLIC Speed : INT
GET
Speed := Rpm;
END_GET
SET
Rpm := LIMIT(0, Speed, 3000);
END_SET
END_PROPERTY
END_FUNCTION_BLOCK
PROGRAM Drive
VAR_INPUT Wanted : INT; Stop : BOOL; END_VAR
VAR_OUTPUT Now : INT; END_VAR
VAR M : Motor; END_VAR
IF Stop THEN M.Speed := 0; ELSE M.Speed := Wanted; END_IF;
Now := M.Speed;
END_PROGRAM
""", ("Now >= 0 AND Now <= 3000", "NOT Stop OR Now = 0")),
    "inheritance": ("""FUNCTION_BLOCK Valve
VAR_OUTPUT Open : BOOL; END_VAR
METHOD PUBLIC Move
VAR_INPUT Way : BOOL; END_VAR
Open := Way;
END_METHOD
END_FUNCTION_BLOCK
FUNCTION_BLOCK SafeValve EXTENDS Valve
VAR_INPUT Locked : BOOL; END_VAR
METHOD PUBLIC Move
VAR_INPUT Way : BOOL; END_VAR
SUPER^.Move(Way AND NOT Locked);
END_METHOD
END_FUNCTION_BLOCK
PROGRAM Line
VAR_INPUT Wanted, Locked : BOOL; END_VAR
VAR_OUTPUT Flows : BOOL; END_VAR
VAR V : SafeValve; END_VAR
V.Locked := Locked;
V.Move(Wanted);
Flows := V.Open;
END_PROGRAM
""", ("NOT (Locked AND Flows)", "Locked OR Flows = Wanted")),
    "texts": ("""PROGRAM Message
VAR_INPUT Level : INT; END_VAR
VAR_OUTPUT Text : STRING[10]; Alarm : BOOL; END_VAR
IF Level > 90 THEN Text := 'high';
ELSIF Level < 10 THEN Text := 'low';
ELSE Text := 'normal'; END_IF;
Alarm := Text <> 'normal';
END_PROGRAM
""", ("Alarm OR (Level >= 10 AND Level <= 90)", "NOT Alarm OR Level < 10 OR Level > 90")),
    "dates": ("""PROGRAM Service
VAR_INPUT Now : DATE_AND_TIME; Last : DATE_AND_TIME; END_VAR
VAR_OUTPUT Due, Wrong : BOOL; END_VAR
Wrong := Now < Last;
Due := NOT Wrong AND Now >= DT#2026-01-01-00:00:00;
IF Last >= DT#2026-01-01-00:00:00 THEN Due := FALSE; END_IF;
END_PROGRAM
""", ("NOT (Due AND Wrong)", "NOT Due OR Last < DT#2026-01-01-00:00:00",
      "Due OR Wrong OR Now < DT#2026-01-01-00:00:00 OR Last >= DT#2026-01-01-00:00:00")),
    "enable": ("""PROGRAM Share
VAR_INPUT A, B : INT (0..1000); Go : BOOL; END_VAR
VAR_OUTPUT C : INT; Ok : BOOL; END_VAR
C := 0;
C := ADD(EN := Go AND B <> 0, A, B, ENO => Ok);
IF NOT Ok THEN C := -1; END_IF;
END_PROGRAM
""", ("Ok = (Go AND B <> 0)", "Ok OR C = -1", "NOT Ok OR C = A + B", "C >= -1 AND C <= 2000")),
    "references": ("""PROGRAM Pick
VAR_INPUT A : INT (0..100); Set : BOOL; END_VAR
VAR_OUTPUT High : BOOL; Store : INT; END_VAR
VAR R : REFERENCE TO INT; END_VAR
R REF= Store;
IF Set THEN R := A; ELSE R := 0; END_IF;
High := Store > 50;
END_PROGRAM
""", ("Store >= 0 AND Store <= 100", "NOT High OR Set", "NOT Set OR Store = A")),
}


def constructs() -> Iterator[Subject]:
    """The programs, by the name of what they use."""
    for name, (source, claims) in _SOURCES.items():
        yield Subject(name, source, [Property("pattern-invariant", (claim,)) for claim in claims])
