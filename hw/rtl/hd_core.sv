// The machine without its registers: fetch, issue, semaphores, a front per unit, the DMA engines
// and the compute side. Wiring, and the choice of the first error.
//
// Guarantees: works from reset while stop_i is low. One error at most, that of the lowest unit
// (err_o, done_o: until reset; without one its pc is where issue stands). moved_o: something made
// progress in the cycle before. After stop_i the fronts hold their state for the registers, the
// compute side is in reset, and drained_o rises when every open AXI burst has ended.
// Latency: no cycle is added to those of the modules inside.
// Throughput: that of the modules inside.
// Stalls: those of the modules inside.
`include "hd_assert.svh"

module hd_core (
  input  logic                clk_i, rst_ni, stop_i,
  output logic                drained_o, moved_o,

  input  hd_bus_pkg::config_t cfg_i,

  // End of the program
  output logic                done_o,
  output hd_bus_pkg::error_t  err_o,

  // State and events of unit u at [u], [16 * u +: 16], [32 * u +: 32]
  output hd_bus_pkg::events_t events_o,
  output logic [5:0]          active_o,
  output logic [95:0]         tag_o,
  output logic [29:0]         queued_o,
  output logic [191:0]        wait_mask_o, next_pc_o,
  output logic [31:0]         sem_nonzero_o,

  // AXI
  output hd_bus_pkg::burst_t  ar_o,
  output logic [1:0]          arid_o,
  input  logic                arready_i, rvalid_i,
  output logic                rready_o,
  input  hd_cfg_pkg::data_t   rdata_i,
  input  logic [1:0]          rresp_i,
  input  logic                rlast_i,
  input  logic [1:0]          rid_i,
  output hd_bus_pkg::burst_t  aw_o,
  input  logic                awready_i,
  output logic                wvalid_o,
  input  logic                wready_i,
  output hd_cfg_pkg::data_t   wdata_o,
  output hd_cfg_pkg::strobe_t wstrb_o,
  output logic                wlast_o,
  input  logic                bvalid_i,
  output logic                bready_o,
  input  logic [1:0]          bresp_i
);
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned Units    = hd_isa_pkg::Units;
  localparam int unsigned Seq      = hd_isa_pkg::UnitSeq;
  localparam int unsigned Lx       = hd_isa_pkg::UnitLx;
  localparam int unsigned Lw       = hd_isa_pkg::UnitLw;
  localparam int unsigned Mx       = hd_isa_pkg::UnitMx;
  localparam int unsigned Vx       = hd_isa_pkg::UnitVx;
  localparam int unsigned St       = hd_isa_pkg::UnitSt;

  // ---- program ---------------------------------------------------------------------------------
  logic        word_valid, word_ready, word_end, fetch_err, issue_err, fetch_drained;
  logic [31:0] word, word_pc;
  logic [4:0]  fetch_code, issue_code;
  logic [2:0]  issue_unit;

  hd_bus_pkg::burst_t    fetch_ar, lx_ar, lw_ar;
  hd_bus_pkg::beat_t     fetch_r, lx_r, lw_r;
  logic [2:0]            ar_ready;  // of fetch, LX, LW
  logic                  lx_r_ready;
  logic [8*AxiBytes-1:0] r_data;

  hd_fetch u_fetch (
    .clk_i, .rst_ni, .run_i(!stop_i), .stop_i, .drained_o(fetch_drained),
    .image_bytes_i(cfg_i.seg.image.bytes), .image_ptr_i(cfg_i.seg.image.ptr),
    .code_offset_i(cfg_i.code_offset),
    .r_err_i(fetch_r.err), .ar_valid_o(fetch_ar.valid), .ar_ready_i(ar_ready[0]),
    .ar_addr_o(fetch_ar.addr), .ar_len_o(fetch_ar.len), .r_valid_i(fetch_r.valid),
    .r_data_i(r_data), .r_last_i(fetch_r.last),
    .word_valid_o(word_valid), .word_ready_i(word_ready), .word_o(word), .pc_o(word_pc),
    .end_o(word_end),
    .err_o(fetch_err), .err_code_o(fetch_code)
  );
  // Bit or part u of each belongs to unit u.
  logic [5:0]   w_valid, w_ready, want, waits, grant, signal, idle, took, overflow;
  logic [191:0] wait_mask, signal_mask, pc, done_pc, next_pc;
  logic [31:0]  w_data, w_pc, issue_pc;
  logic         w_last, issue_busy, issue_stall, issue_active;

  hd_issue u_issue (
    .clk_i, .rst_ni, .stop_i,
    .word_i(word), .word_valid_i(word_valid), .word_ready_o(word_ready), .word_pc_i(word_pc),
    .word_end_i(word_end),
    .w_valid_o(w_valid), .w_ready_i(w_ready), .w_data_o(w_data), .w_last_o(w_last), .w_pc_o(w_pc),
    .units_idle_i(&idle),
    .want_o(want[Seq]), .wait_mask_o(wait_mask[31:0]), .grant_i(grant[Seq]), .signal_o(signal[Seq]),
    .signal_mask_o(signal_mask[31:0]),
    .done_o(done_o), .busy_o(issue_busy), .stall_sem_o(issue_stall), .waits_o(waits[Seq]), .active_o(issue_active),
    .pc_o(issue_pc), .err_o(issue_err), .err_code_o(issue_code), .err_unit_o(issue_unit)
  );
  assign w_ready[Seq]  = 1'b1;
  assign idle[Seq]     = 1'b1;
  assign took[Seq]     = 1'b0;
  assign pc[31:0]      = issue_pc;
  assign done_pc[31:0] = issue_pc;
  assign next_pc[31:0] = issue_pc;

  hd_sem u_sem (
    .clk_i, .rst_ni,
    .want_i(want), .wait_mask_i(wait_mask), .grant_o(grant), .signal_i(signal),
    .signal_mask_i(signal_mask),
    .nonzero_o(sem_nonzero_o), .overflow_o(overflow)
  );

  // ---- fronts ----------------------------------------------------------------------------------
  logic [5:1]  op_valid, op_ready;
  logic [5:0]  op_done, op_err, active, stall_sem;
  logic [29:0] op_err_code, queued;
  logic [95:0] tag;

  assign queued[4:0]    = '0;
  assign active[Seq]    = issue_active;
  assign stall_sem[Seq] = issue_stall;
  assign tag[15:0]      = '0;

  // Words of the parameters of unit u: [8 * u +: 8].
  localparam logic [8*Units-1:0] Words = {8'(hd_isa_pkg::StWords), 8'(hd_isa_pkg::VxWords),
                                          8'(hd_isa_pkg::MxWords), 8'(hd_isa_pkg::LwWords),
                                          8'(hd_isa_pkg::LxWords), 8'd0};

  for (genvar u = Lx; u < Units; u++) begin : gen_front
    logic [3:0]                  code;
    logic [15:0]                 unused_tag;
    logic [32*Words[8*u+:8]-1:0] params;

    hd_front #(.Words(32'(Words[8*u+:8]))) u_front (
      .clk_i, .rst_ni, .stop_i,
      .w_valid_i(w_valid[u]), .w_ready_o(w_ready[u]), .w_data_i(w_data), .w_last_i(w_last),
      .w_pc_i(w_pc),
      .want_o(want[u]), .wait_mask_o(wait_mask[32*u+:32]), .grant_i(grant[u]), .signal_o(signal[u]),
      .signal_mask_o(signal_mask[32*u+:32]),
      .op_done_i(op_done[u]), .op_valid_o(op_valid[u]), .op_ready_i(op_ready[u]),
      .op_code_o(code), .op_params_o(params), .op_tag_o(unused_tag),
      .op_err_i(op_err[u]),
      .idle_o(idle[u]), .stall_sem_o(stall_sem[u]), .waits_o(waits[u]), .took_o(took[u]), .active_o(active[u]),
      .tag_o(tag[16*u+:16]), .pc_o(pc[32*u+:32]), .done_pc_o(done_pc[32*u+:32]),
      .next_pc_o(next_pc[32*u+:32]), .queued_o(queued[5*u+:5])
    );
  end

  // ---- DMA -------------------------------------------------------------------------------------
  hd_bus_pkg::result_t    lx_res, lw_res, mx_res, vx_res, st_res;
  hd_bus_pkg::chunk_t     lx_chunk, st_chunk;
  hd_bus_pkg::chunk_gnt_t lx_gnt, st_gnt;
  hd_bus_pkg::part_t      part;
  hd_bus_pkg::stall_t     lx_stall, st_stall;
  logic                   lx_drained, lw_drained, st_drained, lw_stall_mem;
  logic [8*AxiBytes-1:0]  lx_wdata, part_wdata, st_xm_rdata, st_am_rdata;
  logic [AxiBytes-1:0]    lx_be;
  logic [6:0]             w_bytes;

  assign op_done     = {st_res.done, vx_res.done, mx_res.done, lw_res.done, lx_res.done, 1'b0};
  assign op_err      = {st_res.err, vx_res.err, mx_res.err, lw_res.err, lx_res.err, 1'b0};
  assign op_err_code = {st_res.err_code, vx_res.err_code, mx_res.err_code, lw_res.err_code,
                        lx_res.err_code, hd_reg_pkg::ErrNone};

  hd_rd_arb u_rd_arb (
    .clk_i, .rst_ni,
    .fetch_ar_i(fetch_ar), .lx_ar_i(lx_ar), .lw_ar_i(lw_ar), .ar_ready_o(ar_ready),
    .fetch_r_o(fetch_r), .lx_r_o(lx_r), .lw_r_o(lw_r), .r_ready_i({1'b1, lx_r_ready, 1'b1}),
    .r_data_o(r_data),
    .arready_i, .ar_o, .arid_o, .rvalid_i, .rready_o, .rdata_i, .rresp_i, .rlast_i, .rid_i
  );

  hd_lx u_lx (
    .clk_i, .rst_ni, .stop_i, .drained_o(lx_drained), .seg_i(cfg_i.seg),
    .op_valid_i(op_valid[Lx]), .op_i({gen_front[Lx].code, gen_front[Lx].params}),
    .op_ready_o(op_ready[Lx]), .res_o(lx_res),
    .ar_o(lx_ar), .ar_ready_i(ar_ready[1]), .r_i(lx_r), .r_ready_o(lx_r_ready), .r_data_i(r_data),
    .chunk_o(lx_chunk), .chunk_gnt_i(lx_gnt), .wdata_o(lx_wdata), .be_o(lx_be),
    .stall_o(lx_stall)
  );

  hd_lw u_lw (
    .clk_i, .rst_ni, .stop_i, .drained_o(lw_drained), .seg_i(cfg_i.seg),
    .op_valid_i(op_valid[Lw]), .op_i({gen_front[Lw].code, gen_front[Lw].params}),
    .op_ready_o(op_ready[Lw]), .res_o(lw_res),
    .ar_o(lw_ar), .ar_ready_i(ar_ready[2]), .r_i(lw_r), .r_data_i(r_data),
    .part_o(part), .wdata_o(part_wdata),
    .stall_mem_o(lw_stall_mem)
  );

  hd_st u_st (
    .clk_i, .rst_ni, .stop_i, .drained_o(st_drained), .seg_i(cfg_i.seg),
    .op_valid_i(op_valid[St]), .op_i({gen_front[St].code, gen_front[St].params}),
    .op_ready_o(op_ready[St]), .res_o(st_res),
    .xm_rdata_i(st_xm_rdata), .chunk_o(st_chunk), .chunk_gnt_i(st_gnt), .am_rdata_i(st_am_rdata),
    .aw_o, .aw_ready_i(awready_i), .wvalid_o, .wready_i, .wdata_o, .wstrb_o, .wlast_o, .bvalid_i,
    .bready_o, .bresp_i,
    .wbytes_o(w_bytes), .stall_o(st_stall)
  );

  // ---- compute ---------------------------------------------------------------------------------
  logic mx_busy, mx_stall_bank, vx_busy, vx_moved, vx_stall_bank;

  hd_compute u_compute (
    .clk_i, .rst_ni(rst_ni && !stop_i),
    .mx_op_valid_i(op_valid[Mx]), .mx_op_i({gen_front[Mx].code, gen_front[Mx].params}),
    .mx_op_ready_o(op_ready[Mx]), .mx_res_o(mx_res),
    .vx_op_valid_i(op_valid[Vx]), .vx_op_i({gen_front[Vx].code, gen_front[Vx].params}),
    .vx_op_ready_o(op_ready[Vx]), .vx_res_o(vx_res),
    .st_xm_rdata_o(st_xm_rdata), .lx_i(lx_chunk), .lx_gnt_o(lx_gnt), .lx_wdata_i(lx_wdata),
    .lx_be_i(lx_be), .st_i(st_chunk), .st_gnt_o(st_gnt), .st_am_rdata_o(st_am_rdata),
    .part_i(part), .part_wdata_i(part_wdata),
    .mx_busy_o(mx_busy), .mx_stall_bank_o(mx_stall_bank), .vx_busy_o(vx_busy),
    .vx_moved_o(vx_moved), .vx_stall_bank_o(vx_stall_bank)
  );

  // ---- state and events ------------------------------------------------------------------------
  assign events_o.busy       = {active[St], vx_busy, mx_busy, active[Lw], active[Lx], issue_busy};
  assign events_o.stall_sem  = stall_sem;
  assign events_o.stall_mem  = {st_stall.mem, 1'b0, 1'b0, lw_stall_mem, lx_stall.mem,
                         !word_valid && !active[Seq] && !done_o};
  assign events_o.stall_bank = {st_stall.bank, vx_stall_bank, mx_stall_bank, 1'b0, lx_stall.bank, 1'b0};
  assign active_o     = active;
  assign tag_o        = tag;
  assign queued_o     = queued;
  always_comb
    for (int unsigned u = 0; u < Units; u++)
      wait_mask_o[32 * u +: 32] = waits[u] ? wait_mask[32 * u +: 32] : 32'd0;
  assign next_pc_o    = next_pc;
  assign events_o.rd_beat    = rvalid_i && rready_o;
  assign events_o.rd_code    = rid_i == 2'd0;
  assign events_o.wr_bytes   = wvalid_o && wready_i ? w_bytes : 7'd0;
  assign drained_o    = fetch_drained && lx_drained && lw_drained && st_drained;

  // ---- progress --------------------------------------------------------------------------------
  always_ff @(posedge clk_i)
    moved_o <= took != '0 || op_done != '0 || issue_busy || (mx_busy && !mx_stall_bank) || vx_moved ||
               (lx_chunk.xm && lx_gnt.xm) || (lx_chunk.am && lx_gnt.am) ||
               (st_chunk.xm && st_gnt.xm) || (st_chunk.am && st_gnt.am) ||
               (ar_o.valid && arready_i) || (rvalid_i && rready_o) ||
               (aw_o.valid && awready_i) || (wvalid_o && wready_i) || (bvalid_i && bready_o);

  // ---- the first error, lowest unit first ------------------------------------------------------
  always_comb begin
    err_o.valid = 1'b0;
    err_o.code  = hd_reg_pkg::ErrNone;
    err_o.unit  = 3'd0;
    err_o.pc    = issue_pc;
    for (int unsigned i = 0; i < Units; i++) begin
      if (overflow[Units - 1 - i]) begin
        err_o.valid = 1'b1;
        err_o.code  = hd_reg_pkg::ErrSemaphore;
        err_o.unit  = 3'(Units - 1 - i);
        err_o.pc    = done_pc[32 * (Units - 1 - i) +: 32];
      end
      if (op_err[Units - 1 - i]) begin
        err_o.valid = 1'b1;
        err_o.code  = op_err_code[5 * (Units - 1 - i) +: 5];
        err_o.unit  = 3'(Units - 1 - i);
        err_o.pc    = pc[32 * (Units - 1 - i) +: 32];
      end
    end
    if (issue_err) begin
      err_o.valid = 1'b1;
      err_o.code  = issue_code;
      err_o.unit  = issue_unit;
      err_o.pc    = issue_pc;
    end
    if (fetch_err) begin
      err_o.valid = 1'b1;
      err_o.code  = fetch_code;
      err_o.unit  = 3'd0;
      err_o.pc    = '0;
    end
  end
endmodule
