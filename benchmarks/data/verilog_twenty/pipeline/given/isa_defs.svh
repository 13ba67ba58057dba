// Operation codes, bits 15:12 of an instruction.
`ifndef ISA_DEFS_SVH
`define ISA_DEFS_SVH

`define OP_NOP  4'h0
`define OP_ADD  4'h1
`define OP_SUB  4'h2
`define OP_AND  4'h3
`define OP_OR   4'h4
`define OP_XOR  4'h5
`define OP_SLT  4'h6
`define OP_SLL  4'h7
`define OP_ADDI 4'h8
`define OP_LDI  4'h9
`define OP_LD   4'hA
`define OP_ST   4'hB
`define OP_LDC  4'hC
`define OP_SRA  4'hD

`endif
