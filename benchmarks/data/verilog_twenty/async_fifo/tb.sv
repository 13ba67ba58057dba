`timescale 1ns / 1ps
// Checks async_fifo against a model that only counts: absolute numbers of words written and
// read, delayed through integer pipelines, and a big array with every word ever accepted.
module tb_async_fifo;

    localparam int W     = 12;
    localparam int AB    = 3;
    localparam int GAP   = 3;
    localparam int DEPTH = 8;

    logic          wr_clk = 0, rd_clk = 0;
    logic          wr_rst_n = 1, rd_rst_n = 1;
    logic          wr_en = 0, rd_en = 0;
    logic [W-1:0]  wr_data = 0;
    wire           wr_full, wr_almost_full, rd_empty, rd_miss;
    wire  [AB:0]   wr_level, rd_level;
    wire  [7:0]    wr_drops;
    wire  [W-1:0]  rd_data;

    async_fifo #(.WIDTH(W), .ADDR_BITS(AB), .AFULL_GAP(GAP)) dut (.*);

    // clocks whose edges never fall on the same picosecond
    real wr_half = 5.0;
    real rd_half = 6.7;
    always #(wr_half) wr_clk = ~wr_clk;
    initial #0.313 forever #(rd_half) rd_clk = ~rd_clk;

    // ------------------------------------------------------------------ model
    logic [W-1:0] history [0:65535];
    int n_written, n_read;            // absolute counts
    int n_written_x, n_read_x;        // the same, as the other clock sees them
    int w_seen [0:2];                 // n_written as it travels to the read side
    int r_seen [0:2];                 // n_read as it travels to the write side
    int m_wlevel, m_rlevel, m_drops;
    bit m_miss;
    int mismatches = 0, checks = 0;
    int wr_rate = 0, rd_rate = 0;     // percent
    int reached_full = 0, reached_empty = 0;

    task automatic expect_eq(input string what, input logic [31:0] got,
                             input logic [31:0] want);
        checks++;
        if (got !== want) begin
            mismatches++;
            if (mismatches <= 20)
                $display("MISMATCH at time %0t: %s is %0d, expected %0d", $time, what, got, want);
        end
    endtask

    task automatic model_reset;
        n_written = 0; n_read = 0; n_written_x = 0; n_read_x = 0;
        m_wlevel = 0; m_rlevel = 0; m_drops = 0; m_miss = 0;
        for (int i = 0; i < 3; i++) begin
            w_seen[i] = 0;
            r_seen[i] = 0;
        end
    endtask

    // write clock: first update the model with what the edge saw, then compare
    always @(posedge wr_clk) if (wr_rst_n) begin
        if (wr_en) begin
            if (m_wlevel < DEPTH) begin
                history[n_written] = wr_data;
                n_written = n_written + 1;
            end else begin
                reached_full++;
                if (m_drops < 255) m_drops = m_drops + 1;
            end
        end
        m_wlevel  = n_written - r_seen[1];
        r_seen[1] = r_seen[0];
        r_seen[0] = n_read_x;
        n_written_x <= n_written;
        #1;
        if (wr_rst_n) check_wr();
        if (wr_rst_n) begin
            wr_en   = ($urandom % 100) < wr_rate;
            wr_data = $urandom;
        end
    end

    always @(posedge rd_clk) if (rd_rst_n) begin
        if (rd_en) begin
            if (m_rlevel > 0) n_read = n_read + 1;
            else begin
                m_miss = 1;
                reached_empty++;
            end
        end
        m_rlevel  = w_seen[1] - n_read;
        w_seen[1] = w_seen[0];
        w_seen[0] = n_written_x;
        n_read_x <= n_read;
        #1;
        if (rd_rst_n) check_rd();
        if (rd_rst_n) rd_en = ($urandom % 100) < rd_rate;
    end

    task automatic check_wr;
        expect_eq("wr_level", wr_level, m_wlevel);
        expect_eq("wr_full", wr_full, m_wlevel == DEPTH);
        expect_eq("wr_almost_full", wr_almost_full, m_wlevel >= DEPTH - GAP);
        expect_eq("wr_drops", wr_drops, m_drops);
    endtask

    task automatic check_rd;
        expect_eq("rd_level", rd_level, m_rlevel);
        expect_eq("rd_empty", rd_empty, m_rlevel == 0);
        expect_eq("rd_data", rd_data, m_rlevel == 0 ? 0 : history[n_read]);
        expect_eq("rd_miss", rd_miss, m_miss);
    endtask

    task automatic do_reset;
        wr_rst_n = 0; rd_rst_n = 0;
        wr_en = 0; rd_en = 0;
        model_reset();
        #0.1;                               // asynchronous: no clock needed
        check_wr();
        check_rd();
        #57.777;
        check_wr();
        check_rd();
        wr_rst_n = 1; rd_rst_n = 1;
    endtask

    task automatic phase(input real wh, input real rh, input int wrate, input int rrate,
                         input real len);
        wr_half = wh; rd_half = rh; wr_rate = wrate; rd_rate = rrate;
        #(len);
    endtask

    initial begin
        model_reset();
        #3 do_reset();
        phase(5.0, 6.7, 0, 0, 100);
        phase(5.0, 6.7, 100, 0, 300);       // fill up
        phase(5.0, 6.7, 0, 100, 300);       // run dry
        phase(5.0, 6.7, 60, 60, 3000);
        phase(4.1, 17.3, 70, 100, 4000);    // fast writer
        phase(19.1, 3.7, 100, 80, 4000);    // fast reader
        phase(5.0, 5.003, 100, 100, 3000);
        wr_rate = 90; rd_rate = 10;
        #200.45 do_reset();                 // reset in full flight
        phase(5.0, 6.7, 0, 0, 100);         // no read tried yet: miss stays 0
        phase(5.0, 6.7, 30, 0, 400);
        phase(5.0, 6.7, 50, 40, 3000);
        phase(3.0, 7.7, 100, 5, 2500);      // saturates the drop counter
        phase(6.0, 4.7, 20, 90, 2000);
        if (reached_full < 260 || reached_empty < 20) begin
            mismatches++;
            $display("MISMATCH at time %0t: stimulus too weak (%0d/%0d)", $time, reached_full,
                     reached_empty);
        end
        $display("%0d checks, %0d mismatches", checks, mismatches);
        if (mismatches == 0) $display("RESULT: clean");
        else                 $display("RESULT: design differs from the model");
        $finish;
    end

endmodule
