// Store: runs st.store, XM or AM -> DRAM. Address side, data side, responses.
//
// Guarantees: an operation is done when the response to its last burst has come. Accepts the next
// operation when the addresses of the last run have been made. An error ends the work until reset.
// Latency: StAddressCycles from an operation to AW.
// Throughput: a run a cycle, a beat a cycle.
// Stalls: those of hd_st_gen and hd_st_data; StoreRecords bursts that have no response.
`include "hd_assert.svh"

module hd_st (
  input  logic                   clk_i, rst_ni, stop_i,
  output logic                   drained_o,
  input  hd_bus_pkg::segments_t  seg_i,

  // Operations, from hd_front
  input  logic                   op_valid_i,
  input  hd_isa_pkg::st_op_t     op_i,
  output logic                   op_ready_o,
  output hd_bus_pkg::result_t    res_o,

  // XM or AM read
  output hd_bus_pkg::chunk_t     chunk_o,
  input  hd_bus_pkg::chunk_gnt_t chunk_gnt_i,
  input  hd_cfg_pkg::data_t      xm_rdata_i, am_rdata_i,

  // AXI write channels
  output hd_bus_pkg::burst_t     aw_o,
  input  logic                   aw_ready_i,
  output logic                   wvalid_o,
  input  logic                   wready_i,
  output hd_cfg_pkg::data_t      wdata_o,
  output hd_cfg_pkg::strobe_t    wstrb_o,
  output logic                   wlast_o,
  input  logic                   bvalid_i,
  output logic                   bready_o,
  input  logic [1:0]             bresp_i,

  // Counters
  output logic [6:0]             wbytes_o,  // strobed bytes of the beat on W
  output hd_bus_pkg::stall_t     stall_o
);
  logic                     clk;  // of hd_gate
  logic                     gen_run_valid, gen_run_ready, run_valid;
  logic [1:0]               run_ready;  // see hd_st_data
  logic                     gen_burst_valid, gen_burst_ready, gen_busy, data_busy;
  hd_bus_pkg::store_run_t   gen_run, run;
  hd_bus_pkg::store_burst_t gen_burst;

  hd_st_gen u_gen (
    .clk_i(clk), .rst_ni, .stop_i, .seg_i,
    .op_valid_i, .op_i, .op_ready_o,
    .aw_o, .aw_ready_i,
    .run_valid_o(gen_run_valid), .run_ready_i(gen_run_ready), .run_o(gen_run), .run_off_o(gen_off),
    .burst_valid_o(gen_burst_valid), .burst_ready_i(gen_burst_ready), .burst_o(gen_burst),
    .busy_o(gen_busy)
  );

  // Runs to the data side: to be read and, later, to be packed. Of the second list no more wait than
  // of the first, the run that is read and those of which chunks wait.
  localparam int unsigned OffBits = $clog2(hd_cfg_pkg::AxiBytes);
  localparam int unsigned Packs   = 2 * hd_isa_pkg::StoreRecords;
  logic               pack_valid, pack_ready, packs_ready, run_push;
  logic [5:0]         gen_off, pack_off;
  logic [OffBits-1:0] pack_so;
  logic [23:0]        pack_run;
  logic [4:0]         unused_runs, unused_bursts, unused_resps;
  logic [$clog2(Packs):0] unused_packs;
  assign run_push = gen_run_valid && gen_run_ready;

  hd_fifo #(.Width($bits(run)), .Depth(hd_isa_pkg::StoreRecords)) u_runs (
    .clk_i(clk), .rst_ni, .clear_i(1'b0),
    .valid_i(gen_run_valid), .ready_o(gen_run_ready), .data_i(gen_run),
    .valid_o(run_valid), .ready_i(run_ready[chunk_gnt_i.xm || chunk_gnt_i.am]), .data_o(run),
    .count_o(unused_runs)
  );

  hd_fifo #(.Width(6 + OffBits + 24), .Depth(Packs)) u_packs (
    .clk_i(clk), .rst_ni, .clear_i(1'b0),
    .valid_i(run_push), .ready_o(packs_ready), .data_i({gen_off, gen_run.loc[OffBits-1:0], gen_run.run}),
    .valid_o(pack_valid), .ready_i(pack_ready), .data_o({pack_off, pack_so, pack_run}),
    .count_o(unused_packs)
  );

  // Bursts to the data side; those that are errors go to the responses only.
  logic       burst_valid, burst_ready, unused_burst_ready, gen_error;
  logic [7:0] burst_len;
  assign gen_error = gen_burst.err != hd_reg_pkg::ErrNone;

  hd_fifo #(.Width(8), .Depth(hd_isa_pkg::StoreRecords)) u_bursts (
    .clk_i(clk), .rst_ni, .clear_i(1'b0),
    .valid_i(gen_burst_valid && gen_burst_ready && !gen_error), .ready_o(unused_burst_ready),
    .data_i(gen_burst.len),
    .valid_o(burst_valid), .ready_i(burst_ready), .data_o(burst_len),
    .count_o(unused_bursts)
  );

  hd_st_data u_data (
    .clk_i(clk), .rst_ni, .stop_i,
    .run_valid_i(run_valid), .run_ready_o(run_ready), .run_i(run),
    .pack_valid_i(pack_valid), .pack_ready_o(pack_ready), .pack_off_i(pack_off), .pack_so_i(pack_so),
    .pack_run_i(pack_run), .burst_valid_i(burst_valid),
    .burst_ready_o(burst_ready), .burst_len_i(burst_len),
    .xm_rdata_i, .chunk_o, .chunk_gnt_i, .am_rdata_i,
    .wvalid_o, .wready_i, .wdata_o, .wstrb_o, .wlast_o, .wbytes_o, .busy_o(data_busy)
  );

  // Open bursts, oldest first, and the end of operations.
  logic       resp_valid, resp_last, pop, done_q, report_q, failed_q;
  logic [4:0] resp_err, code_q, open_q;

  hd_fifo #(.Width(6), .Depth(hd_isa_pkg::StoreRecords)) u_resps (
    .clk_i(clk), .rst_ni, .clear_i(1'b0),
    .valid_i(gen_burst_valid), .ready_o(gen_burst_ready), .data_i({gen_burst.last, gen_burst.err}),
    .valid_o(resp_valid), .ready_i(pop), .data_o({resp_last, resp_err}),
    .count_o(unused_resps)
  );

  assign bready_o      = 1'b1;
  assign pop           = bvalid_i;
  assign drained_o     = open_q == 5'd0;
  assign res_o         = {done_q, report_q, code_q};
  assign stall_o.mem   = !stop_i && ((wvalid_o && !wready_i) || (!wvalid_o && !burst_valid &&
                                     resp_valid));
  assign stall_o.bank  = (chunk_o.xm && !chunk_gnt_i.xm) || (chunk_o.am && !chunk_gnt_i.am);

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      open_q   <= 5'd0;
      done_q   <= 1'b0;
      report_q <= 1'b0;
      failed_q <= 1'b0;
    end else begin
      open_q   <= open_q + 5'(gen_burst_valid && gen_burst_ready && !gen_error) - 5'(bvalid_i);
      done_q   <= bvalid_i && bresp_i == 2'd0 && resp_last && !failed_q && !stop_i;
      report_q <= 1'b0;
      if (!failed_q && !stop_i && resp_valid &&
          (resp_err != hd_reg_pkg::ErrNone || (bvalid_i && bresp_i != 2'd0))) begin
        failed_q <= 1'b1;
        report_q <= 1'b1;
        code_q   <= resp_err != hd_reg_pkg::ErrNone ? resp_err : hd_reg_pkg::ErrAxi;
      end
    end
  end

  // ---- clock ------------------------------------------------------------------------------------
  // Stands still with no operation, record or burst.
  hd_gate u_gate (
    .clk_i,
    .en_i(!rst_ni || op_valid_i || gen_busy || run_valid || burst_valid || resp_valid || data_busy ||
           !drained_o || bvalid_i || done_q || report_q),
    .clk_o(clk)
  );

  `ASSERT(ResponseExpected, !bvalid_i || open_q != 5'd0)
  `ASSERT_INIT(PacksSuffice, Packs > hd_isa_pkg::StoreRecords + hd_isa_pkg::StoreChunks)
  `ASSERT(RoomForPack, !run_push || packs_ready)
  `ASSERT(RoomForBurst, !(gen_burst_valid && gen_burst_ready && !gen_error) || unused_burst_ready)
endmodule
