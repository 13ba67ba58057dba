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
    function automatic logic [CRC_W-1:0] eat_word(input logic [CRC_W-1:0] r, input logic [DATA_W-1:0] w);
        logic [CRC_W-1:0] x;
        logic bt;
        int i;
        x = r;
        for (i = 0; i < DATA_W; i = i + 1) begin
            bt = REFLECT_IN ? w[i] : w[DATA_W-1-i];
            if (x[CRC_W-1] != bt) x = (x << 1) ^ POLY;
            else                  x = x << 1;
        end
        eat_word = x;
    endfunction

    function automatic logic [CRC_W-1:0] result_form(input logic [CRC_W-1:0] r);
        logic [CRC_W-1:0] y;
        int i;
        for (i = 0; i < CRC_W; i = i + 1)
            y[i] = REFLECT_OUT ? r[CRC_W-1-i] : r[i];
        result_form = y ^ XOR_OUT;
    endfunction

    logic [CRC_W-1:0] crc_q, crc_next;
    logic [LEN_W-1:0] len_q, len_next;
    logic             take;

    assign s_ready  = m_ready | ~m_valid;
    assign take     = s_valid & s_ready & ~abort;
    assign crc_next = eat_word(crc_q, s_data);
    assign len_next = (&len_q) ? len_q : len_q + 1'b1;
    assign running  = result_form(crc_q);

    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            crc_q <= INIT;
            len_q <= '0;
        end else if (abort || (take && s_last)) begin
            crc_q <= INIT;
            len_q <= '0;
        end else if (take) begin
            crc_q <= crc_next;
            len_q <= len_next;
        end
    end

    always_ff @(posedge clk, negedge rst_n) begin
        if (!rst_n) begin
            m_valid <= 1'b0;
            m_crc   <= '0;
            m_len   <= '0;
        end else if (take && s_last) begin
            m_valid <= 1'b1;
            m_crc   <= result_form(crc_next);
            m_len   <= len_next;
        end else if (m_ready) begin
            m_valid <= 1'b0;
        end
    end
endmodule
