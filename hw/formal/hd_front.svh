// Properties of hd_front: an operation is offered with the words of its own set, as the operations of that set
// before it and its own set and add leave them, and they stay while it is offered.
// cut: word pc_head
// drop: WholeBeforeItGoes RoomForWords RoomForOp EndOfWork
// mutants: Sets=2
// quick: !stop_i && grant_i && op_ready_i && op_done_i && wait_q == 32'd0
// mutant: s/start && second_q != (code > 4'd1)/1'b0/
// mutant: s/other_q <= params_q;/other_q <= other_q;/
// mutant: s/operand = change ? 32'd0 : word/operand = word/
// mutant: s/(change || index == WordBits'(i))/(index == WordBits'(i))/
// mutant: s/add_q\[i\] ? params_q/1'b0 ? params_q/

  // One word of one set, chosen freely.
  (* anyconst *) logic [WordBits-1:0] which;
  (* anyconst *) logic                of_second;
  `DUTY(WordIsThere, 32'(which) < Words && (Sets > 1 || !of_second))

  logic        its_own;  // the operation at hand has that set
  logic [31:0] word_q;
  assign its_own = of_second == (Sets > 1 && code_q > 4'd1);
  always_ff @(posedge clk_i)
    if (!rst_ni) word_q <= 32'd0;
    else if (state_q == Params && word_ready && index == which && its_own)
      word_q <= add_q[which] ? word_q + word : word;

  `ASSERT(InItsPlace, word_q == (of_second == second_q ? params_q[{which, 5'd0} +: 32] :
                                 other[{which, 5'd0} +: 32]))
  `ASSERT(OneOfOne, Sets > 1 || !second_q)
  `ASSERT(SetAtHand, state_q == Idle || second_q == (Sets > 1 && code_q > 4'd1))
  `ASSERT(Offered, !(op_valid_o && its_own) || op_params_o[{which, 5'd0} +: 32] == word_q)
  `ASSERT(Held, !$past(op_valid_o && !op_ready_i) || ($stable(op_params_o) && $stable(op_code_o) && $stable(op_tag_o)))
