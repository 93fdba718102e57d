// Clock of a unit that can stand still: in synthesis the clock itself.
//
// Guarantees: the simulated unit has no edge in a cycle for which en_i was low before its rising
// edge, so that Verilator evaluates nothing of it. Its user keeps en_i high during reset and in
// every cycle in which a register of the unit could change in a way that is ever seen. `make
// test-gates` runs random programs with and without (+define+HD_UNGATED): every cycle count is the
// same.
// Latency: none.
// Throughput: an edge a cycle.
// Stalls: en_i is low.
module hd_gate (
  input  logic clk_i, en_i,
  output logic clk_o
);
`ifdef VERILATOR
`ifndef HD_UNGATED
  `define HD_GATED
`endif
`endif
`ifdef HD_GATED
  logic en_q;
  always_ff @(negedge clk_i) en_q <= en_i;
  assign clk_o = clk_i && en_q;
`else
  logic unused_en;
  assign unused_en = en_i;
  assign clk_o     = clk_i;
`endif
endmodule
