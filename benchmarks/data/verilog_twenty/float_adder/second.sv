`include "half_pkg.sv"

// Exact fixed point sum (units of 2**-24), then one normalise-and-round step.
module float_adder
    import half_pkg::*;
(
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
    function automatic logic [1:0] classify(input logic [15:0] h);
        if (h[14:10] == 5'd0)       classify = 2'd0;
        else if (h[14:10] != 5'd31) classify = 2'd1;
        else if (h[9:0] == 10'd0)   classify = 2'd2;
        else                        classify = 2'd3;
    endfunction

    function automatic logic [39:0] fixed(input logic [15:0] h);
        if (h[14:10] == 5'd0 || h[14:10] == 5'd31) fixed = 40'd0;
        else fixed = {29'd0, 1'b1, h[9:0]} << (h[14:10] - 5'd1);
    endfunction

    localparam logic [1:0] C_ZERO = 2'd0, C_INF = 2'd2, C_NAN = 2'd3;

    wire [15:0] bb = {b[15] ^ op_sub, b[14:0]};
    wire [1:0]  ca = classify(a);
    wire [1:0]  cb = classify(b);

    // ---- stage 1: unpack, settle special cases
    logic        v1, sa1, sb1, special1, inv1;
    logic [39:0] ma1, mb1;
    logic [15:0] spec1;

    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            v1 <= 1'b0; sa1 <= 1'b0; sb1 <= 1'b0; special1 <= 1'b0; inv1 <= 1'b0;
            ma1 <= '0; mb1 <= '0; spec1 <= '0;
        end else if (ce) begin
            v1  <= in_valid;
            sa1 <= a[15];
            sb1 <= bb[15];
            ma1 <= fixed(a);
            mb1 <= fixed(b);
            special1 <= 1'b1;
            inv1     <= 1'b0;
            spec1    <= QUIET_NAN;
            if (ca == C_NAN || cb == C_NAN) ;
            else if (ca == C_INF && cb == C_INF) begin
                if (a[15] != bb[15]) inv1 <= 1'b1;
                else spec1 <= a;
            end
            else if (ca == C_INF) spec1 <= a;
            else if (cb == C_INF) spec1 <= bb;
            else if (ca == C_ZERO && cb == C_ZERO) spec1 <= {a[15] & bb[15], 15'd0};
            else special1 <= 1'b0;
        end

    // ---- stage 2: add
    logic        v2, s2, special2, inv2;
    logic [40:0] m2;
    logic [15:0] spec2;

    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            v2 <= 1'b0; s2 <= 1'b0; special2 <= 1'b0; inv2 <= 1'b0; m2 <= '0; spec2 <= '0;
        end else if (ce) begin
            v2       <= v1;
            special2 <= special1;
            inv2     <= inv1;
            spec2    <= spec1;
            if (sa1 == sb1) begin
                m2 <= {1'b0, ma1} + {1'b0, mb1};
                s2 <= sa1;
            end else if (ma1 >= mb1) begin
                m2 <= {1'b0, ma1 - mb1};
                s2 <= sa1;
            end else begin
                m2 <= {1'b0, mb1 - ma1};
                s2 <= sb1;
            end
        end

    // ---- stage 3: normalise, round, pack
    logic [40:0] norm;
    logic [5:0]  msb;
    logic        rnd, lost;
    logic [16:0] packed_r;      // {exponent (6), fraction (10)} with carry room

    always_comb begin
        msb = 6'd0;
        for (int i = 0; i <= 40; i = i + 1)
            if (m2[i]) msb = i;
        norm = m2 << (6'd40 - msb);             // leading one at bit 40
        lost = |norm[29:0];
        rnd  = norm[29] & (norm[30] | (|norm[28:0]));
        // exponent field of a number with leading one at bit 10 is 1
        packed_r = {1'b0, msb - 6'd9, norm[39:30]} + {16'd0, rnd};
    end

    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            out_valid <= 1'b0;
            result    <= '0;
            {invalid, overflow, underflow, inexact} <= 4'b0000;
        end else if (ce) begin
            out_valid <= v2;
            {invalid, overflow, underflow, inexact} <= 4'b0000;
            if (special2) begin
                result  <= spec2;
                invalid <= inv2;
            end else if (m2 == '0) begin
                result <= 16'h0000;
            end else if (m2 < 41'd1024) begin
                result    <= {s2, 15'd0};
                underflow <= 1'b1;
                inexact   <= 1'b1;
            end else if (packed_r[15:10] >= 6'd31) begin
                result   <= {s2, 5'd31, 10'd0};
                overflow <= 1'b1;
                inexact  <= 1'b1;
            end else begin
                result  <= {s2, packed_r[14:0]};
                inexact <= lost;
            end
        end
endmodule
