// Crossing of a main and a side road, with pedestrians.

// Two flip-flops for each of N asynchronous inputs.
module input_sync #(
    parameter int N = 1
) (
    input  logic         clk,
    input  logic         rst_n,
    input  logic [N-1:0] raw,
    output logic [N-1:0] safe
);
    logic [1:0][N-1:0] stage;

    assign safe = stage[1];

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) stage <= '0;
        else        stage <= {stage[0], raw};
    end
endmodule

// Ticks passed in the present phase, saturating.
module phase_timer #(
    parameter int W = 8
) (
    input  logic         clk,
    input  logic         rst_n,
    input  logic         tick,
    input  logic         restart,
    output logic [W-1:0] passed
);
    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n)
            passed <= '0;
        else if (tick) begin
            if (restart)           passed <= '0;
            else if (passed != '1) passed <= passed + 1'b1;
        end
    end
endmodule

module traffic_light #(
    parameter int MAIN_MIN = 20,
    parameter int SIDE_MIN = 6,
    parameter int SIDE_MAX = 15,
    parameter int YELLOW   = 3,
    parameter int ALL_RED  = 2,
    parameter int WALK     = 8,
    parameter int CLEAR    = 4
) (
    input  logic       clk,
    input  logic       rst_n,
    input  logic       tick,
    input  logic       car_side,
    input  logic       button,
    input  logic       emergency,
    input  logic       night,
    output logic [2:0] main_lamps,
    output logic [2:0] side_lamps,
    output logic       walk,
    output logic       dont_walk,
    output logic       ped_wait,
    output logic [7:0] ped_left
);
    localparam int TW = 9;
    localparam logic [TW-1:0] PED_TIME  = TW'(WALK + CLEAR);
    localparam logic [TW-1:0] WALK_TIME = TW'(WALK);

    localparam logic [2:0] DARK   = 3'b000;
    localparam logic [2:0] GREEN  = 3'b001;
    localparam logic [2:0] AMBER  = 3'b010;
    localparam logic [2:0] RED    = 3'b100;

    typedef enum logic [2:0] {
        MAIN_GREEN = 3'd0,
        MAIN_STOP  = 3'd1,
        RED_A      = 3'd2,
        SIDE_GREEN = 3'd3,
        SIDE_STOP  = 3'd4,
        RED_B      = 3'd5,
        NIGHT      = 3'd6
    } phase_t;

    phase_t        phase, phase_next;
    logic          car, pressed, urgent, dark;
    logic [TW-1:0] passed;
    logic [TW-1:0] n;              // number of the tick that may come now
    logic          leave;
    logic          start_side;
    logic          blink;
    logic          served;
    logic          ped_done;
    logic [TW-1:0] left;

    input_sync #(.N(4)) u_sync (
        .clk   (clk),
        .rst_n (rst_n),
        .raw   ({car_side, button, emergency, night}),
        .safe  ({car, pressed, urgent, dark})
    );

    phase_timer #(.W(TW)) u_timer (
        .clk     (clk),
        .rst_n   (rst_n),
        .tick    (tick),
        .restart (leave),
        .passed  (passed)
    );

    function automatic logic reached(input logic [TW-1:0] now, input int limit);
        reached = (now >= TW'(limit));
    endfunction

    assign n        = (passed == '1) ? passed : passed + 1'b1;
    assign ped_done = !served || (n >= PED_TIME);

    // Next phase.
    always_comb begin
        leave      = 1'b0;
        phase_next = phase;
        case (phase)
            MAIN_GREEN: begin
                if (reached(n, MAIN_MIN) && !urgent) begin
                    if (dark) begin
                        leave      = 1'b1;
                        phase_next = NIGHT;
                    end else if (car || ped_wait) begin
                        leave      = 1'b1;
                        phase_next = MAIN_STOP;
                    end
                end
            end
            MAIN_STOP: begin
                leave      = reached(n, YELLOW);
                phase_next = RED_A;
            end
            RED_A: begin
                leave      = reached(n, ALL_RED);
                phase_next = SIDE_GREEN;
            end
            SIDE_GREEN: begin
                leave = urgent || (reached(n, SIDE_MIN) && ped_done &&
                                   (!car || reached(n, SIDE_MAX)));
                phase_next = SIDE_STOP;
            end
            SIDE_STOP: begin
                leave      = reached(n, YELLOW);
                phase_next = RED_B;
            end
            RED_B: begin
                leave      = reached(n, ALL_RED);
                phase_next = MAIN_GREEN;
            end
            NIGHT: begin
                leave      = urgent || !dark;
                phase_next = RED_B;
            end
            default: begin
                leave      = 1'b1;
                phase_next = RED_B;
            end
        endcase
    end

    assign start_side = tick && leave && (phase == RED_A);

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            phase <= RED_B;
            blink <= 1'b0;
        end else if (tick) begin
            blink <= !blink;
            if (leave)
                phase <= phase_next;
        end
    end

    always_ff @(posedge clk or negedge rst_n) begin
        if (!rst_n) begin
            ped_wait <= 1'b0;
            served   <= 1'b0;
        end else if (start_side) begin
            ped_wait <= 1'b0;
            served   <= ped_wait;
        end else if (pressed) begin
            ped_wait <= 1'b1;
        end
    end

    // Lamps.
    always_comb begin
        main_lamps = RED;
        side_lamps = RED;
        case (phase)
            MAIN_GREEN: main_lamps = GREEN;
            MAIN_STOP:  main_lamps = AMBER;
            SIDE_GREEN: side_lamps = GREEN;
            SIDE_STOP:  side_lamps = AMBER;
            NIGHT: begin
                main_lamps = blink ? AMBER : DARK;
                side_lamps = blink ? RED : DARK;
            end
            default: ;
        endcase
    end

    // Pedestrian signals.
    assign left     = PED_TIME - passed;
    assign ped_left = (phase == SIDE_GREEN && served && passed < PED_TIME) ? left[7:0] : 8'd0;

    always_comb begin
        walk      = 1'b0;
        dont_walk = 1'b1;
        if (phase == NIGHT) begin
            dont_walk = 1'b0;
        end else if (phase == SIDE_GREEN && served) begin
            if (passed < WALK_TIME) begin
                walk      = 1'b1;
                dont_walk = 1'b0;
            end else if (passed < PED_TIME) begin
                dont_walk = blink;
            end
        end
    end
endmodule
