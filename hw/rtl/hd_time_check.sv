// Checks a latency of isa/timing.def in simulation. For models with assertions (+define+HD_CHECKS);
// never synthesised.
//
// start_i comes when nothing else can cause the event in the next Cycles cycles; cancel_i forgets
// what has started (something else held it up).
//
// Guarantees: what start_i begins is seen at event_i exactly Cycles later, and not before, or the
// model stops.
// Latency: Cycles.
// Throughput: a start a cycle.
// Stalls: never.
`include "hd_assert.svh"

module hd_time_check #(
  parameter int unsigned Cycles = 2
) (
  input logic clk_i,
  input logic rst_ni,
  input logic start_i,
  input logic cancel_i,
  input logic event_i
);
  logic [Cycles-1:0] begun_q;  // bit i: i + 1 cycles ago

  always_ff @(posedge clk_i)
    if (!rst_ni || cancel_i) begun_q <= '0;
    else begun_q <= {begun_q[Cycles-2:0], start_i};

  `ASSERT(InTime, cancel_i || !begun_q[Cycles-1] || event_i)
  `ASSERT(NotBefore, cancel_i || begun_q[Cycles-2:0] == '0 || !event_i)
endmodule
