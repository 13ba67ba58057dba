`timescale 1ns / 1ps
module parser_tb;

    parameter int MAXL = 20, GAP = 11, QUIET = 5;

    logic       clk = 0, rst_n = 1, rx_valid = 0, clear_stats = 0;
    logic [7:0] rx_byte = 0;
    logic       hdr_valid, pl_valid, pl_last, pkt_good, pkt_bad, in_packet;
    logic [3:0] pkt_kind;
    logic [7:0] pkt_len, pl_byte, pl_index, good_count, bad_count, junk_count;
    logic [2:0] err_code;

    packet_parser #(
        .VERSION(4'h6), .MAX_LEN(MAXL), .GAP_LIMIT(GAP), .QUIET_LIMIT(QUIET)
    ) i_parser (.*);

    always #5 clk = ~clk;

    int total = 0, failed = 0, comparisons = 0;
    string first_fault;

    // What has to stand at the outputs. The strobes are set by the sender, which knows the packet.
    bit       x_hdr, x_pl, x_last, x_good, x_bad, x_in;
    int       x_kind, x_len, x_byte, x_index, x_err, x_ngood, x_nbad, x_njunk;

    task automatic want(input string what, input logic [31:0] got, input logic [31:0] x);
        comparisons++;
        if (got !== x && first_fault.len() == 0) begin
            first_fault = $sformatf("%s is %0d, should be %0d, at %0t", what, got, x, $time);
        end
    endtask

    task automatic compare;
        want("hdr_valid", hdr_valid, x_hdr);
        want("pl_valid", pl_valid, x_pl);
        want("pl_last", pl_last, x_last);
        want("pkt_good", pkt_good, x_good);
        want("pkt_bad", pkt_bad, x_bad);
        want("in_packet", in_packet, x_in);
        want("pkt_kind", pkt_kind, x_kind);
        want("pkt_len", pkt_len, x_len);
        want("pl_byte", pl_byte, x_byte);
        want("pl_index", pl_index, x_index);
        want("err_code", err_code, x_err);
        want("good_count", good_count, x_ngood);
        want("bad_count", bad_count, x_nbad);
        want("junk_count", junk_count, x_njunk);
    endtask

    function automatic int up(input int n);
        up = clear_stats ? 0 : n < 255 ? n + 1 : 255;
    endfunction

    // One clock edge; the strobes expected after it are arguments, junk says whether to count one.
    task automatic tick(input bit hdr, input bit pl, input bit last, input bit good, input bit bad,
                        input bit junk);
        x_hdr = hdr; x_pl = pl; x_last = last; x_good = good; x_bad = bad;
        x_ngood = good ? up(x_ngood) : clear_stats ? 0 : x_ngood;
        x_nbad  = bad ? up(x_nbad) : clear_stats ? 0 : x_nbad;
        x_njunk = junk ? up(x_njunk) : clear_stats ? 0 : x_njunk;
        @(posedge clk);
        #1 compare();
        rx_valid = 0;
        rx_byte = $urandom;
    endtask

    task automatic pause(input int n);
        repeat (n) begin
            rx_byte = ($urandom % 3 == 0) ? 8'hA5 : $urandom;
            tick(0, 0, 0, 0, 0, 0);
        end
    endtask

    task automatic junk(input logic [7:0] b);
        rx_valid = 1; rx_byte = b;
        tick(0, 0, 0, 0, 0, 1);
    endtask

    task automatic give(input logic [7:0] b);
        rx_valid = 1; rx_byte = b;
    endtask

    task automatic fail_now(input int code);
        x_in = 0; x_err = code;
        tick(0, 0, 0, 0, 1, 0);
    endtask

    int slack;                            // largest pause between the bytes of a packet

    task automatic dawdle;
        if (slack > 0) pause($urandom % (slack + 1));
    endtask

    // --------------------------------------------------------------- a packet
    logic [7:0] body [0:255];             // header, length, payload, check A, check B

    // Build the packet in body; the check sums directly from their closed form:
    // A = 1 + sum of bytes, B = n + sum of (n - i) * byte[i].
    task automatic build(input int kind, input int len);
        int n, a, b;
        body[0] = 8'h60 + kind;
        body[1] = len;
        for (int i = 0; i < len; i++)
            body[2+i] = ($urandom % 5 == 0) ? 8'hA5 : $urandom;
        n = len + 2;
        a = 1;
        b = n;
        for (int i = 0; i < n; i++) begin
            a += body[i];
            b += (n - i) * body[i];
        end
        body[n] = a;
        body[n+1] = b;
    endtask

    // Send what is in body, as a packet of that kind and length. upto: number of body bytes
    // after which the sender stops in the middle (timeout must follow); -1: all of it.
    task automatic send(input int kind, input int len, input bit sums_right, input int upto);
        int n;
        n = len + 4;
        give(8'hA5);
        x_in = 1;
        tick(0, 0, 0, 0, 0, 0);
        for (int i = 0; i < n; i++) begin
            if (i == upto) begin
                pause(GAP - 1);
                fail_now(4);
            end
            if (upto < 0 || i < upto) begin
                dawdle();
                give(body[i]);
                if (i == 1) begin
                    x_kind = kind; x_len = len;
                    tick(1, 0, 0, 0, 0, 0);
                end else if (i >= 2 && i < len + 2) begin
                    x_byte = body[i]; x_index = i - 2;
                    tick(0, 1, i == len + 1, 0, 0, 0);
                end else if (i == n - 1) begin
                    x_in = 0;
                    if (sums_right) tick(0, 0, 0, 1, 0, 0);
                    else fail_now(3);
                end else
                    tick(0, 0, 0, 0, 0, 0);
            end
        end
    endtask

    task automatic result(input string name);
        total++;
        if (first_fault.len() == 0)
            $display("PASS %0d: %s", total, name);
        else begin
            failed++;
            $display("FAIL %0d: %s (%s)", total, name, first_fault);
        end
        first_fault = "";
    endtask

    task automatic expect_reset_values;
        x_hdr = 0; x_pl = 0; x_last = 0; x_good = 0; x_bad = 0; x_in = 0; x_kind = 0; x_len = 0;
        x_byte = 0; x_index = 0; x_err = 0; x_ngood = 0; x_nbad = 0; x_njunk = 0;
    endtask

    int kind, len, where;

    initial begin
        first_fault = "";
        slack = 0;
        expect_reset_values();
        #2 rst_n = 0;
        #1 compare();
        give(8'hA5);
        @(posedge clk) #1 compare();
        rx_valid = 0; rst_n = 1;
        pause(3);
        result("reset");

        build(3, 4); send(3, 4, 1, -1); pause(1);
        result("one packet");
        build(0, 0); send(0, 0, 1, -1); build(0, 0); send(0, 0, 1, -1);
        result("two packets of kind 0, no pause");
        build(15, 1); send(15, 1, 1, -1);
        result("one byte of payload");
        build(1, MAXL); send(1, MAXL, 1, -1);
        result("longest payload");
        for (int i = 0; i < 256; i++) if (i != 8'hA5) junk(i);
        pause(2);
        result("junk in front");
        clear_stats = 1; tick(0, 0, 0, 0, 0, 0); clear_stats = 0;
        result("clear");

        // every bit of both check bytes
        for (int k = 0; k < 16; k++) begin
            build(5, 6);
            body[k < 8 ? 8 : 9] = body[k < 8 ? 8 : 9] ^ (1 << (k % 8));
            send(5, 6, 0, -1);
            pause(k % 2);
            result($sformatf("check byte %0s, bit %0d wrong", k < 8 ? "A" : "B", k % 8));
        end
        build(2, 5); body[4] = body[4] + 1; send(2, 5, 0, -1);
        result("payload damaged");
        build(2, 5); body[0] = 8'h67; send(7, 5, 0, -1);
        result("kind damaged");

        // wrong versions
        for (int v = 0; v < 16; v++) if (v != 6) begin
            give(8'hA5); x_in = 1; tick(0, 0, 0, 0, 0, 0);
            give({v[3:0], 4'h3}); fail_now(1);
            junk(8'hA5); junk(8'h63);
            pause(QUIET - 1); junk(8'hA5);           // not quiet for long enough
            pause(QUIET);
            build(4, 2); send(4, 2, 1, -1);
            result($sformatf("version %0d", v));
        end

        // lengths at and beyond the limits
        for (int l = 0; l < 256; l++) begin
            if (l == 0 || l > MAXL) begin
                if (l < MAXL + 12 || l % 16 == 0) begin
                    give(8'hA5); x_in = 1; tick(0, 0, 0, 0, 0, 0);
                    dawdle();
                    give(8'h61); tick(0, 0, 0, 0, 0, 0);
                    give(l); fail_now(2);
                    repeat (l % 3) junk(l);
                    pause(QUIET);
                    result($sformatf("length %0d refused", l));
                end
            end else begin
                build(1 + l % 15, l); send(1 + l % 15, l, 1, -1);
                result($sformatf("length %0d", l));
            end
        end
        for (int l = 1; l < 4; l++) begin
            give(8'hA5); x_in = 1; tick(0, 0, 0, 0, 0, 0);
            give(8'h60); tick(0, 0, 0, 0, 0, 0);
            give(l); fail_now(2);
            pause(QUIET + l);
            result("kind 0 with payload");
        end

        // the sender stops after any byte; and is slow, but just not too slow
        for (int s = 0; s < 9; s++) begin
            build(9, 5); send(9, 5, 1, s);
            pause(s % 2);
            result($sformatf("stops after %0d bytes", s));
        end
        slack = GAP - 1;
        for (int s = 0; s < 12; s++) begin
            build(1, s + 1); send(1, s + 1, 1, -1);
            result("slow sender");
        end
        give(8'hA5); x_in = 1; tick(0, 0, 0, 0, 0, 0);
        pause(GAP - 1); give(8'h60); tick(0, 0, 0, 0, 0, 0);
        pause(GAP - 1); give(8'h00); x_kind = 0; x_len = 0; tick(1, 0, 0, 0, 0, 0);
        pause(GAP - 1); give(8'h61); tick(0, 0, 0, 0, 0, 0);     // A = 1 + 60h
        pause(GAP - 1); give(8'hC2); x_in = 0; tick(0, 0, 0, 1, 0, 0);
        result("slowest sender allowed");

        // clearing at the same edge as an event
        slack = 0;
        build(0, 0);
        clear_stats = 1; send(0, 0, 1, -1);
        junk(8'h11);
        build(0, 0); body[2] = 0; send(0, 0, 0, -1);
        clear_stats = 0;
        pause(1);
        result("clear wins over counting");

        // random mixture
        for (int r = 0; r < 120; r++) begin
            slack = r % 4;
            kind = $urandom % 16;
            len  = (kind == 0) ? 0 : 1 + $urandom % MAXL;
            build(kind, len);
            where = $urandom % (len + 4);
            case ($urandom % 6)
                0: begin
                    where = len + 2 + $urandom % 2;
                    body[where] = body[where] ^ (1 << $urandom % 8);
                    send(kind, len, 0, -1);
                end
                1: send(kind, len, 1, where);
                2: begin
                    repeat ($urandom % 5) junk($urandom & 8'h5F);
                    send(kind, len, 1, -1);
                end
                default: send(kind, len, 1, -1);
            endcase
            if (r % 5 == 0) pause($urandom % (2 * GAP));
            result("random packet");
        end

        // reset inside a packet
        give(8'hA5); x_in = 1; tick(0, 0, 0, 0, 0, 0);
        give(8'h62); tick(0, 0, 0, 0, 0, 0);
        give(8'h02); x_kind = 2; x_len = 2; tick(1, 0, 0, 0, 0, 0);
        #2 rst_n = 0;
        expect_reset_values();
        #1 compare();
        @(posedge clk) #1 compare();
        rst_n = 1;
        pause(2 * GAP);
        build(8, 3); send(8, 3, 1, -1);
        result("reset inside a packet");

        // the counters stop at 255
        for (int i = 0; i < 260; i++) begin
            build(0, 0); send(0, 0, 1, -1);
        end
        result("good_count saturates");
        for (int i = 0; i < 260; i++) begin
            build(0, 0); body[3] = ~body[3]; send(0, 0, 0, -1);
        end
        result("bad_count saturates");
        for (int i = 0; i < 260; i++) junk(8'h00);
        result("junk_count saturates");

        $display("==== %0d tests, %0d passed, %0d failed, %0d comparisons ====", total,
                 total - failed, failed, comparisons);
        $finish;
    end

endmodule
