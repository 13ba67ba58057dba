// Types shared by users of half-precision numbers.
// May be compiled on its own or included; the guard makes both at once harmless.
`ifndef HALF_PKG_SV
`define HALF_PKG_SV

package half_pkg;

    localparam int EXP_W  = 5;
    localparam int FRAC_W = 10;

    localparam logic [15:0] QUIET_NAN = 16'h7E00;

    typedef struct packed {
        logic              sign;
        logic [EXP_W-1:0]  exp;
        logic [FRAC_W-1:0] frac;
    } half_t;

    typedef enum logic [1:0] {
        CLS_ZERO   = 2'd0,      // exponent field 0, whatever the fraction
        CLS_NORMAL = 2'd1,
        CLS_INF    = 2'd2,
        CLS_NAN    = 2'd3
    } class_t;

endpackage

`endif
