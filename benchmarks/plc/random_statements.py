"""Random statements of one routine, over the names in its scope."""

from __future__ import annotations

import random

from benchmarks.plc.random_expressions import BITS, NUMBERS, ExpressionWriter, Scope, scalar_of


class StatementWriter:
    """The statements of one routine over its scope."""

    def __init__(self, dice: random.Random, scope: Scope, calls: list[str], counters: list[str]) -> None:
        self._dice = dice
        self._scope = scope
        self._calls = calls
        self._counters = counters
        self._write = ExpressionWriter(dice, scope).write
        self._index = ExpressionWriter(dice, scope).index
        self._in_loop = 0

    def statements(self, count: int, depth: int) -> str:
        """So many statements, with at most `depth` within each other."""
        return "\n".join(self._statement(depth) for _ in range(count))

    def _statement(self, depth: int) -> str:
        simple = [self._assign] * 5 + [self._assign_element, self._assign_bit, self._copy, self._assert]
        if self._calls and not self._in_loop:
            simple += [self._call] * 3
        nested = [self._if, self._if, self._case, self._case_of_mode]
        if self._counters:
            nested += [self._for, self._for, self._while, self._repeat]
        if depth and self._dice.random() < 0.45:
            return self._dice.choice(nested)(depth - 1)
        return self._dice.choice(simple)()

    # simple ones -------------------------------------------------------------------------------------------------

    def _assign(self) -> str:
        type_ = self._dice.choice([one for one in self._scope.written if one != "Pair"])
        target = self._dice.choice(self._scope.written[type_])
        if type_ == "Small":
            value = self._write("INT", 1)
            return f"{target} := {value if self._dice.random() < 0.1 else f'LIMIT(-20, {value}, 20)'};"
        return f"{target} := {self._write(type_, self._dice.randint(1, 3))};"

    def _assign_element(self) -> str:
        arrays = [(type_, one) for type_, many in self._scope.arrays.items() for one in many]
        if not arrays:
            return self._assign()
        type_, (name, low, high) = self._dice.choice(arrays)
        return f"{name}[{self._index(low, high)}] := {self._write(type_, 2)};"

    def _assign_bit(self) -> str:
        owners = [one for one in (*BITS, *NUMBERS) if self._scope.written.get(one)]
        if not owners:
            return self._assign()
        owner = self._dice.choice(owners)
        parts = [one for one in BITS if scalar_of(one).bits < scalar_of(owner).bits]
        if parts and self._dice.random() < 0.4:
            part = self._dice.choice(parts)
            number = self._dice.randrange(scalar_of(owner).bits // scalar_of(part).bits)
            place = f"{self._dice.choice(self._scope.written[owner])}.%{part[0]}{number}"
            return f"{place} := {self._write(part, 2)};"
        bit = self._dice.randrange(scalar_of(owner).bits)
        return f"{self._dice.choice(self._scope.written[owner])}.{bit} := {self._write('BOOL', 2)};"

    def _copy(self) -> str:
        records = self._scope.places.get("Pair", [])
        if not records or not self._scope.written.get("Pair"):
            return self._assign()
        return f"{self._dice.choice(self._scope.written['Pair'])} := {self._dice.choice(records)};"

    def _assert(self) -> str:
        return f"//#ASSERT {self._write('BOOL', 1)} : a{self._dice.randrange(1000)}\n{self._assign()}"

    def _call(self) -> str:
        call = self._calls.pop(self._dice.randrange(len(self._calls)))
        for mark, type_ in (("{b}", "BOOL"), ("{t}", "TIME"), ("{n}", "INT")):
            while mark in call:
                call = call.replace(mark, self._write(type_, 1), 1)
        if "{B}" in call:
            call = call.replace("{B}", self._dice.choice(self._scope.written["BOOL"]))
        while "{N}" in call:
            call = call.replace("{N}", self._dice.choice(self._scope.written["INT"]), 1)
        return call

    # nested ones -------------------------------------------------------------------------------------------------

    def _if(self, depth: int) -> str:
        text = f"IF {self._write('BOOL', 2)} THEN\n{self.statements(2, depth)}\n"
        if self._dice.random() < 0.4:
            text += f"ELSIF {self._write('BOOL', 1)} THEN\n{self.statements(1, depth)}\n"
        if self._dice.random() < 0.5:
            text += f"ELSE\n{self.statements(1, depth)}\n"
        elif self._dice.random() < 0.1:
            text += "ELSE RETURN;\n"
        return f"{text}END_IF;"

    def _case(self, depth: int) -> str:
        types = [one for one in NUMBERS if self._scope.places.get(one)]
        type_ = self._dice.choice(types)
        labels = "-3..-1, 2, 5..9" if scalar_of(type_).signed else "1, 3..9"
        return (f"CASE {self._write(type_, 1)} OF\n0: {self.statements(1, depth)}\n{labels}: "
                f"{self.statements(1, depth)}\n15: {self.statements(1, 0)}\nELSE {self.statements(1, 0)}\nEND_CASE;")

    def _case_of_mode(self, depth: int) -> str:
        return (f"CASE {self._write('Mode', 1)} OF\nIdle: {self.statements(1, depth)}\n"
                f"Busy, Halted: {self.statements(1, 0)}\nEND_CASE;")

    def _for(self, depth: int) -> str:
        name, type_ = self._counters.pop().split()
        first, last = (self._dice.choice((f"LIMIT({type_}#0, {self._write(type_, 1)}, {type_}#3)", f"{type_}#{number}"))
                       for number in (self._dice.randint(0, 2), self._dice.randint(0, 4)))
        step = self._dice.choice(("", "", " BY 2", " BY -1" if scalar_of(type_).signed else ""))
        return f"FOR {name} := {first} TO {last}{step} DO\n{self._turn(depth)}\nEND_FOR;"

    def _while(self, depth: int) -> str:
        name, type_ = self._counters.pop().split()
        return (f"{name} := {type_}#0;\nWHILE {name} < {self._dice.randint(1, 4)} AND {self._write('BOOL', 1)} DO\n"
                f"{name} := {name} + 1;\n{self._turn(depth)}\nEND_WHILE;")

    def _repeat(self, depth: int) -> str:
        name, type_ = self._counters.pop().split()
        return (f"{name} := {type_}#0;\nREPEAT\n{name} := {name} + 1;\n{self._turn(depth)}\n"
                f"UNTIL {name} >= {self._dice.randint(1, 4)} OR {self._write('BOOL', 1)} END_REPEAT;")

    def _turn(self, depth: int) -> str:
        """The body of a loop, with a jump in it."""
        self._in_loop += 1
        text = self.statements(1, min(depth, 1))
        if self._dice.random() < 0.6:
            jump = self._dice.choice(("EXIT", "EXIT", "CONTINUE", "CONTINUE", "RETURN"))
            text += f"\nIF {self._write('BOOL', 1)} THEN {jump}; END_IF;\n{self.statements(1, 0)}"
        self._in_loop -= 1
        return text
