"""Models for tests of files: odd names, and systems within systems."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire

ODD = ("it's", 'a "b"', "a/b", "two\nlines", "Größe", "𝛼 %d", "a -> b", "[x;y]", "x...", "%{", "über\tTab", "#1: {a}")
"""Names that files have to escape."""


def nested(seed: int, level: int = 0) -> Diagram:
    """A random model of up to four levels: gains, sums, integrators and subsystems, some enabled, with positions."""
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


def _plain(model: Diagram, placed: bool) -> tuple[object, ...]:
    blocks = {name: (block.type, dict(block.parameters), block.position if placed else None,
                     _plain(block.system, placed) if block.system else None) for name, block in model.blocks.items()}
    wires: Sequence[Wire] = [wire for wire in model.wires if not wire.is_physical]
    return (model.name, model.about, dict(model.settings), dict(model.variables), blocks, sorted(wires),
            sorted(map(sorted, model.nets())))
