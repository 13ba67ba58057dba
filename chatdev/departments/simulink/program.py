"""A program that builds a model, written from the model: it needs no agent, and has no faults of its own."""

from __future__ import annotations

from pathlib import Path

from chatdev.departments.simulink.agreement import model_name, settled_type
from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.layout import place
from chatdev.departments.simulink.wiring_checks import order_wires
from chatdev.tools.base import render_file

_SHAPE = Path(__file__).with_name("wording") / "build_model.py.j2"


def write_program(model: Diagram) -> str:
    """The program that builds the model, in Python for MATLAB; blocks that have their places keep them."""
    is_placed = any(block.position for block in model.blocks.values())
    shown = place(model) if is_placed else model
    blocks = [(_path_of(block), name, _parameters_of(block)) for name, block in shown.blocks.items()]
    lines = [(f"{wire.source.block}/{wire.source.port}", f"{wire.target.block}/{wire.target.port}")
             for wire in order_wires(shown.wires)]
    program = render_file(_SHAPE, name=model_name(model.name), blocks=blocks, lines=lines, positioned=is_placed,
                          literal=repr)
    return f"{program}\n"


def _path_of(block: DiagramBlock) -> str:
    kind = catalogue().of(settled_type(block))
    return kind.path if kind else block.type


def _parameters_of(block: DiagramBlock) -> dict[str, str]:
    place_ = {"Position": f"[{' '.join(map(str, block.position))}]"} if block.position else {}
    return {**block.parameters, **place_}
