// Properties of hd_st_data: AXI's rules for W. WHolds: stable while stalled. WLAST comes with exactly the
// last beat of every burst. Its user holds a record of a burst until it is taken (hd_fifo).
// drop: ChunksUsed
// cut: pair
// mutant: s/assign out_free      = !out_q || wready_i/assign out_free      = 1'b1/
// mutant: s/beat_q <= burst_end ? 8'd0 : beat_q + 8'd1/beat_q <= beat_q + 8'd1/
// mutant: s/out_last_q  <= burst_end/out_last_q  <= beat_q == burst_len_i - 8'd1/

  // hd_xm and hd_am grant what is asked for.
  `DUTY(GrantAsked, (!chunk_gnt_i.xm || chunk_o.xm) && (!chunk_gnt_i.am || chunk_o.am))
  `ASSUME(BurstHeld, !$past(burst_valid_i && !burst_ready_o) ||
                     (burst_valid_i && $stable(burst_len_i)))

  // Beats of the burst that have gone, and the length of the burst whose last beat waits.
  logic [7:0] gone_q, len_f;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) gone_q <= 8'd0;
    else if (wvalid_o && wready_i) gone_q <= wlast_o ? 8'd0 : gone_q + 8'd1;
    if (burst_valid_i && burst_ready_o) len_f <= burst_len_i;
  end
  `ASSERT(BurstThere, beat_q == 8'd0 || (burst_valid_i && beat_q <= burst_len_i))
  `ASSERT(GoneMade, wvalid_o ? wlast_o || beat_q == gone_q + 8'd1 : beat_q == gone_q)
  `ASSERT(NewBurst, !(wvalid_o && wlast_o) || beat_q == 8'd0)
  `ASSERT(LastIsLast, !(wvalid_o && wlast_o) || gone_q == len_f)
  `ASSERT(NotLast, !(wvalid_o && !wlast_o) || (burst_valid_i && gone_q < burst_len_i))
  `ASSERT(TakenHasBeat, !burst_ready_o || burst_valid_i)

  // Chunks on their way always have room.
  `ASSERT(ChunksAgree, chunk_valid == (unused_chunks != 4'd0))
  `ASSERT(Room, 5'(unused_chunks) + 5'(coming_q[0]) + 5'(coming_q[1]) <= 5'(Chunks))
