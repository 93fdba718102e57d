// Walks the runs of a strided transfer: three loops, an off-chip and an on-chip address, by adders.
//
// load_i starts a nest, adv_i moves to the next run; load_i may come with the last adv_i.
//
// Guarantees: addresses wrap at their width. level_o is the loop that the next adv_i steps: 0 next
// run of the row, 1 next row, 2 next plane.
// Latency: 1 cycle, load_i or adv_i to the outputs.
// Throughput: a run a cycle.
// Stalls: never.
module hd_run_nest (
  input  logic              clk_i,

  input  logic              load_i,
  input  hd_bus_pkg::runs_t runs_i,  // its run is not looked at

  input  logic              adv_i,
  output logic [31:0]       ext_o,
  output logic [27:0]       loc_o,
  output logic [1:0]        level_o,
  output logic              last_o   // the last run of all
);
  logic [15:0]        n_q    [2];  // iterations; the outermost loop never starts again
  logic [15:0]        left_q [3];  // of them from this one on
  logic [31:0]        ext_q  [3];  // address where this iteration of the loop began
  logic [27:0]        loc_q  [3];
  logic [31:0]        ext_step_q [3];
  logic [27:0]        loc_step_q [3];
  logic [31:0]        ext_next;
  logic [27:0]        loc_next;
  logic [1:0]         level;
  logic [23:0]        unused_run;

  always_comb begin
    level = left_q[0] != 16'd1 ? 2'd0 : left_q[1] != 16'd1 ? 2'd1 : 2'd2;
    ext_next = ext_q[level] + ext_step_q[level];
    loc_next = loc_q[level] + loc_step_q[level];
  end

  assign unused_run = runs_i.run;
  assign ext_o   = ext_q[0];
  assign loc_o   = loc_q[0];
  assign level_o = level;
  assign last_o  = left_q[0] == 16'd1 && left_q[1] == 16'd1 && left_q[2] == 16'd1;

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      for (int unsigned l = 0; l < 2; l++) n_q[l] <= runs_i.n[16 * l +: 16];
      for (int unsigned l = 0; l < 3; l++) begin
        left_q[l]     <= runs_i.n[16 * l +: 16];
        ext_q[l]      <= runs_i.ext;
        loc_q[l]      <= runs_i.loc;
        ext_step_q[l] <= runs_i.ext_step[32 * l +: 32];
        loc_step_q[l] <= runs_i.loc_step[28 * l +: 28];
      end
    end else if (adv_i) begin
      for (int unsigned l = 0; l < 2; l++) if (2'(l) < level) left_q[l] <= n_q[l];
      for (int unsigned l = 0; l < 3; l++) begin
        if (2'(l) == level) left_q[l] <= left_q[l] - 16'd1;
        if (2'(l) <= level) begin
          ext_q[l] <= ext_next;
          loc_q[l] <= loc_next;
        end
      end
    end
  end
endmodule
