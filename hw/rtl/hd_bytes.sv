// Bytes of a stream of words: shows the next five and how many of them are there, drops up to five.
//
// Keeps 4 words. Latency 1 cycle: the bytes of a word are there in the cycle after it was taken. One
// word in, up to five bytes out per cycle. Full holds ready_o low (also in a cycle that drops).
`include "hd_assert.svh"

module hd_bytes (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        valid_i,
  output logic        ready_o,
  input  logic [31:0] data_i,

  output logic [39:0] bytes_o,  // the next one is [7:0]; only the first have_o mean something
  output logic [2:0]  have_o,   // 0..5
  input  logic [2:0]  drop_i    // at most have_o
);
  localparam int unsigned Words = 4;

  logic [31:0] mem [Words];
  logic [3:0]  at_q, at_d;      // place of the next byte
  logic [1:0]  wr_q, gone;      // gone: words that leave in this cycle
  logic [2:0]  words_q;         // held, the first maybe in part
  logic [63:0] two;             // the first word and the one behind it
  logic        push;

  assign two     = {mem[at_q[3:2] + 2'd1], mem[at_q[3:2]]};
  assign bytes_o = 40'(two >> {at_q[1:0], 3'd0});
  assign have_o  = words_q == '0 ? 3'd0 : words_q == 3'd1 ? 3'd4 - 3'(at_q[1:0]) : 3'd5;
  assign ready_o = words_q != 3'(Words);
  assign push    = valid_i && ready_o;
  assign at_d    = at_q + 4'(drop_i);
  assign gone    = at_d[3:2] - at_q[3:2];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      at_q    <= '0;
      wr_q    <= '0;
      words_q <= '0;
    end else begin
      at_q    <= at_d;
      words_q <= words_q + 3'(push) - 3'(gone);
      if (push) wr_q <= wr_q + 2'd1;
    end
    if (push) mem[wr_q] <= data_i;
  end

  `ASSERT(DropsWhatIsThere, drop_i <= have_o)
  `ASSERT(PointersAgree, words_q[1:0] == wr_q - at_q[3:2] && words_q <= 3'(Words))
endmodule
