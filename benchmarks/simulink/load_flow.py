"""Load flows of random grids beside pandapower.

    python -m benchmarks.simulink.load_flow

PANDAPOWER_PYTHON in the environment is an interpreter with pandapower; without it, pip installs it into a temporary
one. Grids of 2 to 30 buses with rings, constant impedances, a swing source, and PV and PQ sources. Writes
benchmarks/results/simulink_load_flow.json.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, markdown_table, marks
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire
from chatdev.departments.simulink.simulation.kernel import SimulationFailed
from chatdev.departments.simulink.simulation.load_flow import solve_load_flow

PEER, COUNT, RATED = "pandapower==3.5.6", 100, 1e4
Grid = dict[str, Any]


def random_grid(seed: int) -> Grid:
    """A connected grid with rings."""
    draw = random.Random(seed)
    count = draw.randint(2, 30)
    pairs = [(draw.randrange(to), to) for to in range(1, count)]
    pairs += [(one, other) for one, other in (draw.sample(range(count), 2) for _ in range(count // 4))]
    lines = [(one, other, {"length": draw.uniform(1, 15), "R": draw.uniform(0.02, 0.4), "L": draw.uniform(0.6, 1.5),
                           "M": 0.1, "Rm": draw.choice([0.0, 0.01]), "Cl": draw.uniform(0, 0.1), "Cg": draw.uniform(
                               0, 0.1)}) for one, other in pairs]
    kinds = {0: "Swing"} | {bus: draw.choice(["PV", "PQ"]) for bus in draw.sample(range(1, count), count // 3)}
    sources = [(bus, kind, {"Vpu": draw.uniform(0.98, 1.03), "phase": 0.0 if kind != "Swing" else draw.uniform(-20, 20),
                            "P": draw.uniform(-1e5, 2e5), "Q": draw.uniform(-5e4, 5e4)}) for bus, kind in kinds.items()]
    loads = [(bus, draw.uniform(0, 3e5), draw.uniform(-5e4, 1e5)) for bus in range(count) if draw.random() < 0.7]
    return {"buses": count, "rated": RATED, "frequency": draw.choice([50.0, 60.0]), "lines": lines, "loads": loads,
            "sources": sources}


def to_diagram(grid: Grid) -> Diagram:
    """The grid as a model."""
    blocks = {f"B{bus}": DiagramBlock("Busbar", {"n_nodes": "4"}) for bus in range(grid["buses"])}
    wires, both = [], {"VRated": repr(grid["rated"]), "FRated": repr(grid["frequency"])}
    for number, (one, other, line) in enumerate(grid["lines"]):
        blocks[f"L{number}"] = DiagramBlock("Transmission Line (Three-Phase)", {k: repr(v) for k, v in line.items()})
        wires += [f"B{one}/RConn1 -- L{number}/LConn1", f"L{number}/RConn1 -- B{other}/LConn1"]
    for bus, active, reactive in grid["loads"]:
        parameters = {**both, "P": repr(active), "Qpos" if reactive > 0 else "Qneg": repr(abs(reactive))}
        blocks[f"Z{bus}"] = DiagramBlock("Wye-Connected Load", parameters)
        wires.append(f"B{bus}/LConn2 -- Z{bus}/LConn1")
    for bus, kind, source in grid["sources"]:
        blocks[f"S{bus}"] = DiagramBlock("Load Flow Source", {**both, "source_type": kind, **{
            name: repr(value) for name, value in source.items()}})
        wires.append(f"B{bus}/RConn2 -- S{bus}/LConn1")
    return Diagram("grid", blocks, tuple(map(Wire.read, wires)))


def _ask_peer(grids: list[Grid]) -> Any:
    python = os.environ.get("PANDAPOWER_PYTHON", "")
    with tempfile.TemporaryDirectory() as folder:
        if not python:
            venv.create(folder, with_pip=True)
            python = str(Path(folder) / "bin" / "python")
            subprocess.run([python, "-m", "pip", "install", "-q", PEER], check=True)
        script = Path(__file__).with_name("load_flow_peer.py")
        done = subprocess.run([python, str(script)], input=json.dumps(grids), capture_output=True, text=True,
                              check=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure() -> dict[str, Any]:
    """How far both are apart, and what only one could solve."""
    grids = [random_grid(seed) for seed in range(COUNT)]
    found = {"grids": COUNT, "buses": sum(grid["buses"] for grid in grids), "same": 0, "ours only": 0, "peer only": 0,
             "neither": 0, "rounds": 0, "magnitude (pu)": 0.0, "angle (deg)": 0.0}
    for grid, theirs in zip(grids, _ask_peer(grids), strict=True):
        try:
            flow = solve_load_flow(to_diagram(grid))
        except SimulationFailed:
            found["neither" if isinstance(theirs, str) else "peer only"] += 1
            continue
        if isinstance(theirs, str):
            found["ours only"] += 1
            continue
        rows = [flow.of(f"B{bus}") for bus in range(grid["buses"])]
        size = max(abs(row.per_unit - magnitude) for row, (magnitude, _) in zip(rows, theirs, strict=True))
        turn = max(abs(math.remainder(row.angle - angle, 360)) for row, (_, angle) in zip(rows, theirs, strict=True))
        found["same"] += int(size < 1e-6 and turn < 1e-4)
        found |= {"rounds": max(found["rounds"], flow.rounds), "magnitude (pu)": max(found["magnitude (pu)"], size),
                  "angle (deg)": max(found["angle (deg)"], turn)}
    return found


def table(study: Mapping[str, Any]) -> str:
    """The counts, and the greatest differences."""
    figures = [f"{value:.0e}" if isinstance(value, float) else value for value in study.values()]
    return markdown_table([*study], [figures]) + f"\n\nBeside {PEER}; the differences are the greatest of all buses."


STUDY = KeptStudy(table, RESULTS_FOLDER / "simulink_load_flow.json", DOCS / "simulink.md",
                  marks("load_flow", "simulink.load_flow"), measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
