// Properties of hd_csr: the AXI4-Lite slave's handshake rules, and the run's states.
// cut: rdata
// any: MachineHash
// mutant: s/bvalid_q <= write || (bvalid_q && !bready_i)/bvalid_q <= write/
// mutant: s/assign read      = arvalid_i && !rvalid_q/assign read      = arvalid_i/
// mutant: s/if (finish) begin/if (state_q == Drain) begin/

  // Address and data of a write are taken together, and only when there is no answer under way.
  `ASSERT(WriteTogether, awready_o == wready_o)
  `ASSERT(WriteTaken, !awready_o || (awvalid_i && wvalid_i))
  `ASSERT(ReadTaken, !arready_o || arvalid_i)

  // Requests taken and not yet answered, counted at the ports.
  logic [1:0]  writes_q, reads_q;
  logic [31:0] rdata_f;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      writes_q <= 2'd0;
      reads_q  <= 2'd0;
    end else begin
      writes_q <= writes_q + 2'(awvalid_i && awready_o) - 2'(bvalid_o && bready_i);
      reads_q  <= reads_q + 2'(arvalid_i && arready_o) - 2'(rvalid_o && rready_i);
    end
    rdata_f <= rdata_o;
  end
  `ASSERT(OneWrite, writes_q <= 2'd1)
  `ASSERT(OneRead, reads_q <= 2'd1)
  `ASSERT(OneResponse, bvalid_o == (writes_q != 2'd0))
  `ASSERT(OneAnswer, rvalid_o == (reads_q != 2'd0))
  `ASSERT(BHolds, !$past(bvalid_o && !bready_i) || bvalid_o)
  `ASSERT(RHolds, !$past(rvalid_o && !rready_i) || (rvalid_o && rdata_o == rdata_f))

  // A run begins with one cycle of reset and ends when the core has drained.
  `ASSERT(ResetOnce, !$past(!core_rst_no) || core_rst_no)
  `ASSERT(RunAfterReset, !$past(!core_rst_no) || !core_stop_o)
  `ASSERT(EndsDrained, !($past(start_q) && !start_q) || $past(core_drained_i))
  `ASSERT(DoneAtEnd, !(!$past(done_q) && done_q) || ($past(start_q) && !start_q))
  `ASSERT(StartIsState, start_q == (state_q != Idle))
