// SPI controller (bus master), modes 0 to 3, four chip selects, programmable
// clock divider, either bit order. Single transfers of WIDTH bits.

// Enable generator: after "run" rises, one tick in every (div + 1) clocks.
module spi_tick (
    input  logic       clk,
    input  logic       rst,
    input  logic       run,
    input  logic [7:0] div,
    output logic       tick
);

    logic [7:0] count;

    assign tick = run && (count == div);

    always_ff @(posedge clk) begin
        if (rst || !run || tick)
            count <= 8'd0;
        else
            count <= count + 8'd1;
    end

endmodule


module spi_controller #(
    parameter int WIDTH = 16
) (
    input  logic             clk,
    input  logic             rst,
    // command
    input  logic             start,
    input  logic [1:0]       mode,
    input  logic             lsb_first,
    input  logic [1:0]       target,
    input  logic [7:0]       clk_div,
    input  logic [WIDTH-1:0] tx_data,
    // status and result
    output logic             busy,
    output logic             done,
    output logic [WIDTH-1:0] rx_data,
    // serial bus
    output logic             sclk,
    output logic             mosi,
    input  logic             miso,
    output logic [3:0]       cs_n
);

    localparam int EDGES  = 2 * WIDTH;
    localparam int EDGE_W = $clog2(EDGES + 1);
    localparam logic [EDGE_W-1:0] LAST = EDGES;

    typedef enum logic [1:0] {S_IDLE, S_SHIFT, S_HOLD} state_t;

    state_t            state;
    logic              cpha_q, lsb_q;
    logic [7:0]        div_q;
    logic [EDGE_W-1:0] edges;        // sclk edges already made
    logic [WIDTH-1:0]  tx_sr, rx_sr;
    logic              tick;
    logic              sampling;     // the next sclk edge is a sampling edge

    function automatic [WIDTH-1:0] mirror(input [WIDTH-1:0] x);
        for (int i = 0; i < WIDTH; i++)
            mirror[i] = x[WIDTH-1-i];
    endfunction

    logic [WIDTH-1:0] tx_ordered;
    assign tx_ordered = lsb_first ? mirror(tx_data) : tx_data;

    spi_tick u_tick (
        .clk  (clk),
        .rst  (rst),
        .run  (busy),
        .div  (div_q),
        .tick (tick)
    );

    assign busy     = (state != S_IDLE);
    assign sampling = (edges[0] == cpha_q);

    // ------------------------------------------------------------ control
    always_ff @(posedge clk) begin
        if (rst) begin
            state <= S_IDLE;
            edges <= '0;
            done  <= 1'b0;
            cs_n  <= 4'b1111;
            sclk  <= 1'b0;
        end else begin
            done <= 1'b0;
            case (state)
                S_IDLE: begin
                    sclk  <= mode[1];
                    edges <= '0;
                    if (start) begin
                        state        <= S_SHIFT;
                        cs_n[target] <= 1'b0;
                    end
                end

                S_SHIFT: if (tick) begin
                    sclk  <= ~sclk;
                    edges <= edges + 1'b1;
                    if (edges == LAST - 1'b1)
                        state <= S_HOLD;
                end

                S_HOLD: if (tick) begin
                    state <= S_IDLE;
                    cs_n  <= 4'b1111;
                    done  <= 1'b1;
                end

                default: state <= S_IDLE;
            endcase
        end
    end

    // Settings of the transfer, frozen when it is accepted.
    always_ff @(posedge clk) begin
        if (rst) begin
            cpha_q <= 1'b0;
            lsb_q  <= 1'b0;
            div_q  <= 8'd0;
        end else if (start && !busy) begin
            cpha_q <= mode[0];
            lsb_q  <= lsb_first;
            div_q  <= clk_div;
        end
    end

    // ----------------------------------------------------------- data path
    always_ff @(posedge clk) begin
        if (rst) begin
            tx_sr <= '0;
            mosi  <= 1'b0;
        end else if (state == S_IDLE) begin
            if (start && !mode[0]) begin
                mosi  <= tx_ordered[WIDTH-1];
                tx_sr <= {tx_ordered[WIDTH-2:0], 1'b0};
            end else begin
                mosi  <= 1'b0;
                tx_sr <= tx_ordered;
            end
        end else if (state == S_SHIFT && tick && !sampling && edges != LAST - 1'b1) begin
            mosi  <= tx_sr[WIDTH-1];
            tx_sr <= {tx_sr[WIDTH-2:0], 1'b0};
        end else if (state == S_HOLD && tick) begin
            mosi  <= 1'b0;
        end
    end

    always_ff @(posedge clk) begin
        if (rst) begin
            rx_sr   <= '0;
            rx_data <= '0;
        end else begin
            if (state == S_SHIFT && tick && sampling)
                rx_sr <= {rx_sr[WIDTH-2:0], miso};
            if (state == S_HOLD && tick)
                rx_data <= lsb_q ? mirror(rx_sr) : rx_sr;
        end
    end

endmodule
