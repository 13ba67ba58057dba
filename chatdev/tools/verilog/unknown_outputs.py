"""Outputs that have no value in a whole simulation.

A bench that compares with `!=` takes an unknown output for right, whatever it should be: `x != 3` is no mismatch.
"""

from __future__ import annotations

from pathlib import Path

from chatdev.tools.verilog.design.elaborate import DesignError
from chatdev.tools.verilog.design.facts import read_design
from chatdev.tools.verilog.target import Target
from chatdev.tools.verilog.waveform.vcd import WaveformError
from chatdev.tools.verilog.waveform.waves import Waves


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
