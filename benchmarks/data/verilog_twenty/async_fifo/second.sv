// Dual clock FIFO, Gray coded pointers, style: split into write side / read side helper modules.
module afifo_g2b #(parameter int W = 5) (input logic [W-1:0] g, output logic [W-1:0] b);
    genvar i;
    generate
        for (i = 0; i < W; i = i + 1) begin : bits
            assign b[i] = ^(g >> i);
        end
    endgenerate
endmodule

module async_fifo #(
    parameter int WIDTH     = 8,
    parameter int ADDR_BITS = 4,
    parameter int AFULL_GAP = 2
) (
    input  logic                 wr_clk,
    input  logic                 wr_rst_n,
    input  logic                 wr_en,
    input  logic [WIDTH-1:0]     wr_data,
    output logic                 wr_full,
    output logic                 wr_almost_full,
    output logic [ADDR_BITS:0]   wr_level,
    output logic [7:0]           wr_drops,
    input  logic                 rd_clk,
    input  logic                 rd_rst_n,
    input  logic                 rd_en,
    output logic [WIDTH-1:0]     rd_data,
    output logic                 rd_empty,
    output logic [ADDR_BITS:0]   rd_level,
    output logic                 rd_miss
);
    localparam int PW    = ADDR_BITS + 1;
    localparam int DEPTH = 1 << ADDR_BITS;
    localparam int AF_AT = (AFULL_GAP >= DEPTH) ? 0 : DEPTH - AFULL_GAP;

    logic [WIDTH-1:0] mem [0:DEPTH-1];

    logic [PW-1:0] wgray, rgray;          // the only things that cross
    logic [PW-1:0] rgray_w, wgray_r;
    logic [PW-1:0] wbin, rbin, rbin_w, wbin_r;
    logic [PW-1:0] wbin_n, rbin_n, wnum, rnum;

    sync2 #(.WIDTH(PW)) u_r2w (.clk(wr_clk), .rst_n(wr_rst_n), .d(rgray), .q(rgray_w));
    sync2 #(.WIDTH(PW)) u_w2r (.clk(rd_clk), .rst_n(rd_rst_n), .d(wgray), .q(wgray_r));
    afifo_g2b #(.W(PW)) u_gb_w (.g(rgray_w), .b(rbin_w));
    afifo_g2b #(.W(PW)) u_gb_r (.g(wgray_r), .b(wbin_r));

    // ---------------- write side
    wire push = wr_en & ~wr_full;
    assign wbin_n = wbin + {{(PW-1){1'b0}}, push};
    assign wnum   = wbin_n - rbin_w;

    always_ff @(posedge wr_clk or negedge wr_rst_n)
        if (!wr_rst_n) begin
            wbin           <= '0;
            wgray          <= '0;
            wr_full        <= 1'b0;
            wr_almost_full <= 1'b0;
            wr_level       <= '0;
            wr_drops       <= 8'd0;
        end else begin
            wbin           <= wbin_n;
            wgray          <= wbin_n ^ (wbin_n >> 1);
            wr_level       <= wnum;
            wr_full        <= (wnum == DEPTH);
            wr_almost_full <= (wnum >= AF_AT);
            if (wr_en && wr_full && wr_drops != 8'hFF)
                wr_drops <= wr_drops + 8'd1;
        end

    always_ff @(posedge wr_clk)
        if (push)
            mem[wbin[ADDR_BITS-1:0]] <= wr_data;

    // ---------------- read side
    wire pop = rd_en & ~rd_empty;
    assign rbin_n = rbin + {{(PW-1){1'b0}}, pop};
    assign rnum   = wbin_r - rbin_n;

    always_ff @(posedge rd_clk or negedge rd_rst_n)
        if (!rd_rst_n) begin
            rbin     <= '0;
            rgray    <= '0;
            rd_empty <= 1'b1;
            rd_level <= '0;
            rd_miss  <= 1'b0;
        end else begin
            rbin     <= rbin_n;
            rgray    <= rbin_n ^ (rbin_n >> 1);
            rd_level <= rnum;
            rd_empty <= (rnum == '0);
            if (rd_en && rd_empty)
                rd_miss <= 1'b1;
        end

    assign rd_data = rd_empty ? '0 : mem[rbin[ADDR_BITS-1:0]];
endmodule
