// Properties of hd_lx_gen: the valid part of a run is exactly the bytes that lx.load calls valid; the beats that
// are asked for hold these bytes, none before or behind, and they lie inside the segment's window; a run holds until
// its bursts have gone (what these are: hd_read_bursts).
// cut: ext loc a_last joining j_run u_runs.joined
// any: XmBytes AmBytes AmWord
// quick: op_valid_i && op_i.code == hd_isa_pkg::LxLoad && seg_i == {64'd0, 32'd4096, 64'd0, 32'd4096}
// mutant: s/assign c_ready = !c_valid_q || c_done/assign c_ready = 1'b1/
// mutant: s/else if (row_end < run_end) hi = row_end\[23:0\]/else if (row_end <= run_end) hi = row_end[23:0] - 24'd1/
// mutant: s/y_q >= 34'(signed'({1'b0, at_q.rows}))/y_q > 34'(signed'({1'b0, at_q.rows}))/
// mutant: s/33'(b_ext_q) + 33'(b_len) > /33'(b_ext_q) > /
// mutant: s/b_ext_q  <= ext - skipped/b_ext_q  <= ext/

  `ASSUME(Held, $stable(seg_i))
  (* hierconn *) logic [4:0] \u_bursts.open_q ;
  `DUTY(EndsOpen, !r_end_i || \u_bursts.open_q != 5'd0)
  `ASSUME(RecordRoomStays, !$past(rec_ready_i && !rec_valid_o) || rec_ready_i)

  // Byte j of the run at hand, chosen freely.
  (* anyseq *) logic [23:0] j;
  logic signed [48:0]       x_f;
  assign x_f = 49'(x_q) + 49'(signed'({1'b0, j}));
  `ASSERT(ValidPart, j >= run_q || (j >= lo && j < hi) ==
          (!at_q.edge_ || (x_f >= 49'sd0 && x_f < 49'(signed'({1'b0, at_q.row_bytes})) &&
                       y_q >= 34'sd0 && y_q < 34'(signed'({1'b0, at_q.rows})))))
  `ASSERT(PartInRun, !a_valid || (lo <= run_q && hi <= run_q && lo <= hi))

  // Of the run at hand in stage B, then C: offset in the segment of its first byte, whether it is joined or not.
  logic [31:0] b_first_f, c_first_f;
  logic        c_seg_f;
  always_ff @(posedge clk_i) begin
    if (a_adv) b_first_f <= ext;
    if (b_valid_q && c_ready) begin
      c_first_f <= b_first_f;
      c_seg_f   <= b_seg_q;
    end
  end
  `ASSERT(PartB, !b_valid_q || (b_lo_q <= b_hi_q && (b_lo_q == b_hi_q || b_ext_q == b_first_f + 32'(b_lo_q))))
  logic [23:0] c_len_f;
  logic [31:0] c_at_f;
  logic [63:0] c_begin_f;
  assign c_len_f   = c_hi_q - c_lo_q;
  assign c_at_f    = c_first_f + 32'(c_lo_q);
  assign c_begin_f = (c_seg_f ? seg_i.arena.ptr : seg_i.image.ptr) + 64'(c_at_f);
  `ASSERT(PartC, !c_valid_q || (c_lo_q <= c_hi_q && c_data_q == (c_len_f != '0 && c_err_q == hd_reg_pkg::ErrNone)))
  `ASSERT(Fence, !(c_valid_q && c_data_q) || (c_addr_q == c_begin_f &&
          33'(c_at_f) + 33'(c_len_f) <= 33'(c_seg_f ? seg_i.arena.bytes : seg_i.image.bytes)))
  // From the beat of the first byte to the beat of the last.
  `ASSERT(BeatsHoldBytes, !(c_valid_q && c_data_q) ||
          (32'(c_addr_q[OffBits-1:0]) + 32'(c_len_f) <= 32'(c_beats_q) << OffBits &&
           32'(c_addr_q[OffBits-1:0]) + 32'(c_len_f) > (32'(c_beats_q) - 32'd1) << OffBits))

  `ASSERT(ErrorAsksNothing, !(c_valid_q && c_err_q != hd_reg_pkg::ErrNone) || !ar_o.valid)
  // What the proof of hd_read_bursts takes for granted: the run holds until its bursts have gone.
  `ASSERT(RunHeld, !$past(c_valid_q && !c_done) ||
          (c_valid_q && $stable({c_data_q, c_addr_q, c_beats_q})))

  // What InsidePage needs inside hd_burst: a burst to come is aligned and not empty.
  (* hierconn *) logic        \u_bursts.u_burst.mid_q ;
  (* hierconn *) logic [24:0] \u_bursts.u_burst.left_q ;
  (* hierconn *) logic [63:0] \u_bursts.u_burst.addr_q ;
  `ASSERT(BurstState, !\u_bursts.u_burst.mid_q || (c_valid_q && c_data_q && \u_bursts.u_burst.left_q != '0 &&
                                          \u_bursts.u_burst.addr_q [OffBits-1:0] == '0))
