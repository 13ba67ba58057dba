// Single-clock FIFO: storage, two wrapping pointers, occupancy and status.

// Simple two-port storage, synchronous write and asynchronous read.
module fifo_ram #(
    parameter int WIDTH = 8,
    parameter int DEPTH = 16,
    parameter int AW    = 4
) (
    input  logic             clk,
    input  logic             we,
    input  logic [AW-1:0]    waddr,
    input  logic [WIDTH-1:0] wdata,
    input  logic [AW-1:0]    raddr,
    output logic [WIDTH-1:0] rdata
);
    logic [WIDTH-1:0] store [0:DEPTH-1];

    always_ff @(posedge clk) begin
        if (we)
            store[waddr] <= wdata;
    end

    assign rdata = store[raddr];
endmodule

// Pointer that counts 0 .. DEPTH-1 and wraps.
module fifo_ptr #(
    parameter int DEPTH = 16,
    parameter int AW    = 4
) (
    input  logic          clk,
    input  logic          zero,
    input  logic          step,
    output logic [AW-1:0] ptr
);
    localparam logic [AW-1:0] LAST = AW'(DEPTH - 1);

    always_ff @(posedge clk) begin
        if (zero)
            ptr <= '0;
        else if (step)
            ptr <= (ptr == LAST) ? '0 : ptr + 1'b1;
    end
endmodule

module sync_fifo #(
    parameter int WIDTH        = 8,
    parameter int DEPTH        = 16,
    parameter int AFULL_MARGIN = 2,
    parameter int AEMPTY_LEVEL = 2,
    parameter int FWFT         = 0
) (
    input  logic                   clk,
    input  logic                   rst,
    input  logic                   clear,
    input  logic                   wr_en,
    input  logic [WIDTH-1:0]       wr_data,
    input  logic                   rd_en,
    output logic [WIDTH-1:0]       rd_data,
    output logic                   full,
    output logic                   empty,
    output logic                   almost_full,
    output logic                   almost_empty,
    output logic [$clog2(DEPTH):0] count,
    output logic [$clog2(DEPTH):0] peak,
    output logic                   overflow,
    output logic                   underflow
);
    localparam int AW = $clog2(DEPTH);
    localparam int CW = AW + 1;
    localparam logic [CW-1:0] FULL_LEVEL   = CW'(DEPTH);
    localparam logic [CW-1:0] AFULL_LEVEL  = CW'(DEPTH - AFULL_MARGIN);
    localparam logic [CW-1:0] ALMOST_EMPTY = CW'(AEMPTY_LEVEL);

    logic             push;
    logic             pop;
    logic [AW-1:0]    wptr;
    logic [AW-1:0]    rptr;
    logic [WIDTH-1:0] head;
    logic [CW-1:0]    count_next;

    assign push = wr_en && !full  && !clear;
    assign pop  = rd_en && !empty && !clear;

    assign full         = (count == FULL_LEVEL);
    assign empty        = (count == '0);
    assign almost_full  = (count >= AFULL_LEVEL);
    assign almost_empty = (count <= ALMOST_EMPTY);

    fifo_ptr #(.DEPTH(DEPTH), .AW(AW)) u_wptr (
        .clk  (clk),
        .zero (rst || clear),
        .step (push),
        .ptr  (wptr)
    );

    fifo_ptr #(.DEPTH(DEPTH), .AW(AW)) u_rptr (
        .clk  (clk),
        .zero (rst || clear),
        .step (pop),
        .ptr  (rptr)
    );

    fifo_ram #(.WIDTH(WIDTH), .DEPTH(DEPTH), .AW(AW)) u_ram (
        .clk   (clk),
        .we    (push),
        .waddr (wptr),
        .wdata (wr_data),
        .raddr (rptr),
        .rdata (head)
    );

    // Occupancy.
    always_comb begin
        count_next = count;
        if (clear)
            count_next = '0;
        else if (push && !pop)
            count_next = count + 1'b1;
        else if (pop && !push)
            count_next = count - 1'b1;
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            count <= '0;
            peak  <= '0;
        end else begin
            count <= count_next;
            if (count_next > peak)
                peak <= count_next;
        end
    end

    // Sticky refusals.
    always_ff @(posedge clk) begin
        if (rst) begin
            overflow  <= 1'b0;
            underflow <= 1'b0;
        end else if (!clear) begin
            if (wr_en && full)
                overflow <= 1'b1;
            if (rd_en && empty)
                underflow <= 1'b1;
        end
    end

    // Read side.
    generate
        if (FWFT != 0) begin : g_fall_through
            assign rd_data = empty ? '0 : head;
        end else begin : g_registered
            logic [WIDTH-1:0] rd_q;

            always_ff @(posedge clk) begin
                if (rst)
                    rd_q <= '0;
                else if (pop)
                    rd_q <= head;
            end

            assign rd_data = rd_q;
        end
    endgenerate
endmodule
