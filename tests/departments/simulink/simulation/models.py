"""Small models for tests of simulation."""

from __future__ import annotations

from collections.abc import Mapping

from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire
from chatdev.departments.simulink.simulation.solve import Options, Results, simulate

Blocks = Mapping[str, tuple[str, Mapping[str, str]] | str]


def model(blocks: Blocks, *lines: str) -> Diagram:
    """A model of blocks (type, or type and parameters) and lines, each of which may be a chain `a/1 -> b/1`."""
    return Diagram("m", {name: DiagramBlock(block) if isinstance(block, str) else DiagramBlock(*block)
                         for name, block in blocks.items()}, tuple(map(Wire.read, lines)))


def run(blocks: Blocks, *lines: str, stop: float = 10.0, solver: str = "auto", step: float | None = None,
        relative: float = 1e-3) -> Results:
    """What simulating the model gives."""
    return simulate(model(blocks, *lines), Options(stop=stop, solver=solver, step=step, relative=relative))


def constant(value: str) -> tuple[str, dict[str, str]]:
    """A source of a value."""
    return "Constant", {"Value": value}


def sampled(kind: str, period: str = "1", **parameters: str) -> tuple[str, dict[str, str]]:
    """A block with a sample time."""
    return kind, {"SampleTime": period, **parameters}
