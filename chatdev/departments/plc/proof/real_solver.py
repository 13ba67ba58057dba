"""Floating-point questions that are too hard for z3 go to bitwuzla, where that is installed.

Arithmetic of REAL over all inputs takes z3 minutes and bitwuzla tenths of a second.
z3 is asked first, with a part of the effort, so that what it finds stays as it is on a machine without bitwuzla.
"""

from __future__ import annotations

import functools
from typing import Any

import z3

_FIRST = 4  # part of the effort that z3 has before bitwuzla is asked
_UNKNOWN = z3.unknown


@functools.cache
def load_bitwuzla() -> Any:
    """The module, or None where it is not installed."""
    try:
        import bitwuzla  # type: ignore[import-not-found]  # it has no types
    except ImportError:
        return None
    return bitwuzla


class RealSolver:
    """Facts and questions as a z3 solver takes them. `effort_per_second` is how many steps of z3 a second is worth."""

    def __init__(self, effort_per_second: int) -> None:
        self._solver = z3.SolverFor("QF_FPBV")
        self._effort_per_second = effort_per_second
        self._effort = 0
        self._model: Any = None

    def set(self, name: str, value: Any) -> None:
        """Set an option of z3; `rlimit` is the effort of both solvers together."""
        if name == "rlimit":
            self._effort = int(value)
        else:
            self._solver.set(name, value)

    def add(self, *facts: Any) -> None:
        """Take more facts for granted."""
        self._solver.add(*facts)

    def push(self) -> None:
        """Remember which facts there are."""
        self._solver.push()

    def pop(self) -> None:
        """Forget the facts since the last `push`."""
        self._solver.pop()

    def model(self) -> Any:
        """The model of the last question, if that had one."""
        return self._model or self._solver.model()

    def check(self, *assumptions: Any) -> Any:
        """Whether facts and assumptions can hold together: z3's `sat`, `unsat` or `unknown`."""
        self._model = None
        self._solver.set("rlimit", max(1000, self._effort // _FIRST))
        answer = self._solver.check(*assumptions)
        if answer != _UNKNOWN:
            return answer
        rest = self._effort - self._effort // _FIRST
        whole = z3.Solver()
        whole.add(*(_as_standard(fact, {}) for fact in (*self._solver.assertions(), *assumptions)))
        try:
            answer, self._model = _ask(whole, rest / self._effort_per_second)
        except (load_bitwuzla().BitwuzlaException, z3.Z3Exception):
            self._solver.set("rlimit", max(1000, rest))  # effort and not time, so that a busy machine knows as much
            return self._solver.check(*assumptions)
        return answer


def _as_standard(term: Any, known: dict[int, Any]) -> Any:
    """The term without conjunctions and disjunctions of one part or none, which z3 makes and SMT-LIB does not have."""
    joins = z3.is_and(term) or z3.is_or(term)
    if term.num_args() == 0:
        return z3.BoolVal(z3.is_and(term)) if joins else term
    if term.get_id() not in known:
        parts = [_as_standard(part, known) for part in term.children()]
        known[term.get_id()] = parts[0] if joins and len(parts) == 1 else term.decl()(*parts)
    return known[term.get_id()]


def _ask(whole: Any, seconds: float) -> tuple[Any, Any]:
    """Bitwuzla's answer, and its model as z3 has models, if there is one.

    Raises:
        bitwuzla.BitwuzlaException, z3.Z3Exception: one of the two cannot read what the other one wrote.
    """
    bitwuzla = load_bitwuzla()
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, max(1, int(seconds * 1000)))
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    text = whole.to_smt2().replace("(check-sat)", "")
    parser.parse(f"(set-logic ALL)\n{text}", True, False)
    answer = parser.bitwuzla().check_sat()
    if answer == bitwuzla.Result.SAT:
        return z3.sat, _read_model(parser)
    return (z3.unsat if answer == bitwuzla.Result.UNSAT else _UNKNOWN), None


def _read_model(parser: Any) -> Any:
    """The one model of equations that say what each variable is; a run that it stands for is replayed anyway."""
    equations = z3.Solver()
    for variable in parser.get_declared_funs():
        name, sort = f"|{variable.symbol().strip('|')}|", variable.sort()
        value = parser.bitwuzla().get_value(variable)
        equations.add(z3.parse_smt2_string(f"(declare-fun {name} () {sort})(assert (= {name} {value}))"))
    equations.check()
    return equations.model()
