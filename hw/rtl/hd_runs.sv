// Takes the operations of a DMA unit, joins their runs (hd_run_join) and walks them (hd_run_nest).
//
// One operation is walked while the next is joined. Latency: taken to its first run at valid_o 2 cycles, and one
// more for each joined loop; throughput: a run a cycle, no cycle between operations. Stalls: adv_i is low;
// stop_i takes nothing more, halt_i likewise and begins nothing.
`include "hd_assert.svh"

module hd_runs #(
  parameter int unsigned LocBits  = 28,
  parameter int unsigned KeepBits = 32
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 stop_i,
  input  logic                 halt_i,

  // The operation at hand, its runs (see hd_run_join), and what is kept of it
  input  logic                 op_valid_i,
  output logic                 op_ready_o,
  input  logic                 join_i,
  input  logic [3:0]           scale_i,
  input  logic [23:0]          run_i,
  input  logic [47:0]          n_i,
  input  logic [95:0]          ext_step_i,
  input  logic [3*LocBits-1:0] loc_step_i,
  input  logic [KeepBits-1:0]  keep_i,

  // The joined operation: begins to be walked with load_o, from these places by these steps
  output logic                 load_o,
  output logic [KeepBits-1:0]  keep_o,
  output logic [23:0]          run_o,
  input  logic [31:0]          from_ext_i,
  input  logic [LocBits-1:0]   from_loc_i,
  input  logic [95:0]          walk_ext_i,
  input  logic [3*LocBits-1:0] walk_loc_i,

  // The run at hand; end_i: no other of its operation follows
  output logic                 valid_o,
  input  logic                 adv_i,
  input  logic                 end_i,
  output logic [31:0]          ext_o,
  output logic [LocBits-1:0]   loc_o,
  output logic [1:0]           level_o,
  output logic                 last_o,

  output logic                 busy_o,
  output logic                 joining_o  // a loop is being joined, a cycle each
);
  logic                joined_q, joined, accept, walk_q;
  logic [KeepBits-1:0] keep_q;
  logic [47:0]         n;

  assign op_ready_o = !stop_i && !halt_i && (!joined_q || load_o);
  assign accept     = op_valid_i && op_ready_o;
  assign load_o     = joined_q && joined && (!walk_q || (adv_i && last_o)) && !halt_i;
  assign keep_o     = keep_q;
  assign valid_o    = walk_q;
  assign busy_o     = joined_q || walk_q;
  assign joining_o  = joined_q && !joined;

  hd_run_join #(.LocBits(LocBits)) u_join (
    .clk_i,
    .load_i(accept), .join_i, .scale_i, .run_i, .n_i, .ext_step_i, .loc_step_i,
    .ready_o(joined), .run_o, .n_o(n)
  );

  hd_run_nest #(.LocBits(LocBits)) u_nest (
    .clk_i,
    .load_i(load_o), .n_i(n), .ext_i(from_ext_i), .ext_step_i(walk_ext_i), .loc_i(from_loc_i),
    .loc_step_i(walk_loc_i),
    .adv_i, .ext_o, .loc_o, .level_o, .last_o
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      joined_q <= 1'b0;
      walk_q   <= 1'b0;
    end else begin
      if (op_ready_o) joined_q <= accept;
      if (load_o) walk_q <= 1'b1;
      else if (adv_i && (last_o || end_i)) walk_q <= 1'b0;
    end
    if (accept) keep_q <= keep_i;
  end

  `ASSERT(WalksWhatIsThere, !adv_i || walk_q)
endmodule
