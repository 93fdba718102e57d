// Properties of hd_unpack: places count up by one, an item of the stream is taken once, when all of its bytes are
// there, and its bytes are those that its first byte says; a loop reads only words that have issued and still stand
// in the window, nothing issues of a token that is wrong, and nothing behind the end.
// cut: kept_word
// mutant: s/(again_q == AgainBits'(1) && step)/again_q == AgainBits'(1)/
// mutant: s/32'(back_q) < hd_isa_pkg::LoopMin/32'(back_q) == 32'd0/
// mutant: s/32'(kept_q) + 32'(fresh_q)/32'(kept_q) + 32'(fresh_q) + 32'd1/
// mutant: s/ && !bad_q && !wrong/ \&\& !bad_q/
// mutant: s/have_i >= word_bytes/have_i != 3'd0/
// mutant: s/have_i >= loop_bytes/have_i > 3'd0/
// mutant: s/fresh_q == '0 || far_q/fresh_q == '0/
// mutant: s/back       = back_q;/back       = '0;/
// mutant: s/loop_bytes + 3'd2/loop_bytes + 3'd1/
// mutant: s/room     = !out_valid_q || out_ready/room     = 1'b1/
// mutant: s/low[31:16] + high/high/
// mutant: s/clean\[f\];/1'b1;/
// mutant: s/v\[LowBits-1\] && v\[LowBits-2:0\] != '0/v[LowBits-1]/
// mutant: s/v\[HighBits-1\] && v\[HighBits-2:0\] != '0/v[HighBits-1]/

  // The program is known from the first word on.
  `ASSUME(TotalHeld, $stable(total_i) && $stable(packed_i))
  `ASSUME(TotalHasHeader, total_i >= 32'(hd_isa_pkg::ProgHeaderWords))

  logic [31:0] issued, pushed_q;  // words that have come, that have gone on to the window and issue
  assign issued = at_q - 32'(hd_isa_pkg::ProgHeaderWords);
  always_ff @(posedge clk_i)
    if (!rst_ni) pushed_q <= 32'd0;
    else if (push) pushed_q <= pushed_q + 32'd1;
  `ASSERT(NotBehindTheEnd, at_q >= 32'(hd_isa_pkg::ProgHeaderWords) && at_q <= total_i)
  `ASSERT(AllArePushed, pushed_q == issued - 32'(out_valid_q))
  `ASSERT(InItsPlace, !out_valid_q || out_at_q == at_q[BackBits-1:0] - 1'b1)
  `ASSERT(Kept, kept_q == (issued > 32'd1 << BackBits ? (BackBits + 1)'(1) << BackBits :
                           (BackBits + 1)'(issued)))

  // The window has the word that a loop reads: it went there before, and no later one took its place.
  `ASSERT(BodyIsThere, again_q == '0 || bad_q || wrong ||
                       (32'(back_q) >= hd_isa_pkg::LoopMin &&
                        32'(back_q) <= 32'(kept_q) + 32'(fresh_q)))
  `ASSERT(ReadsWhatIssued, !(step && !is_new) ||
                           (32'(back_q) <= issued && issued - 32'(back_q) < pushed_q))

  // Items of the stream: taken when there, as a new word or as a token, and the latter when the one before has been
  // worked off.
  `ASSERT(TakesWhatIsThere, drop_o <= have_i)
  `ASSERT(OneUse, !(read_loop && step && is_new))
  `ASSERT(TakesItems, drop_o == 3'd0 || read_loop || (step && is_new))
  `ASSERT(TakesAToken, !read_loop || drop_o == (bytes_i[1:0] == 2'd3 ? 3'd2 : 3'd1) +
                                               (bytes_i[5:2] < 4'd14 ? 3'd0 : bytes_i[5:2] == 4'd14 ? 3'd1 : 3'd2) + 3'(bytes_i[7:6] != 2'd0))
  // What it says of the body; what it does not, the one before has said.
  `ASSERT(Body, !read_loop || back_d == (bytes_i[7:6] == 2'd0 ? back_q :
                                         BackBits'(bytes_i[15:8]) + (BackBits'(bytes_i[7:6] - 2'd1) << 8)))
  `ASSERT(SaysSomething, !loop_q || wrong || again_q != '0 ||
                         (fresh_q != '0 && $past(bytes_i[7:6]) == 2'd0))
  `ASSERT(BodyStays, read_loop || back_d == back_q)
  // The forms of a new word, as docs/isa.md has them: what is in front of the code's first zero from below. A number of n
  // bits is negative where its highest bit is set and another one, too.
  logic        new_word;  // of a packed program
  logic [5:0]  code;
  logic [15:0] upper;     // the higher of two numbers: where the lower one is negative, the upper half is one less
  assign new_word = step && is_new && packed_i;
  assign code     = bytes_i[5:0];
  assign upper    = word[31:16] + 16'(word[15]);
  `ASSERT(PlainWord, !(step && !packed_i) || (word == bytes_i[31:0] && drop_o == 3'd4))
  `ASSERT(Of7, !(new_word && !code[0]) ||
               (drop_o == 3'd1 && {word[6:0], 1'd0} == bytes_i[7:0] &&
                word[31:7] == {25{word[6] && word[5:0] != '0}}))
  `ASSERT(Of14, !(new_word && code[1:0] == 2'd1) ||
                (drop_o == 3'd2 && {word[13:0], 2'd1} == bytes_i[15:0] &&
                 word[31:14] == {18{word[13] && word[12:0] != '0}}))
  `ASSERT(Of7And6, !(new_word && code[2:0] == 3'd3) ||
                   (drop_o == 3'd2 && {upper[5:0], word[6:0], 3'd3} == bytes_i[15:0] &&
                    word[15:7] == {9{word[6] && word[5:0] != '0}} &&
                    upper[15:6] == {10{upper[5] && upper[4:0] != '0}}))
  `ASSERT(Of28, !(new_word && code[3:0] == 4'd7) ||
                (drop_o == 3'd4 && {word[27:0], 4'd7} == bytes_i[31:0] &&
                 word[31:28] == {4{word[27] && word[26:0] != '0}}))
  `ASSERT(Of19, !(new_word && code[4:0] == 5'd15) ||
                (drop_o == 3'd3 && {word[18:0], 5'd15} == bytes_i[23:0] &&
                 word[31:19] == {13{word[18] && word[17:0] != '0}}))
  `ASSERT(Of3And15, !(new_word && code == 6'd31) ||
                    (drop_o == 3'd3 && {upper[14:0], word[2:0], 6'd31} == bytes_i[23:0] &&
                     word[15:3] == {13{word[2] && word[1:0] != '0}} &&
                     upper[15] == (upper[14] && upper[13:0] != '0)))
  `ASSERT(Of32, !(new_word && code == 6'd63) || (drop_o == 3'd5 && {2'd0, word, 6'd63} == bytes_i))
  `ASSERT(LoopIsOver, !read_loop || (fresh_q == '0 && (again_q == '0 || (again_q == 1 && step))))
  `ASSERT(PlainHasNoLoops, packed_i || (fresh_q == '0 && again_q == '0 && !loop_q))
  `ASSERT(NothingOfAWrongToken, !wrong || (!step && drop_o == 3'd0))
  `ASSERT(BadIsTheEnd, !bad_o || (!valid_o && drop_o == 3'd0))
