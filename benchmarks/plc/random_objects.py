"""Random programs that call blocks by way of interfaces, each with a twin that says the same by CASE and a number.

The twin knows nothing of interfaces: what stands for an instance is an INT of its own, and every call is written out.
So both have to have the same values after each scan.
"""

from __future__ import annotations

import random

_MEMBERS = ("METHOD Work : INT VAR_INPUT x : INT; END_VAR VAR_OUTPUT twice : INT; END_VAR", "END_METHOD",
            "PROPERTY Level : INT GET", "END_GET SET", "END_SET END_PROPERTY")
_INTERFACES = f"""INTERFACE IDrive
{' '.join(_MEMBERS)}
END_INTERFACE
INTERFACE IQuick EXTENDS IDrive
METHOD Hurry : BOOL END_METHOD
END_INTERFACE
"""
_BLOCKS = """FUNCTION_BLOCK Motor{quick}
VAR v, calls : INT; END_VAR
METHOD Work : INT
VAR_INPUT x : INT; END_VAR
VAR_OUTPUT twice : INT; END_VAR
v := LIMIT(0, v + x, 50); calls := calls + 1; twice := 2 * v; Work := v;
END_METHOD
METHOD Hurry : BOOL
v := v + 1; Hurry := v > 20;
END_METHOD
PROPERTY Level : INT
GET
Level := v;
END_GET
SET
v := Level; calls := 0;
END_SET
END_PROPERTY
END_FUNCTION_BLOCK
FUNCTION_BLOCK Slow EXTENDS Motor
METHOD Work : INT
VAR_INPUT x : INT; END_VAR
VAR_OUTPUT twice : INT; END_VAR
Work := SUPER^.Work(x := x / 2, twice => twice) - 1;
END_METHOD
END_FUNCTION_BLOCK
FUNCTION_BLOCK Valve{plain}
VAR open : BOOL; END_VAR
METHOD Work : INT
VAR_INPUT x : INT; END_VAR
VAR_OUTPUT twice : INT; END_VAR
open := x > 0; twice := x; Work := SEL(open, 0, 100);
END_METHOD
PROPERTY Level : INT
GET
Level := SEL(open, 0, 1);
END_GET
SET
open := Level > 3;
END_SET
END_PROPERTY
END_FUNCTION_BLOCK
"""
_GROUP = """FUNCTION_BLOCK Group
VAR own : ARRAY[1..2] OF Motor; END_VAR
METHOD Pick : {type}
VAR_INPUT second : BOOL; END_VAR
IF second THEN Pick := {second}; ELSE Pick := {first}; END_IF
END_METHOD
END_FUNCTION_BLOCK
FUNCTION_BLOCK Cell
VAR_INPUT drive : {type}; x : INT; END_VAR
VAR_OUTPUT now : INT; END_VAR
VAR last : {type}; END_VAR
{body}
last := drive;
END_FUNCTION_BLOCK
"""
_INSTANCES = {1: "motor", 2: "slow", 3: "valve", 4: "group.own[1]", 5: "group.own[2]"}
_QUICK = (1, 2, 4, 5)
_VARIABLES = ("d0", "d1", "row[0]", "row[1]", "rack.d")


class _Writer:
    """Statements, by interfaces or by numbers."""

    def __init__(self, seed: int, has_interfaces: bool) -> None:
        self._dice = random.Random(seed)
        self._has_interfaces = has_interfaces

    def length(self) -> int:
        """How many statements there are."""
        return self._dice.randint(6, 14)

    def instance(self, number: int) -> str:
        """What stands for an instance."""
        return _INSTANCES.get(number, "0") if self._has_interfaces else str(number)

    def cases(self, variable: str, line: str) -> str:
        """A statement in which `?` is what a variable stands for."""
        if self._has_interfaces:
            return f"IF {variable} <> 0 THEN {line.replace('?', variable)} END_IF"
        arms = " ".join(f"{number}: {line.replace('?', name)}" for number, name in _INSTANCES.items())
        return f"CASE {variable} OF {arms} END_CASE"

    def query(self, source: str) -> str:
        """Whether a variable stands for a quick drive."""
        if self._has_interfaces:
            return f"b := __QUERYINTERFACE({source}, quick); {self.cases('quick', 'b := ?.Hurry();')}"
        listed = ", ".join(map(str, _QUICK))
        return f"CASE {source} OF {listed}: quick := {source}; b := TRUE; ELSE quick := 0; b := FALSE; END_CASE " \
               f"CASE quick OF " + " ".join(f"{one}: b := {_INSTANCES[one]}.Hurry();" for one in _QUICK) + " END_CASE"

    def statement(self) -> str:
        """One of the statements that programs are made of."""
        pick = self._dice.choice
        one, other, number = pick(_VARIABLES), pick(_VARIABLES), pick((0, 1, 2, 3))
        return pick((
            f"{one} := {self.instance(number)};", f"{one} := {other};", f"{one} := {other};",
            f"{one} := group.Pick(a > {pick((0, 5))});", f"IF b THEN {one} := {self.instance(number)}; END_IF",
            self.cases(one, "r := ?.Work(x := a, twice => s);"), self.cases(one, "r := ?.Work(x := r, twice => s);"),
            self.cases(one, "?.Level := a;"), self.cases(one, "s := ?.Level;"),
            f"IF {one} = {other} THEN r := r + 1; END_IF", f"b := {one} <> {self.instance(number or 1)};",
            f"row[SEL(b, 0, 1)] := {other};", f"cell(drive := {one}, x := s); r := cell.now;", self.query(one)))


def write_objects(seed: int, has_interfaces: bool = True) -> str:
    """A program of this seed, or its twin without interfaces."""
    writer = _Writer(seed, has_interfaces)
    type_ = "IDrive" if has_interfaces else "INT"
    heads = {"quick": " IMPLEMENTS IQuick", "plain": " IMPLEMENTS IDrive"} if has_interfaces else {"quick": "",
                                                                                                 "plain": ""}
    cell = writer.cases("drive", "?.Work(x := x, twice => now);") + "\n" + writer.cases("last", "now := ?.Level;")
    picked = ("THIS^.own[1]", "own[2]") if has_interfaces else ("4", "5")
    parts = [_INTERFACES] if has_interfaces else []
    parts.append(_BLOCKS.format(**heads))
    parts.append(f"TYPE Rack : STRUCT d : {type_}; END_STRUCT END_TYPE")
    parts.append(_GROUP.format(type=type_, first=picked[0], second=picked[1], body=cell))
    instances = "motor : Motor; slow : Slow; valve : Valve; group : Group;"
    parts.append("" if has_interfaces else f"VAR_GLOBAL {instances} END_VAR")
    quick = "IQuick" if has_interfaces else "INT"
    parts.append(f"""PROGRAM Main
VAR_INPUT a : INT (-9..9); b0 : BOOL; END_VAR
VAR_OUTPUT r, s : INT; b : BOOL; END_VAR
VAR {instances if has_interfaces else ''} cell : Cell; d0, d1 : {type_}; row : ARRAY[0..1] OF {type_}; rack : Rack;
quick : {quick}; END_VAR
b := b0;""")
    parts += [writer.statement() for _ in range(writer.length())]
    return "\n".join((*parts, "END_PROGRAM"))
