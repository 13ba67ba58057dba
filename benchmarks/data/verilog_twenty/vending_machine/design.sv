// Vending machine: takes coins, sells from eight slots, pays change coin by coin.
// All amounts are in units of five cents. Prices come from prices.mem.
module vending_machine #(
    parameter int STOCK_INIT = 3,
    parameter int MAX_CREDIT = 200
) (
    input  logic        clk,
    input  logic        arst,
    // customer
    input  logic        coin_valid,
    input  logic [1:0]  coin,
    input  logic        select_valid,
    input  logic [2:0]  select,
    input  logic        cancel,
    // operator
    input  logic        restock_valid,
    input  logic [2:0]  restock_slot,
    input  logic [3:0]  restock_qty,
    // machine
    output logic        ready,
    output logic [7:0]  credit,
    output logic        coin_reject,
    output logic        sold_out,
    output logic        low_credit,
    output logic        vend,
    output logic [2:0]  vend_slot,
    output logic        change_valid,
    output logic [1:0]  change_coin,
    output logic [15:0] sales,
    output logic [7:0]  empty_slots
);

    localparam int         SLOTS      = 8;
    localparam logic [3:0] STOCK_0    = STOCK_INIT;
    localparam logic [8:0] CREDIT_TOP = MAX_CREDIT;

    typedef enum logic [1:0] {
        ST_READY  = 2'd0,
        ST_VEND   = 2'd1,
        ST_CHANGE = 2'd2
    } state_t;

    state_t     state, state_next;
    logic [7:0] price_rom [0:SLOTS-1];
    logic [3:0] stock [0:SLOTS-1];

    initial $readmemh("prices.mem", price_rom);

    // Worth of a coin, by its code.
    function automatic logic [7:0] worth(input logic [1:0] code);
        case (code)
            2'd0:    worth = 8'd1;
            2'd1:    worth = 8'd2;
            2'd2:    worth = 8'd5;
            default: worth = 8'd20;
        endcase
    endfunction

    // The largest coin that an amount (not zero) still contains.
    function automatic logic [1:0] largest(input logic [7:0] amount);
        if (amount >= 8'd20)     largest = 2'd3;
        else if (amount >= 8'd5) largest = 2'd2;
        else if (amount >= 8'd2) largest = 2'd1;
        else                     largest = 2'd0;
    endfunction

    // ------------------------------------------------ what this clock will do
    logic [7:0] price;
    logic [3:0] stock_selected;
    logic [8:0] credit_plus_coin;
    logic       in_ready, do_cancel, do_select, do_coin;
    logic       unavailable, too_poor, sale, coin_fits;

    assign price            = price_rom[select];
    assign stock_selected   = stock[select];
    assign credit_plus_coin = {1'b0, credit} + {1'b0, worth(coin)};

    assign in_ready    = (state == ST_READY);
    assign do_cancel   = in_ready && cancel;
    assign do_select   = in_ready && !cancel && select_valid;
    assign do_coin     = in_ready && !cancel && !select_valid && coin_valid;

    assign unavailable = (price == 8'd0) || (stock_selected == 4'd0);
    assign too_poor    = (credit < price);
    assign sale        = do_select && !unavailable && !too_poor;
    assign coin_fits   = (credit_plus_coin <= CREDIT_TOP);

    // ------------------------------------------------------------------ states
    always_comb begin
        state_next = state;
        case (state)
            ST_READY:
                if (do_cancel && credit != 8'd0)
                    state_next = ST_CHANGE;
                else if (sale)
                    state_next = ST_VEND;
            ST_VEND:
                if (credit != 8'd0)
                    state_next = ST_CHANGE;
                else
                    state_next = ST_READY;
            ST_CHANGE:
                if (credit == worth(change_coin))
                    state_next = ST_READY;
            default:
                state_next = ST_READY;
        endcase
    end

    always_ff @(posedge clk or posedge arst) begin
        if (arst)
            state <= ST_READY;
        else
            state <= state_next;
    end

    assign ready        = in_ready;
    assign vend         = (state == ST_VEND);
    assign change_valid = (state == ST_CHANGE);
    assign change_coin  = change_valid ? largest(credit) : 2'd0;

    // ------------------------------------------------------------------- money
    always_ff @(posedge clk or posedge arst) begin
        if (arst) begin
            credit    <= 8'd0;
            sales     <= 16'd0;
            vend_slot <= 3'd0;
        end else if (sale) begin
            credit    <= credit - price;
            sales     <= sales + {8'd0, price};
            vend_slot <= select;
        end else if (do_coin && coin_fits) begin
            credit    <= credit_plus_coin[7:0];
        end else if (change_valid) begin
            credit    <= credit - worth(change_coin);
        end
    end

    // ----------------------------------------------------------------- signals
    always_ff @(posedge clk or posedge arst) begin
        if (arst) begin
            coin_reject <= 1'b0;
            sold_out    <= 1'b0;
            low_credit  <= 1'b0;
        end else begin
            coin_reject <= coin_valid && !(do_coin && coin_fits);
            sold_out    <= do_select && unavailable;
            low_credit  <= do_select && !unavailable && too_poor;
        end
    end

    // ------------------------------------------------------------------- stock
    for (genvar s = 0; s < SLOTS; s++) begin : g_slot
        logic [4:0] filled;
        logic       sold, refill;

        assign sold   = sale && (select == s);
        assign refill = restock_valid && (restock_slot == s);
        assign filled = {1'b0, stock[s]} + (refill ? {1'b0, restock_qty} : 5'd0) - {4'd0, sold};

        always_ff @(posedge clk or posedge arst) begin
            if (arst)
                stock[s] <= STOCK_0;
            else if (sold || refill)
                stock[s] <= filled[4] ? 4'd15 : filled[3:0];
        end

        assign empty_slots[s] = (stock[s] == 4'd0);
    end

endmodule
