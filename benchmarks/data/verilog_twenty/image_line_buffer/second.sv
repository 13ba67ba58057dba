module image_line_buffer #(
    parameter PIX_W = 8,
    parameter COLS  = 16,
    parameter ROWS  = 12
) (
    input                           clk,
    input                           reset,
    input                           pix_valid,
    input                           pix_sof,
    input      [PIX_W-1:0]          pix,
    output reg                      win_valid,
    output reg [PIX_W+3:0]          win_sum,
    output reg [PIX_W-1:0]          win_centre,
    output reg                      win_bright,
    output reg [$clog2(ROWS)-1:0]   win_row,
    output reg [$clog2(COLS)-1:0]   win_col,
    output reg                      frame_done,
    output reg                      frame_cut,
    output reg                      stray
);
    localparam COL_W = $clog2(COLS);
    localparam ROW_W = $clog2(ROWS);

    reg [PIX_W-1:0] above1 [0:COLS-1];    // row r-1
    reg [PIX_W-1:0] above2 [0:COLS-1];    // row r-2

    reg             active;
    reg [ROW_W-1:0] row;                  // place of the next pixel
    reg [COL_W-1:0] col;

    wire            accept = pix_valid && (active || pix_sof);
    wire [ROW_W-1:0] r = pix_sof ? {ROW_W{1'b0}} : row;
    wire [COL_W-1:0] c = pix_sof ? {COL_W{1'b0}} : col;
    wire            eol = (c == COLS-1);
    wire            eof = eol && (r == ROWS-1);

    // one column of the window: {r-2, r-1, r}
    wire [3*PIX_W-1:0] fresh = {above2[c], above1[c], pix};
    reg  [3*PIX_W-1:0] k0, k1, k2;        // newest to oldest column
    reg                s_win, s_done;
    reg  [ROW_W-1:0]   s_row;
    reg  [COL_W-1:0]   s_col;

    function [PIX_W+3:0] colsum(input [3*PIX_W-1:0] x);
        colsum = {4'd0, x[0 +: PIX_W]} + {4'd0, x[PIX_W +: PIX_W]} + {4'd0, x[2*PIX_W +: PIX_W]};
    endfunction

    wire [PIX_W+3:0] total  = colsum(k0) + colsum(k1) + colsum(k2);
    wire [PIX_W-1:0] centre = k1[PIX_W +: PIX_W];
    wire [PIX_W+3:0] nine   = {1'b0, centre, 3'b000} + {4'd0, centre};

    always @(posedge clk)
        if (accept && !reset) begin
            above1[c] <= pix;
            above2[c] <= above1[c];
        end

    always @(posedge clk)
        if (reset) begin
            active <= 0; row <= 0; col <= 0;
            s_win <= 0; s_done <= 0; s_row <= 0; s_col <= 0;
            k0 <= 0; k1 <= 0; k2 <= 0;
            win_valid <= 0; win_sum <= 0; win_centre <= 0; win_bright <= 0;
            win_row <= 0; win_col <= 0;
            frame_done <= 0; frame_cut <= 0; stray <= 0;
        end else begin
            // stage 1
            stray     <= pix_valid && !pix_sof && !active;
            frame_cut <= pix_valid && pix_sof && active;
            s_win     <= accept && (r >= 2) && (c >= 2);
            s_done    <= accept && eof;
            if (accept) begin
                active <= !eof;
                col    <= eol ? {COL_W{1'b0}} : c + 1'b1;
                row    <= eol ? r + 1'b1 : r;
                k0 <= fresh;
                k1 <= k0;
                k2 <= k1;
                s_row <= r - 1'b1;
                s_col <= c - 1'b1;
            end
            // stage 2
            win_valid  <= s_win;
            frame_done <= s_done;
            if (s_win) begin
                win_sum    <= total;
                win_centre <= centre;
                win_bright <= nine > total;
                win_row    <= s_row;
                win_col    <= s_col;
            end
        end
endmodule
