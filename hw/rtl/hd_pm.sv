// Parameter memory: words of 8 bytes per lane (int32 bias, binary32 scale), written in parts of
// AxiBytes by LW, read whole by VX.
//
// Guarantees: every read and every write is taken in its cycle.
// Latency: read data 2 cycles after read_i, held until the data of the next read.
// Throughput: a read and a write a cycle.
// Stalls: never.
`include "hd_assert.svh"

module hd_pm (
  input  logic                clk_i,

  input  hd_bus_pkg::part_t   part_i,
  input  hd_cfg_pkg::data_t   part_wdata_i,
  input  hd_bus_pkg::word_t   read_i,
  output hd_cfg_pkg::consts_t rdata_o
);
  localparam int unsigned N        = hd_cfg_pkg::N;
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned Words    = hd_cfg_pkg::PmWords;
  localparam int unsigned Parts    = 8 * N / AxiBytes;
  localparam int unsigned AddrBits = $clog2(Words);

  logic            re_q;
  logic [64*N-1:0] rdata;

  for (genvar p = 0; p < Parts; p++) begin : gen_part
    hd_ram #(.Width(8 * AxiBytes), .Depth(Words), .BeBits(8 * AxiBytes)) u_ram (
      .clk_i,
      .we_i(part_i.pm && part_i.part == 9'(p)),
      .re_i(read_i.req), .raddr_i(read_i.addr[AddrBits-1:0]),
      .rdata_o(rdata[8 * AxiBytes * p +: 8 * AxiBytes]),
      .waddr_i(part_i.addr[AddrBits-1:0]), .wdata_i(part_wdata_i)
    );
  end

  always_ff @(posedge clk_i) begin
    re_q <= read_i.req;
    if (re_q) rdata_o <= rdata;
  end

  `ASSERT_INIT(WordHoldsPart, 8 * N >= AxiBytes)
endmodule
