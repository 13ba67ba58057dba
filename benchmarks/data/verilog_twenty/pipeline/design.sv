// Four-stage pipeline: ID, EX, MEM, WB.
`include "isa_defs.svh"

// Eight registers, written at the falling edge so that ID sees what WB holds.
module pipe_regfile (
    input             clk,
    input             rst,
    input             we,
    input      [2:0]  waddr,
    input      [15:0] wdata,
    input      [2:0]  raddr_a,
    input      [2:0]  raddr_b,
    output     [15:0] rdata_a,
    output     [15:0] rdata_b
);
    reg [15:0] regs [0:7];
    integer    i;

    always @(negedge clk or posedge rst) begin
        if (rst) begin
            for (i = 0; i < 8; i = i + 1)
                regs[i] <= 16'd0;
        end else if (we) begin
            regs[waddr] <= wdata;
        end
    end

    assign rdata_a = regs[raddr_a];
    assign rdata_b = regs[raddr_b];
endmodule

module pipe_alu (
    input      [3:0]  op,
    input      [15:0] a,
    input      [15:0] b,
    input      [15:0] imm,
    output reg [15:0] y
);
    wire [3:0] amount;

    assign amount = b[3:0];

    always @* begin
        case (op)
            `OP_ADD: y = a + b;
            `OP_SUB: y = a - b;
            `OP_AND: y = a & b;
            `OP_OR:  y = a | b;
            `OP_XOR: y = a ^ b;
            `OP_SLT: y = {15'd0, $signed(a) < $signed(b)};
            `OP_SLL: y = a << amount;
            `OP_SRA: y = $signed(a) >>> amount;
            `OP_LDI: y = imm;
            default: y = a + imm;           // ADDI and addresses
        endcase
    end
endmodule

module alu_pipe4 (
    input             clk,
    input             rst,
    input             enable,
    input             flush,
    input             instr_valid,
    input      [15:0] instr,
    output            instr_ready,
    output            retire_valid,
    output            retire_we,
    output     [2:0]  retire_rd,
    output     [15:0] retire_data,
    output            retire_illegal,
    output            busy,
    output reg [7:0]  stall_count
);
    // ---- ID -----------------------------------------------------------------
    reg         id_valid;
    reg  [15:0] id_instr;
    wire [3:0]  id_op   = id_instr[15:12];
    wire [2:0]  id_rd   = id_instr[11:9];
    wire [2:0]  id_rs   = id_instr[8:6];
    wire [2:0]  id_src2 = (id_op == `OP_ST) ? id_rd : id_instr[5:3];
    wire [15:0] id_a, id_b;
    reg  [15:0] id_imm;
    reg         id_use_rs, id_use_src2, id_writes;

    // ---- EX -----------------------------------------------------------------
    reg         ex_valid, ex_we;
    reg  [3:0]  ex_op;
    reg  [2:0]  ex_rd, ex_rs, ex_src2;
    reg  [15:0] ex_a, ex_b, ex_imm;
    wire [15:0] op_a, op_b, ex_y;
    wire        ex_load;

    // ---- MEM ----------------------------------------------------------------
    reg         mem_valid, mem_we;
    reg  [3:0]  mem_op;
    reg  [2:0]  mem_rd;
    reg  [15:0] mem_y, mem_store;
    reg  [15:0] data_mem [0:15];
    reg  [15:0] constants [0:15];
    wire [15:0] mem_result;

    // ---- WB -----------------------------------------------------------------
    reg         wb_valid, wb_we, wb_illegal;
    reg  [2:0]  wb_rd;
    reg  [15:0] wb_data;

    wire        stall;
    integer     k;

    initial $readmemh("init.mem", constants);

    pipe_regfile u_regs (
        .clk(clk), .rst(rst), .we(wb_we), .waddr(wb_rd), .wdata(wb_data), .raddr_a(id_rs),
        .raddr_b(id_src2), .rdata_a(id_a), .rdata_b(id_b));

    // Decode.
    always @* begin
        id_imm      = {{10{id_instr[5]}}, id_instr[5:0]};
        id_use_rs   = 1'b0;
        id_use_src2 = 1'b0;
        id_writes   = 1'b0;
        case (id_op)
            `OP_ADD, `OP_SUB, `OP_AND, `OP_OR, `OP_XOR, `OP_SLT, `OP_SLL, `OP_SRA: begin
                id_use_rs   = 1'b1;
                id_use_src2 = 1'b1;
                id_writes   = 1'b1;
            end
            `OP_ADDI, `OP_LD, `OP_LDC: begin
                id_use_rs = 1'b1;
                id_writes = 1'b1;
            end
            `OP_LDI: begin
                id_imm    = {{7{id_instr[8]}}, id_instr[8:0]};
                id_writes = 1'b1;
            end
            `OP_ST: begin
                id_use_rs   = 1'b1;
                id_use_src2 = 1'b1;
            end
            default: ;
        endcase
    end

    assign ex_load = ex_valid && ex_we && (ex_op == `OP_LD || ex_op == `OP_LDC);
    assign stall   = id_valid && ex_load && ((id_use_rs   && id_rs   == ex_rd) ||
                                             (id_use_src2 && id_src2 == ex_rd));

    assign instr_ready = !stall && !flush;

    always @(posedge clk or posedge rst) begin
        if (rst) begin
            id_valid    <= 1'b0;
            id_instr    <= 16'd0;
            stall_count <= 8'd0;
        end else if (enable) begin
            if (flush) begin
                id_valid <= 1'b0;
            end else if (stall) begin
                stall_count <= stall_count + 8'd1;
            end else begin
                id_valid <= instr_valid;
                id_instr <= instr;
            end
        end
    end

    // ID to EX.
    always @(posedge clk or posedge rst) begin
        if (rst) begin
            ex_valid <= 1'b0;
            ex_we    <= 1'b0;
            ex_op    <= `OP_NOP;
            {ex_rd, ex_rs, ex_src2} <= 9'd0;
            {ex_a, ex_b, ex_imm}    <= 48'd0;
        end else if (enable) begin
            ex_valid <= id_valid && !stall && !flush;
            ex_we    <= id_writes && id_rd != 3'd0;
            ex_op    <= id_op;
            ex_rd    <= id_rd;
            ex_rs    <= id_rs;
            ex_src2  <= id_src2;
            ex_a     <= id_a;
            ex_b     <= id_b;
            ex_imm   <= id_imm;
        end
    end

    // Forwarding: the nearer stage wins. A load in MEM never matches, thanks to the stall.
    assign op_a = (mem_we && mem_rd == ex_rs)   ? mem_y :
                  (wb_we  && wb_rd  == ex_rs)   ? wb_data : ex_a;
    assign op_b = (mem_we && mem_rd == ex_src2) ? mem_y :
                  (wb_we  && wb_rd  == ex_src2) ? wb_data : ex_b;

    pipe_alu u_alu (.op(ex_op), .a(op_a), .b(op_b), .imm(ex_imm), .y(ex_y));

    // EX to MEM.
    always @(posedge clk or posedge rst) begin
        if (rst) begin
            mem_valid <= 1'b0;
            mem_we    <= 1'b0;
            mem_op    <= `OP_NOP;
            mem_rd    <= 3'd0;
            mem_y     <= 16'd0;
            mem_store <= 16'd0;
        end else if (enable) begin
            mem_valid <= ex_valid && !flush;
            mem_we    <= ex_valid && ex_we && !flush;
            mem_op    <= ex_op;
            mem_rd    <= ex_rd;
            mem_y     <= ex_y;
            mem_store <= op_b;
        end
    end

    assign mem_result = (mem_op == `OP_LD)  ? data_mem[mem_y[3:0]]  :
                        (mem_op == `OP_LDC) ? constants[mem_y[3:0]] : mem_y;

    always @(posedge clk or posedge rst) begin
        if (rst) begin
            for (k = 0; k < 16; k = k + 1)
                data_mem[k] <= 16'd0;
        end else if (enable && mem_valid && mem_op == `OP_ST) begin
            data_mem[mem_y[3:0]] <= mem_store;
        end
    end

    // MEM to WB.
    always @(posedge clk or posedge rst) begin
        if (rst) begin
            {wb_valid, wb_we, wb_illegal} <= 3'b000;
            wb_rd   <= 3'd0;
            wb_data <= 16'd0;
        end else if (enable) begin
            wb_valid   <= mem_valid;
            wb_we      <= mem_we;
            wb_illegal <= mem_valid && (mem_op == 4'hE || mem_op == 4'hF);
            wb_rd      <= mem_rd;
            wb_data    <= mem_result;
        end
    end

    assign retire_valid   = wb_valid;
    assign retire_we      = wb_we;
    assign retire_rd      = wb_rd;
    assign retire_data    = wb_data;
    assign retire_illegal = wb_illegal;
    assign busy           = id_valid || ex_valid || mem_valid || wb_valid;
endmodule
