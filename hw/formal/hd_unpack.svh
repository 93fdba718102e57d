// Properties of hd_unpack: places count up by one, no word of the stream is lost or taken twice, a loop reads
// only words that have issued and still stand in the window, and nothing issues behind the end.
// cut: kept_word
// mutant: s/(again_q == AgainBits'(1) && step)/again_q == AgainBits'(1)/
// mutant: s/32'(back) < hd_isa_pkg::LoopMin/32'(back) == 32'd0/
// mutant: s/32'(kept_d) + 32'(fresh)/32'(kept_d) + 32'(fresh) + 32'd1/
// mutant: s/room     = !out_valid_q || out_ready/room     = 1'b1/

  // The program is known from the first word on.
  `ASSUME(TotalHeld, $stable(total_i) && $stable(packed_i))
  `ASSUME(TotalHasHeader, total_i >= 32'(hd_isa_pkg::ProgHeaderWords))

  logic [31:0] issued, pushed_q;  // words that have come, that have gone on to the window and issue
  assign issued = at_q - 32'(hd_isa_pkg::ProgHeaderWords);
  always_ff @(posedge clk_i)
    if (!rst_ni) pushed_q <= 32'd0;
    else if (push) pushed_q <= pushed_q + 32'd1;
  `ASSERT(NotBehindTheEnd, at_q >= 32'(hd_isa_pkg::ProgHeaderWords) && at_q <= total_i)
  `ASSERT(AllArePushed, pushed_q == issued - 32'(out_valid_q))
  `ASSERT(InItsPlace, !out_valid_q || out_at_q == at_q[BackBits-1:0] - 1'b1)
  `ASSERT(Kept, kept_q == (issued > 32'd1 << BackBits ? (BackBits + 1)'(1) << BackBits :
                           (BackBits + 1)'(issued)))

  // The window has the word that a loop reads: it went there before, and no later one took its place.
  `ASSERT(BodyIsThere, again_q == '0 || bad_q ||
                       (32'(back_q) >= hd_isa_pkg::LoopMin &&
                        32'(back_q) <= 32'(kept_q) + 32'(fresh_q)))
  `ASSERT(ReadsWhatIssued, !(step && !is_new) ||
                           (32'(back_q) <= issued && issued - 32'(back_q) < pushed_q))

  // Words of the stream: taken when there, as a new word or as a loop word, and the latter when the one before
  // has been worked off.
  `ASSERT(TakesWhatIsThere, !in_ready_o || in_valid_i)
  `ASSERT(OneUse, !(read_loop && step && is_new))
  `ASSERT(LoopIsOver, !read_loop || (fresh_q == '0 && (again_q == '0 || (again_q == 1 && step))))
  `ASSERT(PlainHasNoLoops, packed_i || (fresh_q == '0 && again_q == '0))
  `ASSERT(BadIsTheEnd, !bad_o || (!valid_o && !in_ready_o))
