`timescale 1ns/10ps

module float_adder_test;
    reg         clk, rst_n, ce, in_valid, op_sub;
    reg  [15:0] a, b;
    wire        out_valid;
    wire [15:0] result;
    wire        invalid, overflow, underflow, inexact;

    float_adder i_adder (
        .clk       (clk),
        .rst_n     (rst_n),
        .ce        (ce),
        .in_valid  (in_valid),
        .op_sub    (op_sub),
        .a         (a),
        .b         (b),
        .out_valid (out_valid),
        .result    (result),
        .invalid   (invalid),
        .overflow  (overflow),
        .underflow (underflow),
        .inexact   (inexact)
    );

    // ---------------- reference: exact sum as a real number ----------------
    function automatic real value_of(input [15:0] h);
        real m;
        int  e;
        m = 0.0;
        if (h[14:10] != 0) begin
            m = 1024.0 + h[9:0];
            e = int'(h[14:10]) - 25;
            while (e > 0) begin m = m * 2.0; e = e - 1; end
            while (e < 0) begin m = m / 2.0; e = e + 1; end
        end
        value_of = h[15] ? -m : m;
    endfunction

    // {invalid, overflow, underflow, inexact, number}
    function automatic [19:0] reference(input [15:0] p, input [15:0] q_in, input sub);
        reg [15:0] q;
        reg        nan_p, nan_q, inf_p, inf_q, s;
        real       sum, m, scaled, part;
        int        e, n;
        q = q_in ^ {sub, 15'd0};
        nan_p = (p[14:0] > 15'h7C00);
        nan_q = (q[14:0] > 15'h7C00);
        inf_p = (p[14:0] == 15'h7C00);
        inf_q = (q[14:0] == 15'h7C00);
        reference = 0;
        if (nan_p || nan_q)
            reference = 20'h07E00;
        else if (inf_p && inf_q && p[15] != q[15])
            reference = 20'h87E00;
        else if (inf_p)
            reference = {4'h0, p};
        else if (inf_q)
            reference = {4'h0, q};
        else begin
            sum = value_of(p) + value_of(q);
            if (sum == 0.0) begin
                if (p[14:10] == 0 && q[14:10] == 0 && p[15] && q[15]) reference = 20'h08000;
            end else begin
                s = (sum < 0.0);
                m = s ? -sum : sum;
                scaled = m;
                e = 0;
                while (scaled >= 2.0) begin scaled = scaled / 2.0; e = e + 1; end
                while (scaled < 1.0)  begin scaled = scaled * 2.0; e = e - 1; end
                scaled = scaled * 1024.0;
                n = $rtoi(scaled);
                part = scaled - n;
                if (part > 0.5 || (part == 0.5 && n % 2 == 1)) n = n + 1;
                if (n == 2048) begin n = 1024; e = e + 1; end
                if (m < 1.0 / 16384.0)
                    reference = {4'b0011, s, 15'd0};
                else if (e > 15)
                    reference = {4'b0101, s, 15'h7C00};
                else begin
                    reference[19:16] = (part != 0.0) ? 4'b0001 : 4'b0000;
                    reference[15]    = s;
                    reference[14:10] = e + 15;
                    reference[9:0]   = n - 1024;
                end
            end
        end
    endfunction

    // ---------------- scoreboard: a copy of the pipe with expectations -----
    reg         ev [0:2];
    reg  [19:0] ew [0:2];
    reg  [32:0] eo [0:2];
    integer     ops, results, limit, i, j, k;
    reg         hold_v;
    reg  [19:0] hold_r;

    initial clk = 0;
    always #5 clk = ~clk;

    task tick;
        begin
            hold_v = out_valid;
            hold_r = {invalid, overflow, underflow, inexact, result};
            @(posedge clk);
            if (ce) begin
                ev[2] = ev[1]; ew[2] = ew[1]; eo[2] = eo[1];
                ev[1] = ev[0]; ew[1] = ew[0]; eo[1] = eo[0];
                ev[0] = in_valid; ew[0] = reference(a, b, op_sub); eo[0] = {op_sub, a, b};
            end
            @(negedge clk);
            if (out_valid !== ev[2])
                $fatal(1, "out_valid is %b, must be %b", out_valid, ev[2]);
            if (!ce && (out_valid !== hold_v ||
                        {invalid, overflow, underflow, inexact, result} !== hold_r))
                $fatal(1, "outputs moved although ce is low");
            if (ev[2]) begin
                results = results + 1;
                if ({invalid, overflow, underflow, inexact, result} !== ew[2])
                    $fatal(1, "%h %s %h: result %h flags %b, must be %h flags %b", eo[2][31:16],
                           eo[2][32] ? "-" : "+", eo[2][15:0], result,
                           {invalid, overflow, underflow, inexact}, ew[2][15:0], ew[2][19:16]);
            end
        end
    endtask

    task feed(input [15:0] p, input [15:0] q, input sub);
        begin
            a = p; b = q; op_sub = sub; in_valid = 1; ce = 1;
            tick;
            ops = ops + 1;
        end
    endtask

    task drain;
        begin
            in_valid = 0; ce = 1;
            repeat (3) begin a = $random; b = $random; tick; end
        end
    endtask

    reg [15:0] pick [0:23];

    initial begin
        pick[0]  = 16'h0000; pick[1]  = 16'h8000; pick[2]  = 16'h7C00; pick[3]  = 16'hFC00;
        pick[4]  = 16'h7E00; pick[5]  = 16'hFC01; pick[6]  = 16'h3C00; pick[7]  = 16'hBC00;
        pick[8]  = 16'h0001; pick[9]  = 16'h83FF; pick[10] = 16'h0400; pick[11] = 16'h8400;
        pick[12] = 16'h7BFF; pick[13] = 16'hFBFF; pick[14] = 16'h0401; pick[15] = 16'h07FF;
        pick[16] = 16'h3BFF; pick[17] = 16'h1000; pick[18] = 16'h1001; pick[19] = 16'h4C00;
        pick[20] = 16'h7800; pick[21] = 16'h4BFF; pick[22] = 16'h9000; pick[23] = 16'hCBFF;

        ops = 0; results = 0;
        for (i = 0; i < 3; i = i + 1) begin ev[i] = 0; ew[i] = 0; eo[i] = 0; end
        ce = 1; in_valid = 1; op_sub = 0; a = 16'h3C00; b = 16'h3C00;
        rst_n = 1;
        #2 rst_n = 0;
        @(negedge clk);
        if ({out_valid, invalid, overflow, underflow, inexact, result} !== 21'd0)
            $fatal(1, "outputs in reset");
        in_valid = 0;
        rst_n = 1;
        repeat (4) tick;

        // 1 + 1 = 2, and every pair of interesting operands
        feed(16'h3C00, 16'h3C00, 0);
        for (i = 0; i < 24; i = i + 1)
            for (j = 0; j < 24; j = j + 1) begin
                feed(pick[i], pick[j], 0);
                feed(pick[i], pick[j], 1);
            end
        drain;

        // Ties and their neighbours: 1.x plus half a unit in the last place
        for (i = 0; i < 64; i = i + 1)
            feed(16'h4800 + $urandom_range(1023), 16'h1C00 + $urandom_range(2) - 1 +
                 ($urandom_range(1) << 10), i % 2);
        // Carry out by rounding, up to infinity
        for (i = 0; i < 40; i = i + 1) feed(16'h7BFF, 16'h4800 + 16'd128 * i, 0);
        for (i = 0; i < 40; i = i + 1) feed(16'hFBFF - i, 16'h4BF0 + i, 1);

        // Random operands of several kinds
        for (k = 0; k < 6; k = k + 1)
            for (i = 0; i < 700; i = i + 1) begin
                a = $urandom;
                b = $urandom;
                case (k)
                    0: ;
                    1: begin
                        a[14:10] = 5'd12 + (a[14:10] & 7);
                        b[14:10] = 5'd12 + (b[14:10] & 7);
                    end
                    2: b[14:10] = a[14:10];
                    3: begin b[14:0] = a[14:0] + $urandom_range(6) - 3; end
                    4: begin a[14:12] = 0; b[14:12] = 0; end
                    5: begin a[14:12] = 7; b[14:12] = 7 - i % 2; end
                    default: ;
                endcase
                feed(a, b, $urandom);
            end
        drain;

        // Holes in the stream and a clock enable that comes and goes
        for (i = 0; i < 600; i = i + 1) begin
            ce = ($urandom_range(3) != 0);
            in_valid = $urandom;
            op_sub = $urandom;
            a = $urandom;
            b = a ^ ($urandom & 16'h87FF);
            tick;
        end
        drain;

        // Reset with the pipe full
        for (i = 0; i < 4; i = i + 1) feed(16'h5555, 16'h1234 + i, 0);
        #1 rst_n = 0;
        #1 if ({out_valid, invalid, overflow, underflow, inexact, result} !== 21'd0)
            $fatal(1, "asynchronous reset");
        ev[0] = 0; ev[1] = 0; ev[2] = 0;
        in_valid = 0;
        @(negedge clk);
        rst_n = 1;
        repeat (5) tick;
        feed(16'h4000, 16'h4200, 1);
        drain;

        $display("float_adder: %0d operations, %0d results compared, ok", ops, results);
        $finish;
    end
endmodule
