// Properties of hd_read_bursts, for a run that its user holds until done_o: a read request holds until it is taken
// and never crosses 4 KiB (InsidePage of hd_burst, which also proves that the bursts add up); a run has one record, with
// its first burst where it has any; at most OpenBursts bursts are open.
// assume: Positive FirstIsCut
// mutant: s/open_q + 5'(goes)/open_q + 5'(ar_o.valid)/
// mutant: s/burst_valid && may_ask && (!first || rec_ready_i)/burst_valid \& may_ask/
// mutant: s/first && may_ask && ar_ready_i/first \&\& may_ask/

  `ASSUME(RunHeld, !$past(valid_i && !done_o) || (valid_i && $stable({data_i, addr_i, beats_i, first_i})))
  `DUTY(EndsOpen, !r_end_i || open_q != 5'd0)
  `ASSUME(RecordRoomStays, !$past(rec_ready_i && !rec_valid_o) || rec_ready_i)

  logic [4:0] open_f;
  always_ff @(posedge clk_i)
    if (!rst_ni) open_f <= '0;
    else open_f <= open_f + 5'(ar_o.valid && ar_ready_i) - 5'(r_end_i);
  `ASSERT(OpenIsOpen, open_q == open_f && open_o == (open_f != 5'd0))
  `ASSERT(ArHolds, !$past(ar_o.valid && !ar_ready_i) || stop_i || (ar_o.valid && $stable(ar_o)))
  `ASSERT(Page, !ar_o.valid ||
          32'(ar_o.addr[11:0]) + ((32'(ar_o.len) + 32'd1) << $clog2(hd_cfg_pkg::AxiBytes)) <= 32'd4096)
  `ASSERT(Aligned, !ar_o.valid || ar_o.addr[$clog2(hd_cfg_pkg::AxiBytes)-1:0] == '0)
  `ASSERT(FirstHasRecord, !(ar_o.valid && ar_ready_i && first) || (rec_valid_o && rec_ready_i))
  `ASSERT(RecordHasFirst, !(rec_valid_o && rec_ready_i && data_i) || (ar_o.valid && ar_ready_i && first))
  `ASSERT(NoDataAsksNothing, data_i || !ar_o.valid)

  // What InsidePage needs inside hd_burst: a burst to come is aligned and not empty.
  (* hierconn *) logic        \u_burst.mid_q ;
  (* hierconn *) logic [24:0] \u_burst.left_q ;
  (* hierconn *) logic [63:0] \u_burst.addr_q ;
  `ASSERT(BurstState, !\u_burst.mid_q || (valid_i && data_i && \u_burst.left_q != '0 &&
                                          \u_burst.addr_q [$clog2(hd_cfg_pkg::AxiBytes)-1:0] == '0))
