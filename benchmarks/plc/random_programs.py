"""Random programs over the whole subset of Structured Text: what interpreter, proof and generated C have to agree on.

Each has an enumeration, a subrange, a structure, a function, a function block with a timer within it, and an entry with
variables of six or seven elementary types. The same seed gives the same program.
"""

from __future__ import annotations

import random

from benchmarks.plc.random_expressions import ELEMENTARY, NUMBERS, ExpressionWriter, Scope
from benchmarks.plc.random_statements import StatementWriter
from chatdev.departments.plc.st.reading import read_program

_STANDARD = (
    ("edge{0}(CLK := {b});", "edge{0} : R_TRIG;", "BOOL", "edge{0}.Q"),
    ("fall{0}(CLK := {b});", "fall{0} : F_TRIG;", "BOOL", "fall{0}.Q"),
    ("on{0}(IN := {b}, PT := {t});", "on{0} : TON;", "TIME", "on{0}.ET"),
    ("off{0}(IN := {b}, PT := {t}, Q => {B});", "off{0} : TOF;", "BOOL", "off{0}.Q"),
    ("pulse{0}(IN := {b}, PT := {t});", "pulse{0} : TP;", "BOOL", "pulse{0}.Q"),
    ("up{0}(CU := {b}, R := {b}, PV := {n});", "up{0} : CTU;", "INT", "up{0}.CV"),
    ("down{0}(CD := {b}, LD := {b}, PV := {n});", "down{0} : CTD;", "INT", "down{0}.CV"),
    ("both{0}(CU := {b}, CD := {b}, R := {b}, LD := {b}, PV := {n});", "both{0} : CTUD;", "BOOL", "both{0}.QD"),
    ("set{0}(S1 := {b}, R := {b});", "set{0} : SR;", "BOOL", "set{0}.Q1"),
    ("reset{0}(S := {b}, R1 := {b});", "reset{0} : RS;", "BOOL", "reset{0}.Q1"),
)
"""Standard blocks: a call, a declaration, and one of its outputs with its type."""
_TYPES = """\
TYPE
  Mode : (Idle := {idle}, Busy, Halted := {halted});
  Small : INT (-20..20);
  Pair : STRUCT x : {inner}; y : BOOL; z : ARRAY[0..1] OF {element}; END_STRUCT;
END_TYPE
"""
_FUNCTION = """\
FUNCTION compute : {result}
VAR_INPUT n : INT; m : Mode; g : {given}; list : ARRAY[1..3] OF {element}; END_VAR
VAR
{local}
{loops}
END_VAR
{body}
END_FUNCTION
"""
_BLOCK = """\
FUNCTION_BLOCK Inner
VAR_INPUT go : BOOL; END_VAR
VAR_OUTPUT done : BOOL; count : INT := 2; END_VAR
VAR_IN_OUT shared : INT; END_VAR
VAR {kept}
  timer : TON;
END_VAR
VAR
{local}
{loops}
END_VAR
VAR_TEMP t0 : {temporary}; END_VAR
{body}
END_FUNCTION_BLOCK
"""
_OBJECTS = """\
VAR_GLOBAL shown : INT; END_VAR
FUNCTION split : INT
VAR_INPUT n : INT; END_VAR
VAR_OUTPUT rest : BOOL; END_VAR
VAR_IN_OUT seen : INT; row : ARRAY[*] OF {element}; END_VAR
VAR
{loops}
END_VAR
shown := shown + 1;
row[UPPER_BOUND(row, 1)] := row[LOWER_BOUND(row, 1)];
{split}
END_FUNCTION
FUNCTION_BLOCK Gauge
VAR_INPUT step : INT; END_VAR
VAR level : INT; own : {local}; END_VAR
METHOD Move : INT
VAR_INPUT way : INT := 1; END_VAR
VAR_OUTPUT far : BOOL; END_VAR
VAR_INST moves : INT; END_VAR
moves := moves + 1;
level := Bound(level + way);
{move}
Move := level;
END_METHOD
METHOD Bound : INT
VAR_INPUT n : INT; END_VAR
Bound := MIN(n, 1000);
END_METHOD
PROPERTY Height : INT
GET
Height := level + step;
END_GET
SET
level := Height;
END_SET
END_PROPERTY
ACTION Fall: level := level - 1; END_ACTION
{gauge}
END_FUNCTION_BLOCK
FUNCTION_BLOCK Fine EXTENDS Gauge
METHOD Bound : INT
VAR_INPUT n : INT; END_VAR
Bound := SUPER^.Bound(n) / 2;
END_METHOD
IF step > 3 THEN Fall(); SUPER^(); END_IF
END_FUNCTION_BLOCK
"""
_ENTRY = """\
FUNCTION_BLOCK Main
VAR_INPUT
{inputs}
  i_mode : Mode;
  i_list : ARRAY[1..3] OF {table};
END_VAR
VAR_IN_OUT given : {given}; END_VAR
VAR_OUTPUT small : Small; mode : Mode; END_VAR
VAR {kept}
{state}
  table : ARRAY[-1..2] OF {table} := [{first}, 2({second})];
END_VAR
VAR
  grid : ARRAY[0..1, 0..2] OF {other};
  pair : Pair;
  twin : Pair := (y := TRUE, z := [{third}]);
  pairs : ARRAY[0..1] OF Pair;
  inner : Inner;
  many : ARRAY[0..1] OF Inner;
  fine : Fine;
  gauges : ARRAY[0..1] OF Gauge;
{blocks}
{loops}
END_VAR
VAR CONSTANT Size : INT := 3; END_VAR
{body}
END_FUNCTION_BLOCK
"""
_MOST_LOOPS = 3
_MOST_ATTEMPTS = 50


def write_program(seed: int) -> str:
    """The source of one program; what the checker refuses (a divisor that is always 0, say) is drawn again."""
    attempts = (_ProgramWriter(random.Random(f"{seed}.{attempt}")).write() for attempt in range(_MOST_ATTEMPTS))
    return next(source for source in attempts if read_program(source).program)


class _ProgramWriter:
    """Declares what a program has, and writes its routines from the inner ones on."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        more = self._dice.sample([one for one in ELEMENTARY if one not in ("BOOL", "INT")], 4)
        self._types = ["BOOL", "INT", *more]
        if "TIME" not in more and self._dice.random() < 0.5:
            self._types.append("TIME")

    def write(self) -> str:
        """The whole source."""
        inner_type, result = self._dice.choice(self._types), self._dice.choice(self._types)
        idle = self._dice.choice((0, 0, 3))
        types = _TYPES.format(idle=idle, halted=idle + self._dice.choice((2, 5)), inner=inner_type,
                              element=self._types[2])
        return types + self._function(result) + self._block() + self._objects() + self._entry(inner_type, result)

    def _variables(self, scope: Scope, prefix: str, count: int, writable: bool = True) -> str:
        """Declarations of some variables of each type."""
        lines = []
        for type_ in self._types:
            names = [f"{prefix}{type_.lower()}{number}" for number in range(count)]
            scope.add(type_, *names, writable=writable)
            lines += [f"  {name} : {type_}{self._initial(type_)};" for name in names]
        return "\n".join(lines)

    def _initial(self, type_: str) -> str:
        if self._dice.random() < 0.7:
            return ""
        return f" := {ExpressionWriter(self._dice, Scope()).literal(type_)}"

    def _kept(self) -> str:
        return self._dice.choice(("RETAIN", "", "", ""))

    def _loops(self, scope: Scope, prefix: str) -> tuple[str, list[str]]:
        """Declarations of what counts turns, and the names with their types."""
        types = [one for one in self._types if one in NUMBERS]
        counters = [f"{prefix}{number} {self._dice.choice(types)}" for number in range(_MOST_LOOPS)]
        for counter in counters:
            name, type_ = counter.split()
            scope.add(type_, name, writable=False)
        return "\n".join("  {} : {};".format(*counter.split()) for counter in counters), counters

    def _function(self, result: str) -> str:
        scope = Scope()
        scope.add("INT", "n")
        scope.add("Mode", "m", writable=False)
        scope.add(self._types[2], "g")
        scope.arrays[self._types[3]] = [("list", 1, 3)]
        scope.add(result, "compute")
        loops, counters = self._loops(scope, "i")
        local = self._variables(scope, "l", 1)
        body = StatementWriter(self._dice, scope, [], counters[:2]).statements(3, 2)
        return _FUNCTION.format(result=result, given=self._types[2], element=self._types[3], local=local, loops=loops,
                                body=body)

    def _block(self) -> str:
        scope = Scope()
        scope.add("BOOL", "go", "done")
        scope.add("INT", "count", "shared")
        scope.add("BOOL", "timer.Q", writable=False)
        loops, counters = self._loops(scope, "j")
        local = self._variables(scope, "s", 1)
        temporary = self._types[2]
        scope.add(temporary, "t0")
        calls = ["timer(IN := {b}, PT := T#300ms);"]
        body = StatementWriter(self._dice, scope, calls, counters[:1]).statements(4, 2)
        return _BLOCK.format(kept=self._kept(), local=local, loops=loops, temporary=temporary, body=body)

    def _objects(self) -> str:
        """A function that changes what it is given, and two blocks with methods, of which one extends the other."""
        scope = Scope()
        scope.add("INT", "n", "seen", "split", "shown")
        scope.add("BOOL", "rest")
        loops, counters = self._loops(scope, "h")
        split = StatementWriter(self._dice, scope, [], counters[:1]).statements(2, 1)
        scope, local = Scope(), self._types[2]
        scope.add("INT", "way", "level", "moves")
        scope.add("INT", "step", "Height", "Bound(n := level)", writable=False)
        scope.add("BOOL", "far")
        scope.add(local, "own")
        move = StatementWriter(self._dice, scope, ["Height := {n};"], []).statements(2, 1)
        scope = Scope()
        scope.add("INT", "level")
        scope.add("INT", "step", "Move(way := step)", writable=False)
        scope.add("BOOL", "(Height > 2)", writable=False)
        scope.add(local, "own")
        gauge = StatementWriter(self._dice, scope, ["Move(way := {n});", "Fall();"], []).statements(2, 1)
        return _OBJECTS.format(element=self._types[3], loops=loops, split=split, local=local, move=move, gauge=gauge)

    def _entry(self, inner_type: str, result: str) -> str:
        scope = Scope()
        inputs = self._variables(scope, "i_", 1, writable=False)
        given = self._types[-1]
        scope.add(given, "given")
        state = self._variables(scope, "v_", 2)
        scope.add("Mode", "mode")
        scope.add("Mode", "i_mode", writable=False)
        scope.add("Small", "small")
        scope.add("INT", "small", "Size", "inner.count", "many[1].count", writable=False)
        scope.add("BOOL", "inner.done", "many[0].done", writable=False)
        self._add_records(scope, inner_type)
        table, other = self._types[3], self._types[4]
        literal = ExpressionWriter(self._dice, Scope()).literal
        first, second, third = literal(table), literal(table), literal(self._types[2])
        scope.arrays.setdefault(table, []).append(("table", -1, 2))
        scope.arrays.setdefault(other, []).append(("grid[1]", 0, 2))
        scope.add("list", "i_list", writable=False)
        scope.functions[result] = [("compute", ("INT", "Mode", self._types[2], "list"))]
        scope.functions.setdefault("INT", []).extend([("fine.Move", ("INT",)), ("gauges[1].Move", ("INT",))])
        scope.add("INT", "fine.Height", "gauges[0].Height", writable=False)
        blocks, calls = self._blocks(scope)
        loops, counters = self._loops(scope, "k")
        scope.add(table, "i_list[1]", "i_list[3]", writable=False)
        body = StatementWriter(self._dice, scope, calls, counters).statements(self._dice.randint(4, 8), 2)
        return _ENTRY.format(kept=self._kept(), inputs=inputs, table=table, given=given, state=state, first=first,
                             second=second, third=third, other=other, blocks=blocks, loops=loops, body=body)

    def _add_records(self, scope: Scope, inner_type: str) -> None:
        scope.add("Pair", "pair", "twin", "pairs[1]", "pairs[LIMIT(0, v_int0, 1)]")
        scope.add(inner_type, "pair.x", "pairs[0].x")
        scope.add("BOOL", "twin.y", "pairs[LIMIT(0, v_int1, 1)].y")
        scope.arrays.setdefault(self._types[2], []).append(("twin.z", 0, 1))

    def _blocks(self, scope: Scope) -> tuple[str, list[str]]:
        """Declarations of standard blocks, and calls of all blocks."""
        calls = ["inner(go := {b}, shared := {N}, done => {B});", "inner(shared := {N});",
                 "many[0](go := {b}, shared := table_n[0]);",
                 "many[LIMIT(0, {n}, 1)](go := {b}, shared := {N}, count => {N});",
                 "{N} := split({n}, seen := {N}, rest => {B}, row := table) + shown;", "fine(step := {n});",
                 "gauges[LIMIT(0, {n}, 1)].Move(way := {n}, far => {B});", "fine.Height := {n};", "fine.Fall();",
                 "gauges[0](step := {n});"]
        lines = ["  table_n : ARRAY[0..1] OF INT;"]
        for number, (call, declaration, type_, output) in enumerate(self._dice.sample(_STANDARD, 3)):
            calls.append(call.replace("{0}", str(number)))
            lines.append("  " + declaration.format(number))
            scope.add(type_, output.format(number), writable=False)
        return "\n".join(lines), calls
