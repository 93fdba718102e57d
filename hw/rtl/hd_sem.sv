// Counting semaphores: 32 of 8 bits, shared by the sequencer and the units.
//
// No path goes from one unit's grant to the next unit's: that chain was 19 LUTs long. Counts lie
// bit by bit, bit i of all 32 side by side, so that all are added in a few operations of a
// simulator.
//
// Guarantees: want_i with a mask is granted in the same cycle when every semaphore of the mask is
// above zero; those drop by one at the end of it. signal_i increments at the end of the cycle. A
// count above 255 becomes 255 and raises overflow_o of a unit that signalled it in the next cycle.
// Latency: a signal is seen by a request of the next cycle.
// Throughput: every unit in every cycle.
// Stalls: a semaphore of the mask is zero; a lower unit, whose whole mask is above zero, wants one
// of the same semaphores.
`include "hd_assert.svh"

module hd_sem (
  input  logic                                                clk_i, rst_ni,

  // Mask of unit u at [32 * u +: 32]
  input  logic [hd_isa_pkg::Units-1:0]                        want_i,
  input  logic [hd_isa_pkg::Units*hd_isa_pkg::Semaphores-1:0] wait_mask_i,
  output logic [hd_isa_pkg::Units-1:0]                        grant_o,
  input  logic [hd_isa_pkg::Units-1:0]                        signal_i,
  input  logic [hd_isa_pkg::Units*hd_isa_pkg::Semaphores-1:0] signal_mask_i,

  output logic [hd_isa_pkg::Semaphores-1:0]                   nonzero_o,
  output logic [hd_isa_pkg::Units-1:0]                        overflow_o
);
  localparam int unsigned Units = hd_isa_pkg::Units;
  localparam int unsigned Sems  = hd_isa_pkg::Semaphores;

  logic [Sems-1:0]       count_q [9];     // of 9 bits: above 255 for one cycle
  logic [Sems-1:0]       nonzero_q, above, taken;
  logic [Units-1:0]      signal_q, there;  // there: wants, and its whole mask is above zero
  logic [Units*Sems-1:0] signal_mask_q;

  always_comb begin
    there   = '0;
    grant_o = '0;
    taken   = '0;
    if (want_i != '0) begin
      for (int unsigned u = 0; u < Units; u++)
        there[u] = want_i[u] && (wait_mask_i[Sems * u +: Sems] & ~nonzero_q) == '0;
      grant_o = there;
      for (int unsigned u = 1; u < Units; u++)
        for (int unsigned v = 0; v < u; v++)
          if (there[v] && (wait_mask_i[Sems * u +: Sems] & wait_mask_i[Sems * v +: Sems]) != '0)
            grant_o[u] = 1'b0;
      for (int unsigned u = 0; u < Units; u++)
        if (grant_o[u]) taken = taken | wait_mask_i[Sems * u +: Sems];
    end
  end

  // Counts with the signals of this cycle, known early, then what is taken, known late: a bit changes
  // when those below it are zero.
  logic [Sems-1:0] by [Units];  // signalled by
  logic [Sems-1:0] one_a, two_a, one_b, two_b, more0, more1, more2, carry, low, more_than_one;
  logic [Sems-1:0] sum  [9];
  logic [Sems-1:0] next [9];

  always_comb begin
    for (int unsigned u = 0; u < Units; u++)
      by[u] = signal_i[u] ? signal_mask_i[Sems * u +: Sems] : '0;
    one_a = by[0] ^ by[1] ^ by[2];
    two_a = (by[0] & by[1]) | (by[0] & by[2]) | (by[1] & by[2]);
    one_b = by[3] ^ by[4] ^ by[5];
    two_b = (by[3] & by[4]) | (by[3] & by[5]) | (by[4] & by[5]);
    more0 = one_a ^ one_b;
    more1 = two_a ^ two_b ^ (one_a & one_b);
    more2 = (two_a & two_b) | (two_a & one_a & one_b) | (two_b & one_a & one_b);

    carry = '0;
    for (int unsigned i = 0; i < 8; i++) begin
      sum[i] = i == 0 ? more0 : i == 1 ? more1 : i == 2 ? more2 : '0;
      low    = count_q[i] | above;  // a count above 255 is 255
      {carry, sum[i]} = {(low & sum[i]) | (low & carry) | (sum[i] & carry), low ^ sum[i] ^ carry};
    end
    sum[8] = carry;

    more_than_one = '0;
    low           = taken;
    for (int unsigned i = 0; i < 9; i++) begin
      next[i] = sum[i] ^ low;
      low     = low & ~sum[i];
      if (i > 0) more_than_one = more_than_one | sum[i];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < 9; i++) count_q[i] <= '0;
      nonzero_q <= '0;
      signal_q  <= '0;
    end else begin
      signal_q <= signal_i;
      if (signal_i != '0) signal_mask_q <= signal_mask_i;
      if (grant_o != '0 || signal_i != '0 || above != '0) begin
        for (int unsigned i = 0; i < 9; i++) count_q[i] <= next[i];
        nonzero_q <= more_than_one | (sum[0] & ~taken);
      end
    end
  end

  assign nonzero_o = nonzero_q;
  assign above     = count_q[8];
  always_comb
    for (int unsigned u = 0; u < Units; u++)
      overflow_o[u] = signal_q[u] && (signal_mask_q[Sems * u +: Sems] & above) != '0;

  `ASSERT(TakenWereThere, (taken & ~nonzero_q) == '0)
endmodule
