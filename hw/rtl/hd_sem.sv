// Counting semaphores: 32 of 8 bits, shared by the sequencer and the units.
//
// No path goes from one unit's grant to the next unit's: that chain was 19 LUTs long. A count has
// one adder: what is taken, known late, is its carry.
//
// Guarantees: want_i with a mask is granted in the same cycle when every semaphore of the mask is
// above zero; those drop by one at the end of it. signal_i increments at the end of the cycle. A
// count above 255 raises overflow_o of a unit that signalled it in the next cycle; that ends the run,
// so counts have one bit more and do not stop there.
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

  logic [8:0]            count_q [Sems];
  logic [Sems-1:0]       nonzero_q, above, taken;
  logic [Units-1:0]      signal_q, there;   // there: wants, and its whole mask is above zero
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

  // Signals of this cycle less one, bit by bit: bit i of all semaphores side by side.
  logic [Sems-1:0] by [Units];  // signalled by
  logic [Sems-1:0] one_a, two_a, one_b, two_b, more0, more1, more2;
  logic [Sems-1:0] less [4];

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

    less[0] = ~more0;
    less[1] = more1 ~^ more0;
    less[2] = more2 ^ ~(more1 | more0);
    less[3] = ~(more2 | more1 | more0);
  end

  // The next count of a semaphore, and whether it is above zero. The bit below both operands makes
  // the carry: nothing is taken.
  function automatic logic [9:0] counted(input logic [8:0] count, input logic [3:0] more_less_one,
                                         input logic nothing);
    logic [8:0] sum;
    logic       unused_bit;
    {sum, unused_bit} = {{6{more_less_one[3]}}, more_less_one[2:0], nothing} + {count, 1'b1};
    counted = {sum != 9'd0, sum};
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned s = 0; s < Sems; s++) count_q[s] <= '0;
      nonzero_q <= '0;
      signal_q  <= '0;
    end else begin
      signal_q <= signal_i;
      if (signal_i != '0) signal_mask_q <= signal_mask_i;
      if (grant_o != '0 || signal_i != '0)
        for (int unsigned s = 0; s < Sems; s++)
          {nonzero_q[s], count_q[s]} <=
              counted(count_q[s], {less[3][s], less[2][s], less[1][s], less[0][s]}, !taken[s]);
    end
  end

  assign nonzero_o = nonzero_q;
  always_comb begin
    for (int unsigned s = 0; s < Sems; s++) above[s] = count_q[s][8];
    for (int unsigned u = 0; u < Units; u++)
      overflow_o[u] = signal_q[u] && (signal_mask_q[Sems * u +: Sems] & above) != '0;
  end

  `ASSERT(TakenWereThere, (taken & ~nonzero_q) == '0)
endmodule
