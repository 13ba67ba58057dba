`timescale 1 ns / 1 ns

module test_top;
    reg         clk, rst, enable, flush, instr_valid;
    reg  [15:0] instr;
    wire        instr_ready, retire_valid, retire_we, retire_illegal, busy;
    wire [2:0]  retire_rd;
    wire [15:0] retire_data;
    wire [7:0]  stall_count;

    alu_pipe4 dut (
        .clk(clk), .rst(rst), .enable(enable), .flush(flush), .instr_valid(instr_valid),
        .instr(instr), .instr_ready(instr_ready), .retire_valid(retire_valid),
        .retire_we(retire_we), .retire_rd(retire_rd), .retire_data(retire_data),
        .retire_illegal(retire_illegal), .busy(busy), .stall_count(stall_count));

    // The machine as a programmer sees it. An instruction takes its whole effect here when it
    // leaves EX, because from then on nothing can remove it.
    reg [15:0] mr [0:7];
    reg [15:0] mm [0:15];
    reg [15:0] mc [0:15];
    reg        s_id, s_ex;                  // occupied
    reg [15:0] i_id, i_ex;                  // by this instruction
    reg        r_mem_v, r_mem_we, r_mem_ill, r_wb_v, r_wb_we, r_wb_ill;
    reg [2:0]  r_mem_rd, r_wb_rd;
    reg [15:0] r_mem_x, r_wb_x;
    reg        m_stall;
    integer    m_stalls, wrong, compared, n, i;

    always #5 clk = ~clk;

    task clear_model;
        begin
            s_id = 0; s_ex = 0; r_mem_v = 0; r_wb_v = 0; m_stalls = 0; m_stall = 0;
            r_mem_we = 0; r_mem_ill = 0; r_wb_we = 0; r_wb_ill = 0;
            for (i = 0; i < 8; i = i + 1) mr[i] = 0;
            for (i = 0; i < 16; i = i + 1) mm[i] = 0;
        end
    endtask

    function reads;                         // does instruction w read register r?
        input [15:0] w;
        input [2:0]  r;
        begin
            case (w[15:12])
                4'd1, 4'd2, 4'd3, 4'd4, 4'd5, 4'd6, 4'd7, 4'd13:
                    reads = (w[8:6] == r) || (w[5:3] == r);
                4'd8, 4'd10, 4'd12: reads = (w[8:6] == r);
                4'd11: reads = (w[8:6] == r) || (w[11:9] == r);
                default: reads = 0;
            endcase
        end
    endfunction

    function would_stall;
        input dummy;
        would_stall = s_id && s_ex && (i_ex[15:12] == 10 || i_ex[15:12] == 12) &&
                      i_ex[11:9] != 0 && reads(i_id, i_ex[11:9]);
    endfunction

    task execute;                           // i_ex, result to r_mem_*
        integer a, b, sa, sb, addr, im6, im9, x;
        reg     w;
        begin
            a = mr[i_ex[8:6]];
            b = mr[i_ex[5:3]];
            sa = (a >= 32768) ? a - 65536 : a;
            sb = (b >= 32768) ? b - 65536 : b;
            im6 = (i_ex[5:0] >= 32) ? i_ex[5:0] - 64 : i_ex[5:0];
            im9 = (i_ex[8:0] >= 256) ? i_ex[8:0] - 512 : i_ex[8:0];
            addr = (a + im6) & 15;
            w = 1;
            x = 0;
            case (i_ex[15:12])
                4'd1:  x = a + b;
                4'd2:  x = a - b;
                4'd3:  x = a & b;
                4'd4:  x = a | b;
                4'd5:  x = a ^ b;
                4'd6:  x = (sa < sb) ? 1 : 0;
                4'd7:  x = a * (1 << (b % 16));
                4'd8:  x = a + im6;
                4'd9:  x = im9;
                4'd10: x = mm[addr];
                4'd12: x = mc[addr];
                4'd13: begin
                    x = sa;
                    for (i = 0; i < b % 16; i = i + 1) x = (x - (x & 1)) / 2;
                end
                default: w = 0;
            endcase
            if (i_ex[15:12] == 11) mm[addr] = mr[i_ex[11:9]];
            r_mem_v   = 1;
            r_mem_we  = w && (i_ex[11:9] != 0);
            r_mem_ill = (i_ex[15:12] > 13);
            r_mem_rd  = i_ex[11:9];
            r_mem_x   = x;
            if (r_mem_we) mr[i_ex[11:9]] = x;
        end
    endtask

    task clock_model;
        begin
            if (enable) begin
                m_stall = would_stall(0);
                r_wb_v = r_mem_v; r_wb_we = r_mem_we; r_wb_ill = r_mem_ill;
                r_wb_rd = r_mem_rd; r_wb_x = r_mem_x;
                r_mem_v = 0; r_mem_we = 0; r_mem_ill = 0;
                if (flush) begin
                    s_id = 0;
                    s_ex = 0;
                end else begin
                    if (s_ex) execute;
                    if (m_stall) begin
                        s_ex = 0;
                        m_stalls = m_stalls + 1;
                    end else begin
                        s_ex = s_id; i_ex = i_id;
                        s_id = instr_valid; i_id = instr;
                    end
                end
            end
        end
    endtask

    task compare;
        reg ok;
        begin
            ok = (retire_valid === r_wb_v) && (retire_we === r_wb_we) &&
                 (retire_illegal === r_wb_ill) &&
                 (busy === (s_id || s_ex || r_mem_v || r_wb_v)) &&
                 (stall_count === m_stalls[7:0]) &&
                 (instr_ready === (!would_stall(0) && !flush));
            if (r_wb_we && (retire_rd !== r_wb_rd || retire_data !== r_wb_x)) ok = 0;
            compared = compared + 1;
            if (!ok) wrong = wrong + 1;
        end
    endtask

    // One clock with the inputs as they are.
    task one;
        begin
            #1 compare;                     // instr_ready follows flush at once
            @(posedge clk);
            clock_model;
            #1 compare;
            @(negedge clk);
        end
    endtask

    // Hand over one instruction for certain.
    task put;
        input [15:0] w;
        reg taken;
        integer tries;
        begin
            enable = 1; flush = 0; instr_valid = 1; instr = w;
            tries = 0;
            taken = 0;
            while (!taken && tries < 5) begin
                taken = !would_stall(0);
                tries = tries + 1;
                one;
            end
            instr_valid = 0;
        end
    endtask

    task idle;
        input integer clocks;
        begin
            enable = 1; flush = 0; instr_valid = 0;
            repeat (clocks) begin
                instr = $random;
                one;
            end
        end
    endtask

    function [15:0] any_instr;
        input integer kind;
        reg [15:0] w;
        begin
            w = $random;
            if (kind % 3 != 0) begin            // few registers, near addresses: many hazards
                w[11:9] = w[11:9] & 3;
                w[8:6]  = w[8:6] & 3;
                w[5:3]  = w[5:3] & 3;
            end
            if (kind % 3 == 2 && w[15]) w[15:12] = 4'hA + (w[14:13] % 3);
            any_instr = w;
        end
    endfunction

    initial begin
        $readmemh("init.mem", mc);
        wrong = 0; compared = 0;
        clk = 0; rst = 1; enable = 1; flush = 0; instr_valid = 1; instr = 16'h9201;
        clear_model;
        repeat (2) @(negedge clk);
        rst = 0; instr_valid = 0;
        idle(3);

        // Each operation once with spaced and once with adjacent dependencies.
        for (n = 0; n < 2; n = n + 1) begin
            put(16'h9305);                      // LDI r1, -251 (bit 8 set)
            if (n == 0) idle(4);
            put(16'h9403);                      // LDI r2, 3
            if (n == 0) idle(4);
            put(16'h1650); if (n == 0) idle(4); // ADD r3, r1, r2
            put(16'h2898); if (n == 0) idle(4); // SUB r4, r2, r3
            put(16'h3AD8); if (n == 0) idle(4); // AND r5, r3, r3
            put(16'h4CE8); if (n == 0) idle(4); // OR  r6, r3, r5
            put(16'h5F88); if (n == 0) idle(4); // XOR r7, r6, r1
            put(16'h6E50); if (n == 0) idle(4); // SLT r7, r1, r2
            put(16'h6E88); if (n == 0) idle(4); // SLT r7, r2, r1
            put(16'h7E50); if (n == 0) idle(4); // SLL r7, r1, r2
            put(16'hDE50); if (n == 0) idle(4); // SRA r7, r1, r2
            put(16'h8E7F); if (n == 0) idle(4); // ADDI r7, r1, -1
            put(16'hBE85); if (n == 0) idle(4); // ST r7, r2, 5
            put(16'hA085); if (n == 0) idle(4); // LD r0: written to nowhere
            put(16'hA285); if (n == 0) idle(4); // LD r1, r2, 5
            put(16'h1448); if (n == 0) idle(4); // ADD r2, r1, r1: stalls if adjacent
            put(16'hC606); if (n == 0) idle(4); // LDC r3, r0, 6
            put(16'hB603); if (n == 0) idle(4); // ST r3, r0, 3: stalls by rd
            put(16'hA803);                      // LD r4, r0, 3
            put(16'h0920);                      // NOP with r4 in its fields: no stall
            put(16'h9900);                      // LDI likewise
            put(16'hA803);
            put(16'hE924);                      // illegal, no stall
            put(16'hF6DB);
            put(16'h9013);                      // LDI r0
            put(16'h1200);                      // r1 = 0
            idle(6);
        end

        // All constants, all memory words.
        for (n = 0; n < 16; n = n + 1) begin
            put({4'hC, 3'd5, 3'd0, 2'b00, n[3:0]});
            put({4'hB, 3'd5, 3'd0, 2'b00, ~n[3:0]});
        end
        for (n = 0; n < 16; n = n + 1) put({4'hA, n[2:0], 3'd0, 2'b11, n[3:0]});
        idle(5);

        // Flush with every stage occupied, by itself and beside a stall.
        for (n = 0; n < 6; n = n + 1) begin
            put(16'h9211 + n);                  // LDI r1
            put(16'hB200 + n);                  // ST r1, r0, n
            put(16'hA600 + n);                  // LD r3, r0, n
            put(16'h88C1);                      // ADDI r4, r3, 1
            if (n % 2) put(16'h9A22);
            flush = 1; instr_valid = 1; instr = 16'h9C33;
            enable = (n != 4);
            one;
            enable = 1;
            if (n == 4) one;
            flush = 0; instr_valid = 0;
            put(16'h1EE0);                      // ADD r7, r3, r4
            idle(5);
        end

        // Long random run.
        for (n = 0; n < 6000; n = n + 1) begin
            enable      = ($random % 8 != 0);
            flush       = ($urandom % 40 == 0);
            instr_valid = ($urandom % 10 != 0);
            instr       = any_instr(n / 500);
            one;
            if (n % 1500 == 1499) begin
                #1 rst = 1;
                clear_model;
                #1 compare;
                rst = 0;
            end
        end
        idle(5);
        for (n = 0; n < 16; n = n + 1) put({4'hA, 3'd1, 3'd0, 2'b00, n[3:0]});
        for (n = 0; n < 8; n = n + 1) put({4'h8, n[2:0], n[2:0], 6'd0});
        idle(5);

        if (wrong == 0 && compared > 10000) $display("Test Passed");
        else $display("Test Failed");
        $finish;
    end
endmodule
