"""Waveforms that were recorded elsewhere, as FST and as VCD: drawn, kept for viewers, traced."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from chatdev.departments.verilog import trace_drivers
from chatdev.departments.verilog.library import draw_recorded
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.errors import ConfigError

pytestmark = pytest.mark.tool
needs_converter = pytest.mark.skipif(shutil.which("fst2vcd") is None, reason="fst2vcd (apt-get install gtkwave)")

DESIGN = """module TopModule (input clk, output reg [7:0] q = 0);
  always @(posedge clk)
    if (q == 9) q <= q + 2;
    else q <= q + 1;
endmodule
"""
BENCH = """`timescale 1ns/1ps
module tb;
  reg clk = 0; reg [7:0] q_ref = 0; wire [7:0] q_dut;
  TopModule dut(clk, q_dut);
  always #5 clk = ~clk;
  always @(posedge clk) q_ref <= q_ref + 1;
  initial begin $dumpfile("run.NAME"); $dumpvars; #400 $finish; end
endmodule
"""


def record(folder: Path, ending: str) -> Path:
    """What Icarus Verilog records of the design."""
    (folder / "all.v").write_text(DESIGN + BENCH.replace("NAME", ending), encoding="utf-8")
    subprocess.run(["iverilog", "-o", "all.out", "all.v"], cwd=folder, check=True, capture_output=True)
    subprocess.run(["vvp", "-n", "all.out", f"-{ending}"], cwd=folder, check=True, capture_output=True)
    return folder / f"run.{ending}"


@needs_converter
def test_fst_says_the_same_as_vcd(tmp_path: Path) -> None:
    kept = draw_recorded(record(tmp_path, "fst"), tmp_path / "kept.vcd")
    assert [file.name for file in kept] == ["kept.vcd", "kept.gtkw", "kept.sucl"]
    one, other = Waves.open(record(tmp_path, "vcd")), Waves.open(kept[0])
    assert one.signals.keys() == other.signals.keys()
    assert [(time, dict(step)) for time, step in one.steps(one.signals)] == [
        (time, dict(step)) for time, step in other.steps(one.signals)]


@needs_converter
def test_a_picture_of_fst_marks_the_first_difference(tmp_path: Path) -> None:
    draw_recorded(record(tmp_path, "fst"), tmp_path / "run.svg", signals=["q_ref", "q_dut", "dut.clk"])
    text = (tmp_path / "run.svg").read_text(encoding="utf-8")
    assert "q_dut" in text
    assert "95" in text


def test_viewers_open_where_the_outputs_first_differ(tmp_path: Path) -> None:
    _, gtkwave, surfer = draw_recorded(record(tmp_path, "vcd"), tmp_path / "kept.vcd", signals=["q_ref", "q_dut"])
    [(start, zoom, marker)] = re.findall(r"\n\[timestart\] (\d+)\n\*(\S+) (\d+) ", gtkwave.read_text())
    assert int(start) < int(marker) == 95000 < int(start) + 3 * 2 ** -float(zoom) + 1
    assert "cursor_set 95000" in surfer.read_text()


@needs_converter
def test_a_trace_is_led_by_fst(tmp_path: Path) -> None:
    assert trace_drivers(DESIGN, ["q"], levels=1, waves=record(tmp_path, "fst")).lines() == (1, 2, 3)
    assert trace_drivers(DESIGN, ["q"], levels=1, waves=record(tmp_path, "vcd")).lines() == (1, 2, 3)


@pytest.mark.parametrize(("name", "signals", "complaint"), [
    ("none.vcd", [], "none.vcd cannot be read: No such file"), ("all.vcd", ["nix"], "has no signal 'nix'"),
    ("run.vcd", ["clk"], "'clk' may be tb.clk or tb.dut.clk; give the full name"),
    pytest.param("none.fst", [], "none.fst cannot be read: No such file", marks=needs_converter),
    pytest.param("text.fst", [], "text.fst: fst2vcd cannot read it; it is damaged, or no FST", marks=needs_converter)])
def test_what_cannot_be_shown_is_told(tmp_path: Path, name: str, signals: list[str], complaint: str) -> None:
    shutil.copyfile(record(tmp_path, "vcd"), tmp_path / "all.vcd")
    (tmp_path / "text.fst").write_text("no FST", encoding="utf-8")
    with pytest.raises(ConfigError) as told:
        draw_recorded(tmp_path / name, tmp_path / "out.svg", signals=signals)
    assert complaint in str(told.value)
