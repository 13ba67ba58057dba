"""Bounded model checking and k-induction in lock step, on only what a question depends on.

At each depth k it is first asked whether k scans without harm make the next one harmless from any state (then it is
proved, as the first k scans have been looked at), then whether harm is possible in scan k+1 from the start.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import z3

from chatdev.departments.plc.proof.terms import BOOL, Term, is_known, lift, read_value, symbol
from chatdev.departments.plc.proof.transition import Transition
from chatdev.departments.plc.st.core import Scalar, Value

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


# Floating-point questions that are too hard for z3: by bitwuzla, where it is installed.

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


# The cone of influence: only what a question depends on is given to the solver.

REALS = "$reals"
"""Stands among the symbols of a term for the floating point in it."""


@dataclass(frozen=True)
class System:
    """What a question depends on: states with what they begin with and become, inputs, what holds in every scan, and
    what holds in one that comes to its end (`passed`); `loops` are the numbers of the summarised loops among it."""

    states: Mapping[str, Scalar]
    start: Mapping[str, Value]
    next: Mapping[str, Any]
    inputs: Mapping[str, Scalar]
    always: tuple[Any, ...]
    passed: tuple[Any, ...]
    loops: frozenset[int]
    has_reals: bool
    """Whether floating point is among it, be it within an expression only."""


class Symbols:
    """Which symbols are in an expression; every node is looked at once."""

    def __init__(self) -> None:
        self._found: dict[int, int] = {}
        self._bits: dict[str, int] = {}
        self._names: list[str] = []
        self._alive: list[Any] = []

    def of(self, term: Term) -> set[str]:
        """The names of the symbols in a term."""
        if is_known(term):
            return set()
        mask = self._mask(term)
        return {name for bit, name in enumerate(self._names) if mask >> bit & 1}

    def _mask(self, root: Any) -> int:
        self._alive.append(root)  # numbers of nodes are used again when nodes are gone
        stack = [root]
        while stack:
            node = stack[-1]
            key = node.get_id()
            if key in self._found:
                stack.pop()
                continue
            children = node.children()
            waiting = [child for child in children if child.get_id() not in self._found]
            if waiting:
                stack.extend(waiting)
                continue
            mask = self._own(node)
            for child in children:
                mask |= self._found[child.get_id()]
            self._found[key] = mask
            stack.pop()
        return self._found[root.get_id()]

    def _own(self, node: Any) -> int:
        mask = self._bit(REALS) if z3.is_fp(node) else 0
        if z3.is_const(node) and node.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            mask |= self._bit(node.decl().name())
        return mask

    def _bit(self, name: str) -> int:
        if name not in self._bits:
            self._bits[name] = 1 << len(self._names)
            self._names.append(name)
        return self._bits[name]


def cut(transition: Transition, symbols: Symbols, roots: Iterable[Term], monitors: Mapping[str, Term],
        assumed: Sequence[Term], facts: Callable[[int], Any], all_loops: bool = True) -> System:
    """The part of a transition that `roots` depend on, with what is assumed of each scan that comes to its end, and all
    summarised loops or those among that part; `facts` are about a loop by its number. Monitors are truth values that
    begin as FALSE and become the given terms."""
    scalars = dict(transition.states) | dict.fromkeys(monitors, BOOL)
    following = {**transition.next, **{name: lift(term, BOOL) for name, term in monitors.items()}}
    needed = _gather(symbols, following, (*roots, *assumed, *monitors.values())) | set(monitors)
    within: set[int] = set()
    while found := _loops_of(transition, None if all_loops else needed) - within:
        within |= found
        needed |= _gather(symbols, following, (*map(facts, found), *_ends_of(transition, found)))
    states, inputs = _among(needed, scalars), _among(needed, transition.inputs)
    limits = filter(lambda limit: symbols.of(limit) <= needed, transition.limits)
    start = {name: transition.start.get(name, False) for name in states}
    numbers = sorted(within)
    ends = [*(lift(term, BOOL) for term in assumed), *_ends_of(transition, numbers)]
    return System(states, start, {name: following[name] for name in states}, inputs, (*limits, *map(facts, numbers)),
                  tuple(ends), frozenset(within), REALS in needed)


def _ends_of(transition: Transition, numbers: Iterable[int]) -> list[Any]:
    """That summarised loops come to an end."""
    return [transition.loops[number].completed for number in numbers]


def _loops_of(transition: Transition, names: set[str] | None) -> set[int]:
    """The numbers of the summarised loops that symbols come from; without names, of all."""
    return {number for number, loop in enumerate(transition.loops) if names is None or loop.symbols & names}


def _among(names: set[str], scalars: Mapping[str, Scalar]) -> dict[str, Scalar]:
    return {name: scalar for name, scalar in scalars.items() if name in names}


def _gather(symbols: Symbols, following: Mapping[str, Any], roots: Iterable[Term]) -> set[str]:
    """The symbols in terms, and in what the states among them become."""
    needed: set[str] = set()
    waiting = set().union(*(symbols.of(term) for term in roots))
    while waiting:
        name = waiting.pop()
        needed.add(name)
        if name in following:
            waiting |= symbols.of(following[name]) - needed
    return needed


def start_of(system: System) -> list[Any]:
    """That the states have the values that they begin with."""
    return [symbol(name, scalar) == lift(system.start[name], scalar) for name, scalar in system.states.items()]
