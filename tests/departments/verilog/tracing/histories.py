"""Histories of signals, written as tables."""

from __future__ import annotations

from chatdev.departments.verilog.tracing.trace import History, Past


def history_of(*names: str, complete: bool = True, **steps: str) -> History:
    """`history_of("clk", "d", t0="0 0", t5="1 0")`: the values from the times 0 and 5 on."""
    found = [(int(time[1:]), dict(zip(names, values.split(), strict=True))) for time, values in steps.items()]
    before = {name: "x" * len(bits) for name, bits in found[0][1].items()} if found else {}
    return History(Past(before, found, complete))
