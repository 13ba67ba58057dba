module priority_interrupt_controller #(
    parameter SOURCES   = 8,
    parameter PRIO_BITS = 3
) (
    input  wire                         clk,
    input  wire                         rst,
    input  wire [SOURCES-1:0]           irq_in,
    input  wire                         cfg_we,
    input  wire [$clog2(SOURCES)-1:0]   cfg_src,
    input  wire                         cfg_enable,
    input  wire                         cfg_edge,
    input  wire [PRIO_BITS-1:0]         cfg_prio,
    input  wire                         thr_we,
    input  wire [PRIO_BITS-1:0]         thr_value,
    output reg                          irq,
    output reg  [$clog2(SOURCES)-1:0]   irq_id,
    output reg  [PRIO_BITS-1:0]         irq_prio,
    input  wire                         claim,
    input  wire                         eoi,
    output reg                          spurious,
    output wire [SOURCES-1:0]           pending,
    output reg  [(1<<PRIO_BITS)-1:0]    in_service
);
    localparam ID_BITS = $clog2(SOURCES);
    localparam LEVELS  = 1 << PRIO_BITS;

    reg [SOURCES-1:0] now, was, latch, enabled, edgy;
    reg [SOURCES*PRIO_BITS-1:0] prio;       // one field per source
    reg [PRIO_BITS-1:0] threshold;

    assign pending = (edgy & latch) | (~edgy & now);

    // choice
    integer n, p;
    reg [PRIO_BITS-1:0] level, best;
    reg [ID_BITS-1:0]   who;
    reg                 any;
    always @* begin
        level = 0;
        for (p = 0; p < LEVELS; p = p + 1)
            if (in_service[p]) level = p;
        any  = 1'b0;
        best = 0;
        who  = 0;
        for (n = 0; n < SOURCES; n = n + 1)
            if (pending[n] && enabled[n] && (!any || prio[n*PRIO_BITS +: PRIO_BITS] > best)) begin
                any  = 1'b1;
                best = prio[n*PRIO_BITS +: PRIO_BITS];
                who  = n;
            end
        irq      = any && best > threshold && best > level;
        irq_id   = irq ? who : {ID_BITS{1'b0}};
        irq_prio = irq ? best : {PRIO_BITS{1'b0}};
    end

    wire taken = claim && irq;

    genvar g;
    generate
        for (g = 0; g < SOURCES; g = g + 1) begin : src
            wire cfg_me = cfg_we && (cfg_src == g);
            always @(posedge clk)
                if (rst) begin
                    latch[g]   <= 1'b0;
                    enabled[g] <= 1'b0;
                    edgy[g]    <= 1'b0;
                    prio[g*PRIO_BITS +: PRIO_BITS] <= {PRIO_BITS{1'b0}};
                end else if (cfg_me) begin
                    latch[g]   <= 1'b0;
                    enabled[g] <= cfg_enable;
                    edgy[g]    <= cfg_edge;
                    prio[g*PRIO_BITS +: PRIO_BITS] <= cfg_prio;
                end else if (edgy[g] && now[g] && !was[g])
                    latch[g] <= 1'b1;
                else if (taken && irq_id == g)
                    latch[g] <= 1'b0;
        end
    endgenerate

    integer q;
    always @(posedge clk)
        if (rst) begin
            now        <= 0;
            was        <= 0;
            threshold  <= 0;
            in_service <= 0;
            spurious   <= 1'b0;
        end else begin
            now      <= irq_in;
            was      <= now;
            spurious <= claim && !irq;
            if (thr_we) threshold <= thr_value;
            for (q = 0; q < LEVELS; q = q + 1)
                if (taken && irq_prio == q)                       in_service[q] <= 1'b1;
                else if (eoi && in_service[q] && level == q)      in_service[q] <= 1'b0;
        end
endmodule
