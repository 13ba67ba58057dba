// Direct mapped write-back, write-allocate cache.

// Tag, valid and dirty bits of all lines. Reads are asynchronous.
module cache_tags #(
    parameter int TAG_W = 5,
    parameter int IDX_W = 3
) (
    input  logic             clk,
    input  logic             rst,
    input  logic [IDX_W-1:0] index,
    input  logic             install,      // valid, clean, new tag
    input  logic [TAG_W-1:0] new_tag,
    input  logic             set_dirty,
    input  logic             drop,         // make invalid
    output logic             valid,
    output logic             dirty,
    output logic [TAG_W-1:0] tag
);
    localparam int LINES = 2 ** IDX_W;

    logic [LINES-1:0] valid_bits;
    logic [LINES-1:0] dirty_bits;
    logic [TAG_W-1:0] tags [0:LINES-1];

    assign valid = valid_bits[index];
    assign dirty = dirty_bits[index];
    assign tag   = tags[index];

    always_ff @(posedge clk) begin
        if (rst) begin
            valid_bits <= '0;
            dirty_bits <= '0;
        end else if (install) begin
            valid_bits[index] <= 1'b1;
            dirty_bits[index] <= 1'b0;
        end else if (drop) begin
            valid_bits[index] <= 1'b0;
        end else if (set_dirty) begin
            dirty_bits[index] <= 1'b1;
        end
    end

    always_ff @(posedge clk)
        if (install)
            tags[index] <= new_tag;
endmodule

// Data words with byte enables.
module cache_words #(
    parameter int DATA_W = 16,
    parameter int AW     = 5
) (
    input  logic                clk,
    input  logic [DATA_W/8-1:0] we,
    input  logic [AW-1:0]       addr,
    input  logic [DATA_W-1:0]   wdata,
    output logic [DATA_W-1:0]   rdata
);
    genvar b;
    generate
        for (b = 0; b < DATA_W / 8; b = b + 1) begin : g_byte
            logic [7:0] lane [0:2**AW-1];

            always_ff @(posedge clk)
                if (we[b])
                    lane[addr] <= wdata[8*b +: 8];

            assign rdata[8*b +: 8] = lane[addr];
        end
    endgenerate
endmodule

module direct_mapped_cache #(
    parameter int ADDR_W     = 10,
    parameter int DATA_W     = 16,
    parameter int LINE_WORDS = 4,
    parameter int LINES      = 8
) (
    input  logic                clk,
    input  logic                rst,
    input  logic                cpu_valid,
    input  logic                cpu_write,
    input  logic [ADDR_W-1:0]   cpu_addr,
    input  logic [DATA_W-1:0]   cpu_wdata,
    input  logic [DATA_W/8-1:0] cpu_be,
    output logic                cpu_ready,
    output logic                resp_valid,
    output logic [DATA_W-1:0]   resp_rdata,
    output logic                resp_hit,
    output logic                mem_req,
    output logic                mem_we,
    output logic [ADDR_W-1:0]   mem_addr,
    output logic [DATA_W-1:0]   mem_wdata,
    input  logic                mem_ack,
    input  logic [DATA_W-1:0]   mem_rdata,
    input  logic                flush,
    output logic                flush_done,
    output logic [15:0]         hit_count,
    output logic [15:0]         miss_count
);
    localparam int OFF_W = $clog2(LINE_WORDS);
    localparam int IDX_W = $clog2(LINES);
    localparam int TAG_W = ADDR_W - OFF_W - IDX_W;
    localparam int BYTES = DATA_W / 8;

    typedef enum logic [2:0] {
        IDLE,
        LOOKUP,
        EVICT,          // write the old line back, then fill
        FILL,
        SCAN,           // flush: visit a line
        SCAN_EVICT      // flush: write the visited line back
    } state_t;

    state_t            state;
    logic              r_write;
    logic [ADDR_W-1:0] r_addr;
    logic [DATA_W-1:0] r_wdata;
    logic [BYTES-1:0]  r_be;
    logic              refilled;        // the look-up is a second one, after a fill
    logic [OFF_W-1:0]  word;            // word being transferred
    logic [IDX_W-1:0]  scan;

    logic [TAG_W-1:0]  r_tag, line_tag;
    logic [IDX_W-1:0]  r_index, index;
    logic [OFF_W-1:0]  r_word, word_sel;
    logic              line_valid, line_dirty, hit, perform;
    logic              scanning, moving, moved, last_word, last_line, install, drop;
    logic [BYTES-1:0]  ram_we;
    logic [DATA_W-1:0] ram_wdata, ram_rdata;

    assign {r_tag, r_index, r_word} = r_addr;

    assign scanning  = (state == SCAN) || (state == SCAN_EVICT);
    assign moving    = (state == EVICT) || (state == FILL) || (state == SCAN_EVICT);
    assign moved     = moving && mem_ack;
    assign last_word = (word == '1);
    assign last_line = (scan == '1);
    assign index     = scanning ? scan : r_index;
    assign word_sel  = moving ? word : r_word;
    assign hit       = line_valid && (line_tag == r_tag);
    assign perform   = (state == LOOKUP) && hit;

    assign cpu_ready = (state == IDLE) && !flush;
    assign mem_req   = moving;
    assign mem_we    = (state == EVICT) || (state == SCAN_EVICT);
    assign mem_addr  = {mem_we ? line_tag : r_tag, index, word};
    assign mem_wdata = ram_rdata;

    assign install   = (state == FILL) && moved && last_word;
    assign drop      = scanning && ((state == SCAN) ? !line_dirty : (moved && last_word));

    cache_tags #(.TAG_W(TAG_W), .IDX_W(IDX_W)) u_tags (
        .clk(clk), .rst(rst), .index(index), .install(install), .new_tag(r_tag),
        .set_dirty(perform && r_write), .drop(drop), .valid(line_valid), .dirty(line_dirty),
        .tag(line_tag));

    assign ram_wdata = (state == FILL) ? mem_rdata : r_wdata;
    assign ram_we    = (state == FILL && moved) ? '1 : (perform && r_write) ? r_be : '0;

    cache_words #(.DATA_W(DATA_W), .AW(IDX_W + OFF_W)) u_words (
        .clk(clk), .we(ram_we), .addr({index, word_sel}), .wdata(ram_wdata), .rdata(ram_rdata));

    // Sequence.
    always_ff @(posedge clk) begin
        if (rst) begin
            state      <= IDLE;
            refilled   <= 1'b0;
            word       <= '0;
            scan       <= '0;
            flush_done <= 1'b0;
        end else begin
            flush_done <= 1'b0;
            if (moved)
                word <= word + 1'b1;        // wraps to 0 behind the last word
            case (state)
                IDLE: begin
                    refilled <= 1'b0;
                    scan     <= '0;
                    if (flush)          state <= SCAN;
                    else if (cpu_valid) state <= LOOKUP;
                end
                LOOKUP: begin
                    if (hit)                           state <= IDLE;
                    else if (line_valid && line_dirty) state <= EVICT;
                    else                               state <= FILL;
                end
                EVICT: if (moved && last_word) state <= FILL;
                FILL: if (moved && last_word) begin
                    refilled <= 1'b1;
                    state    <= LOOKUP;
                end
                SCAN, SCAN_EVICT: begin
                    if (state == SCAN && line_valid && line_dirty) begin
                        state <= SCAN_EVICT;
                    end else if (state == SCAN || (moved && last_word)) begin
                        scan <= scan + 1'b1;
                        if (last_line) begin
                            state      <= IDLE;
                            flush_done <= 1'b1;
                        end else begin
                            state <= SCAN;
                        end
                    end
                end
                default: state <= IDLE;
            endcase
        end
    end

    // Request register.
    always_ff @(posedge clk) begin
        if (cpu_valid && cpu_ready) begin
            r_write <= cpu_write;
            r_addr  <= cpu_addr;
            r_wdata <= cpu_wdata;
            r_be    <= cpu_be;
        end
    end

    // Answer and counts.
    always_ff @(posedge clk) begin
        if (rst) begin
            resp_valid <= 1'b0;
            resp_hit   <= 1'b0;
            resp_rdata <= '0;
            hit_count  <= 16'd0;
            miss_count <= 16'd0;
        end else begin
            resp_valid <= perform;
            if (perform) begin
                resp_hit   <= !refilled;
                resp_rdata <= r_write ? '0 : ram_rdata;
                if (refilled) miss_count <= miss_count + 16'd1;
                else          hit_count  <= hit_count + 16'd1;
            end
        end
    end
endmodule
