"""Random programs that are well typed, and random inputs for them: what interpreter and solver have to agree on."""

from __future__ import annotations

import random

TYPES = {"BOOL": ("b", 3), "INT": ("n", 3), "SINT": ("s", 2), "UINT": ("u", 2), "WORD": ("w", 2), "REAL": ("r", 2)}
_CONSTANTS = {"BOOL": "TRUE", "INT": "INT#3", "SINT": "SINT#2", "UINT": "UINT#4", "WORD": "WORD#16#F0",
              "REAL": "REAL#0.5"}
_COMPARED = ("INT", "SINT", "UINT", "REAL")
_OPERATORS = {"INT": "+ - * / MOD", "SINT": "+ - *", "UINT": "+ - * / MOD", "REAL": "+ - *", "WORD": "AND OR XOR",
              "BOOL": "AND OR XOR"}
_FUNCTIONS = {"INT": ("ABS({0})", "MIN({0}, {1})", "LIMIT({0}, {1}, {2})"), "WORD": ("SHL({0}, 3)", "ROR({0}, 5)"),
              "REAL": ("MAX({0}, {1})", "INT_TO_REAL({n})"), "UINT": ("WORD_TO_UINT({w})",),
              "SINT": ("INT_TO_SINT({n})", "ABS({0})"), "BOOL": ("NOT {0}", "SEL({0}, {1}, {2})")}


class ProgramWriter:
    """Writes one program; the same seed gives the same one."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._loops = 0

    def program(self) -> str:
        """A function block with all types, an array, a function and an edge detector."""
        body = "\n".join(self._statement(3) for _ in range(self._random.randint(2, 6)))
        inputs = "\n".join(f"  {letter}i : {name};" for name, (letter, _) in TYPES.items())
        state = "\n".join(f"  {letter}{number} : {name};" for name, (letter, count) in TYPES.items()
                          for number in range(count))
        return (f"FUNCTION twice : INT\nVAR_INPUT x : INT; END_VAR\ntwice := x + x;\nIF x > 5 THEN RETURN; END_IF;\n"
                f"twice := twice - 1;\nEND_FUNCTION\nFUNCTION_BLOCK fb\nVAR_INPUT\n{inputs}\nEND_VAR\nVAR\n{state}\n"
                "  a : ARRAY[0..3] OF INT;\n  k0 : INT; k1 : INT; k2 : INT;\n  edge : R_TRIG;\n  size : INT := 3;\n"
                f"END_VAR\n{body}\nEND_FUNCTION_BLOCK\n")

    def inputs(self) -> dict[str, object]:
        """Values for its inputs."""
        choose = self._random.choice
        return {"bi": choose([True, False]), "ni": choose([0, 1, -1, 7, 32767, -32768, self._random.randint(-99, 99)]),
                "si": choose([0, 127, -128, 5]), "ui": choose([0, 1, 65535, 9]), "wi": choose([0, 1, 0x8000, 0xFFFF]),
                "ri": choose([0.0, -0.0, 1.5, -3.25, 1e30, 0.1])}

    def _statement(self, depth: int) -> str:
        kind = self._random.randrange(9 if depth else 4)
        if kind < 3:
            name = self._random.choice(list(TYPES))
            return f"{self._variable(name)} := {self._expression(name, 2)};"
        if kind == 3:
            return self._random.choice([f"a[{self._index()}] := {self._expression('INT', 1)};",
                                        f"edge(CLK := {self._expression('BOOL', 1)}, Q => b0);"])
        inner = "\n".join(self._statement(depth - 1) for _ in range(2))
        if kind < 7:
            return (f"IF {self._expression('BOOL', 2)} THEN\n{inner}\nELSIF {self._expression('BOOL', 1)} THEN\n"
                    f"{self._statement(0)}\nELSE\n{self._statement(0)}\nEND_IF;")
        if kind == 7:
            return f"CASE {self._expression('INT', 1)} OF\n0, 3..7: {inner}\n1: n0 := 1;\nELSE n1 := 2;\nEND_CASE;"
        return self._loop(inner)

    def _loop(self, inner: str) -> str:
        if self._loops == 3:
            return inner
        name, self._loops = f"k{self._loops}", self._loops + 1
        jump = self._random.choice(["EXIT", "CONTINUE", "RETURN"])
        return (f"FOR {name} := {self._random.choice(['0', 'LIMIT(0, n0, 2)'])} TO "
                f"{self._random.choice(['2', 'size', 'LIMIT(0, ni, 3)'])} DO\n{inner}\n"
                f"IF {self._expression('BOOL', 1)} THEN {jump}; END_IF;\nn2 := n2 + {name};\nEND_FOR;")

    def _variable(self, name: str) -> str:
        letter, count = TYPES[name]
        return f"{letter}{self._random.randrange(count)}"

    def _index(self) -> str:
        return self._random.choice(["0", "3", "LIMIT(0, n1, 3)", "LIMIT(0, ni, 3)", "n0"])

    def _expression(self, name: str, depth: int) -> str:
        choice = self._random.randrange(10) if depth else self._random.randrange(4)
        if choice < 4:
            return self._leaf(name)
        if choice < 7:
            sign = self._random.choice(_OPERATORS[name].split())
            return f"({self._expression(name, depth - 1)} {sign} {self._expression(name, depth - 1)})"
        if name == "BOOL" and choice < 9:
            other = self._random.choice(_COMPARED)
            sign = self._random.choice(["<", "<=", "=", "<>", ">", ">="])
            return f"({self._expression(other, depth - 1)} {sign} {self._expression(other, depth - 1)})"
        inner = [self._expression(name, depth - 1) for _ in range(3)]
        return "(" + self._random.choice(_FUNCTIONS[name]).format(*inner, n=self._variable("INT"),
                                                                   w=self._variable("WORD")) + ")"

    def _leaf(self, name: str) -> str:
        letter = TYPES[name][0]
        constant = _CONSTANTS[name]
        more = [f"a[{self._index()}]", f"twice({self._variable('INT')})"] if name == "INT" else [constant]
        return self._random.choice([self._variable(name), self._variable(name), f"{letter}i", constant, *more])
