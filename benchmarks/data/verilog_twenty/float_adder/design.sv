// Half-precision adder/subtractor, three pipeline stages:
//   1 unpack, classify, order by magnitude
//   2 align, add or subtract
//   3 normalise, round, pack
`include "half_pkg.sv"

// Stage 1 logic.
module fa_unpack
    import half_pkg::*;
(
    input  logic [15:0] a,
    input  logic [15:0] b,
    input  logic        op_sub,
    output logic        is_special,
    output logic        is_invalid,
    output logic [15:0] special,
    output logic        sign,          // of the larger magnitude
    output logic        differ,        // signs differ: subtract magnitudes
    output logic [4:0]  exp,           // of the larger magnitude
    output logic [4:0]  shift,
    output logic [10:0] sig_hi,
    output logic [10:0] sig_lo
);
    half_t  x, y;                      // operands after sign change
    half_t  hi, lo;
    class_t cx, cy;
    logic   swap;
    logic   both_neg;

    function automatic class_t classify(input half_t h);
        if (h.exp == 5'd0)       classify = CLS_ZERO;
        else if (h.exp != 5'd31) classify = CLS_NORMAL;
        else if (h.frac == '0)   classify = CLS_INF;
        else                     classify = CLS_NAN;
    endfunction

    assign x    = a;
    assign y    = {b[15] ^ op_sub, b[14:0]};
    assign cx   = classify(x);
    assign cy   = classify(y);
    assign swap = {y.exp, y.frac} > {x.exp, x.frac};
    assign hi   = swap ? y : x;
    assign lo   = swap ? x : y;

    assign sign     = hi.sign;
    assign differ   = x.sign ^ y.sign;
    assign both_neg = x.sign & y.sign;
    assign exp      = hi.exp;
    assign shift    = hi.exp - lo.exp;
    assign sig_hi   = {1'b1, hi.frac};
    assign sig_lo   = (lo.exp == 5'd0) ? 11'd0 : {1'b1, lo.frac};

    always_comb begin
        is_special = 1'b1;
        is_invalid = 1'b0;
        special    = QUIET_NAN;
        if (cx == CLS_NAN || cy == CLS_NAN) begin
            special = QUIET_NAN;
        end else if (cx == CLS_INF && cy == CLS_INF) begin
            is_invalid = differ;
            special    = differ ? QUIET_NAN : x;
        end else if (cx == CLS_INF) begin
            special = x;
        end else if (cy == CLS_INF) begin
            special = y;
        end else if (cx == CLS_ZERO && cy == CLS_ZERO) begin
            special = {both_neg, 15'd0};
        end else begin
            is_special = 1'b0;
        end
    end
endmodule

// Stage 2 logic: three extra bits below the significand, the lowest one sticky.
module fa_align_add (
    input  logic        differ,
    input  logic [4:0]  shift,
    input  logic [10:0] sig_hi,
    input  logic [10:0] sig_lo,
    output logic [14:0] sum
);
    logic [13:0] full;
    logic [13:0] moved;
    logic [13:0] back;
    logic        sticky;
    logic [14:0] p, q;

    assign full   = {sig_lo, 3'b000};
    assign moved  = full >> shift;
    assign back   = moved << shift;
    assign sticky = (back != full);
    assign p      = {1'b0, sig_hi, 3'b000};
    assign q      = {1'b0, moved[13:1], moved[0] | sticky};
    assign sum    = differ ? p - q : p + q;
endmodule

// Stage 3 logic.
module fa_norm_round (
    input  logic        sign,
    input  logic [4:0]  exp,
    input  logic [14:0] sum,
    output logic [15:0] value,
    output logic        overflow,
    output logic        underflow,
    output logic        inexact
);
    logic [3:0]  lead;                 // leading zeros of the 15 bits
    logic [14:0] norm;                 // leading one in bit 14
    logic [6:0]  e_norm, e_round;      // two's complement
    logic [10:0] kept;
    logic [11:0] rounded;
    logic        guard, rest, up;
    logic [15:0] packed_up;
    logic        below_min;

    function automatic logic [3:0] leading_zeros(input logic [14:0] v);
        leading_zeros = 4'd15;
        for (int i = 0; i < 15; i++)
            if (v[i]) leading_zeros = 4'(14 - i);
    endfunction

    assign lead    = leading_zeros(sum);
    assign norm    = sum << lead;
    assign e_norm  = {2'b00, exp} + 7'd1 - {3'b000, lead};
    assign kept    = norm[14:4];
    assign guard   = norm[3];
    assign rest    = |norm[2:0];
    assign up      = guard && (rest || kept[0]);
    assign rounded = {1'b0, kept} + {11'd0, up};
    assign e_round = e_norm + {6'd0, rounded[11]};

    assign packed_up = {sign, e_round[4:0], rounded[9:0]};
    assign below_min = e_norm[6] || (e_norm == 7'd0);

    always_comb begin
        value     = packed_up;
        overflow  = 1'b0;
        underflow = 1'b0;
        inexact   = guard || rest;
        if (sum == 15'd0) begin
            value = 16'h0000;
        end else if (below_min) begin
            value     = {sign, 15'd0};
            underflow = 1'b1;
            inexact   = 1'b1;
        end else if (e_round >= 7'd31) begin
            value    = {sign, 5'd31, 10'd0};
            overflow = 1'b1;
            inexact  = 1'b1;
        end
    end
endmodule

module float_adder (
    input  logic        clk,
    input  logic        rst_n,
    input  logic        ce,
    input  logic        in_valid,
    input  logic        op_sub,
    input  logic [15:0] a,
    input  logic [15:0] b,
    output logic        out_valid,
    output logic [15:0] result,
    output logic        invalid,
    output logic        overflow,
    output logic        underflow,
    output logic        inexact
);
    // Stage 1 results and registers.
    logic        d_special, d_invalid, d_sign, d_differ;
    logic [15:0] d_value;
    logic [4:0]  d_exp, d_shift;
    logic [10:0] d_sig_hi, d_sig_lo;
    logic        v1, s1_special, s1_invalid, s1_sign, s1_differ;
    logic [15:0] s1_value;
    logic [4:0]  s1_exp, s1_shift;
    logic [10:0] s1_sig_hi, s1_sig_lo;

    // Stage 2.
    logic [14:0] d_sum;
    logic        v2, s2_special, s2_invalid, s2_sign;
    logic [15:0] s2_value;
    logic [4:0]  s2_exp;
    logic [14:0] s2_sum;

    // Stage 3.
    logic [15:0] d_result;
    logic        d_over, d_under, d_inexact;

    fa_unpack u_unpack (
        .a(a), .b(b), .op_sub(op_sub), .is_special(d_special), .is_invalid(d_invalid),
        .special(d_value), .sign(d_sign), .differ(d_differ), .exp(d_exp), .shift(d_shift),
        .sig_hi(d_sig_hi), .sig_lo(d_sig_lo));

    fa_align_add u_add (
        .differ(s1_differ), .shift(s1_shift), .sig_hi(s1_sig_hi), .sig_lo(s1_sig_lo), .sum(d_sum));

    fa_norm_round u_round (
        .sign(s2_sign), .exp(s2_exp), .sum(s2_sum), .value(d_result), .overflow(d_over),
        .underflow(d_under), .inexact(d_inexact));

    // Valid bits and outputs have a reset, the data registers do not need one.
    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            {v1, v2, out_valid} <= 3'b000;
            result              <= 16'h0000;
            {invalid, overflow, underflow, inexact} <= 4'b0000;
        end else if (ce) begin
            v1        <= in_valid;
            v2        <= v1;
            out_valid <= v2;
            result    <= s2_special ? s2_value : d_result;
            invalid   <= s2_special && s2_invalid;
            overflow  <= !s2_special && d_over;
            underflow <= !s2_special && d_under;
            inexact   <= !s2_special && d_inexact;
        end
    end

    always_ff @(posedge clk) begin
        if (ce) begin
            s1_special <= d_special;
            s1_invalid <= d_invalid;
            s1_value   <= d_value;
            s1_sign    <= d_sign;
            s1_differ  <= d_differ;
            s1_exp     <= d_exp;
            s1_shift   <= d_shift;
            s1_sig_hi  <= d_sig_hi;
            s1_sig_lo  <= d_sig_lo;
            s2_special <= s1_special;
            s2_invalid <= s1_invalid;
            s2_value   <= s1_value;
            s2_sign    <= s1_sign;
            s2_exp     <= s1_exp;
            s2_sum     <= d_sum;
        end
    end
endmodule
