// Activation load: runs lx.load, DRAM -> XM or AM. Address side, records, data side.
//
// Guarantees: done comes in the order of operations, when what was written is visible. Accepts the
// next operation when the addresses of the last run have been made, so its reads are on their way
// while data still comes. An error ends the work until reset.
// Latency: LxRequestCycles from an operation to its first request.
// Throughput: a run a cycle, a chunk a cycle.
// Stalls: those of hd_lx_gen and hd_lx_data.
module hd_lx (
  input  logic                   clk_i, rst_ni, stop_i,
  output logic                   drained_o,
  input  hd_bus_pkg::segments_t  seg_i,

  // Operations, from hd_front
  input  logic                   op_valid_i,
  input  hd_isa_pkg::lx_op_t     op_i,
  output logic                   op_ready_o,
  output hd_bus_pkg::result_t    res_o,

  // Read channel
  output hd_bus_pkg::burst_t     ar_o,
  input  logic                   ar_ready_i,
  input  hd_bus_pkg::beat_t      r_i,
  output logic                   r_ready_o,
  input  hd_cfg_pkg::data_t      r_data_i,

  // XM or AM write
  output hd_bus_pkg::chunk_t     chunk_o,
  input  hd_bus_pkg::chunk_gnt_t chunk_gnt_i,
  output hd_cfg_pkg::data_t      wdata_o,
  output hd_cfg_pkg::strobe_t    be_o,

  // Counters
  output hd_bus_pkg::stall_t     stall_o
);
  logic                  clk;  // of hd_gate
  logic                  gen_valid, gen_ready, rec_valid, rec_ready, open, gen_busy, data_busy;
  hd_bus_pkg::load_run_t gen_rec, rec;
  logic [5:0]            unused_count;

  hd_lx_gen u_gen (
    .clk_i(clk), .rst_ni, .stop_i,
    .seg_i,
    .op_valid_i, .op_i, .op_ready_o,
    .ar_o, .ar_ready_i, .r_end_i(r_i.valid && r_ready_o && r_i.last), .open_o(open),
    .busy_o(gen_busy),
    .rec_valid_o(gen_valid), .rec_ready_i(gen_ready), .rec_o(gen_rec)
  );

  hd_fifo #(.Width($bits(rec)), .Depth(hd_isa_pkg::LoadRecords)) u_records (
    .clk_i(clk), .rst_ni, .clear_i(1'b0),
    .valid_i(gen_valid), .ready_o(gen_ready), .data_i(gen_rec),
    .valid_o(rec_valid), .ready_i(rec_ready), .data_o(rec),
    .count_o(unused_count)
  );

  hd_lx_data u_data (
    .clk_i(clk), .rst_ni, .stop_i,
    .rec_valid_i(rec_valid), .rec_ready_o(rec_ready), .rec_i(rec),
    .r_i, .r_ready_o, .r_data_i,
    .chunk_o, .chunk_gnt_i, .wdata_o, .be_o,
    .res_o, .busy_o(data_busy), .wait_mem_o(stall_o.mem)
  );

  // ---- clock ------------------------------------------------------------------------------------
  // Stands still with no operation, record or burst.
  hd_gate u_gate (
    .clk_i, .en_i(!rst_ni || op_valid_i || gen_busy || rec_valid || data_busy || r_i.valid),
    .clk_o(clk)
  );

  assign drained_o    = !open;
  assign stall_o.bank = (chunk_o.xm && !chunk_gnt_i.xm) || (chunk_o.am && !chunk_gnt_i.am);
endmodule
