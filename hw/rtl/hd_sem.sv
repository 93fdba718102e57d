// Counting semaphores: 32 of 8 bits, shared by the sequencer and the units.
//
// want_i with a mask: grant_o in the same cycle when every semaphore of the mask is above zero, and
// those drop by one at the end of it. Requests that share a semaphore are granted one per cycle, the
// lowest unit first. signal_i increments at the end of the cycle. A count above 255 stays at 255 and
// raises overflow_o of a unit that signalled it in the next cycle. No other stalls.
`include "hd_assert.svh"

module hd_sem (
  input  logic                                                   clk_i,
  input  logic                                                   rst_ni,

  // Mask of unit u at [32 * u +: 32]
  input  logic [hd_isa_pkg::Units-1:0]                           want_i,
  input  logic [hd_isa_pkg::Units*hd_isa_pkg::Semaphores-1:0]    wait_mask_i,
  output logic [hd_isa_pkg::Units-1:0]                           grant_o,
  input  logic [hd_isa_pkg::Units-1:0]                           signal_i,
  input  logic [hd_isa_pkg::Units*hd_isa_pkg::Semaphores-1:0]    signal_mask_i,

  output logic [hd_isa_pkg::Semaphores-1:0]                      nonzero_o,
  output logic [hd_isa_pkg::Units-1:0]                           overflow_o
);
  localparam int unsigned Units = hd_isa_pkg::Units;
  localparam int unsigned Sems  = hd_isa_pkg::Semaphores;

  logic [7:0]       count_q [Sems];
  logic [Sems-1:0]  nonzero_q, taken, ask;
  logic [Units-1:0] overflow_q;

  assign nonzero_o  = nonzero_q;
  assign overflow_o = overflow_q;

  always_comb begin
    taken   = '0;
    grant_o = '0;
    ask     = '0;
    for (int unsigned u = 0; u < Units; u++) begin
      ask = wait_mask_i[Sems * u +: Sems];
      if (want_i[u] && (ask & ~nonzero_q) == '0 && (ask & taken) == '0) begin
        grant_o[u] = 1'b1;
        taken      = taken | ask;
      end
    end
  end

  // Increments of every semaphore, then the counts. Most cycles have neither a grant nor a signal:
  // nothing is computed then, which simulates faster and costs no gate.
  logic [2:0]       more [Sems];
  logic [8:0]       next [Sems];
  logic [Units-1:0] over;

  always_comb begin
    over = '0;
    for (int unsigned s = 0; s < Sems; s++) begin
      more[s] = 3'd0;
      next[s] = 9'd0;
    end
    if (grant_o != '0 || signal_i != '0) for (int unsigned s = 0; s < Sems; s++) begin
      for (int unsigned u = 0; u < Units; u++)
        more[s] = more[s] + 3'(signal_i[u] && signal_mask_i[Sems * u + s]);
      next[s] = 9'(count_q[s]) + 9'(more[s]) - 9'(taken[s]);
      if (next[s] > 9'(hd_isa_pkg::SemMax))
        for (int unsigned u = 0; u < Units; u++)
          over[u] = over[u] || (signal_i[u] && signal_mask_i[Sems * u + s]);
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned s = 0; s < Sems; s++) count_q[s] <= 8'd0;
      nonzero_q  <= '0;
      overflow_q <= '0;
    end else begin
      overflow_q <= over;
      if (grant_o != '0 || signal_i != '0)
        for (int unsigned s = 0; s < Sems; s++) begin
          count_q[s]   <= next[s][8] ? 8'(hd_isa_pkg::SemMax) : next[s][7:0];
          nonzero_q[s] <= next[s] != 9'd0;
        end
    end
  end

  `ASSERT(TakenWereThere, (taken & ~nonzero_q) == '0)
endmodule
