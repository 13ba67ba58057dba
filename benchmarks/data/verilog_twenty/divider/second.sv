module divider #(
    parameter int WIDTH        = 16,
    parameter int BITS_PER_CLK = 1
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
    localparam int ROUNDS = WIDTH / BITS_PER_CLK;

    typedef enum logic [1:0] {S_IDLE, S_SPECIAL, S_ITER, S_FIX} state_e;
    state_e state;

    logic [WIDTH-1:0] den, quo, rem;       // quo: dividend bits leave at the top, quotient enters below
    logic [$clog2(ROUNDS+1)-1:0] rounds;
    logic neg_q, neg_r, zero_den;

    wire a_neg = is_signed & dividend[WIDTH-1];
    wire b_neg = is_signed & divisor[WIDTH-1];
    wire is_zero = (divisor == '0);
    wire is_ovf  = is_signed & (&divisor) & (dividend == {1'b1, {(WIDTH-1){1'b0}}});

    // chain of BITS_PER_CLK restoring steps
    logic [WIDTH-1:0] quo_c, rem_c;
    logic [WIDTH:0]   trial;
    always_comb begin
        quo_c = quo;
        rem_c = rem;
        trial = '0;
        for (int k = 0; k < BITS_PER_CLK; k = k + 1) begin
            trial = {rem_c, quo_c[WIDTH-1]};
            quo_c = quo_c << 1;
            if (trial >= {1'b0, den}) begin
                trial    = trial - {1'b0, den};
                quo_c[0] = 1'b1;
            end
            rem_c = trial[WIDTH-1:0];
        end
    end

    assign busy = (state != S_IDLE);

    always_ff @(posedge clock) begin
        done <= 1'b0;
        if (!reset_n) begin
            state       <= S_IDLE;
            quotient    <= '0;
            remainder   <= '0;
            div_by_zero <= 1'b0;
            overflow    <= 1'b0;
        end else if (cancel) begin
            state <= S_IDLE;
        end else begin
            case (state)
                S_IDLE: if (start) begin
                    if (is_zero || is_ovf) state <= S_SPECIAL;
                    else                   state <= S_ITER;
                    zero_den <= is_zero;
                    den      <= b_neg ? -divisor : divisor;
                    quo      <= (a_neg && !is_zero) ? -dividend : dividend;
                    rem      <= '0;
                    neg_q    <= a_neg ^ b_neg;
                    neg_r    <= a_neg;
                    rounds   <= ROUNDS - 1;
                end
                S_SPECIAL: begin
                    state       <= S_IDLE;
                    done        <= 1'b1;
                    quotient    <= zero_den ? '1 : quo;   // -MIN is MIN again
                    remainder   <= zero_den ? quo : '0;
                    div_by_zero <= zero_den;
                    overflow    <= ~zero_den;
                end
                S_ITER: begin
                    quo    <= quo_c;
                    rem    <= rem_c;
                    rounds <= rounds - 1'b1;
                    if (rounds == 0) state <= S_FIX;
                end
                default: begin
                    state       <= S_IDLE;
                    done        <= 1'b1;
                    quotient    <= neg_q ? -quo : quo;
                    remainder   <= neg_r ? -rem : rem;
                    div_by_zero <= 1'b0;
                    overflow    <= 1'b0;
                end
            endcase
        end
    end
endmodule
