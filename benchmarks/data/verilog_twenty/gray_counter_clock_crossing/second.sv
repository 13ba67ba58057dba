module gccc_chain #(parameter int W = 1, parameter int N = 2) (
    input logic clk, input logic rst_n, input logic [W-1:0] d, output logic [W-1:0] q);
    logic [W*N-1:0] ff;
    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n) ff <= '0;
        else        ff <= {ff[W*(N-1)-1:0], d};
    assign q = ff[W*N-1 -: W];
endmodule

module gray_counter_clock_crossing #(
    parameter int WIDTH  = 8,
    parameter int STAGES = 2
) (
    input  logic             src_clk,
    input  logic             src_rst_n,
    input  logic             src_en,
    input  logic             src_up,
    output logic [WIDTH-1:0] src_count,
    output logic [WIDTH-1:0] src_gray,
    input  logic             dst_clk,
    input  logic             dst_rst_n,
    output logic [WIDTH-1:0] dst_count,
    output logic             dst_changed,
    input  logic             snap_req,
    output logic             snap_busy,
    output logic             snap_valid,
    output logic [WIDTH-1:0] snap_value,
    output logic [3:0]       snap_refused
);
    logic             req_t, ack_t, req_s, ack_d;
    logic [WIDTH-1:0] hold, gray_d, bin_d, nxt;

    // ---- source domain
    always_comb begin
        nxt = src_count;
        if (src_en) nxt = src_up ? src_count + 1'b1 : src_count - 1'b1;
    end

    always_ff @(posedge src_clk or negedge src_rst_n)
        if (!src_rst_n) begin
            src_count <= '0;
            src_gray  <= '0;
            hold      <= '0;
            ack_t     <= 1'b0;
        end else begin
            src_count <= nxt;
            src_gray  <= nxt ^ (nxt >> 1);
            if (req_s != ack_t) begin
                hold  <= src_count;
                ack_t <= req_s;
            end
        end

    gccc_chain #(.W(1), .N(STAGES)) u_req (.clk(src_clk), .rst_n(src_rst_n), .d(req_t), .q(req_s));

    // ---- destination domain
    gccc_chain #(.W(1), .N(STAGES))     u_ack  (.clk(dst_clk), .rst_n(dst_rst_n), .d(ack_t), .q(ack_d));
    gccc_chain #(.W(WIDTH), .N(STAGES)) u_gray (.clk(dst_clk), .rst_n(dst_rst_n), .d(src_gray), .q(gray_d));

    always_comb begin
        bin_d = gray_d;
        for (int i = 1; i < WIDTH; i = i + 1)
            bin_d = bin_d ^ (gray_d >> i);
    end

    always_ff @(posedge dst_clk or negedge dst_rst_n)
        if (!dst_rst_n) begin
            dst_count    <= '0;
            dst_changed  <= 1'b0;
            req_t        <= 1'b0;
            snap_busy    <= 1'b0;
            snap_valid   <= 1'b0;
            snap_value   <= '0;
            snap_refused <= 4'd0;
        end else begin
            dst_count   <= bin_d;
            dst_changed <= (bin_d != dst_count);
            snap_valid  <= 1'b0;
            if (!snap_busy) begin
                if (snap_req) begin
                    snap_busy <= 1'b1;
                    req_t     <= ~req_t;
                end
            end else begin
                if (snap_req) snap_refused <= snap_refused + 4'd1;
                if (ack_d == req_t) begin
                    snap_busy  <= 1'b0;
                    snap_valid <= 1'b1;
                    snap_value <= hold;
                end
            end
        end
endmodule
