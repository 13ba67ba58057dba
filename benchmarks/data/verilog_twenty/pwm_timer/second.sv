`include "defs.svh"

module pwm_channel (
    input  logic        clk,
    input  logic        rst_n,
    input  logic        we,
    input  logic [15:0] wdata,
    input  logic        load,
    input  logic        enable,
    input  logic        invert,
    input  logic [15:0] count,
    output logic [15:0] duty,
    output logic        pwm
);
    logic [15:0] active;
    always_ff @(posedge clk)
        if (!rst_n) begin
            duty   <= 16'd0;
            active <= 16'd0;
            pwm    <= 1'b0;
        end else begin
            if (we)   duty   <= wdata;
            if (load) active <= duty;
            pwm <= (enable && (count < active)) ^ invert;
        end
endmodule

module pwm_timer #(
    parameter int CHANNELS = 4
) (
    input  logic                clk,
    input  logic                rst_n,
    input  logic                sel,
    input  logic                wr,
    input  logic [3:0]          addr,
    input  logic [15:0]         wdata,
    output logic [15:0]         rdata,
    output logic                irq,
    output logic [CHANNELS-1:0] pwm
);
    logic        enable, center, irq_en;
    logic [7:0]  prescale, pre;
    logic [15:0] period, period_a, count;
    logic        center_a, down, wrap_flag;
    logic [CHANNELS-1:0] polarity;
    logic [16*CHANNELS-1:0] duties;

    wire write = sel & wr;
    wire read  = sel & ~wr;
    wire tick  = enable && (pre >= prescale);

    // what a tick does
    logic [15:0] count_n;
    logic        down_n, wrap;
    always_comb begin
        count_n = count;
        down_n  = down;
        wrap    = 1'b0;
        if (tick) begin
            if (!center_a) begin
                if (count >= period_a) begin
                    count_n = 16'd0;
                    wrap    = 1'b1;
                end else
                    count_n = count + 16'd1;
            end else if (!down && count < period_a)
                count_n = count + 16'd1;
            else if (count <= 16'd1) begin
                count_n = 16'd0;
                down_n  = 1'b0;
                wrap    = 1'b1;
            end else begin
                count_n = count - 16'd1;
                down_n  = 1'b1;
            end
        end
    end

    wire load = wrap || !enable;

    always_ff @(posedge clk) begin
        if (!rst_n) begin
            {enable, center, irq_en} <= 3'b000;
            prescale  <= 8'd0;
            pre       <= 8'd0;
            period    <= 16'hFFFF;
            period_a  <= 16'hFFFF;
            center_a  <= 1'b0;
            count     <= 16'd0;
            down      <= 1'b0;
            wrap_flag <= 1'b0;
            polarity  <= '0;
        end else begin
            if (!enable) begin
                pre   <= 8'd0;
                count <= 16'd0;
                down  <= 1'b0;
            end else begin
                pre   <= tick ? 8'd0 : pre + 8'd1;
                count <= count_n;
                down  <= down_n;
            end
            if (load) begin
                period_a <= period;
                center_a <= center;
            end
            if (write)
                case (addr)
                    `PWM_A_CTRL: begin
                        enable <= wdata[`PWM_B_ENABLE];
                        center <= wdata[`PWM_B_CENTER];
                        irq_en <= wdata[`PWM_B_IRQ_EN];
                    end
                    `PWM_A_PRESCALE: prescale <= wdata[7:0];
                    `PWM_A_PERIOD:   period   <= wdata;
                    `PWM_A_STATUS:   if (wdata[`PWM_B_WRAP]) wrap_flag <= 1'b0;
                    `PWM_A_POLARITY: polarity <= wdata[CHANNELS-1:0];
                    default: ;
                endcase
            if (wrap) wrap_flag <= 1'b1;
        end
    end

    assign irq = wrap_flag & irq_en;

    logic [15:0] value;
    always_comb begin
        value = 16'd0;
        case (addr)
            `PWM_A_CTRL: begin
                value[`PWM_B_ENABLE] = enable;
                value[`PWM_B_CENTER] = center;
                value[`PWM_B_IRQ_EN] = irq_en;
            end
            `PWM_A_PRESCALE: value[7:0] = prescale;
            `PWM_A_PERIOD:   value = period;
            `PWM_A_STATUS: begin
                value[`PWM_B_WRAP] = wrap_flag;
                value[`PWM_B_DOWN] = down;
                value[`PWM_B_RUN]  = enable;
            end
            `PWM_A_POLARITY: value[CHANNELS-1:0] = polarity;
            `PWM_A_COUNT:    value = count;
            default:
                for (int i = 0; i < CHANNELS; i = i + 1)
                    if (addr == `PWM_A_DUTY0 + i) value = duties[16*i +: 16];
        endcase
    end

    always_ff @(posedge clk)
        if (!rst_n)    rdata <= 16'd0;
        else if (read) rdata <= value;

    genvar c;
    generate
        for (c = 0; c < CHANNELS; c = c + 1) begin : chan
            pwm_channel u (.clk(clk), .rst_n(rst_n), .we(write && addr == `PWM_A_DUTY0 + c),
                           .wdata(wdata), .load(load), .enable(enable), .invert(polarity[c]),
                           .count(count), .duty(duties[16*c +: 16]), .pwm(pwm[c]));
        end
    endgenerate
endmodule
