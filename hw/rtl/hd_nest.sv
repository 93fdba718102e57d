// Affine loop nest: for every iteration one address per stream, sum over loops of index * step, by
// adders alone. A loop restarts from the address at which its enclosing iteration began.
//
// Guarantees: load_i starts a nest, and take_i, no later and with no adv_i after it, takes its
// iterations and steps, in each of several cycles if need be; adv_i moves to the next iteration, in which the streams of
// stay_i keep the address that the loop had. load_i may come with the last adv_i. Addresses are
// modulo 2^24. Every point of a nest is reached from an earlier one by a single step (of at most
// 2^15), so an address that leaves a memory of less than 2^24 - 2^15 words is seen outside before
// it can wrap back inside.
// Latency: 1 cycle, load_i or adv_i to the outputs.
// Throughput: an iteration a cycle.
// Stalls: never.
module hd_nest #(
  parameter int unsigned Loops     = 6,
  parameter int unsigned Streams   = 3,
  parameter int unsigned CountBits = 16
) (
  input  logic                        clk_i,

  // Loop 0 is innermost. The step of loop l in stream s is at [16 * (s * Loops + l) +: 16].
  input  logic                        take_i, load_i,
  input  logic [CountBits*Loops-1:0]  n_i,
  input  logic [16*Loops*Streams-1:0] step_i,
  input  logic [24*Streams-1:0]       base_i,

  input  logic                        adv_i,
  input  logic [Streams-1:0]          stay_i,
  output logic [24*Streams-1:0]       addr_o,
  output logic [Loops-1:0]            first_o,  // loop l is at its first iteration
  output logic [Loops-1:0]            last_o    // loop l is at its last iteration
);
  logic [CountBits-1:0] n_q    [Loops];          // iterations
  logic [CountBits-1:0] left_q [Loops];          // of them from this one on
  logic [15:0]          step_q [Streams*Loops];
  logic [23:0]          at_q   [Streams*Loops];  // address where this iteration of the loop began
  logic [24*Streams-1:0] addr_q;                 // of loop 0
  logic [Loops-1:0]     first_q, last_q, more_q; // more: not last, with the loads in here

  (* keep *) logic [Loops-1:0] last_load;  // what last_o is behind a load, which is known late

  always_comb
    for (int unsigned l = 0; l < Loops; l++) last_load[l] = n_i[CountBits * l +: CountBits] == CountBits'(1);

  assign addr_o  = addr_q;
  assign first_o = first_q;
  assign last_o  = last_q;

  // The arrays are used in this block alone, so that simulation keeps no copies of what it writes.
  always_ff @(posedge clk_i) begin
    if (load_i) begin
      for (int unsigned l = 0; l < Loops; l++) begin
        left_q[l]  = n_i[CountBits * l +: CountBits];
        first_q[l] <= 1'b1;
        last_q[l]  <= last_load[l];
        more_q[l]  <= !last_load[l];
      end
      for (int unsigned i = 0; i < Streams * Loops; i++) at_q[i] = base_i[24 * (i / Loops) +: 24];
      addr_q <= base_i;
    end else if (adv_i) begin : gen_adv
      int unsigned level;                        // innermost loop not at its last iteration
      logic [23:0] at;
      logic [15:0] step;
      level = 0;
      for (int unsigned l = 0; l < Loops; l++) if (more_q[Loops - 1 - l]) level = Loops - 1 - l;
      for (int unsigned l = 0; l < Loops; l++) begin
        if (l < Loops - 1 && l < level) begin  // the outermost loop never starts again
          left_q[l]  = n_q[l];
          first_q[l] <= 1'b1;
          last_q[l]  <= n_q[l] == CountBits'(1);
          more_q[l]  <= n_q[l] != CountBits'(1);
        end else if (l == level) begin
          left_q[l]  = left_q[l] - CountBits'(1);
          first_q[l] <= 1'b0;
          last_q[l]  <= left_q[l] == CountBits'(1);
          more_q[l]  <= left_q[l] != CountBits'(1);
        end
      end
      for (int unsigned s = 0; s < Streams; s++) begin
        at   = at_q[s * Loops];
        step = step_q[s * Loops];
        for (int unsigned l = 1; l < Loops; l++)
          if (level == l) begin
            at   = at_q[s * Loops + l];
            step = step_q[s * Loops + l];
          end
        if (!stay_i[s]) at = at + 24'(signed'(step));
        for (int unsigned l = 0; l < Loops; l++) if (l <= level) at_q[s * Loops + l] = at;
        addr_q[24 * s +: 24] <= at;
      end
    end
    if (take_i) begin
      for (int unsigned l = 0; l < Loops; l++) n_q[l] = n_i[CountBits * l +: CountBits];
      for (int unsigned i = 0; i < Streams * Loops; i++) step_q[i] = step_i[16 * i +: 16];
    end
  end
endmodule
