// Iterative restoring divider.
// Works on magnitudes; signs are put back in the last step.

// One step of restoring division: bring down a bit, try to subtract.
module div_step #(
    parameter WIDTH = 16
) (
    input  logic [WIDTH-1:0] rem_in,
    input  logic             bit_in,
    input  logic [WIDTH-1:0] divisor,
    output logic [WIDTH-1:0] rem_out,
    output logic             q_bit
);
    logic [WIDTH:0] trial;
    logic [WIDTH:0] diff;

    assign trial   = {rem_in, bit_in};
    assign diff    = trial - {1'b0, divisor};
    assign q_bit   = (trial >= {1'b0, divisor});
    assign rem_out = q_bit ? diff[WIDTH-1:0] : trial[WIDTH-1:0];
endmodule

module divider #(
    parameter WIDTH        = 16,
    parameter BITS_PER_CLK = 1
) (
    input  logic             clock,
    input  logic             reset_n,
    input  logic             start,
    input  logic             cancel,
    input  logic             is_signed,
    input  logic [WIDTH-1:0] dividend,
    input  logic [WIDTH-1:0] divisor,
    output logic             busy,
    output logic             done,
    output logic [WIDTH-1:0] quotient,
    output logic [WIDTH-1:0] remainder,
    output logic             div_by_zero,
    output logic             overflow
);
    localparam STEPS = WIDTH / BITS_PER_CLK;
    localparam CW    = $clog2(STEPS + 1);
    localparam B     = BITS_PER_CLK;

    localparam [1:0] S_IDLE    = 2'd0,
                     S_RUN     = 2'd1,
                     S_FINISH  = 2'd2,
                     S_SPECIAL = 2'd3;

    logic [1:0]       state;
    logic [CW-1:0]    left;         // steps still to do
    logic [WIDTH-1:0] work;         // dividend bits going out, quotient bits coming in
    logic [WIDTH-1:0] part;         // partial remainder
    logic [WIDTH-1:0] den;          // magnitude of the divisor
    logic             neg_q;
    logic             neg_r;
    logic             zero_den;

    // Remainder after 0, 1, ... B steps of this clock.
    logic [WIDTH-1:0] chain [0:B];
    logic [B-1:0]     q_bits;

    logic             dividend_neg;
    logic             divisor_neg;
    logic             is_zero;
    logic             is_over;

    function automatic logic [WIDTH-1:0] negate_if(
        input logic             neg,
        input logic [WIDTH-1:0] value
    );
        negate_if = neg ? (~value + 1'b1) : value;
    endfunction

    assign dividend_neg = is_signed && dividend[WIDTH-1];
    assign divisor_neg  = is_signed && divisor[WIDTH-1];
    assign is_zero      = (divisor == '0);
    assign is_over      = is_signed && (&divisor) && dividend[WIDTH-1]
                          && (dividend[WIDTH-2:0] == '0);

    assign busy     = (state != S_IDLE);
    assign chain[0] = part;

    genvar s;
    generate
        for (s = 0; s < B; s = s + 1) begin : g_step
            div_step #(.WIDTH(WIDTH)) step_i (
                .rem_in  (chain[s]),
                .bit_in  (work[WIDTH-1-s]),
                .divisor (den),
                .rem_out (chain[s+1]),
                .q_bit   (q_bits[B-1-s])
            );
        end
    endgenerate

    // Control.
    always_ff @(posedge clock) begin
        if (!reset_n) begin
            state <= S_IDLE;
            left  <= '0;
        end else if (cancel) begin
            state <= S_IDLE;
        end else begin
            case (state)
                S_IDLE: begin
                    left <= CW'(STEPS);
                    if (start) begin
                        if (is_zero || is_over) state <= S_SPECIAL;
                        else                    state <= S_RUN;
                    end
                end
                S_RUN: begin
                    left <= left - 1'b1;
                    if (left == CW'(1)) state <= S_FINISH;
                end
                S_FINISH:  state <= S_IDLE;
                S_SPECIAL: state <= S_IDLE;
                default:   state <= S_IDLE;
            endcase
        end
    end

    // Operands and iteration. Nothing here needs a reset.
    always_ff @(posedge clock) begin
        if (state == S_IDLE) begin
            work     <= negate_if(dividend_neg, dividend);
            den      <= negate_if(divisor_neg, divisor);
            part     <= '0;
            neg_q    <= dividend_neg ^ divisor_neg;
            neg_r    <= dividend_neg;
            zero_den <= is_zero;
        end else if (state == S_RUN) begin
            work <= {work[WIDTH-1-B:0], q_bits};
            part <= chain[B];
        end
    end

    // Results.
    always_ff @(posedge clock) begin
        if (!reset_n) begin
            done        <= 1'b0;
            quotient    <= '0;
            remainder   <= '0;
            div_by_zero <= 1'b0;
            overflow    <= 1'b0;
        end else begin
            done <= 1'b0;
            if (!cancel && state == S_FINISH) begin
                done        <= 1'b1;
                quotient    <= negate_if(neg_q, work);
                remainder   <= negate_if(neg_r, part);
                div_by_zero <= 1'b0;
                overflow    <= 1'b0;
            end else if (!cancel && state == S_SPECIAL) begin
                // In the overflow case the magnitude of the dividend is its own bit pattern.
                done        <= 1'b1;
                quotient    <= zero_den ? '1 : work;
                remainder   <= zero_den ? negate_if(neg_r, work) : '0;
                div_by_zero <= zero_den;
                overflow    <= !zero_den;
            end
        end
    end
endmodule
