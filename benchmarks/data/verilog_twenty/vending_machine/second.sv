module vending_machine #(
    parameter STOCK_INIT = 3,
    parameter MAX_CREDIT = 200
) (
    input  wire        clk,
    input  wire        arst,
    input  wire        coin_valid,
    input  wire [1:0]  coin,
    input  wire        select_valid,
    input  wire [2:0]  select,
    input  wire        cancel,
    input  wire        restock_valid,
    input  wire [2:0]  restock_slot,
    input  wire [3:0]  restock_qty,
    output wire        ready,
    output reg  [7:0]  credit,
    output reg         coin_reject,
    output reg         sold_out,
    output reg         low_credit,
    output wire        vend,
    output reg  [2:0]  vend_slot,
    output wire        change_valid,
    output wire [1:0]  change_coin,
    output reg  [15:0] sales,
    output wire [7:0]  empty_slots
);
    localparam [2:0] READY = 3'b001, VEND = 3'b010, CHANGE = 3'b100;   // one-hot

    reg [2:0] state;
    reg [7:0] price [0:7];
    reg [3:0] stock [0:7];
    initial $readmemh("prices.mem", price);

    assign {change_valid, vend, ready} = state;

    function [4:0] worth(input [1:0] k);
        case (k)
            2'd0:    worth = 5'd1;
            2'd1:    worth = 5'd2;
            2'd2:    worth = 5'd5;
            default: worth = 5'd20;
        endcase
    endfunction

    wire [1:0] best = (credit >= 20) ? 2'd3 : (credit >= 5) ? 2'd2 : (credit >= 2) ? 2'd1 : 2'd0;
    assign change_coin = change_valid ? best : 2'd0;

    wire [7:0] cost     = price[select];
    wire       sel_live = ready && !cancel && select_valid;
    wire       gone     = (cost == 8'd0) || (stock[select] == 4'd0);
    wire       poor     = (credit < cost);
    wire       sale     = sel_live && !gone && !poor;
    wire [8:0] with_coin = {1'b0, credit} + {4'd0, worth(coin)};
    wire       coin_ok  = ready && !cancel && !select_valid && coin_valid && (with_coin <= MAX_CREDIT);
    wire [7:0] after_change = credit - {3'd0, worth(best)};

    always @(posedge clk or posedge arst)
        if (arst) begin
            state       <= READY;
            credit      <= 8'd0;
            coin_reject <= 1'b0;
            sold_out    <= 1'b0;
            low_credit  <= 1'b0;
            vend_slot   <= 3'd0;
            sales       <= 16'd0;
        end else begin
            coin_reject <= coin_valid && !coin_ok;
            sold_out    <= sel_live && gone;
            low_credit  <= sel_live && !gone && poor;
            case (state)
                READY:
                    if (cancel) begin
                        if (credit != 8'd0) state <= CHANGE;
                    end else if (sale) begin
                        credit    <= credit - cost;
                        sales     <= sales + {8'd0, cost};
                        vend_slot <= select;
                        state     <= VEND;
                    end else if (coin_ok)
                        credit <= with_coin[7:0];
                VEND: state <= (credit != 8'd0) ? CHANGE : READY;
                CHANGE: begin
                    credit <= after_change;
                    if (after_change == 8'd0) state <= READY;
                end
                default: state <= READY;
            endcase
        end

    genvar s;
    generate
        for (s = 0; s < 8; s = s + 1) begin : slot
            wire       sold  = sale && (select == s);
            wire       fill  = restock_valid && (restock_slot == s);
            wire [4:0] level = {1'b0, stock[s]} - {4'd0, sold} + (fill ? {1'b0, restock_qty} : 5'd0);
            always @(posedge clk or posedge arst)
                if (arst) stock[s] <= STOCK_INIT;
                else      stock[s] <= level[4] ? 4'd15 : level[3:0];
            assign empty_slots[s] = (stock[s] == 4'd0);
        end
    endgenerate
endmodule
