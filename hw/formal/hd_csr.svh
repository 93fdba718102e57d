// Properties of hd_csr: the AXI4-Lite slave's handshake rules, the run's states, and what a run is
// told: bytes without strobe, and every byte in mid-run, stay.
// cut: rdata value cycles_q read_q write_q code_q still_q refused_q over_q stuck_q
// drop: FewFit
// any: MachineHash
// mutant: s/bvalid_q <= write || (bvalid_q && !req_i.bready)/bvalid_q <= write/
// mutant: s/assign read      = req_i.arvalid && !rvalid_q/assign read      = req_i.arvalid/
// mutant: s/(state_q == Drain && (core_drained_i || stuck_q))/state_q == Drain/
// mutant: s/assign refuse     = state_q != Idle/assign refuse     = state_q == Run/
// mutant: s/half && at_q[2] ? high_q/half && at_q[2] ? count[63:32]/
// mutant: s/!refuse && req_i.wstrb\[b\]/!refuse/
// mutant: s/(finish && !quiet_q ? ier_q/(finish && !quiet_q ? 2'd3/
// mutant: s/Idle: if (start) begin/Idle, Run: if (start) begin/

  // Address and data of a write are taken together, and only when there is no answer under way.
  `ASSERT(WriteTogether, rsp_o.awready == rsp_o.wready)
  `ASSERT(WriteTaken, !rsp_o.awready || (req_i.awvalid && req_i.wvalid))
  `ASSERT(ReadTaken, !rsp_o.arready || req_i.arvalid)

  // Requests taken and not yet answered, counted at the ports.
  logic [1:0]  writes_q, reads_q;
  logic [31:0] rdata_f;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      writes_q <= 2'd0;
      reads_q  <= 2'd0;
    end else begin
      writes_q <= writes_q + 2'(req_i.awvalid && rsp_o.awready) - 2'(rsp_o.bvalid && req_i.bready);
      reads_q  <= reads_q + 2'(req_i.arvalid && rsp_o.arready) - 2'(rsp_o.rvalid && req_i.rready);
    end
    rdata_f <= rsp_o.rdata;
  end
  `ASSERT(OneWrite, writes_q <= 2'd1)
  `ASSERT(OneRead, reads_q <= 2'd1)
  `ASSERT(OneResponse, rsp_o.bvalid == (writes_q != 2'd0))
  `ASSERT(OneAnswer, rsp_o.rvalid == (reads_q != 2'd0 && !asked_q))
  `ASSERT(BHolds, !$past(rsp_o.bvalid && !req_i.bready) || rsp_o.bvalid)
  `ASSERT(RHolds, !$past(rsp_o.rvalid && !req_i.rready) || (rsp_o.rvalid && rsp_o.rdata == rdata_f))

  // A run begins with one cycle of reset and ends when the core has drained.
  `ASSERT(ResetOnce, !$past(!core_rst_no) || core_rst_no)
  `ASSERT(RunAfterReset, !$past(!core_rst_no) || !core_stop_o)
  `ASSERT(EndsDrained, !($past(start_q) && !start_q) ||
                      $past(core_drained_i || stuck_q || soft_reset))
  `ASSERT(DoneAtEnd, !(!$past(done_q) && done_q) || ($past(start_q) && !start_q))
  `ASSERT(StartIsState, start_q == (state_q != Idle))
  `ASSERT(StartsIdle, state_q != Clear || $past(state_q == Idle || state_q == Wait))
  `ASSERT(ClearDrained, state_q != Clear || $past(core_drained_i))

  // What a run is told does not change while it lasts, and never where a byte has no strobe.
  logic [31:0] limits;
  assign limits = watchdog_q ^ cycle_limit_q;
  `ASSERT(ToldOnce, !$past(state_q != Idle) || ($stable(cfg_o) && $stable(limits)))
  logic [31:0] changed, mask_f;
  logic [63:0] image_f, arena_f;
  logic [31:0] bytes_f, window_f, code_f, watchdog_f, limit_f;
  always_ff @(posedge clk_i) begin
    {image_f, arena_f} <= {image_ptr_q, arena_ptr_q};
    for (int unsigned b = 0; b < 4; b++) mask_f[8 * b +: 8] <= {8{req_i.wstrb[b]}};
    {bytes_f, window_f, code_f} <= {image_bytes_q, arena_bytes_q, code_offset_q};
    {watchdog_f, limit_f} <= {watchdog_q, cycle_limit_q};
  end
  assign changed = (image_f[31:0] ^ image_ptr_q[31:0]) | (image_f[63:32] ^ image_ptr_q[63:32]) |
                   (arena_f[31:0] ^ arena_ptr_q[31:0]) | (arena_f[63:32] ^ arena_ptr_q[63:32]) |
                   (bytes_f ^ image_bytes_q) | (window_f ^ arena_bytes_q) |
                   (code_f ^ code_offset_q) | (watchdog_f ^ watchdog_q) | (limit_f ^ cycle_limit_q);
  `ASSERT(Strobed, (changed & ~mask_f) == '0)
  `ASSERT(ControlStrobed, $past(req_i.wstrb[0]) ||
          ($stable(gie_q) && $stable(ier_q) && !(!$past(start_q) && start_q)))

  // The interrupt: of an event that is enabled, or of a write to isr.
  `ASSERT(Interrupt, !interrupt_o || (gie_q && isr_q != 2'd0))
  `ASSERT(Enabled, (isr_q & ~$past(isr_q) & ~$past(ier_q)) == 2'd0 ||
                   $past(write && to == hd_reg_pkg::RegIsr))

  // The halves of a counter belong together.
  logic        kept_f;
  logic [31:0] high_f;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || (asked_q && half && !at_q[2])) kept_f <= rst_ni && at_q == hd_reg_pkg::RegCycles;
    if (asked_q && at_q == hd_reg_pkg::RegCycles) high_f <= cycles_q[63:32];
  end
  `ASSERT(Kept, !kept_f || high_q == high_f)
  `ASSERT(Halves, !$past(asked_q && kept_f && at_q == hd_reg_pkg::RegCycles + 12'd4) ||
                  rsp_o.rdata == $past(high_f))
