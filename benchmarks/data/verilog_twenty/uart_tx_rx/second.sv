module uart_tx_rx #(
    parameter int DIV       = 4,
    parameter int DATA_BITS = 8,
    parameter int PARITY    = 0,
    parameter int STOP_BITS = 1
) (
    input  logic                 clk,
    input  logic                 rst_n,
    input  logic [DATA_BITS-1:0] tx_data,
    input  logic                 tx_valid,
    input  logic                 rxd,
    output logic                 tx_ready,
    output logic                 txd,
    output logic [DATA_BITS-1:0] rx_data,
    output logic                 rx_valid,
    output logic                 rx_frame_err,
    output logic                 rx_parity_err,
    output logic                 rx_busy
);
    localparam int PBITS = (PARITY != 0) ? 1 : 0;
    localparam int FRAME = 1 + DATA_BITS + PBITS + STOP_BITS;   // bits sent

    // ---- ticks
    logic [$clog2(DIV)-1:0] divcnt;
    wire tick = (divcnt == DIV - 1);
    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n)    divcnt <= '0;
        else if (tick) divcnt <= '0;
        else           divcnt <= divcnt + 1'b1;

    // ---- transmitter: frame register shifted out at txd, ones follow
    logic [FRAME-1:0] shreg;
    logic [3:0]       tx_left;       // bits not yet begun
    logic [3:0]       tx_ph;         // ticks left in the bit on the line
    wire par_bit = (PARITY == 1) ? ~^tx_data : ^tx_data;

    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            txd      <= 1'b1;
            tx_ready <= 1'b1;
            shreg    <= '1;
            tx_left  <= '0;
            tx_ph    <= '0;
        end else if (tx_ready) begin
            if (tx_valid) begin
                tx_ready <= 1'b0;
                shreg    <= '1;
                shreg[DATA_BITS:0] <= {tx_data, 1'b0};
                if (PBITS != 0) shreg[DATA_BITS+1] <= par_bit;
                tx_left  <= FRAME;
                tx_ph    <= 4'd0;
            end
        end else if (tick) begin
            if (tx_ph != 0)
                tx_ph <= tx_ph - 4'd1;
            else if (tx_left != 0) begin
                txd     <= shreg[0];
                shreg   <= {1'b1, shreg[FRAME-1:1]};
                tx_left <= tx_left - 4'd1;
                tx_ph   <= 4'd15;
            end else
                tx_ready <= 1'b1;
        end

    // ---- receiver
    typedef enum logic [2:0] {R_IDLE, R_START, R_DATA, R_PAR, R_STOP, R_WAIT} rstate_t;
    rstate_t rs;
    logic       line;
    logic [3:0] rt;                  // number of the coming tick in the bit
    logic [3:0] nbits;
    logic       s7, s8, perr;
    logic [DATA_BITS-1:0] rsh;
    wire vote = (s7 & s8) | (s7 & line) | (s8 & line);

    sync2 #(.RESET_VALUE(1'b1)) u_sync (.clk(clk), .rst_n(rst_n), .d(rxd), .q(line));

    assign rx_busy = (rs != R_IDLE);

    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            rs <= R_IDLE;
            rt <= '0; nbits <= '0; s7 <= 1'b1; s8 <= 1'b1; perr <= 1'b0; rsh <= '0;
            rx_data <= '0; rx_valid <= 1'b0; rx_frame_err <= 1'b0; rx_parity_err <= 1'b0;
        end else begin
            rx_valid <= 1'b0;
            if (tick) begin
                rt <= rt + 4'd1;
                if (rt == 4'd7) s7 <= line;
                if (rt == 4'd8) s8 <= line;
                case (rs)
                    R_IDLE: begin
                        rt <= 4'd0;
                        if (!line) begin
                            rs <= R_START;
                            rt <= 4'd1;
                        end
                    end
                    R_START: begin
                        nbits <= '0;
                        perr  <= 1'b0;
                        if (rt == 4'd9 && vote) rs <= R_IDLE;
                        else if (rt == 4'd15)   rs <= R_DATA;
                    end
                    R_DATA: begin
                        if (rt == 4'd9) rsh <= {vote, rsh[DATA_BITS-1:1]};
                        if (rt == 4'd15) begin
                            nbits <= nbits + 4'd1;
                            if (nbits == DATA_BITS - 1) begin
                                if (PBITS != 0) rs <= R_PAR;
                                else            rs <= R_STOP;
                            end
                        end
                    end
                    R_PAR: begin
                        if (rt == 4'd9)  perr <= (^rsh) ^ vote ^ (PARITY == 1);
                        if (rt == 4'd15) rs   <= R_STOP;
                    end
                    R_STOP:
                        if (rt == 4'd9) begin
                            rx_data       <= rsh;
                            rx_frame_err  <= ~vote;
                            rx_parity_err <= perr;
                            rx_valid      <= 1'b1;
                            if (vote) rs <= R_IDLE;
                            else      rs <= R_WAIT;
                        end
                    default: if (line) rs <= R_IDLE;
                endcase
            end
        end
endmodule
