// Interrupt controller with programmable priorities and nested service levels.

// Duel of two candidates. The left one (lower numbers) wins a draw.
module irq_duel #(
    parameter int PRIO_BITS = 3,
    parameter int ID_BITS   = 3
) (
    input  logic                 l_valid,
    input  logic [PRIO_BITS-1:0] l_prio,
    input  logic [ID_BITS-1:0]   l_id,
    input  logic                 r_valid,
    input  logic [PRIO_BITS-1:0] r_prio,
    input  logic [ID_BITS-1:0]   r_id,
    output logic                 w_valid,
    output logic [PRIO_BITS-1:0] w_prio,
    output logic [ID_BITS-1:0]   w_id
);

    logic right;

    assign right   = r_valid && (!l_valid || r_prio > l_prio);
    assign w_valid = l_valid || r_valid;
    assign w_prio  = right ? r_prio : l_prio;
    assign w_id    = right ? r_id   : l_id;

endmodule


module priority_interrupt_controller #(
    parameter int  SOURCES   = 8,
    parameter int  PRIO_BITS = 3,
    localparam int ID_BITS   = $clog2(SOURCES),
    localparam int LEVELS    = 1 << PRIO_BITS
) (
    input  logic                 clk,
    input  logic                 rst,
    input  logic [SOURCES-1:0]   irq_in,
    // configuration
    input  logic                 cfg_we,
    input  logic [ID_BITS-1:0]   cfg_src,
    input  logic                 cfg_enable,
    input  logic                 cfg_edge,
    input  logic [PRIO_BITS-1:0] cfg_prio,
    input  logic                 thr_we,
    input  logic [PRIO_BITS-1:0] thr_value,
    // processor
    output logic                 irq,
    output logic [ID_BITS-1:0]   irq_id,
    output logic [PRIO_BITS-1:0] irq_prio,
    input  logic                 claim,
    input  logic                 eoi,
    output logic                 spurious,
    output logic [SOURCES-1:0]   pending,
    output logic [LEVELS-1:0]    in_service
);

    localparam int LEAVES = 1 << ID_BITS;

    logic [SOURCES-1:0]                sampled, sampled_old;
    logic [SOURCES-1:0]                enable, edge_mode, latched;
    logic [SOURCES-1:0][PRIO_BITS-1:0] prio;
    logic [PRIO_BITS-1:0]              threshold;

    // ------------------------------------------------------- sources, one each
    always_ff @(posedge clk) begin
        if (rst) begin
            sampled     <= '0;
            sampled_old <= '0;
        end else begin
            sampled     <= irq_in;
            sampled_old <= sampled;
        end
    end

    for (genvar s = 0; s < SOURCES; s++) begin : g_source
        logic configure, taken, rise;

        assign configure  = cfg_we && (cfg_src == s);
        assign taken      = claim && irq && (irq_id == s);
        assign rise       = sampled[s] && !sampled_old[s] && edge_mode[s];
        assign pending[s] = edge_mode[s] ? latched[s] : sampled[s];

        always_ff @(posedge clk) begin
            if (rst) begin
                enable[s]    <= 1'b0;
                edge_mode[s] <= 1'b0;
                prio[s]      <= '0;
            end else if (configure) begin
                enable[s]    <= cfg_enable;
                edge_mode[s] <= cfg_edge;
                prio[s]      <= cfg_prio;
            end
        end

        always_ff @(posedge clk) begin
            if (rst || configure)
                latched[s] <= 1'b0;
            else if (rise)
                latched[s] <= 1'b1;
            else if (taken)
                latched[s] <= 1'b0;
        end
    end

    always_ff @(posedge clk) begin
        if (rst)
            threshold <= '0;
        else if (thr_we)
            threshold <= thr_value;
    end

    // ------------------------------------ tournament, node 1 is the final, leaves come last
    logic                 n_valid [1:2*LEAVES-1];
    logic [PRIO_BITS-1:0] n_prio  [1:2*LEAVES-1];
    logic [ID_BITS-1:0]   n_id    [1:2*LEAVES-1];

    for (genvar k = 0; k < LEAVES; k++) begin : g_leaf
        if (k < SOURCES) begin : g_used
            assign n_valid[LEAVES+k] = pending[k] && enable[k];
            assign n_prio[LEAVES+k]  = prio[k];
        end else begin : g_unused
            assign n_valid[LEAVES+k] = 1'b0;
            assign n_prio[LEAVES+k]  = '0;
        end
        assign n_id[LEAVES+k] = k;
    end

    for (genvar n = 1; n < LEAVES; n++) begin : g_node
        irq_duel #(.PRIO_BITS(PRIO_BITS), .ID_BITS(ID_BITS)) u_duel (
            .l_valid (n_valid[2*n]),   .l_prio (n_prio[2*n]),   .l_id (n_id[2*n]),
            .r_valid (n_valid[2*n+1]), .r_prio (n_prio[2*n+1]), .r_id (n_id[2*n+1]),
            .w_valid (n_valid[n]),     .w_prio (n_prio[n]),     .w_id (n_id[n])
        );
    end

    // -------------------------------------------------------- nesting of levels
    logic [PRIO_BITS-1:0] level, limit;
    logic [LEVELS-1:0]    level_mask, claim_mask;

    function automatic [PRIO_BITS-1:0] highest(input [LEVELS-1:0] set);
        highest = '0;
        for (int i = 0; i < LEVELS; i++)
            if (set[i])
                highest = i;
    endfunction

    assign level = highest(in_service);
    assign limit = (level > threshold) ? level : threshold;

    assign irq      = n_valid[1] && (n_prio[1] > limit);
    assign irq_id   = irq ? n_id[1] : '0;
    assign irq_prio = irq ? n_prio[1] : '0;

    assign level_mask = eoi ? ({{(LEVELS-1){1'b0}}, 1'b1} << level) : '0;
    assign claim_mask = (claim && irq) ? ({{(LEVELS-1){1'b0}}, 1'b1} << irq_prio) : '0;

    always_ff @(posedge clk) begin
        if (rst) begin
            in_service <= '0;
            spurious   <= 1'b0;
        end else begin
            in_service <= (in_service & ~level_mask) | claim_mask;
            spurious   <= claim && !irq;
        end
    end

endmodule
