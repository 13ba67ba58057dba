`timescale 1ns / 1ns

// Drives whole, cut and surrounded frames into two differently sized buffers. Expected results are
// worked out from a stored copy of the frame.
module window_driver #(
    parameter P = 8, C = 16, R = 12, FRAMES = 12
) (
    input            clk,
    output reg       over,
    output integer   errors,
    output integer   comparisons
);

    localparam CW = $clog2(C), RW = $clog2(R);

    reg            reset, pix_valid, pix_sof;
    reg  [P-1:0]   pix;
    wire           win_valid, win_bright, frame_done, frame_cut, stray;
    wire [P+3:0]   win_sum;
    wire [P-1:0]   win_centre;
    wire [RW-1:0]  win_row;
    wire [CW-1:0]  win_col;

    image_line_buffer #(P, C, R) i_buffer (
        .clk(clk), .reset(reset), .pix_valid(pix_valid), .pix_sof(pix_sof), .pix(pix),
        .win_valid(win_valid), .win_sum(win_sum), .win_centre(win_centre),
        .win_bright(win_bright), .win_row(win_row), .win_col(win_col),
        .frame_done(frame_done), .frame_cut(frame_cut), .stray(stray)
    );

    // expected outputs: n_* come out at this edge, l_* at the next one
    integer frame [0:R*C-1];
    integer count;                       // pixels of the frame so far, -1 outside
    reg     l_valid, l_done, e_valid, e_done, e_cut, e_stray;
    integer l_sum, l_mid, l_row, l_col, e_sum, e_mid, e_row, e_col;
    integer windows;

    task equal(input [8*12-1:0] name, input [31:0] got, input [31:0] want);
        begin
            comparisons = comparisons + 1;
            if (got !== want) begin
                errors = errors + 1;
                if (errors <= 10)
                    $display("%0t ns, %0dx%0d: %0s is %0d instead of %0d", $time, R, C, name, got,
                             want);
            end
        end
    endtask

    task window(input integer r, input integer c);
        integer y, x;
        begin
            l_valid = 1; l_sum = 0;
            for (y = r - 2; y <= r; y = y + 1)
                for (x = c - 2; x <= c; x = x + 1)
                    l_sum = l_sum + frame[y*C + x];
            l_mid = frame[(r-1)*C + c - 1];
            l_row = r - 1;
            l_col = c - 1;
            windows = windows + 1;
        end
    endtask

    task edge_now;
        begin
            // what was on the way comes out
            e_valid = l_valid; e_done = l_done;
            if (l_valid) begin
                e_sum = l_sum; e_mid = l_mid; e_row = l_row; e_col = l_col;
            end
            l_valid = 0; l_done = 0; e_cut = 0; e_stray = 0;
            if (pix_valid && pix_sof) begin
                if (count >= 0) e_cut = 1;
                count = 0;
            end
            if (pix_valid && count < 0) e_stray = 1;
            if (pix_valid && count >= 0) begin
                frame[count] = pix;
                if (count / C >= 2 && count % C >= 2) window(count / C, count % C);
                count = count + 1;
                if (count == R*C) begin
                    l_done = 1;
                    count = -1;
                end
            end
            if (reset) begin
                count = -1; l_valid = 0; l_done = 0; e_valid = 0; e_done = 0; e_cut = 0;
                e_stray = 0; e_sum = 0; e_mid = 0; e_row = 0; e_col = 0;
            end
            @(posedge clk);
            #2;
            equal("win_valid", win_valid, e_valid);
            equal("win_sum", win_sum, e_sum);
            equal("win_centre", win_centre, e_mid);
            equal("win_bright", win_bright, 9 * e_mid > e_sum);
            equal("win_row", win_row, e_row);
            equal("win_col", win_col, e_col);
            equal("frame_done", frame_done, e_done);
            equal("frame_cut", frame_cut, e_cut);
            equal("stray", stray, e_stray);
        end
    endtask

    // kind of picture: 0 all ones, 1 single dot, 2 ramp, 3 random
    function [P-1:0] shade(input integer kind, input integer n);
        case (kind)
            0:       shade = {P{1'b1}};
            1:       shade = (n == R*C/2) ? 5 : 0;
            2:       shade = n;
            default: shade = $random;
        endcase
    endfunction

    // n pixels, the first one with sof if asked for; percent: how often there is none
    task send(input integer n, input reg with_sof, input integer kind, input integer percent);
        integer k;
        begin
            for (k = 0; k < n; k = k + 1) begin
                while ($unsigned($random) % 100 < percent) begin
                    pix_valid = 0; pix_sof = $random; pix = $random;
                    edge_now;
                end
                pix_valid = 1; pix_sof = with_sof && k == 0; pix = shade(kind, k);
                edge_now;
            end
            pix_valid = 0; pix_sof = 0;
        end
    endtask

    task gap(input integer n);
        repeat (n) begin
            pix_valid = 0; pix_sof = $random; pix = $random;
            edge_now;
        end
    endtask

    integer f;

    initial begin
        over = 0; errors = 0; comparisons = 0; windows = 0;
        count = -1; l_valid = 0; l_done = 0;
        e_sum = 0; e_mid = 0; e_row = 0; e_col = 0;
        reset = 1; pix_valid = 1; pix_sof = 1; pix = 77;
        edge_now; edge_now;
        reset = 0;
        gap(2);
        send(5, 0, 3, 20);                          // nobody asked for these
        for (f = 0; f < 4; f = f + 1) begin         // one picture of each kind, with a pause
            send(R*C, 1, f, 0);
            gap(f);
        end
        if (windows != 4 * (R-2) * (C-2)) errors = errors + 1;
        send(R*C, 1, 3, 0);                         // one hard after the other
        send(R*C, 1, 2, 0);
        send(7, 0, 3, 0);                           // too many pixels
        send(R*C, 1, 3, 50);
        for (f = 0; f < FRAMES; f = f + 1) begin    // cut, whole, and anything between
            send(1 + $unsigned($random) % (R*C), 1, 3, (f % 3) * 25);
            if (f % 4 == 1) gap(3);
            if (f % 4 == 2) send(R*C, 1, 3, 10);
            if (f == FRAMES / 2) begin
                send(3*C, 1, 3, 0);                 // reset with a result on the way
                reset = 1;
                send(1, 1, 3, 0);
                reset = 0;
                send(4, 0, 3, 0);
            end
        end
        gap(3);
        over = 1;
    end

endmodule


module testbench_lines;

    reg clk = 0;
    always #5 clk = ~clk;

    wire over_a, over_b;
    wire [31:0] errors_a, errors_b, n_a, n_b;

    window_driver #(.P(8), .C(9), .R(7)) a (clk, over_a, errors_a, n_a);
    window_driver #(.P(5), .C(16), .R(4)) b (clk, over_b, errors_b, n_b);

    initial begin
        @(posedge clk);
        wait (over_a === 1'b1 && over_b === 1'b1);
        #1;
        if (errors_a + errors_b == 0)
            $display("All tests passed, %0d values compared", n_a + n_b);
        else
            $display("%0d errors", errors_a + errors_b);
        $finish;
    end

endmodule
