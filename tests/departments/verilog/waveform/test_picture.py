"""Timing diagrams, read back from their SVG."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog.waveform.comparison import Span, differing_bits, differing_spans, read_spans
from chatdev.departments.verilog.waveform.picture import draw_diagram
from chatdev.departments.verilog.waveform.vcd import WaveformError
from tests.departments.verilog.waveform.conftest import Drawn

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def titles(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}title")]


def test_every_signal_has_a_lane_and_every_value_its_text(drawn: Drawn) -> None:
    waves = drawn({"clk": "0101", "state": ["0000", "0000", "01x0", "01x0"], "data": ["00000000", "11111111"] * 2})
    svg = draw_diagram(waves, ["tb.clk", "tb.state", "tb.data"], [], start=0, end=20)
    assert [text for text in texts(svg) if text in {"clk", "state", "data"}] == ["clk", "state", "data"]
    assert {"01x0", "h00", "hff", "time in 1ps"} <= set(texts(svg))
    assert "01x0 from 10 to 20" in titles(svg)


def test_reference_and_answer_are_shaded_where_they_differ(drawn: Drawn) -> None:
    waves = drawn({"q_dut": "0110", "clk": "0101", "q_ref": "0101"})
    svg = draw_diagram(waves, ["tb.q_dut", "tb.clk", "tb.q_ref"], [], start=0, end=20)
    assert [text for text in texts(svg) if text in {"q", "clk", "reference", "answer"}] == [
        "q", "clk", "reference", "answer", "reference", "answer"]  # the last two explain the colours
    assert svg.count('fill="var(--shade)"') == 2  # one in the lanes, one in the legend
    assert "values differ" in texts(svg)


def test_mismatches_are_marked_within_the_window_only(drawn: Drawn) -> None:
    waves = drawn({"q_ref": "0101", "q_dut": "0000"})
    svg = draw_diagram(waves, ["tb.q_ref", "tb.q_dut"], [10, 20, 400], start=0, end=20)
    assert [title for title in titles(svg) if title.startswith("mismatch")] == ["mismatch at 10", "mismatch at 20"]


def test_unknown_and_floating_bits_are_drawn_as_such(drawn: Drawn) -> None:
    svg = draw_diagram(drawn({"q": "0xz1"}), ["tb.q"], [], start=0, end=20)
    assert {"unknown (x)", "floating (z)", "x"} <= set(texts(svg))
    assert "unknown (x)" not in texts(draw_diagram(drawn({"q": "0101"}), ["tb.q"], [], start=0, end=20))


def test_a_long_time_makes_no_huge_picture(drawn: Drawn) -> None:
    waves = drawn({"clk": "01" * 5000, "q": [f"{number % 256:08b}" for number in range(10000)]})
    assert len(draw_diagram(waves, ["tb.clk", "tb.q"], range(0, 50000, 5), start=0, end=50000)) < 60_000


def test_names_cannot_break_out_of_the_picture(drawn: Drawn) -> None:
    hostile = 'a</text><script>alert("&")</script>'
    svg = draw_diagram(drawn({hostile: "01"}), [f"tb.{hostile}"], [], start=0, end=10)
    assert "<script" not in svg
    assert f"tb.{hostile}" in titles(svg)


@pytest.mark.parametrize(("signals", "start", "end"), [([], 0, 5), (["tb.q"], 5, 5), (["tb.q"], -1, 5)])
def test_nothing_to_show_is_an_error(drawn: Drawn, signals: list[str], start: int, end: int) -> None:
    with pytest.raises(WaveformError, match="shows nothing"):
        draw_diagram(drawn({"q": "01"}), signals, [], start=start, end=end)


def test_spans_fill_the_window(drawn: Drawn) -> None:
    assert read_spans(drawn({"q": "0110"}), ["tb.q"], 7, 18) == {"tb.q": [Span(7, 15, "1"), Span(15, 18, "0")]}
    assert read_spans(drawn({"q": "0110"}), ["tb.q"], 15, 99) == {"tb.q": [Span(15, 99, "0")]}


def joined(values: str) -> list[Span]:
    return [Span(time, time + 1, value) for time, value in enumerate(values)]


@given(st.text(st.sampled_from("01xz"), min_size=1, max_size=12), st.data())
def test_differences_are_where_values_differ(reference: str, data: st.DataObject) -> None:
    answer = data.draw(st.text(st.sampled_from("01xz"), min_size=len(reference), max_size=len(reference)))
    found = {time for start, end in differing_spans(joined(reference), joined(answer)) for time in range(start, end)}
    assert found == {time for time, (a, b) in enumerate(zip(reference, answer, strict=True)) if differing_bits(a, b)}
