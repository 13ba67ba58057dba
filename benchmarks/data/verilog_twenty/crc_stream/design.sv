// Streaming CRC engine. One input word a clock; polynomial, width, start value,
// final exclusive-or and both reflections are parameters.
module crc_stream #(
    parameter int               DATA_W      = 8,
    parameter int               CRC_W       = 16,
    parameter logic [CRC_W-1:0] POLY        = 16'h1021,
    parameter logic [CRC_W-1:0] INIT        = '1,
    parameter logic [CRC_W-1:0] XOR_OUT     = '0,
    parameter bit               REFLECT_IN  = 1'b0,
    parameter bit               REFLECT_OUT = 1'b0,
    parameter int               LEN_W       = 16
) (
    input  logic              clk,
    input  logic              rst_n,
    input  logic              abort,
    input  logic              s_valid,
    output logic              s_ready,
    input  logic [DATA_W-1:0] s_data,
    input  logic              s_last,
    output logic              m_valid,
    input  logic              m_ready,
    output logic [CRC_W-1:0]  m_crc,
    output logic [LEN_W-1:0]  m_len,
    output logic [CRC_W-1:0]  running
);

    localparam logic [LEN_W-1:0] LEN_MAX = '1;

    // One bit of the message through the shift register.
    function automatic [CRC_W-1:0] shift_in(input [CRC_W-1:0] c, input b);
        if (c[CRC_W-1] ^ b)
            shift_in = (c << 1) ^ POLY;
        else
            shift_in = c << 1;
    endfunction

    logic [CRC_W-1:0]  crc_q;
    logic [LEN_W-1:0]  len_q;
    logic [DATA_W-1:0] ordered;      // bit DATA_W-1 enters the register first
    logic              take;

    // ------------------------------------------------ order of the input bits
    generate
        if (REFLECT_IN) begin : g_in_reflected
            for (genvar i = 0; i < DATA_W; i++) begin : g_bit
                assign ordered[i] = s_data[DATA_W-1-i];
            end
        end else begin : g_in_plain
            assign ordered = s_data;
        end
    endgenerate

    // ------------------------------------------------------ one word unrolled
    logic [CRC_W-1:0] stage [0:DATA_W];

    assign stage[0] = crc_q;
    for (genvar k = 0; k < DATA_W; k++) begin : g_stage
        assign stage[k+1] = shift_in(stage[k], ordered[DATA_W-1-k]);
    end

    // ------------------------------------------------ form of the result
    function automatic [CRC_W-1:0] finish(input [CRC_W-1:0] c);
        logic [CRC_W-1:0] r;
        for (int i = 0; i < CRC_W; i++)
            r[i] = REFLECT_OUT ? c[CRC_W-1-i] : c[i];
        finish = r ^ XOR_OUT;
    endfunction

    assign running = finish(crc_q);

    // ---------------------------------------------------------- handshakes
    assign s_ready = !m_valid || m_ready;
    assign take    = s_valid && s_ready && !abort;

    logic [LEN_W-1:0] len_next;
    assign len_next = (len_q == LEN_MAX) ? LEN_MAX : len_q + 1'b1;

    // The message under way.
    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            crc_q <= INIT;
            len_q <= '0;
        end else if (abort || (take && s_last)) begin
            crc_q <= INIT;
            len_q <= '0;
        end else if (take) begin
            crc_q <= stage[DATA_W];
            len_q <= len_next;
        end
    end

    // The result register.
    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            m_valid <= 1'b0;
            m_crc   <= '0;
            m_len   <= '0;
        end else if (take && s_last) begin
            m_valid <= 1'b1;
            m_crc   <= finish(stage[DATA_W]);
            m_len   <= len_next;
        end else if (m_ready) begin
            m_valid <= 1'b0;
        end
    end

endmodule
