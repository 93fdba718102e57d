// Front of one unit: queue of operations, sticky parameter words, semaphores, and order of completion.
//
// Takes an operation when its first word is queued and the one before has gone to the engine: one
// cycle per word, as they come, then waits for its semaphores and offers it on op_*. So the next
// operation unpacks while the engine works, and one that a unit waits for goes on a cycle after its
// last word. One of which a word is wrong never becomes complete: it stays here, and so does all
// else. Up to 8 operations are in flight; the oldest ends with op_done_i and then signals. nop never
// reaches the engine. stop_i freezes everything, so that the state can be read.
//
// An operation that has turns takes one cycle more, in which its turn is looked at: out of it, its words
// stay, and nothing else of it does. When it has gone, its turn moves on by its step.
//
// Operations 0 and 1 have one set of words, operation 2 has its own (Sets = 2): the set of the
// operation at hand is in params_q, the other one beside it. They change places in the cycle in which
// a header is read that needs it, so the engine sees registers, whichever set it is.
`include "hd_assert.svh"

module hd_front #(
  parameter int unsigned Words    = 16,
  parameter int unsigned Sets     = 1,   // of words: 1 or 2
  parameter int unsigned QueueOps = hd_cfg_pkg::QueueOps
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                stop_i,

  // Words from hd_issue; pc_i with the last word is the operation's place in the program
  input  logic                w_valid_i,
  output logic                w_ready_o,  // an operation may begin: the queue has room for it
  input  logic [31:0]         w_data_i,
  input  logic                w_last_i,
  input  logic [31:0]         w_pc_i,

  // Semaphores
  output logic                want_o,
  output logic [31:0]         wait_mask_o,
  input  logic                grant_i,
  output logic                signal_o,
  output logic [31:0]         signal_mask_o,

  // Engine
  output logic                op_valid_o,
  input  logic                op_ready_i,
  output logic [3:0]          op_code_o,
  output logic [32*Words-1:0] op_params_o,
  output logic [15:0]         op_tag_o,
  input  logic                op_done_i,
  input  logic                op_err_i,

  // State
  output logic                idle_o,       // nothing queued, nothing in flight
  output logic                stall_sem_o,  // waits on a semaphore and the engine is idle
  output logic                took_o,       // takes an operation in this cycle
  output logic                active_o,     // an operation is in flight
  output logic [15:0]         tag_o,        // of the oldest operation in flight
  output logic [31:0]         pc_o,         // of the oldest operation in flight
  output logic [31:0]         done_pc_o,    // of the operation that ended last
  output logic [31:0]         next_pc_o,    // of the operation taken but not handed over, or queued
  output logic [4:0]          queued_o
);
  localparam int unsigned QueueWords = 1 << $clog2(QueueOps * (5 + Words));
  localparam int unsigned WordBits   = $clog2(Words);

  typedef enum logic [3:0] {Idle, Wait, Signal, Set, Add, Params, Turn, Sem, Offer} state_e;

  logic clk;  // of hd_gate

  // ---- queue -----------------------------------------------------------------------------------
  logic        word_valid, word_ready, pc_valid, pc_pop, space;
  logic [31:0] word, pc_head;
  logic [$clog2(QueueOps):0]   ops;
  logic [$clog2(QueueWords):0] unused_count;

  hd_fifo #(
    .Width(32),
    .Depth(QueueWords)
  ) u_words (
    .clk_i        (clk),
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(w_valid_i),
    .ready_o(space),
    .data_i (w_data_i),
    .valid_o(word_valid),
    .ready_i(word_ready),
    .data_o (word),
    .count_o(unused_count)
  );

  hd_fifo #(
    .Width(32),
    .Depth(QueueOps)
  ) u_pcs (
    .clk_i        (clk),
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(w_valid_i && w_last_i),
    .ready_o(w_ready_o),
    .data_i (w_pc_i),
    .valid_o(pc_valid),
    .ready_i(pc_pop),
    .data_o (pc_head),
    .count_o(ops)
  );

  assign queued_o = 5'(ops);

  // ---- unpacking -------------------------------------------------------------------------------
  state_e              state_q, state_d, next;
  logic [3:0]          code_q, code;
  logic [3:0]          flags, flags_q, left;  // add, set, signal, wait mask comes: of the header; still
  logic [15:0]         tag_q;
  logic [31:0]         pc_q, wait_q, signal_q, set_q, add_q, todo;
  logic [31:0]         todo_d, todo_q;  // parameter words that still come
  logic [WordBits-1:0] index;
  logic                start, taken_q, handover, flight_ready;  // taken: its last word is queued, its place free
  logic [32*Words-1:0] params_q;
  logic [32*Words-1:0] other;     // words of the set that waits
  logic                second_q;  // params_q has the second set
  logic                change;    // the sets change places

  assign code  = word[hd_isa_pkg::HeadCodeLsb +: hd_isa_pkg::HeadCodeBits];
  assign flags = {word[hd_isa_pkg::HeadAddLsb], word[hd_isa_pkg::HeadSetLsb],
                  word[hd_isa_pkg::HeadSignalLsb], word[hd_isa_pkg::HeadWaitLsb]};

  // What follows the last word: it is not its turn, and the next header is read; or a cycle for the turn, if
  // that word changed it, or is the header; or the semaphores.
  logic [15:0] turns, turns_at_hand;
  logic        drop, over, late;  // it is not its turn: says this cycle; the words; is known a cycle later
  state_e      complete;
  assign turns         = params_q[32 * hd_isa_pkg::TurnsWord +: 16];
  assign turns_at_hand = change ? other[32 * hd_isa_pkg::TurnsWord +: 16] : turns;
  assign over          = turns != '0 && params_q[32 * hd_isa_pkg::TurnWord +: 32] >= 32'(turns);
  assign late          = state_q == Idle ? turns_at_hand != '0 :
                         state_q == Params && (index == WordBits'(hd_isa_pkg::TurnsWord) ||
                                               (index == WordBits'(hd_isa_pkg::TurnWord) && turns != '0));
  assign complete      = late ? Turn : over && state_q != Idle ? Idle : Sem;

  // Which state follows once the masks of the flags in `left` remain.
  always_comb begin
    start = state_q == Idle && word_valid && !stop_i;
    left  = flags_q;
    unique case (state_q)
      Idle:    left = flags;
      Wait:    left = flags_q & 4'b1110;
      Signal:  left = flags_q & 4'b1100;
      Set:     left = flags_q & 4'b1000;
      default: left = 4'b0000;
    endcase
    todo = '0;
    unique case (state_q)
      Set:     todo = word;
      Add:     todo = set_q | word;
      default: todo = '0;
    endcase
    if (left[0]) next = Wait;
    else if (left[1]) next = Signal;
    else if (left[2]) next = Set;
    else if (left[3]) next = Add;
    else if (todo != '0) next = Params;
    else next = complete;
  end

  always_comb begin
    index = '0;
    for (int unsigned i = 0; i < Words; i++)
      if (todo_q[Words - 1 - i]) index = WordBits'(Words - 1 - i);
  end

  always_comb begin
    state_d    = state_q;
    todo_d     = todo_q;
    word_ready = 1'b0;
    drop       = 1'b0;
    unique case (state_q)
      Idle: if (start) begin
        word_ready = 1'b1;
        state_d    = next;
      end
      Wait, Signal, Set, Add: if (!stop_i && word_valid) begin
        word_ready = 1'b1;
        state_d    = next;
        todo_d     = todo;
        drop       = next == Idle;
      end
      Params: if (!stop_i && word_valid) begin
        word_ready = 1'b1;
        todo_d     = todo_q & (todo_q - 32'd1);
        if (todo_d == '0) begin
          state_d = complete;
          drop    = complete == Idle;
        end
      end
      Turn: if (!stop_i) begin
        state_d = over ? Idle : Sem;
        drop    = over;
      end
      Sem: if (!stop_i && (wait_q == '0 || grant_i)) state_d = handover ? Idle : Offer;
      Offer: if (handover) state_d = Idle;
      default: state_d = Idle;
    endcase
  end

  assign pc_pop      = !stop_i && pc_valid && !taken_q && (start || state_q != Idle);
  assign took_o      = pc_pop;
  assign want_o      = state_q == Sem && !stop_i && wait_q != '0 && flight_ready;
  assign wait_mask_o = state_q == Sem ? wait_q : '0;

  // ---- hand-over -------------------------------------------------------------------------------
  logic nop, ready_to_go, head_valid;
  assign nop         = code_q == 4'd0;
  // A nop enters an empty list only: retiring from its head, it would take the cycle in which the
  // engine reports the operation behind it.
  assign ready_to_go = !stop_i && flight_ready && !(nop && head_valid) &&
                       (state_q == Offer || (state_q == Sem && (wait_q == '0 || grant_i)));
  assign op_valid_o  = ready_to_go && !nop;
  assign handover    = ready_to_go && (nop || op_ready_i);
  assign op_code_o   = code_q;
  assign op_params_o = params_q;
  assign op_tag_o    = tag_q;

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      state_q <= Idle;
      taken_q <= 1'b0;
      todo_q  <= '0;
      pc_q    <= '0;
      tag_q   <= '0;
      wait_q  <= '0;
    end else begin
      state_q <= state_d;
      todo_q  <= todo_d;
      if (handover || drop) taken_q <= 1'b0;
      else if (pc_pop) taken_q <= 1'b1;
      if (pc_pop) pc_q <= pc_head;
      if (start) begin
        code_q   <= code;
        flags_q  <= flags;
        tag_q    <= tag_q + word[hd_isa_pkg::HeadTagLsb +: 16];
        wait_q   <= '0;
        signal_q <= '0;
        set_q    <= '0;
        add_q    <= '0;
      end else if (word_ready) begin
        unique case (state_q)
          Wait:    wait_q <= word;
          Signal:  signal_q <= word;
          Set:     set_q <= word;
          Add:     add_q <= word;
          default: ;
        endcase
      end
    end
  end

  // ---- sticky words ----------------------------------------------------------------------------
  logic        go_on, turn_comes;  // the operation has gone, the turn moves on; it is the word at hand
  logic [31:0] operand, turn_step, adds;  // adds: words to which is added

  assign change  = Sets > 1 && start && second_q != (code > 4'd1);
  assign operand = change ? 32'd0 : word;

  assign go_on      = (handover || drop) && turns != '0;
  assign turn_comes = state_q == Params && index == WordBits'(hd_isa_pkg::TurnWord);
  assign turn_step  = 32'(signed'(params_q[32 * hd_isa_pkg::TurnsWord + 16 +: 16]));
  assign adds       = add_q | (turn_comes ? 32'd0 : 32'd1 << hd_isa_pkg::TurnWord);

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      params_q <= '0;
      second_q <= 1'b0;
    end else begin
      if (change) second_q <= !second_q;
      for (int unsigned i = 0; i < Words; i++)
        if (change || (state_q == Params && word_ready && index == WordBits'(i)) ||
            (go_on && i == hd_isa_pkg::TurnWord))
          params_q[32 * i +: 32] <= (change ? other[32 * i +: 32] :
                                     adds[i] ? params_q[32 * i +: 32] : 32'd0) +
                                    (i == hd_isa_pkg::TurnWord && !turn_comes && !change ?
                                     turn_step : operand);
    end
  end

  if (Sets > 1) begin : gen_sets
    logic [32*Words-1:0] other_q;
    assign other = other_q;
    always_ff @(posedge clk) begin
      if (!rst_ni) other_q <= '0;
      else if (change) other_q <= params_q;
    end
  end else begin : gen_one_set
    assign other = '0;
  end

  // ---- in flight -------------------------------------------------------------------------------
  logic        head_nop, retire;
  logic [80:0] head;
  logic [3:0]  unused_flight;

  hd_fifo #(
    .Width(81),
    .Depth(hd_isa_pkg::OpsInFlight)
  ) u_flight (
    .clk_i        (clk),
    .rst_ni,
    .clear_i(1'b0),
    .valid_i(handover),
    .ready_o(flight_ready),
    .data_i ({nop, pc_q, tag_q, signal_q}),
    .valid_o(head_valid),
    .ready_i(retire),
    .data_o (head),
    .count_o(unused_flight)
  );

  logic [31:0] done_pc_q;
  assign head_nop      = head[80];
  assign retire        = head_valid && (head_nop || op_done_i) && !stop_i;
  assign signal_o      = retire && head[31:0] != '0;
  assign signal_mask_o = head[31:0];
  assign active_o      = head_valid && !head_nop;
  assign tag_o         = head[47:32];
  assign pc_o          = head[79:48];
  assign done_pc_o     = done_pc_q;
  assign next_pc_o     = pc_valid && !taken_q ? pc_head : pc_q;
  assign idle_o        = !pc_valid && state_q == Idle && !head_valid;
  assign stall_sem_o   = state_q == Sem && wait_q != '0 && !grant_i && !head_valid;

  always_ff @(posedge clk) begin
    if (!rst_ni) done_pc_q <= '0;
    else if (retire) done_pc_q <= pc_o;
  end

  // ---- clock ------------------------------------------------------------------------------------
  // Stands still while no word comes, no state changes and nothing enters or leaves the engine.
  hd_gate u_gate (
    .clk_i,
    .en_i (!rst_ni || w_valid_i || word_ready || pc_pop || state_d != state_q || handover || retire),
    .clk_o(clk)
  );

  `ASSERT_INIT(SetsOfTwo, Sets == 1 || Sets == 2)
  `ASSERT(WholeBeforeItGoes, !(state_q == Turn || state_q == Sem || state_q == Offer) || taken_q)
  `ASSERT(RoomForWords, !w_valid_i || space)
  `ASSERT(RoomForOp, !(w_valid_i && w_last_i) || w_ready_o)
  `ASSERT(EndOfWork, !(op_done_i || op_err_i) || stop_i || active_o)
endmodule
