// Properties of hd_fetch: space for every beat is reserved before its burst is asked for; a request holds until
// it is taken, stays inside 256 bytes, hence inside 4 KiB, and inside the image's window; no word comes out of
// the program's end or behind an error, each goes on once.
// cut: beat
// any: MachineHash
// quick: run_i && !stop_i && ar_ready_i && image_ptr_i == 64'd64 && code_offset_i == 32'd0 && image_bytes_i == 32'd65536
// mutant: s/32'(reserved_q) + 32'(burst) <= Beats/32'(reserved_q) <= Beats/
// mutant: s/at_q < limit_q &&/1'b1 \&\&/
// mutant: s/32'(at64_q\[UnitBits-1:0\]))/32'd0)/
// mutant: s/header ? 3'(HeaderStep) : 3'd1/3'd1/
// mutant: s/ - (BeatBits + 1)'(pop)/ - (BeatBits + 1)'(take)/
// mutant: s/in_high && end_bytes > 35'(image_bytes_i)/1'b0/

  // The host holds these during a run.
  `ASSUME(Held, $stable(image_ptr_i) && $stable(image_bytes_i) && $stable(code_offset_i))

  logic [BeatBits:0] coming_f, open_f;  // beats asked for and not here yet; their bursts
  logic [31:0]       coming_d, open_d;
  assign coming_d = 32'(coming_f) - 32'(r_valid_i);
  assign open_d   = 32'(open_f) - 32'(r_valid_i && r_last_i);
  always_ff @(posedge clk_i)
    if (!rst_ni) begin
      coming_f <= '0;
      open_f   <= '0;
    end else begin
      coming_f <= (BeatBits + 1)'(coming_d + (ask ? 32'(burst) : 32'd0));
      open_f   <= (BeatBits + 1)'(open_d + 32'(ask));
    end
  // The memory answers what was asked, and every open burst has its last beat to come.
  `DUTY(BeatWasAsked, !r_valid_i || (coming_f != '0 && open_f != '0))
  `DUTY(LastComes, open_d <= coming_d && (open_d != 32'd0 || coming_d == 32'd0))

  `ASSERT(Reserved, 32'(reserved_q) == 32'(unused_count) + 32'(coming_f) &&
          32'(reserved_q) <= Beats)
  `ASSERT(Drained, open_q == open_f && drained_o == (coming_f == '0))
  `ASSERT(OpenHasBeat, open_f <= coming_f && (open_f != '0 || coming_f == '0))
  `ASSERT(Fresh, begun_q || (next_q == '0 && reserved_q == '0 && open_q == '0 && !known_q))
  `ASSERT(ArHolds, !$past(ar_valid_o && !ar_ready_i) || stop_i || err_o || $past(take && header) ||
          (ar_valid_o && $stable(ar_addr_o) && $stable(ar_len_o)))
  `ASSERT(Aligned, err_o || !begun_q || ((image_ptr_i[5:0] | code_offset_i[5:0]) == 6'd0 &&
                                         (at_q >= limit_q || at_q[5:0] == '0)))
  `ASSERT(FirstLimit, err_o || !begun_q || next_q >= 32'd4 || (at_q <= limit_q &&
          limit_q == (first_end < 33'(image_bytes_i) ? first_end : 33'(image_bytes_i))))
  `ASSERT(InChunk, !ar_valid_o ||
          32'(ar_addr_o[7:0]) + ((32'(ar_len_o) + 32'd1) << OffBits) <= 32'd256)
  // Not a byte is asked for beyond the beat that holds the window's last.
  `ASSERT(InWindow, err_o || !begun_q || limit_q <= 33'(image_bytes_i))
  `ASSERT(AskInWindow, !ar_valid_o || 34'(at_q) + (34'(ar_len_o) << OffBits) < 34'(image_bytes_i))
  `ASSERT(NoWordBehind, !word_here || (known_q && next_q < words_q && !err_o))
  `ASSERT(WholeSteps, next_q >= 32'(Header) || (next_q & 32'(HeaderStep - 1)) == 32'd0)
  `ASSERT(InItsBeat, !take || 32'(i_word) + 32'(n_take) <= Words)
  // Each word goes on once: what has left the buffer is issued, or one of the two in between.
  logic [1:0] between;
  assign between = 2'(skid_valid) + 2'(!word_room);
  `ASSERT(FullIsValid, word_room || skid_valid)
  `ASSERT(EachGoesOnce, err_o || (known_q ? pc_q + 32'(between) == next_q : pc_q == 32'(Header) && between == 2'd0))
  `ASSERT(EndIsLast, err_o || !known_q || next_q <= words_q)
  `ASSERT(HeaderFirst, err_o || known_q == (next_q >= 32'd4))
  `ASSERT(HasHeader, err_o || next_q < 32'd4 || words_q >= 32'd4)
