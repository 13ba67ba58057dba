`timescale 1ns/1ps

module divider_bench;
    localparam W = 12;
    localparam V = 8;

    logic clock = 0, reset_n, start, cancel, is_signed;
    logic [W-1:0] x, y;

    // first: one bit a clock; second: two bits a clock on narrower operands
    logic busy, done, dbz, ovf;
    logic [W-1:0] q, r;
    logic busy2, done2, dbz2, ovf2;
    logic [V-1:0] q2, r2;

    divider #(W) u0 (clock, reset_n, start, cancel, is_signed, x, y, busy, done, q, r, dbz, ovf);

    divider #(.WIDTH(V), .BITS_PER_CLK(2)) u1 (
        .clock(clock), .reset_n(reset_n), .start(start), .cancel(cancel), .is_signed(is_signed),
        .dividend(x[V-1:0]), .divisor(y[V-1:0]), .busy(busy2), .done(done2), .quotient(q2),
        .remainder(r2), .div_by_zero(dbz2), .overflow(ovf2));

    always #5 clock = ~clock;

    int edges = 0;
    int n_checked = 0;
    always @(posedge clock) edges++;

    initial begin
        #4000000;
        $fatal(1, "bench did not come to its end");
    end

    // Expected results through 32-bit integers.
    task automatic reference(input int width, input logic sgn, input int a, input int b,
                             output int eq, output int er, output logic ez, output logic eo);
        int mask, sa, sb;
        mask = (1 << width) - 1;
        sa = a & mask;
        sb = b & mask;
        if (sgn && sa >= (1 << (width - 1))) sa = sa - (1 << width);
        if (sgn && sb >= (1 << (width - 1))) sb = sb - (1 << width);
        ez = (sb == 0);
        eo = 0;
        if (ez) begin
            eq = mask;
            er = sa & mask;
        end else begin
            eq = sa / sb;
            er = sa % sb;
            eo = sgn && (eq == (1 << (width - 1)));
            eq = eq & mask;
            er = er & mask;
        end
    endtask

    // Starts a division (busy must be low), checks each clock until both units are through.
    task automatic divide(input logic sgn, input logic [W-1:0] a, input logic [W-1:0] b,
                          input logic direct);
        int eq1, er1, eq2, er2, e0, lat1, lat2, t;
        logic ez1, eo1, ez2, eo2;
        logic [W-1:0] oq, orr;
        reference(W, sgn, a, b, eq1, er1, ez1, eo1);
        reference(V, sgn, a, b, eq2, er2, ez2, eo2);
        lat1 = (ez1 || eo1) ? 1 : W + 1;
        lat2 = (ez2 || eo2) ? 1 : V / 2 + 1;
        oq = q;
        orr = r;
        start = 1; is_signed = sgn; x = a; y = b;
        @(negedge clock);
        e0 = edges;
        start = 0; x = $urandom; y = $urandom; is_signed = $urandom;
        assert (busy && busy2 && !done && !done2) else $error("busy after the start");
        for (t = 1; t <= W + 1; t++) begin
            // A second start must not disturb the division that is under way.
            start = (t < lat1 && t < lat2 && t % 3 == 1);
            @(negedge clock);
            start = 0;
            assert (done === (t == lat1)) else $error("done of u0 at edge %0d", t);
            assert (busy === (t < lat1)) else $error("busy of u0 at edge %0d", t);
            assert (done2 === (t == lat2)) else $error("done of u1 at edge %0d", t);
            assert (busy2 === (t < lat2)) else $error("busy of u1 at edge %0d", t);
            if (t < lat1)
                assert (q === oq && r === orr) else $error("old result of u0 is lost");
            else begin
                assert (q === eq1[W-1:0] && r === er1[W-1:0])
                    else $error("u0 %0d: %h / %h gives %h rest %h, not %h rest %h", sgn, a, b, q, r,
                                eq1[W-1:0], er1[W-1:0]);
                assert (dbz === ez1 && ovf === eo1) else $error("flags of u0 for %h / %h", a, b);
            end
            if (t >= lat2) begin
                assert (q2 === eq2[V-1:0] && r2 === er2[V-1:0])
                    else $error("u1 %0d: %h / %h gives %h rest %h, not %h rest %h", sgn, a[V-1:0],
                                b[V-1:0], q2, r2, eq2[V-1:0], er2[V-1:0]);
                assert (dbz2 === ez2 && ovf2 === eo2) else $error("flags of u1 for %h / %h", a, b);
            end
            n_checked += 3;
            // "direct" leaves in the very clock of done, if that comes last for both.
            if (direct && t == lat1 && t >= lat2) t = W + 2;
        end
    endtask

    logic [W-1:0] keep_q, keep_r;
    int i, j;
    logic [W-1:0] corner [0:11];

    initial begin
        corner[0] = 12'h000; corner[1] = 12'h001; corner[2] = 12'hFFF; corner[3] = 12'h800;
        corner[4] = 12'h7FF; corner[5] = 12'h002; corner[6] = 12'h801; corner[7] = 12'h080;
        corner[8] = 12'h00A; corner[9] = 12'hF80;
        corner[10] = 12'hC00; corner[11] = 12'hFC0;

        reset_n = 0; start = 1; cancel = 0; is_signed = 0; x = 100; y = 7;
        repeat (3) @(negedge clock);
        assert (!busy && !done && q === 0 && r === 0 && !dbz && !ovf) else $error("reset of u0");
        assert (!busy2 && !done2 && q2 === 0 && r2 === 0 && !dbz2 && !ovf2)
            else $error("reset of u1");
        start = 0;
        reset_n = 1;
        @(negedge clock);

        divide(0, 100, 7, 0);
        divide(1, -100, 7, 0);
        divide(1, 100, -7, 0);
        divide(1, -100, -7, 0);
        for (i = 0; i < 12; i++)
            for (j = 0; j < 12; j++) begin
                divide(0, corner[i], corner[j], 1);
                divide(1, corner[i], corner[j], (i + j) % 2);
            end
        for (i = 0; i < 400; i++)
            divide($urandom, $urandom, $urandom >> $urandom_range(31, 20), 1);

        // cancel: at each possible clock of a division
        divide(0, 3000, 11, 0);
        keep_q = q; keep_r = r;
        for (i = 1; i <= W + 1; i++) begin
            start = 1; is_signed = 0; x = 4095; y = 2;
            @(negedge clock);
            start = 0;
            repeat (i - 1) @(negedge clock);
            assert (busy) else $error("busy before cancel");
            cancel = 1;
            @(negedge clock);
            cancel = 0;
            assert (!busy && !done) else $error("cancel at edge %0d", i);
            repeat (W + 3) begin
                @(negedge clock);
                assert (!busy && !done && q === keep_q && r === keep_r)
                    else $error("something lives on after cancel");
            end
            n_checked++;
        end
        // cancel of a special case, and cancel beside start
        start = 1; y = 0;
        @(negedge clock);
        start = 0; cancel = 1;
        @(negedge clock);
        assert (!busy && !busy2 && !done && !done2 && !dbz && !dbz2) else $error("cancel of n/0");
        start = 1; y = 3;
        @(negedge clock);
        assert (!busy && !busy2) else $error("start beside cancel");
        start = 0; cancel = 0;
        @(negedge clock);
        divide(0, 1234, 56, 0);

        // reset during a division
        start = 1; x = 99; y = 4;
        @(negedge clock);
        start = 0;
        repeat (3) @(negedge clock);
        reset_n = 0;
        @(negedge clock);
        assert (!busy && !busy2 && q === 0 && r === 0 && q2 === 0 && r2 === 0)
            else $error("reset during a division");
        reset_n = 1;
        repeat (W + 3) begin
            @(negedge clock);
            assert (!busy && !done && !busy2 && !done2) else $error("alive after reset");
        end
        divide(1, -2000, 13, 0);

        $display("divider_bench: done, %0d comparisons", n_checked);
        $finish;
    end
endmodule
