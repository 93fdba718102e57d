// Properties of hd_lw: the beats that are asked for hold exactly the bytes of the run, inside the segment's
// window; a read request holds until it is taken and never crosses 4 KiB (InsidePage of hd_burst, which also
// proves that the bursts add up); each run gives one record, with its first burst where it has any; at most 16
// bursts are open.
// assume: WholeParts
// drop: RecordForBeat
// cut: ext loc a_last joined j_count j_n d_off d_cut d_k d_col d_last d_err d_mem d_loc d_count part_end
// any: K WmBytes PmBytes WmWords PmWords WmPartBits PmPartBits
// quick: op_valid_i && op_code_i == hd_isa_pkg::LwLoad && seg_ptr_i == '0 && seg_bytes_i == {32'd65536, 32'd65536}
// mutant: s/open_q + 5'(ar_valid_o && ar_ready_i)/open_q + 5'(ar_valid_o)/
// mutant: s/assign c_ready = !c_valid_q || c_done/assign c_ready = 1'b1/
// mutant: s/(36'(p.cut) << OffBits)/36'd0/
// mutant: s/(now.cut >> PmPartBits) != 6'd0/1'b0/
// mutant: s/36'(ext) + bytes > /36'(ext) > /
// mutant: s/c_beats_q <= col_q && Split ? 25'd1 :/c_beats_q <= col_q \&\& Split ? 25'd2 :/

  // The host holds the segments during a run; they begin at multiples of 64 bytes where weights are read.
  `ASSUME(Held, $stable(seg_ptr_i) && $stable(seg_bytes_i))
  `DUTY(Multiple, seg_ptr_i[5:0] == '0 && seg_ptr_i[69:64] == '0)

  // Sums of multiples, which op_bad checks; a split run is one word (join_i is 0).
  `DUTY(ExtMultiple, bad_q != hd_reg_pkg::ErrNone ||
        (col_q ? ext[ColBits-1:0] == '0 : ext[OffBits-1:0] == '0))
  `DUTY(RunNotEmpty, bad_q != hd_reg_pkg::ErrNone || count_q != '0)  // op_bad checks it, joining keeps it
  // op_bad checks it.
  `ASSERT(CutJoined, !j_valid_q || j_bad_q != hd_reg_pkg::ErrNone || p.cut == '0 ||
          (p.mem == Pm && (p.cut >> any_PmPartBits) == '0))
  `ASSERT(CutIsLess, !a_valid_q || bad_q != hd_reg_pkg::ErrNone || cut_q == '0 ||
          (mem_q == Pm && (cut_q >> any_PmPartBits) == '0))
  `ASSERT(BytesOfRun, !a_valid_q || bytes == (col_q ? 36'(count_q) << NBits :
          (36'(count_q) << (OffBits + (mem_q == Wm ? any_WmPartBits : mem_q == Pm ? any_PmPartBits : TmPartBits))) -
          (36'(cut_q) << OffBits)))
  // Words of up to 64 x 64 and 64 x 8 bytes, memories of up to 16 MiB (isa/machine.def).
  `DUTY(Sizes, any_WmPartBits <= 32'd9 && any_PmPartBits <= 32'd6 &&
        64'(any_WmWords) << (OffBits + any_WmPartBits) <= 64'd16777216 &&
        64'(any_PmWords) << (OffBits + any_PmPartBits) <= 64'd16777216)
  `DUTY(SplitIsOne, !(load && p.col && Split) || j_count == 24'd1)
  `ASSERT(SplitCount, !(a_valid_q && col_q && Split) || count_q == 24'd1)
  `DUTY(EndsOpen, !(r_valid_i && r_last_i) || open_q != 5'd0)

  logic [4:0] open_f;
  always_ff @(posedge clk_i)
    if (!rst_ni) open_f <= '0;
    else open_f <= open_f + 5'(ar_valid_o && ar_ready_i) - 5'((r_valid_i && r_last_i));
  `ASSERT(OpenIsOpen, open_q == open_f && open_q <= 5'd16 && drained_o == (open_f == 5'd0))
  `ASSERT(ArHolds, !$past(ar_valid_o && !ar_ready_i) || stop_i ||
          (ar_valid_o && $stable(ar_addr_o) && $stable(ar_len_o)))
  `ASSERT(Page, !ar_valid_o ||
          32'(ar_addr_o[11:0]) + ((32'(ar_len_o) + 32'd1) << OffBits) <= 32'd4096)
  `ASSERT(Aligned, !ar_valid_o || ar_addr_o[OffBits-1:0] == '0)
  `ASSERT(FirstHasRecord, !(ar_valid_o && ar_ready_i && first) || (rec_valid && rec_ready))
  `ASSERT(RecordHasFirst, !(rec_valid && rec_ready && c_data) ||
          (ar_valid_o && ar_ready_i && first))
  `ASSERT(ErrorAsksNothing, !(c_valid_q && c_err_q != hd_reg_pkg::ErrNone) || !ar_valid_o)

  // Of the run at hand: offset in the segment, bytes, segment.
  logic [31:0] first_f;
  logic [35:0] bytes_f;
  logic        seg_f;
  always_ff @(posedge clk_i)
    if (a_adv) begin
      first_f <= ext;
      bytes_f <= bytes;
      seg_f   <= seg_q;
    end
  `ASSERT(Fence, !(c_valid_q && c_data) ||
          (c_addr_q == (seg_f ? seg_ptr_i[127:64] : seg_ptr_i[63:0]) + 64'(first_f) &&
           37'(first_f) + 37'(bytes_f) <= 37'(seg_f ? seg_bytes_i[63:32] : seg_bytes_i[31:0])))
  // From the beat of the first byte to the beat of the last; whole beats but of a split run.
  `ASSERT(BeatsHoldBytes, !(c_valid_q && c_data) || 36'(c_beats_q) << OffBits ==
          (c_col_q && Split ? 36'(AxiBytes) : bytes_f))
  `ASSERT(Begins, !(c_valid_q && c_data) || (c_col_q && Split) || c_addr_q[OffBits-1:0] == '0)
  `ASSERT(InBeat, !(c_valid_q && c_data && c_col_q && Split) ||
          (bytes_f == 36'(N) && 32'(c_addr_q[OffBits-1:0]) + N <= AxiBytes))

  // What InsidePage needs inside hd_burst: a burst to come is aligned and not empty.
  (* hierconn *) logic        \u_burst.mid_q ;
  (* hierconn *) logic [24:0] \u_burst.left_q ;
  (* hierconn *) logic [63:0] \u_burst.addr_q ;
  `ASSERT(BurstState, !\u_burst.mid_q || (c_valid_q && c_data && \u_burst.left_q != '0 &&
                                          \u_burst.addr_q [OffBits-1:0] == '0))
