// Joins the runs of a strided transfer that continue each other both in DRAM and on chip, so that
// they become long bursts.
//
// load_i takes an operation; from the next cycle on ready_o says that nothing is left to join.
//
// Guarantees: the same bytes go the same way. A run of more than 2^24 - 1 units becomes 2^24 - 1,
// which no memory holds; what is joined to it is not defined. Until the next load_i the outputs
// stay.
// Latency: 1 cycle, and one for each joined loop.
// Throughput: an operation in as many cycles.
// Stalls: never.
module hd_run_join #(
  parameter int unsigned Scales = 0  // bit s: scale_i may be s; none: a unit of run is a byte of DRAM
) (
  input  logic              clk_i,

  input  logic              load_i,
  input  logic              join_i,   // may be joined
  input  logic [3:0]        scale_i,  // log2 of DRAM bytes per unit of run
  input  hd_bus_pkg::runs_t runs_i,

  output logic              ready_o,
  output hd_bus_pkg::runs_t runs_o
);
  hd_bus_pkg::runs_t given_q;    // of which n and run change:
  logic              join_q, fits;
  logic [23:0]       run_q;
  logic [35:0]       reach;      // bytes of DRAM that it takes
  logic [15:0]       over_q;     // bits of the run above those
  logic [15:0]       n_q [3], n_level_q;
  logic [31:0]       ext_q [3];  // steps
  logic [27:0]       loc_q [3];
  logic [1:0]        one_q;      // of n_q: it is 1
  logic [2:0]        more_q;     // it is more
  logic [1:0]        level;      // innermost loop of more than one iteration
  logic [39:0]       product;

  always_comb begin
    level   = !one_q[0] ? 2'd0 : !one_q[1] ? 2'd1 : 2'd2;
    fits    = join_q && more_q[level] && loc_q[level] == 28'(run_q) && 36'(ext_q[level]) == reach;
    product = 40'(run_q) * 40'(n_level_q);

    runs_o          = given_q;
    runs_o.n        = {n_q[2], n_q[1], n_q[0]};
    runs_o.ext_step = {ext_q[2], ext_q[1], ext_q[0]};
    runs_o.loc_step = {loc_q[2], loc_q[1], loc_q[0]};
    runs_o.run      = over_q != 16'd0 ? 24'hffffff : run_q;
  end

  assign ready_o = !fits;

  if (Scales != 0) begin : gen_scaled
    logic [15:0] scale_q;  // one bit
    logic [35:0] reach_q, next;
    assign reach = reach_q;

    // Of the few shifts that there are, one: behind the multiplier there is no time for a shifter.
    always_comb begin
      next = '0;
      for (int unsigned s = 0; s < 16; s++)
        if (Scales[s]) next = next | ({36{scale_q[s]}} & (36'(product[23:0]) << s));
    end

    always_ff @(posedge clk_i) begin
      if (load_i) scale_q <= 16'd1 << scale_i;
      if (load_i) reach_q <= 36'(runs_i.run) << scale_i;
      else if (fits) reach_q <= next;
    end
  end else begin : gen_bytes
    logic [3:0] unused_scale;
    assign unused_scale = scale_i;
    assign reach = 36'(run_q);
  end

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      given_q <= runs_i;
      join_q  <= join_i;
      run_q   <= runs_i.run;
      over_q  <= 16'd0;
      n_level_q <= runs_i.n[15:0] != 16'd1 ? runs_i.n[15:0] :
                   runs_i.n[31:16] != 16'd1 ? runs_i.n[31:16] : runs_i.n[47:32];
      for (int unsigned l = 0; l < 3; l++) begin
        n_q[l]    <= runs_i.n[16 * l +: 16];
        if (l < 2) one_q[l] <= runs_i.n[16 * l +: 16] == 16'd1;
        more_q[l] <= runs_i.n[16 * l +: 16] > 16'd1;
        ext_q[l] <= runs_i.ext_step[32 * l +: 32];
        loc_q[l] <= runs_i.loc_step[28 * l +: 28];
      end
    end else if (fits) begin
      run_q      <= product[23:0];
      over_q     <= over_q | product[39:24];
      n_level_q     <= level == 2'd0 && !one_q[1] ? n_q[1] : n_q[2];
      n_q[level]    <= 16'd1;
      if (level != 2'd2) one_q[level[0]] <= 1'b1;
      more_q[level] <= 1'b0;
    end
  end
endmodule
