`timescale 1ns/1ps

// Checks one configuration. The expected bits come from a long record of past bits and the
// recurrence of the polynomial, not from a shift register.
module link_check #(
    parameter D = 8, parameter L = 7, parameter T = 4, parameter SELF = 1, parameter E = 8,
    parameter [L-1:0] START = {L{1'b1}}, parameter real TP = 10.0, parameter real RP = 7.0
) (output logic over);

    localparam MAXBITS = 60000;

    logic tx_clk = 0, rx_clk = 0, tx_rst_n = 1, rx_rst = 1;
    logic tx_load = 0, tx_en = 0, tx_bypass = 0, tx_test = 0;
    logic rx_load = 0, rx_en = 0, rx_bypass = 0, rx_test = 0;
    logic [D-1:0] tx_data = 0, rx_scr = 0, tx_scr, rx_data;
    logic tx_scr_valid, rx_valid, rx_locked;
    logic [E-1:0] err_count;

    lfsr_scrambler #(.DATA_W(D), .LEN(L), .TAP(T), .SELF_SYNC(SELF), .SEED(START), .ERR_W(E))
        u0 (.*);

    always #(TP / 2) tx_clk = ~tx_clk;
    always #(RP / 2) rx_clk = ~rx_clk;

    // Records: index grows with time; the first L entries are the seed, oldest first.
    logic trec [0:MAXBITS-1];
    logic rrec [0:MAXBITS-1];
    int   tn, rn;

    logic [D-1:0] x_scr, x_data;
    logic         x_locked;
    int           x_err, rbits, n, m, b, ones;
    logic [D-1:0] word, line;
    logic [D-1:0] pipe [$];                 // scrambled words on their way
    logic [D-1:0] sent [$];                 // the plain ones
    logic [D-1:0] plain;
    logic         k, trust;

    task tx_seed;
        for (b = 0; b < L; b++) trec[b] = START[L-1-b];
        tn = L;
    endtask

    task rx_seed;
        for (int c = 0; c < L; c++) rrec[c] = START[L-1-c];
        rn = L;
        rbits = 0;
    endtask

    // One clock of the transmitter with the inputs as set; compares at the following falling edge.
    task tx_step;
        logic x_valid;
        @(posedge tx_clk);
        x_valid = 0;
        if (tx_load) tx_seed;
        else if (tx_en) begin
            word = tx_test ? 0 : tx_data;
            x_valid = 1;
            if (tx_bypass) x_scr = word;
            else
                for (b = 0; b < D; b++) begin
                    k = trec[tn-L] != trec[tn-T];
                    x_scr[b] = word[b] != k;
                    trec[tn] = SELF ? x_scr[b] : k;
                    tn++;
                end
            if (!tx_bypass) begin
                pipe.push_back(x_scr);
                sent.push_back(word);
            end
        end
        @(negedge tx_clk);
        if (tx_scr_valid !== x_valid) $error("tx_scr_valid is %b", tx_scr_valid);
        if (tx_scr !== x_scr) $error("tx_scr is %h, must be %h", tx_scr, x_scr);
    endtask

    task rx_step;
        logic x_valid;
        int   c;
        @(posedge rx_clk);
        x_valid = 0;
        if (rx_rst) begin
            rx_seed;
            x_data = 0; x_locked = 0; x_err = 0;
        end else if (rx_load) begin
            rx_seed;
            x_err = 0;
            x_locked = (SELF == 0);
        end else if (rx_en) begin
            x_valid = 1;
            if (rx_bypass) x_data = rx_scr;
            else begin
                ones = 0;
                for (c = 0; c < D; c++) begin
                    x_data[c] = rx_scr[c] ^ rrec[rn-L] ^ rrec[rn-T];
                    ones += x_data[c];
                    rrec[rn] = SELF ? rx_scr[c] : (rrec[rn-L] ^ rrec[rn-T]);
                    rn++;
                end
                trust = SELF ? (rbits >= L) : x_locked;
                rbits += D;
                if (SELF) x_locked = trust;
                if (trust && rx_test) x_err = (x_err + ones >= 2**E) ? 2**E - 1 : x_err + ones;
            end
        end
        @(negedge rx_clk);
        if (rx_valid !== x_valid) $error("rx_valid is %b", rx_valid);
        if (rx_data !== x_data) $error("rx_data is %h, must be %h", rx_data, x_data);
        if (rx_locked !== x_locked) $error("rx_locked is %b", rx_locked);
        if (err_count !== x_err[E-1:0]) $error("err_count is %0d, must be %0d", err_count, x_err);
    endtask

    // A half that is not being tested must stand still: its clock goes on.
    task tx_rest;
        tx_load = 0; tx_en = 0; tx_bypass = 0; tx_test = 0;
    endtask

    task rx_rest;
        rx_rst = 0; rx_load = 0; rx_en = 0; rx_bypass = 0; rx_test = 0;
    endtask

    // Restarts the transmitter and sends words into the queues.
    task send(input int words, input logic zeros);
        @(negedge tx_clk);
        tx_load = 1; tx_en = 1;
        tx_step;
        tx_load = 0; tx_test = zeros;
        pipe.delete();
        sent.delete();
        for (n = 0; n < words; n++) begin
            tx_data = $random;
            tx_step;
        end
        tx_rest;
    endtask

    task rx_restart;
        @(negedge rx_clk);
        rx_load = 1; rx_en = 1; rx_scr = $random;
        rx_step;
        rx_load = 0;
    endtask

    initial begin
        over = 0;
        x_scr = 0;
        // --- reset of both halves, each with its own kind
        tx_en = 1; tx_data = '1; rx_en = 1;
        #1 tx_rst_n = 0;
        #1 if (tx_scr !== 0 || tx_scr_valid !== 0) $error("asynchronous reset of the transmitter");
        tx_seed;
        repeat (2) @(negedge tx_clk);
        if (tx_scr !== 0 || tx_scr_valid !== 0) $error("transmitter works in reset");
        tx_rest;
        tx_rst_n = 1;
        tx_step;
        @(negedge rx_clk);
        rx_load = 1;
        rx_step;
        rx_rest;
        rx_step;

        // --- plain stream, without a load: both start from the seed by reset
        @(negedge rx_clk);
        rx_en = 1;
        for (m = 0; m < 8; m++) begin
            rx_scr = $random;
            rx_step;
        end
        rx_rest;

        // --- stream through both, receiver on its own clock and with pauses
        send(60, 0);
        rx_restart;
        for (m = 0; m < 60; m++) begin
            rx_scr = pipe.pop_front();
            rx_step;
            plain = sent.pop_front();
            if (rx_data !== plain) $error("the link gives %h for %h", rx_data, plain);
            if (m % 7 == 3) begin
                rx_en = 0; rx_scr = $random;
                rx_step;
                rx_en = 1;
            end
        end
        rx_rest;

        // --- test mode: zeros in, two wrong bits on the line
        send(50, 1);
        rx_restart;
        for (m = 0; m < 50; m++) begin
            line = pipe.pop_front();
            if (m == 20 || m == 31) line[m % D] = ~line[m % D];
            rx_test = (m < 45);
            rx_scr = line;
            rx_step;
        end
        if (err_count !== (SELF ? 6 : 2)) $error("%0d errors counted", err_count);
        rx_rest;

        // --- a self-synchronising receiver finds its way into a running stream
        send(40, 0);
        rx_restart;
        for (m = 0; m < 40; m++) begin
            line = pipe.pop_front();
            plain = sent.pop_front();
            if (SELF == 0 || m >= 5) begin
                rx_scr = line;
                rx_step;
                if (rx_locked && rx_data !== plain) $error("%h came out for %h", rx_data, plain);
            end
        end
        if (rx_locked !== 1'b1) $error("no lock");
        rx_rest;

        // --- random control on both sides, at the same time
        fork
            begin
                @(negedge tx_clk);
                repeat (900) begin
                    tx_load   = ($urandom % 50 == 0);
                    tx_en     = ($urandom % 4 != 0);
                    tx_bypass = ($urandom % 6 == 0);
                    tx_test   = ($urandom % 7 == 0);
                    tx_data   = $urandom;
                    tx_step;
                end
                tx_rest;
            end
            begin
                @(negedge rx_clk);
                repeat (900) begin
                    rx_rst    = ($urandom % 120 == 0);
                    rx_load   = ($urandom % 60 == 0);
                    rx_en     = ($urandom % 4 != 0);
                    rx_bypass = ($urandom % 6 == 0);
                    rx_test   = ($urandom % 2 == 0);
                    rx_scr    = $urandom;
                    rx_step;
                end
                rx_rest;
            end
        join

        // --- saturation of the error counter, then a reset
        rx_restart;
        rx_test = 1;
        for (m = 0; m < 3 * 2**E / D + 20; m++) begin
            rx_scr = $urandom;
            rx_step;
        end
        if (err_count !== {E{1'b1}}) $error("counter has not reached its end");
        rx_rst = 1;
        rx_step;
        rx_rst = 0;
        for (m = 0; m < 12; m++) begin
            rx_scr = $urandom;
            rx_step;
        end
        rx_rest;

        // --- reset of the transmitter while it sends
        @(negedge tx_clk);
        tx_en = 1;
        tx_step;
        #1 tx_rst_n = 0;
        #1 if (tx_scr !== 0 || tx_scr_valid !== 0) $error("second reset of the transmitter");
        tx_seed;
        x_scr = 0;
        #0.5 tx_rst_n = 1;
        for (n = 0; n < 20; n++) begin
            tx_data = $random;
            tx_step;
        end
        over = 1;
    end
endmodule

module scrambler_test;
    logic o1, o2, o3;

    link_check                                                    byte_self (o1);
    link_check #(4, 15, 14, 0, 5, 15'h1234, 6.0, 13.0)            nibble_add (o2);
    link_check #(.D(12), .L(23), .T(5), .START(23'h00_00F1), .TP(8.0), .RP(8.2)) wide_self (o3);

    initial begin
        wait (o1 === 1'b1 && o2 === 1'b1 && o3 === 1'b1);
        $display("end of the scrambler test");
        $finish;
    end

    initial begin
        #500000 $error("a part of the test hangs");
        $finish;
    end
endmodule
