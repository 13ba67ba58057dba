"""Histories of signals, written as tables."""

from __future__ import annotations

from chatdev.tools.verilog.tracing.history import History
from chatdev.tools.verilog.waveform.waves import Row


def history_of(*names: str, complete: bool = True, **rows: str) -> History:
    """`past("clk", "d", t0="0 0", t5="1 0")`: the values from the times 0 and 5 on."""
    return History([Row(int(time[1:]), dict(zip(names, values.split(), strict=True))) for time, values in rows.items()],
                   complete)
