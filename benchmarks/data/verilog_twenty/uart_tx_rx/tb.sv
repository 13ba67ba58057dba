`timescale 1ns/100ps

// One UART under test with a far end made of plain procedures. The top below uses three.
module harness #(parameter DIV = 2, parameter NB = 8, parameter PAR = 0, parameter NS = 1)
    (output logic finished, output int errors, output int checks);

    localparam BIT    = 16 * DIV;                       // clocks in a bit
    localparam RXBITS = 1 + NB + (PAR ? 1 : 0) + 1;     // bits up to the examined stop bit
    localparam TXBITS = RXBITS - 1 + NS;

    logic          clk, rst_n, tx_valid, tx_ready, txd, rxd;
    logic [NB-1:0] tx_data, rx_data;
    logic          rx_valid, rx_frame_err, rx_parity_err, rx_busy;

    uart_tx_rx #(DIV, NB, PAR, NS) dut (.*);

    initial clk = 1'b0;
    always #10 clk = !clk;

    int cyc, reports, at_report, i, k, n;
    logic [NB-1:0] got;
    logic          got_fe, got_pe;

    always @(negedge clk) begin
        cyc = cyc + 1;
        if (rx_valid) begin
            reports   = reports + 1;
            at_report = cyc;
            got       = rx_data;
            got_fe    = rx_frame_err;
            got_pe    = rx_parity_err;
        end
    end

    task expect_true(input logic ok, input string what);
        checks = checks + 1;
        if (ok !== 1'b1) begin
            errors = errors + 1;
            if (errors < 10) $display("[%m] %0t: wrong: %s", $time, what);
        end
    endtask

    function logic parity_of(input logic [NB-1:0] v);
        int c;
        c = 0;
        for (int b = 0; b < NB; b++) if (v[b]) c++;
        parity_of = (PAR == 2) ? (c % 2 == 1) : (c % 2 == 0);
    endfunction

    // ---- send through the transmitter, check each clock of the line -----
    task send(input logic [NB-1:0] v);
        logic [15:0] want;
        int wait_n, b, c, wrong_line, wrong_ready;
        want = 16'hFFFF;
        want[0] = 1'b0;
        for (b = 0; b < NB; b++) want[1 + b] = v[b];
        if (PAR != 0) want[1 + NB] = parity_of(v);
        expect_true(tx_ready === 1'b1, "tx_ready before a frame");
        tx_data = v; tx_valid = 1'b1;
        @(negedge clk);
        tx_valid = 1'b0; tx_data = ~v;
        expect_true(tx_ready === 1'b0, "tx_ready after acceptance");
        wait_n = 0;
        while (txd !== 1'b0 && wait_n < 3 * DIV) begin
            wait_n++;
            @(negedge clk);
        end
        expect_true(wait_n >= 1 && wait_n <= DIV, "delay up to the start bit");
        wrong_line = 0; wrong_ready = 0;
        for (b = 0; b < TXBITS; b++)
            for (c = 0; c < BIT; c++) begin
                if (txd !== want[b]) wrong_line++;
                if (tx_ready !== 1'b0) wrong_ready++;
                if (c % 7 == 3) begin
                    tx_data  = $random;
                    tx_valid = (b != TXBITS - 1) && ($random & 1);
                end else
                    tx_valid = 1'b0;
                @(negedge clk);
            end
        expect_true(wrong_line == 0, "levels on txd");
        expect_true(wrong_ready == 0, "tx_ready during the frame");
        expect_true(tx_ready === 1'b1 && txd === 1'b1, "end of the frame");
    endtask

    // ---- drive the receiver ----------------------------------------------
    // len: clocks a bit; flip_bit: data bit that gets a disturbance of one tick, at clock flip_at
    task receive(input logic [NB-1:0] v, input int len, input logic bad_par, input logic bad_stop,
                 input int flip_bit, input int flip_at);
        logic [15:0] w;
        int b, c, r0, t0, busy_bad;
        w = 16'hFFFF;
        w[0] = 1'b0;
        for (b = 0; b < NB; b++) w[1 + b] = v[b];
        if (PAR != 0) w[1 + NB] = parity_of(v) ^ bad_par;
        w[RXBITS - 1] = ~bad_stop;
        r0 = reports; t0 = cyc; busy_bad = 0;
        for (b = 0; b < RXBITS; b++)
            for (c = 0; c < len; c++) begin
                rxd = w[b] ^ (b == flip_bit + 1 && c >= flip_at && c < flip_at + DIV);
                @(negedge clk);
                if (b > 0 && b < RXBITS - 1 && rx_busy !== 1'b1) busy_bad++;
            end
        if (bad_stop) begin
            expect_true(rx_busy === 1'b1, "busy while the line stays low");
            rxd = 1'b1;
            repeat (2 * DIV + 4) @(negedge clk);
        end
        expect_true(reports == r0 + 1, "one report a frame");
        expect_true(got === v, "received data");
        expect_true(got_fe === bad_stop, "framing error flag");
        expect_true(got_pe === ((PAR != 0) & bad_par), "parity error flag");
        expect_true(busy_bad == 0, "rx_busy within the frame");
        expect_true(rx_busy === 1'b0, "rx_busy after the frame");
        if (len == BIT)
            expect_true(at_report - t0 >= (RXBITS - 1) * BIT + 9 * DIV + 2 &&
                        at_report - t0 <= (RXBITS - 1) * BIT + 10 * DIV + 4, "time of report");
    endtask

    // A low pulse on an idle line.
    task disturb(input int clocks);
        int r0;
        r0 = reports;
        rxd = 1'b0;
        repeat (clocks) @(negedge clk);
        rxd = 1'b1;
        repeat (14 * DIV) @(negedge clk);
        expect_true(reports == r0 && rx_busy === 1'b0, "short pulse is not a frame");
    endtask

    initial begin
        finished = 0; errors = 0; checks = 0; cyc = 0; reports = 0;
        tx_data = '0; tx_valid = 0; rxd = 1; rst_n = 0;
        repeat (4) @(negedge clk);
        expect_true(txd === 1 && tx_ready === 1 && rx_valid === 0 && rx_busy === 0 &&
                    rx_data === 0 && rx_frame_err === 0 && rx_parity_err === 0, "reset values");
        rst_n = 1;
        repeat (5) @(negedge clk);

        fork
            begin
                send('0);
                send('1);
                send({NB{1'b1}} << 1);
                for (k = 0; k < 14; k++) begin
                    send($random);
                    repeat ($urandom_range(5)) @(negedge clk);
                end
            end
            begin
                receive('1, BIT, 0, 0, -9, 0);
                receive('0, BIT, 0, 0, -9, 0);
                receive(1, BIT, 1, 0, -9, 0);
                receive(1, BIT, 0, 0, -9, 0);
                receive(6, BIT, 0, 1, -9, 0);
                receive(9, BIT, 0, 0, -9, 0);
                for (i = 0; i < 8; i++) begin
                    receive($random, BIT + (i % 3) - 1, i == 4, i == 6, -9, 0);
                    repeat ($urandom_range(9)) @(negedge clk);
                end
                for (i = 0; i < 2 * NB; i++)
                    receive($random, BIT, 0, 0, i % NB, (6 + $urandom_range(4)) * DIV + 1);
            end
        join

        // Disturbances up to seven ticks are refused; a frame works right after each.
        disturb(1 * DIV);
        disturb(3 * DIV);
        disturb(7 * DIV);
        receive(5, BIT, 0, 0, -9, 0);

        // A break of forty bits is one report.
        n = reports;
        rxd = 0;
        repeat (40 * BIT) @(negedge clk);
        expect_true(reports == n + 1 && got === 0 && got_fe === 1, "break is reported once");
        expect_true(got_pe === (PAR == 1), "parity flag of a break");
        expect_true(rx_busy === 1, "busy for the length of a break");
        rxd = 1;
        repeat (BIT) @(negedge clk);
        expect_true(rx_busy === 0 && reports == n + 1, "recovery after a break");
        receive(11, BIT, 0, 0, -9, 0);
        expect_true(rx_data === 11 && rx_valid === 0, "data is kept, valid is one clock");

        // Reset in the middle of both directions.
        tx_data = '0; tx_valid = 1;
        @(negedge clk);
        tx_valid = 0; rxd = 0;
        repeat (3 * BIT) @(negedge clk);
        expect_true(txd === 0 && rx_busy === 1, "both directions under way");
        n = reports;
        #3 rst_n = 0;
        #1 expect_true(txd === 1 && tx_ready === 1 && rx_busy === 0 && rx_data === 0,
                       "asynchronous reset");
        rxd = 1;
        @(negedge clk);
        rst_n = 1;
        repeat (20 * BIT) @(negedge clk);
        expect_true(reports == n && txd === 1, "aborted frames stay aborted");
        send(19);
        receive(21, BIT, 0, 0, -9, 0);
        finished = 1;
    end
endmodule

module testbench;
    logic f1, f2, f3;
    int   e1, e2, e3, c1, c2, c3;
    int   late;

    harness #(.DIV(2), .NB(8), .PAR(0), .NS(1)) h_8n1 (f1, e1, c1);
    harness #(.DIV(3), .NB(7), .PAR(2), .NS(2)) h_7e2 (f2, e2, c2);
    harness #(.DIV(2), .NB(5), .PAR(1), .NS(1)) h_5o1 (f3, e3, c3);

    initial begin
        late = 0;
        fork : wait_for_end
            begin
                wait (f1 === 1'b1 && f2 === 1'b1 && f3 === 1'b1);
                disable wait_for_end;
            end
            begin
                #2000000;
                late = 1;
                $display("no end in sight, giving up");
                disable wait_for_end;
            end
        join
        if (e1 + e2 + e3 + late == 0)
            $display("All tests passed (%0d checks)", c1 + c2 + c3);
        else
            $display("%0d errors", e1 + e2 + e3 + late);
        $finish;
    end
endmodule
