"""TIME and LTIME have no sign in CODESYS and TwinCAT, and one in the standard and TIA Portal."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from benchmarks.plc.agreement import Evaluation
from benchmarks.plc.compiled import CompiledProgram
from chatdev.departments.plc.proof.outcomes import Property, Verdict
from chatdev.departments.plc.proof.symbolic_values import entry_variables, values_of
from chatdev.departments.plc.proof.transition import CYCLE, build_transition
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine
from chatdev.departments.plc.simulation.trace import columns_of
from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.reading import read_program

HEAD = "PROGRAM P\nVAR_INPUT a, b : TIME; n : INT; l, m : LTIME; END_VAR\n"
RECKONED = HEAD + """VAR sum, less, times, part, low, wide : TIME; is_less : BOOL; count : DINT; big, gap : LTIME;
t : TON; END_VAR
sum := a + b;
less := a - b;
times := a * n;
part := a / 3;
low := MIN(a, b);
is_less := a < b;
count := TIME_TO_DINT(a);
wide := DINT_TO_TIME(count);
big := l + m;
gap := l - a;
t(IN := TRUE, PT := a);
END_PROGRAM
"""
_WORD, _LONG = 1 << 32, 1 << 64


@pytest.mark.parametrize("dialect", ["codesys", "twincat"])
def test_durations_are_reckoned_in_as_words(dialect: str, tmp_path: Path) -> None:
    program = read_program(RECKONED, "P", Dialect(dialect)).program  # type: ignore[arg-type]
    assert program is not None
    machine, evaluation = Machine(program), Evaluation(build_transition(program))
    columns, dice = columns_of(program), random.Random(7)
    rows, seen = [], []
    for _ in range(60):
        a, b = (dice.choice((0, 1, 5000, 2**31, _WORD - 1, dice.randrange(_WORD))) for _ in "ab")
        one, other = (dice.choice((0, 10**9, 2**63, dice.randrange(_LONG))) for _ in "ab")
        n = dice.randint(-5, 9)
        given = {"a": a, "b": b, "n": n, "l": one, "m": other}
        begin = {path: value for variable in entry_variables(program) for path, value in values_of(
            program, variable.type, {**machine.state, **given}[variable.name], variable.name)}
        end, _ = evaluation.scan({**begin, CYCLE: 10})
        state = machine.scan(given, 10)
        wanted = {"sum": (a + b) % _WORD, "less": (a - b) % _WORD, "times": a * n % _WORD, "part": a // 3,
                  "low": min(a, b), "is_less": a < b, "count": (a + 2**31) % _WORD - 2**31, "wide": a,
                  "big": (one + other) % _LONG, "gap": (one - a * 10**6) % _LONG}
        assert {name: state[name] for name in wanted} == wanted == {name: end[name] for name in wanted}
        rows.append((10, [given[column.root] for column in columns if column.is_input]))
        seen.append(tuple(column.read(state) for column in columns))
    assert [scan.values for scan in CompiledProgram(program, tmp_path).run(rows)] == seen


def verdicts(body: str, *conditions: str, dialect: str = "codesys") -> list[Verdict]:
    source = f"{HEAD}VAR d : TIME; k : LTIME; y : BOOL; t : TON; END_VAR\n{body}\nEND_PROGRAM\n"
    asked = [Property("pattern-invariant", (one,)) for one in conditions]
    found = verify(source, "P", asked, seconds=5, dialect=Dialect(dialect))  # type: ignore[arg-type]
    return [one.verdict for one in found][:len(conditions)]


@pytest.mark.parametrize(("dialect", "expected"), [
    ("codesys", ["PROVED", "VIOLATED", "PROVED"]), ("twincat", ["PROVED", "VIOLATED", "PROVED"]),
    ("iec", ["VIOLATED", "PROVED", "VIOLATED"]), ("siemens", ["VIOLATED", "PROVED", "VIOLATED"])])
def test_a_difference_below_zero_is_what_the_dialect_has(dialect: str, expected: list[Verdict]) -> None:
    body = "d := T#5s - T#6s; k := LTIME#1s - LTIME#2s; y := a >= T#0s;"
    assert verdicts(body, "d > T#1d", "d < T#0s", "k > LTIME#0s AND y", dialect=dialect) == expected


def test_a_timer_of_49_days_runs_to_its_end() -> None:
    program = read_program(f"{HEAD}VAR t : TON; END_VAR\nt(IN := TRUE, PT := T#49d);\nEND_PROGRAM\n", "P",
                           Dialect("codesys")).program
    assert program is not None
    machine, day = Machine(program), 86_400_000
    seen = [(state["t"]["q"], state["t"]["et"]) for state in (machine.scan({}, 10 * day) for _ in range(6))]
    assert seen == [(False, 0), (False, 10 * day), (False, 20 * day), (False, 30 * day), (False, 40 * day),
                    (True, 49 * day)]


@pytest.mark.parametrize(("dialect", "literal", "code"), [
    ("codesys", "T#-1s", "bad-literal"), ("iec", "T#-1s", ""), ("codesys", "T#49d17h2m47s295ms", ""),
    ("codesys", "T#50d", "bad-literal"), ("iec", "T#25d", "bad-literal"), ("siemens", "T#25d", "bad-literal")])
def test_the_range_of_a_literal(dialect: str, literal: str, code: str) -> None:
    found = read_program(f"{HEAD}VAR d : TIME := {literal}; END_VAR\nEND_PROGRAM\n", "P", Dialect(dialect))  # type: ignore[arg-type]
    assert [one.code for one in found.diagnostics] == [code] * bool(code)
