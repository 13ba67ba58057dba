"""One check of one property, as it runs in the child: build the transition, search, replay, look for vacuity."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import z3

from chatdev.departments.plc.proof.invariants import LoopFacts, find_invariants
from chatdev.departments.plc.proof.outcomes import RUN_TIME, Cycle, Limits, Outcome, Property
from chatdev.departments.plc.proof.properties import ASSERTION, MONITORS, PATTERNS, PropertyError, Step, read_conditions
from chatdev.departments.plc.proof.random_runs import CHANCE, MOST_CHANCE, RandomRuns, duty_of, scalars_in
from chatdev.departments.plc.proof.search import Budget, Found, Symbols, System, cut, search
from chatdev.departments.plc.proof.symbolic_scan import TooLong
from chatdev.departments.plc.proof.symbolic_values import GAP, TooLarge, entry_variables, nest
from chatdev.departments.plc.proof.terms import (
    BOOL,
    TEXTS,
    Inexpressible,
    Term,
    both,
    choose,
    either,
    is_known,
    lift,
    negate,
    symbol,
)
from chatdev.departments.plc.proof.transition import CYCLE, Obligation, ScanRules, Transition, build_transition
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.trace import columns_of
from chatdev.departments.plc.simulation.values import write_text
from chatdev.departments.plc.st.core import IEC, MOST_TURNS, Dialect, Expression, Value
from chatdev.departments.plc.st.reading import read_program
from chatdev.departments.plc.st.tasks import OTHER_TASKS, roots_in, shared_roots
from chatdev.isolation.isolate import isolate

_ANY_LOOP = Property(RUN_TIME, ("loop", "", ""))
_DEPTH = 20_000  # of calls in Python, for long chains of operators
_NO_ASSERT = "the source has no //#ASSERT, so there is nothing to hold"
_NEVER_REACHED = "no run comes to it"
_NEVER_ASKED = "what it is about never comes up in any run"
_CANNOT_COME_UP = "what it is about cannot come up: its condition contradicts itself"
_UNREACHABLE = "no program can come to it: the condition contradicts itself"
_ALWAYS_TRUE = "it holds whatever the program does"
_IMPOSSIBLE = "no program can satisfy it: the condition contradicts itself"
_NO_VALUE = ("{} has no value in the last scan: an index is outside of its array, or a divisor is 0; say in a "
             "condition before it when it is meant")
_SHARED = f"not verified: {OTHER_TASKS}"
_INTERLEAVED = "the programs of all tasks run by interval and priority"
_REPEAT = "that something can come about again and again is not decided; ask for its reachability"


class ProofStopped(Exception):
    """The process that reasons was ended; the text says why."""


@contextmanager
def at_work() -> Iterator[None]:
    """Meanwhile the solver's lack of memory is this process's, and chains of operators may be long; other readers of
    this process keep the usual limit, by which they refuse what is nested too deeply."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEPTH)
    try:
        yield
    except z3.Z3Exception as error:
        if "out of memory" in str(error):
            raise MemoryError from error
        raise
    finally:
        sys.setrecursionlimit(usual)


@dataclass
class Model:
    """A program's transition, and what was found out about it on the way."""

    transition: Transition
    rules: ScanRules
    symbols: Symbols = field(default_factory=Symbols)
    invariants: dict[tuple[frozenset[str], tuple[Any, ...]], list[Any]] = field(default_factory=dict)
    _makes_few_turns: bool | None = None

    @cached_property
    def facts(self) -> LoopFacts:
        """What holds before the turns of summarised loops."""
        return LoopFacts(self.transition.loops, self.transition.limits, self.symbols)

    @cached_property
    def turn_by_turn(self) -> Model | None:
        """The same with the first turns of every loop as they are, none summarised: for more turns there is an
        obligation. None where nothing is summarised anyway, or there would be too much to look at."""
        if not self.transition.loops:
            return None
        rules = replace(self.rules, summarises=False)
        with suppress(TooLong, Inexpressible):
            return Model(build_transition(self.transition.program, rules), rules)
        return None

    def makes_few_turns(self, limits: Limits) -> bool:
        """Whether no loop can make more turns than are looked at one by one."""
        if self._makes_few_turns is None:
            assumed = tuple(one for one in limits.assumed if one[0] != "loop")
            check = Check(self, _ANY_LOOP, replace(limits, assumed=assumed))
            loops = [one for one in self.transition.obligations if one.kind == "loop"]
            self._makes_few_turns = check.search_breach(loops).answer == "never"
        return self._makes_few_turns


def rules_of(cycle_ms: int | None, limits: Limits) -> ScanRules:
    """How the scans of a program are reasoned about."""
    return ScanRules(cycle_ms, limits.watch_overflow, limits.most_turns, summarises=True)


@isolate(ProofStopped)
@at_work()
def list_obligations(source: str, entry: str | None, cycle_ms: int | None, limits: Limits, dialect: Dialect = IEC
                     ) -> tuple[Property, ...]:
    """What a program owes at run time, in the order of its execution. Raises ProofStopped."""
    model = model_of(source, entry, rules_of(cycle_ms, limits), dialect)
    return tuple(Property(RUN_TIME, one.parameters) for one in model.transition.obligations)


@isolate(ProofStopped)
@at_work()
def check_property(source: str, entry: str | None, cycle_ms: int | None, asked: Property, limits: Limits,
                   dialect: Dialect = IEC) -> Outcome:
    """The verdict on one property."""
    began = time.process_time()
    try:
        outcome = _decide(model_of(source, entry, rules_of(cycle_ms, limits), dialect), asked, limits)
        if outcome.reason == _SHARED:
            outcome = _show_interleaved(source, entry, cycle_ms, asked, limits, dialect) or outcome
    except (PropertyError, Inexpressible) as error:
        outcome = Outcome(asked, "UNKNOWN", reason=str(error))
    return replace(outcome, seconds=round(time.process_time() - began, 3))


def _show_interleaved(source: str, entry: str | None, cycle_ms: int | None, asked: Property, limits: Limits,
                      dialect: Dialect) -> Outcome | None:
    """What a run of all tasks shows of a property, interleaved by interval and priority; None if it shows nothing."""
    with suppress(PropertyError, Inexpressible, ProofStopped):
        model = model_of(source, entry, rules_of(cycle_ms, limits), dialect, together=True)
        found = _decide(model, asked, limits)
        reason = "; ".join(filter(None, (found.reason, _INTERLEAVED)))
        return replace(found, reason=reason) if found.is_decided and found.cycles else None
    return None


@isolate(ProofStopped)
@at_work()
def run_by_chance(source: str, entry: str | None, cycle_ms: int | None, asked: Property, limits: Limits,
                  dialect: Dialect = IEC) -> Outcome | None:
    """The verdict on a property that a random run shows; None if none does."""
    began = time.process_time()
    with suppress(PropertyError, Inexpressible):
        found = Check(model_of(source, entry, rules_of(cycle_ms, limits), dialect), asked, limits).decide_by_chance()
        return found and replace(found, seconds=round(time.process_time() - began, 3))
    return None


@isolate(ProofStopped)
@at_work()
def doubt_properties(interface: str, entry: str, properties: Sequence[Property]) -> tuple[str, ...]:
    """For each property why it is of no use for programs with this interface (a source without statements), or "".

    Of no use is what names unknown variables or does not fit their types, what holds whatever a program does, and what
    no program can keep. Raises ProofStopped.
    """
    return tuple(_find_nonsense(interface, entry, asked) for asked in properties)


def _find_nonsense(source: str, entry: str, asked: Property) -> str:
    if asked.pattern not in PATTERNS:
        return ""
    try:
        return Check(model_of(source, entry, ScanRules(summarises=True)), asked, Limits()).find_nonsense()
    except (PropertyError, Inexpressible, TooLarge) as error:
        return str(error)


@lru_cache(maxsize=2)
def model_of(source: str, entry: str | None, rules: ScanRules, dialect: Dialect = IEC, together: bool = False
             ) -> Model:
    """A program's transition, with the programs of all tasks where they are meant to run `together`; those of the last
    two programs are kept. Raises ProofStopped."""
    program = read_program(source, entry, dialect, together=together).program
    if program is None:
        raise ProofStopped("the program has errors; check it first")
    try:
        return Model(build_transition(program, rules), rules)
    except TooLarge as error:
        raise ProofStopped(str(error)) from None
    except Inexpressible as error:
        raise ProofStopped(f"the program has a {error}, which the solver does not know; use numbers or an enumeration"
                           ) from None


def _decide(model: Model, asked: Property, limits: Limits) -> Outcome:
    """What cannot be decided with summarised loops is looked for in the first turns of each loop. Random runs look for
    what the solver could not decide, once: where there are loops, of what is looked at alone."""
    exact = None if limits.alone else model.turn_by_turn
    if exact is None:
        check = Check(model, asked, limits)
        found = check.decide()
        return found if found.is_decided else check.decide_by_chance() or found
    budget = Budget(limits.seconds)
    found = Check(model, asked, replace(limits, seconds=budget.left / 2)).decide()
    if found.is_decided:
        return found
    limits = replace(limits, seconds=budget.left)
    shown = Check(exact, asked, limits).decide()
    is_sure = bool(shown.cycles) or (shown.is_decided and exact.makes_few_turns(limits))
    return shown if is_sure else found


class Check:
    """One property of one program."""

    def __init__(self, model: Model, asked: Property, limits: Limits) -> None:
        self._model = model
        self._transition = model.transition
        self._asked = asked
        self._limits = limits
        self._budget = Budget(limits.seconds)
        self._without_value: set[str] = set()  # conditions that have none in the scan that was observed last
        self._assumed = [one for one in model.transition.obligations if one.parameters in limits.assumed]
        is_pattern = asked.pattern in PATTERNS
        self._conditions: list[Expression] = read_conditions(asked, model.transition.program) if is_pattern else []

    def decide(self) -> Outcome:
        """The verdict, with its counterexample or what makes it vacuous. What the types alone say comes first."""
        if self._asked.pattern not in PATTERNS:
            return self._decide_obligation()
        if self._asked.pattern == "pattern-repeatability":
            return Outcome(self._asked, "UNKNOWN", reason=_REPEAT)
        if self._begins_shared():
            return Outcome(self._asked, "UNKNOWN", reason=f"{_SHARED}, before a scan begins")
        is_goal = PATTERNS[self._asked.pattern].is_goal
        if not is_goal and self._holds_freely(self._free.harm):
            return Outcome(self._asked, "PROVED", vacuous=_ALWAYS_TRUE)
        step = self._step()
        found = self._search(step.harm, step.monitors)
        if found.answer == "happens":
            return self._tell_harm(found)
        if is_goal:
            return self._tell_reached(found)
        if found.answer == "bounded":
            return self._tell_bounded(found)
        return Outcome(self._asked, "PROVED", found.k, vacuous=self._why_vacuous(step))

    def _begins_shared(self) -> bool:
        """Whether it asks for what a scan begins with of a variable that other tasks write between the scans."""
        if self._asked.pattern != "pattern-statechange-duringcycle":
            return False
        program = self._transition.program
        return not shared_roots(program).isdisjoint(roots_in(self._conditions[0]))

    def decide_by_chance(self) -> Outcome | None:
        """The verdict that a random run shows, if one does."""
        if self._asked.pattern == "pattern-repeatability":
            return None
        seconds = min(MOST_CHANCE, CHANCE * self._limits.seconds)
        runs = RandomRuns(self._transition.program, self._asked, self._conditions, self._model.rules)
        inputs = runs.find(seconds, self._limits.most_k)
        if not inputs:
            return None
        found = Found("happens", len(inputs), inputs)
        outcome = self._tell_harm(found) if self._asked.pattern in PATTERNS else self._tell_breach(found)
        return outcome if outcome.cycles else None

    def find_nonsense(self) -> str:
        """Why it holds or fails, or is never asked, whatever the values of the variables are; "" if it depends."""
        step = self._free
        if self._holds_freely(step.harm):
            return _UNREACHABLE if PATTERNS[self._asked.pattern].is_goal else _ALWAYS_TRUE
        if self._holds_freely(negate(step.harm)):
            return _ALWAYS_TRUE if PATTERNS[self._asked.pattern].is_goal else _IMPOSSIBLE
        return _CANNOT_COME_UP if self._holds_freely(step.trigger) else ""

    def _step(self) -> Step:
        monitors = {name: symbol(name, BOOL) for name in MONITORS}
        return self._observe(self._transition.begin, self._transition.end, monitors)

    def _observe(self, begin: Mapping[str, Term], end: Mapping[str, Term], monitors: Mapping[str, Term]) -> Step:
        pattern = PATTERNS[self._asked.pattern]
        self._without_value = set()

        def seen(number: int, at: Mapping[str, Term]) -> Term:
            term, undefined = self._transition.value(self._conditions[number], at)
            if undefined is True:
                self._without_value.add(self._asked.parameters[number])
            return choose(undefined, pattern.undefined[number], term, BOOL)

        return pattern.observe(lambda number: seen(number, begin), lambda number: seen(number, end), monitors)

    def _decide_obligation(self) -> Outcome:
        owed = self._owed(duty_of(self._asked)[0])
        if not any(one.reached for one in owed):
            return Outcome(self._asked, "PROVED", vacuous=_NEVER_REACHED if owed else _NO_ASSERT)
        found = self.search_breach(owed)
        if found.answer == "never":
            return Outcome(self._asked, "PROVED", found.k)
        return self._tell_bounded(found) if found.answer == "bounded" else self._tell_breach(found)

    def _tell_breach(self, found: Found) -> Outcome:
        """That a duty is not kept, if the interpreter sees the same."""
        if gap := _gap_in(found):
            return Outcome(self._asked, "UNKNOWN", found.k, reason=f"not verified: {gap}")
        kind, place, text = duty_of(self._asked)
        replay = self._replay(kind == "overflow")
        if not replay.shows_fault(found.inputs, kind, place, text):
            return self._tell_unconfirmed(found, replay)
        return Outcome(self._asked, "VIOLATED", found.k, cycles=tuple(replay.cycles))

    def _owed(self, kind: str) -> list[Obligation]:
        """The obligation that is asked for, or all assertions."""
        return [one for one in self._transition.obligations if one.kind == kind
                and (self._asked.pattern == ASSERTION or one.parameters == self._asked.parameters)]

    def search_breach(self, owed: Sequence[Obligation]) -> Found:
        """Search for a scan in which one of these happens, and nothing that is taken for granted before."""
        times = sorted((number, term, is_owed) for is_owed, some in ((True, owed), (False, self._assumed))
                       for one in some for number, term in one.faults)
        ended: Term = False
        breaches: list[Term] = []
        for _, term, is_owed in times:
            if is_owed:
                breaches.append(both(term, negate(ended)))
            else:
                ended = either(ended, term)
        return self._search(either(*breaches), {}, min((one.loops for one in owed), default=0))

    def _search(self, harm: Term, monitors: Mapping[str, Term], loops: int | None = None) -> Found:
        """Search for harm in a scan that comes to its end, or past so many summarised loops."""
        assumed = [negate(one.violated) for one in self._assumed]
        system = cut(self._transition, self._model.symbols, [harm], monitors, assumed,
                     self._model.facts.of, not self._limits.alone)
        passed = system.passed if loops is None else [
            self._transition.loops[number].completed for number in system.loops if number < loops]
        return search(system, z3.And(lift(harm, BOOL), *passed), self._budget, self._limits.most_k,
                      lambda: self._invariants(system))

    def _invariants(self, system: System) -> Sequence[Any]:
        """Those of the program's own states serve every property with the same cone. A monitor remembers something else
        for each property."""
        if not system.states.keys().isdisjoint(MONITORS):
            return find_invariants(system, Budget(self._budget.left / 3))
        key = frozenset(system.states), tuple(one.parameters for one in self._assumed)
        if key not in self._model.invariants:
            self._model.invariants[key] = find_invariants(system, Budget(self._budget.left / 3))
        return self._model.invariants[key]

    # what is told ------------------------------------------------------------------------------------------------

    def _tell_harm(self, found: Found) -> Outcome:
        """That harm can be done, or a goal reached."""
        if PATTERNS[self._asked.pattern].is_goal:
            return self._confirm(found, "PROVED")
        return self._confirm(found, "VIOLATED", _IMPOSSIBLE if self._holds_freely(negate(self._free.harm)) else "")

    def _confirm(self, found: Found, verdict: Any, reason: str = "") -> Outcome:
        """The verdict, if the interpreter sees the same, and it depends on nothing that is not known."""
        if gap := _gap_in(found):
            return Outcome(self._asked, "UNKNOWN", found.k, reason=f"not verified: {gap}")
        replay = self._replay()
        if not replay.shows_harm(found.inputs, self._observe):
            return self._tell_unconfirmed(found, replay)
        if self._without_value:
            reason = _NO_VALUE.format(" and ".join(f"`{text}`" for text in sorted(self._without_value)))
        return Outcome(self._asked, verdict, found.k, reason=reason, cycles=tuple(replay.cycles))

    def _replay(self, watches_overflow: bool = False) -> ReplayedRun:
        rules = self._model.rules
        return ReplayedRun(self._transition, rules.cycle_ms, watches_overflow, rules.most_turns)

    def _tell_unconfirmed(self, found: Found, replay: ReplayedRun) -> Outcome:
        why = _why_unconfirmed(found)
        if replay.fault is not None:
            why = f"the run ends before with a run-time fault at {replay.fault.span}: {replay.fault.message}"
        return Outcome(self._asked, "UNKNOWN", found.k, reason=why)

    def _tell_bounded(self, found: Found) -> Outcome:
        if found.k == 0:
            return Outcome(self._asked, "UNKNOWN", reason=found.reason)
        return Outcome(self._asked, "BOUNDED", found.k, reason=found.reason)

    def _tell_reached(self, found: Found) -> Outcome:
        if found.answer == "never":
            return Outcome(self._asked, "VIOLATED", found.k, reason="no run comes to it")
        return self._tell_bounded(found)

    def _why_vacuous(self, step: Step) -> str:
        if is_known(step.trigger):
            return "" if step.trigger else _NEVER_ASKED
        self._budget = Budget(max(0.5, self._budget.left / 2))
        found = self._search(step.trigger, step.monitors)
        return _NEVER_ASKED if found.answer == "never" else ""

    @cached_property
    def _free(self) -> Step:
        return self.free_step()

    def free_step(self) -> Step:
        """The property over values that no program binds."""
        begin, end = ({path: symbol(f"{side} {path}", scalar) for path, scalar in self._transition.types.items()
                       if path in self._transition.end} for side in ("begin", "end"))
        return self._observe(begin, end, {name: symbol(name, BOOL) for name in MONITORS})

    def _holds_freely(self, harm: Term) -> bool:
        """Whether harm cannot be, whatever the values are."""
        if is_known(harm):
            return not harm
        solver = z3.Solver()
        solver.add(harm)
        return Budget(min(1.0, self._budget.left)).check(solver) == "unsat"


def _why_unconfirmed(found: Found) -> str:
    """Why a counterexample may be none: it takes any value for what is not known."""
    unknown = [name for inputs in found.inputs[:1] for name in inputs if name.startswith("$") and "#" in name]
    loops = [name.split("#")[0].removeprefix("$loop ") for name in unknown if name.startswith("$loop ")]
    if loops:
        return f"the loop at {loops[0]} may make many turns, and too little is known of what it does in them"
    if not unknown:
        return "the counterexample did not replay"
    if unknown[0].startswith(f"${TEXTS}#"):
        return f"not verified: {TEXTS}"
    return f"it depends on {unknown[0][1:].partition('#')[0]}, which the solver takes for any value"


def _gap_in(found: Found) -> str:
    """Why something is not known on which a counterexample may depend; "" where nothing is."""
    names = (name for inputs in found.inputs for name in inputs if name.startswith(GAP))
    return next((name.removeprefix(GAP).rpartition("#")[0] for name in names), "")


# A counterexample, run in the interpreter: only what shows there is told, and which lines ran.

DEFAULT_CYCLE = 100
"""Milliseconds from scan to scan, where nothing depends on it."""
Watch = Callable[[Mapping[str, Value], Mapping[str, Value], Mapping[str, Any]], Step]
"""What a property sees of a scan: the scalars at its begin, at its end, and the monitors."""


class ReplayedRun:
    """A run in the interpreter with given inputs. `shows` tells whether it did what it is meant to show."""

    def __init__(self, transition: Transition, cycle_ms: int | None, watches_overflow: bool = False,
                 most_turns: int = MOST_TURNS) -> None:
        self._transition = transition
        self._program = transition.program
        self._cycle_ms = cycle_ms
        self._machine = Machine(self._program, cycle_ms or DEFAULT_CYCLE, watches_overflow, most_turns,
                                passes_gaps=True)
        self.cycles: list[Cycle] = []
        self.fault: RunTimeFault | None = None

    @cached_property
    def _names(self) -> Mapping[str, str]:
        """Paths as the program's author spells them."""
        return {column.name.lower(): column.name for column in columns_of(self._program)}

    def shows_harm(self, inputs: Sequence[Mapping[str, Value]], watch: Watch) -> bool:
        """Whether the property sees harm in the last of these scans."""
        monitors: Mapping[str, Any] = dict.fromkeys(MONITORS, False)
        step = Step(False)
        for given in inputs:
            seen = self._scan(given)
            if seen is None:
                return False
            step = watch(*seen, monitors)
            monitors = dict.fromkeys(MONITORS, False) | dict(step.monitors)
        return step.harm is True

    def shows_fault(self, inputs: Sequence[Mapping[str, Value]], kind: str, place: str, text: str) -> bool:
        """Whether the last of these scans ends with this run-time fault, has an assertion that does not hold, or an
        operator `text` whose result does not fit its type."""
        for given in inputs:
            self._scan(given)
            if self.fault is not None:
                break
        if kind == "assertion":
            return any(str(one.span) == place or not place for one in self._machine.broken)
        if kind == "overflow":
            return any((str(span), operator) == (place, text) for span, operator in self._machine.wrapped)
        return self.fault is not None and self.fault.kind == kind and str(self.fault.span) == place

    def _scan(self, given: Mapping[str, Value]) -> tuple[dict[str, Value], dict[str, Value]] | None:
        """The scalars at begin and end of one scan; None if it ended with a fault."""
        before = scalars_in(self._program, self._machine.state)
        begin = before | {path: value for path, value in self._complete(given, before).items() if path in before}
        inputs = {variable.name: nest(variable.type, begin, variable.name)
                  for variable in entry_variables(self._program) if variable.section in ("input", "in_out")}
        milliseconds = self._cycle_ms or given.get(CYCLE, DEFAULT_CYCLE)
        try:
            self._machine.scan(inputs, milliseconds)
        except RunTimeFault as fault:
            self.fault = fault
        end = scalars_in(self._program, self._machine.state)
        self._note(before, end, milliseconds)
        return None if self.fault else (begin, end)

    def _complete(self, given: Mapping[str, Value], before: Mapping[str, Value]) -> dict[str, Value]:
        return {path: given.get(path, before[path]) for path in self._transition.inputs if path in before}

    def _note(self, before: Mapping[str, Value], end: Mapping[str, Value], milliseconds: int) -> None:
        first = not self.cycles
        given = [path for path in self._transition.inputs if path in end]
        changed = [path for path in end if repr(end[path]) != repr(before[path]) or (first and path in given)]
        types = self._transition.types
        shown: dict[str, str] = {}
        for path in changed:
            if "@" not in path:  # what nobody declared
                shown.setdefault(self._names.get(path.replace(":", "."), path), write_text(end[path], types[path]))
        self.cycles.append(Cycle(len(self.cycles) + 1, milliseconds, tuple(shown.items()),
                                 tuple(sorted(self._machine.lines)), self.fault.message if self.fault else ""))
