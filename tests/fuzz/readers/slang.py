"""The reader of Verilog that is a program of its own: pyslang, in the child of this process."""

from __future__ import annotations

from contextlib import suppress

from chatdev.departments.verilog.answer import lint, outside_names, undriven_signals
from chatdev.departments.verilog.design.facts import read_design
from chatdev.errors import ToolError
from tests.fuzz.readers.reader import Reader
from tests.fuzz.readers.verilog import VERILOG


def elaboration(text: str) -> None:
    """What slang says of a module, and the design that it makes of it."""
    lines = text.count("\n") + text.count("\r") + 1
    for read in (lint, outside_names, undriven_signals):
        with suppress(ToolError):
            assert all(0 <= message.line <= lines for message in read(text)), "it read a file of this machine"
    with suppress(ToolError):
        assert all(port.width >= 0 for port in read_design(text).ports)


READERS = {
    "elaborated Verilog": Reader(elaboration, [*VERILOG, "output logic q", "q", "~(", "a ? ", ": ", "[3]", "<= "],
                                 ("{}", "module TopModule(input a, output q);{} endmodule",
                                  "module TopModule(input a, output q); assign q = {}; endmodule")),
}
