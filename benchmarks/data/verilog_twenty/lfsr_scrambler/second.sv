module lfsr_scrambler #(
    parameter int             DATA_W    = 8,
    parameter int             LEN       = 7,
    parameter int             TAP       = 4,
    parameter int             SELF_SYNC = 1,
    parameter logic [LEN-1:0] SEED      = '1,
    parameter int             ERR_W     = 8
) (
    input  logic              tx_clk,
    input  logic              tx_rst_n,
    input  logic              tx_load,
    input  logic              tx_en,
    input  logic              tx_bypass,
    input  logic              tx_test,
    input  logic [DATA_W-1:0] tx_data,
    output logic [DATA_W-1:0] tx_scr,
    output logic              tx_scr_valid,
    input  logic              rx_clk,
    input  logic              rx_rst,
    input  logic              rx_load,
    input  logic              rx_en,
    input  logic              rx_bypass,
    input  logic              rx_test,
    input  logic [DATA_W-1:0] rx_scr,
    output logic [DATA_W-1:0] rx_data,
    output logic              rx_valid,
    output logic              rx_locked,
    output logic [ERR_W-1:0]  err_count
);
    // returns {next s, output word}; rx selects which side of the xor is the scrambled one
    function automatic logic [LEN+DATA_W-1:0] churn(input logic [LEN-1:0] s0,
                                                    input logic [DATA_W-1:0] w, input logic rx);
        logic [LEN-1:0]    s;
        logic [DATA_W-1:0] o;
        logic              k, fb;
        int                i;
        s = s0;
        for (i = 0; i < DATA_W; i = i + 1) begin
            k    = s[LEN-1] ^ s[TAP-1];
            o[i] = w[i] ^ k;
            fb   = (SELF_SYNC == 0) ? k : (rx ? w[i] : o[i]);
            s    = s << 1;
            s[0] = fb;
        end
        churn = {s, o};
    endfunction

    // ------------------------------------------------ transmitter
    logic [LEN-1:0]    ts, ts_n;
    logic [DATA_W-1:0] t_in, t_out;
    assign t_in = tx_test ? '0 : tx_data;
    assign {ts_n, t_out} = churn(ts, t_in, 1'b0);

    always_ff @(posedge tx_clk or negedge tx_rst_n) begin
        if (!tx_rst_n) begin
            ts           <= SEED;
            tx_scr       <= '0;
            tx_scr_valid <= 1'b0;
        end else begin
            tx_scr_valid <= tx_en & ~tx_load;
            if (tx_load)
                ts <= SEED;
            else if (tx_en) begin
                if (tx_bypass)
                    tx_scr <= t_in;
                else begin
                    tx_scr <= t_out;
                    ts     <= ts_n;
                end
            end
        end
    end

    // ------------------------------------------------ receiver
    localparam int CW = $clog2(LEN + DATA_W + 1);
    logic [LEN-1:0]       rs, rs_n;
    logic [DATA_W-1:0]    r_out;
    logic [CW-1:0]        bits;          // ordinary bits so far, stops at LEN
    logic                 trusted;
    logic [ERR_W+6-1:0]   err_sum;
    assign {rs_n, r_out} = churn(rs, rx_scr, 1'b1);
    assign trusted = (SELF_SYNC != 0) ? (bits >= LEN) : rx_locked;

    always_comb begin
        err_sum = {6'd0, err_count};
        for (int i = 0; i < DATA_W; i = i + 1)
            err_sum = err_sum + r_out[i];
    end

    always_ff @(posedge rx_clk) begin
        if (rx_rst) begin
            rs        <= SEED;
            bits      <= '0;
            rx_data   <= '0;
            rx_valid  <= 1'b0;
            rx_locked <= 1'b0;
            err_count <= '0;
        end else if (rx_load) begin
            rs        <= SEED;
            bits      <= '0;
            rx_valid  <= 1'b0;
            rx_locked <= (SELF_SYNC == 0);
            err_count <= '0;
        end else begin
            rx_valid <= rx_en;
            if (rx_en && rx_bypass)
                rx_data <= rx_scr;
            else if (rx_en) begin
                rx_data <= r_out;
                rs      <= rs_n;
                bits    <= (bits >= LEN) ? bits : bits + DATA_W;
                if (SELF_SYNC != 0) rx_locked <= trusted;
                if (trusted && rx_test)
                    err_count <= (|err_sum[ERR_W+5:ERR_W]) ? '1 : err_sum[ERR_W-1:0];
            end
        end
    end
endmodule
