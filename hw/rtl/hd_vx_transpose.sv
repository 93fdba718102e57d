// Transposes blocks of N vectors of N bytes.
//
// Two blocks are held: one fills while the other leaves. Byte c of vector i lies in memory (c + i)
// mod N at address i, so that a row goes in, and a column out, in one cycle.
//
// Guarantees: vector j of the result holds byte j of every vector of the block, in order.
// Latency: the first vector of a block comes out VxTransposeCycles after its last went in.
// Throughput: a vector in and one out a cycle.
// Stalls: never.
`include "hd_assert.svh"

module hd_vx_transpose (
  input  logic             clk_i, rst_ni, valid_i,
  input  hd_cfg_pkg::vec_t x_i,
  output logic             valid_o,
  output hd_cfg_pkg::vec_t y_o
);
  localparam int unsigned N = hd_cfg_pkg::N;
  localparam int unsigned Bits = $clog2(N);

  logic [Bits-1:0] in_q, out_q;
  logic            fill_q, drain_q, full, leaving_q, out_valid_q;
  logic [Bits-1:0] turn_q;
  logic [8*N-1:0]  row, column_q;

  assign full      = valid_i && in_q == Bits'(N - 1);
  // Moved up by in_q bytes, down by turn_q, in a ring.
  always_comb begin
    row = x_i;
    y_o = column_q;
    for (int unsigned i = 0; i < Bits; i++) begin
      if (in_q[i]) row = row << (8 << i) | row >> (8 * N - (8 << i));
      if (turn_q[i]) y_o = y_o >> (8 << i) | y_o << (8 * N - (8 << i));
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      in_q        <= '0;
      out_q       <= '0;
      fill_q      <= 1'b0;
      drain_q     <= 1'b0;
      leaving_q   <= 1'b0;
      out_valid_q <= 1'b0;
    end else begin
      if (valid_i) in_q <= in_q + Bits'(1);
      if (full) fill_q <= !fill_q;
      if (full) leaving_q <= 1'b1;
      else if (leaving_q && out_q == Bits'(N - 1)) leaving_q <= 1'b0;
      if (leaving_q) out_q <= out_q + Bits'(1);
      if (full) drain_q <= fill_q;
      out_valid_q <= leaving_q;
    end
    turn_q <= out_q;
  end

  for (genvar b = 0; b < N; b++) begin : gen_bank
    logic [7:0] mem [2*N];  // address: {block, vector}
    always_ff @(posedge clk_i) begin
      if (valid_i) mem[{fill_q, in_q}] <= row[8 * b +: 8];
      if (leaving_q) column_q[8 * b +: 8] <= mem[{drain_q, Bits'(b) - out_q}];
    end
  end

  // Byte i of the result is in memory (i + turn) mod N.
  assign valid_o = out_valid_q;

  `ASSERT(OneLeaves, !full || !leaving_q || out_q == Bits'(N - 1))
endmodule
