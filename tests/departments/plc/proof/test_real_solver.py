"""Arithmetic of REAL that is too hard for z3: bitwuzla proves it and finds counterexamples, which are replayed."""

from __future__ import annotations

import pytest
import z3

from chatdev.departments.plc.proof import search
from chatdev.departments.plc.proof.search import RealSolver
from chatdev.departments.plc.proof.verify import verify

SCALE = """PROGRAM Scale
VAR_INPUT Raw : REAL; END_VAR
VAR_OUTPUT Level : REAL; END_VAR
IF Raw >= 1200.0 AND Raw <= 3600.0 THEN
    Level := 150.0 + (Raw - 1200.0) * 90.0 / 2400.0;
    //#ASSERT Level >= 150.0 AND Level <= 240.0 : in_range
END_IF;
END_PROGRAM
"""
FLOAT = z3.Float32()
X, Y = z3.FP("x@0", FLOAT), z3.FP("y", FLOAT)


def number(value: float) -> object:
    return z3.FPVal(value, FLOAT)


@pytest.fixture
def solver() -> RealSolver:
    """One that gives z3 nearly nothing, so that bitwuzla is asked; y is (x - 1200) * 90 / 2400 + 150."""
    made, nearest = RealSolver(2_000_000), z3.RNE()
    made.set("rlimit", 12_000_000)
    product = z3.fpMul(nearest, z3.fpSub(nearest, X, number(1200)), number(90))
    made.add(z3.And(z3.fpAdd(nearest, z3.fpDiv(nearest, product, number(2400)), number(150)) == Y))  # a single part
    made.add(z3.fpGEQ(X, number(1200)), z3.fpLEQ(X, number(3600)))
    return made


def test_what_cannot_be_is_refuted(solver: RealSolver) -> None:
    assert solver.check(z3.Or(z3.fpLT(Y, number(150)), z3.fpGT(Y, number(240)))) == z3.unsat


def test_what_can_be_has_a_model(solver: RealSolver) -> None:
    above = z3.fpGT(Y, number(239.75))
    assert solver.check(above) == z3.sat
    assert z3.is_true(solver.model().eval(above))
    solver.push()
    solver.add(z3.fpLT(Y, number(151)))
    assert solver.check(above) == z3.unsat
    solver.pop()
    assert solver.check(above) == z3.sat


def test_without_effort_nothing_is_known(solver: RealSolver) -> None:
    solver.set("rlimit", 1)
    assert solver.check(z3.fpGT(Y, number(240))) == z3.unknown


def test_what_bitwuzla_cannot_read_is_not_known(solver: RealSolver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then z3 has all the effort: as much is known as without bitwuzla."""
    solver.set("rlimit", 2_000_000)
    monkeypatch.setattr(search, "_as_standard", lambda fact, _: fact)  # a conjunction of one part is no SMT-LIB
    assert solver.check(z3.fpGT(Y, number(240))) == z3.unknown
    solver.set("rlimit", 12_000_000)  # it takes a million, more or less by what z3 did before in this process
    assert solver.check(number(150) == Y, number(1200) == X) == z3.sat


def test_joins_of_nothing_are_read(solver: RealSolver) -> None:
    solver.add(z3.And([]))
    assert solver.check(z3.Or(z3.Or([]), z3.fpGT(Y, number(240)))) == z3.unsat


def test_a_scaled_input_is_proved_to_stay_in_its_range() -> None:
    assert [one.verdict for one in verify(SCALE, None, [])] == ["PROVED"]
    [outcome] = verify(SCALE.replace("<= 240.0", "<= 239.9"), None, [])
    assert outcome.verdict == "VIOLATED"
    [cycle] = outcome.cycles
    assert float({name.lower(): value for name, value in cycle.changed}["level"]) > 239.9


def test_without_bitwuzla_there_is_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "load_bitwuzla", lambda: None)
    plain = search.solver_for(type("System", (), {"has_reals": True})())
    assert isinstance(plain, z3.Solver)
