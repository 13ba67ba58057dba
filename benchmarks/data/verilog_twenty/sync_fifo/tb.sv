`timescale 1ns / 1ps

// Two buffers of different shape get the same requests; each is compared with a queue.
module sync_fifo_tb;
    localparam int DA = 5;
    localparam int DB = 8;

    logic        clk = 1'b0;
    logic        rst, clear, wr_en, rd_en;
    logic [11:0] wr_data;

    logic [7:0]  a_rd;
    logic        a_full, a_empty, a_afull, a_aempty, a_over, a_under;
    logic [3:0]  a_count, a_peak;
    logic [11:0] b_rd;
    logic        b_full, b_empty, b_afull, b_aempty, b_over, b_under;
    logic [3:0]  b_count, b_peak;

    sync_fifo #(.WIDTH(8), .DEPTH(DA), .AFULL_MARGIN(1), .AEMPTY_LEVEL(1), .FWFT(0)) uut_reg (
        .clk(clk), .rst(rst), .clear(clear), .wr_en(wr_en), .wr_data(wr_data[7:0]),
        .rd_en(rd_en), .rd_data(a_rd), .full(a_full), .empty(a_empty), .almost_full(a_afull),
        .almost_empty(a_aempty), .count(a_count), .peak(a_peak), .overflow(a_over),
        .underflow(a_under));

    sync_fifo #(.WIDTH(12), .DEPTH(DB), .AFULL_MARGIN(3), .FWFT(1)) uut_fwft (
        .clk(clk), .rst(rst), .clear(clear), .wr_en(wr_en), .wr_data(wr_data),
        .rd_en(rd_en), .rd_data(b_rd), .full(b_full), .empty(b_empty), .almost_full(b_afull),
        .almost_empty(b_aempty), .count(b_count), .peak(b_peak), .overflow(b_over),
        .underflow(b_under));

    always #5 clk = ~clk;

    // ---- expected state -------------------------------------------------
    logic [7:0]  qa [$];
    logic [11:0] qb [$];
    logic [7:0]  ea_rd;
    int          ea_peak, eb_peak;
    logic        ea_over, ea_under, eb_over, eb_under;

    int bad_here;       // wrong comparisons in the current test
    int passed = 0;
    int failed = 0;
    int checks = 0;
    int bias, x, y;

    task automatic cmp(input string what, input int got, input int want);
        checks++;
        if (got !== want) begin
            bad_here++;
            if (bad_here <= 5)
                $display("    %0t %s is %0d, should be %0d", $time, what, got, want);
        end
    endtask

    task automatic compare_all;
        cmp("A known", int'(^{a_rd, a_full, a_empty, a_over, a_under, a_count} === 1'bx), 0);
        cmp("B known", int'(^{b_rd, b_full, b_empty, b_over, b_under, b_count} === 1'bx), 0);
        cmp("A count", a_count, qa.size());
        cmp("A full", a_full, int'(qa.size() == DA));
        cmp("A empty", a_empty, int'(qa.size() == 0));
        cmp("A almost_full", a_afull, int'(qa.size() >= 4));
        cmp("A almost_empty", a_aempty, int'(qa.size() <= 1));
        cmp("A peak", a_peak, ea_peak);
        cmp("A overflow", a_over, ea_over);
        cmp("A underflow", a_under, ea_under);
        cmp("A rd_data", a_rd, ea_rd);
        cmp("B count", b_count, qb.size());
        cmp("B full", b_full, int'(qb.size() == DB));
        cmp("B empty", b_empty, int'(qb.size() == 0));
        cmp("B almost_full", b_afull, int'(qb.size() >= 5));
        cmp("B almost_empty", b_aempty, int'(qb.size() <= 2));
        cmp("B peak", b_peak, eb_peak);
        cmp("B overflow", b_over, eb_over);
        cmp("B underflow", b_under, eb_under);
        cmp("B rd_data", b_rd, (qb.size() == 0) ? 0 : int'(qb[0]));
    endtask

    // One clock with the given requests, then a comparison of everything.
    task automatic cycle(input logic r, input logic c, input logic w, input logic [11:0] d,
                         input logic rd);
        int na, nb;
        logic [11:0] dropped;
        rst = r; clear = c; wr_en = w; wr_data = d; rd_en = rd;
        @(posedge clk);
        na = qa.size();
        nb = qb.size();
        if (r) begin
            qa.delete(); qb.delete();
            ea_rd = 0; ea_peak = 0; eb_peak = 0;
            ea_over = 0; ea_under = 0; eb_over = 0; eb_under = 0;
        end else if (c) begin
            qa.delete(); qb.delete();
        end else begin
            if (rd && na > 0) ea_rd = qa.pop_front();
            if (rd && nb > 0) dropped = qb.pop_front();
            if (rd && na == 0) ea_under = 1;
            if (rd && nb == 0) eb_under = 1;
            if (w && na < DA) qa.push_back(d[7:0]);
            if (w && nb < DB) qb.push_back(d);
            if (w && na == DA) ea_over = 1;
            if (w && nb == DB) eb_over = 1;
            if (qa.size() > ea_peak) ea_peak = qa.size();
            if (qb.size() > eb_peak) eb_peak = qb.size();
        end
        @(negedge clk);
        compare_all();
    endtask

    task automatic verdict(input string name);
        if (bad_here == 0) begin
            passed++;
            $display("PASS %s", name);
        end else begin
            failed++;
            $display("FAIL %s (%0d wrong)", name, bad_here);
        end
        bad_here = 0;
    endtask

    initial begin
        bad_here = 0;
        @(negedge clk);
        cycle(1, 0, 1, 12'h123, 1);
        cycle(1, 1, 1, 12'h456, 0);
        cycle(0, 0, 0, 0, 0);
        verdict("state after reset");

        for (int i = 0; i < 5; i++) cycle(0, 0, 1, 12'hA10 + i, 0);
        verdict("fill the small one");
        cycle(0, 0, 1, 12'hB55, 1);      // full on A: write refused, read taken
        cycle(0, 0, 1, 12'hB56, 1);
        for (int i = 0; i < 5; i++) cycle(0, 0, 1, 12'hC80 + i, 0);
        verdict("refused writes set overflow");
        for (int i = 0; i < 9; i++) cycle(0, 0, 0, 12'hFFF, 1);
        verdict("drain in order, underflow at the end");
        cycle(0, 0, 1, 12'h3C3, 1);      // empty: read refused, write taken
        cycle(0, 0, 0, 0, 0);
        cycle(0, 0, 0, 0, 1);
        verdict("write and read while empty");

        cycle(1, 0, 0, 0, 0);
        for (int i = 0; i < 3; i++) cycle(0, 0, 1, 12'h700 + 3 * i, 0);
        for (int i = 0; i < 20; i++) cycle(0, 0, 1, 12'h900 + 7 * i, 1);
        verdict("steady flow keeps the count");

        for (int i = 0; i < 8; i++) cycle(0, 0, 1, 12'h0F0 + i, 0);
        cycle(1, 0, 0, 0, 0);
        for (int i = 0; i < 8; i++) begin
            cycle(0, 0, 1, 12'h200 + i, 0);
            if (i == 3) cycle(0, 0, 0, 0, 1);
        end
        cycle(0, 1, 1, 12'h5A5, 1);
        cycle(0, 1, 0, 0, 1);
        cycle(0, 0, 0, 0, 0);
        verdict("clear keeps flags, peak and read register");
        cycle(1, 0, 0, 0, 0);
        for (int i = 0; i < 5; i++) cycle(0, 0, 1, 12'h111 * i, 0);
        cycle(0, 1, 1, 0, 1);
        cycle(0, 1, 1, 0, 1);
        cycle(0, 0, 1, 12'h777, 0);
        cycle(0, 0, 0, 0, 1);
        verdict("clear ignores the requests beside it");

        for (int i = 0; i < 900; i++) begin
            bias = (i / 60) % 3;
            x = $urandom_range(99);
            y = $urandom_range(99);
            cycle($urandom_range(249) == 0, $urandom_range(69) == 0,
                  x < (bias == 0 ? 85 : bias == 1 ? 30 : 60), $urandom,
                  y < (bias == 0 ? 25 : bias == 1 ? 80 : 60));
        end
        verdict("random traffic");

        $display("summary: %0d passed, %0d failed, %0d comparisons", passed, failed, checks);
        $finish;
    end
endmodule
