`timescale 1 ps/1 ps

module stimulus_gen (
  input clk,
  output logic [7:0] a,
  output logic [7:0] b,
  output logic [2:0] op
);

  // Numbers next to where signs, carries and single bits change.
  function [7:0] edge_value(input int n);
    case (n)
      0: edge_value = 8'h00;
      1: edge_value = 8'h01;
      2: edge_value = 8'h02;
      3: edge_value = 8'h55;
      4: edge_value = 8'h7e;
      5: edge_value = 8'h7f;
      6: edge_value = 8'h80;
      7: edge_value = 8'h81;
      8: edge_value = 8'haa;
      9: edge_value = 8'hfe;
      default: edge_value = 8'hff;
    endcase
  endfunction

  logic [7:0] value;

  initial begin
    a = 0;
    b = 0;
    op = 0;

    // Every operation on every pair of such numbers.
    for (int o = 0; o < 8; o = o + 1)
      for (int i = 0; i < 11; i = i + 1)
        for (int j = 0; j < 11; j = j + 1) begin
          @(negedge clk);
          a <= edge_value(i);
          b <= edge_value(j);
          op <= o[2:0];
        end

    // Every number of places, with bits above it that have no effect.
    for (int o = 5; o < 7; o = o + 1)
      for (int places = 0; places < 8; places = places + 1)
        repeat (12) begin
          @(negedge clk);
          a <= $urandom;
          b <= {$urandom, places[2:0]};
          op <= o[2:0];
        end

    // Equal and neighbouring numbers, which differ in a borrow only.
    repeat (200) begin
      @(negedge clk);
      value = $urandom;
      a <= value;
      b <= value + ($urandom % 3) - 1;
      op <= $urandom;
    end

    // Anything, at both edges.
    repeat (4000) begin
      @(posedge clk, negedge clk);
      a <= $urandom;
      b <= $urandom;
      op <= $urandom;
    end

    #1 $finish;
  end

endmodule

module tb();

  logic clk = 0;
  initial forever #5 clk = ~clk;

  logic [7:0] a;
  logic [7:0] b;
  logic [2:0] op;
  logic [7:0] y_ref, y_dut;
  logic zero_ref, zero_dut;
  logic negative_ref, negative_dut;
  logic carry_ref, carry_dut;
  logic overflow_ref, overflow_dut;

  wire y_match = ( y_ref === (y_ref ^ y_dut ^ y_ref) );  // x in the reference accepts anything
  wire zero_match = ( zero_ref === (zero_ref ^ zero_dut ^ zero_ref) );
  wire negative_match = ( negative_ref === (negative_ref ^ negative_dut ^ negative_ref) );
  wire carry_match = ( carry_ref === (carry_ref ^ carry_dut ^ carry_ref) );
  wire overflow_match = ( overflow_ref === (overflow_ref ^ overflow_dut ^ overflow_ref) );
  wire tb_match = y_match & zero_match & negative_match & carry_match & overflow_match;
  wire tb_mismatch = ~tb_match;

  int samples = 0, errors = 0;
  int errors_y = 0, errors_zero = 0, errors_negative = 0, errors_carry = 0, errors_overflow = 0;
  int time_y, time_zero, time_negative, time_carry, time_overflow;

  initial begin
    $dumpfile("wave.vcd");
    $dumpvars(1, stim1.clk, tb_mismatch, clk, a, b, op, y_ref, y_dut, zero_ref, zero_dut, negative_ref, negative_dut,
              carry_ref, carry_dut, overflow_ref, overflow_dut);
  end

  stimulus_gen stim1 (.clk(clk), .a(a), .b(b), .op(op));

  RefModule good1 (.a(a), .b(b), .op(op), .y(y_ref), .zero(zero_ref), .negative(negative_ref),
                   .carry(carry_ref), .overflow(overflow_ref));

  TopModule top_module1 (.a(a), .b(b), .op(op), .y(y_dut), .zero(zero_dut), .negative(negative_dut),
                         .carry(carry_dut), .overflow(overflow_dut));

  always @(posedge clk, negedge clk) begin
    samples = samples + 1;
    if (!tb_match) errors = errors + 1;
    if (!y_match) begin if (errors_y == 0) time_y = $time; errors_y = errors_y + 1; end
    if (!zero_match) begin if (errors_zero == 0) time_zero = $time; errors_zero = errors_zero + 1; end
    if (!negative_match) begin
      if (errors_negative == 0) time_negative = $time;
      errors_negative = errors_negative + 1;
    end
    if (!carry_match) begin if (errors_carry == 0) time_carry = $time; errors_carry = errors_carry + 1; end
    if (!overflow_match) begin
      if (errors_overflow == 0) time_overflow = $time;
      errors_overflow = errors_overflow + 1;
    end
  end

  final begin
    if (errors_y != 0)
      $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "y",
               errors_y, time_y);
    else
      $display("Hint: Output '%s' has no mismatches.", "y");
    if (errors_zero != 0)
      $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "zero",
               errors_zero, time_zero);
    else
      $display("Hint: Output '%s' has no mismatches.", "zero");
    if (errors_negative != 0)
      $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "negative",
               errors_negative, time_negative);
    else
      $display("Hint: Output '%s' has no mismatches.", "negative");
    if (errors_carry != 0)
      $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "carry",
               errors_carry, time_carry);
    else
      $display("Hint: Output '%s' has no mismatches.", "carry");
    if (errors_overflow != 0)
      $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "overflow",
               errors_overflow, time_overflow);
    else
      $display("Hint: Output '%s' has no mismatches.", "overflow");
    $display("Hint: Total mismatched samples is %0d out of %0d samples\n", errors, samples);
    $display("Simulation finished at %0d ps", $time);
    $display("Mismatches: %0d in %0d samples", errors, samples);
  end

  // An answer that keeps the simulation from ending.
  initial begin
    #1000000
    $display("TIMEOUT");
    $finish;
  end

endmodule
