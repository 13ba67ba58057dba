// Two-process state machine: comb next state + register block.
module direct_mapped_cache #(
    parameter ADDR_W     = 10,
    parameter DATA_W     = 16,
    parameter LINE_WORDS = 4,
    parameter LINES      = 8
) (
    input  wire                clk,
    input  wire                rst,
    input  wire                cpu_valid,
    input  wire                cpu_write,
    input  wire [ADDR_W-1:0]   cpu_addr,
    input  wire [DATA_W-1:0]   cpu_wdata,
    input  wire [DATA_W/8-1:0] cpu_be,
    output wire                cpu_ready,
    output reg                 resp_valid,
    output reg  [DATA_W-1:0]   resp_rdata,
    output reg                 resp_hit,
    output wire                mem_req,
    output wire                mem_we,
    output wire [ADDR_W-1:0]   mem_addr,
    output wire [DATA_W-1:0]   mem_wdata,
    input  wire                mem_ack,
    input  wire [DATA_W-1:0]   mem_rdata,
    input  wire                flush,
    output reg                 flush_done,
    output reg  [15:0]         hit_count,
    output reg  [15:0]         miss_count
);
    localparam OFFW = $clog2(LINE_WORDS);
    localparam IDXW = $clog2(LINES);
    localparam TAGW = ADDR_W - OFFW - IDXW;

    localparam [2:0] IDLE = 0, LOOK = 1, EVICT = 2, FILL = 3, REPLAY = 4, VISIT = 5, FEVICT = 6;

    reg [2:0] st, st_n;

    reg [DATA_W-1:0] data [0:LINES*LINE_WORDS-1];
    reg [TAGW-1:0]   tags [0:LINES-1];
    reg [LINES-1:0]  vld, dty;

    // captured request
    reg                q_wr;
    reg [ADDR_W-1:0]   q_addr;
    reg [DATA_W-1:0]   q_data;
    reg [DATA_W/8-1:0] q_be;

    reg [OFFW-1:0] word;       // position of a transfer in the line
    reg [IDXW-1:0] fline;      // line visited by a flush

    wire [OFFW-1:0] a_off = q_addr[OFFW-1:0];
    wire [IDXW-1:0] a_idx = q_addr[OFFW+IDXW-1:OFFW];
    wire [TAGW-1:0] a_tag = q_addr[ADDR_W-1:OFFW+IDXW];

    wire flushing = (st == VISIT) || (st == FEVICT);
    wire [IDXW-1:0] cur = flushing ? fline : a_idx;
    wire hit       = vld[a_idx] && (tags[a_idx] == a_tag);
    wire must_evict = vld[cur] && dty[cur];
    wire last_word = &word;
    wire last_line = &fline;
    wire go        = (st == LOOK && hit) || (st == REPLAY);   // the access is carried out

    assign cpu_ready = (st == IDLE) && !flush;
    assign mem_req   = (st == EVICT) || (st == FILL) || (st == FEVICT);
    assign mem_we    = (st == EVICT) || (st == FEVICT);
    assign mem_addr  = {mem_we ? tags[cur] : a_tag, cur, word};
    assign mem_wdata = data[{cur, word}];

    wire xfer = mem_req && mem_ack;

    always @* begin
        st_n = st;
        case (st)
            IDLE:   if (flush) st_n = VISIT;
                    else if (cpu_valid) st_n = LOOK;
            LOOK:   if (hit) st_n = IDLE;
                    else if (must_evict) st_n = EVICT;
                    else st_n = FILL;
            EVICT:  if (xfer && last_word) st_n = FILL;
            FILL:   if (xfer && last_word) st_n = REPLAY;
            REPLAY: st_n = IDLE;
            VISIT:  if (must_evict) st_n = FEVICT;
                    else if (last_line) st_n = IDLE;
            FEVICT: if (xfer && last_word) st_n = last_line ? IDLE : VISIT;
            default: st_n = IDLE;
        endcase
    end

    integer i;
    always @(posedge clk) begin
        resp_valid <= 1'b0;
        flush_done <= 1'b0;
        if (rst) begin
            st         <= IDLE;
            vld        <= {LINES{1'b0}};
            dty        <= {LINES{1'b0}};
            hit_count  <= 16'd0;
            miss_count <= 16'd0;
            word       <= {OFFW{1'b0}};
            fline      <= {IDXW{1'b0}};
        end else begin
            st <= st_n;

            if (st == IDLE) begin
                word  <= {OFFW{1'b0}};
                fline <= {IDXW{1'b0}};
                if (cpu_valid && cpu_ready) begin
                    q_wr   <= cpu_write;
                    q_addr <= cpu_addr;
                    q_data <= cpu_wdata;
                    q_be   <= cpu_be;
                end
            end

            if (xfer)
                word <= word + 1'b1;       // wraps to 0 after the last word

            if (st == FILL && mem_ack) begin
                data[{cur, word}] <= mem_rdata;
                if (last_word) begin
                    tags[a_idx] <= a_tag;
                    vld[a_idx]  <= 1'b1;
                    dty[a_idx]  <= 1'b0;
                end
            end

            if (go) begin
                resp_valid <= 1'b1;
                resp_hit   <= (st == LOOK);
                resp_rdata <= q_wr ? {DATA_W{1'b0}} : data[{a_idx, a_off}];
                if (st == LOOK) hit_count  <= hit_count + 16'd1;
                else            miss_count <= miss_count + 16'd1;
                if (q_wr) begin
                    dty[a_idx] <= 1'b1;
                    for (i = 0; i < DATA_W/8; i = i + 1)
                        if (q_be[i])
                            data[{a_idx, a_off}][8*i +: 8] <= q_data[8*i +: 8];
                end
            end

            if (st == VISIT)
                vld[fline] <= 1'b0;
            if ((st == VISIT && !must_evict) || (st == FEVICT && xfer && last_word)) begin
                fline      <= fline + 1'b1;
                flush_done <= last_line;
            end
        end
    end
endmodule
