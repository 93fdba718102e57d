// Properties of hd_st_gen: AXI's rules for AW. AwHolds: stable while stalled. No burst crosses 4 KiB
// (InsidePage of hd_burst, which also proves that the bursts add up). The beats hold exactly the bytes of the run,
// inside the window of segment 1. Every burst of AW has one record for the data side and the responses.
// cut: ext loc a_last joining j_run u_runs.joined
// any: XmBytes AmBytes AmWord
// mutant: s/(!aw_q || aw_ready_i) && burst_ready_i/burst_ready_i/
// mutant: s/else if (!aw_q || aw_ready_i) aw_q <= go/else aw_q <= go/
// mutant: s/33'(ext) + 33'(run_q) > /33'(ext) > /
// mutant: s/beats = (25'(run_q) + 25'(addr\[OffBits-1:0\])/beats = (25'(run_q)/

  `ASSUME(Held, $stable(seg_i))
  `DUTY(RunNotEmpty, at_q.bad != hd_reg_pkg::ErrNone || run_q != '0)  // op_bad checks it, joining keeps it
  `ASSERT(DataAgrees, !c_valid_q || data_q == (c_err_q == hd_reg_pkg::ErrNone))
  logic [31:0] ext_f;  // of the run at hand
  always_ff @(posedge clk_i) if (a_adv) ext_f <= ext;
  `ASSERT(Fence, !(c_valid_q && data_q) || (c_addr_q == seg_i.arena.ptr + 64'(ext_f) &&
          33'(ext_f) + 33'(c_run_q) <= 33'(seg_i.arena.bytes)))
  // From the beat of the first byte to the beat of the last.
  `ASSERT(BeatsHoldBytes, !(c_valid_q && data_q) ||
          (32'(c_addr_q[OffBits-1:0]) + 32'(c_run_q) <= 32'(c_beats_q) << OffBits &&
           32'(c_addr_q[OffBits-1:0]) + 32'(c_run_q) > (32'(c_beats_q) - 32'd1) << OffBits))

  logic        open_q;
  logic [7:0]  len_f;
  logic        record;
  assign record = burst_valid_o && burst_ready_i && burst_o.err == hd_reg_pkg::ErrNone;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) open_q <= 1'b0;
    else open_q <= record || (open_q && !aw_ready_i);
    if (record) len_f <= burst_o.len;
  end
  `ASSERT(RecordThenAw, aw_o.valid == open_q)
  `ASSERT(NoneLost, !(record && open_q) || aw_ready_i)
  `ASSERT(SameLength, !open_q || aw_o.len == len_f)
  `ASSERT(Page, !aw_o.valid ||
          32'(aw_o.addr[11:0]) + ((32'(aw_o.len) + 32'd1) << OffBits) <= 32'd4096)
  `ASSERT(Aligned, !aw_o.valid || aw_o.addr[OffBits-1:0] == '0)

  // What InsidePage needs inside hd_burst: a burst to come is aligned and not empty.
  (* hierconn *) logic        \u_burst.mid_q ;
  (* hierconn *) logic [24:0] \u_burst.left_q ;
  (* hierconn *) logic [63:0] \u_burst.addr_q ;
  `ASSERT(BurstState, !\u_burst.mid_q || (c_valid_q && data_q && \u_burst.left_q != '0 &&
                                          \u_burst.addr_q [OffBits-1:0] == '0))
