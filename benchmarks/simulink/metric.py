"""Whether the metric sees what is wrong with a model, and gives no less than what is right with it.

    python -m benchmarks.simulink.metric

On the open models of `chatdev eval simulink`. `faults`: of each kind of `mutants`, how many mutants there are, how many
have an F1 below 1, and the mean accuracy. `left`: models from which one to four blocks or connections are taken, with
their names, and with other names in another order; how many score below what the right match gives (which is not told
to the metric), and by how much at worst. Writes benchmarks/results/simulink_metric.json.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from benchmarks.simulink.mutants import mutants
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from chatdev.departments.simulink.checks import read_investigation
from chatdev.departments.simulink.diagram import Diagram, End, Wire
from chatdev.departments.simulink.metric import compare, count_connections
from chatdev.departments.simulink.reference_models import reference_models

_TAKEN, _EACH = 4, 5
OPEN = {name: model.diagram for name, model in reference_models().items() if model.half == "open"}


def faults() -> dict[str, dict[str, float]]:
    """What the metric says of mutants, by kind."""
    found: dict[str, list[Any]] = {}
    for model in OPEN.values():
        for kind, _, mutant in mutants(model):
            found.setdefault(kind, []).append(compare(model, read_investigation(mutant).model))
    return {kind: {"mutants": len(all_), "seen": sum(one.f1 < 1 for one in all_),
                   "accuracy": round(statistics.fmean(one.accuracy for one in all_), 3)}
            for kind, all_ in found.items()}


def left(draw: random.Random) -> dict[str, dict[str, float]]:
    """How models of which something is left are found again."""
    short: dict[str, list[float]] = {"with their names": [], "with other names": []}
    for model in OPEN.values():
        for part in _parts(model, draw):
            right = (len(part.blocks) / len(model.blocks) + count_connections(part) / count_connections(model)) / 2
            for how, made in zip(short, (part, disguise(part, draw)), strict=True):
                short[how].append(right - compare(model, made).accuracy)
    return {how: {"models": len(all_), "below": sum(one > 1e-9 for one in all_), "worst": round(max(all_), 3)}
            for how, all_ in short.items()}


def _parts(model: Diagram, draw: random.Random) -> Iterator[Diagram]:
    """What is left of a model when one to four of its blocks or connections are taken."""
    for count in range(1, _TAKEN + 1):
        for _ in range(_EACH):
            part = model
            for _ in range(count):
                part = _without_block(part, draw.choice(list(part.blocks))) if draw.random() < 0.5 else replace(
                    part, wires=tuple(draw.sample(part.wires, max(len(part.wires) - 1, 0))))
            yield part


def _without_block(model: Diagram, name: str) -> Diagram:
    """The model without a block; the nets that it was in stay whole."""
    wires = [wire for wire in model.wires
             if not wire.is_physical and name not in (wire.source.block, wire.target.block)]
    for net in model.nets():
        others = sorted(end for end in net if end.block != name)
        wires += [Wire(others[0], other) for other in others[1:]]
    return replace(model, blocks={other: block for other, block in model.blocks.items() if other != name},
                   wires=tuple(wires))


def disguise(model: Diagram, draw: random.Random) -> Diagram:
    """The same model with other names, in another order, its nets joined by other lines."""
    names = draw.sample([f"Block{number}" for number in range(len(model.blocks))], len(model.blocks))
    called = dict(zip(model.blocks, names, strict=True))
    wires = [wire for wire in model.wires if not wire.is_physical]
    for net in model.nets():
        ends = draw.sample(sorted(net), len(net))
        wires += [Wire(draw.choice(ends[:number]), end) for number, end in enumerate(ends) if number]
    wires = [Wire(*(End(called[end.block], end.port) for end in wire)) for wire in wires]
    return Diagram("model", {called[name]: block for name, block in draw.sample(
        list(model.blocks.items()), len(model.blocks))}, tuple(draw.sample(wires, len(wires))))


def measure() -> dict[str, Any]:
    """Every fault in every open model, and what is left of models."""
    return {"machine": machine(), "models": len(OPEN), "faults": faults(), "left": left(random.Random(0))}


def tables(study: Mapping[str, Any]) -> str:
    """What the metric sees of faults, and of what is left."""
    return "\n\n".join([
        markdown_table(["fault", "mutants", "seen", "accuracy"],
                       [(kind, *map(str, row.values())) for kind, row in study["faults"].items()]),
        markdown_table(["what is left of a model", "models", "below the right match", "by at most"],
                       [(how, *map(str, row.values())) for how, row in study["left"].items()])])


STUDY = KeptStudy(tables, RESULTS_FOLDER / "simulink_metric.json", DOCS / "simulink.md",
                  marks("metric", "simulink.metric"), measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
