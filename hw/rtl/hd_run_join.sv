// Joins the runs of a strided transfer that continue each other both in DRAM and on chip, so that they
// become long bursts.
//
// load_i takes an operation; from the next cycle on ready_o says that nothing is left to join. Latency:
// 1 cycle, and one per joined loop; throughput: an operation in as many cycles; it never stalls. A run of more than 2^24 - 1 units becomes 2^24 - 1, which no memory
// holds; what is joined to it is not defined. Until the next load_i the outputs stay.
module hd_run_join #(
  parameter int unsigned LocBits = 28
) (
  input  logic                 clk_i,

  input  logic                 load_i,
  input  logic                 join_i,      // may be joined
  input  logic [3:0]           scale_i,     // log2 of DRAM bytes per unit of run
  input  logic [23:0]          run_i,
  input  logic [47:0]          n_i,         // iterations, loop l at [16 * l +: 16]
  input  logic [95:0]          ext_step_i,
  input  logic [3*LocBits-1:0] loc_step_i,

  output logic                 ready_o,
  output logic [23:0]          run_o,
  output logic [47:0]          n_o
);
  logic               join_q, fits;
  logic [3:0]         scale_q;
  logic [23:0]        run_q;
  logic [15:0]        over_q;    // bits of the run above those
  logic [15:0]        n_q [3];
  logic [31:0]        ext_q [3];
  logic [LocBits-1:0] loc_q [3];
  logic [1:0]         level;     // innermost loop of more than one iteration
  logic [39:0]        product;

  always_comb begin
    level   = n_q[0] != 16'd1 ? 2'd0 : n_q[1] != 16'd1 ? 2'd1 : 2'd2;
    fits    = join_q && n_q[level] > 16'd1 && loc_q[level] == LocBits'(run_q) &&
              36'(ext_q[level]) == 36'(run_q) << scale_q;
    product = 40'(run_q) * 40'(n_q[level]);
  end

  assign ready_o = !fits;
  assign run_o   = over_q != 16'd0 ? 24'hffffff : run_q;
  assign n_o     = {n_q[2], n_q[1], n_q[0]};

  always_ff @(posedge clk_i) begin
    if (load_i) begin
      join_q  <= join_i;
      scale_q <= scale_i;
      run_q   <= run_i;
      over_q  <= 16'd0;
      for (int unsigned l = 0; l < 3; l++) begin
        n_q[l]   <= n_i[16 * l +: 16];
        ext_q[l] <= ext_step_i[32 * l +: 32];
        loc_q[l] <= loc_step_i[LocBits * l +: LocBits];
      end
    end else if (fits) begin
      run_q      <= product[23:0];
      over_q     <= over_q | product[39:24];
      n_q[level] <= 16'd1;
    end
  end
endmodule
