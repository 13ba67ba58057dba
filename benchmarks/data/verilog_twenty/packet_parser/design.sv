// Parser for byte-wise packets: start byte, header, length, payload, two check
// bytes. Wrong versions, lengths, check bytes and stalled packets are reported.

// Two running sums modulo 256: A adds the bytes, B adds the values of A.
module packet_sums (
    input  logic       clk,
    input  logic       rst_n,
    input  logic       restart,
    input  logic       add,
    input  logic [7:0] data,
    output logic [7:0] sum_a,
    output logic [7:0] sum_b
);

    logic [7:0] next_a;

    assign next_a = sum_a + data;

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            sum_a <= 8'd1;
            sum_b <= 8'd0;
        end else if (restart) begin
            sum_a <= 8'd1;
            sum_b <= 8'd0;
        end else if (add) begin
            sum_a <= next_a;
            sum_b <= sum_b + next_a;
        end
    end

endmodule


// Event counter that stops at its largest value.
module saturating_counter #(
    parameter int W = 8
) (
    input  logic         clk,
    input  logic         rst_n,
    input  logic         clear,
    input  logic         event_in,
    output logic [W-1:0] count
);

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n)
            count <= '0;
        else if (clear)
            count <= '0;
        else if (event_in && !(&count))
            count <= count + 1'b1;
    end

endmodule


module packet_parser #(
    parameter logic [3:0] VERSION     = 4'h2,
    parameter int         MAX_LEN     = 32,
    parameter int         GAP_LIMIT   = 50,
    parameter int         QUIET_LIMIT = 8
) (
    input  logic       clk,
    input  logic       rst_n,
    input  logic       rx_valid,
    input  logic [7:0] rx_byte,
    input  logic       clear_stats,
    output logic       hdr_valid,
    output logic [3:0] pkt_kind,
    output logic [7:0] pkt_len,
    output logic       pl_valid,
    output logic       pl_last,
    output logic [7:0] pl_byte,
    output logic [7:0] pl_index,
    output logic       pkt_good,
    output logic       pkt_bad,
    output logic [2:0] err_code,
    output logic       in_packet,
    output logic [7:0] good_count,
    output logic [7:0] bad_count,
    output logic [7:0] junk_count
);

    typedef enum logic [2:0] {
        HUNT, HEADER, LENGTH, PAYLOAD, SUM_A, SUM_B, DISCARD
    } state_t;

    typedef enum logic [2:0] {
        ERR_NONE, ERR_VERSION, ERR_LENGTH, ERR_CHECKSUM, ERR_TIMEOUT
    } error_t;

    localparam logic [7:0]  START_BYTE = 8'hA5;
    localparam logic [15:0] GAP_LAST   = GAP_LIMIT - 1;
    localparam logic [15:0] QUIET_LAST = QUIET_LIMIT - 1;
    localparam logic [7:0]  LEN_TOP    = MAX_LEN;

    state_t      state, state_next;
    error_t      error;               // error found in this clock
    logic [3:0]  kind_q;
    logic [7:0]  index;
    logic [7:0]  sum_a, sum_b;
    logic        a_matches_q;
    logic [15:0] silence;             // clocks without a byte so far
    logic        hunting, version_ok, length_ok, sums_ok, summed;
    logic        header_done, payload_byte, payload_last, good, bad, junk;

    assign hunting      = (state == HUNT);
    assign in_packet    = !hunting && (state != DISCARD);
    assign version_ok   = (rx_byte[7:4] == VERSION);
    assign sums_ok      = a_matches_q && (rx_byte == sum_b);
    assign summed       = rx_valid && (state == HEADER || state == LENGTH || state == PAYLOAD);
    assign length_ok    = (kind_q == 4'd0) ? (rx_byte == 8'd0)
                                           : (rx_byte != 8'd0 && rx_byte <= LEN_TOP);
    assign header_done  = rx_valid && state == LENGTH && length_ok;
    assign payload_byte = rx_valid && state == PAYLOAD;
    assign payload_last = payload_byte && (index + 8'd1 == pkt_len);
    assign bad          = (error != ERR_NONE);
    assign good         = rx_valid && state == SUM_B && !bad;
    assign junk         = rx_valid && (state == DISCARD
                                       || (hunting && rx_byte != START_BYTE));

    // ------------------------------------------------- next state, errors
    always_comb begin
        state_next = state;
        error      = ERR_NONE;
        if (rx_valid) begin
            case (state)
                HUNT:
                    if (rx_byte == START_BYTE)
                        state_next = HEADER;
                HEADER:
                    if (version_ok) begin
                        state_next = LENGTH;
                    end else begin
                        state_next = DISCARD;
                        error      = ERR_VERSION;
                    end
                LENGTH:
                    if (!length_ok) begin
                        state_next = DISCARD;
                        error      = ERR_LENGTH;
                    end else if (rx_byte == 8'd0) begin
                        state_next = SUM_A;
                    end else begin
                        state_next = PAYLOAD;
                    end
                PAYLOAD:
                    if (payload_last)
                        state_next = SUM_A;
                SUM_A:
                    state_next = SUM_B;
                SUM_B: begin
                    state_next = HUNT;
                    if (!sums_ok)
                        error = ERR_CHECKSUM;
                end
                default:
                    state_next = DISCARD;
            endcase
        end else if (in_packet && silence == GAP_LAST) begin
            state_next = HUNT;
            error      = ERR_TIMEOUT;
        end else if (state == DISCARD && silence == QUIET_LAST) begin
            state_next = HUNT;
        end
    end

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            state   <= HUNT;
            silence <= 16'd0;
        end else begin
            state <= state_next;
            if (rx_valid || hunting)
                silence <= 16'd0;
            else
                silence <= silence + 16'd1;
        end
    end

    // --------------------------------------------- header, payload, verdict
    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            kind_q      <= 4'd0;
            pkt_kind    <= 4'd0;
            pkt_len     <= 8'd0;
            index       <= 8'd0;
            a_matches_q <= 1'b0;
            pl_byte     <= 8'd0;
            pl_index    <= 8'd0;
            err_code    <= 3'd0;
        end else begin
            if (rx_valid && state == HEADER)
                kind_q <= rx_byte[3:0];
            if (header_done) begin
                pkt_kind <= kind_q;
                pkt_len  <= rx_byte;
                index    <= 8'd0;
            end
            if (payload_byte) begin
                pl_byte  <= rx_byte;
                pl_index <= index;
                index    <= index + 8'd1;
            end
            if (rx_valid && state == SUM_A)
                a_matches_q <= (rx_byte == sum_a);
            if (bad)
                err_code <= error;
        end
    end

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            hdr_valid <= 1'b0;
            pl_valid  <= 1'b0;
            pl_last   <= 1'b0;
            pkt_good  <= 1'b0;
            pkt_bad   <= 1'b0;
        end else begin
            hdr_valid <= header_done;
            pl_valid  <= payload_byte;
            pl_last   <= payload_last;
            pkt_good  <= good;
            pkt_bad   <= bad;
        end
    end

    packet_sums u_sums (
        .clk     (clk),
        .rst_n   (rst_n),
        .restart (hunting),
        .add     (summed),
        .data    (rx_byte),
        .sum_a   (sum_a),
        .sum_b   (sum_b)
    );

    // ------------------------------------------------------------ statistics
    saturating_counter u_good (.clk, .rst_n, .clear(clear_stats), .event_in(good),
                               .count(good_count));
    saturating_counter u_bad  (.clk, .rst_n, .clear(clear_stats), .event_in(bad),
                               .count(bad_count));
    saturating_counter u_junk (.clk, .rst_n, .clear(clear_stats), .event_in(junk),
                               .count(junk_count));

endmodule
