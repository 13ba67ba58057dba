// Radix-4 Booth, right shifting partial product. Two always blocks: next state, registers.
module booth_multiplier #(
    parameter WIDTH = 16
) (
    input                       clk,
    input                       resetn,
    input                       start,
    input                       abort,
    input                       a_signed,
    input                       b_signed,
    input      [WIDTH-1:0]      a,
    input      [WIDTH-1:0]      b,
    output reg                  busy,
    output reg                  done,
    output reg [2*WIDTH-1:0]    product,
    output reg                  negative,
    output reg                  fits
);
    localparam STEPS = WIDTH/2 + 1;
    localparam HW    = WIDTH + 4;          // upper part, room for 2a and carry
    localparam LW    = WIDTH + 2;          // extended multiplier
    localparam CW    = $clog2(STEPS + 1);

    reg signed [HW-1:0]    mcand;
    reg signed [HW+LW-1:0] acc;            // {upper part, multiplier bits still to go}
    reg                    below;          // bit to the right of the multiplier
    reg [CW-1:0]           left;
    reg                    any_sgn;

    // one booth step
    reg signed [HW-1:0]    addend;
    wire signed [HW-1:0]   upper = $signed(acc[HW+LW-1:LW]) + addend;
    wire signed [HW+LW-1:0] summed = {upper, acc[LW-1:0]};
    wire signed [HW+LW-1:0] stepped = summed >>> 2;

    always @* begin
        case ({acc[1:0], below})
            3'b001, 3'b010: addend = mcand;
            3'b011:         addend = mcand <<< 1;
            3'b100:         addend = -(mcand <<< 1);
            3'b101, 3'b110: addend = -mcand;
            default:        addend = 0;
        endcase
    end

    wire [WIDTH:0] top  = stepped[2*WIDTH-1:WIDTH-1];
    wire fits_now = any_sgn ? (&top || ~|top) : ~|top[WIDTH:1];

    always @(posedge clk) begin
        done <= 1'b0;
        if (!resetn) begin
            busy     <= 1'b0;
            product  <= {2*WIDTH{1'b0}};
            negative <= 1'b0;
            fits     <= 1'b1;
        end else if (busy) begin
            acc   <= stepped;
            below <= acc[1];
            left  <= left - 1'b1;
            if (abort)
                busy <= 1'b0;
            else if (left == 1) begin
                busy     <= 1'b0;
                done     <= 1'b1;
                product  <= stepped[2*WIDTH-1:0];
                negative <= any_sgn & stepped[HW+LW-1];
                fits     <= fits_now;
            end
        end else if (start && !abort) begin
            busy    <= 1'b1;
            left    <= STEPS;
            any_sgn <= a_signed | b_signed;
            mcand   <= {{4{a_signed & a[WIDTH-1]}}, a};
            acc     <= {{HW{1'b0}}, {2{b_signed & b[WIDTH-1]}}, b};
            below   <= 1'b0;
        end
    end
endmodule
