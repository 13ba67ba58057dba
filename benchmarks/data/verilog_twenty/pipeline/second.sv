`include "isa_defs.svh"

module alu_pipe4 (
    input  logic        clk,
    input  logic        rst,
    input  logic        enable,
    input  logic        flush,
    input  logic        instr_valid,
    input  logic [15:0] instr,
    output logic        instr_ready,
    output logic        retire_valid,
    output logic        retire_we,
    output logic [2:0]  retire_rd,
    output logic [15:0] retire_data,
    output logic        retire_illegal,
    output logic        busy,
    output logic [7:0]  stall_count
);
    logic [15:0] regs [0:7];
    logic [15:0] dmem [0:15];
    logic [15:0] rom  [0:15];
    initial $readmemh("init.mem", rom);

    // ---------------------------------------------------------------- ID
    logic        id_v;
    logic [15:0] id_i;
    wire [3:0] id_op = id_i[15:12];
    wire [2:0] id_rd = id_i[11:9];
    wire [2:0] id_rs = id_i[8:6];
    wire [2:0] id_rt = id_i[5:3];

    wire id_alu3  = (id_op >= `OP_ADD && id_op <= `OP_SLL) || id_op == `OP_SRA;
    wire id_store = (id_op == `OP_ST);
    wire id_uses_s = id_alu3 || id_op == `OP_ADDI || id_op == `OP_LD || id_op == `OP_LDC || id_store;
    wire id_uses_2 = id_alu3 || id_store;
    wire [2:0] id_r2 = id_store ? id_rd : id_rt;     // second register read
    wire id_writes = (id_alu3 || id_op == `OP_ADDI || id_op == `OP_LDI || id_op == `OP_LD || id_op == `OP_LDC)
                     && id_rd != 3'd0;

    wire [15:0] id_a = (id_rs == 3'd0) ? 16'd0 : regs[id_rs];
    wire [15:0] id_b = (id_r2 == 3'd0) ? 16'd0 : regs[id_r2];

    // ---------------------------------------------------------------- EX
    logic        ex_v, ex_we;
    logic [3:0]  ex_op;
    logic [2:0]  ex_rd, ex_rs, ex_r2;
    logic [8:0]  ex_imm;
    logic [15:0] ex_a, ex_b;

    logic        me_v, me_we;
    logic [3:0]  me_op;
    logic [2:0]  me_rd;
    logic [15:0] me_x, me_st;      // result or address; data to store

    logic        wb_v, wb_we, wb_ill;
    logic [2:0]  wb_rd;
    logic [15:0] wb_x;

    function automatic logic [15:0] bypass(input logic [2:0] r, input logic [15:0] old,
            input logic mwe, input logic [2:0] mrd, input logic [15:0] mx,
            input logic wwe, input logic [2:0] wrd, input logic [15:0] wx);
        if (mwe && mrd == r)      bypass = mx;
        else if (wwe && wrd == r) bypass = wx;
        else                      bypass = old;
    endfunction

    wire [15:0] opa = bypass(ex_rs, ex_a, me_v & me_we, me_rd, me_x, wb_v & wb_we, wb_rd, wb_x);
    wire [15:0] opb = bypass(ex_r2, ex_b, me_v & me_we, me_rd, me_x, wb_v & wb_we, wb_rd, wb_x);
    wire [15:0] sx6 = {{10{ex_imm[5]}}, ex_imm[5:0]};

    logic [15:0] ex_y;
    always_comb begin
        case (ex_op)
            `OP_ADD: ex_y = opa + opb;
            `OP_SUB: ex_y = opa - opb;
            `OP_AND: ex_y = opa & opb;
            `OP_OR:  ex_y = opa | opb;
            `OP_XOR: ex_y = opa ^ opb;
            `OP_SLT: ex_y = {15'd0, $signed(opa) < $signed(opb)};
            `OP_SLL: ex_y = opa << opb[3:0];
            `OP_SRA: ex_y = $signed(opa) >>> opb[3:0];
            `OP_LDI: ex_y = {{7{ex_imm[8]}}, ex_imm};
            default: ex_y = opa + sx6;       // ADDI and all addresses
        endcase
    end

    wire ex_late = ex_v && ex_we && (ex_op == `OP_LD || ex_op == `OP_LDC);
    wire stall   = ex_late && id_v &&
                   ((id_uses_s && id_rs == ex_rd) || (id_uses_2 && id_r2 == ex_rd));

    // ---------------------------------------------------------------- MEM
    wire [15:0] me_y = (me_op == `OP_LD)  ? dmem[me_x[3:0]] :
                       (me_op == `OP_LDC) ? rom[me_x[3:0]]  : me_x;

    assign instr_ready    = !stall && !flush;
    assign retire_valid   = wb_v;
    assign retire_we      = wb_v & wb_we;
    assign retire_rd      = wb_rd;
    assign retire_data    = wb_x;
    assign retire_illegal = wb_v & wb_ill;
    assign busy           = id_v | ex_v | me_v | wb_v;

    integer k;
    always_ff @(posedge clk or posedge rst) begin
        if (rst) begin
            id_v <= 1'b0; ex_v <= 1'b0; me_v <= 1'b0; wb_v <= 1'b0;
            id_i <= '0;
            ex_we <= 1'b0; ex_op <= '0; ex_rd <= '0; ex_rs <= '0; ex_r2 <= '0; ex_imm <= '0;
            ex_a <= '0; ex_b <= '0;
            me_we <= 1'b0; me_op <= '0; me_rd <= '0; me_x <= '0; me_st <= '0;
            wb_we <= 1'b0; wb_ill <= 1'b0; wb_rd <= '0; wb_x <= '0;
            stall_count <= 8'd0;
            for (k = 0; k < 16; k = k + 1) dmem[k] <= 16'd0;
        end else if (enable) begin
            // WB
            wb_v   <= me_v;
            wb_we  <= me_we;
            wb_ill <= (me_op[3:1] == 3'b111);
            wb_rd  <= me_rd;
            wb_x   <= me_y;
            if (me_v && me_op == `OP_ST) dmem[me_x[3:0]] <= me_st;
            // MEM
            me_v  <= ex_v && !flush;
            me_we <= ex_we;
            me_op <= ex_op;
            me_rd <= ex_rd;
            me_x  <= ex_y;
            me_st <= opb;
            // EX
            ex_v   <= id_v && !stall && !flush;
            ex_we  <= id_writes;
            ex_op  <= id_op;
            ex_rd  <= id_rd;
            ex_rs  <= id_rs;
            ex_r2  <= id_r2;
            ex_imm <= id_i[8:0];
            ex_a   <= id_a;
            ex_b   <= id_b;
            // ID
            if (flush)
                id_v <= 1'b0;
            else if (!stall) begin
                id_v <= instr_valid;
                id_i <= instr;
            end
            if (stall && !flush) stall_count <= stall_count + 8'd1;
        end
    end

    // register file: second half of the clock
    integer j;
    always_ff @(negedge clk or posedge rst) begin
        if (rst)
            for (j = 0; j < 8; j = j + 1) regs[j] <= 16'd0;
        else if (wb_v && wb_we)
            regs[wb_rd] <= wb_x;
    end
endmodule
