`timescale 1ns / 1ps
module gray_crossing_tb;

    parameter W = 5;
    parameter N = 3;                      // synchroniser stages

    logic          src_clk = 0, dst_clk = 0, src_rst_n = 1, dst_rst_n = 1;
    logic          src_en = 0, src_up = 1, snap_req = 0;
    logic [W-1:0]  src_count, src_gray, dst_count, snap_value;
    logic          dst_changed, snap_busy, snap_valid;
    logic [3:0]    snap_refused;

    gray_counter_clock_crossing #(W, N) u0 (
        .src_clk, .src_rst_n, .src_en, .src_up, .src_count, .src_gray,
        .dst_clk, .dst_rst_n, .dst_count, .dst_changed,
        .snap_req, .snap_busy, .snap_valid, .snap_value, .snap_refused
    );

    int errors = 0, tests = 0;

    task automatic check(input string what, input logic [31:0] is, input logic [31:0] should);
        tests++;
        if (is !== should) begin
            errors++;
            if (errors < 25)
                $display("%0t: %s = %0d but should be %0d", $time, what, is, should);
        end
    endtask

    // ----------------------------------------------------------- clocks
    int src_ps = 5000, dst_ps = 7300;     // half periods
    initial begin
        #0.101;
        forever #(src_ps / 1000.0) src_clk = ~src_clk;
    end
    initial begin
        #0.502;
        forever #(dst_ps / 1000.0) dst_clk = ~dst_clk;
    end

    // The Gray code built the school way: write the list, then its mirror image with a one in
    // front, and so on.
    logic [W-1:0] gray_of [0:(1<<W)-1];
    initial begin
        gray_of[0] = 0;
        for (int len = 1; len < (1 << W); len = len * 2)
            for (int k = 0; k < len; k++)
                gray_of[len + k] = gray_of[len - 1 - k] + len;
    end

    // ------------------------------------------------------ expectations
    int        value;                     // of the counter
    int        value_seen;                // the same for the other side, one delta later
    int        trail [0:N];               // trail[k]: value k+1 edges of dst_clk ago
    bit        changed;
    bit        busy, valid;
    int        snap, refused;
    int        asked, served;             // numbers of snapshots, each read by the other side
    int        req_age, ack_age;          // edges since the other side's news
    int        held;
    int        en_pct, req_pct, up_pct;

    always @(posedge src_clk) if (src_rst_n) begin
        if (asked != served) begin
            req_age = req_age + 1;
            if (req_age == N + 1) begin
                held = value;
                served <= asked;
                req_age = 0;
            end
        end
        if (src_en) value = (value + (src_up ? 1 : (1 << W) - 1)) % (1 << W);
        value_seen <= value;
        #0.9;
        if (src_rst_n) begin
            check_src();
            src_en = ($urandom % 100) < en_pct;
            src_up = ($urandom % 100) < up_pct;
        end
    end

    always @(posedge dst_clk) if (dst_rst_n) begin
        changed = (trail[N-1] != trail[N]);
        for (int k = N; k > 0; k--) trail[k] = trail[k-1];
        trail[0] = value_seen;
        valid = 0;
        if (snap_req && busy) refused = (refused + 1) % 16;
        if (busy) begin
            if (asked == served) ack_age = ack_age + 1;
            if (ack_age == N + 1) begin
                valid = 1; busy = 0; snap = held;
                ack_age = 0;
            end
        end else if (snap_req) begin
            busy = 1;
            asked <= asked + 1;
        end
        #0.9;
        if (dst_rst_n) begin
            check_dst();
            snap_req = ($urandom % 100) < req_pct;
        end
    end

    task automatic check_src;
        check("src_count", src_count, value);
        check("src_gray", src_gray, gray_of[value]);
    endtask

    task automatic check_dst;
        check("dst_count", dst_count, trail[N]);
        check("dst_changed", dst_changed, changed);
        check("snap_busy", snap_busy, busy);
        check("snap_valid", snap_valid, valid);
        check("snap_value", snap_value, snap);
        check("snap_refused", snap_refused, refused);
    endtask

    task automatic reset_both;
        src_rst_n = 0; dst_rst_n = 0; src_en = 0; snap_req = 0;
        value = 0; value_seen = 0; changed = 0; busy = 0; valid = 0; snap = 0; refused = 0;
        req_age = 0; ack_age = 0; asked = 0; served = 0; held = 0;
        for (int k = 0; k <= N; k++) trail[k] = 0;
        #0.05 check_src();
        check_dst();
        #83.33 check_src();
        check_dst();
        @(negedge src_clk) src_rst_n = 1;
        dst_rst_n = 1;
    endtask

    task automatic go(input int sps, input int dps, input int e, input int u, input int r,
                      input int ns);
        src_ps = sps; dst_ps = dps; en_pct = e; up_pct = u; req_pct = r;
        #(ns);
    endtask

    initial begin
        en_pct = 0; req_pct = 0; up_pct = 100;
        #2 reset_both();
        go(5000, 7300, 0, 50, 0, 150);
        go(5000, 7300, 100, 100, 0, 800);         // all the way round, upwards
        go(5000, 7300, 100, 0, 0, 800);           // and downwards
        go(5000, 7300, 50, 50, 15, 4000);
        go(2100, 13700, 80, 70, 30, 4000);        // fast source
        go(14900, 2300, 90, 40, 60, 5000);        // slow source
        go(5000, 5001, 60, 60, 100, 3000);        // nearly the same clock
        @(negedge src_clk);
        reset_both();                             // with a snapshot most likely under way
        go(5000, 7300, 40, 90, 5, 3000);
        go(3300, 4100, 100, 10, 40, 3000);
        if (tests < 3000) begin
            errors++;
            $display("only %0d comparisons were made", tests);
        end
        if (errors == 0) $display("All tests passed (%0d comparisons)", tests);
        else             $display("%0d errors in %0d comparisons", errors, tests);
        $finish;
    end

endmodule
