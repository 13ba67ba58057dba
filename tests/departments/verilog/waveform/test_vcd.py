"""Reading waveforms, of Icarus itself and of files made up here."""

from __future__ import annotations

import shutil
import subprocess
import tracemalloc
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog.waveform.vcd import WaveformError, read_changes
from chatdev.departments.verilog.waveform.waves import Row, Waves

DESIGN = r"""
`timescale 1ns/1ps
module inner(input [7:0] d, output [7:0] q);
  wire \a+b = d[0];
  real r;
  string s;
  logic [7:0] memory [3:0];
  event happened;
  assign q = d;
  genvar i;
  generate for (i = 0; i < 2; i = i + 1) begin : bit_of wire w = d[i]; end endgenerate
  initial begin r = 1.5; s = "hi there"; #3 r = 2.5; memory[0] = 3; ->happened; end
endmodule
module tb;
  reg [7:0] d;
  wire [7:0] q;
  inner u(d, q);
  initial begin
    $dumpfile("wave.vcd"); $dumpvars(0, tb);
    #1 d = 8'b0000z101; #5 d = 8'hx1; $dumpoff; #2 d = 3; $dumpon; #1 d = 4; $dumpall; #2 d = 5; #1 d = 8'bz; #1;
  end
endmodule
"""


@pytest.fixture(scope="module")
def of_icarus(tmp_path_factory: pytest.TempPathFactory) -> Waves:
    """What Icarus dumps of a design with everything that a dump may hold."""
    if not shutil.which("iverilog"):
        pytest.fail("iverilog is missing: apt-get install iverilog")
    folder = tmp_path_factory.mktemp("icarus")
    (folder / "design.sv").write_text(DESIGN, encoding="utf-8")
    subprocess.run(["iverilog", "-g2012", "-s", "tb", "-o", "a.out", "design.sv"], cwd=folder, check=True)
    subprocess.run(["vvp", "-n", "a.out"], cwd=folder, check=True, capture_output=True)
    return Waves.open(folder / "wave.vcd")


def dumped(folder: Path, body: str, declared: str = "") -> Waves:
    """A file with a clock `tb.clk`, the net `tb.q` that is also `tb.u.q`, and what else is declared."""
    path = folder / "made.vcd"
    path.write_text(f"$timescale 1 ns $end\n$scope module tb $end\n$var wire 1 ! clk $end\n$var reg 4 \" q [3:0] $end\n"
                    f"$scope module u $end\n$var wire 4 \" q [3:0] $end\n$upscope $end\n{declared}$upscope $end\n"
                    f"$enddefinitions $end\n{body}", encoding="utf-8")
    return Waves.open(path)


def test_signals_are_named_in_full_without_range_or_backslash(of_icarus: Waves) -> None:
    assert of_icarus.timescale == "1ps"
    assert {"tb.d", "tb.u.d", "tb.u.a+b", "tb.u.bit_of[1].w"} <= set(of_icarus.signals)
    assert of_icarus.signals["tb.u.q"].width == 8


def test_real_numbers_strings_events_and_arrays_are_left_out(of_icarus: Waves) -> None:
    assert not {"tb.u.r", "tb.u.s", "tb.u.happened", "tb.u.memory"} & set(of_icarus.signals)


def test_a_value_is_that_just_before_the_time(of_icarus: Waves) -> None:
    assert of_icarus.values_at(["tb.d", "tb.u.a+b"], 1000) == {"tb.d": "xxxxxxxx", "tb.u.a+b": "x"}
    assert of_icarus.values_at(["tb.d", "tb.u.a+b"], 1001) == {"tb.d": "0000z101", "tb.u.a+b": "1"}
    assert of_icarus.values_at(["tb.d"], 6001) == {"tb.d": "xxxx0001"}
    assert of_icarus.values_at(["tb.d"], 10**9) == {"tb.d": "zzzzzzzz"}


def test_what_is_dumped_again_is_no_change(of_icarus: Waves) -> None:
    assert list(of_icarus.changes(["tb.q"])) == [
        (0, "tb.q", "xxxxxxxx"), (1000, "tb.q", "0000z101"), (6000, "tb.q", "xxxx0001"), (8000, "tb.q", "00000011"),
        (9000, "tb.q", "00000100"), (11000, "tb.q", "00000101"), (12000, "tb.q", "zzzzzzzz")]


def test_rows_come_oldest_first_and_end_before_the_time(of_icarus: Waves) -> None:
    """While the dump is off, values are unknown."""
    rows = of_icarus.rows_before(["tb.d", "tb.u.bit_of[1].w"], 9000, 2)
    assert rows == [Row(6000, {"tb.d": "xxxx0001", "tb.u.bit_of[1].w": "x"}),
                    Row(8000, {"tb.d": "00000011", "tb.u.bit_of[1].w": "1"})]


def test_a_row_holds_what_did_not_change_in_it(tmp_path: Path) -> None:
    waves = dumped(tmp_path, "#0\n0!\nb101 \"\n#5\n1!\n#10\n0!\n#15\n1!\n")
    assert waves.rows_before(["tb.q", "tb.clk"], 15, 1) == [Row(10, {"tb.q": "0101", "tb.clk": "0"})]
    assert waves.rows_before(["tb.clk"], 0, 5) == []


def test_names_of_one_net_have_the_same_values(tmp_path: Path) -> None:
    waves = dumped(tmp_path, "#0\nb1 \"\n")
    assert waves.values_at(["tb.q", "tb.u.q"], 1) == {"tb.q": "0001", "tb.u.q": "0001"}
    assert list(waves.changes(["tb.q", "tb.u.q"])) == [(0, "tb.q", "0001"), (0, "tb.u.q", "0001")]


def test_any_space_parts_words_and_comments_may_stand_anywhere(tmp_path: Path) -> None:
    waves = dumped(tmp_path, "#0 $dumpvars 0! B1X\n\" $end\r\n$comment 1! #9\n b11 $end #3 1! #4\n")
    assert list(waves.changes(["tb.clk", "tb.q"])) == [(0, "tb.clk", "0"), (0, "tb.q", "001x"), (3, "tb.clk", "1")]


def test_a_single_bit_of_a_vector_is_a_signal_of_its_own(tmp_path: Path) -> None:
    waves = dumped(tmp_path, "#0\n1$\n", "$var wire 1 $ data [3] $end\n$var wire 1 % data [2] $end\n")
    assert waves.values_at(["tb.data[3]", "tb.data[2]"], 1) == {"tb.data[3]": "1", "tb.data[2]": "x"}


@pytest.mark.parametrize(("body", "line", "complaint"), [
    ("#0\n0!\n#5\n1%\n", 13, "no declared signal"),
    ("#0\nb10102 \"\n", 11, "no value of 4 bits"),
    ("#0\nb10101 \"\n", 11, "no value of 4 bits"),
    ("#0\n\n#5\n#4\n", 13, "goes back, from 5 to 4"),
    ("#0\n#1e3\n", 11, "'1e3' is no number"),
    ("#0\nhello\n", 11, "'hello' is neither"),
    ("#0\n$comment 0!\n", 11, "before the \\$end of \\$comment"),
    ("#0\n0!\n#12", 12, "ends in the middle of a line"),
    ("#0\n0!\nb1010\n", 12, "no declared signal"),
])
def test_damage_is_told_with_its_line(tmp_path: Path, body: str, line: int, complaint: str) -> None:
    waves = dumped(tmp_path, body)
    with pytest.raises(WaveformError, match=f"made.vcd, line {line}: .*{complaint}"):
        waves.rows_before(["tb.clk", "tb.q"], 100, 5)


def test_damage_behind_the_time_asked_for_does_no_harm(tmp_path: Path) -> None:
    assert dumped(tmp_path, "#0\n0!\n#5\n1!\n#6\nhel").values_at(["tb.clk"], 5) == {"tb.clk": "0"}


@pytest.mark.parametrize(("text", "complaint"), [
    ("", "line 0: .*before its \\$enddefinitions"),
    ("$scope module tb $end\n$var wire 1 !\n", "line 2: the file ends before the \\$end of \\$var"),
    ("$scope module tb $end\n$var wire one ! q $end\n$enddefinitions $end\n", "line 2: 'one' is no number"),
    ("$var wire 1 $end\n", "line 1: a \\$var names"),
    ("$upscope $end\n", "line 1: there is no such scope"),
    ("FST\0", "line 1: .*ends in the middle"),
    ("module tb;\nendmodule\n", "line 1: 'module' is no keyword"),
])
def test_what_is_no_dump_is_refused_when_it_is_opened(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "wave.vcd"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(WaveformError, match=f"wave.vcd, {complaint}"):
        Waves.open(path)


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "wave.vcd"
    path.write_bytes(b"$var wire 1 ! \\\xff\xfe $end $enddefinitions $end\n#0\n1!\n")
    assert list(Waves.open(path).changes(["\ufffd\ufffd"])) == [(0, "\ufffd\ufffd", "1")]


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(WaveformError, match="none.vcd cannot be read: No such file"):
        Waves.open(tmp_path / "none.vcd")


def test_a_missing_signal_is_told_with_names_that_are_near(of_icarus: Waves, tmp_path: Path) -> None:
    with pytest.raises(WaveformError, match="no signal 'top.q'; do you mean tb.q or tb.u.q"):
        of_icarus.values_at(["top.q"], 5)
    with pytest.raises(WaveformError, match="it has 3, such as tb.clk, tb.q, tb.u.q"):
        dumped(tmp_path, "").values_at(["zzz"], 5)


def test_a_signal_of_absurd_width_is_refused_only_when_asked_for(tmp_path: Path) -> None:
    waves = dumped(tmp_path, "#0\n1!\n", "$var wire 4000000000 $ big $end\n")
    assert waves.values_at(["tb.clk"], 1) == {"tb.clk": "1"}
    with pytest.raises(WaveformError, match="4000000000 bits wide"):
        waves.values_at(["tb.big"], 1)


def test_values_of_an_absurd_width_are_refused_before_they_are_read(tmp_path: Path) -> None:
    waves = dumped(tmp_path, "#0\nb1 $\n", "$var wire 4000000000 $ big $end\n")
    with pytest.raises(WaveformError, match="'\\$' is 4000000000 bits wide; at most 65536"):
        list(read_changes(waves.path, {"$": 4_000_000_000}))


def test_short_lines_of_wide_signals_do_not_fill_the_memory(tmp_path: Path) -> None:
    body = "".join(f"#{time}\nb{time:b} $\n" for time in range(1, 8000))
    waves = dumped(tmp_path, body, "$var wire 65536 $ wide $end\n")
    tracemalloc.start()
    assert len(waves.rows_before(["tb.wide"], 8000, 20)) == 20
    assert tracemalloc.get_traced_memory()[1] < 64e6
    with pytest.raises(WaveformError, match="ask for fewer signals, or a shorter time"):
        waves.rows_before(["tb.wide"], 8000, 7000)
    assert tracemalloc.get_traced_memory()[1] < 300e6
    tracemalloc.stop()


def test_many_wide_signals_are_not_read_together(tmp_path: Path) -> None:
    declared = "".join(f"$var wire 65536 w{number} w{number} $end\n" for number in range(3000))
    waves = dumped(tmp_path, "#0\n1!\n", declared)
    assert waves.values_at(["tb.clk", "tb.w7"], 1)["tb.clk"] == "1"
    with pytest.raises(WaveformError, match="more than 134,217,728 bits together"):
        waves.values_at(waves.signals, 1)


@pytest.mark.parametrize("declared", [f"$scope module {'a' * 40} $end\n$var wire 1 % x $end\n" * 3000,
                                      f"$scope module {'a' * 90_000} $end\n", f"$var wire 1 % {'x' * 90_000} $end\n"])
def test_names_that_grow_with_the_square_of_a_file_are_refused(declared: str, tmp_path: Path) -> None:
    with pytest.raises(WaveformError, match=r"made.vcd, line \d+: .* 4096"):
        dumped(tmp_path, "", declared)


def test_a_large_file_takes_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    peaks = []
    for cycles in (10_000, 40_000):
        waves = dumped(tmp_path, "".join(f"#{time}\n{time % 2}!\n" for time in range(cycles)))
        tracemalloc.start()
        assert len(waves.rows_before(["tb.clk"], cycles, 20)) == 20
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] < 4e6


values = st.text("01xz", min_size=4, max_size=4)
moments = st.dictionaries(st.integers(0, 50), st.tuples(values, st.sampled_from("01xz")), min_size=1)


def shortened(bits: str) -> str:
    """As simulators write it: without what the reader fills up."""
    while len(bits) > 1 and (bits[0] == bits[1] in "xz" or (bits[0] == "0" and bits[1] in "01")):
        bits = bits[1:]
    return bits


@given(moments, st.integers(0, 60), st.integers(1, 10))
def test_whatever_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, written: dict[int, tuple[str, str]],
                                      time: int, count: int) -> None:
    timeline = sorted(written.items())
    body = "".join(f"#{moment}\nb{shortened(q)} \"\n{clk}!\n" for moment, (q, clk) in timeline)
    waves = dumped(tmp_path_factory.mktemp("dump"), body)
    expected = [Row(moment, {"tb.q": q, "tb.clk": clk}) for moment, (q, clk) in timeline]
    kept = expected[:1] + [row for before, row in pairwise(expected) if row.values != before.values]
    before = [row for row in kept if row.time < time]
    assert waves.rows_before(["tb.q", "tb.clk"], time, count) == before[-count:]
    unknown = {"tb.q": "xxxx", "tb.clk": "x"}
    assert waves.values_at(["tb.q", "tb.clk"], time) == (before[-1].values if before else unknown)
