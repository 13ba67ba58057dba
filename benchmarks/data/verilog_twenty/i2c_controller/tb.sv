`timescale 1ns/1ps

// A bus with pull-ups, a target with 256 registers, and a monitor that writes a log.
module i2c_tb;
    localparam int Q  = 6;
    localparam int TC = 10;             // clock period, ns
    localparam int LOG_S = 1000, LOG_P = 1001;

    logic clk = 0, rst_n = 1;
    logic cmd_valid = 0, cmd_read = 0;
    logic [6:0] dev_addr = 0;
    logic [7:0] reg_addr = 0, wr_data = 0;
    wire  cmd_ready, done, nack, scl_low, sda_low;
    wire  [7:0] rd_data;
    wire  [1:0] nack_code;

    tri1 scl, sda;
    logic t_scl_low = 0, t_sda_low = 0;
    assign scl = scl_low   ? 1'b0 : 1'bz;
    assign scl = t_scl_low ? 1'b0 : 1'bz;
    assign sda = sda_low   ? 1'b0 : 1'bz;
    assign sda = t_sda_low ? 1'b0 : 1'bz;

    // What the controller sees of SDA is upside down except around the moment of sampling.
    logic noise = 0;
    wire  sda_seen = sda ^ noise;
    always @(posedge scl) begin
        noise = 0;
        #((Q + 3) * TC) noise = active;
    end

    i2c_controller #(.QUARTER(Q)) master (
        .clk, .rst_n, .cmd_valid, .cmd_ready, .cmd_read, .dev_addr, .reg_addr, .wr_data, .done,
        .rd_data, .nack, .nack_code, .scl_in(scl), .sda_in(sda_seen), .scl_low, .sda_low);

    always #(TC / 2) clk = ~clk;

    // ------------------------------ target --------------------------------
    logic [6:0] my_addr = 7'h2C;
    logic [7:0] regs [0:255];
    logic [7:0] pointer, sh, tx;
    int  nbits, nbytes, refuse_at, stretch;
    int  addr_count;                        // address bytes since the command began
    logic active = 0, sending = 0, mine = 0, ackbit;
    int  log [$];

    always @(negedge sda) if (scl === 1'b1 && rst_n) begin
        log.push_back(LOG_S);
        active = 1; nbits = 0; nbytes = 0; sending = 0; t_sda_low = 0;
        if ($time - t_scl_rise < Q * TC) timing("start set-up");
        if ($time - t_stop < 2 * Q * TC) timing("bus free time");
        t_start = $time;
    end

    always @(posedge sda) if (scl === 1'b1 && rst_n && active) begin
        log.push_back(LOG_P);
        active = 0;
        if ($time - t_scl_rise < Q * TC) timing("stop set-up");
        t_stop = $time;
    end

    always @(posedge scl) if (active) begin
        if (nbits < 8) sh = {sh[6:0], sda};
        nbits++;
        if (nbits == 9) begin
            ackbit = sda;
            log.push_back({sh, 1'b0} | (sda === 1'b0));
            nbytes++;
            if (nbytes == 1) begin
                mine    = (sh[7:1] == my_addr) && !ackbit;
                sending = mine && sh[0];
                addr_count++;
            end else if (sending) begin
                if (ackbit) sending = 0;
                pointer++;
            end else if (mine && !ackbit) begin
                if (nbytes == 2) pointer = sh;
                else begin
                    regs[pointer] = sh;
                    pointer++;
                end
            end
        end
    end

    always @(negedge scl) if (active) begin
        #12;
        if (nbits == 8 && !sending)
            t_sda_low = (nbytes == 0) ? (sh[7:1] == my_addr && !(refuse_at == 1 && !sh[0]) &&
                                         !(refuse_at == 4 && sh[0]))
                                      : (mine && refuse_at != nbytes + 1);
        else if (nbits >= 8) begin
            t_sda_low = 0;
            if (nbits == 9) nbits = 0;
        end
        if (nbits == 0 && sending) tx = regs[pointer];
        if (sending && nbits < 8) t_sda_low = !tx[7 - nbits];
    end

    always @(negedge scl) if (stretch != 0) begin
        t_scl_low = 1;
        #(stretch * TC) t_scl_low = 0;
    end

    // ------------------------------ timing --------------------------------
    time t_scl_rise = 0, t_scl_fall = 0, t_stop = 0, t_start = 0, t_sda = 0;
    int  bad_timing = 0, dones = 0;
    task timing(input string what);
        bad_timing++;
        if (bad_timing < 6) $display("    timing: %s at %0t", what, $time);
    endtask

    always @(sda) begin
        t_sda = $time;
        if (scl === 1'b0 && !t_sda_low && sda_low && stretch == 0 && rst_n &&
            $time - t_scl_fall != Q * TC) timing("data change");
    end
    always @(negedge scl) begin
        if (rst_n && active && $time - t_start < Q * TC) timing("start hold");
        if (rst_n && active && nbits > 0) begin
            if ($time - t_scl_rise < 2 * Q * TC) timing("high time");
            if ($time - t_scl_rise > (2 * Q + 4) * TC) timing("high time, too long");
        end
        t_scl_fall = $time;
    end
    always @(posedge scl) begin
        if (rst_n && active && stretch == 0 && $time - t_scl_fall != 2 * Q * TC) timing("low time");
        if (rst_n && $time - t_sda < Q * TC) timing("data set-up");
        t_scl_rise = $time;
    end
    always @(negedge clk) if (done === 1'b1) dones++;

    // ------------------------------ tests ---------------------------------
    int passes = 0, fails = 0, bad = 0;
    int want [$];

    task check(input logic ok, input string what);
        if (ok !== 1'b1) begin
            bad++;
            $display("    wrong: %s at %0t", what, $time);
            if (bad == 40) begin
                $display("FAIL: too much is wrong, giving up");
                $finish;
            end
        end
    endtask

    task conclude(input string name);
        check(bad_timing == 0, "bus timing");
        if (bad == 0) begin passes++; $display("PASS: %s", name); end
        else          begin fails++;  $display("FAIL: %s", name); end
        bad = 0; bad_timing = 0;
    endtask

    // refuse: 0 nothing, 1 address, 2 register, 3 data, 4 second address
    task command(input logic rdn, input logic [6:0] d, input logic [7:0] r, input logic [7:0] w,
                 input int refuse);
        int t, symbols, n0, fail_at;
        logic [7:0] old_rd;
        refuse_at = refuse;
        fail_at = (d != my_addr) ? 1 : refuse;
        if (fail_at == 3 && rdn) fail_at = 0;
        if (fail_at == 4 && !rdn) fail_at = 0;
        want.delete(); log.delete();
        want.push_back(LOG_S);
        want.push_back({d, 1'b0, fail_at != 1});
        if (fail_at != 1) begin
            want.push_back({r, fail_at != 2});
            if (fail_at != 2 && !rdn) want.push_back({w, fail_at != 3});
            if (fail_at != 2 && rdn) begin
                want.push_back(LOG_S);
                want.push_back({d, 1'b1, fail_at != 4});
                if (fail_at != 4) want.push_back({regs[r], 1'b0});
            end
        end
        want.push_back(LOG_P);
        symbols = 0;
        foreach (want[i]) symbols += (want[i] >= 1000) ? 1 : 9;

        check(cmd_ready === 1'b1, "ready before a command");
        old_rd = rd_data;
        n0 = dones;
        cmd_valid = 1; cmd_read = rdn; dev_addr = d; reg_addr = r; wr_data = w;
        @(negedge clk);
        cmd_read = $random; dev_addr = $random; reg_addr = $random; wr_data = $random;
        check(cmd_ready === 1'b0 && nack === 1'b0 && nack_code === 2'd0, "state after acceptance");
        t = 1;
        while (done !== 1'b1 && t < 4000) begin
            if (cmd_ready !== 1'b0) check(0, "ready in a command");
            cmd_valid = (t > 10 && t % 16 == 0);    // offers that nobody may take
            @(negedge clk);
            t++;
        end
        cmd_valid = 0;
        check(cmd_ready === 1'b1, "ready with done");
        check(nack === (fail_at != 0), "nack");
        check(nack_code === ((fail_at == 4) ? 2'd1 : fail_at[1:0]), "nack_code");
        if (rdn && fail_at == 0) check(rd_data === regs[r], "byte read");
        else                     check(rd_data === old_rd, "rd_data kept");
        if (!rdn && fail_at == 0) check(regs[r] === w, "byte written");
        check(log.size() == want.size(), "length of the log");
        if (log.size() == want.size())
            foreach (want[i]) check(log[i] == want[i], "log of the bus");
        if (stretch == 0)
            check(t >= symbols * 4 * Q && t <= symbols * (4 * Q + 4) + 4, "duration");
        repeat (3) @(negedge clk);
        check(dones == n0 + 1, "done is one clock");
        check(scl === 1'b1 && sda === 1'b1, "idle bus");
    endtask

    initial begin
        refuse_at = 0; stretch = 0; addr_count = 0; pointer = 0; nbits = 0;
        for (int i = 0; i < 256; i++) regs[i] = $random;
        #3 rst_n = 0;
        #30;
        check({cmd_ready, done, nack, nack_code, scl_low, sda_low, rd_data} === {1'b1, 14'd0},
              "values in reset");
        @(negedge clk) rst_n = 1;
        repeat (4 * Q) @(negedge clk);
        check(scl === 1'b1 && sda === 1'b1 && cmd_ready === 1'b1, "quiet bus");
        conclude("reset");

        command(0, 7'h2C, 8'h10, 8'hA5, 0);
        command(0, 7'h2C, 8'hFF, 8'h00, 0);
        command(0, 7'h2C, 8'h00, 8'hFF, 0);
        conclude("writes");
        command(1, 7'h2C, 8'h10, 8'h00, 0);
        command(1, 7'h2C, 8'h81, 8'h00, 0);
        command(1, 7'h2C, 8'hFF, 8'h00, 0);
        conclude("reads");
        command(0, 7'h2D, 8'h33, 8'h44, 0);
        command(1, 7'h6C, 8'h33, 8'h44, 0);
        conclude("nobody there");
        command(0, 7'h2C, 8'h33, 8'h44, 1);
        command(0, 7'h2C, 8'h33, 8'h44, 2);
        command(0, 7'h2C, 8'h33, 8'h44, 3);
        command(1, 7'h2C, 8'h33, 8'h44, 2);
        command(1, 7'h2C, 8'h33, 8'h44, 4);
        command(1, 7'h2C, 8'h33, 8'h44, 0);
        conclude("refusals");

        stretch = 4 * Q;
        command(0, 7'h2C, 8'h5A, 8'h96, 0);
        command(1, 7'h2C, 8'h5A, 8'h00, 0);
        command(1, 7'h2C, 8'h5B, 8'h00, 4);
        stretch = 2 * Q + 1;
        command(1, 7'h2C, 8'h5C, 8'h00, 0);
        stretch = 0;
        conclude("clock stretching");

        for (int i = 0; i < 40; i++) begin
            my_addr = $random;
            command($random, ($urandom % 6 == 0) ? ~my_addr : my_addr, $random, $random,
                    ($urandom % 3 == 0) ? $urandom % 5 : 0);
            repeat ($urandom % 30) @(negedge clk);
        end
        conclude("random commands");

        // Reset in the middle of a byte.
        cmd_valid = 1; cmd_read = 0; dev_addr = 7'h15; reg_addr = 0; wr_data = 0;
        @(negedge clk);
        cmd_valid = 0;
        repeat (4 * Q * 3 + 2) @(negedge clk);
        check(sda_low === 1'b1, "transfer under way");
        #2 rst_n = 0;
        active = 0;
        #1 check({cmd_ready, done, nack, nack_code, scl_low, sda_low, rd_data} === {1'b1, 14'd0},
                 "asynchronous reset");
        @(negedge clk) rst_n = 1;
        dones = 0;
        repeat (10 * Q) @(negedge clk);
        check(scl === 1'b1 && sda === 1'b1 && dones == 0, "quiet after reset");
        command(0, my_addr, 8'h07, 8'h70, 0);
        command(1, my_addr, 8'h07, 8'h00, 0);
        conclude("reset in a transfer");

        $display("%0d tests passed, %0d failed", passes, fails);
        $finish;
    end

    initial begin
        #2500000;
        $display("FAIL: time limit");
        $finish;
    end
endmodule
