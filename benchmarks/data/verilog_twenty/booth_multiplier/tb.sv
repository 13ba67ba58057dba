`timescale 1ns / 100ps

// Stops at the first mistake.
module mult_bench;

    reg         clk = 1'b1;
    reg         resetn = 1'b0;
    always #2 clk = ~clk;

    // ------------------------------------------------ 4 bits, gone through completely
    reg         start4 = 0, abort4 = 0, sa4 = 0, sb4 = 0;
    reg  [3:0]  a4 = 0, b4 = 0;
    wire        busy4, done4, neg4, fits4;
    wire [7:0]  p4;

    booth_multiplier #(4) m4 (clk, resetn, start4, abort4, sa4, sb4, a4, b4, busy4, done4, p4,
                              neg4, fits4);

    // ------------------------------------------------ 10 bits and the default size, random
    reg         start10 = 0, abort10 = 0, sa10 = 0, sb10 = 0;
    reg  [9:0]  a10 = 0, b10 = 0;
    wire        busy10, done10, neg10, fits10;
    wire [19:0] p10;

    booth_multiplier #(10) m10 (clk, resetn, start10, abort10, sa10, sb10, a10, b10, busy10,
                                done10, p10, neg10, fits10);

    reg         start16 = 0, abort16 = 0, sa16 = 0, sb16 = 0;
    reg  [15:0] a16 = 0, b16 = 0;
    wire        busy16, done16, neg16, fits16;
    wire [31:0] p16;

    booth_multiplier m16 (clk, resetn, start16, abort16, sa16, sb16, a16, b16, busy16, done16,
                          p16, neg16, fits16);

    integer count = 0;

    // number that w bits mean
    function automatic longint meaning(input [15:0] v, input integer w, input s);
        meaning = v;
        if (s && v[w-1]) meaning = meaning - (64'sd1 <<< w);
    endfunction

    task automatic judge(input integer w, input [15:0] a, input [15:0] b, input sa, input sb,
                         input [31:0] p, input neg, input fits);
        longint x, lowest, highest;
        reg [63:0] mask;
        begin
            x = meaning(a, w, sa) * meaning(b, w, sb);
            mask = (64'd1 << (2*w)) - 1;
            if (sa || sb) begin
                lowest = -(64'sd1 <<< (w-1));
                highest = (64'sd1 <<< (w-1)) - 1;
            end else begin
                lowest = 0;
                highest = (64'sd1 <<< w) - 1;
            end
            if (p !== (x & mask))
                $fatal(1, "%0d bit: %h(%b) * %h(%b) gave %h, not %h", w, a, sa, b, sb, p, x & mask);
            if (neg !== (x < 0))
                $fatal(1, "%0d bit: %h(%b) * %h(%b): negative is %b", w, a, sa, b, sb, neg);
            if (fits !== (x >= lowest && x <= highest))
                $fatal(1, "%0d bit: %h(%b) * %h(%b): fits is %b", w, a, sa, b, sb, fits);
            count = count + 1;
        end
    endtask

    task automatic run4(input [3:0] a, input [3:0] b, input sa, input sb);
        integer k;
        begin
            start4 <= 1; a4 <= a; b4 <= b; sa4 <= sa; sb4 <= sb;
            @(posedge clk);
            start4 <= 0; a4 <= ~a; b4 <= b + 3; sa4 <= ~sa; sb4 <= ~sb;
            for (k = 0; k < 3; k = k + 1) begin
                @(negedge clk);
                if (busy4 !== 1 || done4 !== 0) $fatal(1, "4 bit: early end in clock %0d", k);
            end
            @(negedge clk);
            if (busy4 !== 0 || done4 !== 1) $fatal(1, "4 bit: no end after 3 steps");
            judge(4, a, b, sa, sb, p4, neg4, fits4);
        end
    endtask

    // With start held and sometimes the operands changed on the way.
    task automatic run10(input [9:0] a, input [9:0] b, input sa, input sb);
        integer k;
        reg [19:0] p_old;
        begin
            p_old = p10;
            start10 <= 1; a10 <= a; b10 <= b; sa10 <= sa; sb10 <= sb;
            @(posedge clk);
            a10 <= $random; b10 <= $random; sa10 <= $random; sb10 <= $random;
            for (k = 0; k < 6; k = k + 1) begin
                @(negedge clk);
                if (busy10 !== 1 || done10 !== 0) $fatal(1, "10 bit: early end in clock %0d", k);
                if (p10 !== p_old) $fatal(1, "10 bit: product moves while busy");
            end
            start10 <= 0;
            @(negedge clk);
            if (busy10 !== 0 || done10 !== 1) $fatal(1, "10 bit: no end after 6 steps");
            judge(10, a, b, sa, sb, p10, neg10, fits10);
        end
    endtask

    task automatic run16(input [15:0] a, input [15:0] b, input sa, input sb, input integer pause);
        integer k;
        begin
            start16 <= 1; a16 <= a; b16 <= b; sa16 <= sa; sb16 <= sb;
            @(posedge clk);
            start16 <= 0;
            for (k = 0; k < 9; k = k + 1) begin
                @(negedge clk);
                if (busy16 !== 1 || done16 !== 0) $fatal(1, "16 bit: early end in clock %0d", k);
            end
            @(negedge clk);
            if (busy16 !== 0 || done16 !== 1) $fatal(1, "16 bit: no end after 9 steps");
            judge(16, a, b, sa, sb, p16, neg16, fits16);
            repeat (pause) begin
                @(negedge clk);
                if (busy16 !== 0 || done16 !== 0) $fatal(1, "16 bit: done or busy when idle");
                judge(16, a, b, sa, sb, p16, neg16, fits16);
            end
        end
    endtask

    // abort a 16 bit multiplication with the abort active at edge number n after acceptance
    task automatic aborted16(input integer n);
        reg [31:0] p;
        reg        ng, ft;
        begin
            p = p16; ng = neg16; ft = fits16;
            start16 <= 1; a16 <= $random; b16 <= $random; sa16 <= 1; sb16 <= 0;
            @(posedge clk);
            start16 <= 0;
            repeat (n - 1) @(posedge clk);
            abort16 <= 1;
            #1 if (busy16 !== 1) $fatal(1, "abort: was not busy, edge %0d", n);
            @(posedge clk);
            abort16 <= 0;
            repeat (12) begin
                @(negedge clk);
                if (busy16 !== 0 || done16 !== 0) $fatal(1, "abort at edge %0d had no effect", n);
                if (p16 !== p || neg16 !== ng || fits16 !== ft)
                    $fatal(1, "abort at edge %0d disturbed the result", n);
            end
            count = count + 1;
        end
    endtask

    integer i;
    reg [15:0] special [0:5];

    initial begin
        special[0] = 16'h0000; special[1] = 16'h0001; special[2] = 16'h7FFF;
        special[3] = 16'h8000; special[4] = 16'hFFFF; special[5] = 16'hAAAA;

        start16 <= 1;                                     // must be ignored in reset
        repeat (3) @(negedge clk);
        if ({busy4, done4, neg4} !== 0 || fits4 !== 1 || p4 !== 0) $fatal(1, "reset values, 4");
        if ({busy16, done16, neg16} !== 0 || fits16 !== 1 || p16 !== 0) $fatal(1, "reset values");
        start16 <= 0;
        resetn <= 1;
        @(negedge clk);
        if (busy16 !== 0) $fatal(1, "busy after reset");

        for (i = 0; i < 1024; i = i + 1)                  // every pair in every reading
            run4(i[3:0], i[7:4], i[8], i[9]);

        for (i = 0; i < 300; i = i + 1)
            run10($random, $random, $random, $random);
        for (i = 0; i < 100; i = i + 1)                   // small ones, for the flag fits
            run10($random % 40, $random % 40, i[0], i[1]);

        for (i = 0; i < 144; i = i + 1)
            run16(special[i % 6], special[(i / 6) % 6], (i / 36) % 2, i / 72, i % 2);
        for (i = 0; i < 150; i = i + 1)
            run16($random, $random, $random, $random, i % 3);

        run16(16'hFF38, 16'd77, 1'b1, 1'b0, 1);
        for (i = 1; i <= 9; i = i + 1) aborted16(i);
        run16(16'd300, 16'd300, 1'b0, 1'b0, 1);

        abort16 <= 1; start16 <= 1;                       // abort wins over start
        @(negedge clk);
        @(negedge clk);
        if (busy16 !== 0) $fatal(1, "start accepted together with abort");
        abort16 <= 0; start16 <= 0;
        @(negedge clk);

        start16 <= 1;                                     // reset in the middle
        @(negedge clk);
        start16 <= 0;
        repeat (3) @(negedge clk);
        resetn <= 0;
        @(negedge clk);
        if ({busy16, done16, neg16} !== 0 || fits16 !== 1 || p16 !== 0) $fatal(1, "second reset");
        resetn <= 1;
        repeat (12) begin
            @(negedge clk);
            if (busy16 !== 0 || done16 !== 0) $fatal(1, "came back after reset");
        end
        run16(16'h1234, 16'hFEDC, 1'b1, 1'b1, 2);

        $display("%0d products checked, no mistake found", count);
        $finish;
    end

endmodule
