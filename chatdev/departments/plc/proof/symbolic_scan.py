"""Execution of one scan over terms: both branches are run and merged, loops are unrolled, calls are inlined. A loop of
which it is not seen that it ends is summarised (`_summarise`), or its end is an obligation.

What EXIT, CONTINUE, RETURN and a sure run-time fault leave out is said by four flags in the state, each of which holds
where the next one does: `!turn` (skip the rest of this turn of a loop), `!loop` (leave the loop), `!call` (leave the
routine), `!scan` (end the scan). A statement is executed where `!turn` does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any, TypeAlias

import z3

from chatdev.departments.plc.proof.outcomes import ENDS_RUN
from chatdev.departments.plc.proof.symbolic_values import (
    TURNS,
    Carried,
    LoopSummary,
    Parts,
    Values,
    comparisons_in,
    kept_variables,
    values_of,
    widen,
)
from chatdev.departments.plc.proof.terms import BOOL, Term, both, choose, either, is_known, is_same, negate, symbol
from chatdev.departments.plc.st import core
from chatdev.departments.plc.st.core import MOST_TURNS, Place, Routine, Scalar, Span, Statement, Variable
from chatdev.departments.plc.st.instances import ID

MOST_OPEN_TURNS = 200
"""Of a loop whose condition is not known; whether it takes more is an obligation of its own."""
_MOST_OPEN_TURNS_OF_ALL = 1000  # of all such loops in a scan, so that loops within loops do not multiply
_MOST_TURNS_AROUND = 8  # of a loop with a summarised one in it, where they are known
_MOST_WRITES = 4_000  # of one loop whose condition is not known, before it is summarised
_MOST_WRITES_OF_ALL = 30_000  # of a scan with such loops in which none is
_TURNS_BEFORE = 1  # that are looked at one by one before the summarised ones
_EASY_TURNS = 3  # after so many it is asked whether there can be one more
_OFTEN = 16  # turns, up to which it is asked after each
_EFFORT = 200_000  # of the solver, for that question
_MOST_HARD = 5  # of these questions that may be too hard; after that none is asked
_FLAGS = ("!turn", "!loop", "!call", "!scan")
_JUMPS = {"continue": 1, "exit": 2, "return": 3}


_Outside: TypeAlias = "tuple[Term, dict[str, Term | None] | None]"


class TooLong(Exception):
    """There are too many turns to look at one by one."""


class SymbolicScan(Values):
    """A state, and the statements that change it. More than `most_turns` of a loop are a run-time fault. With a set
    `open_loops` the loops that cannot be looked at turn by turn are summarised, and their places collected there;
    without one, that there are more turns is taken for a fault, and where they are too many by far, TooLong is raised.
    `given` is known of the `inputs`."""

    most_turns = MOST_TURNS
    open_loops: set[tuple[Span, ...]] | None = None
    inputs: Mapping[str, Scalar] = MappingProxyType({})
    given: Sequence[Term] = ()
    _depth = 0
    _hard = 0
    _open_turns = 0
    _callers: tuple[Span, ...] = ()

    def begin(self) -> None:
        """Make ready for a scan: nothing is left out yet."""
        for flag in _FLAGS:
            self.types[flag] = BOOL
            self.state[flag] = False

    def halt(self) -> None:
        self._set(_FLAGS, True)

    def run(self, body: Sequence[Statement]) -> None:
        """Execute statements; those behind a jump that only may be taken, where it is not."""
        for position, statement in enumerate(body, 1):
            self._step(statement)
            left = self.state["!turn"]
            if not is_known(left) or left:
                self.branch(negate(left), partial(self._resume, body[position:]))
                return

    def _resume(self, rest: Sequence[Statement]) -> None:
        self._set(_FLAGS, False)
        self.run(rest)

    def branch(self, condition: Term, then: Callable[[], None], otherwise: Callable[[], None] | None = None) -> None:
        """Execute both ways and merge what they wrote."""
        if is_known(condition):
            way = then if condition else otherwise
            if way:
                way()
            return
        before = self._enter(condition)
        then()
        wrote = self._leave(before)
        other: dict[str, Term] = {}
        if otherwise:
            before = self._enter(negate(condition))
            otherwise()
            other = self._leave(before)
        self._merge(condition, wrote, other)

    def _enter(self, condition: Term) -> _Outside:
        """Go on where the condition holds; gives what `_leave` needs."""
        outside = self.guard, self.overlay
        self.guard, self.overlay = both(self.guard, condition), {}
        return outside

    def _leave(self, outside: _Outside) -> dict[str, Term]:
        """What was written since; the state is as before again."""
        undone = self.overlay or {}
        wrote = {path: self.state[path] for path in undone if path in self.state}
        for path, before in undone.items():
            if before is None:
                self.state.pop(path, None)
            else:
                self.state[path] = before
        self.guard, self.overlay = outside
        return wrote

    def _merge(self, condition: Term, one: dict[str, Term], other: dict[str, Term]) -> None:
        for path in one | other:
            before = self.state.get(path)
            first, second = one.get(path, before), other.get(path, before)
            if first is not None and second is not None:
                self.write(path, choose(condition, first, second, self.types[path]))

    def _set(self, flags: Sequence[str], term: Term) -> None:
        for flag in flags:
            self.write(flag, term)

    # statements --------------------------------------------------------------------------------------------------

    def _step(self, statement: Statement) -> None:
        if isinstance(statement, core.Assign):
            self._assign(statement)
        elif isinstance(statement, core.Branch):
            condition = self.value(statement.condition)
            self.branch(condition, lambda: self.run(statement.then), lambda: self.run(statement.otherwise))
        elif isinstance(statement, core.Loop):
            self._loop(statement)
        elif isinstance(statement, core.Jump):
            self._set(_FLAGS[:_JUMPS[statement.to]], True)
        elif isinstance(statement, core.Invoke):
            self._invoke(statement)
        elif isinstance(statement, core.Forget):
            self._forget_all(statement.why)
        else:
            self.fault("assertion", statement.span, negate(self.value(statement.condition)), statement.name)

    def _assign(self, statement: core.Assign) -> None:
        if isinstance(statement.target, core.Bit):
            self.assign_bit(statement.target, self.value(statement.value), statement.span)
        else:
            self.assign(statement.target, self.parts(statement.value), statement.span)

    def _forget_all(self, why: str) -> None:
        """Everything may have any value, but an instance stays the one that it is."""
        for path in [path for path in self.state if path not in _FLAGS and not path.endswith(f".{ID}")]:
            self.write(path, self.any_value(why, self.types[path]))

    def _loop(self, loop: core.Loop) -> None:
        where = (*self._callers, loop.span)
        if self.open_loops is None:
            self._unroll(loop)
        elif where in self.open_loops or not self._try(loop):
            self.open_loops.add(where)
            self._unroll(loop, _TURNS_BEFORE)

    def _try(self, loop: core.Loop) -> bool:
        """Whether all turns could be looked at; if not, nothing has happened."""
        before, hard, turns, writes = self._enter(True), self._hard, self._open_turns, self.writes
        faults, loops, unknowns = len(self.faults), len(self.loops), dict(self.unknowns)
        is_whole = self._unroll(loop)
        wrote = self._leave(before)
        if is_whole:
            self._write_all(wrote)
        else:
            self._forget(faults, loops, unknowns)
            self._hard, self._open_turns, self.writes = hard, turns, writes
        return is_whole

    def _write_all(self, wrote: dict[str, Term]) -> None:
        for path, term in wrote.items():
            self.write(path, term)

    def _forget(self, faults: int, loops: int, unknowns: dict[str, Scalar]) -> None:
        """All but so many faults and loops that were noted, and these values that are not known."""
        del self.faults[faults:], self.loops[loops:]
        self.unknowns = unknowns

    def _unroll(self, loop: core.Loop, most: int | None = None) -> bool:
        """Each turn that only may be made is a branch within the one before, so that what counts the turns stays known;
        they are merged from the last one on. Behind `most` turns the others are summarised. Gives whether nothing was
        left out."""
        entered: list[tuple[Term, _Outside]] = []
        if loop.tests_first:
            self._end_turn(loop)
        is_whole = self._make_turns(loop, most, entered)
        for condition, outside in reversed(entered):
            self._merge(condition, self._leave(outside), {})
        self._set(("!turn", "!loop"), self.state["!call"])
        return is_whole

    def _make_turns(self, loop: core.Loop, most: int | None, entered: list[tuple[Term, _Outside]]) -> bool:
        """The turns; each branch that they enter is added."""
        since = len(self.loops), self.writes
        for turn in range(MOST_TURNS + 1):
            goes_on = negate(self.state["!turn"])
            is_bound = self._is_bound(goes_on, turn, since) if most is None else turn == most
            if self._is_last(goes_on, is_bound or _is_asked(goes_on, turn)):
                break
            if is_bound and most is None:
                return self._stop_at_bound(loop, goes_on, turn)
            if not is_known(goes_on) or is_bound:
                entered.append(self._enter_turn(goes_on))
            if is_bound:
                self._summarise(loop, turn)
                break
            self._turn(loop)
        return True

    def _is_last(self, goes_on: Term, is_asked: bool) -> bool:
        return is_asked and not self._may(goes_on)

    def _enter_turn(self, goes_on: Term) -> tuple[Term, _Outside]:
        self._open_turns += 1
        outside = self._enter(goes_on)
        self._set(_FLAGS, False)
        return goes_on, outside

    def _is_bound(self, goes_on: Term, turn: int, since: tuple[int, int]) -> bool:
        """Whether no more turns are looked at, after so many, and since there were so many loops and writes."""
        loops, writes = since
        if len(self.loops) > loops and (not is_known(goes_on) or turn == _MOST_TURNS_AROUND):
            return True
        if is_known(goes_on):
            return turn == min(self.most_turns, MOST_TURNS)
        if self.open_loops is None and self.writes > _MOST_WRITES_OF_ALL:
            raise TooLong
        return (turn == min(self.most_turns, MOST_OPEN_TURNS) or self._open_turns >= _MOST_OPEN_TURNS_OF_ALL
                or (self.open_loops is not None and self.writes - writes > _MOST_WRITES))

    def _stop_at_bound(self, loop: core.Loop, goes_on: Term, turn: int) -> bool:
        """One more turn is a fault, or the loop has to be summarised."""
        if self.open_loops is not None and turn < self.most_turns:
            return False
        self.fault("loop", loop.span, goes_on, str(self.most_turns))
        for flag in _FLAGS:
            self.write(flag, either(self.state[flag], goes_on))
        return True

    def _summarise(self, loop: core.Loop, first: int) -> None:
        """Execute one turn for all that follow the first ones. What it may change is found by trying: nothing at first,
        then what the turn changes, until nothing is added."""
        turns = self._any(loop, "turns", TURNS)
        entry, heads = self._distances(loop), dict[str, Any]()
        while True:
            faults, loops, unknowns = len(self.faults), len(self.loops), dict(self.unknowns)
            before = self._enter(True)
            self._write_all(heads)
            begins, head = self._begin_turn(loop, turns, first), self._distances(loop)
            outside = self._enter(begins)
            self._turn(loop)
            behind = self._distances(loop)
            wrote = self._leave(outside)
            self._leave(before)
            changed = self._changed(wrote.keys() - heads.keys(), wrote)
            if not changed:
                break
            self._forget(faults, loops, unknowns)
            heads |= {path: self._any(loop, path, self.types[path]) for path in changed}
        wrote = heads | wrote
        carried = tuple(Carried(str(head), self.types[path], self.state[path], head, wrote[path])
                        for path, head in heads.items())
        stops = tuple(fault.term for fault in self.faults[faults:] if fault.kind in ENDS_RUN)
        distances = tuple(zip(entry, head, behind, strict=True))
        self.loops.append(LoopSummary(loop.span, self.guard, carried, distances, turns, first, begins, wrote["!turn"],
                                      stops, tuple(self.loops[loops:])))
        self._write_all(wrote | {"!turn": True})

    def _begin_turn(self, loop: core.Loop, turns: Any, first: int) -> Term:
        """That a turn begins after so many, of which there may be too many."""
        goes_on = self._quietly(loop.condition)
        self.fault("loop", loop.span, both(goes_on, turns == self.most_turns), str(self.most_turns))
        return both(goes_on, turns >= first, turns < self.most_turns)

    def _changed(self, paths: Iterable[str], wrote: Mapping[str, Term]) -> list[str]:
        """What there was before and has another value now, without the flags."""
        return sorted(path for path in paths if path in self.state and path not in _FLAGS
                      and not is_same(wrote[path], self.state[path]))

    def _any(self, loop: core.Loop, name: str, scalar: Scalar) -> Any:
        """A value before a turn that is not known."""
        name = f"$loop {loop.span}#{len(self.unknowns)}.{name}"
        self.unknowns[name] = scalar
        return symbol(name, scalar)

    def _distances(self, loop: core.Loop) -> list[Any]:
        """How far the comparisons for which a loop goes on are from not holding any more."""
        return [widen(self._quietly(large), large.type) - widen(self._quietly(small), small.type)
                for small, large in comparisons_in(loop.condition)]

    def _quietly(self, expression: core.Expression) -> Term:
        """The value of an expression, of which nothing is noted."""
        before, faults, loops = self._enter(True), len(self.faults), len(self.loops)
        term = self.value(expression)
        self._leave(before)
        self._forget(faults, loops, self.unknowns)
        return term

    def _turn(self, loop: core.Loop) -> None:
        self.run(loop.body)
        self._set(("!turn",), self.state["!loop"])
        self.branch(negate(self.state["!turn"]), lambda: self._step_on(loop))

    def _step_on(self, loop: core.Loop) -> None:
        self._set(_FLAGS, False)
        self.run(loop.after)
        self._end_turn(loop)

    def _end_turn(self, loop: core.Loop) -> None:
        ended = negate(self.value(loop.condition))
        self._set(("!turn", "!loop"), either(self.state["!turn"], ended))

    def _may(self, condition: Term) -> bool:
        """Whether it can hold here without a fault before; True when that is too hard to say."""
        if is_known(condition):
            return bool(condition)
        if self._hard >= _MOST_HARD:
            return True
        solver = z3.Solver()
        solver.set("rlimit", _EFFORT)
        solver.add(*(term for term in (condition, self.guard, *self.given) if not is_known(term)))
        stops = [fault.term for fault in self.faults if fault.kind in ("index", "subrange")]
        solver.add(*(z3.Not(term) for term in stops if not is_known(term)))
        answer = solver.check()
        self._hard += answer == z3.unknown
        return bool(answer != z3.unsat)

    # calls -------------------------------------------------------------------------------------------------------

    def _invoke(self, call: core.Invoke) -> None:
        """A block at an index that is not known is called once for each that it may be."""
        for condition, instance in self.cells(call.instance):
            self.branch(condition, partial(self._call_at, call, instance))

    def _call_at(self, call: core.Invoke, instance: str) -> None:
        """Each input is written before the next one is looked at, and all of them before the in-outs."""
        routine = self.program.routines[call.block]
        frame = {one.name: (f"{instance}.{one.name}", one.type) for one in kept_variables(routine)}
        for name, value in call.inputs:
            path, type_ = frame[name]
            parts = self.parts(value)
            self.hold_limits(type_, parts, call.span)
            self._store(path, parts)
        for bound in list(product(*(self.cells(place) for _, place in call.in_outs))):
            places = {name: (path, place.type) for (name, place), (_, path) in zip(call.in_outs, bound, strict=True)}
            condition = both(*(holds for holds, _ in bound))
            self.branch(condition, partial(self._call_block, routine, call, frame | places))

    def _call_block(self, routine: Routine, call: core.Invoke, frame: dict[str, tuple[str, core.Type]]) -> None:
        self._inside(routine, frame, {}, call.span)
        for place, name in call.outputs:
            path, _ = frame[name]
            suffixes = [suffix for suffix, _ in values_of(self.program, place.type, self._sample(routine, name))]
            self.assign(place, {suffix: self.state[path + suffix] for suffix in suffixes}, call.span)

    def _sample(self, routine: Routine, name: str) -> core.Value:
        return next(one.initial for one in routine.variables if one.name == name)

    def _store(self, path: str, parts: Parts) -> None:
        for suffix, term in parts.items():
            self.write(path + suffix, term)

    def apply(self, expression: core.Apply) -> Parts:
        routine = self.program.routines[expression.routine]
        values = [self.parts(operand) for operand in expression.operands]
        inputs = routine.of_section("input")
        for variable, parts in zip(inputs, values, strict=True):
            self.hold_limits(variable.type, parts, expression.span)
        given = dict(zip((one.name for one in inputs), values, strict=True))
        result = next(one for one in routine.variables if one.section == "result")
        return self._inside(routine, {}, given, expression.span, result)

    def _inside(self, routine: Routine, frame: dict[str, tuple[str, core.Type]], given: dict[str, Parts], span: Span,
                result: Variable | None = None) -> Parts:
        """Run a routine on the variables of `frame`; its other ones begin anew, those in `given` with that."""
        outer, self._depth = self.frame, self._depth + 1
        callers, self._callers = self._callers, (*self._callers, span)
        watches, self.watch_overflow = self.watch_overflow, self.watch_overflow and not routine.standard
        fresh = [one for one in routine.variables if one.name not in frame]
        prefix = f"{routine.name}#{self._depth}."
        for one in fresh:
            self.declare(prefix + one.name, one.type,
                         given.get(one.name) or dict(values_of(self.program, one.type, one.initial)))
        self.frame = frame | {one.name: (prefix + one.name, one.type) for one in fresh}
        self.run(routine.body)
        self._set(_FLAGS[:3], self.state["!scan"])
        parts = self.read(Place(result.name, (), result.type, Span(0, 0))) if result else {}
        self.frame, self._depth, self.watch_overflow, self._callers = outer, self._depth - 1, watches, callers
        return parts


def _is_asked(goes_on: Term, turn: int) -> bool:
    """Whether it is asked after so many turns if there can be one more."""
    if is_known(goes_on):
        return not goes_on
    return turn > _EASY_TURNS and (turn < _OFTEN or not turn % 8)
