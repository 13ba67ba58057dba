"""Which outputs a bench speaks of when it complains, by its text."""

from __future__ import annotations

import pytest

from chatdev.departments.verilog.complaint import outputs_spoken_of

OUTPUTS = ["data", "last", "valid", "count", "spare", "other"]
DUT = """module tb;
  unit dut(.clk(clk), .ready(r), .data(d), .last(l), .valid(v), .count(c[3:0]), .spare());
"""


@pytest.mark.parametrize(("body", "complaint", "spoken_of"), [
    ('if (x) $display("ERROR: got %h, not %h", {l, d}, want);', "ERROR: got 1ff, not 0ff", {"data", "last"}),
    ('if (d !== want) $display("FAIL %0d", n);', "FAIL 12", {"data"}),
    ('if (c !== 3) begin errors = errors + 1; $error("count"); end else if (!v) $error("valid");', "valid", {"valid"}),
    ('assert (v) else $error("never valid (%0d %%)", n);', "never valid (3 %)", {"valid"}),
    ('always @(posedge clk) n = n + v; initial if (n == 0) $display("ERROR: none");', "ERROR: none", {"valid"}),
    ('task check(input [7:0] got); if (got !== 3) $display("FAIL: %h", got); endtask initial check(d);', "FAIL: 04",
     {"data"}),
    ('initial $display("ERROR: timeout");', "ERROR: timeout", {"data", "last", "valid", "count"}),
    ('if (d !== 3) $display("FAIL: a"); if (l) $display("FAIL: b");', "FAIL: b", {"last"}),
    ('// $display("FAIL: a", d)\nif (l) $display("FAIL: a");', "FAIL: a", {"last"}),
    ("", "what nothing prints", {"data", "last", "valid", "count"}),
])
def test_the_outputs_of_a_complaint(body: str, complaint: str, spoken_of: set[str]) -> None:
    assert outputs_spoken_of(f"{DUT}{body}\nendmodule\n", complaint, OUTPUTS) == spoken_of


def test_a_bench_that_connects_by_place_says_nothing() -> None:
    bench = 'module tb; unit dut(clk, d); initial if (d !== 1) $display("FAIL"); endmodule'
    assert outputs_spoken_of(bench, "FAIL", OUTPUTS) == set()


@pytest.mark.parametrize(("line", "spoken_of"), [(3, {"data"}), (2, set()), (9, set())])
def test_a_test_in_python_speaks_of_what_its_line_names(line: int, spoken_of: set[str]) -> None:
    bench = "@cocotb.test()\nasync def holds(dut):\n    assert dut.data.value == dut.a.value, 'wrong'\n"
    assert outputs_spoken_of(bench, f"holds: wrong (line {line} of the bench)", OUTPUTS) == spoken_of


def test_brackets_without_an_end_take_no_time() -> None:
    bench = DUT + "if (" + "(a" * 20_000 + ' $display("FAIL");' + "task t; " * 2_000
    assert outputs_spoken_of(bench, "FAIL", OUTPUTS)
