// Store: runs st.store, XM or AM -> DRAM. Address side, data side, responses.
//
// Accepts the next operation when the addresses of the last run have been made. An operation is done
// when the response to its last burst has come; up to 16 bursts are open. See hd_st_gen and hd_st_data
// for throughput and stalls. An error ends the work until reset.
`include "hd_assert.svh"

module hd_st #(
  parameter int unsigned AxiBytes = hd_cfg_pkg::AxiBytes,
  parameter int unsigned XmBytes  = hd_cfg_pkg::XmBytes
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,
  input  logic                              stop_i,
  output logic                              drained_o,

  // Segments
  input  logic [127:0]                      seg_ptr_i,
  input  logic [63:0]                       seg_bytes_i,

  // Operations, from hd_front
  input  logic                              op_valid_i,
  output logic                              op_ready_o,
  input  logic [3:0]                        op_code_i,
  input  logic [32*hd_isa_pkg::StWords-1:0] op_params_i,
  output logic                              op_done_o,
  output logic                              op_err_o,
  output logic [4:0]                        op_err_code_o,

  // XM or AM read
  output logic                              xm_req_o,
  input  logic                              xm_gnt_i,
  output logic [27:0]                       xm_addr_o,
  input  logic [8*AxiBytes-1:0]             xm_rdata_i,
  output logic                              am_req_o,
  input  logic                              am_gnt_i,
  input  logic [8*AxiBytes-1:0]             am_rdata_i,

  // AXI write channels
  output logic                              awvalid_o,
  input  logic                              awready_i,
  output logic [63:0]                       awaddr_o,
  output logic [7:0]                        awlen_o,
  output logic                              wvalid_o,
  input  logic                              wready_i,
  output logic [8*AxiBytes-1:0]             wdata_o,
  output logic [AxiBytes-1:0]               wstrb_o,
  output logic                              wlast_o,
  input  logic                              bvalid_i,
  output logic                              bready_o,
  input  logic [1:0]                        bresp_i,

  // Counters
  output logic [6:0]                        wbytes_o,  // strobed bytes of the beat on W
  output logic                              stall_mem_o,
  output logic                              stall_bank_o
);
  localparam int unsigned OffBits = $clog2(AxiBytes);
  localparam int unsigned RunBits = OffBits + 55;

  logic clk;  // of hd_gate
  logic               gen_run_valid, gen_run_ready, run_valid, run_ready;
  logic               gen_burst_valid, gen_burst_ready, gen_busy, data_busy;
  logic [RunBits-1:0] gen_run, run;
  logic [13:0]        gen_burst;

  hd_st_gen #(
    .AxiBytes(AxiBytes),
    .XmBytes(XmBytes)
  ) u_gen (
    .clk_i        (clk),
    .rst_ni,
    .stop_i,
    .seg_ptr_i,
    .seg_bytes_i,
    .op_valid_i,
    .op_ready_o,
    .op_code_i,
    .op_params_i,
    .awvalid_o,
    .awready_i,
    .awaddr_o,
    .awlen_o,
    .run_valid_o  (gen_run_valid),
    .run_ready_i  (gen_run_ready),
    .run_o        (gen_run),
    .burst_valid_o(gen_burst_valid),
    .burst_ready_i(gen_burst_ready),
    .burst_o      (gen_burst),
    .busy_o       (gen_busy)
  );

  // Runs to the data side.
  logic [4:0] unused_runs, unused_bursts, unused_resps;

  hd_fifo #(
    .Width(RunBits),
    .Depth(hd_isa_pkg::StoreRecords)
  ) u_runs (
    .clk_i        (clk),
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(gen_run_valid),
    .ready_o(gen_run_ready),
    .data_i (gen_run),
    .valid_o(run_valid),
    .ready_i(run_ready),
    .data_o (run),
    .count_o(unused_runs)
  );

  // Bursts to the data side; those that are errors go to the responses only.
  logic       burst_valid, burst_ready, unused_burst_ready, gen_error;
  logic [7:0] burst_len;
  assign gen_error = gen_burst[12:8] != hd_reg_pkg::ErrNone;

  hd_fifo #(
    .Width(8),
    .Depth(hd_isa_pkg::StoreRecords)
  ) u_bursts (
    .clk_i        (clk),
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(gen_burst_valid && gen_burst_ready && !gen_error),
    .ready_o(unused_burst_ready),
    .data_i (gen_burst[7:0]),
    .valid_o(burst_valid),
    .ready_i(burst_ready),
    .data_o (burst_len),
    .count_o(unused_bursts)
  );

  hd_st_data #(
    .AxiBytes(AxiBytes)
  ) u_data (
    .clk_i        (clk),
    .rst_ni,
    .stop_i,
    .run_valid_i  (run_valid),
    .run_ready_o  (run_ready),
    .run_i        (run),
    .burst_valid_i(burst_valid),
    .burst_ready_o(burst_ready),
    .burst_len_i  (burst_len),
    .xm_req_o,
    .xm_gnt_i,
    .xm_addr_o,
    .xm_rdata_i,
    .am_req_o,
    .am_gnt_i,
    .am_rdata_i,
    .wvalid_o,
    .wready_i,
    .wdata_o,
    .wstrb_o,
    .wlast_o,
    .wbytes_o,
    .busy_o       (data_busy)
  );

  // Open bursts, oldest first, and the end of operations.
  logic       resp_valid, resp_last, pop, done_q, report_q, failed_q;
  logic [4:0] resp_err, code_q, open_q;

  hd_fifo #(
    .Width(6),
    .Depth(hd_isa_pkg::StoreRecords)
  ) u_resps (
    .clk_i        (clk),
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(gen_burst_valid),
    .ready_o(gen_burst_ready),
    .data_i (gen_burst[13:8]),
    .valid_o(resp_valid),
    .ready_i(pop),
    .data_o ({resp_last, resp_err}),
    .count_o(unused_resps)
  );

  assign bready_o      = 1'b1;
  assign pop           = bvalid_i;
  assign drained_o     = open_q == 5'd0;
  assign op_done_o     = done_q;
  assign op_err_o      = report_q;
  assign op_err_code_o = code_q;
  assign stall_mem_o   = !stop_i && ((wvalid_o && !wready_i) || (!wvalid_o && !burst_valid &&
                                     resp_valid));
  assign stall_bank_o  = (xm_req_o && !xm_gnt_i) || (am_req_o && !am_gnt_i);

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
    .en_i (!rst_ni || op_valid_i || gen_busy || run_valid || burst_valid || resp_valid || data_busy ||
           !drained_o || bvalid_i || done_q || report_q),
    .clk_o(clk)
  );

  `ASSERT(ResponseExpected, !bvalid_i || open_q != 5'd0)
  `ASSERT(RoomForBurst, !(gen_burst_valid && gen_burst_ready && !gen_error) || unused_burst_ready)
endmodule
