// Kernel ports: AXI4-Lite slave, AXI4 master, interrupt, with the names that XRT tools expect.
// Wiring only.
//
// Guarantees: those of hd_csr and hd_core.
// Latency: no cycle is added.
// Throughput: that of the modules inside.
// Stalls: none is added.
module hd_top (
  input  logic                 ap_clk,
  input  logic                 ap_rst_n,
  output logic                 interrupt,

  // Control
  input  logic                 s_axi_control_awvalid,
  output logic                 s_axi_control_awready,
  input  logic [11:0]          s_axi_control_awaddr,
  input  logic                 s_axi_control_wvalid,
  output logic                 s_axi_control_wready,
  input  logic [31:0]          s_axi_control_wdata,
  input  logic [3:0]           s_axi_control_wstrb,
  output logic                 s_axi_control_bvalid,
  input  logic                 s_axi_control_bready,
  output logic [1:0]           s_axi_control_bresp,
  input  logic                 s_axi_control_arvalid,
  output logic                 s_axi_control_arready,
  input  logic [11:0]          s_axi_control_araddr,
  output logic                 s_axi_control_rvalid,
  input  logic                 s_axi_control_rready,
  output logic [31:0]          s_axi_control_rdata,
  output logic [1:0]           s_axi_control_rresp,

  // Memory
  output logic                 m_axi_gmem_arvalid,
  input  logic                 m_axi_gmem_arready,
  output logic [63:0]          m_axi_gmem_araddr,
  output logic [7:0]           m_axi_gmem_arlen,
  output logic [2:0]           m_axi_gmem_arsize,
  output logic [1:0]           m_axi_gmem_arburst,
  output logic [1:0]           m_axi_gmem_arid,
  input  logic                 m_axi_gmem_rvalid,
  output logic                 m_axi_gmem_rready,
  input  logic [hd_cfg_pkg::AxiBits-1:0]   m_axi_gmem_rdata,
  input  logic [1:0]           m_axi_gmem_rresp,
  input  logic                 m_axi_gmem_rlast,
  input  logic [1:0]           m_axi_gmem_rid,
  output logic                 m_axi_gmem_awvalid,
  input  logic                 m_axi_gmem_awready,
  output logic [63:0]          m_axi_gmem_awaddr,
  output logic [7:0]           m_axi_gmem_awlen,
  output logic [2:0]           m_axi_gmem_awsize,
  output logic [1:0]           m_axi_gmem_awburst,
  output logic [1:0]           m_axi_gmem_awid,
  output logic                 m_axi_gmem_wvalid,
  input  logic                 m_axi_gmem_wready,
  output logic [hd_cfg_pkg::AxiBits-1:0]   m_axi_gmem_wdata,
  output logic [hd_cfg_pkg::AxiBits/8-1:0] m_axi_gmem_wstrb,
  output logic                 m_axi_gmem_wlast,
  input  logic                 m_axi_gmem_bvalid,
  output logic                 m_axi_gmem_bready,
  input  logic [1:0]           m_axi_gmem_bresp,
  input  logic [1:0]           m_axi_gmem_bid
);
  localparam int unsigned AxiBits = hd_cfg_pkg::AxiBits;
  logic                  core_rst_n, core_stop, core_drained, core_moved, core_done;
  hd_bus_pkg::axil_req_t req;
  hd_bus_pkg::axil_rsp_t rsp;
  hd_bus_pkg::config_t   cfg;
  hd_bus_pkg::error_t    core_err;
  hd_bus_pkg::events_t   events;
  hd_bus_pkg::burst_t    ar, aw;
  logic [191:0]          wait_mask, next_pc;
  logic [31:0]           sem_nonzero;
  logic [29:0]           queued;

  // The simulator's accounting reads these.
  logic [5:0]   busy /* verilator public_flat_rd */;
  logic [5:0]   stall_sem /* verilator public_flat_rd */;
  logic [5:0]   stall_mem /* verilator public_flat_rd */;
  logic [5:0]   stall_bank /* verilator public_flat_rd */;
  logic [5:0]   active /* verilator public_flat_rd */;
  logic [95:0]  tag /* verilator public_flat_rd */;
  logic [6:0]   wr_bytes /* verilator public_flat_rd */;

  hd_cfg_check u_cfg_check (
    
  );

  logic [1:0] unused_bid;
  assign unused_bid = m_axi_gmem_bid;

  assign {stall_bank, stall_mem, stall_sem, busy} =
    {events.stall_bank, events.stall_mem, events.stall_sem, events.busy};
  assign wr_bytes = events.wr_bytes;

  assign req = {s_axi_control_awvalid, s_axi_control_awaddr, s_axi_control_wvalid,
                s_axi_control_wdata, s_axi_control_wstrb, s_axi_control_bready,
                s_axi_control_arvalid, s_axi_control_araddr, s_axi_control_rready};
  assign {s_axi_control_awready, s_axi_control_wready, s_axi_control_bvalid,
          s_axi_control_arready, s_axi_control_rvalid, s_axi_control_rdata} = rsp;
  assign s_axi_control_bresp = 2'd0;
  assign s_axi_control_rresp = 2'd0;
  assign {m_axi_gmem_arvalid, m_axi_gmem_araddr, m_axi_gmem_arlen} = ar;
  assign {m_axi_gmem_awvalid, m_axi_gmem_awaddr, m_axi_gmem_awlen} = aw;
  assign m_axi_gmem_arsize   = 3'($clog2(AxiBits / 8));
  assign m_axi_gmem_awsize   = 3'($clog2(AxiBits / 8));
  assign m_axi_gmem_arburst  = 2'd1;
  assign m_axi_gmem_awburst  = 2'd1;
  assign m_axi_gmem_awid     = 2'd0;

  hd_csr u_csr (
    .clk_i(ap_clk), .rst_ni(ap_rst_n), .interrupt_o(interrupt),
    .req_i(req), .rsp_o(rsp),
    .core_rst_no(core_rst_n), .core_stop_o(core_stop), .core_drained_i(core_drained),
    .core_moved_i(core_moved), .cfg_o(cfg),
    .core_done_i(core_done), .core_err_i(core_err),
    .wait_mask_i(wait_mask), .events_i(events), .active_i(active), .tag_i(tag), .queued_i(queued),
    .next_pc_i(next_pc), .sem_nonzero_i(sem_nonzero)
  );

  hd_core u_core (
    .clk_i(ap_clk), .rst_ni(core_rst_n), .stop_i(core_stop), .drained_o(core_drained),
    .moved_o(core_moved), .cfg_i(cfg),
    .done_o(core_done), .err_o(core_err),
    .wait_mask_o(wait_mask), .events_o(events), .active_o(active), .tag_o(tag), .queued_o(queued),
    .next_pc_o(next_pc), .sem_nonzero_o(sem_nonzero),
    .arready_i(m_axi_gmem_arready), .ar_o(ar), .arid_o(m_axi_gmem_arid),
    .rvalid_i(m_axi_gmem_rvalid), .rready_o(m_axi_gmem_rready), .rdata_i(m_axi_gmem_rdata),
    .rresp_i(m_axi_gmem_rresp), .rlast_i(m_axi_gmem_rlast), .rid_i(m_axi_gmem_rid), .aw_o(aw),
    .awready_i(m_axi_gmem_awready), .wvalid_o(m_axi_gmem_wvalid), .wready_i(m_axi_gmem_wready),
    .wdata_o(m_axi_gmem_wdata), .wstrb_o(m_axi_gmem_wstrb), .wlast_o(m_axi_gmem_wlast),
    .bvalid_i(m_axi_gmem_bvalid), .bready_o(m_axi_gmem_bready), .bresp_i(m_axi_gmem_bresp)
  );
endmodule
