// Loops: takes the items of a program from the bytes of its stream and gives the words that issue, one
// per cycle.
//
// Of a plain program every word issues once; its items are words of four bytes. In a packed one
// (docs/isa.md, "Stream") a loop token says how many new words follow, in one to five bytes each, and
// how many that have issued issue again: `again` words, each the one `back` words before it. They come
// from a memory of the last words, so a loop costs neither fetch nor a cycle: the next token is read
// while the last word of a loop goes out. What a token says is looked at in the cycle behind it, in
// which nothing goes out when it is wrong.
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

  // Bytes of the stream behind its header
  input  logic [39:0] bytes_i,     // the next one is [7:0]
  input  logic [2:0]  have_i,      // of them, that are there
  output logic [2:0]  drop_o,
  input  logic        end_i,       // no others will come

  // Words that issue
  output logic        valid_o,
  input  logic        ready_i,
  output logic [31:0] word_o,
  output logic        bad_o
);
  localparam int unsigned FreshBits = $clog2(hd_isa_pkg::LoopFreshMax + 1);
  localparam int unsigned BackBits  = $clog2(hd_isa_pkg::LoopWindow);
  localparam int unsigned AgainBits = $clog2(hd_isa_pkg::LoopAgainMax + 1);

  // ---- the item at hand, as a token and as a new word ------------------------------------------
  logic [hd_isa_pkg::LoopFreshBits-1:0] fresh_code;
  logic [hd_isa_pkg::LoopAgainBits-1:0] again_code;
  logic [hd_isa_pkg::LoopFarBits-1:0]   far;
  logic [23:0]                          behind;      // what comes behind the byte of `far`
  logic [FreshBits-1:0]                 fresh;
  logic [BackBits-1:0]                  back, back_q;  // back_q: of the last token that said it
  logic [AgainBits-1:0]                 again;
  logic [15:0]                          more_again;  // what comes behind the bytes of `far` and `fresh`
  logic [2:0]                           loop_bytes, word_bytes;
  logic [31:0]                          word;
  logic                                 word_ok;

  always_comb begin
    fresh_code = bytes_i[hd_isa_pkg::LoopFreshLsb +: hd_isa_pkg::LoopFreshBits];
    again_code = bytes_i[hd_isa_pkg::LoopAgainLsb +: hd_isa_pkg::LoopAgainBits];
    far        = bytes_i[hd_isa_pkg::LoopFarLsb +: hd_isa_pkg::LoopFarBits];
    fresh      = FreshBits'(fresh_code);
    again      = AgainBits'(again_code) + AgainBits'(again_code != '0);
    back       = back_q;
    behind     = bytes_i[31:8];
    loop_bytes = 3'd1;
    if (far != '0) begin
      back       = BackBits'({far - 1'b1, bytes_i[15:8]});
      behind     = bytes_i[39:16];
      loop_bytes = 3'd2;
    end
    if (fresh_code == '1) begin
      fresh      = FreshBits'(fresh_code) + FreshBits'(behind[7:0]);
      loop_bytes = loop_bytes + 3'd1;
    end
    more_again = fresh_code == '1 ? behind[23:8] : behind[15:0];
    if (again_code == '1) begin
      again      = more_again;
      loop_bytes = loop_bytes + 3'd2;
    end else if (32'(again_code) == hd_isa_pkg::LoopAgainByte) begin
      again      = AgainBits'(hd_isa_pkg::LoopAgainByte + 1) + AgainBits'(more_again[7:0]);
      loop_bytes = loop_bytes + 3'd1;
    end
  end

  // A new word is the sum of two signed numbers, of which the higher counts 2^16; n bits are a number
  // from -(2^(n-1) - 1) to 2^(n-1). Form f of it has bits [8 * f +: 8] of the package's constants.
  localparam int unsigned Forms = hd_isa_pkg::NewWordForms;
  logic [Forms-1:0]    is_form, clean;       // by form; clean: what is above the numbers is zero
  logic [32*Forms-1:0] lows;
  logic [16*Forms-1:0] highs;
  logic [31:0]         low;
  logic [15:0]         high;

  for (genvar f = 0; f < Forms; f++) begin : gen_forms
    localparam int unsigned CodeBits = 32'(hd_isa_pkg::NewWordCodeBits[8*f+:8]);
    localparam int unsigned LowBits  = 32'(hd_isa_pkg::NewWordLowBits[8*f+:8]);
    localparam int unsigned HighBits = 32'(hd_isa_pkg::NewWordHighBits[8*f+:8]);
    localparam int unsigned HighLsb  = CodeBits + LowBits;
    localparam int unsigned Spare    = HighLsb + HighBits;
    localparam int unsigned Bits     = 8 * 32'(hd_isa_pkg::NewWordBytes[8*f+:8]);

    assign is_form[f]        = bytes_i[CodeBits-1:0] == CodeBits'(hd_isa_pkg::NewWordCode[8*f+:8]);
    if (LowBits < 32) begin : gen_low
      logic [LowBits-1:0] v;
      assign v = bytes_i[CodeBits +: LowBits];
      assign lows[32 * f +: 32] = {{32 - LowBits{v[LowBits-1] && v[LowBits-2:0] != '0}}, v};
    end else begin : gen_whole
      assign lows[32 * f +: 32] = bytes_i[CodeBits +: 32];
    end
    if (HighBits != 0) begin : gen_high
      logic [HighBits-1:0] v;
      assign v = bytes_i[HighLsb +: HighBits];
      assign highs[16 * f +: 16] = {{16 - HighBits{v[HighBits-1] && v[HighBits-2:0] != '0}}, v};
    end else begin : gen_one
      assign highs[16 * f +: 16] = '0;
    end
    if (Spare < Bits) begin : gen_spare
      assign clean[f] = bytes_i[Bits-1:Spare] == '0;
    end else begin : gen_full
      assign clean[f] = 1'b1;
    end
  end

  always_comb begin
    low        = bytes_i[31:0];
    high       = '0;
    word_bytes = 3'd4;
    word_ok    = 1'b1;
    for (int unsigned f = 0; f < Forms; f++)
      if (packed_i && is_form[f]) begin
        low        = lows[32*f+:32];
        high       = highs[16*f+:16];
        word_bytes = 3'(hd_isa_pkg::NewWordBytes[8*f+:8]);
        word_ok    = clean[f];
      end
  end

  assign word = {low[31:16] + high, low[15:0]};

  // ---- which word is next ----------------------------------------------------------------------
  logic [FreshBits-1:0] fresh_q, fresh_d;
  logic [BackBits-1:0]  back_d;
  logic [AgainBits-1:0] again_q, again_d;
  logic [31:0]          at_q, at_d;       // place of the next word
  logic [BackBits:0]    kept_q, kept_d;   // words that have come, up to the size of the window
  logic                 loop_q, far_q;    // a token was read in the cycle before; it said `back`
  logic                 bad_q, bad_d, wrong, more, read_loop, is_new, step, room;
  logic                 loop_here, word_here;

  assign loop_here = have_i >= loop_bytes;
  assign word_here = have_i >= word_bytes;
  assign wrong     = loop_q &&
                     (again_q == '0 ? fresh_q == '0 || far_q
                                    : 32'(back_q) < hd_isa_pkg::LoopMin ||
                                      32'(back_q) > 32'(kept_q) + 32'(fresh_q));
  assign more      = at_q != total_i && !bad_q && !wrong;
  assign is_new    = !packed_i || fresh_q != '0;
  assign step      = more && room && (is_new ? word_here && word_ok : again_q != '0);
  assign read_loop = more && packed_i && loop_here && fresh_q == '0 &&
                     (again_q == '0 || (again_q == AgainBits'(1) && step));
  assign drop_o    = read_loop ? loop_bytes : step && is_new ? word_bytes : 3'd0;

  always_comb begin
    fresh_d = fresh_q;
    back_d  = back_q;
    again_d = again_q;
    at_d    = at_q;
    kept_d  = kept_q;
    bad_d   = bad_q || wrong;
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
    end
    // An item that is wrong, or that cannot come any more.
    if (more && is_new && (word_here ? !word_ok : end_i)) bad_d = 1'b1;
    if (more && !is_new && again_q == '0 && !loop_here && end_i) bad_d = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      fresh_q <= '0;
      again_q <= '0;
      at_q    <= 32'(hd_isa_pkg::ProgHeaderWords);
      kept_q  <= '0;
      loop_q  <= 1'b0;
      back_q  <= '0;
      bad_q   <= 1'b0;
    end else begin
      fresh_q <= fresh_d;
      again_q <= again_d;
      at_q    <= at_d;
      kept_q  <= kept_d;
      loop_q  <= read_loop;
      back_q  <= back_d;
      bad_q   <= bad_d;
    end
    far_q <= far != '0;
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
      out_word_q <= word;
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

  `ASSERT(NeverAsksWhenDone, drop_o == '0 || more)
endmodule
