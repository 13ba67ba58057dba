// Register map of pwm_timer. Addresses count 16 bit registers.
`ifndef PWM_TIMER_DEFS_SVH
`define PWM_TIMER_DEFS_SVH

`define PWM_A_CTRL      4'h0
`define PWM_A_PRESCALE  4'h1
`define PWM_A_PERIOD    4'h2
`define PWM_A_STATUS    4'h3
`define PWM_A_POLARITY  4'h4
`define PWM_A_COUNT     4'h5
`define PWM_A_DUTY0     4'h8

// bits of CTRL
`define PWM_B_ENABLE    0
`define PWM_B_CENTER    1
`define PWM_B_IRQ_EN    2

// bits of STATUS
`define PWM_B_WRAP      0
`define PWM_B_DOWN      1
`define PWM_B_RUN       2

`endif
