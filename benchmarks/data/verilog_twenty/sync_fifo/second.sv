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

    logic [WIDTH-1:0] store [0:DEPTH-1];
    logic [AW-1:0]    head, tail;           // head: oldest, tail: next free
    logic [AW:0]      count_n;
    logic             put, get;

    assign put = wr_en && !full && !clear && !rst;
    assign get = rd_en && !empty && !clear && !rst;

    assign full         = (count == DEPTH);
    assign empty        = (count == 0);
    assign almost_full  = (count + AFULL_MARGIN >= DEPTH);
    assign almost_empty = (count <= AEMPTY_LEVEL);

    always_comb begin
        count_n = count;
        if (clear)            count_n = '0;
        else if (put && !get) count_n = count + 1'b1;
        else if (get && !put) count_n = count - 1'b1;
    end

    function automatic logic [AW-1:0] succ(input logic [AW-1:0] p);
        succ = (p == DEPTH - 1) ? '0 : p + 1'b1;
    endfunction

    always_ff @(posedge clk)
        if (rst) begin
            count <= '0; peak <= '0; head <= '0; tail <= '0;
            overflow <= 1'b0; underflow <= 1'b0;
        end else begin
            count <= count_n;
            if (count_n > peak) peak <= count_n;
            if (clear) begin
                head <= '0;
                tail <= '0;
            end else begin
                if (put) tail <= succ(tail);
                if (get) head <= succ(head);
                if (wr_en && full)  overflow  <= 1'b1;
                if (rd_en && empty) underflow <= 1'b1;
            end
        end

    always_ff @(posedge clk)
        if (put) store[tail] <= wr_data;

    generate
        if (FWFT) begin : fall_through
            assign rd_data = empty ? '0 : store[head];
        end else begin : registered
            always_ff @(posedge clk)
                if (rst)      rd_data <= '0;
                else if (get) rd_data <= store[head];
        end
    endgenerate
endmodule
