"""Steps of solvers: explicit Runge-Kutta pairs (ode45, ode23) and fixed ones (ode1 to ode5), SciPy's BDF for ode15s,
and none at all where there is no continuous state.

The explicit steps are our own because the step size must outlive the stops at sample hits and events, and because an
event is located by steps of any part of the length: so the state there is as exact as at a step's end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType
from typing import Any, Protocol

import numpy

from chatdev.departments.simulink.simulation.kernel import SimulationFailed

Slope = Callable[[float, Sequence[float]], list[float]]
_LEAST_FIRST = 1e-15  # of the longest step
_MOST_WRITTEN = 20  # states, up to which a step's sums are written out


@dataclass(frozen=True, slots=True)
class Tableau:
    """An explicit Runge-Kutta method: when its stages are, what each takes of those before, their weights, and those of
    its error (none of a fixed-step method)."""

    order: int
    times: tuple[float, ...]
    stages: tuple[tuple[float, ...], ...]
    weights: tuple[float, ...]
    error: tuple[float, ...] = ()


_BOGACKI = Tableau(3, (0.0, 1 / 2, 3 / 4, 1.0), ((), (1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)),
                   (2 / 9, 1 / 3, 4 / 9, 0.0), (-5 / 72, 1 / 12, 1 / 9, -1 / 8))
_DORMAND = Tableau(
    5, (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    ((), (1 / 5,), (3 / 40, 9 / 40), (44 / 45, -56 / 15, 32 / 9),
     (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
     (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
     (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84)),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
    (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40))
VARIABLE = {"ode45": _DORMAND, "ode23": _BOGACKI}
FIXED = {
    "ode1": Tableau(1, (0.0,), ((),), (1.0,)),
    "ode2": Tableau(2, (0.0, 1.0), ((), (1.0,)), (0.5, 0.5)),
    "ode3": Tableau(3, _BOGACKI.times[:3], _BOGACKI.stages[:3], _BOGACKI.weights[:3]),
    "ode4": Tableau(4, (0.0, 0.5, 0.5, 1.0), ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
                    (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
    "ode5": Tableau(5, _DORMAND.times[:6], _DORMAND.stages[:6], _DORMAND.weights[:6]),
}


State = Sequence[float]


def refuse_infinite(slopes: Sequence[float], blocks: Sequence[str], time: float) -> None:
    """Raises SimulationFailed, with its block, where a slope is no finite number."""
    for slope, block in zip(slopes, blocks, strict=True):
        if not math.isfinite(slope):
            raise SimulationFailed(f"the slope of the state of {block!r} is {slope:g} at {time:g} s; look at what "
                                   "feeds it: a division by 0, a root of what is negative, too large a number",
                                   [block], time)


class Stepper(Protocol):
    """Goes one step further; then `at` tells the state at any part of it (0 to 1), and `near` an interpolated one."""

    def advance(self, time: float, state: State, bound: float, longest: float) -> tuple[float, State]: ...

    def at(self, share: float) -> State: ...

    def near(self, share: float) -> State: ...

    def restart(self) -> None: ...


class Stateless:
    """Steps of a model without continuous states."""

    def advance(self, time: float, state: State, bound: float, longest: float) -> tuple[float, State]:
        """As far as allowed."""
        return min(bound, time + longest), state

    def at(self, share: float) -> State:
        """Nothing."""
        return ()

    near = at

    def restart(self) -> None:
        """Nothing changes."""


Step = Callable[[float, State, State, float], tuple[State, State]]
"""From time, state, its slope and a length to the end and the slopes of all stages, one behind the other."""


Errors = Callable[[State, State, State, float], tuple[float, ...]]
"""From both ends of a step, its slopes and a floor to the states' errors, as parts of their size and of the length."""


class RungeKutta:
    """Explicit steps. With an error estimate their length follows the tolerances (norm: the greatest element), else it
    is as long as allowed."""

    def __init__(self, slope: Slope, tableau: Tableau, relative: float, absolute: float, blocks: Sequence[str]) -> None:
        self._slope, self._blocks, self._method = slope, blocks, tableau
        self._relative, self._floor = relative, absolute / relative
        is_few = len(blocks) <= _MOST_WRITTEN
        self._step = (_written_step if is_few else _array_step)(tableau, slope, len(blocks))
        self._errors = (_written_errors if is_few else _array_errors)(tableau, len(blocks))
        self._length = 0.0
        self._start: tuple[float, State, State, float] = (0.0, (), (), 0.0)
        self._end: State = ()
        self._slopes: State = ()

    def restart(self) -> None:
        """Its next step begins anew in any case."""

    def advance(self, time: float, state: State, bound: float, longest: float) -> tuple[float, State]:
        """One step that is accurate enough."""
        first, room = self._slope(time, state), bound - time
        if not self._method.error:
            length = min(room, longest)
            return time + length, self._take(time, state, first, length)
        wanted = min(self._length or self._first_length(state, first, longest), longest)
        while True:
            length = room if wanted >= 0.999 * room else 0.5 * room if 2 * wanted > room else wanted
            end = self._take(time, state, first, length)
            ratio, worst = self._ratio(state, end, length)
            if ratio <= 1:
                break
            wanted = length * max(0.1, 0.8 * ratio ** (-1 / self._method.order)) if ratio < math.inf else length / 10
            if ratio == math.inf:
                refuse_infinite(first, self._blocks, time)
            if wanted < 16 * math.ulp(time) or wanted < 1e-250:
                raise SimulationFailed(
                    f"the solver's steps become too short at {time:g} s, for the state of {self._blocks[worst]!r}: "
                    f"{'its slope is not finite behind that' if ratio == math.inf else 'the model is stiff'}, or it "
                    "grows without bound; look at the signs of its loop, or take ode15s", [self._blocks[worst]], time)
        grown = length * min(5.0, 0.8 * max(ratio, 1e-10) ** (-1 / self._method.order))
        self._length = max(grown, self._length) if length < 0.999 * wanted else grown
        return bound if length == room else time + length, end

    def _take(self, time: float, state: State, first: State, length: float) -> State:
        self._start = (time, state, first, length)
        self._end, self._slopes = self._step(time, state, first, length)
        return self._end

    def _first_length(self, state: State, first: State, longest: float) -> float:
        speed = max(abs(slope) / max(abs(value), self._floor) for slope, value in zip(first, state, strict=True))
        speed /= 0.8 * self._relative ** (1 / self._method.order)
        return max(min(longest, 1 / speed), _LEAST_FIRST * longest) if speed * longest > 1 else longest

    def _ratio(self, start: State, end: State, length: float) -> tuple[float, int]:
        """The error against what is allowed, and the state that has it."""
        errors = self._errors(start, end, self._slopes, self._floor)
        if not math.isfinite(sum(errors)):
            for number, error in enumerate(errors):
                if not math.isfinite(error):
                    return math.inf, number
        ratio = max(errors)
        return length * ratio / self._relative, errors.index(ratio)

    def at(self, share: float) -> State:
        """By a step of that part of the length."""
        time, state, first, length = self._start
        return self._step(time, state, first, share * length)[0]

    def near(self, share: float) -> State:
        """By the cubic that has the slopes of both ends."""
        _, state, first, length = self._start
        last = self._slopes[len(self._slopes) - len(state):]
        return [x + share * (y - x) + share * (share - 1) * (
            (1 - 2 * share) * (y - x) + length * ((share - 1) * before + share * after))
            for x, y, before, after in zip(state, self._end, first, last, strict=True)]


def _written_step(tableau: Tableau, slope: Slope, count: int) -> Step:
    """A step whose sums are written out: of few states, that is ten times as fast as arrays."""
    names: dict[str, Any] = {"slope": slope}
    exec(_step_code(tableau, count), names)  # of counted names and the tableau's numbers
    return names["step"]  # type: ignore[no-any-return]  # as it is written there


@lru_cache(256)
def _step_code(tableau: Tableau, count: int) -> CodeType:
    def row(letter: str, number: int | str = "") -> str:
        return "".join(f"{letter}{number}_{at}, " for at in range(count))

    def sums(weights: Sequence[float]) -> str:
        used = [(stage, weight) for stage, weight in enumerate(weights) if weight]
        return "".join(f"x_{at} + h * ({' + '.join(f'{weight!r} * k{stage}_{at}' for stage, weight in used)}), "
                       for at in range(count))

    lines = ["def step(t, x, first, h):", f"    {row('x')} = x", f"    {row('k', 0)} = first"]
    lines += [f"    {row('k', stage)} = slope(t + {tableau.times[stage]!r} * h, ({sums(weights)}))"
              for stage, weights in enumerate(tableau.stages) if stage]
    slopes = "".join(row("k", stage) for stage in range(len(tableau.times)))
    lines.append(f"    return ({sums(tableau.weights)}), ({slopes})")
    return compile("\n".join(lines), "step", "exec")


@lru_cache(256)
def _written_errors(tableau: Tableau, count: int) -> Errors:
    """The sums of the error's estimate, written out."""
    used = [(stage * count, weight) for stage, weight in enumerate(tableau.error) if weight]
    terms = "".join(f"abs({' + '.join(f'{weight!r} * k[{at + number}]' for at, weight in used)}) "
                    f"/ max(abs(x[{number}]), abs(y[{number}]), floor), " for number in range(count))
    names: dict[str, Any] = {}
    exec(f"def errors(x, y, k, floor):\n    return ({terms})" if used else "errors = None", names)
    return names["errors"]  # type: ignore[no-any-return]  # of counted places and the tableau's numbers


@lru_cache(256)
def _array_errors(tableau: Tableau, count: int) -> Errors:
    weights = numpy.array(tableau.error)

    def errors(start: State, end: State, slopes: State, floor: float) -> tuple[float, ...]:
        sums = numpy.abs(weights @ numpy.array(slopes).reshape(len(weights), count))
        sizes = numpy.maximum(numpy.maximum(numpy.abs(numpy.array(start)), numpy.abs(numpy.array(end))), floor)
        return tuple((sums / sizes).tolist())
    return errors


def _array_step(tableau: Tableau, slope: Slope, count: int) -> Step:
    """A step by arrays."""
    stages = [numpy.array(row) for row in tableau.stages]
    weights = numpy.array(tableau.weights)

    def step(time: float, state: State, first: State, length: float) -> tuple[State, State]:
        slopes, start = numpy.empty((len(weights), count)), numpy.array(state)
        slopes[0] = first
        for number in range(1, len(weights)):
            there = start + length * (stages[number] @ slopes[:number])
            slopes[number] = slope(time + tableau.times[number] * length, there.tolist())
        return (start + length * (weights @ slopes)).tolist(), slopes.ravel().tolist()

    return step


class Backward:
    """SciPy's BDF, whose orders and constants are those of ode15s; it goes on over stops at which nothing changed."""

    def __init__(self, slope: Slope, relative: float, absolute: float, blocks: Sequence[str]) -> None:
        self._slope, self._relative, self._absolute, self._blocks = slope, relative, absolute, blocks
        self._solver: Any = None
        self._from = 0.0

    def restart(self) -> None:
        """The model is another one now."""
        self._solver = None

    def advance(self, time: float, state: State, bound: float, longest: float) -> tuple[float, State]:
        """One step."""
        if self._solver is None:
            from scipy.integrate import BDF

            refuse_infinite(self._slope(time, state), self._blocks, time)
            self._solver = BDF(self._slope, time, numpy.array(state), bound, max_step=longest, rtol=self._relative,
                               atol=self._absolute)
        self._solver.t_bound, self._solver.status, self._from = bound, "running", time
        try:
            message = self._solver.step()
        except ValueError:  # of the Jacobian that SciPy factors
            refuse_infinite(self._slope(time, state), self._blocks, time)
            self._solver.status, message = "failed", "the slopes around it are not finite"
        if self._solver.status == "failed":
            raise SimulationFailed(f"the solver ode15s finds no step at {time:g} s ({message}); look at the signs of "
                                   f"the loops of {', '.join(map(repr, dict.fromkeys(self._blocks)))}"[:400],
                                   tuple(dict.fromkeys(self._blocks)), time)
        self._dense = self._solver.dense_output()
        return float(self._solver.t), self._solver.y.tolist()

    def at(self, share: float) -> State:
        """By its polynomial."""
        return [*map(float, self._dense(self._from + share * (self._solver.t - self._from)))]

    near = at
