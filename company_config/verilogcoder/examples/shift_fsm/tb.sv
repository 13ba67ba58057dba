`timescale 1 ps/1 ps

// Inputs change at negative edges, so that each bit is stable around the positive edge that takes it.
module stimulus_gen (
  input clk,
  output logic reset,
  output logic in
);

  localparam [4:0] SYNC = 5'b10110;

  task send(input value);
    @(negedge clk);
    reset <= 0;
    in <= value;
  endtask

  task send_sync;
    for (int i = 4; i >= 0; i = i - 1) send(SYNC[i]);
  endtask

  task send_word(input [5:0] value);
    for (int i = 5; i >= 0; i = i - 1) send(value[i]);
  endtask

  task send_reset(input value);
    @(negedge clk);
    reset <= 1;
    in <= value;
  endtask

  // A reset that comes and goes between two positive edges is never seen.
  task send_glitch(input value);
    @(negedge clk);
    in <= value;
    reset <= 1;
    #2 reset <= 0;
  endtask

  initial begin
    reset = 1;
    in = 0;
    repeat (2) send_reset(1);
    repeat (3) send(0);

    // Every word, right after the last one and after a gap, among them those that hold parts of the pattern.
    for (int w = 0; w < 64; w = w + 1) begin
      send_sync;
      send_word(w[5:0]);
    end
    for (int w = 63; w >= 0; w = w - 1) begin
      send_sync;
      send_word(w[5:0]);
      repeat ($urandom % 8) send($urandom);
      send_reset(1);
    end

    // Failed matches: all 256 sequences of eight bits, one after the other.
    for (int w = 0; w < 256; w = w + 1)
      for (int i = 7; i >= 0; i = i - 1) send(w[i]);

    // The pattern with each of its bits in turn in a reset.
    for (int bits = 0; bits < 5; bits = bits + 1) begin
      send_reset(0);
      for (int i = 0; i < 5; i = i + 1)
        if (i == bits) send_reset(SYNC[4 - i]); else send(SYNC[4 - i]);
      send_word($urandom);
      send(0);
    end

    // A reset, and a glitch that is none, after each number of bits of a frame.
    for (int bits = 1; bits <= 12; bits = bits + 1)
      for (int last = 0; last < 4; last = last + 1) begin
        send_reset(last[0]);
        for (int i = 0; i < bits; i = i + 1)
          send(i < 5 ? SYNC[4 - i] : $urandom);
        if (last[1]) send_glitch($urandom); else send_reset(last[0]);
        for (int i = 4; i >= 0; i = i - 1) send(SYNC[i]);
        send_word($urandom);
        send(0);
      end

    // Anything at all, with frames in it and now and then a reset.
    repeat (600) begin
      if ($urandom % 3 == 0) send_sync;
      repeat ($urandom % 9) send($urandom);
      if ($urandom % 16 == 0) send_reset($urandom);
    end

    #1 $finish;
  end

endmodule

module tb();

  logic clk = 0;
  initial forever #5 clk = ~clk;

  logic reset;
  logic in;
  logic busy_ref, busy_dut;
  logic done_ref, done_dut;
  logic [5:0] word_ref, word_dut;
  logic odd_ref, odd_dut;

  wire busy_match = ( busy_ref === (busy_ref ^ busy_dut ^ busy_ref) );  // x in the reference accepts anything
  wire done_match = ( done_ref === (done_ref ^ done_dut ^ done_ref) );
  wire word_match = ( word_ref === (word_ref ^ word_dut ^ word_ref) );
  wire odd_match = ( odd_ref === (odd_ref ^ odd_dut ^ odd_ref) );
  wire tb_match = busy_match & done_match & word_match & odd_match;
  wire tb_mismatch = ~tb_match;

  int samples = 0, errors = 0;
  int errors_busy = 0, errors_done = 0, errors_word = 0, errors_odd = 0;
  int time_busy, time_done, time_word, time_odd;

  initial begin
    $dumpfile("wave.vcd");
    $dumpvars(1, stim1.clk, tb_mismatch, clk, reset, in, busy_ref, busy_dut, done_ref, done_dut, word_ref, word_dut,
              odd_ref, odd_dut);
  end

  stimulus_gen stim1 (.clk(clk), .reset(reset), .in(in));

  RefModule good1 (.clk(clk), .reset(reset), .in(in),
                   .busy(busy_ref), .done(done_ref), .word(word_ref), .odd(odd_ref));

  TopModule top_module1 (.clk(clk), .reset(reset), .in(in),
                         .busy(busy_dut), .done(done_dut), .word(word_dut), .odd(odd_dut));

  always @(posedge clk, negedge clk) begin
    samples = samples + 1;
    if (!tb_match) errors = errors + 1;
    if (!busy_match) begin if (errors_busy == 0) time_busy = $time; errors_busy = errors_busy + 1; end
    if (!done_match) begin if (errors_done == 0) time_done = $time; errors_done = errors_done + 1; end
    if (!word_match) begin if (errors_word == 0) time_word = $time; errors_word = errors_word + 1; end
    if (!odd_match) begin if (errors_odd == 0) time_odd = $time; errors_odd = errors_odd + 1; end
  end

  final begin
    if (errors_busy != 0)
      $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "busy",
               errors_busy, time_busy);
    else
      $display("Hint: Output '%s' has no mismatches.", "busy");
    if (errors_done != 0)
      $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "done",
               errors_done, time_done);
    else
      $display("Hint: Output '%s' has no mismatches.", "done");
    if (errors_word != 0)
      $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "word",
               errors_word, time_word);
    else
      $display("Hint: Output '%s' has no mismatches.", "word");
    if (errors_odd != 0)
      $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "odd",
               errors_odd, time_odd);
    else
      $display("Hint: Output '%s' has no mismatches.", "odd");
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
