`timescale 1ns / 1ns
module testbench;

    localparam WIDTH = 12;

    reg              clk = 0;
    reg              rst = 1;
    reg              start = 0;
    reg  [1:0]       mode = 0;
    reg              lsb_first = 0;
    reg  [1:0]       target = 0;
    reg  [7:0]       clk_div = 0;
    reg  [WIDTH-1:0] tx_data = 0;
    reg              miso = 0;
    wire             busy, done, sclk, mosi;
    wire [WIDTH-1:0] rx_data;
    wire [3:0]       cs_n;

    integer passes = 0, fails = 0;

    spi_controller #(.WIDTH(WIDTH)) uut (
        .clk(clk), .rst(rst), .start(start), .mode(mode), .lsb_first(lsb_first),
        .target(target), .clk_div(clk_div), .tx_data(tx_data), .busy(busy), .done(done),
        .rx_data(rx_data), .sclk(sclk), .mosi(mosi), .miso(miso), .cs_n(cs_n)
    );

    always #5 clk = ~clk;

    task verdict(input [8*40-1:0] name, input ok);
        begin
            if (ok === 1'b1) begin
                passes = passes + 1;
                $display("PASS %0s", name);
            end else begin
                fails = fails + 1;
                $display("FAIL %0s  (t=%0t mode=%0d div=%0d lsb=%0d)", name, $time, mode, clk_div,
                         lsb_first);
            end
        end
    endtask

    // ------------------------------------------------ a device on the bus
    // Works from the edges of sclk alone. It holds the word it will send as a
    // queue of bits in the order of sending, and keeps what it hears likewise.
    reg  [WIDTH-1:0] dev_word, dev_heard;
    reg              dev_cpol, dev_cpha, dev_lsb;
    integer          dev_out, dev_in, sclk_edges;
    wire             selected = (cs_n != 4'b1111);

    function bit_of(input [WIDTH-1:0] w, input integer n, input lsb);
        bit_of = (n >= WIDTH) ? 1'b0 : lsb ? w[n] : w[WIDTH-1-n];
    endfunction

    always @(posedge selected) begin
        dev_out = 0; dev_in = 0; sclk_edges = 0; dev_heard = 'x;
        if (!dev_cpha) begin
            miso <= bit_of(dev_word, 0, dev_lsb);
            dev_out = 1;
        end
    end

    always @(sclk) if (selected) begin
        sclk_edges = sclk_edges + 1;
        if ((sclk ^ dev_cpol) ^ dev_cpha) begin      // the device samples
            // mosi must not move at this edge
            if (dev_in < WIDTH)
                dev_heard[dev_lsb ? dev_in : WIDTH-1-dev_in] = mosi;
            dev_in = dev_in + 1;
        end else begin                               // the device puts out its next bit
            miso <= #1 bit_of(dev_word, dev_out, dev_lsb);
            dev_out = dev_out + 1;
        end
    end

    // ------------------------------------------------ one transfer, clock by clock
    reg wave_ok, done_ok, cs_ok, mosi_ok, busy_ok;

    task transfer(input [1:0] m, input lsb, input [1:0] tgt, input [7:0] div,
                  input [WIDTH-1:0] out_word, input [WIDTH-1:0] in_word, input nag);
        integer h, n, k;
        reg [3:0] want_cs;
        reg want_mosi;
        reg [WIDTH-1:0] old_rx;
        begin
            h = div + 1;
            want_cs = 4'b1111 & ~(4'b0001 << tgt);
            dev_cpol = m[1]; dev_cpha = m[0]; dev_lsb = lsb; dev_word = in_word;
            mode = m; lsb_first = lsb; target = tgt; clk_div = div; tx_data = out_word;
            start = 1; old_rx = rx_data;
            wave_ok = 1; done_ok = 1; cs_ok = 1; mosi_ok = 1; busy_ok = 1;
            for (n = 0; n <= (2*WIDTH + 1)*h; n = n + 1) begin
                @(posedge clk);
                #3;                                  // right after clk edge number n
                if (n == 0) begin                    // spoil the inputs, nothing may change
                    start = nag;
                    mode = ~m; lsb_first = ~lsb; target = tgt + 1; clk_div = div + 3;
                    tx_data = ~out_word;
                end
                if (n == (2*WIDTH + 1)*h - 2) begin  // the polarity must be back for idle
                    mode = m;
                end
                k = n / h;                           // edges of sclk so far
                if (n < (2*WIDTH + 1)*h) begin
                    if (sclk !== (m[1] ^ k[0])) wave_ok = 0;
                    if (busy !== 1'b1) busy_ok = 0;
                    if (done !== 1'b0) done_ok = 0;
                    if (cs_n !== want_cs) cs_ok = 0;
                    if (m[0]) want_mosi = (k == 0) ? 1'b0 : bit_of(out_word, (k - 1)/2, lsb);
                    else want_mosi = bit_of(out_word, (k >= 2*WIDTH) ? WIDTH - 1 : k/2, lsb);
                    if (mosi !== want_mosi) mosi_ok = 0;
                    if (rx_data !== old_rx) done_ok = 0;
                end else begin
                    start = 0;
                    if (sclk !== m[1]) wave_ok = 0;
                    if (busy !== 1'b0) busy_ok = 0;
                    if (done !== 1'b1) done_ok = 0;
                    if (cs_n !== 4'b1111) cs_ok = 0;
                    if (mosi !== 1'b0) mosi_ok = 0;
                end
                if (n == 0 && nag) start = 1;
                if (n == (2*WIDTH + 1)*h - 1) start = 0;
            end
            verdict("sclk waveform", wave_ok && sclk_edges == 2*WIDTH);
            verdict("busy", busy_ok);
            verdict("done and rx stable", done_ok);
            verdict("chip select", cs_ok);
            verdict("mosi waveform", mosi_ok);
            verdict("word heard by the device", dev_heard === out_word && dev_in == WIDTH);
            verdict("rx_data", rx_data === in_word);
        end
    endtask

    integer i, j;

    initial begin
        repeat (3) @(posedge clk);
        #3;
        verdict("reset values", busy === 0 && done === 0 && cs_n === 4'b1111 && sclk === 0
                && mosi === 0 && rx_data === 0);
        mode = 2; start = 1;                          // reset wins over start
        @(posedge clk) #3;
        verdict("start in reset", busy === 0 && cs_n === 4'b1111 && sclk === 0);
        start = 0; rst = 0;
        @(posedge clk) #3;
        verdict("idle level follows CPOL", sclk === 1 && busy === 0);
        mode = 1;
        @(posedge clk) #3;
        verdict("idle level follows CPOL down", sclk === 0 && busy === 0);

        for (i = 0; i < 4; i = i + 1)                 // every mode, order, target, with nagging
            for (j = 0; j < 2; j = j + 1) begin
                mode = i; repeat (2) @(posedge clk);
                #3 transfer(i, j, i + j, i, 12'hA53 + 37*i, 12'h3C9 ^ (i << 4), 1'b1);
                @(posedge clk) #3;
                verdict("done is one cycle", done === 0 && busy === 0);
            end

        for (i = 0; i < 24; i = i + 1) begin          // random ones
            mode = $random; repeat (2) @(posedge clk);
            #3 transfer(mode, $random, $random, $random & 7, $random, $random, $random);
            repeat (i & 3) @(posedge clk);
            #1;
        end

        mode = 3; repeat (2) @(posedge clk);          // back to back, cs_n high one cycle
        #3 transfer(2'd3, 1'b0, 2'd2, 8'd0, 12'h801, 12'h7FE, 1'b0);
        transfer(2'd3, 1'b1, 2'd0, 8'd1, 12'h123, 12'hFED, 1'b0);
        mode = 0; repeat (2) @(posedge clk);
        #3 transfer(2'd0, 1'b0, 2'd1, 8'd200, 12'hC35, 12'h5A6, 1'b1);   // slow

        // reset in the middle
        @(posedge clk) #3;
        dev_cpol = 0; dev_cpha = 0; dev_lsb = 0; dev_word = 12'hFFF;
        mode = 0; clk_div = 2; tx_data = 12'hFFF; target = 3; start = 1;
        @(posedge clk) #3 start = 0;
        repeat (10) @(posedge clk);
        #3;
        verdict("busy before reset", busy === 1 && cs_n === 4'b0111 && mosi === 1);
        rst = 1;
        @(posedge clk) #3;
        verdict("reset drops the transfer", busy === 0 && cs_n === 4'b1111 && mosi === 0
                && done === 0 && rx_data === 0 && sclk === 0);
        rst = 0;
        repeat (200) begin
            @(posedge clk) #3;
            if (done !== 0 || busy !== 0) fails = fails + 1;
        end
        transfer(2'd0, 1'b0, 2'd3, 8'd2, 12'h0F1, 12'hE0D, 1'b0);

        $display("---------------------------------------");
        $display("SUMMARY: %0d passed, %0d failed", passes, fails);
        $finish;
    end

    initial begin
        #2000000 $display("FAIL timeout");
        $finish;
    end

endmodule
