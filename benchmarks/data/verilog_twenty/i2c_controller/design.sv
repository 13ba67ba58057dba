// I2C controller for single-byte register access.
`default_nettype none

// Two flip-flops for a bus line; an idle line is high.
module i2c_line_sync (
    input  wire  clk,
    input  wire  rst_n,
    input  wire  line,
    output logic level
);
    logic meta;

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) {level, meta} <= 2'b11;
        else        {level, meta} <= {meta, line};
    end
endmodule

// Carries out one start, stop or bit after the other, four quarters each.
module i2c_bit_engine #(
    parameter int QUARTER = 8
) (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        go,             // an operation is wanted
    input  wire  [1:0] op,             // 0 bit, 1 start, 2 stop
    input  wire        tx_bit,
    input  wire        scl,
    input  wire        sda,
    output logic       finished,       // last clock of the operation
    output logic       rx_bit,
    output logic       scl_low,
    output logic       sda_low
);
    localparam int CW = $clog2(QUARTER);
    localparam logic [1:0] OP_START = 2'd1, OP_STOP = 2'd2;

    logic [1:0]    phase;
    logic [CW-1:0] cnt;
    logic          quarter_end;
    logic          stretched;

    assign stretched   = (phase == 2'd1) && !scl;
    assign quarter_end = go && !stretched && (cnt == CW'(QUARTER - 1));
    assign finished    = quarter_end && (phase == 2'd3);

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            phase <= 2'd0;
            cnt   <= '0;
        end else if (!go) begin
            phase <= 2'd0;
            cnt   <= '0;
        end else if (quarter_end) begin
            phase <= phase + 2'd1;
            cnt   <= '0;
        end else if (!stretched) begin
            cnt <= cnt + 1'b1;
        end
    end

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n)
            rx_bit <= 1'b1;
        else if (quarter_end && phase == 2'd1)
            rx_bit <= sda;
    end

    // Levels of the lines.
    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            scl_low <= 1'b0;
            sda_low <= 1'b0;
        end else if (go) begin
            case (op)
                OP_START: begin
                    if (phase == 2'd1)      scl_low <= 1'b0;
                    else if (phase == 2'd3) scl_low <= 1'b1;
                    sda_low <= phase[1];
                end
                OP_STOP: begin
                    scl_low <= (phase == 2'd0);
                    sda_low <= !phase[1];
                end
                default: begin
                    scl_low <= (phase == 2'd0) || (phase == 2'd3);
                    sda_low <= !tx_bit;
                end
            endcase
        end
    end
endmodule

module i2c_controller #(
    parameter int QUARTER = 8
) (
    input  wire        clk,
    input  wire        rst_n,
    input  wire        cmd_valid,
    output logic       cmd_ready,
    input  wire        cmd_read,
    input  wire  [6:0] dev_addr,
    input  wire  [7:0] reg_addr,
    input  wire  [7:0] wr_data,
    output logic       done,
    output logic [7:0] rd_data,
    output logic       nack,
    output logic [1:0] nack_code,
    input  wire        scl_in,
    input  wire        sda_in,
    output logic       scl_low,
    output logic       sda_low
);
    typedef enum logic [2:0] {ST_IDLE, ST_START, ST_BITS, ST_ACK, ST_STOP} state_t;
    typedef enum logic [2:0] {B_ADDR_W, B_REG, B_WRITE, B_ADDR_R, B_READ} byte_t;

    state_t     state;
    byte_t      what;                  // byte under way
    logic       rd;
    logic [6:0] dev;
    logic [7:0] regno, wdat, shift;
    logic [2:0] bits;
    logic       scl, sda, finished, rx_bit, tx_bit, go;
    logic [1:0] op;

    i2c_line_sync u_scl (.clk(clk), .rst_n(rst_n), .line(scl_in), .level(scl));
    i2c_line_sync u_sda (.clk(clk), .rst_n(rst_n), .line(sda_in), .level(sda));

    i2c_bit_engine #(.QUARTER(QUARTER)) u_engine (
        .clk(clk), .rst_n(rst_n), .go(go), .op(op), .tx_bit(tx_bit), .scl(scl), .sda(sda),
        .finished(finished), .rx_bit(rx_bit), .scl_low(scl_low), .sda_low(sda_low));

    assign cmd_ready = (state == ST_IDLE);
    assign go        = (state != ST_IDLE);
    assign op        = {state == ST_STOP, state == ST_START};
    assign tx_bit    = (state == ST_BITS && what != B_READ) ? shift[7] : 1'b1;

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            state     <= ST_IDLE;
            what      <= B_ADDR_W;
            rd        <= 1'b0;
            {dev, regno, wdat, shift} <= '0;
            bits      <= 3'd0;
            done      <= 1'b0;
            rd_data   <= 8'd0;
            nack      <= 1'b0;
            nack_code <= 2'd0;
        end else begin
            done <= 1'b0;
            if (state == ST_IDLE) begin
                if (cmd_valid) begin
                    state     <= ST_START;
                    what      <= B_ADDR_W;
                    rd        <= cmd_read;
                    dev       <= dev_addr;
                    regno     <= reg_addr;
                    wdat      <= wr_data;
                    shift     <= {dev_addr, 1'b0};
                    nack      <= 1'b0;
                    nack_code <= 2'd0;
                end
            end else if (finished) begin
                case (state)
                    ST_START: begin
                        bits  <= 3'd0;
                        state <= ST_BITS;
                    end
                    ST_BITS: begin
                        shift <= {shift[6:0], rx_bit};
                        bits  <= bits + 3'd1;
                        if (bits == 3'd7) state <= ST_ACK;
                    end
                    ST_ACK: begin
                        if (what == B_READ) begin
                            rd_data <= shift;
                            state   <= ST_STOP;
                        end else if (rx_bit) begin
                            nack      <= 1'b1;
                            nack_code <= (what == B_REG)   ? 2'd2 :
                                         (what == B_WRITE) ? 2'd3 : 2'd1;
                            state     <= ST_STOP;
                        end else begin
                            state <= ST_BITS;
                            case (what)
                                B_ADDR_W: begin
                                    what  <= B_REG;
                                    shift <= regno;
                                end
                                B_REG: begin
                                    if (rd) begin
                                        what  <= B_ADDR_R;
                                        shift <= {dev, 1'b1};
                                        state <= ST_START;
                                    end else begin
                                        what  <= B_WRITE;
                                        shift <= wdat;
                                    end
                                end
                                B_ADDR_R: what  <= B_READ;
                                default:  state <= ST_STOP;
                            endcase
                        end
                    end
                    default: begin
                        done  <= 1'b1;
                        state <= ST_IDLE;
                    end
                endcase
            end
        end
    end
endmodule

`default_nettype wire
