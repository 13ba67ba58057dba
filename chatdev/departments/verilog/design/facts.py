"""What is asked of a design, as plain data, read in the child of this process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from chatdev.departments.verilog.design.design import Design, Port, whole_part
from chatdev.departments.verilog.design.elaborate import DesignError, as_number, elaborate
from chatdev.departments.verilog.design.mistakes import Mistake, find_mistakes
from chatdev.departments.verilog.design.records import Part
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.errors import MissingProgram
from chatdev.isolation.isolate import isolate


@dataclass(frozen=True, slots=True)
class DesignFacts:
    """The ports of a design's top module, and the width of every signal."""

    ports: tuple[Port, ...]
    widths: Mapping[str, int]

    def part(self, signal: str) -> Part:
        """All bits of a signal; raises ToolError for one that is not there."""
        return whole_part(signal, self.widths, self.ports)


@isolate(DesignError, MissingProgram)
def read_design(text: str, target: Target = USUAL) -> DesignFacts:
    """The facts of a design; raises DesignError, also for a source that takes too much to be read."""
    design = Design.of(text, target)
    return DesignFacts(design.ports, design.widths)


@isolate(DesignError, MissingProgram)
def list_mistakes(text: str, target: Target = USUAL) -> list[Mistake]:
    """Line and text of what is wrong with a design. Raises as `read_design` does."""
    design = Design.of(text, target)
    return [(line, says) for line, says in find_mistakes(design) if line <= len(text.splitlines())]


@isolate(DesignError, MissingProgram)
def constant_bits(text: str, module: str, parameter: str, count: int) -> list[str] | None:
    """The last `count` bits of a module's parameter, the last one first; None when it is no constant. Raises
    DesignError."""
    _compilation, instance, _source = elaborate(text, Target(module))
    number = as_number(instance.body.find(parameter).value)  # type: ignore[attr-defined]
    return None if number is None else [str(number[place]) for place in range(count)]
