"""With the parameters that a bench gives, an answer's names lead nowhere but into the answer."""

from __future__ import annotations

import pytest

from tests.departments.verilog.small import Desk

pytestmark = pytest.mark.tool

BENCH = """module tb;
  reg [7:0] a = 0; wire [7:0] q_ref, q_dut; integer errors = 0, n = 0;
  RefModule #(.W(8)) good1(a, q_ref);
  TopModule #(.W(8)) top_module1(a, q_dut);
  function [7:0] flip(input [7:0] i); flip = ~i; endfunction
  initial begin
    repeat (50) begin
      #5 a = $random; #5 n = n + 1;
      if (q_ref !== q_dut) errors = errors + 1;
    end
    $display("Mismatches: %0d in %0d samples", errors, n);
    $finish;
  end
endmodule
"""
REFERENCE = "module RefModule #(parameter W=4)(input [W-1:0] a, output [W-1:0] q); assign q = ~a; endmodule\n"
MAKES = {
    "parameters": BENCH,
    "defparam": BENCH.replace("#(.W(8)) top_module1(a, q_dut);", "top_module1(a, q_dut); defparam top_module1.W = 8;"),
    "an array": BENCH.replace("top_module1(a", "top_module1[0:0](a"),
    "a computed parameter": BENCH.replace("#(.W(8)) top", "#(.W(K + K)) top").replace("wire", "localparam K = 4; wire"),
}
UNREADABLE = BENCH.replace("integer", "string s = 8'h41; integer")
"""What the second reader takes for a mistake, and a simulator does not."""
HEAD = "module TopModule #(parameter W=4)(input [W-1:0] a, output [W-1:0] q);\n"
CHEATS = {
    "a block of the root's name": "if (W==4) begin: tb wire [W-1:0] q_ref; end assign q = tb.q_ref; endmodule",
    "a block of an instance's name": "if (W==4) begin: good1 wire [W-1:0] q; end assign q = good1.q; endmodule",
    "a block in a case": "case (W) 4: begin: tb wire [W-1:0] q_ref; end endcase assign q = tb.q_ref; endmodule",
    "a block within a block": "if (1) begin: o if (W==4) begin: tb wire [W-1:0] q_ref; end assign q = tb.q_ref; end "
                              "endmodule",
    "a block in a helper": "h #(W) h1(q); endmodule module h #(parameter W=4)(output [W-1:0] o); if (W==4) begin: tb "
                           "wire [W-1:0] q_ref; end assign o = tb.q_ref; endmodule",
    "a function of a block": "if (W==4) begin: v function [7:0] flip(input [7:0] i); flip = 0; endfunction end "
                             "if (W==8) assign q = flip(a); endmodule",
    "a function of another module": "if (W==8) assign q = flip(a); endmodule module other; function [7:0] flip(input "
                                    "[7:0] i); flip = 0; endfunction endmodule",
}
HONEST = {
    "a block of the root's name": "if (W>0) begin: tb wire [W-1:0] q_ref; assign q_ref = ~a; end assign q = tb.q_ref; "
                                  "endmodule",
    "a block of an instance's name": "if (1) begin: good1 wire [W-1:0] q; assign q = ~a; end assign q = good1.q; "
                                     "endmodule",
    "a chain of blocks": "for (genvar i=0; i<W; i=i+1) begin: g wire c; assign c = ~a[i]; assign q[i] = g[i].c; end "
                         "endmodule",
    "a function of a block": "if (W>0) begin: v function [7:0] flip(input [7:0] i); flip = ~i; endfunction "
                             "assign q = flip(a); end endmodule",
    "a function of a helper": "h #(W) h1(a, q); endmodule module h #(parameter W=4)(input [W-1:0] i, output [W-1:0] o);"
                              " function [W-1:0] flip(input [W-1:0] x); flip = ~x; endfunction assign o = flip(i); "
                              "endmodule",
}


@pytest.mark.parametrize("bench", MAKES)
@pytest.mark.parametrize("about", CHEATS)
def test_no_name_leads_to_the_reference_with_other_parameters(desk: Desk, about: str, bench: str) -> None:
    verdict = desk.use("judge", HEAD + CHEATS[about], MAKES[bench], REFERENCE)
    assert (verdict.passed, verdict.evidence["outcome"]) == (False, "refused")


@pytest.mark.parametrize("bench", MAKES)
@pytest.mark.parametrize("about", HONEST)
def test_own_blocks_may_have_the_names_of_the_bench(desk: Desk, about: str, bench: str) -> None:
    assert desk.use("judge", HEAD + HONEST[about], MAKES[bench], REFERENCE).passed


def test_where_the_bench_cannot_be_read_its_names_are_not_used(desk: Desk) -> None:
    assert desk.use("judge", HEAD + "assign q = ~a; endmodule", UNREADABLE, REFERENCE).passed
    assert desk.use("judge", HEAD + HONEST["a chain of blocks"], UNREADABLE, REFERENCE).passed
    for about, body in CHEATS.items():
        said = desk.use("judge", HEAD + body, UNREADABLE, REFERENCE)
        assert said.evidence["outcome"] == "refused", about
        assert "is a name of the test bench" in said.report
