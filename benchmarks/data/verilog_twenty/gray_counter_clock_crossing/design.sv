// Up/down counter in one clock domain, watched from another one in two ways:
//  - continuously, through its Gray code and a chain of flops;
//  - on request, through a toggle handshake that freezes an exact value.

// Chain of STAGES flops, for words of which at most one bit changes at a time.
module sync_chain #(
    parameter int WIDTH  = 1,
    parameter int STAGES = 2
) (
    input  logic             clk,
    input  logic             rst_n,
    input  logic [WIDTH-1:0] d,
    output logic [WIDTH-1:0] q
);

    logic [STAGES-1:0][WIDTH-1:0] chain;

    for (genvar s = 0; s < STAGES; s++) begin : g_stage
        if (s == 0) begin : g_first
            always_ff @(posedge clk or negedge rst_n) begin
                if (!rst_n) chain[0] <= '0;
                else        chain[0] <= d;
            end
        end else begin : g_next
            always_ff @(posedge clk or negedge rst_n) begin
                if (!rst_n) chain[s] <= '0;
                else        chain[s] <= chain[s-1];
            end
        end
    end

    assign q = chain[STAGES-1];

endmodule


// Binary up/down counter with a registered Gray copy of the same value.
module gray_updown #(
    parameter int WIDTH = 8
) (
    input  logic             clk,
    input  logic             rst_n,
    input  logic             en,
    input  logic             up,
    output logic [WIDTH-1:0] bin,
    output logic [WIDTH-1:0] gray
);

    logic [WIDTH-1:0] next;

    always_comb begin
        next = bin;
        if (en)
            next = up ? bin + 1'b1 : bin - 1'b1;
    end

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            bin  <= '0;
            gray <= '0;
        end else begin
            bin  <= next;
            gray <= next ^ (next >> 1);
        end
    end

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

    typedef enum logic {IDLE, WAITING} snap_state_t;

    function automatic [WIDTH-1:0] to_binary(input [WIDTH-1:0] g);
        logic acc;
        acc = 1'b0;
        for (int i = WIDTH - 1; i >= 0; i--) begin
            acc          = acc ^ g[i];
            to_binary[i] = acc;
        end
    endfunction

    // ------------------------------------------------------- source counter
    gray_updown #(.WIDTH(WIDTH)) u_counter (
        .clk   (src_clk),
        .rst_n (src_rst_n),
        .en    (src_en),
        .up    (src_up),
        .bin   (src_count),
        .gray  (src_gray)
    );

    // ---------------------------------------------------- continuous watching
    logic [WIDTH-1:0] gray_in_dst, bin_in_dst;

    sync_chain #(.WIDTH(WIDTH), .STAGES(STAGES)) u_gray_sync (
        .clk (dst_clk), .rst_n (dst_rst_n), .d (src_gray), .q (gray_in_dst)
    );

    assign bin_in_dst = to_binary(gray_in_dst);

    always_ff @(posedge dst_clk or negedge dst_rst_n) begin
        if (!dst_rst_n) begin
            dst_count   <= '0;
            dst_changed <= 1'b0;
        end else begin
            dst_count   <= bin_in_dst;
            dst_changed <= (bin_in_dst != dst_count);
        end
    end

    // ------------------------------------------------------ exact snapshots
    snap_state_t      state;
    logic             req_toggle, req_in_src;
    logic             ack_toggle, ack_in_dst;
    logic [WIDTH-1:0] frozen;

    sync_chain #(.STAGES(STAGES)) u_req_sync (
        .clk (src_clk), .rst_n (src_rst_n), .d (req_toggle), .q (req_in_src)
    );

    sync_chain #(.STAGES(STAGES)) u_ack_sync (
        .clk (dst_clk), .rst_n (dst_rst_n), .d (ack_toggle), .q (ack_in_dst)
    );

    always_ff @(posedge src_clk or negedge src_rst_n) begin
        if (!src_rst_n) begin
            frozen     <= '0;
            ack_toggle <= 1'b0;
        end else if (req_in_src != ack_toggle) begin
            frozen     <= src_count;
            ack_toggle <= req_in_src;
        end
    end

    assign snap_busy = (state == WAITING);

    always_ff @(posedge dst_clk or negedge dst_rst_n) begin
        if (!dst_rst_n) begin
            state      <= IDLE;
            req_toggle <= 1'b0;
            snap_valid <= 1'b0;
            snap_value <= '0;
        end else begin
            snap_valid <= 1'b0;
            case (state)
                IDLE: if (snap_req) begin
                    state      <= WAITING;
                    req_toggle <= ~req_toggle;
                end
                WAITING: if (ack_in_dst == req_toggle) begin
                    state      <= IDLE;
                    snap_valid <= 1'b1;
                    snap_value <= frozen;
                end
                default: state <= IDLE;
            endcase
        end
    end

    // Requests that came too early, modulo 16.
    always_ff @(posedge dst_clk or negedge dst_rst_n) begin
        if (!dst_rst_n)
            snap_refused <= 4'd0;
        else if (snap_req && snap_busy)
            snap_refused <= snap_refused + 4'd1;
    end

endmodule
