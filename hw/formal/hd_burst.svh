// Properties of hd_burst, for a run that its user holds until its last burst is taken: the bursts follow each other
// without a gap, are 1 to 256 beats, never cross 4 KiB (InsidePage), and add up to the run.
// assume: Positive FirstIsCut
// mutant: s/left_q : beats_i) - 25'(now.len) - 25'd1/left_q : beats_i) - 25'(now.len)/
// mutant: s/cut(10'(addr_d\[11:OffBits\])/cut(10'(addr_o[11:OffBits])/
// mutant: s/mid_q <= !last_o/mid_q <= 1'b0/

  logic ended;
  assign ended = valid_i && ready_i && last_o;
  `ASSUME(RunHeld, !$past(valid_i && !ended) || (valid_i && $stable(addr_i) && $stable(beats_i) && $stable(first_i)))

  logic [24:0] sent_q;  // beats of the run in bursts that went
  always_ff @(posedge clk_i)
    if (!rst_ni) sent_q <= '0;
    else if (valid_o && ready_i) sent_q <= ended ? '0 : sent_q + 25'(len_o) + 25'd1;

  `ASSERT(SentLess, sent_q == '0 || (valid_i && sent_q < beats_i))
  `ASSERT(Mid, mid_q == (sent_q != '0))
  `ASSERT(Left, !mid_q || left_q == beats_i - sent_q)
  `ASSERT(FirstIsFirst, first_o == (sent_q == '0))
  `ASSERT(NoGap, !valid_o ||
          addr_o == ({addr_i[63:OffBits], {OffBits{1'b0}}} + (64'(sent_q) << OffBits)))
  `ASSERT(NotTooMany, !valid_o || 26'(sent_q) + 26'(len_o) + 26'd1 <= 26'(beats_i))
  `ASSERT(SumIsRun, !ended || sent_q + 25'(len_o) + 25'd1 == beats_i)
  `ASSERT(LastIsLast, !valid_o || last_o == (sent_q + 25'(len_o) + 25'd1 == beats_i))
