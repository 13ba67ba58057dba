// Dual-clock FIFO with Gray coded pointers, fill levels on both sides and
// bookkeeping of refused accesses.

// Binary counter with a Gray coded shadow. One bit wider than the address so
// that a full FIFO and an empty one can be told apart.
module fifo_pointer #(
    parameter int AW = 4
) (
    input  logic        clk,
    input  logic        rst_n,
    input  logic        advance,
    output logic [AW:0] bin,
    output logic [AW:0] bin_next,
    output logic [AW:0] gray
);

    assign bin_next = bin + {{AW{1'b0}}, advance};

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            bin  <= '0;
            gray <= '0;
        end else begin
            bin  <= bin_next;
            gray <= bin_next ^ (bin_next >> 1);
        end
    end

endmodule


// Gray to binary: every result bit is the parity of the Gray bits at and above it.
module gray_to_bin #(
    parameter int W = 5
) (
    input  logic [W-1:0] gray,
    output logic [W-1:0] bin
);

    for (genvar i = 0; i < W; i++) begin : g_bit
        assign bin[i] = ^(gray >> i);
    end

endmodule


module async_fifo #(
    parameter int WIDTH     = 8,
    parameter int ADDR_BITS = 4,
    parameter int AFULL_GAP = 2
) (
    // write side
    input  logic                 wr_clk,
    input  logic                 wr_rst_n,
    input  logic                 wr_en,
    input  logic [WIDTH-1:0]     wr_data,
    output logic                 wr_full,
    output logic                 wr_almost_full,
    output logic [ADDR_BITS:0]   wr_level,
    output logic [7:0]           wr_drops,
    // read side
    input  logic                 rd_clk,
    input  logic                 rd_rst_n,
    input  logic                 rd_en,
    output logic [WIDTH-1:0]     rd_data,
    output logic                 rd_empty,
    output logic [ADDR_BITS:0]   rd_level,
    output logic                 rd_miss
);

    localparam int                 DEPTH   = 1 << ADDR_BITS;
    localparam logic [ADDR_BITS:0] DEPTH_L = DEPTH;
    localparam logic [ADDR_BITS:0] AFULL_L = DEPTH - AFULL_GAP;

    logic [WIDTH-1:0]   mem [0:DEPTH-1];

    logic               wr_take, rd_take;
    logic [ADDR_BITS:0] wr_bin, wr_bin_next, wr_gray;
    logic [ADDR_BITS:0] rd_bin, rd_bin_next, rd_gray;
    logic [ADDR_BITS:0] rd_gray_in_wr, rd_bin_in_wr;
    logic [ADDR_BITS:0] wr_gray_in_rd, wr_bin_in_rd;
    logic [ADDR_BITS:0] wr_level_next, rd_level_next;

    // ---------------------------------------------------------------- write side
    assign wr_take       = wr_en && !wr_full;
    assign wr_level_next = wr_bin_next - rd_bin_in_wr;

    fifo_pointer #(.AW(ADDR_BITS)) u_wr_ptr (
        .clk      (wr_clk),
        .rst_n    (wr_rst_n),
        .advance  (wr_take),
        .bin      (wr_bin),
        .bin_next (wr_bin_next),
        .gray     (wr_gray)
    );

    sync2 #(.WIDTH(ADDR_BITS + 1)) u_sync_rd2wr (
        .clk   (wr_clk),
        .rst_n (wr_rst_n),
        .d     (rd_gray),
        .q     (rd_gray_in_wr)
    );

    gray_to_bin #(.W(ADDR_BITS + 1)) u_g2b_wr (.gray(rd_gray_in_wr), .bin(rd_bin_in_wr));

    always_ff @(posedge wr_clk) begin
        if (wr_take)
            mem[wr_bin[ADDR_BITS-1:0]] <= wr_data;
    end

    always_ff @(posedge wr_clk or negedge wr_rst_n) begin
        if (!wr_rst_n) begin
            wr_full        <= 1'b0;
            wr_almost_full <= 1'b0;
            wr_level       <= '0;
        end else begin
            wr_full        <= (wr_level_next == DEPTH_L);
            wr_almost_full <= (wr_level_next >= AFULL_L);
            wr_level       <= wr_level_next;
        end
    end

    // Refused writes, counted up to 255 and no further.
    always_ff @(posedge wr_clk or negedge wr_rst_n) begin
        if (!wr_rst_n)
            wr_drops <= 8'd0;
        else if (wr_en && wr_full && wr_drops != 8'hFF)
            wr_drops <= wr_drops + 8'd1;
    end

    // ----------------------------------------------------------------- read side
    assign rd_take       = rd_en && !rd_empty;
    assign rd_level_next = wr_bin_in_rd - rd_bin_next;
    assign rd_data       = rd_empty ? '0 : mem[rd_bin[ADDR_BITS-1:0]];

    fifo_pointer #(.AW(ADDR_BITS)) u_rd_ptr (
        .clk      (rd_clk),
        .rst_n    (rd_rst_n),
        .advance  (rd_take),
        .bin      (rd_bin),
        .bin_next (rd_bin_next),
        .gray     (rd_gray)
    );

    sync2 #(.WIDTH(ADDR_BITS + 1)) u_sync_wr2rd (
        .clk   (rd_clk),
        .rst_n (rd_rst_n),
        .d     (wr_gray),
        .q     (wr_gray_in_rd)
    );

    gray_to_bin #(.W(ADDR_BITS + 1)) u_g2b_rd (.gray(wr_gray_in_rd), .bin(wr_bin_in_rd));

    always_ff @(posedge rd_clk or negedge rd_rst_n) begin
        if (!rd_rst_n) begin
            rd_empty <= 1'b1;
            rd_level <= '0;
            rd_miss  <= 1'b0;
        end else begin
            rd_empty <= (rd_level_next == '0);
            rd_level <= rd_level_next;
            if (rd_en && rd_empty)
                rd_miss <= 1'b1;
        end
    end

endmodule
