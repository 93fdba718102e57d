// Properties of hd_front: an operation is offered with the words of its own set, as the operations of that set
// before it, the step of their turns and its own set and add leave them, and they stay while it is offered. One out of its turn neither waits
// nor is offered nor enters the list of those that signal; a header is read behind it. No other is left out.
// cut: word pc_head
// drop: WholeBeforeItGoes RoomForWords RoomForOp EndOfWork
// mutants: Sets=2
// quick: !stop_i && grant_i && op_ready_i && op_done_i && wait_q == 32'd0
// quick: (word & 32'h7ffeff00) == 32'd0
// mutant: s/start && second_q != (code > 4'd1)/1'b0/
// mutant: s/other_q <= params_q;/other_q <= other_q;/
// mutant: s/operand = change ? 32'd0 : word/operand = word/
// mutant: s/(change || (state_q == Params && word_ready/((state_q == Params \&\& word_ready/
// mutant: s/turn_comes ? 32'd0 : //
// mutant: s/(handover || drop) && turns != '0/handover \&\& turns != '0/
// mutant: s/(handover || drop) && turns != '0/handover || drop/
// mutant: s/32'(signed'(params_q\[32 * hd_isa_pkg::TurnsWord + 16 +: 16\]))/32'(params_q[32 * hd_isa_pkg::TurnsWord + 16 +: 16])/
// mutant: s/adds\[i\] ? params_q/1'b0 ? params_q/
// mutant: s/state_q == Idle ? turns_at_hand != '0/state_q == Idle ? 1'b0/
// mutant: s/change ? other[32 * hd_isa_pkg::TurnsWord +: 16] : turns/turns/
// mutant: s/index == WordBits'(hd_isa_pkg::TurnsWord) ||/1'b0 ||/
// mutant: s/(index == WordBits'(hd_isa_pkg::TurnWord) && turns != '0)/1'b0/
// mutant: s/>= 32'(turns)/> 32'(turns)/
// mutant: s/TurnWord +: 32] >= 32'(turns)/TurnWord +: 16] >= turns/
// mutant: s/over          = turns != '0 &&/over          =/
// mutant: s/over ? Idle : Sem/Sem/
// mutant: s/handover || drop/handover/

  // One word of one set, chosen freely.
  (* anyconst *) logic [WordBits-1:0] which;
  (* anyconst *) logic                of_second;
  `DUTY(WordIsThere, 32'(which) < Words && (Sets > 1 || !of_second))

  logic [31:0] its_turn;
  logic [15:0] its_turns, its_step;
  assign its_turn  = params_q[32 * hd_isa_pkg::TurnWord +: 32];
  assign its_turns = params_q[32 * hd_isa_pkg::TurnsWord +: 16];
  assign its_step  = params_q[32 * hd_isa_pkg::TurnsWord + 16 +: 16];

  logic        its_own;  // the operation at hand has that set
  logic [31:0] word_q;
  assign its_own = of_second == (Sets > 1 && code_q > 4'd1);
  always_ff @(posedge clk_i)
    if (!rst_ni) word_q <= 32'd0;
    else if (state_q == Params && word_ready && index == which && its_own)
      word_q <= add_q[which] ? word_q + word : word;
    else if ((handover || drop) && its_own && 32'(which) == hd_isa_pkg::TurnWord && its_turns != 16'd0)
      word_q <= word_q + {{16{its_step[15]}}, its_step};

  `ASSERT(InItsPlace, word_q == (of_second == second_q ? params_q[{which, 5'd0} +: 32] :
                                 other[{which, 5'd0} +: 32]))
  `ASSERT(OneOfOne, Sets > 1 || !second_q)
  `ASSERT(SetAtHand, state_q == Idle || second_q == (Sets > 1 && code_q > 4'd1))
  `ASSERT(Offered, !(op_valid_o && its_own) || op_params_o[{which, 5'd0} +: 32] == word_q)
  `ASSERT(Held, !$past(op_valid_o && !op_ready_i) || ($stable(op_params_o) && $stable(op_code_o) && $stable(op_tag_o)))

  // Turns. Which words these are is proved above, for every word.
  logic runs;
  assign runs = its_turns == 16'd0 || its_turn < {16'd0, its_turns};

  `ASSERT(TurnsOfIts, !start || turns_at_hand == ((Sets > 1 && code > 4'd1) == second_q ?
                      its_turns : other[32 * hd_isa_pkg::TurnsWord +: 16]))
  `ASSERT(InItsTurn, !(state_q == Sem || state_q == Offer) || runs)
  `ASSERT(NothingOfIt, !(want_o || wait_mask_o != 32'd0 || op_valid_o || handover) || runs)
  `ASSERT(HeaderBehindIt, !$past(drop) || (state_q == Idle && !taken_q))
  `ASSERT(NoneIsLost, !$past(taken_q) || taken_q || $past(handover) || $past(drop))
  `ASSERT(OnlyOutOfTurn, !drop || !runs)
