// Activation load: runs lx.load, DRAM -> XM or AM. Address side, records, data side.
//
// Accepts the next operation when the addresses of the last run have been made, so its reads are on
// their way while data still comes. From acceptance to the first AR: 4 cycles. See hd_lx_gen and
// hd_lx_data for throughput and stalls.
module hd_lx #(
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
  input  logic [32*hd_isa_pkg::LxWords-1:0] op_params_i,
  output logic                              op_done_o,
  output logic                              op_err_o,
  output logic [4:0]                        op_err_code_o,

  // Read channel
  output logic                              ar_valid_o,
  input  logic                              ar_ready_i,
  output logic [63:0]                       ar_addr_o,
  output logic [7:0]                        ar_len_o,
  input  logic                              r_valid_i,
  output logic                              r_ready_o,
  input  logic [8*AxiBytes-1:0]             r_data_i,
  input  logic                              r_err_i,
  input  logic                              r_last_i,

  // XM or AM write
  output logic                              xm_req_o,
  input  logic                              xm_gnt_i,
  output logic                              am_req_o,
  input  logic                              am_gnt_i,
  output logic [27:0]                       xm_addr_o,
  output logic [8*AxiBytes-1:0]             xm_wdata_o,
  output logic [AxiBytes-1:0]               xm_be_o,

  // Counters
  output logic                              stall_mem_o,
  output logic                              stall_bank_o
);
  localparam int unsigned OffBits = $clog2(AxiBytes);
  localparam int unsigned RecBits = 28 + 24 * 3 + OffBits + 8 + 5 + 1 + 1;

  logic clk;  // of hd_gate
  logic               gen_valid, gen_ready, rec_valid, rec_ready, open, gen_busy, data_busy;
  logic [RecBits-1:0] gen_rec, rec;
  logic [5:0]         unused_count;

  hd_lx_gen #(
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
    .ar_valid_o,
    .ar_ready_i,
    .ar_addr_o,
    .ar_len_o,
    .r_end_i    (r_valid_i && r_ready_o && r_last_i),
    .open_o     (open),
    .busy_o     (gen_busy),
    .rec_valid_o(gen_valid),
    .rec_ready_i(gen_ready),
    .rec_o      (gen_rec)
  );

  hd_fifo #(
    .Width(RecBits),
    .Depth(hd_isa_pkg::LoadRecords)
  ) u_records (
    .clk_i        (clk),
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(gen_valid),
    .ready_o(gen_ready),
    .data_i (gen_rec),
    .valid_o(rec_valid),
    .ready_i(rec_ready),
    .data_o (rec),
    .count_o(unused_count)
  );

  hd_lx_data #(
    .AxiBytes(AxiBytes)
  ) u_data (
    .clk_i        (clk),
    .rst_ni,
    .stop_i,
    .rec_valid_i(rec_valid),
    .rec_ready_o(rec_ready),
    .rec_i      (rec),
    .r_valid_i,
    .r_ready_o,
    .r_data_i,
    .r_err_i,
    .xm_req_o,
    .xm_gnt_i,
    .am_req_o,
    .am_gnt_i,
    .xm_addr_o,
    .xm_wdata_o,
    .xm_be_o,
    .op_done_o,
    .op_err_o,
    .op_err_code_o,
    .busy_o     (data_busy),
    .wait_mem_o (stall_mem_o)
  );

  // ---- clock ------------------------------------------------------------------------------------
  // Stands still with no operation, record or burst.
  hd_gate u_gate (
    .clk_i,
    .en_i (!rst_ni || op_valid_i || gen_busy || rec_valid || data_busy || r_valid_i),
    .clk_o(clk)
  );

  assign drained_o    = !open;
  assign stall_bank_o = (xm_req_o && !xm_gnt_i) || (am_req_o && !am_gnt_i);
endmodule
