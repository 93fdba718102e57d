// Properties of hd_csr: the AXI4-Lite slave's handshake rules, and the run's states.
// cut: rdata
// any: MachineHash
// mutant: s/bvalid_q <= write || (bvalid_q && !req_i.bready)/bvalid_q <= write/
// mutant: s/assign read      = req_i.arvalid && !rvalid_q/assign read      = req_i.arvalid/
// mutant: s/if (finish) begin/if (state_q == Drain) begin/

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
  `ASSERT(OneAnswer, rsp_o.rvalid == (reads_q != 2'd0))
  `ASSERT(BHolds, !$past(rsp_o.bvalid && !req_i.bready) || rsp_o.bvalid)
  `ASSERT(RHolds, !$past(rsp_o.rvalid && !req_i.rready) || (rsp_o.rvalid && rsp_o.rdata == rdata_f))

  // A run begins with one cycle of reset and ends when the core has drained.
  `ASSERT(ResetOnce, !$past(!core_rst_no) || core_rst_no)
  `ASSERT(RunAfterReset, !$past(!core_rst_no) || !core_stop_o)
  `ASSERT(EndsDrained, !($past(start_q) && !start_q) || $past(core_drained_i))
  `ASSERT(DoneAtEnd, !(!$past(done_q) && done_q) || ($past(start_q) && !start_q))
  `ASSERT(StartIsState, start_q == (state_q != Idle))
