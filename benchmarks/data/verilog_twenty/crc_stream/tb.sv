`timescale 1ns / 1ps

// One engine under test with random traffic. The reference never shifts a register: it keeps the
// message as a string of bits and divides it by the polynomial once it is complete.
module crc_agent #(
    parameter int           DATA_W = 8,
    parameter int           CRC_W  = 16,
    parameter logic [31:0]  POLY   = 32'h1021,
    parameter logic [31:0]  INIT   = 32'hFFFF,
    parameter logic [31:0]  XOROUT = 0,
    parameter bit           RIN    = 0,
    parameter bit           ROUT   = 0,
    parameter int           LEN_W  = 16,
    parameter logic [31:0]  CHECK  = 0,     // published value for "123456789", if DATA_W is 8
    parameter int           CYCLES = 240
) (
    input  bit  clk,
    output bit  finished
);

    logic              rst_n, abort, s_valid, s_ready, s_last, m_valid, m_ready;
    logic [DATA_W-1:0] s_data;
    logic [CRC_W-1:0]  m_crc, running;
    logic [LEN_W-1:0]  m_len;

    crc_stream #(
        .DATA_W(DATA_W), .CRC_W(CRC_W), .POLY(POLY[CRC_W-1:0]), .INIT(INIT[CRC_W-1:0]),
        .XOR_OUT(XOROUT[CRC_W-1:0]), .REFLECT_IN(RIN), .REFLECT_OUT(ROUT), .LEN_W(LEN_W)
    ) i_crc (.*);

    int checked = 0, bad_clocks = 0;

    // ------------------------------------------------------------- reference
    bit msg [0:1023];
    bit work [0:1087];
    int nbits = 0, nwords = 0;
    logic [31:0] live;                   // remainder of the words so far

    // Remainder of (message followed by CRC_W zeros), with INIT laid over its first CRC_W bits,
    // in the form in which the engine shall show it.
    function logic [31:0] divide(input int n);
        for (int i = 0; i < n + CRC_W; i++)
            work[i] = (i < n) ? msg[i] : 1'b0;
        for (int i = 0; i < CRC_W; i++)
            work[i] = work[i] ^ INIT[CRC_W-1-i];
        for (int i = 0; i < n; i++)
            if (work[i])
                for (int j = 0; j < CRC_W; j++)
                    work[i+1+j] = work[i+1+j] ^ POLY[CRC_W-1-j];
        divide = 0;
        for (int j = 0; j < CRC_W; j++)
            divide[j] = work[ROUT ? n+j : n+CRC_W-1-j] ^ XOROUT[j];
    endfunction

    task automatic append(input logic [DATA_W-1:0] w);
        for (int i = 0; i < DATA_W; i++) begin
            msg[nbits] = RIN ? w[i] : w[DATA_W-1-i];
            nbits = nbits + 1;
        end
        nwords = nwords + 1;
        live = divide(nbits);
    endtask

    task automatic restart;
        nbits = 0; nwords = 0;
        live = divide(0);
    endtask

    bit                e_valid;
    logic [CRC_W-1:0]  e_crc;
    int                e_len;

    task automatic compare;
        checked += 5;
        if (m_valid !== e_valid) $error("%m: m_valid %b, expected %b", m_valid, e_valid);
        if (m_crc !== e_crc) $error("%m: m_crc %h, expected %h", m_crc, e_crc);
        if (m_len !== e_len[LEN_W-1:0]) $error("%m: m_len %0d, expected %0d", m_len, e_len);
        if (running !== live[CRC_W-1:0])
            $error("%m: running %h, expected %h", running, live[CRC_W-1:0]);
        if (s_ready !== (!e_valid || m_ready)) $error("%m: s_ready is %b", s_ready);
        if (m_valid !== e_valid || m_crc !== e_crc || running !== live[CRC_W-1:0]) begin
            bad_clocks++;
            if (bad_clocks == 30) begin
                $display("%m: giving up");
                $finish;
            end
        end
    endtask

    // One clock with the inputs as they stand; the reference moves along.
    task automatic step;
        #1 compare();
        if (abort) begin
            if (m_ready) e_valid = 0;
            restart();
        end else if (s_valid && (!e_valid || m_ready)) begin
            append(s_data);
            if (m_ready) e_valid = 0;
            if (s_last) begin
                e_valid = 1;
                e_crc   = live[CRC_W-1:0];
                e_len   = nwords < (1 << LEN_W) ? nwords : (1 << LEN_W) - 1;
                restart();
            end
        end else if (m_ready)
            e_valid = 0;
        @(posedge clk);
        #1 compare();
    endtask

    task automatic drive(input bit v, input bit l, input logic [DATA_W-1:0] d, input bit r,
                         input bit a);
        s_valid = v; s_last = l; s_data = d; m_ready = r; abort = a;
        step();
    endtask

    task automatic reset;
        rst_n = 0; s_valid = 0; s_last = 0; s_data = 0; m_ready = 0; abort = 0;
        e_valid = 0; e_crc = 0; e_len = 0;
        restart();
        #2 compare();                        // asynchronous
        @(posedge clk);
        #1 compare();
        rst_n = 1;
    endtask

    int p_last, p_ready;

    initial begin
        finished = 0;
        rst_n = 1; s_valid = 0; s_last = 0; s_data = 0; m_ready = 0; abort = 0;
        #3 reset();
        if (DATA_W == 8) begin
            for (int i = 1; i <= 9; i++) drive(1, i == 9, "0" + i, 0, 0);
            checked++;
            if (m_crc !== CHECK[CRC_W-1:0]) $error("%m: check value %h, not %h", m_crc, CHECK);
            drive(0, 0, 8'h55, 0, 0);
            drive(1, 1, 8'h77, 0, 0);        // must wait: nobody collects
            drive(1, 1, 8'h77, 1, 0);        // collected and replaced
            drive(0, 1, 8'h00, 1, 0);
            drive(0, 1, 8'h00, 1, 0);
        end
        for (int n = 0; n < CYCLES; n++) begin
            p_last  = (n < CYCLES / 2) ? 4 : 13;
            p_ready = 1 + (n / 50) % 3;
            drive($urandom % 4 != 0, nwords > 20 || $urandom % p_last == 0, {$urandom, $urandom},
                  $urandom % 4 < p_ready, $urandom % 31 == 0);
            if (n == CYCLES / 3) begin
                #2.5 reset();
            end
        end
        finished = 1;
    end

endmodule


module test_top;

    bit clk;
    wire [6:0] finished;

    always #5 clk = ~clk;

    crc_agent #(.CHECK(32'h29B1)) ccitt (clk, finished[0]);
    crc_agent #(8, 32, 32'h04C11DB7, 32'hFFFFFFFF, 32'hFFFFFFFF, 1, 1, 16, 32'hCBF43926)
        ethernet (clk, finished[1]);
    crc_agent #(8, 8, 32'h07, 0, 0, 0, 0, 3, 32'hF4) smbus (clk, finished[2]);
    crc_agent #(8, 5, 32'h05, 32'h1F, 32'h1F, 1, 1, 4, 32'h19) usb (clk, finished[3]);
    crc_agent #(16, 12, 32'h80F, 32'h3A5, 32'h001, 1, 0, 8) odd12 (clk, finished[4]);
    crc_agent #(1, 7, 32'h09, 0, 32'h55, 0, 1, 5) serial7 (clk, finished[5]);
    crc_agent #(33, 24, 32'h864CFB, 32'hB704CE, 0, 0, 0, 16, 0, 100) wide24 (clk, finished[6]);

    initial begin
        wait (&finished);
        $display("end of test after %0d comparisons in the first agent", ccitt.checked);
        $finish;
    end

    initial begin
        #1000000 $error("the test hangs");
        $finish;
    end

endmodule
