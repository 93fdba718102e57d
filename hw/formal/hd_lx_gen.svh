// Properties of hd_lx_gen: the valid part of a run is exactly the bytes that lx.load calls valid; the beats that
// are asked for hold these bytes, none before or behind, and they lie inside the segment's window; a read
// request holds until it is taken and never crosses 4 KiB (InsidePage of hd_burst, which also proves that the
// bursts add up); each run gives one record, with its first burst where it has any; at most 16 bursts are open.
// cut: ext loc a_last joined j_run j_n
// any: XmBytes AmBytes AmWord
// quick: op_valid_i && op_code_i == hd_isa_pkg::LxLoad && seg_ptr_i == '0 && seg_bytes_i == {32'd4096, 32'd4096}
// mutant: s/open_q + 5'(ar_valid_o && ar_ready_i)/open_q + 5'(ar_valid_o)/
// mutant: s/burst_valid && may_ask && (!first || rec_ready_i)/burst_valid \& may_ask/
// mutant: s/assign c_ready = !c_valid_q || c_done/assign c_ready = 1'b1/
// mutant: s/else if (row_end < run_end) hi = row_end\[23:0\]/else if (row_end <= run_end) hi = row_end[23:0] - 24'd1/
// mutant: s/y_q >= 34'(signed'({1'b0, rows_q}))/y_q > 34'(signed'({1'b0, rows_q}))/
// mutant: s/33'(b_ext_q) + 33'(b_len) > /33'(b_ext_q) > /
// mutant: s/b_ext_q  <= ext + 32'(lo)/b_ext_q  <= ext/

  `ASSUME(Held, $stable(seg_ptr_i) && $stable(seg_bytes_i))
  `DUTY(EndsOpen, !r_end_i || open_q != 5'd0)
  `ASSUME(RecordRoomStays, !$past(rec_ready_i && !rec_valid_o) || rec_ready_i)

  // Byte j of the run at hand, chosen freely.
  (* anyseq *) logic [23:0] j;
  logic signed [48:0]       x_f;
  assign x_f = 49'(x_q) + 49'(signed'({1'b0, j}));
  `ASSERT(ValidPart, j >= run_q || (j >= lo && j < hi) ==
          (!edge_q || (x_f >= 49'sd0 && x_f < 49'(signed'({1'b0, row_bytes_q})) &&
                       y_q >= 34'sd0 && y_q < 34'(signed'({1'b0, rows_q})))))
  `ASSERT(PartInRun, !a_valid_q || (lo <= run_q && hi <= run_q && lo <= hi))

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
  `ASSERT(PartB, !b_valid_q || (b_lo_q <= b_hi_q && b_ext_q == b_first_f + 32'(b_lo_q)))
  logic [23:0] c_len_f;
  logic [31:0] c_at_f;
  logic [63:0] c_begin_f;
  assign c_len_f   = c_hi_q - c_lo_q;
  assign c_at_f    = c_first_f + 32'(c_lo_q);
  assign c_begin_f = (c_seg_f ? seg_ptr_i[127:64] : seg_ptr_i[63:0]) + 64'(c_at_f);
  `ASSERT(PartC, !c_valid_q || (c_lo_q <= c_hi_q && c_data_q == (c_len_f != '0 && c_err_q == hd_reg_pkg::ErrNone)))
  `ASSERT(Fence, !(c_valid_q && c_data_q) || (c_addr_q == c_begin_f &&
          33'(c_at_f) + 33'(c_len_f) <= 33'(c_seg_f ? seg_bytes_i[63:32] : seg_bytes_i[31:0])))
  // From the beat of the first byte to the beat of the last.
  `ASSERT(BeatsHoldBytes, !(c_valid_q && c_data_q) ||
          (32'(c_addr_q[OffBits-1:0]) + 32'(c_len_f) <= 32'(c_beats_q) << OffBits &&
           32'(c_addr_q[OffBits-1:0]) + 32'(c_len_f) > (32'(c_beats_q) - 32'd1) << OffBits))

  logic [4:0] open_f;
  always_ff @(posedge clk_i)
    if (!rst_ni) open_f <= '0;
    else open_f <= open_f + 5'(ar_valid_o && ar_ready_i) - 5'(r_end_i);
  `ASSERT(OpenIsOpen, open_q == open_f && open_o == (open_f != 5'd0))
  `ASSERT(ArHolds, !$past(ar_valid_o && !ar_ready_i) || stop_i ||
          (ar_valid_o && $stable(ar_addr_o) && $stable(ar_len_o)))
  `ASSERT(Page, !ar_valid_o ||
          32'(ar_addr_o[11:0]) + ((32'(ar_len_o) + 32'd1) << OffBits) <= 32'd4096)
  `ASSERT(Aligned, !ar_valid_o || ar_addr_o[OffBits-1:0] == '0)
  `ASSERT(FirstHasRecord, !(ar_valid_o && ar_ready_i && first) || (rec_valid_o && rec_ready_i))
  `ASSERT(RecordHasFirst, !(rec_valid_o && rec_ready_i && c_data_q) ||
          (ar_valid_o && ar_ready_i && first))
  `ASSERT(ErrorAsksNothing, !(c_valid_q && c_err_q != hd_reg_pkg::ErrNone) || !ar_valid_o)

  // What InsidePage needs inside hd_burst: a burst to come is aligned and not empty.
  (* hierconn *) logic        \u_burst.mid_q ;
  (* hierconn *) logic [24:0] \u_burst.left_q ;
  (* hierconn *) logic [63:0] \u_burst.addr_q ;
  `ASSERT(BurstState, !\u_burst.mid_q || (c_valid_q && c_data_q && \u_burst.left_q != '0 &&
                                          \u_burst.addr_q [OffBits-1:0] == '0))
