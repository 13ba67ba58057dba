`timescale 1ns/1ns

module tb;
    parameter N        = 5;
    parameter MAX_HOLD = 4;
    parameter STARVE   = 9;
    parameter CYCLES   = 6000;

    logic         clk = 0;
    logic         arst_n = 1;
    logic         enable = 0;
    logic [N-1:0] req = 0, urgent = 0;
    logic         ack = 0;
    wire  [N-1:0] gnt, starving;
    wire  [2:0]   gnt_id;
    wire          gnt_valid, timeout;

    round_robin_arbiter #(.N(N), .MAX_HOLD(MAX_HOLD), .STARVE(STARVE)) arb (.*);

    always #4 clk = ~clk;

    // ------------------------------------------------------------------
    // Model: the owner is a number, -1 for nobody.
    // ------------------------------------------------------------------
    integer m_owner, m_last, m_age, m_wait [0:N-1];
    logic   m_timeout;
    integer mismatches;
    integer seen_timeout, seen_starve, seen_grants;

    task model_reset;
        integer i;
        begin
            m_owner = -1; m_last = N - 1; m_age = 0; m_timeout = 0;
            for (i = 0; i < N; i = i + 1) m_wait[i] = 0;
        end
    endtask

    task model_clock;
        integer i, j, best;
        reg     over, any_urgent, other;
        begin
            for (i = 0; i < N; i = i + 1)
                if (req[i] && m_owner != i) begin
                    if (m_wait[i] < STARVE) m_wait[i] = m_wait[i] + 1;
                end else
                    m_wait[i] = 0;

            over = 0;
            m_timeout = 0;
            other = 0;
            if (m_owner == -1) over = 1;
            else begin
                m_age = m_age + 1;
                for (i = 0; i < N; i = i + 1) if (i != m_owner && req[i]) other = 1;
                if (!req[m_owner] || ack) over = 1;
                else if (m_age >= MAX_HOLD && other) begin
                    over = 1;
                    m_timeout = 1;
                end
            end

            if (over) begin
                m_owner = -1;
                m_age = 0;
                if (enable) begin
                    any_urgent = 0;
                    for (i = 0; i < N; i = i + 1) if (req[i] && urgent[i]) any_urgent = 1;
                    best = -1;
                    for (i = N; i >= 1; i = i - 1) begin
                        j = (m_last + i) % N;
                        if (req[j] && (urgent[j] || !any_urgent)) best = j;
                    end
                    if (best >= 0) begin
                        m_owner = best;
                        m_last  = best;
                    end
                end
            end
        end
    endtask

    task compare;
        reg [N-1:0] xg, xs;
        reg [2:0]   xi;
        integer     i;
        begin
            xg = 0; xi = 0;
            if (m_owner >= 0) begin xg[m_owner] = 1; xi = m_owner; end
            for (i = 0; i < N; i = i + 1) xs[i] = (m_wait[i] >= STARVE);
            if (gnt !== xg || gnt_id !== xi || gnt_valid !== (m_owner >= 0) ||
                timeout !== m_timeout || starving !== xs) begin
                mismatches = mismatches + 1;
                if (mismatches <= 20) begin
                    $display("MISMATCH at time %0t: gnt=%b id=%0d valid=%b timeout=%b starving=%b",
                             $time, gnt, gnt_id, gnt_valid, timeout, starving);
                    $display("               model: gnt=%b id=%0d valid=%b timeout=%b starving=%b",
                             xg, xi, m_owner >= 0, m_timeout, xs);
                end
            end
            if (m_timeout) seen_timeout = seen_timeout + 1;
            if (xs != 0) seen_starve = seen_starve + 1;
            if (m_owner >= 0) seen_grants = seen_grants + 1;
        end
    endtask

    integer n, phase, p_req, p_ack;

    initial begin
        mismatches = 0; seen_timeout = 0; seen_starve = 0; seen_grants = 0;
        model_reset;
        #1 arst_n = 0;
        #1 compare;
        req = ~0; enable = 1;
        @(posedge clk);
        #1 compare;
        arst_n = 1; req = 0;

        for (n = 0; n < CYCLES; n = n + 1) begin
            @(negedge clk);
            // The kind of traffic changes every 200 clocks.
            phase  = (n / 200) % 6;
            enable = 1;
            ack    = 0;
            case (phase)
                0: begin req = {N{1'b1}}; urgent = 0; ack = (n % 2); end      // full load
                1: begin                                                      // nobody finishes
                    req = {N{1'b1}}; urgent = 0;
                    if (n % 200 > 120) req = 5'b01000 << (n % 37 == 0);
                end
                2: begin                                                      // sparse
                    req = $random & $random; urgent = 0; ack = $random;
                end
                3: begin                                                      // some urgency
                    if (n % 3 == 0) req = $random;
                    urgent = $random & $random; ack = ($random % 3 == 0);
                    enable = ($random % 8 != 0);
                end
                4: begin                                                      // starve the rest
                    req = {N{1'b1}}; urgent = 5'b00110; ack = ($random % 2 == 0);
                    if (n % 50 > 44) req = 5'b11001;
                end
                default: begin
                    if ($random % 4 == 0) req = req ^ (1 << ($urandom % N));
                    if ($random % 9 == 0) urgent = $random;
                    ack = ($random % 7 == 0); enable = ($random % 5 != 0);
                end
            endcase
            @(posedge clk);
            model_clock;
            #1 compare;
            if (n % 700 == 699) begin
                arst_n = 0;
                model_reset;
                #1 compare;
                arst_n = 1;
            end
        end

        if (seen_timeout < 50 || seen_starve < 50 || seen_grants < 500)
            $display("note: weak stimulus, %0d %0d %0d", seen_timeout, seen_starve, seen_grants);
        $display("%0d clocks compared, %0d of them with a mismatch", CYCLES, mismatches);
        $finish;
    end
endmodule
