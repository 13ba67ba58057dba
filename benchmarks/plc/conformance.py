"""Do interpreter, proof and generated C give what the standard says? They are held against rules written down from
IEC 61131-3 (standard.py), which know nothing of ours.

All ordered pairs of integer and bit-string types with every operator; functions; conversions; the standard function
blocks over random runs; and random expressions of mixed types and literals without a type. Where the standard gives no
meaning, the checker has to refuse.

    python -m benchmarks.plc.conformance [--expressions 2000] [--first 0]

With another number of expressions, nothing is written down.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.plc import standard
from benchmarks.plc.agreement import Evaluation, is_same
from benchmarks.plc.compiled import CompiledProgram
from benchmarks.plc.standard import ANY_REAL, BITS, REALS, SIGNED, SIGNS, UNSIGNED, WIDTHS, Refused, Tree
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.plc.proof.transition import CYCLE, build_transition
from chatdev.departments.plc.simulation.machine import Machine
from chatdev.departments.plc.simulation.trace import columns_of
from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.reading import read_program

EXPRESSIONS, ROWS, SCANS = 2000, 40, 300
_AT_ONCE = 100  # expressions in one program
_AS_IEC = Dialect(mod_zero="zero")
_LARGEST = {"REAL": 1.0e30, "LREAL": 1.0e200}
Row = Mapping[str, Any]
Expected = Callable[[Row], Mapping[str, Any]]


@dataclass
class Findings:
    """What was compared of one kind: values, refusals, and each difference in words."""

    kind: str
    values: int = 0
    refused: int = 0
    differences: list[str] = field(default_factory=list)


def edges(type_: str) -> list[Any]:
    """Values of a type at which something happens."""
    if type_ == "BOOL":
        return [False, True]
    if type_ in REALS:
        return [REALS[type_](one) for one in (0.0, 0.5, 1.5, 2.5, -2.5, 3.25, -7.0, 100.75, 40000.0, _LARGEST[type_])]
    width = WIDTHS[type_]
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if type_ in SIGNED else (0, (1 << width) - 1)
    return [*{low, low + 1, 0, 1, 2, 7, high // 2, high // 2 + 1, high - 1, high, *([-1, -7] if low else [])}]


def refuses(declarations: str, statement: str) -> bool:
    """Whether the checker refuses a statement."""
    return read_program(f"PROGRAM P\n{declarations}\n{statement}\nEND_PROGRAM", None, _AS_IEC).program is None


def hold(found: Findings, source: str, rows: Sequence[tuple[int, Row]], expected: Expected) -> None:
    """Run a program in all three ways, and note where an output is not as expected."""
    reading = read_program(source, None, _AS_IEC)
    if reading.program is None:
        found.differences += [f"refused: {one.message} at {one.span}, `{source.splitlines()[one.span.line - 1]}`"
                              for one in reading.diagnostics if one.severity == "error"]
        return
    program, columns = reading.program, columns_of(reading.program)
    given = [one for one in columns if one.is_input]
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        table = [(passed, [_plain(row[one.name]) for one in given]) for passed, row in rows]
        in_c = CompiledProgram(program, Path(folder)).run(table)
    machine_, evaluation = Machine(program), Evaluation(build_transition(program))
    for (passed, row), by_c in zip(rows, in_c, strict=True):
        wanted = {name.lower(): value for name, value in expected({**row, CYCLE: passed}).items()}
        state = machine_.state
        for column in given:
            column.write(state, _plain(row[column.name]))
        proved, _ = evaluation.scan({**{path: _reach(state, path) for path in evaluation.paths}, CYCLE: passed})
        seen = machine_.scan({one.root: state[one.root] for one in given}, passed)
        for column, value in zip(columns, by_c.values, strict=True):
            path = column.name.lower()
            if path not in wanted:
                continue
            ours = {"run": column.read(seen), "C": value, "proof": proved[path]}
            found.values += len(ours)
            found.differences += [f"{way}: {column.name} is {one}, not {wanted[path]}, of {dict(row)}"
                                  for way, one in ours.items() if not is_same(one, _plain(wanted[path]))]


def _reach(state: Mapping[str, Any], path: str) -> Any:
    value: Any = state
    for part in path.split("."):
        value = value[part]
    return value


def _plain(value: Any) -> Any:
    """A value of numpy as one of Python."""
    return value.item() if hasattr(value, "item") else value


# what is compared ----------------------------------------------------------------------------------------------------


def pairs(types: Sequence[str], dice: random.Random) -> Findings:
    """Every operator on every ordered pair of these types."""
    found = Findings(f"{len(types)} × {len(types)} types with {len(SIGNS)} operators")
    inputs = " ".join(f"a_{one}, b_{one} : {one};" for one in types)
    outputs: dict[str, tuple[str, str, str, str, str]] = {}
    for number, (left, right, sign) in enumerate((a, b, sign) for a in types for b in types for sign in SIGNS):
        try:
            met = standard.common(left, right)
            outputs[f"o{number}"] = sign, left, right, met, standard.result_of(sign, met)
        except Refused:
            found.refused += 1
            if not refuses(f"VAR a : {left}; b : {right}; c : {left}; d : {right}; e : BOOL; f : LREAL; END_VAR",
                           f"e := (a {sign} b) = (a {sign} b);"):
                found.differences.append(f"{left} {sign} {right} is not refused")
    outputs = {name: one for name, one in outputs.items() if one[0] != "/"} | {
        name: one for name, one in outputs.items() if one[0] == "/"}
    body = "\n".join(f"{name} := a_{left} {sign} {'nz_' if sign == '/' else 'b_'}{right};"
                     for name, (sign, left, right, _, _) in outputs.items())
    guards = "\n".join(f"nz_{one} := SEL(b_{one} = 0, b_{one}, {one}#1);" for one in types)
    declared = " ".join(f"{name} : {result};" for name, (*_, result) in outputs.items())
    source = (f"PROGRAM P\nVAR_INPUT {inputs} END_VAR\nVAR {' '.join(f'nz_{one} : {one};' for one in types)} END_VAR\n"
              f"VAR_OUTPUT {declared} END_VAR\n{guards}\n{body}\nEND_PROGRAM")

    def expected(row: Row) -> dict[str, Any]:
        values = {}
        for name, (sign, left, right, met, _) in outputs.items():
            second = (row[f"b_{right}"] or 1) if sign == "/" else row[f"b_{right}"]
            values[name] = standard.operate(sign, standard.convert(row[f"a_{left}"], left, met),
                                            standard.convert(second, right, met), met)
        return values

    rows = [(1, {f"{side}_{one}": dice.choice(edges(one)) for side in "ab" for one in types}) for _ in range(ROWS)]
    hold(found, source, rows, expected)
    return found


def functions(dice: random.Random) -> Findings:
    """LIMIT, MIN, MAX, SEL, MUX, the shifts of every bit string, TRUNC."""
    found = Findings("LIMIT, MIN, MAX, SEL, MUX, SHL, SHR, ROL, ROR, TRUNC")
    shifts = {f"{name}_{type_}": (name, type_) for name in ("SHL", "SHR", "ROL", "ROR") for type_ in BITS}
    source = (f"PROGRAM P\nVAR_INPUT a, b, c, k : INT; g : BOOL; r : REAL; l : LREAL; "
              f"{' '.join(f'v_{one} : {one};' for one in BITS)} END_VAR\n"
              f"VAR_OUTPUT limited, least, greatest, chosen, multiplexed : INT; cut, cut_l : DINT; "
              f"{' '.join(f'{one} : {type_};' for one, (_, type_) in shifts.items())} END_VAR\n"
              "limited := LIMIT(a, b, c); least := MIN(a, b, c); greatest := MAX(a, b, c); chosen := SEL(g, a, b);\n"
              "multiplexed := MUX(k, a, b, c); cut := TRUNC(r); cut_l := TRUNC(l);\n"
              + "\n".join(f"{one} := {name}(v_{type_}, k);" for one, (name, type_) in shifts.items()) + "\nEND_PROGRAM")

    def expected(row: Row) -> dict[str, Any]:
        a, b, c = row["a"], row["b"], row["c"]
        return {"limited": standard.limit(a, b, c), "least": min(a, b, c), "greatest": max(a, b, c),
                "chosen": standard.select(row["g"], a, b), "multiplexed": standard.multiplex(row["k"], a, b, c),
                "cut": standard.truncate(row["r"]), "cut_l": standard.truncate(row["l"]),
                **{one: standard.shift(name, row[f"v_{type_}"], row["k"], type_)
                   for one, (name, type_) in shifts.items()}}

    small = [*range(-3, 4), 8, 15, 16, 31, 32, 63, 64, 70, -70]
    rows = [(1, {"a": dice.randint(-5, 5), "b": dice.randint(-5, 5), "c": dice.randint(-5, 5),
                 "k": dice.choice(small), "g": dice.random() < 0.5, "r": dice.choice(edges("REAL")),
                 "l": dice.choice(edges("LREAL")), **{f"v_{one}": dice.choice(edges(one)) for one in BITS}})
            for _ in range(10 * ROWS)]
    hold(found, source, rows, expected)
    return found


def conversions(dice: random.Random) -> Findings:
    """`A_TO_B` of all pairs of numbers, bit strings and BOOL."""
    types = ["BOOL", *WIDTHS, *REALS]
    found = Findings(f"conversions of {len(types)} × {len(types)} types")
    made = [(one, other) for one in types for other in types if one != other and (other != "BOOL" or one not in REALS)
            and not (one in REALS and other in BITS) and not ({one, other} >= {"LINT", "REAL"})
            and not (one in REALS and other in ("LINT", "ULINT"))]
    source = ("PROGRAM P\nVAR_INPUT " + " ".join(f"v_{one} : {one};" for one in types) + " END_VAR\nVAR_OUTPUT "
              + " ".join(f"{one}_as_{other} : {other};" for one, other in made) + " END_VAR\n"
              + "\n".join(f"{one}_as_{other} := {one}_TO_{other}(v_{one});" for one, other in made) + "\nEND_PROGRAM")
    rows = [(1, {f"v_{one}": dice.choice(edges(one)) for one in types}) for _ in range(2 * ROWS)]
    hold(found, source, rows, lambda row: {f"{one}_as_{other}": standard.convert(row[f"v_{one}"], one, other)
                                           for one, other in made})
    return found


def blocks(dice: random.Random, scans: int) -> Findings:
    """The standard function blocks in a run of random inputs and times."""
    found = Findings("R_TRIG, F_TRIG, SR, RS, CTU, CTD, CTUD, TON, TOF, TP")
    source = """PROGRAM P
VAR_INPUT a, b, c, d : BOOL; pv : INT; END_VAR
VAR rise : R_TRIG; fall : F_TRIG; s : SR; r : RS; up : CTU; down : CTD; both : CTUD; on_ : TON; off : TOF; pulse : TP;
END_VAR
rise(CLK := a); fall(CLK := a); s(S1 := a, R := b); r(S := a, R1 := b); up(CU := a, R := c, PV := pv);
down(CD := b, LD := d, PV := pv); both(CU := a, CD := b, R := c, LD := d, PV := pv);
on_(IN := a, PT := T#250ms); off(IN := a, PT := T#250ms); pulse(IN := a, PT := T#250ms);
END_PROGRAM"""
    rise, fall = standard.Edge(), standard.Edge(falls=True)
    sets, resets = standard.Latch(True), standard.Latch(False)
    up, down, both = standard.Counter(), standard.Counter(), standard.Counter()
    timers = {name: standard.Timer(kind) for name, kind in (("on_", "TON"), ("off", "TOF"), ("pulse", "TP"))}

    def expected(row: Row) -> dict[str, Any]:
        a, b, c, d, preset = (row[one] for one in ("a", "b", "c", "d", "pv"))
        counted, fallen = up.call((a, False), c, False, preset), down.call((False, b), False, d, preset)
        wide = both.call((a, b), c, d, preset)
        timed = {name: timer.call(a, 250, row[CYCLE]) for name, timer in timers.items()}
        return {"rise.q": rise.call(a), "fall.q": fall.call(a), "s.q1": sets.call(a, b), "r.q1": resets.call(a, b),
                "up.q": counted[0], "up.cv": counted[2], "down.q": fallen[1], "down.cv": fallen[2],
                "both.qu": wide[0], "both.qd": wide[1], "both.cv": wide[2],
                **{f"{name}.{part}": value for name, both_ in timed.items()
                   for part, value in zip(("q", "et"), both_, strict=True)}}

    row: dict[str, Any] = {"a": False, "b": False, "c": False, "d": False, "pv": 2}
    rows = []
    for _ in range(scans):
        row = row | {one: not row[one] for one, often in (("a", 0.3), ("b", 0.3), ("c", 0.15), ("d", 0.15))
                     if dice.random() < often} | {"pv": dice.choice((-1, 0, 1, 2, 2, 3))}
        row = row | {one: False for one in "cd" if dice.random() < 0.4}
        rows.append((dice.choice((1, 50, 100, 249, 250, 251, 400)), row))
    hold(found, source, rows, expected)
    return found


# random expressions --------------------------------------------------------------------------------------------------

_TYPES = ("SINT", "INT", "DINT", "USINT", "UINT", "UDINT", "BYTE", "WORD", "REAL", "LREAL")


def expressions(seeds: Sequence[int]) -> Findings:
    """Random expressions over variables of mixed types and numbers without one, many in a program."""
    found = Findings(f"{len(seeds)} random expressions of mixed types")
    variables = [standard.Variable(f"{letter}_{type_.lower()}", type_) for type_ in _TYPES for letter in "xy"]
    inputs = " ".join(f"{one.name} : {one.type};" for one in variables)
    made: dict[str, tuple[Tree, str]] = {}
    for seed in seeds:
        tree, needed = draw_tree(variables, random.Random(f"expression {seed}"))
        try:
            own = standard.type_of(tree)
        except Refused:
            found.refused += 1
            if not refuses(f"VAR {inputs} out : LREAL; other : LWORD; b : BOOL; END_VAR",
                           f"b := {standard.write(tree)} = {standard.write(tree)};"):
                found.differences.append(f"{standard.write(tree)} is not refused")
            continue
        made[f"o{seed}"] = tree, needed if own == ANY_REAL else own
    for batch in _batches([*made]):
        declared = " ".join(f"{name} : {made[name][1]};" for name in batch)
        source = (f"PROGRAM P\nVAR_INPUT {inputs} END_VAR\nVAR_OUTPUT {declared} END_VAR\n"
                  + "\n".join(f"{name} := {standard.write(made[name][0])};" for name in batch) + "\nEND_PROGRAM")
        dice = random.Random(batch[0])
        rows = [(1, {one.name: dice.choice(edges(one.type)) for one in variables}) for _ in range(ROWS // 4)]
        hold(found, source, rows, lambda row, batch=batch: {  # type: ignore[misc]
            name: standard.reckon(made[name][0], made[name][1], row) for name in batch})
    return found


def draw_tree(variables: Sequence[standard.Variable], dice: random.Random) -> tuple[Tree, str]:
    """An expression and the type of real that it is needed in, should it be of any. Numbers without a type stand beside
    something that has one."""
    needed = dice.choice(("REAL", "LREAL"))
    return _draw(variables, dice, dice.randint(1, 3)), needed


def _draw(variables: Sequence[standard.Variable], dice: random.Random, depth: int) -> Tree:
    if depth == 0:
        return dice.choice(variables)
    left, right = _draw(variables, dice, depth - 1), _draw(variables, dice, depth - 1)
    if dice.random() < 0.3:
        right = standard.Literal(dice.choice(("0.5", "2.25", "276.48", "1", "2", "7", "200", "40000")))
    if dice.random() < 0.2:
        condition = standard.Binary(dice.choice(("<", "=", ">=")), dice.choice(variables), dice.choice(variables))
        if dice.random() < 0.5:
            return standard.Choice("SEL", condition, left, right)
        return standard.Choice(dice.choice(("LIMIT", "MIN", "MAX")), left, right, _draw(variables, dice, depth - 1))
    return standard.Binary(dice.choice(("+", "-", "*", "+", "-", "*", "<", "=", ">=", "AND")), left, right)


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    yield from (names[at:at + _AT_ONCE] for at in range(0, len(names), _AT_ONCE))


# the study -----------------------------------------------------------------------------------------------------------


def study(seeds: Sequence[int], types: Sequence[str] = (*SIGNED, *UNSIGNED, *BITS)) -> dict[str, Any]:
    """All comparisons, summed up."""
    dice = random.Random(seeds[0])
    found = [pairs(types, dice), functions(dice), conversions(dice), blocks(dice, SCANS), expressions(seeds)]
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(),
            "rows": [{"kind": one.kind, "values": one.values, "refused": one.refused,
                      "differences": one.differences[:20]} for one in found]}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    table = markdown_table(["what", "values compared", "refused by both", "differences"], [
        (row["kind"], f"{row['values']:,}", row["refused"], len(row["differences"])) for row in results["rows"]])
    return f"{table}\n\n{results['date']}; {results['machine']}."


TABLE = KeptTable(told, RESULTS_FOLDER / "plc_conformance.json", DOCS / "plc.md",
                  marks("conformance", "plc.conformance"))


def main() -> None:
    """Study, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--expressions", type=int, default=EXPRESSIONS)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first expression")
    arguments = parser.parse_args()
    results = study(range(arguments.first, arguments.first + arguments.expressions))
    print(TABLE.keep(results) if (arguments.expressions, arguments.first) == (EXPRESSIONS, 0) else told(results))
    if differences := [one for row in results["rows"] for one in row["differences"]]:
        raise SystemExit("\n".join(differences))


if __name__ == "__main__":
    main()
