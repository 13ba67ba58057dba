module packet_parser #(
    parameter logic [3:0] VERSION     = 4'd2,
    parameter int         MAX_LEN     = 32,
    parameter int         GAP_LIMIT   = 50,
    parameter int         QUIET_LIMIT = 8
) (
    input  logic       clk,
    input  logic       rst_n,
    input  logic       rx_valid,
    input  logic [7:0] rx_byte,
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
    input  logic       clear_stats,
    output logic [7:0] good_count,
    output logic [7:0] bad_count,
    output logic [7:0] junk_count
);
    typedef enum logic [2:0] {HUNT, HEADER, LENGTH, PAYLOAD, SUM_A, SUM_B, DISCARD} st_t;
    st_t st, nx;

    logic [15:0] still;            // edges without a byte
    logic [7:0]  sa, sb, got_a;
    logic [3:0]  kind;
    logic [7:0]  len, idx;

    // events of this edge
    logic ev_hdr, ev_pl, ev_last, ev_good, ev_junk, timeout;
    logic [2:0] ev_err;            // 0: none

    wire len_ok = (kind == 4'd0) ? (rx_byte == 8'd0)
                                 : (rx_byte != 8'd0 && rx_byte <= MAX_LEN);
    wire [7:0] sa_n = sa + rx_byte;
    wire [7:0] sb_n = sb + sa_n;

    assign in_packet = (st != HUNT) && (st != DISCARD);
    assign timeout   = in_packet && !rx_valid && (still == GAP_LIMIT - 1);

    always_comb begin
        nx = st;
        ev_hdr = 1'b0; ev_pl = 1'b0; ev_last = 1'b0; ev_good = 1'b0; ev_junk = 1'b0;
        ev_err = 3'd0;
        if (rx_valid) begin
            case (st)
                HUNT:
                    if (rx_byte == 8'hA5) nx = HEADER;
                    else ev_junk = 1'b1;
                HEADER:
                    if (rx_byte[7:4] == VERSION) nx = LENGTH;
                    else begin ev_err = 3'd1; nx = DISCARD; end
                LENGTH:
                    if (!len_ok) begin ev_err = 3'd2; nx = DISCARD; end
                    else begin
                        ev_hdr = 1'b1;
                        if (rx_byte == 8'd0) nx = SUM_A;
                        else                 nx = PAYLOAD;
                    end
                PAYLOAD: begin
                    ev_pl   = 1'b1;
                    ev_last = (idx == len - 8'd1);
                    if (ev_last) nx = SUM_A;
                end
                SUM_A: nx = SUM_B;
                SUM_B: begin
                    nx = HUNT;
                    if (got_a == sa && rx_byte == sb) ev_good = 1'b1;
                    else ev_err = 3'd3;
                end
                default: ev_junk = 1'b1;
            endcase
        end else if (timeout) begin
            ev_err = 3'd4;
            nx = HUNT;
        end else if (st == DISCARD && still == QUIET_LIMIT - 1)
            nx = HUNT;
    end

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            st <= HUNT;
            still <= '0; sa <= '0; sb <= '0; got_a <= '0; kind <= '0; len <= '0; idx <= '0;
            hdr_valid <= 1'b0; pkt_kind <= '0; pkt_len <= '0;
            pl_valid <= 1'b0; pl_last <= 1'b0; pl_byte <= '0; pl_index <= '0;
            pkt_good <= 1'b0; pkt_bad <= 1'b0; err_code <= '0;
        end else begin
            st        <= nx;
            still     <= (rx_valid || st == HUNT || nx == HUNT) ? 16'd0 : still + 16'd1;
            hdr_valid <= ev_hdr;
            pl_valid  <= ev_pl;
            pl_last   <= ev_last;
            pkt_good  <= ev_good;
            pkt_bad   <= (ev_err != 3'd0);
            if (ev_err != 3'd0) err_code <= ev_err;
            if (ev_hdr) begin
                pkt_kind <= kind;
                pkt_len  <= rx_byte;
            end
            if (ev_pl) begin
                pl_byte  <= rx_byte;
                pl_index <= idx;
            end
            if (rx_valid) begin
                case (st)
                    HUNT:    begin sa <= 8'd1; sb <= 8'd0; end
                    HEADER:  begin kind <= rx_byte[3:0]; sa <= sa_n; sb <= sb_n; end
                    LENGTH:  begin len <= rx_byte; idx <= 8'd0; sa <= sa_n; sb <= sb_n; end
                    PAYLOAD: begin idx <= idx + 8'd1; sa <= sa_n; sb <= sb_n; end
                    SUM_A:   got_a <= rx_byte;
                    default: ;
                endcase
            end
        end
    end

    function automatic logic [7:0] bump(input logic [7:0] c, input logic e);
        bump = (e && c != 8'hFF) ? c + 8'd1 : c;
    endfunction

    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n)           {good_count, bad_count, junk_count} <= 24'd0;
        else if (clear_stats) {good_count, bad_count, junk_count} <= 24'd0;
        else begin
            good_count <= bump(good_count, ev_good);
            bad_count  <= bump(bad_count, ev_err != 3'd0);
            junk_count <= bump(junk_count, ev_junk);
        end
endmodule
