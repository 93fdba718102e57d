// Takes the operations of a DMA unit, joins their runs (hd_run_join) and walks them (hd_run_nest).
// One operation is walked while the next is joined.
//
// Guarantees: runs come in order. An illegal one is the last that goes on (fail_i): nothing is
// taken or given then until reset.
// Latency: taken to its first run at valid_o 2 cycles, and one more for each joined loop.
// Throughput: a run a cycle, no cycle between operations of two runs and more. An operation is taken
// in the cycle after the one before began to be walked: no path leads from runs to the front.
// Stalls: adv_i is low; stop_i takes nothing more.
`include "hd_assert.svh"

module hd_runs #(
  parameter int unsigned KeepBits = 32,
  parameter int unsigned Scales   = 0  // see hd_run_join
) (
  input  logic                clk_i, rst_ni, stop_i,

  // The operation at hand, its runs (see hd_run_join), and what is kept of it
  input  logic                op_valid_i,
  output logic                op_ready_o,
  input  logic                join_i,
  input  logic [3:0]          scale_i,
  input  hd_bus_pkg::runs_t   runs_i,
  input  logic [KeepBits-1:0] keep_i,

  // The joined operation: begins to be walked with load_o
  output logic                load_o,
  output logic [KeepBits-1:0] keep_o,
  output logic [23:0]         run_o,

  // The run at hand; fail_i: the run that goes on, or went on before, is illegal
  output logic                valid_o,
  input  logic                adv_i, fail_i,
  output logic [31:0]         ext_o,
  output logic [27:0]         loc_o,
  output logic [1:0]          level_o,
  output logic                last_o,

  output logic                busy_o,
  output logic                joining_o  // a loop is being joined, a cycle each
);
  logic                joined_q, joined, accept, walk_q, halt_q;
  logic [KeepBits-1:0] keep_q;
  hd_bus_pkg::runs_t   runs;

  assign op_ready_o = !stop_i && !halt_q && !joined_q;
  assign accept     = op_valid_i && op_ready_o;
  assign load_o     = joined_q && joined && (!walk_q || (adv_i && last_o)) && !halt_q;
  assign keep_o     = keep_q;
  assign run_o      = runs.run;
  assign valid_o    = walk_q && !halt_q;
  assign busy_o     = !halt_q && (joined_q || walk_q);
  assign joining_o  = joined_q && !joined;

  hd_run_join #(.Scales(Scales)) u_join (
    .clk_i, .load_i(op_ready_o), .join_i, .scale_i, .runs_i, .ready_o(joined), .runs_o(runs)
  );

  hd_run_nest u_nest (
    .clk_i, .load_i(load_o), .runs_i(runs), .adv_i, .ext_o, .loc_o, .level_o, .last_o
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      joined_q <= 1'b0;
      walk_q   <= 1'b0;
      halt_q   <= 1'b0;
    end else begin
      if (op_ready_o) joined_q <= accept;
      else if (load_o) joined_q <= 1'b0;
      if (load_o) walk_q <= 1'b1;
      else if (adv_i && last_o) walk_q <= 1'b0;
      if (fail_i) halt_q <= 1'b1;
    end
    if (op_ready_o) keep_q <= keep_i;  // of no operation, too: whether one comes is known late
  end

  `ASSERT(WalksWhatIsThere, !adv_i || valid_o)
endmodule
