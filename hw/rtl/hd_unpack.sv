// Loops: takes the words of a program from fetch and gives the words that issue, one per cycle.
//
// Of a plain program every word issues once. In a packed one (docs/isa.md, "Stream") a loop word says
// how many new words follow, and how many that have issued issue again: `again` words, each the one
// `back` words before it. They come from a memory of the last words, so a loop costs neither fetch
// nor a cycle: the next loop word is read while the last word of a loop goes out.
//
// Latency 2 cycles. bad_o: the stream breaks the rules or ends too early; it rises when every word
// before that place has been taken.
`include "hd_assert.svh"

module hd_unpack (
  input  logic        clk_i,
  input  logic        rst_ni,

  // Program: packed or not, words that issue (a header of 4 included); stable from the first word on
  input  logic        packed_i,
  input  logic [31:0] total_i,

  // Words of the stream behind its header
  input  logic        in_valid_i,
  output logic        in_ready_o,
  input  logic [31:0] in_i,
  input  logic        in_end_i,    // there are no more

  // Words that issue
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] word_o,
  output logic        bad_o
);
  localparam int unsigned FreshBits = hd_isa_pkg::LoopFreshBits;
  localparam int unsigned BackBits  = hd_isa_pkg::LoopBackBits;
  localparam int unsigned AgainBits = hd_isa_pkg::LoopAgainBits;

  // ---- which word is next ----------------------------------------------------------------------
  logic [FreshBits-1:0] fresh_q, fresh_d, fresh;
  logic [BackBits-1:0]  back_q, back_d, back;
  logic [AgainBits-1:0] again_q, again_d, again;
  logic [31:0]          at_q, at_d;       // place of the next word
  logic [BackBits:0]    kept_q, kept_d;   // words that have come, up to the size of the window
  logic                 bad_q, bad_d, more, read_loop, is_new, step, room;

  assign fresh = in_i[hd_isa_pkg::LoopFreshLsb +: FreshBits];
  assign back  = in_i[hd_isa_pkg::LoopBackLsb +: BackBits];
  assign again = in_i[hd_isa_pkg::LoopAgainLsb +: AgainBits];

  assign more       = at_q != total_i && !bad_q;
  assign is_new     = !packed_i || fresh_q != '0;
  assign step       = more && room && (is_new ? in_valid_i : again_q != '0);
  assign read_loop  = more && packed_i && in_valid_i && fresh_q == '0 &&
                      (again_q == '0 || (again_q == AgainBits'(1) && step));
  assign in_ready_o = read_loop || (step && is_new);

  always_comb begin
    fresh_d = fresh_q;
    back_d  = back_q;
    again_d = again_q;
    at_d    = at_q;
    kept_d  = kept_q;
    bad_d   = bad_q;
    if (step) begin
      at_d = at_q + 32'd1;
      if (!kept_q[BackBits]) kept_d = kept_q + 1'b1;
      if (packed_i && is_new) fresh_d = fresh_q - 1'b1;
      if (!is_new) again_d = again_q - 1'b1;
    end
    if (read_loop) begin
      fresh_d = fresh;
      back_d  = back;
      again_d = again;
      if (fresh == '0 && again == '0) bad_d = 1'b1;
      if (again != '0 && (32'(back) < hd_isa_pkg::LoopMin ||
                          32'(back) > 32'(kept_d) + 32'(fresh))) bad_d = 1'b1;
    end
    // Neither a word of the stream nor one of the loop can come any more.
    if (more && in_end_i && (is_new || again_q == '0)) bad_d = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fresh_q <= '0;
      again_q <= '0;
      at_q    <= 32'(hd_isa_pkg::ProgHeaderWords);
      kept_q  <= '0;
      bad_q   <= 1'b0;
    end else begin
      fresh_q <= fresh_d;
      again_q <= again_d;
      at_q    <= at_d;
      kept_q  <= kept_d;
      bad_q   <= bad_d;
    end
    back_q <= back_d;
  end

  // ---- the last words --------------------------------------------------------------------------
  // A word is kept when it leaves the stage behind this one: two words later at the latest, and no
  // loop has a body of less.
  logic                out_valid_q, out_new_q, out_ready, push;
  logic [31:0]         out_word_q, kept_word, out_word;
  logic [BackBits-1:0] out_at_q;

  hd_ram #(
    .Width (32),
    .Depth (1 << BackBits),
    .BeBits(32)
  ) u_window (
    .clk_i,
    .re_i   (step && !is_new),
    .raddr_i(at_q[BackBits-1:0] - back_q),
    .rdata_o(kept_word),
    .we_i   (push),
    .waddr_i(out_at_q),
    .wdata_i(out_word)
  );

  assign room     = !out_valid_q || out_ready;
  assign out_word = out_new_q ? out_word_q : kept_word;
  assign push     = out_valid_q && out_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) out_valid_q <= 1'b0;
    else if (room) out_valid_q <= step;
    if (step) begin
      out_new_q  <= is_new;
      out_word_q <= in_i;
      out_at_q   <= at_q[BackBits-1:0];
    end
  end

  // ---- to issue --------------------------------------------------------------------------------
  logic [2:0] unused_count;

  hd_fifo #(
    .Width(32),
    .Depth(4)
  ) u_out (
    .clk_i,
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(out_valid_q),
    .ready_o(out_ready),
    .data_i (out_word),
    .valid_o,
    .ready_i,
    .data_o (word_o),
    .count_o(unused_count)
  );

  assign bad_o = bad_q && !out_valid_q && !valid_o;

  `ASSERT(NeverAsksWhenDone, !in_ready_o || more)
endmodule
