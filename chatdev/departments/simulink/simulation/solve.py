"""Simulation of a model: from one stop to the next, where stops are sample hits, jumps of sources and located events.

Within a step all modes are frozen; at its end every block is computed anew in one fixed order, so that whatever happens
at one instant is one batch. Hits are counted by integers.
"""

from __future__ import annotations

import copy
import math
import time as clock
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy

from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.hierarchy import split_path, system_at, with_system
from chatdev.departments.simulink.simulation.compile import Compiled, compile_model, exact
from chatdev.departments.simulink.simulation.expressions import ExpressionFault, Values, value_of
from chatdev.departments.simulink.simulation.kernel import InputTable, ModelFault, Rate, SimulationFailed
from chatdev.departments.simulink.simulation.load_flow import has_load_flow, solve_load_flow
from chatdev.departments.simulink.simulation.steps import (
    FIXED,
    VARIABLE,
    Backward,
    RungeKutta,
    State,
    Stateless,
    Stepper,
)
from chatdev.departments.simulink.simulation.table import Results as Results
from chatdev.departments.simulink.simulation.table import Table
from chatdev.errors import ConfigError

SOLVERS = ("auto", *VARIABLE, "ode15s", "discrete", *FIXED)
_SAME = 1e-12  # of a time, within which two instants are one
_MOST_STEPS, _MOST_EVENTS, _MOST_PASSES = 20_000_000, 1_000_000, 100
_SLOW = 1e-6  # of the whole time, which 65536 steps must at least go on
_DENSE, _CLOSE = 500, 1e-9  # so many events within this part of the whole time never end
_PARTS = 50  # of the whole time, into which steps divide it at least
_GETS_ON = 1e-3  # of the whole time, which a simulation must have behind it when its seconds are over


@dataclass(frozen=True, slots=True)
class Options:
    """How a model is simulated. Times in seconds; `relative` and `absolute` are tolerances (absolute, if None: 1e-6, or
    a thousandth of the relative one if that is less), `step` the length of fixed steps, `rows` how many samples are
    kept: of more, every second, fourth, … whole step is. After `seconds` of a processor it ends where it is."""

    stop: float = 10.0
    solver: str = "auto"
    relative: float = 1e-3
    absolute: float | None = None
    step: float | None = None
    longest: float | None = None
    rows: int = 1_000_000
    seconds: float | None = None


_SOLVERS = {"variablestepauto": "auto", "fixedstepauto": "auto", "variablestepdiscrete": "discrete",
            "fixedstepdiscrete": "discrete", "ode23s": "ode15s", "ode23t": "ode15s", "ode23tb": "ode15s",
            "ode113": "ode45"}
"""Simulink's further names, and what is nearest to them here."""


def options_of(model: Diagram, **given: Any) -> Options:
    """The options that are `given` (None: not), for the others what the model's settings say (StopTime, Solver,
    RelTol, AbsTol, FixedStep, MaxStep), and else the defaults. Raises ModelFault."""
    says = {name.lower(): value.strip() for name, value in model.settings.items()}
    if (start := says.get("starttime", "0")) not in ("0", "0.0"):
        raise ModelFault(f"settings: StartTime is {start!r}; a simulation begins at 0 here")
    solver = says.get("solver") or says.get("solvername") or "auto"
    asked: dict[str, Any] = {field: _setting(model, says, name) for field, name in _TIMES.items()}
    asked["solver"] = _SOLVERS.get(solver.lower(), solver)
    if asked["solver"] not in FIXED:
        del asked["step"]
    return Options(**{name: value for name, value in [*asked.items(), *given.items()] if value is not None})


_TIMES = {"stop": "StopTime", "relative": "RelTol", "absolute": "AbsTol", "step": "FixedStep", "longest": "MaxStep"}


def _setting(model: Diagram, says: Mapping[str, str], name: str) -> float | None:
    """A number among the settings; None where it is left to the solver, which an endless stop time is, too."""
    text = says.get(name.lower(), "auto")
    if text in ("auto", "", "-1"):
        return None
    try:
        variables = dict[str, Values]()
        for key, value in model.variables.items():
            variables[key] = value_of(value, variables)
        found = float(value_of(text, variables).item())
    except (ExpressionFault, ValueError) as error:
        raise ModelFault(f"settings: {name} is {text[:60]!r}: {error}") from None
    return found if found < math.inf else None


def set_parameters(model: Diagram, settings: Mapping[str, str]) -> tuple[Diagram, dict[str, Values]]:
    """The model with other values of `block.parameter` (a block inside of subsystems by its path; a variable of a
    mask as a parameter of its block), and the variables of the workspace, which are named without a block. Raises
    ModelFault."""
    variables = dict[str, Values]()
    for key, value in settings.items():
        block, dot, parameter = key.rpartition(".")
        try:
            if dot:
                model = _set_parameter(model, block, parameter, value)
            else:
                variables[key] = value_of(value, variables)
        except (ConfigError, ValueError) as error:
            raise ModelFault(f"{key}={value[:60]}: {error}", [block] if block else ()) from None
    return model, variables


def _set_parameter(model: Diagram, path: str, parameter: str, value: str) -> Diagram:
    *above, name = [path] if path in model.blocks else split_path(path)
    system = system_at(model, above)
    if name not in system.blocks:
        raise ConfigError(f"there is no block {path!r}; it has {', '.join([*system.blocks][:20])}")
    block = system.blocks[name]
    if block.system and parameter in block.system.variables:
        inside = replace(block.system, variables={**block.system.variables, parameter: value})
        changed = replace(block, system=inside)
    else:
        changed = replace(block, parameters={**block.parameters, parameter: value})
    return with_system(model, above, replace(system, blocks={**system.blocks, name: changed}))


def simulate(model: Diagram, options: Options | None = None, settings: Mapping[str, str] | None = None,
             progress: Callable[[float], None] | None = None, *,
             inputs: Mapping[str, InputTable] | None = None) -> Results:
    """Simulates a model from 0 to `stop`. `settings` change parameters (`Block.Parameter`) or give variables;
    `progress` is told the time now and then; `inputs` are what In1 blocks get. A three-phase grid has a load flow,
    which is the same at all times. Raises ModelFault before anything runs, and SimulationFailed."""
    if has_load_flow(model):
        return _flow_results(model, _check(options or options_of(model)), settings or {})
    simulation = Simulation(model, options, settings, progress=progress, inputs=inputs)
    simulation.advance(simulation.options.stop)
    return simulation.results()


def _flow_results(model: Diagram, options: Options, settings: Mapping[str, str]) -> Results:
    flow = solve_load_flow(*set_parameters(model, settings))
    groups = flow.columns()
    columns = {name: value for group in groups.values() for name, value in group.items()}
    rows = numpy.array([[*columns.values()]] * 2)
    return Results(numpy.array([0.0, options.stop]), rows, tuple(columns),
                   {what: tuple(group) for what, group in groups.items()}, {}, tuple(flow.lines()), "load flow",
                   flow.rounds, 0, 1)


def _check(options: Options) -> Options:
    if not (0 < options.stop < math.inf) or not (0 < options.relative < 1) or options.rows < 2:
        raise ModelFault(f"stop {options.stop:g} s, relative tolerance {options.relative:g}; give a time above 0 and a "
                         "tolerance between 0 and 1")
    if options.solver not in SOLVERS:
        raise ModelFault(f"the solver {options.solver!r} is not known; it is one of {', '.join(SOLVERS)}")
    for name, value in (("step", options.step), ("longest step", options.longest), ("tolerance", options.absolute)):
        if value is not None and not 0 < value < math.inf:
            raise ModelFault(f"the {name} is {value:g}; give a number above 0")
    return options


class _TimeIsUp(Exception):
    """The seconds of a simulation are over; what it gave so far is right."""


class Simulation:
    """A simulation that goes on piece by piece, as a co-simulation does.

    `inputs` are tables for In1 blocks; the others hold what `advance` was told last (0 at first). Without `inputs`, all
    In1 are 0 for good. `stop` of the options is the scale of steps here, and no bound. Raises ModelFault.
    """

    def __init__(self, model: Diagram, options: Options | None = None, settings: Mapping[str, str] | None = None, *,
                 progress: Callable[[float], None] | None = None,
                 inputs: Mapping[str, InputTable] | None = None) -> None:
        self.options = options = _check(options or options_of(model))
        changed, variables = set_parameters(model, settings or {})
        self.model = found = compile_model(changed, variables, options.step or options.stop / _PARTS, options.stop,
                                           inputs)
        self._progress = progress
        self.solver = options.solver
        if self.solver == "auto":
            self.solver = ("ode15s" if found.is_stiff else "ode45") if found.initial else "discrete"
        if self.solver == "discrete" and found.initial:
            names = list(dict.fromkeys(found.state_blocks))
            raise ModelFault("the solver discrete takes no continuous states, and there are some in "
                             f"{', '.join(map(repr, names[:8]))}; take ode45", names)
        self._by_hits = self.solver in FIXED or not found.is_continuous
        self._hits = _Hits(found.rates, self._fixed_step(), found)
        self._table = Table(len(found.columns), options.rows)
        self._stepper = self._make_stepper()
        self._steps, self._events, self._looked, self._reached = 0, 0, clock.monotonic(), 0.0
        self._dense, self._blamed = deque[float](maxlen=_DENSE), Counter[str]()
        self._none_due = (False,) * len(found.rates)
        self._before: _Instant | None = None
        self._state: State = found.initial
        self._last = 0.0  # the time of the state; behind `time` where fixed steps do not meet it
        self.time, self.is_over = -1.0, False
        self._began, self._is_whole = clock.process_time(), True
        self.row: tuple[float, ...] = ()

    def _fixed_step(self) -> Fraction | None:
        if self.solver not in FIXED:
            return None
        rates = [part for rate in self.model.rates for part in (rate.period, rate.offset) if part]
        if self.options.step is not None or not rates:
            return exact(self.options.step or self.options.stop / _PARTS)
        return _common_part(rates)

    def _make_stepper(self) -> Stepper:
        if not self.model.initial:
            return Stateless()
        relative = self.options.relative
        absolute = self.options.absolute or min(1e-6, 1e-3 * relative)
        if self.solver == "ode15s":
            return Backward(self.model.derivative, relative, absolute, self.model.state_blocks)
        return RungeKutta(self.model.derivative, {**VARIABLE, **FIXED}[self.solver], relative, absolute,
                          self.model.state_blocks)

    def advance(self, to: float, inputs: Mapping[str, float | Sequence[float]] | None = None) -> None:
        """Goes on to a time (seconds; 0 first), with these values of In1 blocks from now on; then `row` is that of the
        columns. What happens at `to` itself sees the inputs of before, until the next call gives others: then it is
        done anew. Raises SimulationFailed, and ModelFault for an input that is none."""
        if not self.time <= to < math.inf:
            raise ModelFault(f"the simulation is at {self.time:g} s; it cannot go on to {to:g} s")
        try:
            with numpy.errstate(all="ignore"):
                if self._set_inputs(inputs or {}) and self.time >= 0:
                    self._do_anew()
                if not self.is_over and to > self.time:
                    (self._run_hits if self._by_hits else self._run_steps)(to)
                    self.time = to
        except _TimeIsUp:
            self.is_over, self._is_whole = True, False
        except ValueError as error:
            raise SimulationFailed(f"{error}; it was seen after {max(self._last, 0):g} s") from None

    def results(self) -> Results:
        """What was recorded so far."""
        times, values = self._table.arrays()
        notes = [*self.model.notes]
        if values.size and not (finite := numpy.isfinite(values)).all():
            row, column = (int(one) for one in numpy.argwhere(~finite)[0])
            notes.append(f"{self.model.columns[column]} is {values[row, column]:g} at {times[row]:g} s")
        return Results(times, values, self.model.columns, self.model.sinks, self.model.block_rates, tuple(notes),
                       self.solver, self._steps, self._events, self._table.every, self._is_whole)

    # inputs from outside

    def _set_inputs(self, inputs: Mapping[str, float | Sequence[float]]) -> bool:
        """Whether one of them is another one now."""
        changed = False
        for name, given in inputs.items():
            places = self.model.inputs.get(name)
            values = [float(one) for one in ([given] if isinstance(given, int | float) else given)]
            if places is None or len(values) != len(places):
                there = ", ".join(f"{one} ({len(at)})" for one, at in self.model.inputs.items()) or "none"
                raise ModelFault(f"no input {name!r} of {len(values)} elements; those of the model are: {there}",
                                 [name])
            for place, value in zip(places, values, strict=True):
                changed |= self.model.held[place] != value
                self.model.held[place] = value
        return changed

    def _keep(self, due: Sequence[bool]) -> None:
        """Remembers how all was before a whole step, if inputs can make it another one afterwards."""
        if self.model.inputs:
            self._before = _Instant(self._last, self._state, tuple(due), _memory(self.model))

    def _do_anew(self) -> None:
        """The last whole step, as the inputs are others now."""
        if self._before is None or self._last != self.time:
            return
        before = self._before
        _restore(self.model, before.memory)
        self._state, self.is_over = self._whole_step(self.time, before.state, before.due, None, is_needed=True)
        self._stepper.restart()

    def _count_step(self, time: float) -> None:
        self._steps += 1
        if self._steps & 65535 == 0:
            if time - self._reached < _SLOW * self.options.stop:
                raise SimulationFailed(
                    f"the solver's steps become too short: 65536 have brought it from {self._reached:g} to {time:g} s; "
                    "the model is stiff, or its signals are noise", (), time)
            self._reached = time
        if self._steps & 1023 == 0:
            if self._steps > _MOST_STEPS:
                raise SimulationFailed(f"more than {_MOST_STEPS} steps have brought it to {time:g} s; give a shorter "
                                       "stop time, or take --solver ode15s", (), time)
            if self._progress and clock.monotonic() - self._looked > 0.5:
                self._looked = clock.monotonic()
                self._progress(time)
            self._heed_time(time)

    def _heed_time(self, time: float) -> None:
        seconds, stop = self.options.seconds, self.options.stop
        if seconds is None or clock.process_time() - self._began < seconds:
            return
        if time >= _GETS_ON * stop:
            raise _TimeIsUp
        names, why = [name for name, _ in self._blamed.most_common(3)], f"{self._events} events"
        if not names and self.model.rates:
            fastest = min(self.model.rates)
            why = f"steps of {fastest}"
            names = [name for name, rate in self.model.block_rates.items() if rate == fastest][:3]
        by = f" by {why}, most of {', '.join(map(repr, names))}" if names else ""
        raise SimulationFailed(
            f"it does not get on: {seconds:g} s of a processor have brought it to {time:.4g} of {stop:g} s{by}; take "
            "out what switches so fast, give larger sample times, or simulate a shorter time", names, time)

    # steps of given length: sampled models, and fixed-step solvers

    def _run_hits(self, to: float) -> None:
        major, add, keeps, row = self.model.major, self._table.add, bool(self.model.inputs), self.row
        method = self._stepper if self.solver in FIXED and self.model.initial else None
        states, last = self._state, self._last
        for time, due in self._hits.all_until(to, self.time):
            if method and time > last:
                states = method.advance(last, states, time, math.inf)[1]
                if not all(map(math.isfinite, states)):
                    raise self._divergence(states, time)
            last = time
            if keeps and time >= to * (1 - _SAME):
                self._last, self._state = time, states
                self._keep(due)
            row, states, again, stop = major(time, states, True, *due)
            if again:
                row, states, _, stop = major(time, states, False, *self._none_due)
            add(time, row)
            self._count_step(time)
            if stop:
                self.is_over = True
                break
        self.row, self._state, self._last = row, states, last
        if self._table.last_time != last:
            add(last, row, is_needed=True)

    def _divergence(self, states: Sequence[float], time: float) -> SimulationFailed:
        block = next(block for block, state in zip(self.model.state_blocks, states, strict=True)
                     if not math.isfinite(state))
        return SimulationFailed(f"the state of {block!r} is not finite at {time:g} s: it grows without bound; look at "
                                "the signs of its loop, or take shorter steps", [block], time)

    # steps that follow the error and stop at events

    def _run_steps(self, to: float) -> None:
        model, stepper = self.model, self._stepper
        longest = min(self.options.longest or self.options.stop / _PARTS, model.longest_step)
        if self.time < 0:
            self._start()
        time, state, is_stiff = self._last, self._state, self.solver == "ode15s"
        while time < to and not self.is_over:
            bound = self._next_stop(time, to)
            before = (time, state)
            time, state = self._step(time, state, bound, longest)
            if event := self._first_event(stepper, before, time, state):
                time, state, block = event
                self._note_event(time, block)
            due = self._hits.due(time) if time == bound else self._none_due
            left = model.peek(time, state) if event or time == bound else None
            self._last, self._state = time, state
            if time == to:
                self._keep(due)
            slope = model.derivative(time, state) if is_stiff else ()
            old, (state, self.is_over) = state, self._whole_step(time, state, due, left, is_needed=time == to)
            if event or (is_stiff and not (state is old and _is_alike(slope, model.derivative(time, state)))):
                stepper.restart()
            self._state = state

    def _step(self, time: float, state: State, bound: float, longest: float) -> tuple[float, State]:
        time, state = self._stepper.advance(time, state, bound, longest)
        if bound - time <= _SAME * abs(bound):
            time = bound
        if not all(map(math.isfinite, state)):
            raise self._divergence(state, time)
        return time, state

    def _start(self) -> None:
        due = self._hits.due(0.0)
        self._keep(due)
        self._state, self.is_over = self._whole_step(0.0, self._state, due, None)

    def _next_stop(self, time: float, end: float) -> float:
        """The next hit, jump or end; a hit's time where they are one instant."""
        hit = self._hits.next_time()
        others = min((events.after(time) for events in self.model.events), default=math.inf)
        stop = min(hit, others, end)
        for exactly in (end, hit):
            if exactly - stop <= _SAME * abs(stop):
                return exactly
        return stop

    def _whole_step(self, time: float, state: State, due: Sequence[bool], left: tuple[float, ...] | None,
                    is_needed: bool = False) -> tuple[State, bool]:
        """Everything is computed anew, until nothing asks for more; the same states come back if none jumps."""
        major = self.model.major
        row, states, again, stop = major(time, state, True, *due)
        jumps = left is not None and not _is_alike(left, row)
        if jumps and left is not None:
            self._table.add(time, left, is_needed=True)
        self._table.add(time, row, is_needed=bool(jumps or again or is_needed))
        passes = 0
        while again:
            passes += 1
            if passes > _MOST_PASSES:
                raise SimulationFailed(f"the blocks do not come to rest at {time:g} s", (), time)
            row, states, again, stop = major(time, states, False, *self._none_due)
            self._table.add(time, row, is_needed=True)
        self._count_step(time)
        self.row = row
        return (state if states == tuple(state) else states), bool(stop)

    def _first_event(self, stepper: Stepper, before: tuple[float, State], time: float,
                     state: State) -> tuple[float, State, str] | None:
        """Where the first mode changes within a step: time and state just behind it, and the block."""
        margins = self.model.margins
        if not self.model.margin_blocks:
            return None
        length = time - before[0]
        share = 1.0
        if not max(margins(time, state)) > 0:
            share = 0.5
            if not max(margins(before[0] + 0.5 * length, stepper.near(0.5))) > 0:
                return None
        ignored = {number for number, margin in enumerate(margins(before[0], before[1])) if margin > 0}

        def size(part: float) -> tuple[float, str]:
            there = state if part == 1.0 else stepper.at(part)
            found = margins(before[0] + part * length, there)
            worst = max((number for number in range(len(found)) if number not in ignored),
                        key=found.__getitem__, default=None)
            return (-1.0, "") if worst is None else (found[worst], self.model.margin_blocks[worst])

        if not size(share)[0] > 0:
            return None
        found, block = _bisect(size, share, (4 * math.ulp(max(abs(time), length))) / length)
        there = state if found == 1.0 else stepper.at(found)
        return (time if found == 1.0 else before[0] + found * length), there, block

    def _note_event(self, time: float, block: str) -> None:
        self._events += 1
        dense = self._dense
        dense.append(time)
        self._blamed[block] += 1
        if (len(dense) == _DENSE and time - dense[0] <= _CLOSE * self.options.stop) or self._events > _MOST_EVENTS:
            names = [name for name, _ in self._blamed.most_common(3)]
            raise SimulationFailed(
                f"{self._events} events have brought it to {time:.9g} s, and they come without end (a Zeno effect, or "
                f"a switch that slides): {', '.join(map(repr, names))}; give the switch a hysteresis (Relay), set its "
                "ZeroCross off, or take a fixed-step solver (--solver ode4 --step …)", names, time)


def _is_alike(left: Sequence[float], right: Sequence[float]) -> bool:
    return all(one == other or abs(one - other) <= 1e-9 * max(abs(one), abs(other)) + 1e-12
               for one, other in zip(left, right, strict=True))


def _bisect(size: Callable[[float], tuple[float, str]], high: float, tolerance: float) -> tuple[float, str]:
    """The least part at which a size is positive, from above: regula falsi (Illinois), with every third step in the
    middle."""
    low, low_size = 0.0, min(size(0.0)[0], 0.0)
    high_size, block = size(high)
    for number in range(200):
        if high - low <= tolerance:
            break
        middle = (low * high_size - high * low_size) / (high_size - low_size) if number % 3 < 2 else (low + high) / 2
        middle = min(max(middle, low + tolerance / 2), high - tolerance / 2)
        found, which = size(middle)
        if found > 0:
            high, high_size, block, low_size = middle, found, which, low_size / 2
        else:
            low, low_size, high_size = middle, found, high_size / 2
    return high, block


class _Instant(NamedTuple):
    """How all was before the whole step at a time."""

    time: float
    state: State
    due: tuple[bool, ...]
    memory: tuple[Any, ...]


def _memory(model: Compiled) -> tuple[Any, ...]:
    """All that the model's functions remember, copied."""
    return (*(copy.deepcopy(cell.cell_contents) for cell in _cells(model)),
            *(copy.deepcopy(generator.bit_generator.state) for generator in model.generators))


def _restore(model: Compiled, memory: Sequence[Any]) -> None:
    cells = _cells(model)
    for cell, value in zip(cells, memory, strict=False):
        cell.cell_contents = copy.deepcopy(value)
    for generator, value in zip(model.generators, memory[len(cells):], strict=True):
        generator.bit_generator.state = value


def _cells(model: Compiled) -> Sequence[Any]:
    return getattr(model.major, "__closure__", None) or ()


class _Hits:
    """The sample hits of all rates, counted in whole ticks."""

    def __init__(self, rates: Sequence[Rate], step: Fraction | None, model: Compiled) -> None:
        parts = [part for rate in rates for part in (rate.period, rate.offset) if part]
        self._tick = step or (_common_part(parts) if parts else Fraction(0))
        self._is_fixed = step is not None
        if step is not None:
            for rate in rates:
                if rate.period % step or rate.offset % step:
                    names = [name for name, one in model.block_rates.items() if one == rate]
                    raise ModelFault(f"the sample time of {', '.join(map(repr, names[:5]))} ({rate}) is no multiple of "
                                     f"the step, {float(step):g} s; give another step", names)
        self._periods = [int(rate.period / self._tick) for rate in rates]
        self._next = [int(rate.offset / self._tick) for rate in rates]
        self._done = -1

    def time(self, tick: int) -> float:
        """Of a tick, rounded once."""
        return tick * self._tick.numerator / self._tick.denominator

    def next_time(self) -> float:
        """Of the next hit."""
        return self.time(min(self._next)) if self._next else math.inf

    def due(self, time: float) -> tuple[bool, ...]:
        """Which rates have a hit now; they are counted on."""
        if not self._next or self.next_time() - time > _SAME * abs(time):
            return (False,) * len(self._next)
        return self._take(min(self._next))

    def _take(self, tick: int) -> tuple[bool, ...]:
        due = tuple(one == tick for one in self._next)
        self._next = [one + period if is_due else one
                      for one, period, is_due in zip(self._next, self._periods, due, strict=True)]
        return due

    def all_until(self, stop: float, since: float) -> Iterator[tuple[float, tuple[bool, ...]]]:
        """The times of all whole steps behind `since` (below 0: from the start on) with the rates that are due; 0 and
        `stop` belong to them where steps are not fixed."""
        end = math.floor(exact(stop) / self._tick * (1 + Fraction(1, 10**12))) if self._tick else 0
        if self._is_fixed:
            for tick in range(self._done + 1, end + 1):
                self._done = tick
                yield self.time(tick), self._take(tick)
            return
        nothing, time = (False,) * len(self._next), max(since, 0.0)
        if since < 0 and (not self._next or min(self._next) > 0):
            yield 0.0, nothing
        if len(self._next) == 1:
            for tick in range(self._next[0], end + 1, self._periods[0]):
                self._next[0], time = tick + self._periods[0], self.time(tick)
                yield time, (True,)
        while len(self._next) > 1 and (tick := min(self._next)) <= end:
            time = self.time(tick)
            yield time, self._take(tick)
        if time < stop * (1 - _SAME):
            yield stop, nothing


def _common_part(parts: Sequence[Fraction]) -> Fraction:
    common: Fraction = parts[0]
    for part in parts[1:]:
        common = Fraction(math.gcd(common.numerator * part.denominator, part.numerator * common.denominator),
                          common.denominator * part.denominator)
    return common
