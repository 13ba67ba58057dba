"""Two designs with benches in VerilogEval's form: a lock of two modules, and an arithmetic unit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jinja2 import Template

_BENCH = Template("""`timescale 1 ps/1 ps
module tb;
  reg clk = 0{% for name in inputs %}, {{ name }} = 0{% endfor %};
{% for name, width in inputs.items() %}
  reg [{{ width - 1 }}:0] drive_{{ name }} = 0;
{% endfor %}
{% for name, width in outputs.items() %}
  wire [{{ width - 1 }}:0] {{ name }}_ref, {{ name }}_dut;
  integer errors_{{ name }} = 0, first_{{ name }} = 0;
{% endfor %}
  integer errors = 0, samples = 0;
  always #5 clk = ~clk;
  initial $dumpvars(1, clk);
  always @(negedge clk) begin
{% for name in inputs %}
    drive_{{ name }} <= {{ "samples < 6 || $urandom % 16 == 0" if name == "reset" else "$urandom" }};
{% endfor %}
  end
{% for module, name, end in [("RefModule", "good1", "ref"), ("TopModule", "top_module1", "dut")] %}
  {{ module }} {{ name }}(.clk(clk){% for name in inputs %}, .{{ name }}(drive_{{ name }}){% endfor -%}
  {%- for name in outputs %}, .{{ name }}({{ name }}_{{ end }}){% endfor %});
{% endfor %}
  always @(posedge clk, negedge clk) begin
    samples = samples + 1;
{% for name in outputs %}
    if ({{ name }}_ref !== ({{ name }}_ref ^ {{ name }}_dut ^ {{ name }}_ref)) begin
      errors = errors + 1;
      if (errors_{{ name }} == 0) first_{{ name }} = $time;
      errors_{{ name }} = errors_{{ name }} + 1;
    end
{% endfor %}
  end
  initial #4000 $finish;
  final begin
{% for name in outputs %}
    if (errors_{{ name }})
      $display("Hint: Output '{{ name }}' has %0d mismatches. First mismatch occurred at time %0d.",
               errors_{{ name }}, first_{{ name }});
    else $display("Hint: Output '{{ name }}' has no mismatches.");
{% endfor %}
    $display("Mismatches: %1d in %1d samples", errors, samples);
  end
endmodule
""", trim_blocks=True, lstrip_blocks=True)


@dataclass(frozen=True)
class Sample:
    """A right answer, with its ports beside `clk` and their widths."""

    answer: str
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]

    @property
    def reference(self) -> str:
        return self.answer.replace("TopModule", "RefModule").replace("Window", "RefWindow")

    @property
    def bench(self) -> str:
        text: str = _BENCH.render(inputs=self.inputs, outputs=self.outputs)
        return text


LOCK = Sample("""module Window(input clk, input reset, input in, output reg [2:0] last);
  always @(posedge clk)
    if (reset) last <= 3'b000;
    else last <= {last[1:0], in};
endmodule

module TopModule(input clk, input reset, input in, input close, output open, output reg [3:0] tries);
  localparam SHUT = 0, WAIT = 1, OPEN = 2;
  wire [2:0] last;
  reg [1:0] state, next;
  Window window(.clk(clk), .reset(reset), .in(in), .last(last));
  always @(*)
    case (state)
      SHUT: next = last == 3'b101 ? WAIT : SHUT;
      WAIT: next = in ? OPEN : SHUT;
      OPEN: next = close ? SHUT : OPEN;
      default: next = SHUT;
    endcase
  always @(posedge clk) begin
    if (reset) begin
      state <= SHUT;
      tries <= 0;
    end else begin
      state <= next;
      if (state == WAIT && next == SHUT) tries <= tries + 1;
    end
  end
  assign open = state == OPEN;
endmodule
""", {"reset": 1, "in": 1, "close": 1}, {"open": 1, "tries": 4})

UNIT = Sample("""module TopModule(input clk, input [1:0] op, input [3:0] a, b, output reg [4:0] y, output zero, odd);
  function [4:0] least(input [3:0] p, q);
    begin
      least = p;
      if (q < p)
        least = q;
    end
  endfunction
  wire [4:0] sum = a + b,
             difference = a - b;
  reg [4:0] now;
  always @(*) begin
    now = 5'd0;
    case (op)
      2'd0: now = sum;
      2'd1: now = difference;
      2'd2: now = {1'b0, a & b};
      2'd3: now = least(a, b);
    endcase
  end
  always @(posedge clk)
    y <= now;
  assign zero = y == 0;
  genvar i;
  wire [5:0] parity;
  assign parity[0] = 0;
  generate for (i = 0; i < 5; i = i + 1) begin : chain
    assign parity[i + 1] = parity[i] ^ y[i];
  end endgenerate
  assign odd = parity[5];
endmodule
""", {"op": 2, "a": 4, "b": 4}, {"y": 5, "zero": 1, "odd": 1})
