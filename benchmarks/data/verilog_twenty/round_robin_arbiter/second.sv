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
    localparam int SW = $clog2(STARVE + 1);

    logic [IW-1:0] last;
    logic [HW-1:0] held;         // clocks the grant has been visible before the coming edge

    wire mine_req = |(req & gnt);
    wire others   = |(req & ~gnt);
    wire ended    = gnt_valid && (!mine_req || ack);
    wire cut      = gnt_valid && !ended && others && (held >= MAX_HOLD);
    wire choose   = !gnt_valid || ended || cut;

    // candidates, then rotating search by masking: first those above "last", then all
    wire [N-1:0] cand  = (|(req & urgent)) ? (req & urgent) : req;
    logic [N-1:0] upper, pool, pick;
    logic [IW-1:0] pick_id;
    always_comb begin
        for (int i = 0; i < N; i = i + 1)
            upper[i] = cand[i] && (i > last);
        pool = (|upper) ? upper : cand;
        pick = pool & (~pool + 1'b1);       // lowest bit
        pick_id = '0;
        for (int i = 0; i < N; i = i + 1)
            if (pick[i]) pick_id = i;
    end

    always_ff @(posedge clk or negedge arst_n)
        if (!arst_n) begin
            gnt       <= '0;
            gnt_id    <= '0;
            gnt_valid <= 1'b0;
            timeout   <= 1'b0;
            last      <= N - 1;
            held      <= '0;
        end else begin
            timeout <= cut;
            if (choose) begin
                held <= 1;
                if (enable && |req) begin
                    gnt       <= pick;
                    gnt_id    <= pick_id;
                    gnt_valid <= 1'b1;
                    last      <= pick_id;
                end else begin
                    gnt       <= '0;
                    gnt_id    <= '0;
                    gnt_valid <= 1'b0;
                end
            end else if (held < MAX_HOLD)
                held <= held + 1'b1;
        end

    genvar g;
    generate
        for (g = 0; g < N; g = g + 1) begin : watch
            logic [SW-1:0] waited;
            always_ff @(posedge clk or negedge arst_n)
                if (!arst_n)                 waited <= '0;
                else if (!req[g] || gnt[g])  waited <= '0;
                else if (waited != STARVE)   waited <= waited + 1'b1;
            assign starving[g] = (waited == STARVE);
        end
    endgenerate
endmodule
