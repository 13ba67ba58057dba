// UART: tick generator, transmitter and receiver.
// The synchroniser sync2 is a given part.

module baud_gen #(
    parameter DIV = 4
) (
    input  logic clk,
    input  logic rst_n,
    output logic tick
);
    localparam W = $clog2(DIV);

    logic [W-1:0] cnt;

    assign tick = (cnt == W'(DIV - 1));

    always_ff @(posedge clk or negedge rst_n)
        if (!rst_n)    cnt <= '0;
        else if (tick) cnt <= '0;
        else           cnt <= cnt + 1'b1;
endmodule

module uart_tx #(
    parameter DATA_BITS = 8,
    parameter PARITY    = 0,
    parameter STOP_BITS = 1
) (
    input  logic                 clk,
    input  logic                 rst_n,
    input  logic                 tick,
    input  logic [DATA_BITS-1:0] data,
    input  logic                 valid,
    output logic                 ready,
    output logic                 txd
);
    localparam FRAME = 1 + DATA_BITS + ((PARITY != 0) ? 1 : 0) + STOP_BITS;

    logic [FRAME-1:0] frame;
    logic [FRAME-1:0] shift;
    logic [3:0]       left;      // bits still to be put on the line
    logic [3:0]       sub;       // tick inside the bit
    logic             active;

    assign ready = !active;

    generate
        if (PARITY == 0) begin : g_plain
            assign frame = {{STOP_BITS{1'b1}}, data, 1'b0};
        end else begin : g_parity
            logic par;
            assign par   = (PARITY == 1) ? ~^data : ^data;
            assign frame = {{STOP_BITS{1'b1}}, par, data, 1'b0};
        end
    endgenerate

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            active <= 1'b0;
            txd    <= 1'b1;
            shift  <= '1;
            left   <= 4'd0;
            sub    <= 4'd0;
        end else if (!active) begin
            if (valid) begin
                active <= 1'b1;
                shift  <= frame;
                left   <= 4'(FRAME);
                sub    <= 4'd15;        // so that the next tick starts the frame
            end
        end else if (tick) begin
            sub <= sub + 4'd1;
            if (sub == 4'd15) begin
                if (left == 4'd0) begin
                    active <= 1'b0;
                end else begin
                    txd   <= shift[0];
                    shift <= {1'b1, shift[FRAME-1:1]};
                    left  <= left - 4'd1;
                end
            end
        end
    end
endmodule

module uart_rx #(
    parameter DATA_BITS = 8,
    parameter PARITY    = 0
) (
    input  logic                 clk,
    input  logic                 rst_n,
    input  logic                 tick,
    input  logic                 line,
    output logic [DATA_BITS-1:0] data,
    output logic                 valid,
    output logic                 frame_err,
    output logic                 parity_err,
    output logic                 busy
);
    typedef enum logic [2:0] {IDLE, START, BITS, PAR, STOP, RECOVER} state_t;

    state_t               state;
    logic [3:0]           sub;
    logic [3:0]           idx;
    logic [1:0]           ones;
    logic [DATA_BITS-1:0] shift;
    logic                 par_bad;
    logic                 voted;
    logic                 decide;

    assign busy   = (state != IDLE);
    assign decide = tick && (sub == 4'd9);
    assign voted  = ones[1] || (ones[0] && line);

    // Tick counter and vote.
    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            sub  <= 4'd0;
            ones <= 2'd0;
        end else if (tick) begin
            if (state == IDLE) begin
                sub  <= 4'd1;
                ones <= 2'd0;
            end else begin
                sub <= sub + 4'd1;
                if (sub == 4'd7 || sub == 4'd8)
                    ones <= ones + {1'b0, line};
                else if (sub == 4'd9)
                    ones <= 2'd0;
            end
        end
    end

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            state      <= IDLE;
            idx        <= 4'd0;
            shift      <= '0;
            par_bad    <= 1'b0;
            data       <= '0;
            valid      <= 1'b0;
            frame_err  <= 1'b0;
            parity_err <= 1'b0;
        end else begin
            valid <= 1'b0;
            case (state)
                IDLE: begin
                    par_bad <= 1'b0;
                    idx     <= 4'd0;
                    if (tick && !line)
                        state <= START;
                end
                START: if (decide) begin
                    if (voted) state <= IDLE;
                    else       state <= BITS;
                end
                BITS: if (decide) begin
                    shift <= {voted, shift[DATA_BITS-1:1]};
                    idx   <= idx + 4'd1;
                    if (idx == 4'(DATA_BITS - 1)) begin
                        if (PARITY == 0) state <= STOP;
                        else             state <= PAR;
                    end
                end
                PAR: if (decide) begin
                    par_bad <= (^shift ^ voted) != (PARITY == 1);
                    state   <= STOP;
                end
                STOP: if (decide) begin
                    data       <= shift;
                    valid      <= 1'b1;
                    frame_err  <= !voted;
                    parity_err <= par_bad;
                    if (voted) state <= IDLE;
                    else       state <= RECOVER;
                end
                RECOVER: if (tick && line) state <= IDLE;
                default: state <= IDLE;
            endcase
        end
    end
endmodule

module uart_tx_rx #(
    parameter DIV       = 4,
    parameter DATA_BITS = 8,
    parameter PARITY    = 0,
    parameter STOP_BITS = 1
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
    logic tick;
    logic line;

    baud_gen #(.DIV(DIV)) i_baud (.clk(clk), .rst_n(rst_n), .tick(tick));

    sync2 #(.RESET_VALUE(1'b1)) i_sync (.clk(clk), .rst_n(rst_n), .d(rxd), .q(line));

    uart_tx #(.DATA_BITS(DATA_BITS), .PARITY(PARITY), .STOP_BITS(STOP_BITS)) i_tx (
        .clk(clk), .rst_n(rst_n), .tick(tick), .data(tx_data), .valid(tx_valid),
        .ready(tx_ready), .txd(txd));

    uart_rx #(.DATA_BITS(DATA_BITS), .PARITY(PARITY)) i_rx (
        .clk(clk), .rst_n(rst_n), .tick(tick), .line(line), .data(rx_data), .valid(rx_valid),
        .frame_err(rx_frame_err), .parity_err(rx_parity_err), .busy(rx_busy));
endmodule
