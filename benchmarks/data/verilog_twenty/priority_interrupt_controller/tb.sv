`timescale 1ns / 1ps

// Model: arrays of integers, a list of the levels in service instead of a bit map, and a plain
// search for the winner. Compared with the design after every clock.
module pic_checker #(
    parameter int N  = 8,
    parameter int PB = 3,
    parameter int CYCLES = 1400
) (
    output int  mismatches,
    output int  compared,
    output bit  finished
);

    localparam int IDB = $clog2(N);
    localparam int LV  = 1 << PB;

    logic           clk = 0, rst = 1;
    logic [N-1:0]   irq_in = 0, pending;
    logic           cfg_we = 0, cfg_enable = 0, cfg_edge = 0, thr_we = 0, claim = 0, eoi = 0;
    logic [IDB-1:0] cfg_src = 0, irq_id;
    logic [PB-1:0]  cfg_prio = 0, thr_value = 0, irq_prio;
    logic           irq, spurious;
    logic [LV-1:0]  in_service;

    priority_interrupt_controller #(N, PB) uut (
        .clk(clk), .rst(rst), .irq_in(irq_in), .cfg_we(cfg_we), .cfg_src(cfg_src),
        .cfg_enable(cfg_enable), .cfg_edge(cfg_edge), .cfg_prio(cfg_prio), .thr_we(thr_we),
        .thr_value(thr_value), .irq(irq), .irq_id(irq_id), .irq_prio(irq_prio), .claim(claim),
        .eoi(eoi), .spurious(spurious), .pending(pending), .in_service(in_service)
    );

    always #5 clk = ~clk;

    // ------------------------------------------------------------------- model
    int  m_prio [0:N-1];
    bit  m_en [0:N-1], m_edge [0:N-1], m_latch [0:N-1], m_now [0:N-1], m_past [0:N-1];
    int  m_thr, depth;
    int  levels [0:LV];                 // those in service, in the order of their beginning
    bit  m_spur;
    int  win, win_prio;                 // win = -1: no interrupt
    int  claims = 0, nested = 0;

    function automatic bit waiting(input int s);
        waiting = m_edge[s] ? m_latch[s] : m_now[s];
    endfunction

    task automatic choose;
        win = -1;
        win_prio = m_thr;
        if (depth > 0 && levels[depth-1] > m_thr) win_prio = levels[depth-1];
        for (int s = 0; s < N; s++)
            if (m_en[s] && waiting(s) && m_prio[s] > win_prio) begin
                win = s;
                win_prio = m_prio[s];
            end
    endtask

    task automatic model_step;
        bit fresh;                      // win and win_prio are still those of the last clock
        m_spur = claim && win < 0;
        if (rst) begin
            for (int s = 0; s < N; s++) begin
                m_prio[s] = 0; m_en[s] = 0; m_edge[s] = 0;
                m_latch[s] = 0; m_now[s] = 0; m_past[s] = 0;
            end
            m_thr = 0; depth = 0; m_spur = 0;
        end else begin
            if (eoi && depth > 0) depth = depth - 1;
            if (claim && win >= 0) begin
                levels[depth] = win_prio;
                depth = depth + 1;
                m_latch[win] = 0;
                claims++;
                if (depth > 1) nested++;
            end
            for (int s = 0; s < N; s++) begin
                fresh = m_now[s] && !m_past[s];
                if (m_edge[s] && fresh) m_latch[s] = 1;
                m_past[s] = m_now[s];
                m_now[s] = irq_in[s];
                if (cfg_we && cfg_src == s) begin
                    m_en[s] = cfg_enable; m_edge[s] = cfg_edge; m_prio[s] = cfg_prio;
                    m_latch[s] = 0;
                end
            end
            if (thr_we) m_thr = thr_value;
        end
        choose();
    endtask

    task automatic cmp(input string what, input logic [31:0] got, input logic [31:0] want);
        compared++;
        if (got !== want) begin
            mismatches++;
            if (mismatches <= 15)
                $display("MISMATCH at time %0t (N=%0d): %s = %0h, model says %0h", $time, N, what,
                         got, want);
        end
    endtask

    task automatic cycle;
        logic [31:0] p, sv;
        model_step();
        @(posedge clk);
        #1;
        p = 0; sv = 0;
        for (int s = 0; s < N; s++) p[s] = waiting(s);
        for (int d = 0; d < depth; d++) sv[levels[d]] = 1;
        cmp("irq", irq, win >= 0);
        cmp("irq_id", irq_id, win >= 0 ? win : 0);
        cmp("irq_prio", irq_prio, win >= 0 ? win_prio : 0);
        cmp("pending", pending, p);
        cmp("in_service", in_service, sv);
        cmp("spurious", spurious, m_spur);
    endtask

    task automatic calm;
        cfg_we = 0; thr_we = 0; claim = 0; eoi = 0;
    endtask

    task automatic configure(input int s, input bit en, input bit ed, input int pr);
        calm();
        cfg_we = 1; cfg_src = s; cfg_enable = en; cfg_edge = ed; cfg_prio = pr;
        cycle();
        calm();
    endtask

    task automatic idle(input int n);
        calm();
        repeat (n) cycle();
    endtask

    task automatic take;
        calm(); claim = 1; cycle(); calm();
    endtask

    task automatic leave;
        calm(); eoi = 1; cycle(); calm();
    endtask

    int busy_lines;

    initial begin
        mismatches = 0; compared = 0; finished = 0;
        m_thr = 0; depth = 0; win = -1;
        cfg_we = 1; cfg_enable = 1; cfg_prio = 1; thr_we = 1; thr_value = 1; claim = 1;
        irq_in = '1;
        repeat (3) cycle();                      // nothing sticks in reset
        rst = 0; irq_in = 0;
        idle(3);
        take();                                  // nothing there: spurious
        leave();
        idle(1);

        for (int s = 0; s < N; s++) configure(s, 1, 1, 1 + s % (LV - 1));
        for (int s = 0; s < N; s++) begin        // each source alone, as an edge
            irq_in[s] = 1; idle(4);
            take(); idle(2); leave();
            irq_in[s] = 0; idle(2);
        end
        irq_in = '1; idle(3);                    // all at once: in the order of urgency
        for (int s = 0; s < N; s++) begin
            take(); leave();
        end
        idle(2);
        irq_in = 0; idle(2);
        for (int s = 0; s < N; s++) configure(s, 1, 0, LV - 1);
        irq_in = '1; idle(2);                    // all equal: smallest number
        take(); idle(2); leave(); idle(1);
        irq_in = irq_in << 1; idle(2);
        take(); leave();
        for (int t = 0; t < LV; t++) begin       // threshold up to the top
            thr_we = 1; thr_value = t; cycle(); idle(1);
        end
        thr_we = 1; thr_value = 0; cycle();
        irq_in = 0; idle(1);
        for (int s = 0; s < N; s++) configure(s, 1, s % 2, s % LV);
        for (int s = 0; s < N; s++) begin        // one nested in the other
            irq_in[s] = 1; idle(2); take();
        end
        for (int s = 0; s <= N; s++) leave();
        irq_in = 0; idle(2);

        for (int n = 0; n < CYCLES; n++) begin
            calm();
            busy_lines = (n / 300) % 3;
            for (int s = 0; s < N; s++)
                case (busy_lines)
                    0: if ($urandom % 12 == 0) irq_in[s] = ~irq_in[s];
                    1: irq_in[s] = ($urandom % 3 == 0);
                    default: irq_in[s] = ($urandom % 20 == 0);
                endcase
            if ($urandom % 9 == 0) begin
                cfg_we = 1; cfg_src = $urandom; cfg_enable = $urandom % 4 != 0;
                cfg_edge = $urandom; cfg_prio = $urandom;
            end
            if ($urandom % 40 == 0) begin
                thr_we = 1; thr_value = ($urandom % 3 == 0) ? $urandom : 0;
            end
            claim = ($urandom % 2 == 0);
            eoi   = ($urandom % 3 == 0);
            rst   = (n % 700 == 699);
            cycle();
        end
        if (claims < CYCLES / 12 || nested < 1) begin
            mismatches++;
            $display("MISMATCH at time %0t: stimulus too weak, %0d claims", $time, claims);
        end
        finished = 1;
    end

endmodule


module pic_tb;

    int m0, m1, m2, c0, c1, c2;
    bit f0, f1, f2;

    pic_checker                                  eight (m0, c0, f0);
    pic_checker #(.N(13), .PB(4))                odd   (m1, c1, f1);
    pic_checker #(.N(32), .PB(2), .CYCLES(500)) wide  (m2, c2, f2);

    initial begin
        wait (f0 && f1 && f2);
        if (m0 + m1 + m2 == 0)
            $display("model and design agree in %0d comparisons", c0 + c1 + c2);
        else
            $display("%0d MISMATCHES in %0d comparisons", m0 + m1 + m2, c0 + c1 + c2);
        $finish;
    end

endmodule
