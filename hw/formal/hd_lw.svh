// Properties of hd_lw: the beats that are asked for hold exactly the bytes of the run, inside the segment's
// window; a run holds until its bursts have gone (what these are: hd_read_bursts).
// assume: WholeParts
// drop: RecordForBeat
// cut: ext loc a_last joining j_count u_runs.joined d_off d_cut d_k d_col d_last d_err d_mem d_loc d_count part_end
// any: K WmBytes PmBytes WmWords PmWords WmPartBits PmPartBits
// quick: op_valid_i && op_i.code == hd_isa_pkg::LwLoad && seg_i == {64'd0, 32'd65536, 64'd0, 32'd65536}
// mutant: s/assign c_ready = !c_valid_q || c_done/assign c_ready = 1'b1/
// mutant: s/(36'(joined.cut) << OffBits)/36'd0/
// mutant: s/(now.cut >> PmPartBits) != 6'd0/1'b0/
// mutant: s/36'(ext) + bytes > /36'(ext) > /
// mutant: s/beats   = at_q.col && Split ? 25'd1 :/beats = at_q.col \&\& Split ? 25'd2 :/

  // The host holds the segments during a run; they begin at multiples of 64 bytes where weights are read.
  `ASSUME(Held, $stable(seg_i))
  `DUTY(Multiple, seg_i.image.ptr[5:0] == '0 && seg_i.arena.ptr[5:0] == '0)

  // Sums of multiples, which op_bad checks; a split run is one word (join_i is 0).
  `DUTY(ExtMultiple, at_q.bad != hd_reg_pkg::ErrNone ||
        (at_q.col ? ext[ColBits-1:0] == '0 : ext[OffBits-1:0] == '0))
  `DUTY(RunNotEmpty, at_q.bad != hd_reg_pkg::ErrNone || count_q != '0)  // op_bad checks it, joining keeps it
  // op_bad checks it.
  (* hierconn *) logic \u_runs.joined_q ;
  `ASSERT(CutJoined, !\u_runs.joined_q || joined.bad != hd_reg_pkg::ErrNone || joined.cut == '0 ||
          (joined.mem == hd_isa_pkg::LwMemPm && (joined.cut >> any_PmPartBits) == '0))
  `ASSERT(CutIsLess, !a_valid || at_q.bad != hd_reg_pkg::ErrNone || at_q.cut == '0 ||
          (at_q.mem == hd_isa_pkg::LwMemPm && (at_q.cut >> any_PmPartBits) == '0))
  `ASSERT(BytesOfRun, !a_valid || bytes == (at_q.col ? 36'(count_q) << NBits :
          (36'(count_q) << (OffBits + (at_q.mem == hd_isa_pkg::LwMemWm ? any_WmPartBits : at_q.mem == hd_isa_pkg::LwMemPm ? any_PmPartBits : TmPartBits))) -
          (36'(at_q.cut) << OffBits)))
  // Words of up to 64 x 64 and 64 x 8 bytes, memories of up to 16 MiB (isa/machine.def).
  `DUTY(Sizes, any_WmPartBits <= 32'd9 && any_PmPartBits <= 32'd6 &&
        64'(any_WmWords) << (OffBits + any_WmPartBits) <= 64'd16777216 &&
        64'(any_PmWords) << (OffBits + any_PmPartBits) <= 64'd16777216)
  `DUTY(SplitIsOne, !(load && joined.col && Split) || j_count == 24'd1)
  `ASSERT(SplitCount, !(a_valid && at_q.col && Split) || count_q == 24'd1)
  (* hierconn *) logic [4:0] \u_bursts.open_q ;
  `DUTY(EndsOpen, !(r_i.valid && r_i.last) || \u_bursts.open_q != 5'd0)

  `ASSERT(DataAgrees, !c_valid_q || c_data_q == (c_err_q == hd_reg_pkg::ErrNone))
  `ASSERT(ErrorAsksNothing, !(c_valid_q && c_err_q != hd_reg_pkg::ErrNone) || !ar_o.valid)
  // What the proof of hd_read_bursts takes for granted: the run holds until its bursts have gone.
  `ASSERT(RunHeld, !$past(c_valid_q && !c_done) ||
          (c_valid_q && $stable({c_data_q, c_addr_q, c_beats_q})))

  // Of the run at hand: offset in the segment, bytes, segment.
  logic [31:0] first_f;
  logic [35:0] bytes_f;
  logic        seg_f;
  always_ff @(posedge clk_i)
    if (a_adv) begin
      first_f <= ext;
      bytes_f <= bytes;
      seg_f   <= at_q.seg;
    end
  `ASSERT(Fence, !(c_valid_q && c_data_q) ||
          (c_addr_q == (seg_f ? seg_i.arena.ptr : seg_i.image.ptr) + 64'(first_f) &&
           37'(first_f) + 37'(bytes_f) <= 37'(seg_f ? seg_i.arena.bytes : seg_i.image.bytes)))
  // From the beat of the first byte to the beat of the last; whole beats but of a split run.
  `ASSERT(BeatsHoldBytes, !(c_valid_q && c_data_q) || 36'(c_beats_q) << OffBits ==
          (c_col_q && Split ? 36'(AxiBytes) : bytes_f))
  `ASSERT(Begins, !(c_valid_q && c_data_q) || (c_col_q && Split) || c_addr_q[OffBits-1:0] == '0)
  `ASSERT(InBeat, !(c_valid_q && c_data_q && c_col_q && Split) ||
          (bytes_f == 36'(N) && 32'(c_addr_q[OffBits-1:0]) + N <= AxiBytes))

  // What InsidePage needs inside hd_burst: a burst to come is aligned and not empty.
  (* hierconn *) logic        \u_bursts.u_burst.mid_q ;
  (* hierconn *) logic [24:0] \u_bursts.u_burst.left_q ;
  (* hierconn *) logic [63:0] \u_bursts.u_burst.addr_q ;
  `ASSERT(BurstState, !\u_bursts.u_burst.mid_q || (c_valid_q && c_data_q && \u_bursts.u_burst.left_q != '0 &&
                                          \u_bursts.u_burst.addr_q [OffBits-1:0] == '0))
