// hd_compute with a look into AM, for tb_hd_compute.cc.
module tb_hd_compute #(
  parameter int unsigned K        = hd_cfg_pkg::K,
  parameter int unsigned N        = hd_cfg_pkg::N,
  parameter int unsigned AxiBytes = hd_cfg_pkg::AxiBytes
) (
  input  logic [23:0]                       peek_addr_i,
  output logic [32*N-1:0]                   peek_o,

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
  localparam int unsigned RowBits = $clog2(hd_cfg_pkg::AmWords) - 1;

  // The bench writes one memory at a time.
  hd_compute u_dut (
    .clk_i,
    .rst_ni,
    .mx_op_valid_i,
    .mx_op_i        ({mx_op_code_i, mx_op_params_i}),
    .mx_op_ready_o,
    .mx_res_o       ({mx_op_done_o, mx_op_err_o, mx_op_err_code_o}),
    .vx_op_valid_i,
    .vx_op_i        ({vx_op_code_i, vx_op_params_i}),
    .vx_op_ready_o,
    .vx_res_o       ({vx_op_done_o, vx_op_err_o, vx_op_err_code_o}),
    .lx_i           ({lx_req_i, lx_am_req_i, lx_addr_i}),
    .lx_gnt_o       ({lx_gnt_o, lx_am_gnt_o}),
    .lx_wdata_i,
    .lx_be_i,
    .st_i           ({st_req_i, st_am_req_i, st_addr_i}),
    .st_gnt_o       ({st_gnt_o, st_am_gnt_o}),
    .st_xm_rdata_o  (st_rdata_o),
    .st_am_rdata_o,
    .part_i         ({wm_we_i, pm_we_i, tm_we_i, wm_col_i, wm_k_i,
                      wm_we_i ? wm_addr_i : pm_addr_i, wm_we_i ? wm_part_i : pm_part_i}),
    .part_wdata_i   (wm_we_i ? wm_wdata_i : pm_wdata_i),
    .mx_busy_o,
    .mx_stall_bank_o,
    .vx_busy_o,
    .vx_moved_o,
    .vx_stall_bank_o
  );

  assign peek_o = peek_addr_i[RowBits] ?
    u_dut.u_am.gen_bank[1].u_ram.mem[peek_addr_i[RowBits-1:0]] :
    u_dut.u_am.gen_bank[0].u_ram.mem[peek_addr_i[RowBits-1:0]];
endmodule
