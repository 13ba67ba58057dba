// Sequential radix-4 Booth multiplier. Two multiplier bits a clock; each operand
// may be signed or unsigned.

// Three neighbouring multiplier bits select a digit out of {-2, -1, 0, +1, +2}.
module booth_digit (
    input  logic [2:0] bits,
    output logic       negate,
    output logic       single,
    output logic       double
);

    always_comb begin
        negate = 1'b0;
        single = 1'b0;
        double = 1'b0;
        case (bits)
            3'b000:  ;
            3'b001:  single = 1'b1;
            3'b010:  single = 1'b1;
            3'b011:  double = 1'b1;
            3'b100:  begin negate = 1'b1; double = 1'b1; end
            3'b101:  begin negate = 1'b1; single = 1'b1; end
            3'b110:  begin negate = 1'b1; single = 1'b1; end
            default: ;
        endcase
    end

endmodule


// digit * operand, in two's complement with two bits to spare.
module booth_partial #(
    parameter int WIDTH = 16
) (
    input  logic signed [WIDTH:0]   operand,
    input  logic                    negate,
    input  logic                    single,
    input  logic                    double,
    output logic signed [WIDTH+2:0] partial
);

    logic signed [WIDTH+2:0] extended, magnitude;

    assign extended = operand;           // by its sign

    always_comb begin
        if (double)
            magnitude = extended <<< 1;
        else if (single)
            magnitude = extended;
        else
            magnitude = '0;
    end

    assign partial = negate ? -magnitude : magnitude;

endmodule


module booth_multiplier #(
    parameter int WIDTH = 16
) (
    input  logic               clk,
    input  logic               resetn,
    input  logic               start,
    input  logic               abort,
    input  logic               a_signed,
    input  logic               b_signed,
    input  logic [WIDTH-1:0]   a,
    input  logic [WIDTH-1:0]   b,
    output logic               busy,
    output logic               done,
    output logic [2*WIDTH-1:0] product,
    output logic               negative,
    output logic               fits
);

    localparam int STEPS = WIDTH / 2 + 1;
    localparam int CNT_W = $clog2(STEPS);
    localparam logic [CNT_W-1:0] LAST_STEP = STEPS - 1;

    logic                    any_signed;
    logic [CNT_W-1:0]        step;
    logic signed [WIDTH:0]   a_q;        // multiplicand, extended by its sign
    logic [WIDTH+2:0]        low_q;      // multiplier with a zero below, result comes in above
    logic signed [WIDTH+2:0] acc_q;      // running sum
    logic signed [WIDTH+2:0] partial, sum;
    logic [2*WIDTH-1:0]      result;
    logic                    negate, single, double;
    logic                    accept, last, b_ext;

    booth_digit u_digit (
        .bits   (low_q[2:0]),
        .negate (negate),
        .single (single),
        .double (double)
    );

    booth_partial #(.WIDTH(WIDTH)) u_partial (
        .operand (a_q),
        .negate  (negate),
        .single  (single),
        .double  (double),
        .partial (partial)
    );

    assign accept = start && !busy && !abort;
    assign last   = busy && (step == LAST_STEP);
    assign b_ext  = b_signed && b[WIDTH-1];
    assign sum    = acc_q + partial;

    // What acc and low hold once the last sum has been shifted down by two places.
    assign result = {sum[WIDTH-1:0], low_q[WIDTH+2:3]};

    // -------------------------------------------------------------- control
    always_ff @(posedge clk) begin
        if (!resetn) begin
            busy <= 1'b0;
            done <= 1'b0;
            step <= '0;
        end else begin
            done <= last && !abort;
            if (accept) begin
                busy <= 1'b1;
                step <= '0;
            end else if (abort || last) begin
                busy <= 1'b0;
            end else if (busy) begin
                step <= step + 1'b1;
            end
        end
    end

    // ------------------------------------------------------------- data path
    always_ff @(posedge clk) begin
        if (!resetn) begin
            a_q        <= '0;
            low_q      <= '0;
            acc_q      <= '0;
            any_signed <= 1'b0;
        end else if (accept) begin
            a_q        <= {a_signed && a[WIDTH-1], a};
            low_q      <= {{2{b_ext}}, b, 1'b0};
            acc_q      <= '0;
            any_signed <= a_signed || b_signed;
        end else if (busy) begin
            acc_q <= sum >>> 2;
            low_q <= {sum[1:0], low_q[WIDTH+2:2]};
        end
    end

    // --------------------------------------------------- result and its flags
    always_ff @(posedge clk) begin
        if (!resetn) begin
            product  <= '0;
            negative <= 1'b0;
            fits     <= 1'b1;
        end else if (last && !abort) begin
            product  <= result;
            negative <= any_signed && result[2*WIDTH-1];
            if (any_signed)
                fits <= (result[2*WIDTH-1:WIDTH-1] == {(WIDTH+1){result[WIDTH-1]}});
            else
                fits <= (result[2*WIDTH-1:WIDTH] == '0);
        end
    end

endmodule
