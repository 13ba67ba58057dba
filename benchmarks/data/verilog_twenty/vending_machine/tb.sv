`timescale 1ns / 1ns

module vm_tb;

    reg         clk, arst;
    reg         coin_valid, select_valid, cancel, restock_valid;
    reg  [1:0]  coin;
    reg  [2:0]  select, restock_slot;
    reg  [3:0]  restock_qty;
    wire        ready, coin_reject, sold_out, low_credit, vend, change_valid;
    wire [7:0]  credit, empty_slots;
    wire [2:0]  vend_slot;
    wire [1:0]  change_coin;
    wire [15:0] sales;

    vending_machine #(.STOCK_INIT(2), .MAX_CREDIT(210)) machine (
        .clk(clk), .arst(arst),
        .coin_valid(coin_valid), .coin(coin),
        .select_valid(select_valid), .select(select), .cancel(cancel),
        .restock_valid(restock_valid), .restock_slot(restock_slot), .restock_qty(restock_qty),
        .ready(ready), .credit(credit), .coin_reject(coin_reject), .sold_out(sold_out),
        .low_credit(low_credit), .vend(vend), .vend_slot(vend_slot),
        .change_valid(change_valid), .change_coin(change_coin),
        .sales(sales), .empty_slots(empty_slots)
    );

    initial clk = 0;
    always #4 clk = !clk;

    // ---------------------------------------------------------- bookkeeping
    reg [7:0] price [0:7];
    integer   worth [0:3];
    integer   pieces [0:7];
    integer   purse, takings, last_slot;
    integer   owed [0:63];              // coins the machine still has to pay, worked out at once
    integer   owed_n, owed_i;
    reg       vending, rej, out, low;
    reg       ok;
    integer   i, k, n, rounds, sold_count, paid_count;

    task note(input good);
        if (good !== 1'b1) ok = 1'b0;
    endtask

    // list of coins for the purse: try the kinds from the largest, as often as they fit
    task plan_change;
        integer rest, kind;
        begin
            rest = purse; owed_n = 0; owed_i = 0;
            for (kind = 3; kind >= 0; kind = kind - 1)
                while (rest >= worth[kind]) begin
                    owed[owed_n] = kind;
                    owed_n = owed_n + 1;
                    rest = rest - worth[kind];
                end
        end
    endtask

    task look;
        reg paying;
        begin
            paying = (owed_i < owed_n) && !vending;
            note(ready === (!vending && !paying));
            note(vend === vending);
            note(vend_slot === last_slot);
            note(change_valid === paying);
            note(change_coin === (paying ? owed[owed_i] : 0));
            note(credit === purse);
            note(sales === takings % 65536);
            note(coin_reject === rej);
            note(sold_out === out);
            note(low_credit === low);
            for (i = 0; i < 8; i = i + 1)
                note(empty_slots[i] === (pieces[i] == 0));
        end
    endtask

    task forget;
        begin
            purse = 0; takings = 0; last_slot = 0; owed_n = 0; owed_i = 0;
            vending = 0; rej = 0; out = 0; low = 0;
            for (i = 0; i < 8; i = i + 1) pieces[i] = 2;
        end
    endtask

    // one clock with the inputs as they stand
    task clock;
        integer gone;
        begin
            gone = -1; rej = coin_valid; out = 0; low = 0;
            if (vending) begin
                vending = 0;
            end else if (owed_i < owed_n) begin
                purse = purse - worth[owed[owed_i]];
                owed_i = owed_i + 1;
                paid_count = paid_count + 1;
            end else if (cancel) begin
                plan_change;
            end else if (select_valid) begin
                if (pieces[select] < 1 || price[select] < 1) out = 1;
                else if (price[select] > purse) low = 1;
                else begin
                    purse = purse - price[select];
                    takings = takings + price[select];
                    gone = select; last_slot = select;
                    vending = 1;
                    sold_count = sold_count + 1;
                    plan_change;
                end
            end else if (coin_valid) begin
                if (purse + worth[coin] < 211) begin
                    purse = purse + worth[coin];
                    rej = 0;
                end
            end
            if (gone >= 0) pieces[gone] = pieces[gone] - 1;
            if (restock_valid) begin
                pieces[restock_slot] = pieces[restock_slot] + restock_qty;
                if (pieces[restock_slot] > 15) pieces[restock_slot] = 15;
            end
            @(posedge clk);
            #1 look;
        end
    endtask

    task quiet;
        begin
            coin_valid = 0; select_valid = 0; cancel = 0; restock_valid = 0;
            coin = $random; select = $random; restock_slot = $random; restock_qty = $random;
        end
    endtask

    task throw(input [1:0] c);
        begin quiet; coin_valid = 1; coin = c; clock; quiet; end
    endtask

    task press(input [2:0] s);
        begin quiet; select_valid = 1; select = s; clock; quiet; end
    endtask

    task give_back;
        begin quiet; cancel = 1; clock; quiet; end
    endtask

    task fill(input [2:0] s, input [3:0] q);
        begin quiet; restock_valid = 1; restock_slot = s; restock_qty = q; clock; quiet; end
    endtask

    task idle(input integer cycles);
        repeat (cycles) begin quiet; clock; end
    endtask

    task settle;
        while (vending || owed_i < owed_n) begin quiet; clock; end
    endtask

    initial begin
        ok = 1; sold_count = 0; paid_count = 0;
        worth[0] = 1; worth[1] = 2; worth[2] = 5; worth[3] = 20;
        $readmemh("prices.mem", price);
        forget; quiet;
        arst = 0;
        #2 arst = 1;
        #1 look;
        coin_valid = 1; coin = 3;
        @(posedge clk) #1 look;
        quiet;
        arst = 0;

        idle(2);
        give_back;                                  // nothing to give
        for (n = 0; n < 4; n = n + 1) throw(n);     // 28 units
        give_back; settle; idle(1);
        for (n = 0; n < 8; n = n + 1) press(n);     // no money
        for (n = 0; n < 3; n = n + 1) throw(2);     // 15: exactly the price of slot 0
        press(0); settle; idle(1);
        throw(2); throw(2); throw(1); throw(1);     // 14: one short
        press(0);
        throw(1);                                   // 16: one over
        press(0); settle;
        throw(3); press(0);                         // third piece is not there
        fill(0, 1); press(0); settle;

        for (n = 0; n < 11; n = n + 1) throw(3);    // 200 at the tenth, then refused
        throw(2); throw(2); throw(0);               // 210, refused
        press(7); settle;
        press(7);
        for (n = 0; n < 8; n = n + 1) fill(n, 14);  // two of them lose a piece
        for (n = 0; n < 8; n = n + 1) fill(n, n);
        for (n = 0; n < 17; n = n + 1) begin        // count what is really in slot 6
            throw(0); press(6); settle;
        end
        give_back; settle;

        fill(6, 15);                                // sale and refill meet: 15 + 3 - 1
        throw(1);
        quiet; select_valid = 1; select = 6; restock_valid = 1; restock_slot = 6; restock_qty = 3;
        clock; settle;
        for (n = 0; n < 16; n = n + 1) begin
            throw(0); press(6); settle;
        end
        throw(0);                                   // 0 + 3, then 3 + 1 - 1
        fill(6, 3);
        quiet; select_valid = 1; select = 6; restock_valid = 1; restock_slot = 6; restock_qty = 1;
        clock; settle;
        for (n = 0; n < 5; n = n + 1) begin
            throw(0); press(6); settle;
        end
        give_back; settle;

        for (k = 0; k < 64; k = k + 1) begin        // all requests together, also while paying
            throw(3); throw(k);
            repeat (5) begin
                quiet;
                {cancel, select_valid, coin_valid} = k;
                restock_valid = k[3];
                clock;
            end
            settle;
        end

        for (rounds = 0; rounds < 4000; rounds = rounds + 1) begin
            quiet;
            coin_valid    = ($random & 3) != 0;
            select_valid  = ($random & 7) == 0;
            cancel        = ($random & 63) == 0;
            restock_valid = ($random & 15) == 0;
            restock_qty   = $random & 3;
            if (rounds % 3 == 0) coin = 3;
            clock;
            if (rounds == 1777) begin
                #1 arst = 1;                        // anywhere, without a clock
                forget;
                #1 look;
                arst = 0;
            end
        end

        while (takings < 66000) begin               // the sum wraps around
            fill(7, 5);
            while (purse < 200 && !vending && owed_i >= owed_n) throw(3);
            press(7); settle;
            idle(1);
        end

        if (sold_count < 100 || paid_count < 100) ok = 0;
        if (ok) $display("Test Passed");
        else    $display("Test Failed");
        $finish;
    end

    initial begin
        #4000000;
        $display("Test Failed");
        $finish;
    end

endmodule
