// First-in first-out buffer. clear_i empties it.
//
// Guarantees: words leave in the order in which they came; ready_o is low while it is full, also in
// a cycle that takes a word out; valid_o is low while it is empty.
// Latency: 1 cycle, the oldest word is on data_o in the cycle after it was written.
// Throughput: a word in and a word out a cycle.
// Stalls: full, empty.
`include "hd_assert.svh"

module hd_fifo #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 8,
  parameter bit          InLuts = 1'b0  // memory of LUTs, however deep it is
) (
  input  logic                   clk_i, rst_ni, clear_i,

  input  logic                   valid_i,
  output logic                   ready_o,
  input  logic [Width-1:0]       data_i,

  output logic                   valid_o,
  input  logic                   ready_i,
  output logic [Width-1:0]       data_o,

  output logic [$clog2(Depth):0] count_o
);
  localparam int unsigned PtrBits = $clog2(Depth);

  (* ram_style = InLuts ? "distributed" : "auto" *)
  logic [Width-1:0]   mem [Depth];
  logic [PtrBits-1:0] wr_q, rd_q;
  logic               full_q, any_q;           // ports begin at a register
  logic               push, pop, fills, last;  // fills: one more makes it full; last: one is left

  assign ready_o = !full_q;
  assign valid_o = any_q;
  assign data_o  = mem[rd_q];
  assign count_o = {full_q, PtrBits'(wr_q - rd_q)};
  assign push    = valid_i && ready_o;
  assign pop     = valid_o && ready_i;
  assign fills   = PtrBits'(wr_q + 1'b1) == rd_q;  // before it is known who comes and goes
  assign last    = PtrBits'(rd_q + 1'b1) == wr_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      wr_q    <= '0;
      rd_q    <= '0;
      full_q  <= 1'b0;
      any_q   <= 1'b0;
    end else begin
      if (push) wr_q <= wr_q + 1'b1;
      if (pop) rd_q <= rd_q + 1'b1;
      full_q <= !pop && (full_q || (push && fills));
      any_q  <= push || (any_q && !(pop && last));
    end
    if (push) mem[wr_q] <= data_i;
  end

  `ASSERT_INIT(DepthPowerOfTwo, Depth >= 2 && (Depth & (Depth - 1)) == 0)
  `ASSERT(FullHasAll, !full_q || wr_q == rd_q)
  `ASSERT(AnyIsNotNone, any_q == (full_q || wr_q != rd_q))
endmodule
