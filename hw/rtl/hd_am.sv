// Accumulator memory: words of N x 32 bit, two banks split by the top address bit.
//
// Per bank and cycle one read is granted, priority MX > VX.A > VX.B, and one write, MX > VX. MX is
// always granted. Read data is valid 2 cycles after the grant and holds until the data of the
// port's next grant; a write is visible to reads granted in the next cycle. Addresses lie inside
// the memory.
module hd_am #(
  parameter int unsigned N     = hd_cfg_pkg::N,
  parameter int unsigned Words = hd_cfg_pkg::AmWords
) (
  input  logic            clk_i,
  input  logic            rst_ni,

  // MX: read (for accumulate) and write
  input  logic            mx_re_i,
  input  logic [23:0]     mx_raddr_i,
  output logic [32*N-1:0] mx_rdata_o,
  input  logic            mx_we_i,
  input  logic [23:0]     mx_waddr_i,
  input  logic [32*N-1:0] mx_wdata_i,

  // VX: two reads and a write
  input  logic            vxa_req_i,
  input  logic [23:0]     vxa_addr_i,
  output logic            vxa_gnt_o,
  output logic [32*N-1:0] vxa_rdata_o,
  input  logic            vxb_req_i,
  input  logic [23:0]     vxb_addr_i,
  output logic            vxb_gnt_o,
  output logic [32*N-1:0] vxb_rdata_o,
  input  logic            vxw_req_i,
  input  logic [23:0]     vxw_addr_i,
  output logic            vxw_gnt_o,
  input  logic [32*N-1:0] vxw_wdata_i
);
  localparam int unsigned RowBits = $clog2(Words) - 1;

  logic mx_rbank, mx_wbank, a_bank, b_bank, w_bank;
  assign mx_rbank = mx_raddr_i[RowBits];
  assign mx_wbank = mx_waddr_i[RowBits];
  assign a_bank   = vxa_addr_i[RowBits];
  assign b_bank   = vxb_addr_i[RowBits];
  assign w_bank   = vxw_addr_i[RowBits];

  assign vxa_gnt_o = vxa_req_i && !(mx_re_i && mx_rbank == a_bank);
  assign vxb_gnt_o = vxb_req_i && !(mx_re_i && mx_rbank == b_bank) &&
                     !(vxa_req_i && a_bank == b_bank);
  assign vxw_gnt_o = vxw_req_i && !(mx_we_i && mx_wbank == w_bank);

  logic [64*N-1:0] rdata;  // both banks

  for (genvar b = 0; b < 2; b++) begin : gen_bank
    logic mx_r, mx_w, a_here, b_here, w_here;
    assign mx_r   = mx_re_i && mx_rbank == (b == 1);
    assign mx_w   = mx_we_i && mx_wbank == (b == 1);
    assign a_here = vxa_gnt_o && a_bank == (b == 1);
    assign b_here = vxb_gnt_o && b_bank == (b == 1);
    assign w_here = vxw_gnt_o && w_bank == (b == 1);

    hd_ram #(
      .Width(32 * N),
      .Depth(Words / 2),
      .BeBits(32 * N)
    ) u_ram (
      .clk_i,
      .re_i   (mx_r || a_here || b_here),
      .raddr_i(mx_r   ? mx_raddr_i[RowBits-1:0] :
               a_here ? vxa_addr_i[RowBits-1:0] : vxb_addr_i[RowBits-1:0]),
      .rdata_o(rdata[32 * N * b +: 32 * N]),
      .we_i   (mx_w || w_here),
      .waddr_i(mx_w ? mx_waddr_i[RowBits-1:0] : vxw_addr_i[RowBits-1:0]),
      .wdata_i(mx_w ? mx_wdata_i : vxw_wdata_i)
    );
  end

  // Second cycle of a read: choose the bank.
  logic mx_q, a_q, b_q, mx_bank_q, a_bank_q, b_bank_q;

  always_ff @(posedge clk_i) begin
    mx_q      <= rst_ni && mx_re_i;
    a_q       <= rst_ni && vxa_gnt_o;
    b_q       <= rst_ni && vxb_gnt_o;
    mx_bank_q <= mx_rbank;
    a_bank_q  <= a_bank;
    b_bank_q  <= b_bank;
    if (mx_q) mx_rdata_o <= mx_bank_q ? rdata[64*N-1:32*N] : rdata[32*N-1:0];
    if (a_q) vxa_rdata_o <= a_bank_q ? rdata[64*N-1:32*N] : rdata[32*N-1:0];
    if (b_q) vxb_rdata_o <= b_bank_q ? rdata[64*N-1:32*N] : rdata[32*N-1:0];
  end
endmodule
