// What is written into a bank of AM: MX before VX before LX. It stands apart from the grants of
// hd_am, because 32 N choices of data wait on it.
//
// Guarantees: the write of the highest that asks. VX asks with vx_i, for either bank.
// Latency: none, combinational.
// Throughput: a write a cycle.
// Stalls: never.
module hd_am_write #(
  parameter bit          Bank    = 1'b0,
  parameter int unsigned RowBits = 10
) (
  // MX's and LX's to this bank; VX's to either
  input  logic                     mx_we_i, lx_we_i,
  input  logic [RowBits-1:0]       mx_row_i, lx_row_i,
  input  hd_bus_pkg::word_t        vx_i,
  input  logic [hd_cfg_pkg::N-1:0] lx_lanes_i,
  input  hd_cfg_pkg::sums_t        mx_wdata_i, vx_wdata_i, lx_wdata_i,

  output logic [hd_cfg_pkg::N-1:0] we_o,  // lanes
  output logic [RowBits-1:0]       row_o,
  output hd_cfg_pkg::sums_t        wdata_o
);
  logic vx_we;
  assign vx_we   = vx_i.req && vx_i.addr[RowBits] == Bank;
  assign we_o    = mx_we_i || vx_we ? '1 : lx_we_i ? lx_lanes_i : '0;
  assign row_o   = mx_we_i ? mx_row_i : vx_we ? vx_i.addr[RowBits-1:0] : lx_row_i;
  assign wdata_o = mx_we_i ? mx_wdata_i : lx_we_i ? lx_wdata_i : vx_wdata_i;  // not by vx_i: LX waits for it
endmodule
