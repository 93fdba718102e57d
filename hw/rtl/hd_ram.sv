// Memory with one read and one write port, byte enables of BeBits. Maps to block RAM.
//
// Guarantees: rdata_o holds until the next read. A read in the cycle of a write to the same word
// gives the old word.
// Latency: 1 cycle.
// Throughput: a read and a write a cycle.
// Stalls: never.
module hd_ram #(
  parameter int unsigned Width  = 64,
  parameter int unsigned Depth  = 256,
  parameter int unsigned BeBits = 64
) (
  input  logic                     clk_i,

  input  logic                     re_i,
  input  logic [$clog2(Depth)-1:0] raddr_i,
  output logic [Width-1:0]         rdata_o,

  input  logic [Width/BeBits-1:0]  we_i,
  input  logic [$clog2(Depth)-1:0] waddr_i,
  input  logic [Width-1:0]         wdata_i
);
  logic [Width-1:0] mem [Depth];

  // Read first, output held without an enable: what block RAM does as simple dual port. In
  // simulation the write is a blocking assignment after the read: the same memory, and Verilator
  // need not keep a copy of the write for every byte.
`ifdef VERILATOR
  `define HD_RAM_SET =
`else
  `define HD_RAM_SET <=
`endif
  always_ff @(posedge clk_i) begin
    if (re_i) rdata_o <= mem[raddr_i];
    if (we_i != '0)
      for (int unsigned b = 0; b < Width / BeBits; b++)
        if (we_i[b]) mem[waddr_i][BeBits * b +: BeBits] `HD_RAM_SET wdata_i[BeBits * b +: BeBits];
  end
endmodule
