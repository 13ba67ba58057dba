"""What an agent reads of a waveform."""

from __future__ import annotations

from itertools import product

import pytest

from chatdev.departments.verilog.waveform.comparison import (
    are_different,
    differing_bits,
    range_text,
    short_names,
    value_text,
)
from chatdev.departments.verilog.waveform.picture import render_table
from chatdev.departments.verilog.waveform.vcd import WaveformError
from tests.departments.verilog.waveform.conftest import Drawn


def test_the_last_row_is_what_the_bench_saw_before_the_mismatch(drawn: Drawn) -> None:
    """At 15 both values agree again; the bench complained of those since 10."""
    waves = drawn({"clk": "0101", "q_ref": "0011", "q_dut": "0001"})
    assert render_table(waves, ["tb.clk", "tb.q_dut", "tb.q_ref"], 15).splitlines()[1:] == [
        "time  clk  q_ref      q_dut",
        "0     0    0          0",
        "5     1    0          0",
        "10    0    1      !=  0",
        "The bench sees the last row, valid since 10, as it compares at 15 before anything changes at that time.",
        "q must be 1, but is 0."]


def test_unknown_bits_are_kept_and_wrong_bits_named(drawn: Drawn) -> None:
    waves = drawn({"q_ref": ["00000000", "1010x010"], "q_dut": ["00000000", "10010x1z"]})
    text = render_table(waves, ["tb.q_ref", "tb.q_dut"], 10)
    assert "5     b1010x010  !=  b10010x1z\n" in text
    assert "h00" in text
    assert text.endswith("q must be 1010x010, but is 10010x1z (wrong bits: [5:4], [2], [0]).")


def test_a_ticking_clock_is_folded_and_the_last_row_never(drawn: Drawn) -> None:
    text = render_table(drawn({"clk": "01" * 10, "d": "0" * 12 + "1" * 8}), ["tb.clk", "tb.d"], 95, count=5)
    assert text.splitlines()[2:-1] == [
        "0     0    0", "5     1    0", "… 10 more rows in which the two above take turns, until 55",
        "60    0    1", "65    1    1", "… 4 more rows in which the two above take turns, until 85", "90    0    1"]


def test_as_many_rows_are_shown_as_are_asked_for(drawn: Drawn) -> None:
    waves = drawn({"count": [f"{number:08b}" for number in range(200)]})
    lines = render_table(waves, ["tb.count"], 500, count=20).splitlines()
    assert lines[2:-1] == [f"{5 * number:<4}  h{number:02x}" for number in range(80, 100)]


def test_before_the_first_value_there_is_nothing_to_show(drawn: Drawn) -> None:
    assert render_table(drawn({"q": "01"}), ["tb.q"], 0) == "None of these signals had a value before time 0 (1ps)."


def test_a_name_that_is_not_there_is_told(drawn: Drawn) -> None:
    with pytest.raises(WaveformError, match="do you mean tb.q"):
        render_table(drawn({"q": "01"}), ["tb.top.q"], 5)


def as_verilog(first: str, second: str) -> str:
    """The exclusive or of two bits, as IEEE 1364 has it."""
    return str(int(first) ^ int(second)) if {first, second} <= {"0", "1"} else "x"


def test_values_differ_by_the_rule_of_the_benches() -> None:
    """ref === (ref ^ dut ^ ref)"""
    for reference, answer in product("01xz", repeat=2):
        agree = reference == as_verilog(as_verilog(reference, answer), reference)
        assert differing_bits(reference, answer) == ([] if agree else [0])
        assert are_different(reference, answer) is not agree
    assert differing_bits("1x0", "0011") == [2, 0]
    assert are_different("1x0", "010")
    assert not are_different("1x0", "110")
    assert not are_different("01", "001")


def test_ranges_are_as_in_verilog() -> None:
    assert [range_text([9, 3, 2, 1]), range_text([0]), range_text([])] == ["[9], [3:1]", "[0]", ""]


def test_names_are_as_short_as_they_can_be_without_confusion() -> None:
    assert short_names(["tb.clk", "tb.q", "tb.top.q", "tb.top.a\x07"]) == {
        "tb.clk": "clk", "tb.q": "tb.q", "tb.top.q": "top.q", "tb.top.a\x07": "a\ufffd"}


@pytest.mark.parametrize(("bits", "text"), [("1", "1"), ("01x0", "01x0"), ("10001", "h11"), ("xxxxx", "x"),
                                            ("zzzzzz", "z"), ("0000x", "b0000x"), ("1" * 256, "h" + "f" * 64)])
def test_values_are_shown_without_loss(bits: str, text: str) -> None:
    assert value_text(bits) == text
