"""A design under a name of its own, with a parameter, and benches for it in the ways in which people write them."""

from __future__ import annotations

RIGHT = """module accu #(parameter W = 8) (
    input logic clk, rst_n, en, input logic [W-1:0] d, output logic [W-1:0] sum, output logic full);
  always_ff @(posedge clk or negedge rst_n)
    if (!rst_n) sum <= '0;
    else if (en) sum <= sum + d;
  assign full = &sum;
endmodule
"""
WRONG = RIGHT.replace("sum + d", "sum - d")
_BENCH = """`timescale 1ns/1ps
module accu_test;
  localparam W = 4;
  reg clk = 0, rst_n = 0, en = 0;
  reg [W-1:0] d = 0, want = 0;
  wire [W-1:0] sum;
  wire full;
  integer errors = 0, n = 0;
  accu #(.W(W)) uut(.clk(clk), .rst_n(rst_n), .en(en), .d(d), .sum(sum), .full(full));
  always #5 clk = ~clk;
  always @(posedge clk) if (rst_n && en) want <= want + d;
  initial begin
    repeat (2) @(negedge clk);
    rst_n = 1;
    repeat (60) begin
      @(negedge clk) n = n + 1;
      CHECK
      en = $random; d = $random;
    end
    END
    $finish;
  end
endmodule
"""
_ENDINGS = {
    "a line for each check": (
        'if (sum === want) $display("PASS %0d", n); else $display("FAIL %0d: sum is %h, expected %h", n, sum, want);',
        '$display("done");'),
    "a total": ("if (sum !== want) errors = errors + 1;",
                'if (errors == 0) $display("All tests passed"); else $display("%0d errors", errors);'),
    "errors": ('if (sum !== want) $error("sum is %h", sum);', ""),
    "assertions": ('assert (sum === want) else $error("sum is wrong");', '$display("end of test");'),
    "the first mistake is fatal": ('if (sum !== want) $fatal(1, "sum is %h", sum);', '$display("TEST OK");'),
    "mismatches with their times": (
        'if (sum !== want) $display("MISMATCH at time %0t: sum=%h, not %h", $time, sum, want);',
        '$display("\\nfinished\\n");'),
    "one word at the end": ("if (sum !== want) errors = errors + 1;",
                            'if (errors) $display("Test Failed"); else $display("Test Passed");'),
    "prints that cannot be marked": ("if (sum !== want) errors = errors + 1;",
                                     '$display(errors); if (errors) $display("Test Failed"); else $display("OK");'),
}
VALUES = _BENCH.replace("CHECK", '$display("%0d: sum=%0d", n, sum);').replace("END", "")
"""One that leaves the verdict to its reader."""


def benches() -> dict[str, str]:
    """By how they say what fails."""
    return {name: _BENCH.replace("CHECK", check).replace("END", end) for name, (check, end) in _ENDINGS.items()}
