`timescale 1ns / 1ps
`include "defs.svh"

module pwm_timer_test;

    localparam int CH = 3;

    logic          clk = 0;
    logic          rst_n = 0;
    logic          sel = 0, wr = 0;
    logic [3:0]    addr = 0;
    logic [15:0]   wdata = 0;
    logic [15:0]   rdata;
    logic          irq;
    logic [CH-1:0] pwm;

    pwm_timer #(.CHANNELS(CH)) dut (
        .clk(clk), .rst_n(rst_n), .sel(sel), .wr(wr), .addr(addr), .wdata(wdata),
        .rdata(rdata), .irq(irq), .pwm(pwm)
    );

    always #10 clk = ~clk;

    int asserted = 0, broken = 0;

    // ---------------------------------------------------------------- the model
    // The position within a cycle is one number, "phase"; count and direction follow from it.
    int  regs [0:15];
    int  phase, pre, per, dty [0:CH-1];
    bit  cen, wrapflag;
    int  m_rdata, m_pwm;

    function automatic int ticks_in_cycle();
        if (!cen)          ticks_in_cycle = per + 1;
        else if (per == 0) ticks_in_cycle = 1;
        else               ticks_in_cycle = 2 * per;
    endfunction

    function automatic int m_count();
        m_count = (cen && phase > per) ? 2 * per - phase : phase;
    endfunction

    function automatic int m_read(input int a);
        case (a)
            0, 1, 2, 4: m_read = regs[a];
            3: m_read = wrapflag + 2 * (cen && phase > per) + 4 * (regs[0] & 1);
            5: m_read = m_count();
            default: m_read = (a >= 8 && a < 8 + CH) ? regs[a] : 0;
        endcase
    endfunction

    task automatic m_reset;
        for (int i = 0; i < 16; i++) regs[i] = 0;
        regs[2] = 65535;
        phase = 0; pre = 0; per = 65535; cen = 0; wrapflag = 0; m_rdata = 0; m_pwm = 0;
        for (int i = 0; i < CH; i++) dty[i] = 0;
    endtask

    task automatic m_clock;
        bit on, wrapped;
        on = regs[0] & 1;
        wrapped = 0;
        m_pwm = regs[4];
        for (int i = 0; i < CH; i++)
            if (on && m_count() < dty[i]) m_pwm = m_pwm ^ (1 << i);
        if (sel && !wr) m_rdata = m_read(addr);
        if (!on) begin
            phase = 0; pre = 0;
        end else if (pre < regs[1]) begin
            pre = pre + 1;
        end else begin
            pre = 0;
            phase = phase + 1;
            if (phase >= ticks_in_cycle()) begin
                phase = 0;
                wrapped = 1;
            end
        end
        if (!on || wrapped) begin
            per = regs[2];
            cen = (regs[0] >> 1) & 1;
            for (int i = 0; i < CH; i++) dty[i] = regs[8+i];
        end
        if (wrapped) wrapflag = 1;
        else if (sel && wr && addr == 3 && (wdata & 1)) wrapflag = 0;
        if (sel && wr)
            case (addr)
                0: regs[0] = wdata & 7;
                1: regs[1] = wdata & 255;
                2: regs[2] = wdata;
                4: regs[4] = wdata & ((1 << CH) - 1);
                default: if (addr >= 8 && addr < 8 + CH) regs[addr] = wdata;
            endcase
    endtask

    // ------------------------------------------------- one clock, all outputs asserted
    task automatic cycle;
        if (rst_n) m_clock();
        else m_reset();
        @(posedge clk);
        #1;
        asserted += 3;
        assert (pwm === m_pwm[CH-1:0])
        else begin
            broken++;
            $error("pwm = %b, should be %b (count %0d)", pwm, m_pwm[CH-1:0], m_count());
        end
        assert (irq === (wrapflag && regs[0][2]))
        else begin
            broken++;
            $error("irq = %b", irq);
        end
        assert (rdata === m_rdata[15:0])
        else begin
            broken++;
            $error("rdata = %h, should be %h", rdata, m_rdata[15:0]);
        end
        if (broken > 50) $fatal(1, "too many failed assertions, giving up");
    endtask

    task automatic write(input logic [3:0] a, input logic [15:0] d);
        sel = 1; wr = 1; addr = a; wdata = d;
        cycle();
        sel = 0; wr = 0;
    endtask

    task automatic read(input logic [3:0] a);
        sel = 1; wr = 0; addr = a; wdata = $urandom;
        cycle();
        sel = 0;
    endtask

    // Idle clocks: mostly reading count and status, at times strobing wr without sel.
    task automatic watch(input int n);
        for (int i = 0; i < n; i++)
            case ($urandom % 6)
                0, 1: read(`PWM_A_COUNT);
                2:    read(`PWM_A_STATUS);
                3:    read($urandom);
                4:    begin wr = 1; addr = $urandom; wdata = $urandom; cycle(); wr = 0; end
                default: cycle();
            endcase
    endtask

    task automatic setup(input int ctrl, input int ps, input int p, input int d0, input int d1,
                         input int d2);
        write(`PWM_A_PRESCALE, ps);
        write(`PWM_A_PERIOD, p);
        write(`PWM_A_DUTY0, d0);
        write(`PWM_A_DUTY0 + 1, d1);
        write(`PWM_A_DUTY0 + 2, d2);
        write(`PWM_A_CTRL, ctrl);
    endtask

    initial begin
        m_reset();
        repeat (2) cycle();
        sel = 1; wr = 1; addr = `PWM_A_POLARITY; wdata = 7;      // writes in reset are lost
        cycle();
        sel = 0; wr = 0; rst_n = 1;
        for (int a = 0; a < 16; a++) read(a);                   // reset values
        for (int a = 0; a < 16; a++) if (a != 0) write(a, 16'hA5C3 + 16'h0101 * a);
        for (int a = 0; a < 16; a++) read(a);                   // what sticks
        write(`PWM_A_CTRL, 16'hFFFE);
        read(`PWM_A_CTRL);
        write(`PWM_A_CTRL, 0);
        write(`PWM_A_POLARITY, 0);

        setup(1, 0, 9, 0, 4, 10);                               // edge aligned
        watch(60);
        write(`PWM_A_STATUS, 1);
        watch(30);
        write(`PWM_A_CTRL, 5);                                  // with interrupt
        for (int i = 0; i < 25; i++) write(`PWM_A_STATUS, 1);   // meets the wrap at some time
        write(`PWM_A_STATUS, 16'hFFFE);
        write(`PWM_A_DUTY0 + 1, 7);                             // only after the wrap
        write(`PWM_A_PERIOD, 5);
        watch(40);
        write(`PWM_A_POLARITY, 3'b101);
        watch(20);
        write(`PWM_A_CTRL, 7);                                  // centre from the next wrap on
        watch(60);
        write(`PWM_A_PRESCALE, 3);
        watch(120);
        write(`PWM_A_CTRL, 0);                                  // stop on the way
        watch(5);
        write(`PWM_A_POLARITY, 0);
        for (int p = 0; p < 4; p++)
            for (int c = 0; c < 2; c++) begin
                setup(5 + 2 * c, 0, p, 1, 2, p);
                watch(14);
                write(`PWM_A_CTRL, 0);
                write(`PWM_A_STATUS, 1);
                watch(3);
            end

        setup(3, 200, 2, 1, 2, 3);                              // long prescaler, then shortened
        watch(450);
        write(`PWM_A_PRESCALE, 10);
        watch(60);
        setup(1, 0, 300, 299, 300, 256);                        // more than eight bits
        watch(1000);
        write(`PWM_A_PERIOD, 65535);
        watch(700);
        write(`PWM_A_CTRL, 0);

        for (int r = 0; r < 25; r++) begin                      // random settings, changed live
            setup($urandom, $urandom % 3, $urandom % 9, $urandom % 10, $urandom % 10,
                  $urandom % 10);
            for (int k = 0; k < 6; k++) begin
                watch($urandom % 25);
                case ($urandom % 5)
                    0: write(`PWM_A_CTRL, $urandom | 1);
                    1: write(`PWM_A_PERIOD, $urandom % 9);
                    2: write(`PWM_A_DUTY0 + $urandom % CH, $urandom % 10);
                    3: write(`PWM_A_POLARITY, $urandom);
                    default: write(`PWM_A_STATUS, $urandom);
                endcase
            end
            if (r == 12) begin
                rst_n = 0; cycle(); rst_n = 1;
            end
        end

        $display("%0d assertions evaluated, %0d failed", asserted, broken);
        $finish;
    end

endmodule
