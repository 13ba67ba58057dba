"""Waveforms made up for a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from chatdev.departments.verilog.waveform.waves import Waves

Drawn = Callable[[Mapping[str, Sequence[str]]], Waves]


@pytest.fixture
def drawn(tmp_path: Path) -> Drawn:
    """A waveform in which each signal of `tb` has, every 5 time units from 0 on, the next of its values."""
    def draw(signals: Mapping[str, Sequence[str]]) -> Waves:
        codes = {name: f"s{number}" for number, name in enumerate(signals)}
        declared = [f"$var wire {len(values[0])} {codes[name]} {name} $end" for name, values in signals.items()]
        steps = [f"#{5 * step}\n" + "\n".join(f"b{values[step]} {codes[name]}" for name, values in signals.items()
                                              if step < len(values))
                 for step in range(max(map(len, signals.values())))]
        path = tmp_path / "drawn.vcd"
        path.write_text("\n".join(["$timescale 1ps $end", "$scope module tb $end", *declared, "$upscope $end",
                                   "$enddefinitions $end", *steps, ""]), encoding="utf-8")
        return Waves.open(path)

    return draw
