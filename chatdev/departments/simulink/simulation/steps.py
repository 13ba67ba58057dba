"""Steps of solvers: explicit Runge-Kutta pairs (ode45, ode23) and fixed ones (ode1 to ode5), SciPy's BDF for ode15s,
and none at all where there is no continuous state.

The explicit steps are our own because the step size must outlive the stops at sample hits and events, and because an
event is located by steps of any part of the length: so the state there is as exact as at a step's end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy

from chatdev.departments.simulink.simulation.kernel import SimulationFailed

Slope = Callable[[float, Sequence[float]], list[float]]
Vector = numpy.ndarray[Any, numpy.dtype[numpy.float64]]


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


class Stepper(Protocol):
    """Goes one step further; then `at` tells the state at any part of it (0 to 1), and `near` an interpolated one."""

    def advance(self, time: float, state: Vector, bound: float, longest: float) -> tuple[float, Vector]: ...

    def at(self, share: float) -> Vector: ...

    def near(self, share: float) -> Vector: ...

    def restart(self) -> None: ...


class Stateless:
    """Steps of a model without continuous states."""

    _nothing: Vector = numpy.zeros(0)

    def advance(self, time: float, state: Vector, bound: float, longest: float) -> tuple[float, Vector]:
        """As far as allowed."""
        return min(bound, time + longest), state

    def at(self, share: float) -> Vector:
        """Nothing."""
        return self._nothing

    near = at

    def restart(self) -> None:
        """Nothing changes."""


class RungeKutta:
    """Explicit steps. With an error estimate their length follows the tolerances (norm: the greatest element), else it
    is as long as allowed."""

    def __init__(self, slope: Slope, tableau: Tableau, relative: float, absolute: float, blocks: Sequence[str]) -> None:
        self._slope, self._blocks, self._method = slope, blocks, tableau
        self._relative, self._absolute = relative, absolute
        self._stages = [numpy.array(row) for row in tableau.stages]
        self._weights, self._error = numpy.array(tableau.weights), numpy.array(tableau.error)
        self._slopes = numpy.zeros((len(tableau.times), len(blocks)))
        self._length = 0.0
        self._start: tuple[float, Vector, Vector, float] = (0.0, numpy.zeros(0), numpy.zeros(0), 0.0)
        self._end = numpy.zeros(0)

    def restart(self) -> None:
        """Its next step begins anew in any case."""

    def advance(self, time: float, state: Vector, bound: float, longest: float) -> tuple[float, Vector]:
        """One step that is accurate enough."""
        first = numpy.array(self._slope(time, state.tolist()))
        room = bound - time
        if not self._error.size:
            length = min(room, longest)
            self._start = (time, state, first, length)
            self._end = self._step(time, state, first, length)
            return time + length, self._end
        if not self._length:
            self._length = self._first_length(state, first, longest)
        wanted = min(self._length, longest)
        while True:
            length = room if wanted >= 0.999 * room else min(wanted, 0.5 * room) if 2 * wanted > room else wanted
            end = self._step(time, state, first, length)
            ratio, worst = self._ratio(state, end, length)
            if ratio <= 1:
                break
            wanted = length * max(0.1, 0.8 * ratio ** (-1 / self._method.order)) if ratio < numpy.inf else length / 10
            if wanted < 16 * numpy.spacing(max(abs(time), 1e-300)) or wanted < 1e-250:
                raise SimulationFailed(
                    f"the solver's steps become too short at {time:g} s, for the state of {self._blocks[worst]!r}: it "
                    "grows without bound, or the model is stiff; look at the signs of its loop, or take ode15s",
                    [self._blocks[worst]], time)
        grown = length * min(5.0, 0.8 * max(ratio, 1e-10) ** (-1 / self._method.order))
        self._length = max(grown, self._length) if length < 0.999 * wanted else grown
        self._start, self._end = (time, state, first, length), end
        return bound if length == room else time + length, end

    def _first_length(self, state: Vector, first: Vector, longest: float) -> float:
        scale = numpy.maximum(numpy.abs(state), self._absolute / self._relative)
        speed = float(numpy.max(numpy.abs(first) / scale)) / (0.8 * self._relative ** (1 / self._method.order))
        return min(longest, 1 / speed) if speed * longest > 1 else longest

    def _step(self, time: float, state: Vector, first: Vector, length: float) -> Vector:
        slopes, times = self._slopes, self._method.times
        slopes[0] = first
        for number in range(1, len(times)):
            there = state + length * (self._stages[number] @ slopes[:number])
            slopes[number] = self._slope(time + times[number] * length, there.tolist())
        return numpy.asarray(state + length * (self._weights @ slopes))

    def _ratio(self, start: Vector, end: Vector, length: float) -> tuple[float, int]:
        """The error against what is allowed, and the state that has it."""
        scale = numpy.maximum(numpy.maximum(numpy.abs(start), numpy.abs(end)), self._absolute / self._relative)
        ratios = numpy.abs(length * (self._error @ self._slopes)) / (self._relative * scale)
        if not numpy.isfinite(ratios).all():
            return numpy.inf, int(numpy.argmin(numpy.isfinite(ratios)))
        worst = int(numpy.argmax(ratios))
        return float(ratios[worst]), worst

    def at(self, share: float) -> Vector:
        """By a step of that part of the length."""
        time, state, first, length = self._start
        return self._step(time, state, first, share * length)

    def near(self, share: float) -> Vector:
        """By the cubic that has the slopes of both ends."""
        _, state, first, length = self._start
        change, last = self._end - state, self._slopes[-1]
        inner = (1 - 2 * share) * change + (share - 1) * length * first + share * length * last
        return numpy.asarray(state + share * change + share * (share - 1) * inner)


class Backward:
    """SciPy's BDF, whose orders and constants are those of ode15s; it goes on over stops at which nothing changed."""

    def __init__(self, slope: Slope, relative: float, absolute: float, blocks: Sequence[str]) -> None:
        self._slope, self._relative, self._absolute, self._blocks = slope, relative, absolute, blocks
        self._solver: Any = None
        self._from = 0.0

    def restart(self) -> None:
        """The model is another one now."""
        self._solver = None

    def advance(self, time: float, state: Vector, bound: float, longest: float) -> tuple[float, Vector]:
        """One step."""
        if self._solver is None:
            from scipy.integrate import BDF

            self._solver = BDF(self._slope, time, state, bound, max_step=longest, rtol=self._relative,
                               atol=self._absolute)
        self._solver.t_bound, self._solver.status, self._from = bound, "running", time
        message = self._solver.step()
        if self._solver.status == "failed":
            raise SimulationFailed(f"the solver ode15s finds no step at {time:g} s ({message}); look at the signs of "
                                   f"the loops of {', '.join(map(repr, dict.fromkeys(self._blocks)))}"[:400],
                                   tuple(dict.fromkeys(self._blocks)), time)
        self._dense = self._solver.dense_output()
        return float(self._solver.t), self._solver.y.copy()

    def at(self, share: float) -> Vector:
        """By its polynomial."""
        return numpy.asarray(self._dense(self._from + share * (self._solver.t - self._from)))

    near = at
