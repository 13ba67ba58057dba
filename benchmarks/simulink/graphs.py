"""Do random block graphs simulate the same here, in pathsim and in bdsim?

    python -m benchmarks.simulink.graphs [--resume | --write]

Seeded graphs of at most 40 blocks: continuous ones, with algebraic loops, with kinks, sampled ones, and with vectors.
The last values of all their states are compared, of sampled graphs every value with difference equations that are
evaluated directly (`evaluate`). Where a peer differs, our value is right when a run of ours with a tolerance a
thousand times smaller agrees with it, or the difference equations do. PEERS_PYTHON: see simulation.py. Writes
benchmarks/results/simulink_graphs.json.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.simulink.simulation import Block, Model, ask_peers, to_diagram
from benchmarks.study import DOCS, RESULTS_FOLDER, PartStudy, markdown_table, marks
from chatdev.departments.simulink.diagram import Diagram, Wire
from chatdev.departments.simulink.simulation.solve import Options, simulate

GRAPHS, MOST_BLOCKS, STOP, TICKS = 30, 40, 3.0, 5
TOLERANCE = 1e-4
KINDS = ("continuous", "algebraic", "switching", "sampled", "vectors")
REASONS = {
    ("algebraic", "bdsim", "error"): "it refuses every algebraic loop",
    ("sampled", "pathsim", "differs"): "the difference equations agree with ours; its delays in loops are known to be "
                                       "late (findings/), the four were not looked at one by one",
    ("sampled", "bdsim", "error"): "not asked: it has no unit delay",
    ("vectors", "pathsim", "error"): "its ports are scalars",
}
"""What a disagreement comes from, by kind of graph, tool and outcome."""


def random_graph(kind: str, seed: int) -> Model:
    """A graph whose integrators leak, so that it stays bounded; all products are of bounded signals."""
    rng, blocks = random.Random(f"{kind} {seed}"), dict[str, Block]()
    count = rng.randint(2, 6)
    states = [f"x{number}" for number in range(count)]
    sources: dict[str, Block] = {"u": ("sine", rng.uniform(0.5, 3), []), "c": ("constant", rng.uniform(-1, 1), [])}
    blocks |= sources
    known = [*states, *sources]
    while len(blocks) < MOST_BLOCKS - 3 * count - 5 and rng.random() < 0.93:
        name = f"b{len(blocks)}"
        what = rng.choice(["gain", "sum", "sin", "tanh", "product", *(
            ["saturation", "abs"] if kind == "switching" else [])])
        ends = [rng.choice(known) for _ in range(2 if what in ("sum", "product") else 1)]
        if what == "product":  # of what is bounded
            blocks[f"{name}a"], blocks[f"{name}b"] = (("function", "sin", [end]) for end in ends)
            ends = [f"{name}a", f"{name}b"]
        blocks[name] = {"gain": ("gain", rng.uniform(-0.9, 0.9), ends), "sum": ("sum", rng.choice(["+-", "++"]), ends),
                        "product": ("product", None, ends), "saturation": ("saturation", 0.4, ends)}.get(
                            what, ("function", what, ends))
        known.append(name)
    if kind == "algebraic":
        blocks |= {"l": ("sum", "++", [rng.choice(known), "lg"]), "lf": ("function", "tanh", ["l"]),
                   "lg": ("gain", rng.uniform(-0.8, 0.8), ["lf"])}
        known += ["l", "lf"]
    for number, state in enumerate(states):
        blocks |= {f"f{number}": ("function", "tanh", [rng.choice(known)]),
                   f"d{number}": ("sum", "+-", [f"f{number}", state]),
                   state: ("integrator", rng.uniform(-1, 1), [f"d{number}"])}
    return {"stop": STOP, "watch": states, "blocks": blocks}


def vector_graph(seed: int) -> Model:
    """Vectors of three elements: gains by element, sums, functions, and a state with a leak."""
    rng, blocks = random.Random(f"vectors {seed}"), dict[str, Block]()

    def vector() -> list[float]:
        return [round(rng.uniform(-1, 1), 3) for _ in range(3)]

    blocks |= {"c": ("constant", vector(), []), "k": ("constant", vector(), [])}
    known = ["c", "k", "x"]
    for number in range(rng.randint(3, 20)):
        what = rng.choice(["gain", "sum", "sin", "tanh"])
        ends = [rng.choice(known) for _ in range(2 if what == "sum" else 1)]
        blocks[f"b{number}"] = {"gain": ("gain", rng.uniform(-0.9, 0.9), ends), "sum": ("sum", "+-", ends)}.get(
            what, ("function", what, ends))
        known.append(f"b{number}")
    blocks |= {"f": ("function", "tanh", [rng.choice(known)]), "d": ("sum", "+-", ["f", "x"]),
               "x": ("integrator", vector(), ["d"])}
    return {"stop": STOP, "watch": ["x"], "blocks": blocks}


def sampled_graph(seed: int) -> Model:
    """Unit delays of one second among gains, sums, functions and limits, with loops over the delays."""
    rng = random.Random(f"sampled {seed}")
    count = rng.randint(1, 6)
    delays = [f"z{number}" for number in range(count)]
    blocks: dict[str, Block] = {"c": ("constant", 1.0, [])}
    known = [*delays, "c"]
    for number in range(rng.randint(1, MOST_BLOCKS - count - 1)):
        what = rng.choice(["gain", "sum", "saturation", "sin"])
        ends = [rng.choice(known) for _ in range(2 if what == "sum" else 1)]
        blocks[f"b{number}"] = {"gain": ("gain", rng.choice([-0.5, 0.5, 0.9]), ends), "sum": ("sum", "+-", ends),
                                "saturation": ("saturation", 0.7, ends)}.get(what, ("function", what, ends))
        known.append(f"b{number}")
    blocks |= {delay: ("delay", 0.0, [rng.choice(known)]) for delay in delays}
    return {"stop": float(TICKS), "watch": delays, "blocks": blocks}


def evaluate(model: Model) -> list[float]:
    """The watched delays in the last period, by the difference equations: all outputs, then all delays."""
    blocks = model["blocks"]
    held = {name: value for name, (kind, value, _) in blocks.items() if kind == "delay"}

    def value_of(name: str, known: dict[str, float]) -> float:
        kind, value, ends = blocks[name]
        if kind in ("delay", "constant"):
            return float(held[name] if kind == "delay" else value)
        for end in ends:
            if end not in known:
                known[end] = value_of(end, known)
        given = [known[end] for end in ends]
        forms: dict[str, Callable[[], float]] = {
            "gain": lambda: value * given[0], "sum": lambda: given[0] + (-1 if value == "+-" else 1) * given[-1],
            "saturation": lambda: min(max(given[0], -value), value), "function": lambda: math.sin(given[0])}
        return forms[kind]()

    for _ in range(round(model["stop"])):
        known: dict[str, float] = {}
        held = {name: value_of(blocks[name][2][0], known) for name in held}
    return [held[name] for name in model["watch"]]


def ours(model: Model, relative: float = 1e-7) -> list[float]:
    """Our last values."""
    found = simulate(to_diagram(model), Options(stop=model["stop"], relative=relative, absolute=relative / 1000))
    return [float(one) for one in found.values[-1]]


def shuffled(diagram: Diagram, rng: random.Random) -> Diagram:
    """The same model with other names, and blocks and lines in another order; its columns keep their order."""
    blocks, wires = [*diagram.blocks.items()], [*diagram.wires]
    rng.shuffle(blocks)
    rng.shuffle(wires)
    new = {name: f"n{number}" for number, (name, _) in enumerate(blocks)}
    return replace(diagram, blocks={new[name]: block for name, block in blocks}, wires=tuple(
        Wire(*(end._replace(block=new[end.block]) for end in wire)) for wire in wires))


def judge(expected: list[float], answer: Mapping[str, Any]) -> str:
    """Whether a peer's last values are the expected ones: same, differs or error."""
    if "error" in answer:
        return "error"
    pairs = zip(expected, answer["values"], strict=True)
    return "same" if all(abs(a - b) <= TOLERANCE * max(1, abs(a)) for a, b in pairs) else "differs"


def graphs(kind: str) -> list[Model]:
    """All graphs of a kind."""
    make = {"vectors": vector_graph, "sampled": sampled_graph}.get(kind, partial(random_graph, kind))
    return [make(seed) for seed in range(GRAPHS)]


def measure_kind(kind: str) -> dict[str, Any]:
    """How many graphs are the same in each simulator, against a finer run of ours or the difference equations."""
    models = graphs(kind)
    expected = [evaluate(model) if kind == "sampled" else ours(model, 1e-10) for model in models]
    found = {"ours": Counter(judge(right, {"values": ours(model)})
                             for model, right in zip(models, expected, strict=True))}
    rng = random.Random(kind)
    found["ours, shuffled and renamed"] = Counter(judge(right, {"values": [*simulate(
        shuffled(to_diagram(model), rng), Options(stop=model["stop"], relative=1e-7, absolute=1e-10)).values[-1]]})
        for model, right in zip(models, expected, strict=True))
    said = ask_peers([{"do": "run", "model": model} for model in models])
    errors: dict[str, str] = {}
    for peer in ("pathsim", "bdsim"):
        found[peer] = Counter(judge(right, answer[peer]) for answer, right in zip(said, expected, strict=True))
        errors[peer] = next((answer[peer]["error"] for answer in said if "error" in answer[peer]), "")
    return {"blocks": max(len(model["blocks"]) for model in models), "errors": errors,
            "outcomes": {name: dict(row) for name, row in found.items()}}


def tables(study: Mapping[str, Any]) -> str:
    """Graphs that are the same by simulator, and what each disagreement comes from."""
    kinds = [kind for kind in KINDS if kind in study]
    names = ["ours", "ours, shuffled and renamed", "pathsim", "bdsim"]
    rows = [[kind, GRAPHS, study[kind]["blocks"], *(study[kind]["outcomes"][name].get("same", 0) for name in names)]
            for kind in kinds]
    others = [[kind, peer, f"{outcome} ({number})",
               study[kind]["errors"].get(peer, "").split("\n")[0][:70]
               if outcome == "error" and not REASONS.get((kind, peer, outcome), "").startswith("not asked") else "–",
               REASONS.get((kind, peer, outcome), "")]
              for kind in kinds for peer in ("pathsim", "bdsim")
              for outcome, number in sorted(study[kind]["outcomes"][peer].items()) if outcome != "same"]
    return "\n\n".join([
        markdown_table(["graphs", "number", "most blocks", *names], rows),
        markdown_table(["graphs", "tool", "outcome (graphs)", "it says", "why"], others)])


STUDY = PartStudy(tables, RESULTS_FOLDER / "simulink_graphs.json", DOCS / "simulink.md",
                  marks("graphs", "simulink.graphs"), {kind: partial(measure_kind, kind) for kind in KINDS})

if __name__ == "__main__":
    STUDY.main(__doc__)
