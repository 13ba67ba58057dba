// Unit = start, bit or stop; each has four quarters. Lines are set by the edge that enters a quarter.
module i2c_controller #(
    parameter int QUARTER = 8
) (
    input  logic       clk,
    input  logic       rst_n,
    input  logic       cmd_valid,
    output logic       cmd_ready,
    input  logic       cmd_read,
    input  logic [6:0] dev_addr,
    input  logic [7:0] reg_addr,
    input  logic [7:0] wr_data,
    output logic       done,
    output logic [7:0] rd_data,
    output logic       nack,
    output logic [1:0] nack_code,
    input  logic       scl_in,
    input  logic       sda_in,
    output logic       scl_low,
    output logic       sda_low
);
    localparam logic [1:0] U_IDLE = 2'd0, U_START = 2'd1, U_BIT = 2'd2, U_STOP = 2'd3;
    // bytes of a command
    localparam logic [2:0] B_ADRW = 3'd0, B_REG = 3'd1, B_DATA = 3'd2, B_ADRR = 3'd3, B_READ = 3'd4;

    logic [1:0] scl_s, sda_s;
    wire scl = scl_s[1];
    wire sda = sda_s[1];

    logic [1:0] unit, quarter;
    logic [$clog2(QUARTER)-1:0] cnt;
    logic       seen;              // SCL has been high in this quarter 1
    logic [2:0] bytei;
    logic [3:0] biti;              // 0..7 data, 8 acknowledge
    logic [7:0] sh;
    logic       rd_q;
    logic [6:0] dev_q;
    logic [7:0] reg_q, wr_q;
    logic       failed;

    wire counting = (quarter != 2'd1) || scl || seen;
    wire q_end    = (unit != U_IDLE) && counting && (cnt == QUARTER - 1);
    wire u_end    = q_end && (quarter == 2'd3);

    // what follows the present unit
    logic [1:0] unit_n;
    logic [2:0] byte_n;
    logic [3:0] bit_n;
    logic [7:0] sh_n;
    always_comb begin
        unit_n = unit;
        byte_n = bytei;
        bit_n  = biti;
        sh_n   = sh;
        case (unit)
            U_START: begin
                unit_n = U_BIT;
                bit_n  = 4'd0;
                sh_n   = {dev_q, bytei == B_ADRR};
            end
            U_BIT: begin
                if (biti != 4'd8) begin
                    bit_n = biti + 4'd1;
                    if (bytei != B_READ) sh_n = sh << 1;
                end else begin
                    bit_n = 4'd0;
                    if (failed) unit_n = U_STOP;
                    else case (bytei)
                        B_ADRW: begin byte_n = B_REG; sh_n = reg_q; end
                        B_REG:
                            if (rd_q) begin unit_n = U_START; byte_n = B_ADRR; end
                            else      begin byte_n = B_DATA; sh_n = wr_q; end
                        B_ADRR: byte_n = B_READ;
                        default: unit_n = U_STOP;
                    endcase
                end
            end
            U_STOP: unit_n = U_IDLE;
            default: ;
        endcase
    end

    wire n_release = (bit_n == 4'd8) || (byte_n == B_READ);   // next bit is one to receive

    assign cmd_ready = (unit == U_IDLE);

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            scl_s <= 2'b11;
            sda_s <= 2'b11;
        end else begin
            scl_s <= {scl_s[0], scl_in};
            sda_s <= {sda_s[0], sda_in};
        end
    end

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            unit <= U_IDLE; quarter <= 2'd0; cnt <= '0; seen <= 1'b0;
            bytei <= B_ADRW; biti <= 4'd0; sh <= 8'd0;
            rd_q <= 1'b0; dev_q <= 7'd0; reg_q <= 8'd0; wr_q <= 8'd0; failed <= 1'b0;
            scl_low <= 1'b0; sda_low <= 1'b0;
            done <= 1'b0; rd_data <= 8'd0; nack <= 1'b0; nack_code <= 2'd0;
        end else begin
            done <= 1'b0;
            if (unit == U_IDLE) begin
                if (cmd_valid) begin
                    unit <= U_START; quarter <= 2'd0; cnt <= '0; seen <= 1'b0;
                    bytei <= B_ADRW; biti <= 4'd0; failed <= 1'b0;
                    rd_q <= cmd_read; dev_q <= dev_addr; reg_q <= reg_addr; wr_q <= wr_data;
                    nack <= 1'b0; nack_code <= 2'd0;
                end
            end else begin
                if (quarter == 2'd1 && scl) seen <= 1'b1;
                if (q_end) begin
                    cnt     <= '0;
                    seen    <= 1'b0;
                    quarter <= quarter + 2'd1;
                end else if (counting)
                    cnt <= cnt + 1'b1;

                // entering quarter 1: SCL up
                if (q_end && quarter == 2'd0) scl_low <= 1'b0;

                // end of quarter 1: sample; entering quarter 2: conditions
                if (q_end && quarter == 2'd1) begin
                    if (unit == U_START) sda_low <= 1'b1;
                    if (unit == U_STOP)  sda_low <= 1'b0;
                    if (unit == U_BIT) begin
                        if (biti == 4'd8) begin
                            if (bytei != B_READ && sda) begin
                                failed <= 1'b1;
                                nack   <= 1'b1;
                                case (bytei)
                                    B_REG:   nack_code <= 2'd2;
                                    B_DATA:  nack_code <= 2'd3;
                                    default: nack_code <= 2'd1;
                                endcase
                            end
                        end else if (bytei == B_READ) begin
                            sh <= {sh[6:0], sda};
                            if (biti == 4'd7) rd_data <= {sh[6:0], sda};
                        end
                    end
                end

                // entering quarter 3
                if (q_end && quarter == 2'd2 && unit != U_STOP) scl_low <= 1'b1;

                // entering quarter 0 of the next unit
                if (u_end) begin
                    unit  <= unit_n;
                    bytei <= byte_n;
                    biti  <= bit_n;
                    sh    <= sh_n;
                    case (unit_n)
                        U_START: sda_low <= 1'b0;
                        U_BIT:   begin scl_low <= 1'b1; sda_low <= !n_release && !sh_n[7]; end
                        U_STOP:  begin scl_low <= 1'b1; sda_low <= 1'b1; end
                        default: begin scl_low <= 1'b0; sda_low <= 1'b0; done <= 1'b1; end
                    endcase
                end
            end
        end
    end
endmodule
