// Properties of hd_front: an operation is offered with the words that it and those before it have set, and they
// stay while it is offered. None is lost.
// cut: word pc_head
// drop: WholeBeforeItGoes RoomForWords RoomForOp EndOfWork
// quick: !stop_i && grant_i && op_ready_i && op_done_i && wait_q == 32'd0
// quick: (word & 32'hffff00ce) == 32'd0
// mutant: s/(state_q == Params && word_ready && index == WordBits'(i)) params_q/(word_ready \&\& index == WordBits'(i)) params_q/
// mutant: s/params_q\[32 * i +: 32\] <= word/params_q[32 * i +: 32] <= ~word/
// mutant: s/todo_q & (todo_q - Words'(1))/todo_q - Words'(1)/
// mutant: s/if (todo_q\[Words - 1 - i\])/if (todo_q[i])/

  // One word, chosen freely.
  (* anyconst *) logic [WordBits-1:0] which;
  `DUTY(WordIsThere, 32'(which) < Words)

  // What the header says comes, lowest first.
  logic [Words-1:0] comes_q, lowest;
  logic [31:0]      word_q;
  assign lowest = comes_q & ~(comes_q - Words'(1));
  always_ff @(posedge clk_i)
    if (!rst_ni) begin
      comes_q <= '0;
      word_q  <= 32'd0;
    end else if (start) begin
      comes_q <= word[hd_isa_pkg::HeadSetLsb +: Words];
    end else if (state_q == Params && word_ready) begin
      comes_q <= comes_q & ~lowest;
      if (lowest[which]) word_q <= word;
    end

  `ASSERT(WhatComes, state_q == Idle || comes_q == todo_q)
  `ASSERT(AllHaveCome, !(state_q == Sem || state_q == Offer) || comes_q == '0)
  `ASSERT(NoneComes, state_q != Params || comes_q != '0)
  `ASSERT(InItsPlace, word_q == params_q[{which, 5'd0} +: 32])
  `ASSERT(Offered, !op_valid_o || op_params_o[{which, 5'd0} +: 32] == word_q)
  `ASSERT(Held, !$past(op_valid_o && !op_ready_i) || ($stable(op_params_o) && $stable(op_code_o) && $stable(op_tag_o)))
  `ASSERT(OfItsLayer, op_tag_o == params_q[32 * hd_isa_pkg::TagWord +: 16])
  `ASSERT(NoneIsLost, !$past(taken_q) || taken_q || $past(handover))
