"""Whether models come back from scripts, programs and lists, units of FMI simulate as their models do, and long runs
take no more memory.

    python -m benchmarks.simulink.exchange

The reference models, and NESTED random ones with systems in each other and names that files must escape. A unit is run
by fmpy to `STOP` seconds (electrical ones to a hundredth), and held against a run of the model in one piece; the
deviation is the greatest of the last values, against each signal's greatest. Memory: that of a process of its own which
logs so many samples (its own peak: getrusage would count what its parent had). Writes
benchmarks/results/simulink_exchange.json.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.files import ModelFile, read_model, write_model
from chatdev.departments.simulink.files.functional_unit import Unit, write_unit
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.departments.simulink.simulation.kernel import ModelFault, SimulationFailed
from chatdev.departments.simulink.simulation.solve import simulate

NESTED, STOP, ELECTRICAL = 200, 5.0, 0.05
FORMS, VERSIONS = (".m", ".py", ".json"), ("2.0", "3.0")
PROGRAMS = 20  # of the nested ones, as each program runs in the sandbox twice
SAMPLES = (100_000, 1_000_000, 10_000_000)
ODD = ("it's", 'a "b"', "a/b", "two\nlines", "Größe", "𝛼 %d", "a -> b", "[x;y]", "x...", "%{", "über\tTab", "#1: {a}")
"""Names that files have to escape."""
_LOG = r"""
import json, re, sys, time
from pathlib import Path
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.simulation.solve import Options, simulate
model = Diagram.parse('''
model: long
blocks:
  Sine: {type: Sine Wave, parameters: {SampleTime: "0.001"}}
  Store: {type: Unit Delay, parameters: {SampleTime: "0.001"}}
  Scope: {type: Scope, parameters: {NumInputPorts: "2"}}
lines: [Sine/1 -> Store/1, Sine/1 -> Scope/1, Store/1 -> Scope/2]
''', 'long')
begin = time.monotonic()
found = simulate(model, Options(stop=(int(sys.argv[1]) - 1) * 0.001))
print(json.dumps({'samples': found.steps, 'kept': len(found.times), 'seconds': time.monotonic() - begin,
                  'megabytes': int(re.search(r'VmHWM:\s+(\d+)', Path('/proc/self/status').read_text())[1]) / 1024}))
"""


def nested(seed: int, level: int = 0) -> Diagram:
    """A random model of up to four levels: gains, integrators and subsystems, some enabled, some with places."""
    chosen = random.Random(seed)
    blocks: dict[str, DiagramBlock] = {"u": DiagramBlock("In1"), "y": DiagramBlock("Out1")}
    if level and chosen.random() < 0.3:
        blocks["Enable"] = DiagramBlock("Enable")
    sources, wires = [End("u", "1")], list[Wire]()
    for number in range(chosen.randint(1, 5)):
        name = f"{chosen.choice(ODD)} {number}"
        left = 40 + 90 * number
        position = (left, 30, left + 40, 60) if chosen.random() < 0.5 else None
        if level < 3 and chosen.random() < 0.35:
            inside = replace(nested(chosen.randrange(10**9), level + 1), settings={})
            kind = "Enabled Subsystem" if "Enable" in inside.blocks else "Subsystem"
            blocks[name] = DiagramBlock(kind, {}, position, inside)
            wires += [Wire(chosen.choice(sources), End(name, "enable"))] if kind != "Subsystem" else []
        else:
            kind, values = chosen.choice([("Gain", {"Gain": "[1 2; 3 'x'']"}), ("Integrator", {}), ("Abs", {}),
                                          ("Gain", {"Gain": "K*2"})])
            blocks[name] = DiagramBlock(kind, values, position)
        wires.append(Wire(chosen.choice(sources), End(name, "1")))
        sources.append(End(name, "1"))
    wires.append(Wire(sources[-1], End("y", "1")))
    variables = {"K": "2*pi"} if chosen.random() < 0.5 else {}
    return Diagram("nested", blocks, tuple(wires), settings={"StopTime": "20", "Solver": "ode23"}, variables=variables,
                   about="" if level else 'What it\'s for:\n"everything"')


def same(one: Diagram, other: Diagram, placed: bool = True) -> bool:
    """Whether two models are equal but for the order of lines, and places where they need not be `placed`."""
    return _plain(one, placed) == _plain(other, placed)


def is_placed(model: Diagram) -> bool:
    """Whether some block has a place; then programs give all of them one."""
    return any(block.position or (block.system and is_placed(block.system)) for block in model.blocks.values())


def _plain(model: Diagram, placed: bool) -> tuple[object, ...]:
    blocks = {name: (block.type, dict(block.parameters), block.position if placed else None,
                     _plain(block.system, placed) if block.system else None) for name, block in model.blocks.items()}
    signals = sorted(wire for wire in model.wires if not wire.is_physical)
    return (model.name, model.about, dict(model.settings), dict(model.variables), blocks, signals,
            sorted(map(sorted, model.nets())))


def come_back(folder: Path) -> dict[str, dict[str, int]]:
    """How many models of each set come back as they were, by form."""
    found: dict[str, dict[str, int]] = {}
    for form in FORMS:
        sets = {"reference": [one.diagram for one in reference_models().values()],
                "nested": [nested(seed) for seed in range(PROGRAMS if form == ".py" else NESTED)]}
        for name, models in sets.items():
            counts = Counter[str]()
            for model in models:
                path = folder / f"model{form}"
                write_model(ModelFile(model), path)
                counts["back"] += same(read_model(path).diagram, model, form == ".json" or not is_placed(model))
            found[f"{form} {name}"] = {"models": len(models), **counts}
    return found


def run_units(folder: Path) -> dict[str, Any]:
    """Each reference model as a unit of both versions: how far its last values are from the model's own."""
    import fmpy
    from fmpy.validation import validate_fmu

    rows: dict[str, Any] = {}
    for name, reference in reference_models().items():
        stop = ELECTRICAL if reference.domain == "electrical" else STOP
        model = replace(reference.diagram, settings={"StopTime": f"{stop}", "RelTol": "1e-6",
                                                     "MaxStep": f"{stop / 1000}"})
        try:
            unit, whole = Unit(model), simulate(model)
        except (ModelFault, SimulationFailed) as error:
            rows[name] = {"refused": str(error)[:60]}
            continue
        rows[name] = {}
        for version in VERSIONS:
            path = folder / f"{name}.fmu"
            write_unit(model, path, version)
            begin = time.monotonic()
            found = fmpy.simulate_fmu(str(path), output_interval=stop / 100)
            scales = numpy.abs(whole.values).max(axis=0) + 1e-9
            deviation = max(abs(found[output][-1] - whole.values[-1][column]) / scales[column]
                            for output, column in unit.columns.items())
            rows[name][version] = {"deviation": float(deviation), "faults": len(validate_fmu(str(path))),
                                   "seconds": time.monotonic() - begin}
    return rows


def measure() -> dict[str, Any]:
    """All of it."""
    with tempfile.TemporaryDirectory() as name:
        back, units = come_back(Path(name)), run_units(Path(name))
    logs = [json.loads(subprocess.run([sys.executable, "-c", _LOG, str(samples)], check=True, capture_output=True,
                                      text=True).stdout) for samples in SAMPLES]
    return {"machine": machine(), "back": back, "units": units, "logs": logs}


def tables(study: Mapping[str, Any]) -> str:
    """How many came back, how far units are off, and how much memory long runs take."""
    back = [[*name.split(), row["models"], row.get("back", 0)] for name, row in study["back"].items()]
    run = {name: row for name, row in study["units"].items() if "refused" not in row}
    units = []
    for version in VERSIONS:
        worst = max(run, key=lambda name: run[name][version]["deviation"])
        units.append([version, len(run), sum(row[version]["faults"] for row in run.values()),
                      sum(row[version]["deviation"] < 1e-4 for row in run.values()),
                      f"{run[worst][version]['deviation']:.0e} ({worst})"])
    refused = ", ".join(name for name, row in study["units"].items() if "refused" in row)
    logs = [[f"{row['samples']:,}", f"{row['kept']:,}", f"{row['megabytes']:.0f}", f"{row['seconds']:.1f}"]
            for row in study["logs"]]
    return "\n\n".join([
        markdown_table(["form", "models", "how many", "come back as they were"], back),
        markdown_table(["FMI", "units", "faults that fmpy's validation finds", "within 1e-4 of the model's own run",
                        "farthest"], units),
        f"Not simulated as they are, and so no units: {refused}.",
        markdown_table(["samples logged, of 2 signals", "kept", "memory (MB)", "seconds"], logs),
        f"Machine: {study['machine']}."])


STUDY = KeptStudy(tables, RESULTS_FOLDER / "simulink_exchange.json", DOCS / "simulink.md",
                  marks("exchange", "simulink.exchange"), measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
