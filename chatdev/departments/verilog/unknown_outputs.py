"""Outputs that have no value: in a whole simulation, or where a bench looks at them."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Literal

from chatdev.departments.verilog.bench import rename
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.facts import read_design
from chatdev.departments.verilog.slang import Instance
from chatdev.departments.verilog.target import Target
from chatdev.departments.verilog.waveform.vcd import WaveformError
from chatdev.departments.verilog.waveform.waves import Waves

Fill = Literal["0", "1", ""]
_DIRECTIONS = {"in": "input", "out": "output", "inout": "inout"}
_BIT, _ENDING = "bit_of_all_outputs", "_with_unknown_outputs"


def read_outputs(text: str, target: Target) -> frozenset[str]:
    """The names of the outputs of a module; none where it cannot be read."""
    try:
        return frozenset(port.name for port in read_design(text, target).ports if port.direction == "out")
    except DesignError:
        return frozenset()


def outputs_without_value(waves: Path | None, scope: str, outputs: frozenset[str]) -> frozenset[str]:
    """Those of which no bit is ever known in a VCD file that has the module's signals in `scope`; none without a file
    that can be read, and none that the file lacks."""
    if waves is None or not outputs:
        return frozenset()
    try:
        file = Waves.open(waves)
        open_ = {f"{scope}.{name}": name for name in outputs if f"{scope}.{name}" in file.signals}
        for _, signal, bits in file.changes(tuple(open_)):
            if set(bits) - {"x", "z"}:
                open_.pop(signal, None)
            if not open_:
                break
    except WaveformError:
        return frozenset()
    return frozenset(open_.values())


def is_unknown_looked_at(text: str, top: str, made: Sequence[Instance], open_: Container[str],
                         passes: Callable[[str], bool]) -> bool | None:
    """Whether a bench that an answer `passes` looks at what is unknown of its outputs; None where nobody can say, as it
    does not pass within another module either, or its instances are not alike."""
    if len({(one.parameters, one.ports) for one in made}) != 1:
        return None
    filled = [fill_outputs(text, top, made[0], fill, open_) for fill in ("0", "1", "")]
    if None in filled:
        return None
    zeros, ones, plain = map(str, filled)
    return False if passes(zeros) and passes(ones) else True if passes(plain) else None


def fill_outputs(text: str, top: str, instance: Instance, fill: Fill, open_: Container[str] = ()) -> str | None:
    """The text with another module `top` around that of this name, which fills its outputs with a bit, or leaves them
    as they are where that is ""; those that are `open_` may be z. None where a port is no plain vector."""
    if not all(width for _, _, width in instance.ports):
        return None
    ports = ", ".join(f"{_DIRECTIONS[direction]} wire [{width - 1}:0] {name}"
                      for name, direction, width in instance.ports)
    parameters = ", ".join(f"parameter {name} = {value}" for name, value in instance.parameters)
    given = ", ".join(f".{name}({name})" for name, _ in instance.parameters)
    inner = ", ".join(f".{name}({name}{_ENDING if direction == 'out' else ''})"
                      for name, direction, _ in instance.ports)
    outputs = [_fill(name, width, fill, name in open_) for name, way, width in instance.ports if way == "out"]
    first = f"module {top} {_in_brackets(parameters)}({ports});"
    last = f"  {top}{_ENDING} {_in_brackets(given)}inner{_ENDING}({inner});"
    return "\n".join((rename(text, [top], _ENDING), first, f"  genvar {_BIT};", *outputs, last, "endmodule\n"))


def _in_brackets(parameters: str) -> str:
    return f"#({parameters}) " if parameters else ""


def _fill(name: str, width: int, fill: Fill, may_be_open: bool) -> str:
    bit = f"{name}{_ENDING}[{_BIT}]"
    unknown = f"{bit} === 1'bx" if may_be_open else f"{bit} === 1'bx || {bit} === 1'bz"
    value = f"({unknown}) ? 1'b{fill} : {bit}" if fill else bit
    return (f"  wire [{width - 1}:0] {name}{_ENDING};\n  for ({_BIT} = 0; {_BIT} < {width}; {_BIT} = {_BIT} + 1)\n"
            f"    assign {name}[{_BIT}] = {value};")
