"""Runs models of the studies in pathsim, bdsim and python-control; for an interpreter that has them, and not this
project.

    python benchmarks/simulink/peers.py < jobs.json

Prints a JSON list with the answer to each job. `time`: of each simulator the seconds (least of three runs, building
included, imports apart) and the last values of the watched blocks, or the error. `run`: the values once, without the
time. `respond`: the step response of a linear system, by python-control.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy

TOLERANCE, TIMES = 1e-6, 3
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sin": numpy.sin, "square": lambda u: u * u, "tanh": numpy.tanh, "abs": numpy.abs}


def run_pathsim(model: Mapping[str, Any]) -> list[float]:
    """The last values of the watched blocks."""
    from pathsim import Connection, Simulation
    from pathsim.blocks import (
        Adder,
        Amplifier,
        Clip,
        Constant,
        DiscreteTransferFunction,
        Function,
        Integrator,
        Multiplier,
        Scope,
        Source,
    )
    from pathsim.solvers import RKDP54

    makers: dict[str, Callable[[Any], Any]] = {
        "constant": Constant, "gain": Amplifier, "sum": Adder, "product": lambda _: Multiplier(),
        "integrator": Integrator, "sine": lambda w: Source(lambda t: numpy.sin(w * t)),
        "function": lambda name: Function(FUNCTIONS[name]), "saturation": lambda limit: Clip(-limit, limit),
        "delay": lambda _: DiscreteTransferFunction(Num=[1.0], Den=[1.0, 0.0], T=1.0)}
    blocks = {name: makers[kind](value) for name, (kind, value, _) in model["blocks"].items()}
    lines = [Connection(blocks[source], blocks[name][port]) for name, (_, _, inputs) in model["blocks"].items()
             for port, source in enumerate(inputs)]
    scope = Scope()
    lines += [Connection(blocks[name], scope[port]) for port, name in enumerate(model["watch"])]
    simulation = Simulation([*blocks.values(), scope], lines, dt=0.01, dt_max=model["stop"] / 50, Solver=RKDP54,
                            tolerance_lte_rel=TOLERANCE, tolerance_lte_abs=TOLERANCE / 1000, log=False)
    is_sampled = any(kind == "delay" for kind, _, _ in model["blocks"].values())
    simulation.run(model["stop"] + (0.5 if is_sampled else 0))
    return [float(row[-1]) for row in scope.read()[1]]


def run_bdsim(model: Mapping[str, Any]) -> list[float]:
    """The last values of the watched blocks."""
    bd = _BDSIM.blockdiagram()
    makers: dict[str, Callable[[Any], Any]] = {
        "constant": bd.CONSTANT, "gain": bd.GAIN, "sum": bd.SUM, "product": lambda _: bd.PROD("**"),
        "integrator": lambda x0: bd.INTEGRATOR(x0=x0), "sine": lambda w: bd.FUNCTION(lambda t: math.sin(w * t)),
        "function": lambda name: bd.FUNCTION(lambda u: FUNCTIONS[name](u)),
        "saturation": lambda limit: bd.CLIP(-limit, limit)}
    blocks = {name: makers[kind](value) for name, (kind, value, _) in model["blocks"].items()}
    for name, (kind, _, inputs) in model["blocks"].items():
        for port, source in enumerate(inputs):
            bd.connect(blocks[source], blocks[name][port])
        if kind == "sine":
            bd.connect(bd.TIME(), blocks[name])
    bd.compile(verbose=False)
    watch = [blocks[name] for name in model["watch"]]
    found = _BDSIM.run(bd, T=model["stop"], max_step=model["stop"] / 50, watch=watch,
                       solver_args={"rtol": TOLERANCE, "atol": TOLERANCE / 1000})
    last = found.y[-1] if len(watch) > 1 or numpy.ndim(found.y[-1]) else [found.y[-1]]
    return [float(value) for value in numpy.ravel(last)]


def respond(system: list[Any], is_sampled: bool, grid: float, count: int) -> list[float]:
    """The step response at so many times, `grid` seconds from each other."""
    import control

    def build(how: str, *parts: Any) -> Any:
        if how in ("series", "parallel", "feedback"):
            first, second = (build(*part) for part in parts)
            return (control.series(first, second) if how == "series" else
                    control.parallel(first, second) if how == "parallel" else control.feedback(first, second))
        dt = grid if is_sampled else 0
        if how == "ss":
            return control.ss(*parts, dt)
        if how == "zp":
            zeros, poles = ([complex(*one) for one in row] for row in parts[:2])
            parts = (parts[2] * numpy.atleast_1d(numpy.poly(zeros)).real, numpy.atleast_1d(numpy.poly(poles)).real)
        above, below = numpy.array(parts[0]), numpy.array(parts[1])
        size = len(below) - 1
        above = numpy.concatenate([numpy.zeros(size + 1 - len(above)), above]) / below[0]
        below = below / below[0]
        a = numpy.eye(size, k=-1)
        a[0] = -below[1:]
        return control.ss(a, numpy.eye(size)[:, :1], (above[1:] - above[0] * below[1:]).reshape(1, -1),
                          [[above[0]]], dt)

    times = numpy.arange(count) * grid
    return [float(one) for one in control.step_response(build(*system), times).outputs]


def measure(run: Callable[[Mapping[str, Any]], list[float]], model: Mapping[str, Any],
            count: int = TIMES) -> dict[str, Any]:
    """Seconds and values, or the error."""
    seconds, values = math.inf, list[float]()
    try:
        for _ in range(count):
            begin = time.perf_counter()
            values = run(model)
            seconds = min(seconds, time.perf_counter() - begin)
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is its answer
        return {"error": f"{type(error).__name__}: {error}"[:200]}
    return {"seconds": seconds, "values": values}


def answer(job: Mapping[str, Any]) -> Any:
    """What is asked for."""
    if job["do"] == "respond":
        return respond(job["system"], job["is_sampled"], job["grid"], job["count"])
    count = TIMES if job["do"] == "time" else 1
    return {"pathsim": measure(run_pathsim, job["model"], count), "bdsim": measure(run_bdsim, job["model"], count)}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    given = json.load(sys.stdin)
    with contextlib.redirect_stdout(io.StringIO()):
        from bdsim import BDSim

        _BDSIM = BDSim(sysargs=False, graphics=False, progress=False, animation=False, verbose=False, quiet=True)
        results = [answer(job) for job in given]
    print(json.dumps(results))
