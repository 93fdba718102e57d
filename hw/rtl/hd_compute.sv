// The compute side: XM, AM, PM, matrix unit (with WM) and vector unit. Wiring only.
module hd_compute #(
  parameter int unsigned K        = hd_cfg_pkg::K,
  parameter int unsigned N        = hd_cfg_pkg::N,
  parameter int unsigned AxiBytes = hd_cfg_pkg::AxiBytes
) (
  input  logic                              clk_i,
  input  logic                              rst_ni,

  // MX operations
  input  logic                              mx_op_valid_i,
  output logic                              mx_op_ready_o,
  input  logic [3:0]                        mx_op_code_i,
  input  logic [32*hd_isa_pkg::MxWords-1:0] mx_op_params_i,
  input  logic [15:0]                       mx_op_tag_i,
  output logic                              mx_op_done_o,
  output logic                              mx_op_err_o,
  output logic [4:0]                        mx_op_err_code_o,

  // VX operations
  input  logic                              vx_op_valid_i,
  output logic                              vx_op_ready_o,
  input  logic [3:0]                        vx_op_code_i,
  input  logic [32*hd_isa_pkg::VxWords-1:0] vx_op_params_i,
  input  logic [15:0]                       vx_op_tag_i,
  output logic                              vx_op_done_o,
  output logic                              vx_op_err_o,
  output logic [4:0]                        vx_op_err_code_o,

  // XM: LX write and ST read, see hd_xm
  input  logic                              lx_req_i,
  input  logic [27:0]                       lx_addr_i,
  input  logic [8*AxiBytes-1:0]             lx_wdata_i,
  input  logic [AxiBytes-1:0]               lx_be_i,
  output logic                              lx_gnt_o,
  input  logic                              st_req_i,
  input  logic [27:0]                       st_addr_i,
  output logic                              st_gnt_o,
  output logic [8*AxiBytes-1:0]             st_rdata_o,

  // AM: the same, addresses and write data are shared
  input  logic                              lx_am_req_i,
  output logic                              lx_am_gnt_o,
  input  logic                              st_am_req_i,
  output logic                              st_am_gnt_o,
  output logic [8*AxiBytes-1:0]             st_am_rdata_o,

  // WM, PM, TM: LW writes part `part` (AxiBytes) of word `addr`; TM has PM's address and data
  input  logic                              wm_we_i,
  input  logic [23:0]                       wm_addr_i,
  input  logic [8:0]                        wm_part_i,
  input  logic                              wm_col_i,   // column-wise: part of column wm_k_i
  input  logic [5:0]                        wm_k_i,
  input  logic [8*AxiBytes-1:0]             wm_wdata_i,
  input  logic                              pm_we_i,
  input  logic                              tm_we_i,
  input  logic [23:0]                       pm_addr_i,
  input  logic [8:0]                        pm_part_i,
  input  logic [8*AxiBytes-1:0]             pm_wdata_i,

  // Counters
  output logic                              mx_busy_o,
  output logic                              mx_stall_bank_o,
  output logic                              vx_busy_o,
  output logic                              vx_moved_o,
  output logic                              vx_stall_bank_o
);
  logic            mx_xm_req, mx_xm_gnt, mx_am_re, mx_am_we;
  logic [23:0]     mx_xm_addr, mx_am_raddr, mx_am_waddr;
  logic [8*K-1:0]  mx_xm_rdata;
  logic [32*N-1:0] mx_am_rdata, mx_am_wdata;

  logic            xma_req, xma_gnt, xmb_req, xmb_gnt, xmw_req, xmw_gnt;
  logic            ama_req, ama_gnt, amb_req, amb_gnt, amw_req, amw_gnt, pm_re;
  logic [23:0]     vx_a_addr, vx_b_addr, vx_w_addr, pm_raddr;
  logic [8*N-1:0]  xma_rdata, xmb_rdata;
  logic [32*N-1:0] ama_rdata, amb_rdata, vx_wdata;
  logic [64*N-1:0] pm_rdata;

  hd_mx #(
    .K(K),
    .N(N),
    .AxiBytes(AxiBytes)
  ) u_mx (
    .clk_i,
    .rst_ni,
    .op_valid_i   (mx_op_valid_i),
    .op_ready_o   (mx_op_ready_o),
    .op_code_i    (mx_op_code_i),
    .op_params_i  (mx_op_params_i),
    .op_done_o    (mx_op_done_o),
    .op_err_o     (mx_op_err_o),
    .op_err_code_o(mx_op_err_code_o),
    .wm_we_i,
    .wm_addr_i,
    .wm_part_i,
    .wm_col_i,
    .wm_k_i,
    .wm_wdata_i,
    .xm_req_o     (mx_xm_req),
    .xm_addr_o    (mx_xm_addr),
    .xm_gnt_i     (mx_xm_gnt),
    .xm_rdata_i   (mx_xm_rdata),
    .am_re_o      (mx_am_re),
    .am_raddr_o   (mx_am_raddr),
    .am_rdata_i   (mx_am_rdata),
    .am_we_o      (mx_am_we),
    .am_waddr_o   (mx_am_waddr),
    .am_wdata_o   (mx_am_wdata),
    .busy_o       (mx_busy_o),
    .stall_bank_o (mx_stall_bank_o)
  );

  hd_vx #(
    .N(N),
    .AxiBytes(AxiBytes)
  ) u_vx (
    .clk_i,
    .rst_ni,
    .tm_we_i,
    .tm_addr_i    (pm_addr_i),
    .tm_part_i    (pm_part_i),
    .tm_wdata_i   (pm_wdata_i),
    .op_valid_i   (vx_op_valid_i),
    .op_ready_o   (vx_op_ready_o),
    .op_code_i    (vx_op_code_i),
    .op_params_i  (vx_op_params_i),
    .op_done_o    (vx_op_done_o),
    .op_err_o     (vx_op_err_o),
    .op_err_code_o(vx_op_err_code_o),
    .xma_req_o    (xma_req),
    .xma_gnt_i    (xma_gnt),
    .xma_rdata_i  (xma_rdata),
    .xmb_req_o    (xmb_req),
    .xmb_gnt_i    (xmb_gnt),
    .xmb_rdata_i  (xmb_rdata),
    .xmw_req_o    (xmw_req),
    .xmw_gnt_i    (xmw_gnt),
    .ama_req_o    (ama_req),
    .ama_gnt_i    (ama_gnt),
    .ama_rdata_i  (ama_rdata),
    .amb_req_o    (amb_req),
    .amb_gnt_i    (amb_gnt),
    .amb_rdata_i  (amb_rdata),
    .amw_req_o    (amw_req),
    .amw_gnt_i    (amw_gnt),
    .a_addr_o     (vx_a_addr),
    .b_addr_o     (vx_b_addr),
    .w_addr_o     (vx_w_addr),
    .wdata_o      (vx_wdata),
    .pm_re_o      (pm_re),
    .pm_addr_o    (pm_raddr),
    .pm_rdata_i   (pm_rdata),
    .busy_o       (vx_busy_o),
    .moved_o      (vx_moved_o),
    .stall_bank_o (vx_stall_bank_o)
  );

  hd_xm #(
    .K(K),
    .N(N),
    .AxiBytes(AxiBytes)
  ) u_xm (
    .clk_i,
    .rst_ni,
    .mx_req_i   (mx_xm_req),
    .mx_addr_i  (mx_xm_addr),
    .mx_gnt_o   (mx_xm_gnt),
    .mx_rdata_o (mx_xm_rdata),
    .vxa_req_i  (xma_req),
    .vxa_addr_i (vx_a_addr),
    .vxa_gnt_o  (xma_gnt),
    .vxa_rdata_o(xma_rdata),
    .vxb_req_i  (xmb_req),
    .vxb_addr_i (vx_b_addr),
    .vxb_gnt_o  (xmb_gnt),
    .vxb_rdata_o(xmb_rdata),
    .vxw_req_i  (xmw_req),
    .vxw_addr_i (vx_w_addr),
    .vxw_gnt_o  (xmw_gnt),
    .vxw_wdata_i(vx_wdata[8*N-1:0]),
    .lx_req_i,
    .lx_addr_i,
    .lx_wdata_i,
    .lx_be_i,
    .lx_gnt_o,
    .st_req_i,
    .st_addr_i,
    .st_gnt_o,
    .st_rdata_o
  );

  hd_am #(
    .N(N),
    .AxiBytes(AxiBytes)
  ) u_am (
    .clk_i,
    .rst_ni,
    .lx_req_i   (lx_am_req_i),
    .lx_addr_i,
    .lx_wdata_i,
    .lx_be_i,
    .lx_gnt_o   (lx_am_gnt_o),
    .st_req_i   (st_am_req_i),
    .st_addr_i,
    .st_gnt_o   (st_am_gnt_o),
    .st_rdata_o (st_am_rdata_o),
    .mx_re_i    (mx_am_re),
    .mx_raddr_i (mx_am_raddr),
    .mx_rdata_o (mx_am_rdata),
    .mx_we_i    (mx_am_we),
    .mx_waddr_i (mx_am_waddr),
    .mx_wdata_i (mx_am_wdata),
    .vxa_req_i  (ama_req),
    .vxa_addr_i (vx_a_addr),
    .vxa_gnt_o  (ama_gnt),
    .vxa_rdata_o(ama_rdata),
    .vxb_req_i  (amb_req),
    .vxb_addr_i (vx_b_addr),
    .vxb_gnt_o  (amb_gnt),
    .vxb_rdata_o(amb_rdata),
    .vxw_req_i  (amw_req),
    .vxw_addr_i (vx_w_addr),
    .vxw_gnt_o  (amw_gnt),
    .vxw_wdata_i(vx_wdata)
  );

  hd_pm #(
    .N(N),
    .AxiBytes(AxiBytes)
  ) u_pm (
    .clk_i,
    .we_i   (pm_we_i),
    .waddr_i(pm_addr_i),
    .wpart_i(pm_part_i),
    .wdata_i(pm_wdata_i),
    .re_i   (pm_re),
    .raddr_i(pm_raddr),
    .rdata_o(pm_rdata)
  );
endmodule
