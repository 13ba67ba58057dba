module spi_controller #(
    parameter WIDTH = 16
) (
    input  wire             clk,
    input  wire             rst,
    input  wire             start,
    input  wire [1:0]       mode,
    input  wire             lsb_first,
    input  wire [1:0]       target,
    input  wire [7:0]       clk_div,
    input  wire [WIDTH-1:0] tx_data,
    input  wire             miso,
    output reg              busy,
    output reg              done,
    output reg  [WIDTH-1:0] rx_data,
    output reg              sclk,
    output reg              mosi,
    output reg  [3:0]       cs_n
);
    localparam HALVES = 2*WIDTH + 1;

    reg             cpha, lsbf;
    reg [7:0]       div, cnt;
    reg [6:0]       half;              // events done so far
    reg [WIDTH-1:0] tx_sh, rx_sh;

    // send everything MSB first; reverse at both ends when LSB first
    function [WIDTH-1:0] mirror(input [WIDTH-1:0] x);
        integer i;
        for (i = 0; i < WIDTH; i = i + 1) mirror[i] = x[WIDTH-1-i];
    endfunction

    wire [WIDTH-1:0] tx_in = lsb_first ? mirror(tx_data) : tx_data;
    wire event_now = busy && (cnt == div);
    wire leading   = ~half[0];         // the coming sclk edge is an odd one
    wire closing   = (half == HALVES - 1);

    always @(posedge clk) begin
        done <= 1'b0;
        if (rst) begin
            busy <= 1'b0; rx_data <= 0; sclk <= 1'b0; mosi <= 1'b0; cs_n <= 4'b1111;
        end else if (!busy) begin
            sclk <= mode[1];
            if (start) begin
                busy  <= 1'b1;
                cs_n  <= ~(4'b0001 << target);
                cpha  <= mode[0];
                lsbf  <= lsb_first;
                div   <= clk_div;
                cnt   <= 8'd0;
                half  <= 7'd0;
                if (!mode[0]) begin
                    mosi  <= tx_in[WIDTH-1];
                    tx_sh <= tx_in << 1;
                end else
                    tx_sh <= tx_in;
            end
        end else if (!event_now)
            cnt <= cnt + 8'd1;
        else begin
            cnt  <= 8'd0;
            half <= half + 7'd1;
            if (closing) begin
                busy    <= 1'b0;
                done    <= 1'b1;
                cs_n    <= 4'b1111;
                mosi    <= 1'b0;
                rx_data <= lsbf ? mirror(rx_sh) : rx_sh;
            end else begin
                sclk <= ~sclk;
                if (leading != cpha)
                    rx_sh <= {rx_sh[WIDTH-2:0], miso};
                else if (half != HALVES - 2 || cpha) begin
                    mosi  <= tx_sh[WIDTH-1];
                    tx_sh <= tx_sh << 1;
                end
            end
        end
    end
endmodule
