`timescale 1us/1ns

module tb_crossing;
    localparam MAIN_MIN = 5, SIDE_MIN = 3, SIDE_MAX = 9, YELLOW = 2, ALL_RED = 1;
    localparam WALK = 4, CLEAR = 3;

    reg        clk = 0;
    reg        rst_n = 0;
    reg        tick = 0, car_side = 0, button = 0, emergency = 0, night = 0;
    wire [2:0] main_lamps, side_lamps;
    wire       walk, dont_walk, ped_wait;
    wire [7:0] ped_left;

    traffic_light #(
        .MAIN_MIN(MAIN_MIN), .SIDE_MIN(SIDE_MIN), .SIDE_MAX(SIDE_MAX), .YELLOW(YELLOW),
        .ALL_RED(ALL_RED), .WALK(WALK), .CLEAR(CLEAR)
    ) crossing (
        .clk(clk), .rst_n(rst_n), .tick(tick), .car_side(car_side), .button(button),
        .emergency(emergency), .night(night), .main_lamps(main_lamps), .side_lamps(side_lamps),
        .walk(walk), .dont_walk(dont_walk), .ped_wait(ped_wait), .ped_left(ped_left)
    );

    // A second one with all defaults only has its timing measured, at the end.
    wire [2:0] main2, side2;
    wire       walk2, dont2, wait2;
    wire [7:0] left2;
    traffic_light plain (
        .clk(clk), .rst_n(rst_n), .tick(tick), .car_side(car_side), .button(button),
        .emergency(emergency), .night(night), .main_lamps(main2), .side_lamps(side2),
        .walk(walk2), .dont_walk(dont2), .ped_wait(wait2), .ped_left(left2)
    );

    always #1 clk = ~clk;

    integer errors = 0;
    integer checks = 0;

    // ------------------------------------------------------------------------------------
    // Model. Letters for the phases: G main green, g main stop, a red A, S side green,
    // s side stop, b red B, N night. "age" is the number of ticks passed.
    // ------------------------------------------------------------------------------------
    byte    ph = "b";
    integer age = 0;
    reg     flip = 0, want = 0, serve = 0;
    reg [3:0] in1 = 0, in2 = 0;                 // {car, button, emergency, night}

    task advance;                               // one edge of clk
        reg c, p, e, d;
        byte from;
        begin
            {c, p, e, d} = in2;
            from = ph;
            if (tick) begin
                flip = ~flip;
                age = age + 1;
                case (ph)
                    "G": if (age >= MAIN_MIN && !e) ph = d ? "N" : (c || want) ? "g" : "G";
                    "g": if (age == YELLOW) ph = "a";
                    "a": if (age == ALL_RED) ph = "S";
                    "S": begin
                        if (age >= SIDE_MIN && !(serve && age < WALK + CLEAR))
                            if (age >= SIDE_MAX || !c) ph = "s";
                        if (e) ph = "s";
                    end
                    "s": if (age == YELLOW) ph = "b";
                    "b": if (age == ALL_RED) ph = "G";
                    default: if (e || !d) ph = "b";
                endcase
                if (ph != from) age = 0;
            end
            if (from == "a" && ph == "S") begin
                serve = want;
                want  = 0;
            end else if (p)
                want = 1;
            in2 = in1;
            in1 = {car_side, button, emergency, night};
        end
    endtask

    task restart_model;
        begin
            ph = "b"; age = 0; flip = 0; want = 0; serve = 0; in1 = 0; in2 = 0;
        end
    endtask

    task compare;
        reg [2:0] m, s;
        reg w, d;
        integer rest;
        begin
            m = 3'b100; s = 3'b100; w = 0; d = 1; rest = 0;
            if (ph == "G") m = 3'b001;
            if (ph == "g") m = 3'b010;
            if (ph == "S") s = 3'b001;
            if (ph == "s") s = 3'b010;
            if (ph == "N") begin
                m = flip ? 3'b010 : 0;
                s = flip ? 3'b100 : 0;
                d = 0;
            end
            if (ph == "S" && serve && age < WALK + CLEAR) begin
                rest = WALK + CLEAR - age;
                w = (rest > CLEAR);
                d = w ? 0 : flip;
            end
            checks = checks + 1;
            if (main_lamps !== m || side_lamps !== s || walk !== w || dont_walk !== d ||
                ped_wait !== want || ped_left !== rest) begin
                errors = errors + 1;
                if (errors <= 12)
                    $display("%0t: phase %c: lamps %b %b walk %b%b wait %b left %0d",
                             $realtime, ph, main_lamps, side_lamps, walk, dont_walk, ped_wait,
                             ped_left);
            end
            // whatever the model says, never two roads at once
            if ((main_lamps[1:0] != 0 && side_lamps[1:0] != 0) || (walk && main_lamps[2] !== 1'b1))
                errors = errors + 1;
        end
    endtask

    task clocks(input integer n);
        repeat (n) begin
            @(posedge clk);
            advance;
            #0.5 compare;
            @(negedge clk);
        end
    endtask

    task ticks(input integer n);                // every fourth clock
        repeat (n) begin
            tick = 1; clocks(1);
            tick = 0; clocks(3);
        end
    endtask

    task phase_is(input byte want_ph);
        begin
            checks = checks + 1;
            if (ph != want_ph) begin
                errors = errors + 1;
                $display("%0t: bench is in phase %c, not %c", $realtime, ph, want_ph);
            end
        end
    endtask

    task measure(input [2:0] m, input [2:0] s, input integer expected);
        integer n;
        begin
            n = 0;
            while (main2 === m && side2 === s && n < 100) begin
                ticks(1);
                n = n + 1;
            end
            checks = checks + 1;
            if (n != expected) begin
                errors = errors + 1;
                $display("default timing: %0d ticks with lamps %b %b, not %0d", n, m, s, expected);
            end
        end
    endtask

    integer i;

    initial begin
        @(negedge clk);
        {car_side, button, emergency, night} = 4'b1111;
        tick = 1;
        repeat (3) @(negedge clk) compare;
        {car_side, button, emergency, night} = 4'b0000;
        tick = 0;
        rst_n = 1;
        clocks(10);
        phase_is("b");
        ticks(1);  phase_is("G");
        ticks(40); phase_is("G");               // no demand: stays green
        // pressed for one clock only, pedestrians alone
        button = 1; clocks(1); button = 0; clocks(3);
        ticks(1);  phase_is("g");
        ticks(3);  phase_is("S");
        button = 1; clocks(3); button = 0;      // a request for the next round
        ticks(6);  phase_is("S");
        ticks(1);  phase_is("s");
        ticks(3);  phase_is("G");
        ticks(4);  phase_is("G");
        ticks(1);  phase_is("g");               // that request counts after MAIN_MIN
        ticks(3);  phase_is("S");
        car_side = 1; clocks(4);
        ticks(8);  phase_is("S");
        ticks(1);  phase_is("s");               // SIDE_MAX
        ticks(3 + 5); phase_is("g");
        ticks(3);  phase_is("S");
        ticks(1);
        car_side = 0; clocks(4);
        ticks(1);  phase_is("S");
        ticks(1);  phase_is("s");               // SIDE_MIN without pedestrians
        ticks(3);
        // emergency: main stays green, side is cut short
        emergency = 1; car_side = 1; clocks(4);
        ticks(20); phase_is("G");
        emergency = 0; button = 1; clocks(4); button = 0;
        ticks(1);  phase_is("g");
        emergency = 1; clocks(4);
        ticks(3);  phase_is("S");
        ticks(1);  phase_is("s");
        emergency = 0; car_side = 0; clocks(4);
        ticks(3);  phase_is("G");
        // night
        night = 1; car_side = 1; clocks(4);
        ticks(4);  phase_is("G");
        ticks(1);  phase_is("N");
        ticks(11); phase_is("N");
        emergency = 1; clocks(4);
        ticks(1);  phase_is("b");
        ticks(8);  phase_is("G");
        emergency = 0; clocks(4);
        ticks(2);  phase_is("N");
        night = 0; clocks(4);
        ticks(1);  phase_is("b");
        // a very long green: the count of ticks must survive
        car_side = 0; clocks(4);
        tick = 1;
        clocks(1100);
        phase_is("G");
        car_side = 1; clocks(3);
        phase_is("g");
        tick = 0;

        // random life
        for (i = 0; i < 9000; i = i + 1) begin
            tick = ($random % 2 == 0) || (i % 1000 < 100);
            if ($urandom % 12 == 0) car_side  = $random;
            if ($urandom % 25 == 0) button    = 1; else if ($random % 2) button = 0;
            if ($urandom % 60 == 0) emergency = ($urandom % 3 == 0);
            if ($urandom % 50 == 0) night     = ($urandom % 4 == 0);
            clocks(1);
            if (i % 2000 == 1999) begin
                rst_n = 0;
                restart_model;
                #0.2 compare;
                rst_n = 1;
            end
        end

        // the default parameters
        rst_n = 0;
        {tick, car_side, button, emergency, night} = 5'b00000;
        restart_model;
        #0.2 rst_n = 1;
        @(negedge clk);
        restart_model;
        car_side = 1; button = 1; clocks(3); button = 0; clocks(3);
        measure(3'b100, 3'b100, 2);
        measure(3'b001, 3'b100, 20);
        measure(3'b010, 3'b100, 3);
        measure(3'b100, 3'b100, 2);
        if (left2 !== 8'd12 || walk2 !== 1'b1) errors = errors + 1;
        ticks(7);
        if (walk2 !== 1'b1) errors = errors + 1;
        ticks(1);
        if (walk2 !== 1'b0 || left2 !== 8'd4) errors = errors + 1;
        measure(3'b100, 3'b001, 7);
        car_side = 0;
        measure(3'b100, 3'b010, 3);
        measure(3'b100, 3'b100, 2);
        button = 1; clocks(3); button = 0; clocks(2);
        measure(3'b001, 3'b100, 20);
        ticks(5);
        measure(3'b100, 3'b001, 12);

        if (errors == 0) $display("All tests passed (%0d checks)", checks);
        else             $display("%0d errors in %0d checks", errors, checks);
        $finish;
    end
endmodule
