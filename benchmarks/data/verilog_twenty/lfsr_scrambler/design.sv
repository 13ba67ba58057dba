// Word-parallel scrambler and descrambler with independent clocks.

// State transition for one word, purely combinational.
module lfsr_word #(
    parameter int DATA_W    = 8,
    parameter int LEN       = 7,
    parameter int TAP       = 4,
    parameter int SELF_SYNC = 1,
    parameter int RECEIVE   = 0
) (
    input  logic [LEN-1:0]    state,
    input  logic [DATA_W-1:0] din,
    output logic [LEN-1:0]    next,
    output logic [DATA_W-1:0] dout
);
    // steps[i] is the state before bit i
    logic [LEN-1:0] steps [0:DATA_W];

    assign steps[0] = state;
    assign next     = steps[DATA_W];

    genvar i;
    generate
        for (i = 0; i < DATA_W; i = i + 1) begin : g_bit
            logic key;
            logic fed;

            assign key     = steps[i][LEN-1] ^ steps[i][TAP-1];
            assign dout[i] = din[i] ^ key;

            if (SELF_SYNC == 0) begin : g_additive
                assign fed = key;
            end else if (RECEIVE != 0) begin : g_from_line
                assign fed = din[i];
            end else begin : g_to_line
                assign fed = dout[i];
            end

            assign steps[i+1] = {steps[i][LEN-2:0], fed};
        end
    endgenerate
endmodule

module scramble_tx #(
    parameter int             DATA_W    = 8,
    parameter int             LEN       = 7,
    parameter int             TAP       = 4,
    parameter int             SELF_SYNC = 1,
    parameter logic [LEN-1:0] SEED      = '1
) (
    input  logic              clk,
    input  logic              rst_n,
    input  logic              load,
    input  logic              en,
    input  logic              bypass,
    input  logic              test,
    input  logic [DATA_W-1:0] data,
    output logic [DATA_W-1:0] scr,
    output logic              scr_valid
);
    logic [LEN-1:0]    s, s_next;
    logic [DATA_W-1:0] word, mixed;

    assign word = test ? '0 : data;

    lfsr_word #(
        .DATA_W(DATA_W), .LEN(LEN), .TAP(TAP), .SELF_SYNC(SELF_SYNC), .RECEIVE(0)
    ) u_word (
        .state(s), .din(word), .next(s_next), .dout(mixed)
    );

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            s         <= SEED;
            scr       <= '0;
            scr_valid <= 1'b0;
        end else begin
            scr_valid <= en && !load;
            if (load) begin
                s <= SEED;
            end else if (en) begin
                scr <= bypass ? word : mixed;
                if (!bypass)
                    s <= s_next;
            end
        end
    end
endmodule

module scramble_rx #(
    parameter int             DATA_W    = 8,
    parameter int             LEN       = 7,
    parameter int             TAP       = 4,
    parameter int             SELF_SYNC = 1,
    parameter logic [LEN-1:0] SEED      = '1,
    parameter int             ERR_W     = 8
) (
    input  logic              clk,
    input  logic              rst,
    input  logic              load,
    input  logic              en,
    input  logic              bypass,
    input  logic              test,
    input  logic [DATA_W-1:0] scr,
    output logic [DATA_W-1:0] data,
    output logic              valid,
    output logic              locked,
    output logic [ERR_W-1:0]  err_count
);
    localparam int ONES_W = $clog2(DATA_W + 1);
    localparam int SUM_W  = ((ERR_W > ONES_W) ? ERR_W : ONES_W) + 1;

    logic [LEN-1:0]    s, s_next;
    logic [DATA_W-1:0] plain;
    logic              ordinary;
    logic              trusted;
    logic [SUM_W-1:0]  sum;

    function automatic logic [ONES_W-1:0] ones_in(input logic [DATA_W-1:0] w);
        logic [ONES_W-1:0] n;
        n = '0;
        for (int b = 0; b < DATA_W; b++)
            n = n + ONES_W'(w[b]);
        ones_in = n;
    endfunction

    assign ordinary = en && !bypass && !load;
    assign sum      = SUM_W'(err_count) + SUM_W'(ones_in(plain));

    lfsr_word #(
        .DATA_W(DATA_W), .LEN(LEN), .TAP(TAP), .SELF_SYNC(SELF_SYNC), .RECEIVE(1)
    ) u_word (
        .state(s), .din(scr), .next(s_next), .dout(plain)
    );

    always_ff @(posedge clk) begin
        if (rst) begin
            s     <= SEED;
            data  <= '0;
            valid <= 1'b0;
        end else begin
            valid <= en && !load;
            if (load)          s <= SEED;
            else if (ordinary) s <= s_next;
            if (en && !load)
                data <= bypass ? scr : plain;
        end
    end

    always_ff @(posedge clk) begin
        if (rst || load)
            err_count <= '0;
        else if (ordinary && trusted && test)
            err_count <= (sum > SUM_W'({ERR_W{1'b1}})) ? '1 : sum[ERR_W-1:0];
    end

    // Trust: words still missing (self-synchronising) or a load seen (additive).
    generate
        if (SELF_SYNC != 0) begin : g_self
            localparam int WORDS = (LEN + DATA_W - 1) / DATA_W;
            localparam int CW    = $clog2(WORDS + 1);

            logic [CW-1:0] missing;

            assign trusted = (missing == '0);

            always_ff @(posedge clk) begin
                if (rst || load) begin
                    missing <= CW'(WORDS);
                    locked  <= 1'b0;
                end else if (ordinary) begin
                    locked <= trusted;
                    if (!trusted)
                        missing <= missing - 1'b1;
                end
            end
        end else begin : g_add
            assign trusted = locked;

            always_ff @(posedge clk) begin
                if (rst)       locked <= 1'b0;
                else if (load) locked <= 1'b1;
            end
        end
    endgenerate
endmodule

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
    scramble_tx #(
        .DATA_W(DATA_W), .LEN(LEN), .TAP(TAP), .SELF_SYNC(SELF_SYNC), .SEED(SEED)
    ) u_tx (
        .clk(tx_clk), .rst_n(tx_rst_n), .load(tx_load), .en(tx_en), .bypass(tx_bypass),
        .test(tx_test), .data(tx_data), .scr(tx_scr), .scr_valid(tx_scr_valid));

    scramble_rx #(
        .DATA_W(DATA_W), .LEN(LEN), .TAP(TAP), .SELF_SYNC(SELF_SYNC), .SEED(SEED), .ERR_W(ERR_W)
    ) u_rx (
        .clk(rx_clk), .rst(rx_rst), .load(rx_load), .en(rx_en), .bypass(rx_bypass),
        .test(rx_test), .scr(rx_scr), .data(rx_data), .valid(rx_valid), .locked(rx_locked),
        .err_count(err_count));
endmodule
