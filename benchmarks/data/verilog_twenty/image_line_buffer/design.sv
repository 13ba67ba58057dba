// Sliding 3x3 window over a pixel stream: two line memories and a three-column
// adder pipeline deliver the sum of every window that lies inside the frame.

// One line of pixels, read without delay, written at the clock edge.
module line_mem #(
    parameter int PIX_W  = 8,
    parameter int LENGTH = 16,
    parameter int ADDR_W = 4
) (
    input  logic              clk,
    input  logic              we,
    input  logic [ADDR_W-1:0] addr,
    input  logic [PIX_W-1:0]  wdata,
    output logic [PIX_W-1:0]  rdata
);

    logic [PIX_W-1:0] cells [0:LENGTH-1];

    assign rdata = cells[addr];

    always_ff @(posedge clk) begin
        if (we)
            cells[addr] <= wdata;
    end

endmodule


module image_line_buffer #(
    parameter int PIX_W = 8,
    parameter int COLS  = 16,
    parameter int ROWS  = 12,
    localparam int COL_W = $clog2(COLS),
    localparam int ROW_W = $clog2(ROWS),
    localparam int SUM_W = PIX_W + 4
) (
    input  logic             clk,
    input  logic             reset,
    input  logic             pix_valid,
    input  logic             pix_sof,
    input  logic [PIX_W-1:0] pix,
    output logic             win_valid,
    output logic [SUM_W-1:0] win_sum,
    output logic [PIX_W-1:0] win_centre,
    output logic             win_bright,
    output logic [ROW_W-1:0] win_row,
    output logic [COL_W-1:0] win_col,
    output logic             frame_done,
    output logic             frame_cut,
    output logic             stray
);

    localparam logic [COL_W-1:0] LAST_COL = COLS - 1;
    localparam logic [ROW_W-1:0] LAST_ROW = ROWS - 1;

    // ---------------------------------------------------------- position in the frame
    logic             in_frame;
    logic [COL_W-1:0] col_q, col;         // col_q, row_q: of the pixel expected next
    logic [ROW_W-1:0] row_q, row;         // col, row: of the pixel on the input
    logic             accept, last_in_row, last_in_frame;

    assign accept        = pix_valid && (pix_sof || in_frame);
    assign col           = pix_sof ? '0 : col_q;
    assign row           = pix_sof ? '0 : row_q;
    assign last_in_row   = (col == LAST_COL);
    assign last_in_frame = last_in_row && (row == LAST_ROW);

    always_ff @(posedge clk) begin
        if (reset) begin
            in_frame  <= 1'b0;
            col_q     <= '0;
            row_q     <= '0;
            frame_cut <= 1'b0;
            stray     <= 1'b0;
        end else begin
            frame_cut <= pix_valid && pix_sof && in_frame;
            stray     <= pix_valid && !accept;
            if (accept) begin
                in_frame <= !last_in_frame;
                if (last_in_row) begin
                    col_q <= '0;
                    row_q <= row + 1'b1;
                end else begin
                    col_q <= col + 1'b1;
                    row_q <= row;
                end
            end
        end
    end

    // -------------------------------------------------- lines above the present one
    logic [PIX_W-1:0] above1, above2;

    line_mem #(.PIX_W(PIX_W), .LENGTH(COLS), .ADDR_W(COL_W)) u_line1 (
        .clk (clk), .we (accept), .addr (col), .wdata (pix), .rdata (above1)
    );

    line_mem #(.PIX_W(PIX_W), .LENGTH(COLS), .ADDR_W(COL_W)) u_line2 (
        .clk (clk), .we (accept), .addr (col), .wdata (above1), .rdata (above2)
    );

    // ------------------------------------------------- stage 1: sum of one column
    logic             s1_valid, s1_window, s1_last;
    logic [PIX_W+1:0] s1_colsum;
    logic [PIX_W-1:0] s1_middle;
    logic [COL_W-1:0] s1_col;
    logic [ROW_W-1:0] s1_row;

    always_ff @(posedge clk) begin
        if (reset) begin
            s1_valid  <= 1'b0;
            s1_window <= 1'b0;
            s1_last   <= 1'b0;
            s1_colsum <= '0;
            s1_middle <= '0;
            s1_col    <= '0;
            s1_row    <= '0;
        end else begin
            s1_valid  <= accept;
            s1_window <= accept && (col >= 2) && (row >= 2);
            s1_last   <= accept && last_in_frame;
            if (accept) begin
                s1_colsum <= {2'b00, pix} + {2'b00, above1} + {2'b00, above2};
                s1_middle <= above1;
                s1_col    <= col;
                s1_row    <= row;
            end
        end
    end

    // ------------------------------------- stage 2: three neighbouring column sums
    logic [1:0][PIX_W+1:0] colsum_hist;     // [0] one column to the left, [1] two
    logic [PIX_W-1:0]      middle_hist;     // middle pixel of the column to the left
    logic [SUM_W-1:0]      sum_now, centre_times_9;

    assign sum_now        = {2'b00, s1_colsum} + {2'b00, colsum_hist[0]}
                          + {2'b00, colsum_hist[1]};
    assign centre_times_9 = {1'b0, middle_hist, 3'b000} + {4'b0000, middle_hist};

    always_ff @(posedge clk) begin
        if (reset) begin
            colsum_hist <= '0;
            middle_hist <= '0;
        end else if (s1_valid) begin
            colsum_hist <= {colsum_hist[0], s1_colsum};
            middle_hist <= s1_middle;
        end
    end

    always_ff @(posedge clk) begin
        if (reset) begin
            win_valid  <= 1'b0;
            frame_done <= 1'b0;
            win_sum    <= '0;
            win_centre <= '0;
            win_bright <= 1'b0;
            win_row    <= '0;
            win_col    <= '0;
        end else begin
            win_valid  <= s1_window;
            frame_done <= s1_last;
            if (s1_window) begin
                win_sum    <= sum_now;
                win_centre <= middle_hist;
                win_bright <= (centre_times_9 > sum_now);
                win_row    <= s1_row - 1'b1;
                win_col    <= s1_col - 1'b1;
            end
        end
    end

endmodule
