// Round-robin arbiter. rr_pick does one rotating choice without state; wait_watch is the
// starvation timer of one client.

module rr_pick #(
    parameter int N  = 4,
    parameter int IW = 2
) (
    input  logic [N-1:0]  cand,
    input  logic [IW-1:0] last,
    output logic [N-1:0]  pick
);
    logic [N-1:0] above;      // clients that come after `last`
    logic [N-1:0] upper;
    logic [N-1:0] from;

    genvar g;
    generate
        for (g = 0; g < N; g = g + 1) begin : g_above
            assign above[g] = (IW'(g) > last);
        end
    endgenerate

    assign upper = cand & above;
    assign from  = (upper != '0) ? upper : cand;
    assign pick  = from & (~from + 1'b1);         // lowest bit set
endmodule

module wait_watch #(
    parameter int LIMIT = 32
) (
    input  logic clk,
    input  logic arst_n,
    input  logic waiting,
    output logic late
);
    localparam int CW = $clog2(LIMIT + 1);

    logic [CW-1:0] cnt;

    assign late = (cnt == CW'(LIMIT));

    always_ff @(posedge clk or negedge arst_n) begin
        if (!arst_n)
            cnt <= '0;
        else if (!waiting)
            cnt <= '0;
        else if (!late)
            cnt <= cnt + 1'b1;
    end
endmodule

module round_robin_arbiter #(
    parameter int N        = 4,
    parameter int MAX_HOLD = 8,
    parameter int STARVE   = 32
) (
    input  logic                 clk,
    input  logic                 arst_n,
    input  logic                 enable,
    input  logic [N-1:0]         req,
    input  logic [N-1:0]         urgent,
    input  logic                 ack,
    output logic [N-1:0]         gnt,
    output logic [$clog2(N)-1:0] gnt_id,
    output logic                 gnt_valid,
    output logic                 timeout,
    output logic [N-1:0]         starving
);
    localparam int IW = $clog2(N);
    localparam int HW = $clog2(MAX_HOLD + 1);

    logic [N-1:0]  cand;
    logic [N-1:0]  pick;
    logic [IW-1:0] pick_id;
    logic [IW-1:0] last;
    logic [HW-1:0] held;          // clocks the grant has been visible, saturating
    logic          gave_up;
    logic          others;
    logic          expired;
    logic          choose;

    function automatic logic [IW-1:0] index_of(input logic [N-1:0] onehot);
        logic [IW-1:0] r;
        r = '0;
        for (int i = 0; i < N; i++)
            if (onehot[i])
                r = r | IW'(i);
        index_of = r;
    endfunction

    // Candidates: urgent requests displace the ordinary ones.
    assign cand = ((req & urgent) != '0) ? (req & urgent) : req;

    rr_pick #(.N(N), .IW(IW)) u_pick (
        .cand (cand),
        .last (last),
        .pick (pick)
    );

    assign pick_id   = index_of(pick);
    assign gnt_id    = index_of(gnt);
    assign gnt_valid = |gnt;

    assign gave_up = (gnt & req) == '0;
    assign others  = (req & ~gnt) != '0;
    assign expired = (held == HW'(MAX_HOLD)) && others;
    assign choose  = !gnt_valid || gave_up || ack || expired;

    always_ff @(posedge clk or negedge arst_n) begin
        if (!arst_n) begin
            gnt  <= '0;
            last <= IW'(N - 1);
        end else if (choose) begin
            if (enable && pick != '0) begin
                gnt  <= pick;
                last <= pick_id;
            end else begin
                gnt <= '0;
            end
        end
    end

    always_ff @(posedge clk or negedge arst_n) begin
        if (!arst_n)
            held <= '0;
        else if (choose)
            held <= HW'(1);
        else if (held != HW'(MAX_HOLD))
            held <= held + 1'b1;
    end

    always_ff @(posedge clk or negedge arst_n) begin
        if (!arst_n)
            timeout <= 1'b0;
        else
            timeout <= gnt_valid && !gave_up && !ack && expired;
    end

    genvar c;
    generate
        for (c = 0; c < N; c = c + 1) begin : g_watch
            wait_watch #(.LIMIT(STARVE)) u_watch (
                .clk     (clk),
                .arst_n  (arst_n),
                .waiting (req[c] && !gnt[c]),
                .late    (starving[c])
            );
        end
    endgenerate
endmodule
