"""Bounded model checking and k-induction in lock step.

At each depth k it is first asked whether k scans without harm make the next one harmless from any state (then it is
proved, as the first k scans have been looked at), then whether harm is possible in scan k+1 from the start.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import z3

from chatdev.departments.plc.proof.cone import System, start_of
from chatdev.departments.plc.proof.real_solver import RealSolver, load_bitwuzla
from chatdev.departments.plc.proof.terms import read_value, symbol
from chatdev.departments.plc.st.core import Value

_EFFORT_PER_SECOND = 2_000_000
"""What z3 calls rlimit: it counts its steps. Unlike its clock it needs no thread, and it gives the same answer
each time."""


@dataclass
class Budget:
    """The seconds of the processor that are left: on a machine with other work a verdict is the same."""

    seconds: float
    began: float = field(default_factory=time.process_time)

    @property
    def left(self) -> float:
        """Seconds from now on, never negative."""
        return max(0.0, self.began + self.seconds - time.process_time())

    def check(self, solver: Any, *assumptions: Any, share: float = 1.0) -> Literal["sat", "unsat", "unknown"]:
        """Ask the solver, for not much longer than a share of what is left."""
        if self.left <= 0:
            return "unknown"
        solver.set("rlimit", max(1000, int(self.left * share * _EFFORT_PER_SECOND)))
        answer = str(solver.check(*assumptions))
        return answer if answer in ("sat", "unsat") else "unknown"  # type: ignore[return-value]


@dataclass(frozen=True)
class Found:
    """What the search came to: harm that can or cannot happen, or that does not in the first k scans. `inputs` are
    those of each scan of a run that does harm, for what the question depends on."""

    answer: Literal["never", "happens", "bounded"]
    k: int
    inputs: tuple[dict[str, Value], ...] = ()
    reason: str = ""


class Unrolling:
    """A system scan by scan: expressions over its symbols become expressions over those of one scan."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._now = {name: symbol(name, scalar) for name, scalar in (*system.states.items(), *system.inputs.items())}
        self._relation = z3.And(*(symbol(f"{name}'", scalar) == system.next[name]
                                  for name, scalar in system.states.items()), *system.always)

    def at(self, expression: Any, scan: int) -> Any:
        """The expression in a scan, counted from 0."""
        return z3.substitute(expression, *self._renaming(scan))

    def relation(self, scan: int) -> Any:
        """That scan number `scan` is one."""
        primed = [(symbol(f"{name}'", scalar), symbol(f"{name}@{scan + 1}", scalar))
                  for name, scalar in self.system.states.items()]
        return z3.substitute(self._relation, *self._renaming(scan), *primed)

    def inputs(self, model: Any, scans: int) -> tuple[dict[str, Value], ...]:
        """The inputs of so many scans in a model."""
        return tuple({name: read_value(model.eval(symbol(f"{name}@{scan}", scalar), model_completion=True), scalar)
                      for name, scalar in self.system.inputs.items()} for scan in range(scans))

    def _renaming(self, scan: int) -> list[tuple[Any, Any]]:
        return [(one, z3.Const(f"{name}@{scan}", one.sort())) for name, one in self._now.items()]


def solver_for(system: System) -> Any:
    """A solver that takes more and more facts."""
    if system.has_reals and load_bitwuzla():
        return RealSolver(_EFFORT_PER_SECOND)
    return z3.SolverFor("QF_FPBV" if system.has_reals else "QF_BV")


def search(system: System, harm: Any, budget: Budget, most_k: int,
           find_invariants: Callable[[], Sequence[Any]] = tuple) -> Found:
    """Whether `harm` can come about in a scan. Invariants are looked for when the first step proves nothing."""
    both = _Searches(system, harm, budget)
    for k in range(most_k):
        if both.prove(k):
            return Found("never", k)
        answer, inputs = both.refute(k)
        if answer == "sat":
            return Found("happens", k + 1, inputs)
        if answer == "unknown":
            return Found("bounded", k, reason="the time was up")
        if k == 0 and both.strengthen(find_invariants):
            return Found("never", k)
        both.go_on(k)
    return Found("bounded", most_k, reason=f"no more than {most_k} scans are looked at")


class _Searches:
    """The search from the start, and the one from any state."""

    def __init__(self, system: System, harm: Any, budget: Budget) -> None:
        self._unrolling = Unrolling(system)
        self._harm = harm
        self._budget = budget
        self._forward, self._backward = solver_for(system), solver_for(system)
        self._forward.add(*(self._unrolling.at(fact, 0) for fact in start_of(system)))
        self._invariants: Sequence[Any] = ()
        self._is_inductive = True

    def prove(self, k: int) -> bool:
        """Whether scan k is harmless after k harmless ones from any state."""
        if not self._is_inductive:
            return False
        self._backward.add(self._unrolling.relation(k), *self._facts(k))
        return self._is_harmless(k)

    def refute(self, k: int) -> tuple[str, tuple[dict[str, Value], ...]]:
        """Whether harm is possible in scan k, and the inputs that lead there."""
        self._forward.add(self._unrolling.relation(k), *self._facts(k))
        answer = self._budget.check(self._forward, self._unrolling.at(self._harm, k))
        return answer, self._unrolling.inputs(self._forward.model(), k + 1) if answer == "sat" else ()

    def strengthen(self, find_invariants: Callable[[], Sequence[Any]]) -> bool:
        """Look for invariants; whether they prove the first step."""
        self._invariants = find_invariants() if self._is_inductive else ()
        self._backward.add(*self._facts(0))
        return bool(self._invariants) and self._is_harmless(0)

    def go_on(self, k: int) -> None:
        """Take for granted that scan k did no harm and came to its end."""
        for solver in (self._forward, self._backward):
            solver.add(z3.Not(self._unrolling.at(self._harm, k)))
            solver.add(*(self._unrolling.at(fact, k) for fact in self._unrolling.system.passed))

    def _facts(self, scan: int) -> list[Any]:
        return [self._unrolling.at(fact, scan) for fact in self._invariants]

    def _is_harmless(self, k: int) -> bool:
        """Where that is too hard to say, it is not asked again."""
        answer = self._budget.check(self._backward, self._unrolling.at(self._harm, k), share=0.4)
        self._is_inductive = answer == "sat"
        return answer == "unsat"
