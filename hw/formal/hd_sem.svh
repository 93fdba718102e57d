// Properties of hd_sem, for one semaphore chosen freely: it counts what its ports say, never goes below
// zero, has an error above 255, and is granted only as part of a whole mask.
// mutant: s/v < u; v++/v + 1 < u; v++/
// mutant: s/ & ~nonzero_q) == '0/ \& ~nonzero_q \& 32'hffff) == '0/
// mutant: s/above\[s\] = count_q\[s\]\[8\]/above[s] = count_q[s][4]/
// mutant: s/ more2 ^ ~(more1/ more2 ^ (more1/

  (* anyconst *) logic [4:0] one;
  (* anyconst *) logic [2:0] unit;
  logic [Units-1:0] adds, takes;  // units that signal it, that are granted it
  logic [3:0]       more_f;
  logic [2:0]       less_f;
  logic [8:0]       sum_f, count_f;
  always_comb begin
    adds   = '0;
    takes  = '0;
    more_f = '0;
    less_f = '0;
    for (int unsigned u = 0; u < Units; u++) begin
      adds[u]  = signal_i[u] && signal_mask_i[Sems * u + 32'(one)];
      takes[u] = grant_o[u] && wait_mask_i[Sems * u + 32'(one)];
      more_f   = more_f + 4'(adds[u]);
      less_f   = less_f + 3'(takes[u]);
    end
    sum_f = count_f + 9'(more_f) - 9'(less_f);
  end
  always_ff @(posedge clk_i)
    if (!rst_ni) count_f <= 9'd0;
    else count_f <= sum_f;

  `ASSERT(Counts, count_q[one] == count_f)
  `ASSERT(NonzeroIsCount, nonzero_o[one] == (count_f != 9'd0))
  `ASSERT(NeverBelowZero, 9'(less_f) <= count_f)
  `ASSERT(OneTakes, less_f <= 3'd1)
  `ASSERT(GrantOnlyWanted, (grant_o & ~want_i) == '0)
  // The whole mask is there: what is not above zero is not granted.
  `ASSERT(GrantNeedsAll, count_f != 9'd0 || takes == '0)
  // Lowest unit first: nothing but a semaphore at zero or a lower unit holds a request back.
  `ASSERT(LowestGoes, !want_i[0] || grant_o[0] == ((wait_mask_i[Sems-1:0] & ~nonzero_o) == '0))
  `ASSERT(AloneGoes, unit >= 3'(Units) || want_i != (6'd1 << unit) ||
          grant_o[unit] == ((wait_mask_i[Sems * unit +: Sems] & ~nonzero_o) == '0))

  // Error in the next cycle, for every unit that signalled it, and for no other reason.
  logic [Units*Sems-1:0] signals_q;
  logic [Units-1:0]      blame, must_q;
  always_comb
    for (int unsigned u = 0; u < Units; u++)
      blame[u] = (signals_q[Sems * u +: Sems] & above) != '0;
  always_ff @(posedge clk_i) begin
    for (int unsigned u = 0; u < Units; u++)
      signals_q[Sems * u +: Sems] <= signal_i[u] ? signal_mask_i[Sems * u +: Sems] : '0;
    must_q <= rst_ni && sum_f > 9'd255 ? adds : '0;
  end
  `ASSERT(AboveIsCount, above[one] == (count_f > 9'd255))
  `ASSERT(OverflowSeen, (must_q & ~overflow_o) == '0)
  `ASSERT(OverflowCause, !rst_ni || overflow_o == blame)
