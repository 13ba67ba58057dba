module traffic_light #(
    parameter MAIN_MIN = 20,
    parameter SIDE_MIN = 6,
    parameter SIDE_MAX = 15,
    parameter YELLOW   = 3,
    parameter ALL_RED  = 2,
    parameter WALK     = 8,
    parameter CLEAR    = 4
) (
    input  wire       clk,
    input  wire       rst_n,
    input  wire       tick,
    input  wire       car_side,
    input  wire       button,
    input  wire       emergency,
    input  wire       night,
    output reg  [2:0] main_lamps,
    output reg  [2:0] side_lamps,
    output reg        walk,
    output reg        dont_walk,
    output reg        ped_wait,
    output reg  [7:0] ped_left
);
    localparam [2:0] MAIN_GREEN = 3'd0, MAIN_STOP = 3'd1, RED_A = 3'd2, SIDE_GREEN = 3'd3,
                     SIDE_STOP  = 3'd4, RED_B     = 3'd5, NIGHT = 3'd6;
    localparam [2:0] RED = 3'b100, YEL = 3'b010, GRN = 3'b001, DARK = 3'b000;

    // synchronisers: {car, button, emergency, night}
    reg [3:0] meta, sync;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) {sync, meta} <= 8'd0;
        else        {sync, meta} <= {meta, car_side, button, emergency, night};
    wire car = sync[3], btn = sync[2], emg = sync[1], ngt = sync[0];

    reg [2:0] phase, phase_n;
    reg [7:0] passed;                 // ticks so far in this phase, saturates
    reg       blink, served;
    wire [8:0] n = {1'b0, passed} + 9'd1;
    wire peds_finished = !served || (n >= WALK + CLEAR);

    always @* begin
        phase_n = phase;
        case (phase)
            MAIN_GREEN: if (n >= MAIN_MIN && !emg) begin
                            if (ngt) phase_n = NIGHT;
                            else if (car || ped_wait) phase_n = MAIN_STOP;
                        end
            MAIN_STOP:  if (n == YELLOW)  phase_n = RED_A;
            RED_A:      if (n == ALL_RED) phase_n = SIDE_GREEN;
            SIDE_GREEN: if (emg) phase_n = SIDE_STOP;
                        else if (n >= SIDE_MIN && peds_finished && (!car || n >= SIDE_MAX))
                            phase_n = SIDE_STOP;
            SIDE_STOP:  if (n == YELLOW)  phase_n = RED_B;
            RED_B:      if (n == ALL_RED) phase_n = MAIN_GREEN;
            NIGHT:      if (emg || !ngt)  phase_n = RED_B;
            default:    phase_n = RED_B;
        endcase
    end

    wire enter_side = tick && (phase == RED_A) && (phase_n == SIDE_GREEN);

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            phase    <= RED_B;
            passed   <= 8'd0;
            blink    <= 1'b0;
            served   <= 1'b0;
            ped_wait <= 1'b0;
        end else begin
            if (tick) begin
                blink <= ~blink;
                phase <= phase_n;
                if (phase_n != phase)      passed <= 8'd0;
                else if (passed != 8'd255) passed <= passed + 8'd1;
            end
            if (enter_side) begin
                served   <= ped_wait;
                ped_wait <= 1'b0;
            end else if (btn)
                ped_wait <= 1'b1;
        end

    always @* begin
        main_lamps = RED;
        side_lamps = RED;
        case (phase)
            MAIN_GREEN: main_lamps = GRN;
            MAIN_STOP:  main_lamps = YEL;
            SIDE_GREEN: side_lamps = GRN;
            SIDE_STOP:  side_lamps = YEL;
            NIGHT: begin
                main_lamps = blink ? YEL : DARK;
                side_lamps = blink ? RED : DARK;
            end
            default: ;
        endcase
    end

    always @* begin
        walk      = 1'b0;
        dont_walk = (phase != NIGHT);
        ped_left  = 8'd0;
        if (phase == SIDE_GREEN && served) begin
            if (passed < WALK) begin
                walk      = 1'b1;
                dont_walk = 1'b0;
            end else if (passed < WALK + CLEAR)
                dont_walk = blink;
            if (passed < WALK + CLEAR)
                ped_left = WALK + CLEAR - passed;
        end
    end
endmodule
