// The compute side: XM, AM, PM, matrix unit (with WM) and vector unit. Wiring only.
//
// Guarantees: a reset stops both units and forgets their operations; memories keep their contents.
// Latency: no cycle is added to those of the modules inside.
// Throughput: that of the modules inside.
// Stalls: those of the modules inside.
module hd_compute (
  input  logic                   clk_i, rst_ni,

  // Operations of MX and VX
  input  logic                   mx_op_valid_i,
  input  hd_isa_pkg::mx_op_t     mx_op_i,
  output logic                   mx_op_ready_o,
  output hd_bus_pkg::result_t    mx_res_o,
  input  logic                   vx_op_valid_i,
  input  hd_isa_pkg::vx_op_t     vx_op_i,
  output logic                   vx_op_ready_o,
  output hd_bus_pkg::result_t    vx_res_o,

  // XM and AM: LX writes, ST reads
  input  hd_bus_pkg::chunk_t     lx_i,
  output hd_bus_pkg::chunk_gnt_t lx_gnt_o,
  input  hd_cfg_pkg::data_t      lx_wdata_i,
  input  hd_cfg_pkg::strobe_t    lx_be_i,
  input  hd_bus_pkg::chunk_t     st_i,
  output hd_bus_pkg::chunk_gnt_t st_gnt_o,
  output hd_cfg_pkg::data_t      st_xm_rdata_o, st_am_rdata_o,

  // WM, PM, TM: LW writes
  input  hd_bus_pkg::part_t      part_i,
  input  hd_cfg_pkg::data_t      part_wdata_i,

  // Counters
  output logic                   mx_busy_o, mx_stall_bank_o, vx_busy_o, vx_moved_o, vx_stall_bank_o
);
  localparam int unsigned K = hd_cfg_pkg::K;
  localparam int unsigned N = hd_cfg_pkg::N;
  hd_bus_pkg::word_t mx_xm, mx_am, mx_amw_next, xma, xmb, xmw, ama, amb, amw, pm;
  logic              mx_xm_gnt, xma_shared, xmb_shared, xm_same, xmw_gnt;
  logic              ama_free, amb_free, am_same, amw_gnt, vx_go, vx_end;
  logic [2:0]        vx_xm_asks, vx_am_asks;
  logic [8*K-1:0]    mx_xm_rdata;
  logic [8*N-1:0]    xma_rdata, xmb_rdata, vx_xm_wdata;
  logic [32*N-1:0]   mx_am_rdata, mx_amw_wdata, ama_rdata, amb_rdata, vx_am_wdata;
  logic [64*N-1:0]   pm_rdata;

  hd_mx u_mx (
    .clk_i, .rst_ni,
    .op_valid_i(mx_op_valid_i), .op_i(mx_op_i), .op_ready_o(mx_op_ready_o), .res_o(mx_res_o),
    .part_i, .part_wdata_i,
    .xm_o(mx_xm), .xm_gnt_i(mx_xm_gnt), .xm_rdata_i(mx_xm_rdata),
    .am_o(mx_am), .am_rdata_i(mx_am_rdata), .amw_next_o(mx_amw_next), .amw_wdata_o(mx_amw_wdata),
    .busy_o(mx_busy_o), .stall_bank_o(mx_stall_bank_o)
  );

  hd_vx u_vx (
    .clk_i, .rst_ni,
    .op_valid_i(vx_op_valid_i), .op_i(vx_op_i), .op_ready_o(vx_op_ready_o), .res_o(vx_res_o),
    .go_o(vx_go), .end_o(vx_end), .xm_asks_o(vx_xm_asks), .am_asks_o(vx_am_asks),
    .mx_xm_i(mx_xm.req), .xma_o(xma), .xma_shared_i(xma_shared), .xma_rdata_i(xma_rdata),
    .xmb_o(xmb), .xmb_shared_i(xmb_shared), .xm_same_i(xm_same), .xmb_rdata_i(xmb_rdata),
    .xmw_o(xmw), .xmw_gnt_i(xmw_gnt),
    .ama_o(ama), .ama_free_i(ama_free), .ama_rdata_i(ama_rdata), .amb_o(amb), .amb_free_i(amb_free),
    .am_same_i(am_same), .amb_rdata_i(amb_rdata), .amw_o(amw), .amw_gnt_i(amw_gnt),
    .amw_wdata_o(vx_am_wdata),
    .xmw_wdata_o(vx_xm_wdata),
    .pm_o(pm), .pm_rdata_i(pm_rdata),
    .part_i, .part_wdata_i,
    .busy_o(vx_busy_o), .moved_o(vx_moved_o), .stall_bank_o(vx_stall_bank_o)
  );

  hd_xm u_xm (
    .clk_i, .rst_ni,
    .mx_i(mx_xm), .mx_gnt_o(mx_xm_gnt), .mx_rdata_o(mx_xm_rdata),
    .vx_go_i(vx_go), .vx_end_i(vx_end), .vx_asks_i(vx_xm_asks),
    .vxa_i(xma), .vxa_shared_o(xma_shared), .vxa_rdata_o(xma_rdata), .vxb_i(xmb), .vxb_shared_o(xmb_shared),
    .vx_same_o(xm_same), .vxb_rdata_o(xmb_rdata), .vxw_i(xmw), .vxw_gnt_o(xmw_gnt), .vxw_wdata_i(vx_xm_wdata),
    .lx_i, .lx_wdata_i, .lx_be_i, .lx_gnt_o(lx_gnt_o.xm), .st_i, .st_gnt_o(st_gnt_o.xm),
    .st_rdata_o(st_xm_rdata_o)
  );

  hd_am u_am (
    .clk_i, .rst_ni,
    .mx_i(mx_am), .mx_rdata_o(mx_am_rdata), .mxw_next_i(mx_amw_next), .mxw_wdata_i(mx_amw_wdata),
    .vx_go_i(vx_go), .vx_end_i(vx_end), .vx_asks_i(vx_am_asks),
    .vxa_i(ama), .vxa_free_o(ama_free), .vxa_rdata_o(ama_rdata), .vxb_i(amb), .vxb_free_o(amb_free),
    .vx_same_o(am_same), .vxb_rdata_o(amb_rdata), .vxw_i(amw), .vxw_gnt_o(amw_gnt), .vxw_wdata_i(vx_am_wdata),
    .lx_i, .lx_wdata_i, .lx_be_i, .lx_gnt_o(lx_gnt_o.am), .st_i, .st_gnt_o(st_gnt_o.am),
    .st_rdata_o(st_am_rdata_o)
  );

  hd_pm u_pm (
    .clk_i, .part_i, .part_wdata_i, .read_i(pm), .rdata_o(pm_rdata)
  );
endmodule
