"""How fast models are simulated: a thousand sampled blocks, and ten continuous models beside pathsim and bdsim.

    python -m benchmarks.simulink.simulation

PEERS_PYTHON in the environment is an interpreter with pathsim and bdsim; without it, pip installs them into a temporary
one. Seconds are the least of three, building the model included and imports apart; relative tolerance 1e-6, explicit
pairs of order 5(4), steps of at most a fiftieth of the time. The error is that of the watched values at the end,
against a run of ours with the tolerance 1e-11. Writes benchmarks/results/simulink_simulation.json.
"""

from __future__ import annotations

import json
import math
import os
import random
import statistics
import subprocess
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.simulation.solve import Options, simulate

PEERS = ("pathsim==0.27.1", "bdsim==1.4.0", "control==0.10.2")
BLOCKS, STEPS, TIMES, EXACT = 1000, 10_000, 3, 1e-11
Model = dict[str, Any]
Block = tuple[str, Any, list[str]]
"""Kind, value and inputs."""


def _chain(count: int) -> dict[str, Block]:
    """First-order lags in a row."""
    blocks: dict[str, Block] = {"x0": ("constant", 1.0, [])}
    for number in range(1, count + 1):
        blocks[f"e{number}"] = ("sum", "+-", [f"x{number - 1}", f"x{number}"])
        blocks[f"g{number}"] = ("gain", 2.0 + number / count, [f"e{number}"])
        blocks[f"x{number}"] = ("integrator", 0.0, [f"g{number}"])
    return blocks


def _masses(count: int) -> dict[str, Block]:
    """Masses on springs in a row, of which the first is pulled aside."""
    blocks: dict[str, Block] = {"x0": ("constant", 0.0, []), f"x{count + 1}": ("constant", 0.0, [])}
    for n in range(1, count + 1):
        blocks |= {f"l{n}": ("sum", "+-", [f"x{n - 1}", f"x{n}"]), f"r{n}": ("sum", "+-", [f"x{n + 1}", f"x{n}"]),
                   f"f{n}": ("sum", "++-", [f"l{n}", f"r{n}", f"d{n}"]), f"d{n}": ("gain", 0.1, [f"v{n}"]),
                   f"k{n}": ("gain", 4.0, [f"f{n}"]), f"v{n}": ("integrator", 0.0, [f"k{n}"]),
                   f"x{n}": ("integrator", 1.0 if n == 1 else 0.0, [f"v{n}"])}
    return blocks


MODELS: dict[str, Model] = {
    "oscillator": {"stop": 10.0, "watch": ["x"], "blocks": {
        "x": ("integrator", 1.0, ["v"]), "v": ("integrator", 0.0, ["a"]), "a": ("sum", "--", ["kx", "dv"]),
        "kx": ("gain", 4.0, ["x"]), "dv": ("gain", 0.5, ["v"])}},
    "pendulum": {"stop": 10.0, "watch": ["x"], "blocks": {
        "x": ("integrator", 2.0, ["v"]), "v": ("integrator", 0.0, ["a"]), "s": ("function", "sin", ["x"]),
        "a": ("gain", -9.81, ["s"])}},
    "van der Pol": {"stop": 20.0, "watch": ["x", "v"], "blocks": {
        "x": ("integrator", 2.0, ["v"]), "v": ("integrator", 0.0, ["a"]), "q": ("function", "square", ["x"]),
        "one": ("constant", 1.0, []), "m": ("sum", "+-", ["one", "q"]), "p": ("product", None, ["m", "v"]),
        "a": ("sum", "+-", ["p", "x"])}},
    "predator and prey": {"stop": 20.0, "watch": ["x", "y"], "blocks": {
        "x": ("integrator", 2.0, ["dx"]), "y": ("integrator", 1.0, ["dy"]), "p": ("product", None, ["x", "y"]),
        "dx": ("sum", "+-", ["x", "p"]), "dy": ("sum", "+-", ["p", "y"])}},
    "Lorenz": {"stop": 5.0, "watch": ["x", "y", "z"], "blocks": {
        "x": ("integrator", 1.0, ["s"]), "y": ("integrator", 1.0, ["dy"]), "z": ("integrator", 1.0, ["dz"]),
        "d": ("sum", "+-", ["y", "x"]), "s": ("gain", 10.0, ["d"]), "r": ("gain", 28.0, ["x"]),
        "xz": ("product", None, ["x", "z"]), "dy": ("sum", "+--", ["r", "xz", "y"]),
        "xy": ("product", None, ["x", "y"]), "b": ("gain", 8 / 3, ["z"]), "dz": ("sum", "+-", ["xy", "b"])}},
    "driven lag": {"stop": 20.0, "watch": ["x"], "blocks": {
        "u": ("sine", 3.0, []), "e": ("sum", "+-", ["u", "x"]), "x": ("integrator", 0.0, ["e"])}},
    "PI control": {"stop": 20.0, "watch": ["y"], "blocks": {
        "r": ("constant", 1.0, []), "e": ("sum", "+-", ["r", "y"]), "i": ("integrator", 0.0, ["ki"]),
        "ki": ("gain", 0.8, ["e"]), "kp": ("gain", 2.0, ["e"]), "u": ("sum", "++", ["kp", "i"]),
        "f": ("sum", "+--", ["u", "v2", "y"]), "v2": ("gain", 2.0, ["v"]), "v": ("integrator", 0.0, ["f"]),
        "y": ("integrator", 0.0, ["v"])}},
    "ten lags": {"stop": 10.0, "watch": ["x10"], "blocks": _chain(10)},
    "fifty lags": {"stop": 30.0, "watch": ["x50"], "blocks": _chain(50)},
    "ten masses": {"stop": 10.0, "watch": ["x1", "x10"], "blocks": _masses(10)}}


def to_diagram(model: Model) -> Diagram:
    """The model in our text form."""
    types = {"constant": ("Constant", "Value"), "gain": ("Gain", "Gain"), "sum": ("Sum", "Inputs"),
             "product": ("Product", ""), "integrator": ("Integrator", "InitialCondition"),
             "sine": ("Sine Wave", "Frequency"), "sin": ("Trigonometric Function", ""), "abs": ("Abs", ""),
             "tanh": ("Trigonometric Function", ""), "square": ("Math Function", ""), "saturation": ("Saturation", ""),
             "delay": ("Unit Delay", "InitialCondition")}
    blocks, wires = {}, []
    for name, (kind, value, inputs) in model["blocks"].items():
        block_type, parameter = types[value if kind == "function" else kind]
        own = {parameter: str(value)} if parameter else {"Operator": value} if kind == "function" else {}
        own = {"UpperLimit": str(value), "LowerLimit": str(-value)} if kind == "saturation" else own
        own |= {"SampleTime": "1"} if kind == "delay" else {}
        blocks[name] = DiagramBlock(block_type, own)
        wires += [Wire(End(source, "1"), End(name, str(port))) for port, source in enumerate(inputs, 1)]
    scope = {"Scope": DiagramBlock("Scope", {"NumInputPorts": str(len(model["watch"]))})}
    watched = [Wire(End(name, "1"), End("Scope", str(port))) for port, name in enumerate(model["watch"], 1)]
    return Diagram("m", blocks | scope, (*wires, *watched))


def sampled_model(seed: int = 1) -> Diagram:
    """A thousand blocks of one rate: gains, sums, limits and unit delays, with branches."""
    rng = random.Random(seed)
    blocks = {"b0": DiagramBlock("Sine Wave", {"SampleTime": "1", "Frequency": "0.1"})}
    wires = []
    for number in range(1, BLOCKS - 1):
        kind = rng.choice(["Gain", "Gain", "Sum", "Sum", "Unit Delay", "Saturation"])
        own = {"Gain": {"Gain": "0.9"}, "Sum": {"Inputs": "+-"}, "Unit Delay": {"SampleTime": "1"}}.get(kind, {})
        blocks[f"b{number}"] = DiagramBlock(kind, own)
        wires.append(Wire(End(f"b{number - 1}", "1"), End(f"b{number}", "1")))
        if kind == "Sum":
            wires.append(Wire(End(f"b{rng.randrange(max(0, number - 20), number)}", "1"), End(f"b{number}", "2")))
    wires.append(Wire(End(f"b{BLOCKS - 2}", "1"), End("Scope", "1")))
    return Diagram("sampled", blocks | {"Scope": DiagramBlock("Scope")}, tuple(wires))


def _least(model: Diagram, options: Options) -> tuple[float, list[float]]:
    seconds, values = math.inf, list[float]()
    for _ in range(TIMES):
        begin = time.perf_counter()
        found = simulate(model, options)
        seconds = min(seconds, time.perf_counter() - begin)
        values = found.values[-1].tolist()
    return seconds, values


def ask_peers(jobs: Sequence[Mapping[str, Any]]) -> list[Any]:
    """What the peers answer, job by job: see peers.py."""
    python, script = os.environ.get("PEERS_PYTHON", ""), Path(__file__).with_name("peers.py")
    with tempfile.TemporaryDirectory() as folder:
        if not python:
            venv.create(folder, with_pip=True)
            python = str(Path(folder) / "bin" / "python")
            subprocess.run([python, "-m", "pip", "install", "-q", *PEERS], check=True)
        done = subprocess.run([python, str(script)], input=json.dumps(jobs), capture_output=True, text=True, check=True)
    answers: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return answers


def measure() -> dict[str, Any]:
    """Seconds and errors of all models, side by side in one run."""
    said = ask_peers([{"do": "time", "model": model} for model in MODELS.values()])
    peers, rows = dict(zip(MODELS, said, strict=True)), dict[str, Any]()
    for name, model in MODELS.items():
        diagram = to_diagram(model)
        seconds, values = _least(diagram, Options(stop=model["stop"], relative=1e-6, absolute=1e-9))
        exact = simulate(diagram, Options(stop=model["stop"], relative=EXACT, absolute=EXACT)).values[-1].tolist()
        rows[name] = {"blocks": len(model["blocks"]), "ours": {"seconds": seconds, "error": _error(values, exact)}}
        for peer, found in peers[name].items():
            rows[name][peer] = found if "error" in found else {
                "seconds": found["seconds"], "error": _error(found["values"], exact)}
    begin = time.process_time()
    seconds, _ = _least(sampled_model(), Options(stop=STEPS - 1.0))
    return {"machine": machine(), "peers": PEERS, "models": rows,
            "sampled": {"blocks": BLOCKS, "steps": STEPS, "seconds": seconds,
                        "processor": (time.process_time() - begin) / TIMES}}


def _error(values: list[float], exact: list[float]) -> float:
    return max(abs(one - other) for one, other in zip(values, exact, strict=True))


def tables(study: Mapping[str, Any]) -> str:
    """Milliseconds and errors, and how many times as long the peers take."""
    rows, ratios = [], {peer: list[float]() for peer in ("pathsim", "bdsim")}
    for name, row in study["models"].items():
        line = [name, row["blocks"], f"{1000 * row['ours']['seconds']:.1f}", f"{row['ours']['error']:.0e}"]
        for peer, factors in ratios.items():
            if "seconds" not in row[peer]:
                line += ["–", row[peer]["error"][:40]]
                continue
            factors.append(row[peer]["seconds"] / row["ours"]["seconds"])
            line += [f"{1000 * row[peer]['seconds']:.0f} ({factors[-1]:.0f}×)", f"{row[peer]['error']:.0e}"]
        rows.append(line)
    medians = " and ".join(f"{statistics.median(factors):.0f} times as long as ours in {peer}"
                           for peer, factors in ratios.items() if factors)
    sampled = study["sampled"]
    return "\n\n".join([
        markdown_table(["model", "blocks", "ours (ms)", "error", "pathsim (ms)", "error", "bdsim (ms)", "error"], rows),
        f"In the median a model takes {medians} ({', '.join(study['peers'][:2])}). {sampled['blocks']:,} sampled "
        f"blocks × {sampled['steps']:,} steps: {sampled['seconds']:.2f} s, of which the processor works "
        f"{sampled['processor']:.2f} s. Machine: {study['machine']}."])


STUDY = KeptStudy(tables, RESULTS_FOLDER / "simulink_simulation.json", DOCS / "simulink.md",
                  marks("simulation", "simulink.simulation"), measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
