module RefModule (
  input clk,
  input reset,
  input in,
  output busy,
  output done,
  output logic [5:0] word,
  output odd
);

  // The first five states say how many bits of the pattern 10110 have been seen.
  localparam [2:0] NONE = 0, B1 = 1, B10 = 2, B101 = 3, B1011 = 4, SHIFT = 5, DONE = 6;
  logic [2:0] state, next;
  logic [2:0] left;   // bits of the word still to come after this one
  logic [4:0] taken;  // bits of the word so far

  always_comb begin
    case (state)
      NONE:    next = in ? B1 : NONE;
      B1:      next = in ? B1 : B10;
      B10:     next = in ? B101 : NONE;
      B101:    next = in ? B1011 : B10;
      B1011:   next = in ? B1 : SHIFT;
      SHIFT:   next = (left == 0) ? DONE : SHIFT;
      DONE:    next = in ? B1 : NONE;
      default: next = NONE;
    endcase
  end

  always_ff @(posedge clk) begin
    if (reset) begin
      state <= NONE;
      word <= 0;
    end else begin
      state <= next;
      if (state == SHIFT) begin
        left <= left - 1;
        taken <= {taken[3:0], in};
        if (left == 0) word <= {taken, in};
      end else
        left <= 5;
    end
  end

  assign busy = (state == SHIFT);
  assign done = (state == DONE);
  assign odd = ^word;

endmodule
