// PWM timer: one 16 bit counter with prescaler, edge or centre aligned, several
// compare channels with buffered settings, and a small register interface.
`include "defs.svh"

// One compare channel: duty register, its active copy, and the output flop.
module pwm_channel (
    input  logic        clk,
    input  logic        rst_n,
    input  logic        write,
    input  logic [15:0] wdata,
    input  logic        load,        // copy the buffer to the active register
    input  logic        running,
    input  logic [15:0] count,
    input  logic        invert,
    output logic [15:0] duty,        // buffer, as the bus reads it
    output logic        pwm
);

    logic [15:0] duty_active;

    always_ff @(posedge clk) begin
        if (!rst_n) begin
            duty        <= 16'd0;
            duty_active <= 16'd0;
            pwm         <= 1'b0;
        end else begin
            if (write)
                duty <= wdata;
            if (load)
                duty_active <= duty;
            pwm <= (running && count < duty_active) ^ invert;
        end
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

    // ------------------------------------------------------------- registers
    logic                      enable, center, irq_en;
    logic [7:0]                prescale;
    logic [15:0]               period;
    logic [CHANNELS-1:0]       polarity;
    logic                      wrap_flag;
    logic [CHANNELS-1:0][15:0] duty;
    logic [15:0]               read_mux;
    logic                      bus_write;

    // --------------------------------------------------------------- counter
    logic [7:0]  pre;
    logic [15:0] count, period_active;
    logic        down, center_active;
    logic        tick, at_top, wrap, load;

    assign bus_write = sel && wr;

    always_ff @(posedge clk) begin
        if (!rst_n) begin
            enable   <= 1'b0;
            center   <= 1'b0;
            irq_en   <= 1'b0;
            prescale <= 8'd0;
            period   <= 16'hFFFF;
            polarity <= '0;
        end else if (bus_write) begin
            case (addr)
                `PWM_A_CTRL: begin
                    enable <= wdata[`PWM_B_ENABLE];
                    center <= wdata[`PWM_B_CENTER];
                    irq_en <= wdata[`PWM_B_IRQ_EN];
                end
                `PWM_A_PRESCALE: prescale <= wdata[7:0];
                `PWM_A_PERIOD:   period   <= wdata;
                `PWM_A_POLARITY: polarity <= wdata[CHANNELS-1:0];
                default: ;
            endcase
        end
    end

    // A new wrap is not lost when software clears the old one in the same clock.
    always_ff @(posedge clk) begin
        if (!rst_n)
            wrap_flag <= 1'b0;
        else if (wrap)
            wrap_flag <= 1'b1;
        else if (bus_write && addr == `PWM_A_STATUS && wdata[`PWM_B_WRAP])
            wrap_flag <= 1'b0;
    end

    assign irq = wrap_flag && irq_en;

    // ------------------------------------------------------------- read path
    logic [15:0] ctrl_word, status_word, duty_word;
    logic        duty_hit;

    assign ctrl_word   = {13'd0, irq_en, center, enable};
    assign status_word = {13'd0, enable, down, wrap_flag};
    assign duty_hit    = addr >= `PWM_A_DUTY0 && addr < `PWM_A_DUTY0 + CHANNELS;
    assign duty_word   = duty_hit ? duty[addr[2:0]] : 16'd0;

    always_comb begin
        case (addr)
            `PWM_A_CTRL:     read_mux = ctrl_word;
            `PWM_A_PRESCALE: read_mux = {8'd0, prescale};
            `PWM_A_PERIOD:   read_mux = period;
            `PWM_A_STATUS:   read_mux = status_word;
            `PWM_A_POLARITY: read_mux = {{(16-CHANNELS){1'b0}}, polarity};
            `PWM_A_COUNT:    read_mux = count;
            default:         read_mux = duty_word;
        endcase
    end

    always_ff @(posedge clk) begin
        if (!rst_n)
            rdata <= 16'd0;
        else if (sel && !wr)
            rdata <= read_mux;
    end

    // ------------------------------------------------------ prescaler, counter
    assign tick   = enable && (pre >= prescale);
    assign at_top = (count >= period_active);
    assign wrap   = tick && (center_active ? (down || at_top) && count <= 16'd1 : at_top);
    assign load   = wrap || !enable;

    always_ff @(posedge clk) begin
        if (!rst_n || !enable || tick)
            pre <= 8'd0;
        else
            pre <= pre + 8'd1;
    end

    always_ff @(posedge clk) begin
        if (!rst_n || !enable || wrap) begin
            count <= 16'd0;
            down  <= 1'b0;
        end else if (tick) begin
            if (center_active && (down || at_top)) begin
                count <= count - 16'd1;
                down  <= 1'b1;
            end else begin
                count <= count + 16'd1;
            end
        end
    end

    always_ff @(posedge clk) begin
        if (!rst_n) begin
            period_active <= 16'hFFFF;
            center_active <= 1'b0;
        end else if (load) begin
            period_active <= period;
            center_active <= center;
        end
    end

    // --------------------------------------------------------------- channels
    for (genvar c = 0; c < CHANNELS; c++) begin : g_channel
        logic hit;
        assign hit = bus_write && addr == `PWM_A_DUTY0 + c;

        pwm_channel u_channel (
            .clk     (clk),
            .rst_n   (rst_n),
            .write   (hit),
            .wdata   (wdata),
            .load    (load),
            .running (enable),
            .count   (count),
            .invert  (polarity[c]),
            .duty    (duty[c]),
            .pwm     (pwm[c])
        );
    end

endmodule
