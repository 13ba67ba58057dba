`timescale 1ns/1ps

module cache_tb;
    localparam AW = 8;              // 256 words of memory
    localparam NL = 4;              // lines
    localparam NW = 4;              // words in a line
    localparam TW = 4;              // tag bits

    logic          clk = 1, rst = 1;
    logic          cpu_valid = 0, cpu_write = 0;
    logic [AW-1:0] cpu_addr = 0;
    logic [15:0]   cpu_wdata = 0;
    logic [1:0]    cpu_be = 0;
    logic          cpu_ready, resp_valid, resp_hit;
    logic [15:0]   resp_rdata;
    logic          mem_req, mem_we;
    logic [AW-1:0] mem_addr;
    logic [15:0]   mem_wdata;
    logic          mem_ack = 0;
    logic [15:0]   mem_rdata = 0;
    logic          flush = 0, flush_done;
    logic [15:0]   hit_count, miss_count;

    direct_mapped_cache #(AW, 16, NW, NL) dmc (
        .clk, .rst, .cpu_valid, .cpu_write, .cpu_addr, .cpu_wdata, .cpu_be, .cpu_ready,
        .resp_valid, .resp_rdata, .resp_hit, .mem_req, .mem_we, .mem_addr, .mem_wdata, .mem_ack,
        .mem_rdata, .flush, .flush_done, .hit_count, .miss_count);

    always #5 clk = ~clk;

    // What the processor must see, what memory holds, which lines are where.
    logic [15:0] view [0:255];
    logic [15:0] memory [0:255];
    logic        l_valid [0:NL-1];
    logic        l_dirty [0:NL-1];
    logic [TW-1:0] l_tag [0:NL-1];
    logic [AW:0] plan [$];          // transfers to come: {write, address}
    logic [AW:0] step;
    int          hits, misses, transfers, slow, idle_clocks;
    logic        ack_next;

    // ---- memory --------------------------------------------------------------------
    // Chooses before each edge whether to acknowledge; keeps an eye on stability.
    logic          was_waiting = 0;
    logic [AW+16:0] waiting_for;

    always @(negedge clk) begin
        if (was_waiting && {mem_we, mem_addr, mem_wdata} !== waiting_for && !rst)
            $error("request changed while it waits");
        if (mem_req === 1'b0 && mem_we !== 1'b0) $error("mem_we without mem_req");
        ack_next    = (slow == 0) || ($urandom_range(slow) == 0);
        mem_ack     = ack_next;
        mem_rdata   = (mem_req && !mem_we && ack_next) ? memory[mem_addr] : $urandom;
        was_waiting = mem_req && !ack_next;
        waiting_for = {mem_we, mem_addr, mem_wdata};
    end

    always @(posedge clk) if (!rst && mem_req && mem_ack) begin
        transfers++;
        if (plan.size() == 0)
            $error("transfer without need: we %b address %h", mem_we, mem_addr);
        else begin
            step = plan.pop_front();
            if ({mem_we, mem_addr} !== step)
                $error("transfer %b %h instead of %b %h", mem_we, mem_addr, step[AW], step[AW-1:0]);
            if (mem_we) begin
                if (mem_wdata !== view[mem_addr])
                    $error("wrote %h to %h instead of %h", mem_wdata, mem_addr, view[mem_addr]);
                memory[mem_addr] = mem_wdata;
            end
        end
    end

    task automatic plan_line(input logic we, input logic [TW-1:0] tag, input int line);
        for (int w = 0; w < NW; w++)
            plan.push_back({we, tag, line[1:0], w[1:0]});
    endtask

    // ---- one access ------------------------------------------------------------------
    task automatic access(input logic wr, input logic [AW-1:0] addr, input logic [15:0] data,
                          input logic [1:0] be);
        int line, clocks, t0, need;
        logic hit;
        logic [TW-1:0] tag;
        logic [15:0] old;
        line = addr[3:2];
        tag  = addr[7:4];
        hit  = l_valid[line] && l_tag[line] == tag;
        need = 0;
        if (!hit) begin
            if (l_valid[line] && l_dirty[line]) begin
                plan_line(1, l_tag[line], line);
                need = NW;
            end
            plan_line(0, tag, line);
            need += NW;
        end
        if (cpu_ready !== 1'b1) $error("not ready for an access");
        cpu_valid = 1; cpu_write = wr; cpu_addr = addr; cpu_wdata = data; cpu_be = be;
        @(negedge clk);
        cpu_valid = $urandom;               // must not be taken before the answer
        cpu_write = $urandom; cpu_addr = $urandom; cpu_wdata = $urandom;
        cpu_be = $urandom;
        if (resp_valid !== 1'b0) $error("answer one clock early");
        if (cpu_ready !== 1'b0) $error("ready during an access");
        clocks = 0;
        t0 = transfers;
        do begin
            @(negedge clk);
            clocks++;
            if (clocks == 1 && mem_req !== !hit) $error("mem_req after the look-up is %b", mem_req);
        end while (resp_valid !== 1'b1 && clocks < 400);
        cpu_valid = 0;
        if (clocks == 400) $fatal(1, "no answer");
        if (hit && clocks != 1) $error("hit took %0d clocks", clocks);
        if (!hit && slow == 0 && clocks != need + 2) $error("miss took %0d clocks", clocks);
        if (transfers - t0 != need) $error("%0d transfers, not %0d", transfers - t0, need);
        if (resp_hit !== hit) $error("resp_hit is %b at %h", resp_hit, addr);
        if (wr) begin
            old = view[addr];
            if (be[0]) old[7:0]  = data[7:0];
            if (be[1]) old[15:8] = data[15:8];
            view[addr] = old;
            if (resp_rdata !== 16'd0) $error("data %h in the answer to a write", resp_rdata);
        end else if (resp_rdata !== view[addr])
            $error("read %h from %h instead of %h", resp_rdata, addr, view[addr]);
        if (hit) hits++; else misses++;
        if (hit_count !== hits[15:0] || miss_count !== misses[15:0])
            $error("counts %0d %0d, not %0d %0d", hit_count, miss_count, hits, misses);
        l_dirty[line] = wr || (hit && l_dirty[line]);
        l_valid[line] = 1;
        l_tag[line]   = tag;
        repeat (idle_clocks) begin
            @(negedge clk);
            if (resp_valid !== 0 || mem_req !== 0 || cpu_ready !== 1) $error("not at rest");
        end
    endtask

    task automatic do_flush(input logic with_access);
        int need, clocks, i;
        need = 0;
        for (i = 0; i < NL; i++) begin
            if (l_valid[i] && l_dirty[i]) begin
                plan_line(1, l_tag[i], i);
                need += NW;
            end
            l_valid[i] = 0;
            l_dirty[i] = 0;
        end
        flush = 1;
        cpu_valid = with_access; cpu_write = 1;
        #1 if (cpu_ready !== 1'b0) $error("ready in spite of flush");
        clocks = 0;
        do begin
            @(negedge clk);
            flush = 0; cpu_valid = 0;
            if (flush_done !== 1'b1 && cpu_ready !== 1'b0) $error("ready during a flush");
            clocks++;
        end while (flush_done !== 1'b1 && clocks < 600);
        if (clocks == 600) $fatal(1, "flush without end");
        if (slow == 0 && clocks != 1 + NL + need) $error("flush took %0d clocks", clocks);
        if (plan.size() != 0) $error("%0d transfers missing", plan.size());
        if (resp_valid !== 0 || mem_req !== 0 || cpu_ready !== 1) $error("state after flush");
        @(negedge clk);
        if (flush_done !== 1'b0) $error("flush_done is too long");
        for (i = 0; i < 256; i++)
            if (memory[i] !== view[i]) $error("memory differs at %h", i);
    endtask

    task automatic do_reset;
        rst = 1; cpu_valid = 1; flush = 1;
        repeat (2) @(negedge clk);
        rst = 0; cpu_valid = 0; flush = 0;
        hits = 0; misses = 0;
        plan.delete();
        for (int i = 0; i < NL; i++) begin l_valid[i] = 0; l_dirty[i] = 0; l_tag[i] = 0; end
        for (int i = 0; i < 256; i++) view[i] = memory[i];
        #1 if (cpu_ready !== 1 || resp_valid !== 0 || mem_req !== 0 || flush_done !== 0 ||
               hit_count !== 0 || miss_count !== 0) $error("state after reset");
    endtask

    int i;
    initial begin
        hits = 0; misses = 0; transfers = 0; slow = 0; idle_clocks = 0;
        for (i = 0; i < 256; i++) memory[i] = $urandom;
        @(negedge clk);
        do_reset();
        do_flush(0);
        access(0, 8'h00, 0, 0);
        access(0, 8'h03, 0, 0);
        access(1, 8'h02, 16'hABCD, 2'b01);
        access(1, 8'h02, 16'h1234, 2'b10);
        access(0, 8'h02, 0, 3);
        access(0, 8'hF2, 0, 0);             // evicts a dirty line
        access(0, 8'h02, 0, 0);             // clean replacement, data comes back
        access(1, 8'h17, 16'hFFFF, 2'b11);  // write miss
        access(1, 8'h18, 16'h0000, 2'b00);  // marks dirty without a change
        do_flush(1);
        access(0, 8'h17, 0, 0);
        access(0, 8'h18, 0, 0);
        for (i = 0; i < NL; i++) access(1, 8'h50 + 4 * i + i, i * 1111, 3);
        do_flush(0);
        for (i = 0; i < 8; i++) begin       // all tags of one line
            access(1, {i[3:0], 4'hC}, i + 7, 3);
            access(0, {~i[3:0], 4'hD}, 0, 3);
        end
        for (i = 0; i < 1500; i++) begin
            if (i % 300 == 0) slow = (i / 300) % 4;
            idle_clocks = ($urandom_range(7) == 0) ? $urandom_range(3) : 0;
            access($urandom, $urandom & (i % 2 ? 8'h3F : 8'hFF) & (i % 5 ? 8'hDF : 8'hFF),
                   $urandom, $urandom);
            if (i % 250 == 249) do_flush($urandom);
        end
        idle_clocks = 0;

        // Reset forgets dirty lines, also in the middle of a transfer.
        slow = 0;
        access(1, 8'h99, 16'h5A5A, 3);
        do_reset();
        access(0, 8'h99, 0, 0);
        slow = 6;
        plan_line(0, 4'h3, 1);
        cpu_valid = 1; cpu_write = 0; cpu_addr = 8'h36;
        @(negedge clk);
        cpu_valid = 0;
        repeat (5) @(negedge clk);
        was_waiting = 0;
        do_reset();
        slow = 1;
        repeat (10) @(negedge clk);
        if (resp_valid !== 0 || mem_req !== 0) $error("not idle after reset");
        for (i = 0; i < 60; i++) access(i % 3 == 0, $urandom & 8'h7F, $urandom, 3);
        do_flush(0);

        $display("cache_tb: end of test, %0d transfers", transfers);
        $finish;
    end

    initial begin
        #2000000 $fatal(1, "time is up");
    end
endmodule
