module RefModule (
  input [7:0] a,
  input [7:0] b,
  input [2:0] op,
  output logic [7:0] y,
  output zero,
  output negative,
  output logic carry,
  output logic overflow
);

  localparam [2:0] ADD = 0, SUB = 1, AND = 2, OR = 3, XOR = 4, SLL = 5, SRA = 6, LESS = 7;

  wire [8:0] sum = {1'b0, a} + {1'b0, b};
  wire [8:0] difference = {1'b0, a} - {1'b0, b};
  wire [8:0] left = {1'b0, a} << b[2:0];             // the last bit out ends up in bit 8
  wire [8:0] right = $signed({a, 1'b0}) >>> b[2:0];  // and here in bit 0
  wire sum_overflow = (a[7] == b[7]) && (sum[7] != a[7]);
  wire difference_overflow = (a[7] != b[7]) && (difference[7] != a[7]);
  wire less = (a[7] != b[7]) ? a[7] : difference[8];

  always_comb begin
    carry = 0;
    overflow = 0;
    case (op)
      ADD: begin
        {carry, y} = sum;
        overflow = sum_overflow;
      end
      SUB: begin
        {carry, y} = difference;
        overflow = difference_overflow;
      end
      AND: y = a & b;
      OR:  y = a | b;
      XOR: y = a ^ b;
      SLL: {carry, y} = left;
      SRA: {y, carry} = right;
      LESS: y = {7'b0, less};
      default: y = 0;
    endcase
  end

  assign zero = (y == 0);
  assign negative = y[7];

endmodule
