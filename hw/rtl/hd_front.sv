// Front of one unit: queue of operations, sticky parameter words, semaphores, and order of
// completion.
//
// Takes an operation when its first word is queued and the one before has gone to the engine,
// unpacks it, waits for its semaphores and offers it on op_*. So the next operation unpacks while
// the engine works.
//
// Guarantees: an operation of which a word is wrong never becomes complete: it stays here, and so
// does all behind it. Operations end in order; the oldest in flight ends with op_done_i and then
// signals. nop never reaches the engine. stop_i freezes everything, so that the state can be read.
// Latency: 2 cycles from an operation's last word to op_valid_o.
// Throughput: a word a cycle, and a cycle more for each operation.
// Stalls: no word, semaphores at zero, the engine is not ready, OpsInFlight operations are in
// flight.
`include "hd_assert.svh"

module hd_front #(
  parameter int unsigned Words = 16
) (
  input  logic                clk_i, rst_ni, stop_i,

  // Words from hd_issue; pc_i with the last word is the operation's place in the program
  input  logic                w_valid_i,
  output logic                w_ready_o,  // an operation may begin: the queue has room for it
  input  logic [31:0]         w_data_i,
  input  logic                w_last_i,
  input  logic [31:0]         w_pc_i,

  // Semaphores
  output logic                want_o,
  output logic [31:0]         wait_mask_o,  // counts with want_o
  input  logic                grant_i,
  output logic                signal_o,
  output logic [31:0]         signal_mask_o,

  // Engine
  output logic                op_valid_o,
  input  logic                op_ready_i,
  output logic [3:0]          op_code_o,
  output logic [32*Words-1:0] op_params_o,
  output logic [15:0]         op_tag_o,
  input  logic                op_done_i, op_err_i,

  // State
  output logic                waits_o,      // every word is there: wait_mask_o is what it waits on
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
  localparam int unsigned QueueOps   = hd_cfg_pkg::QueueOps;
  localparam int unsigned QueueWords = 1 << $clog2(QueueOps * (3 + Words));
  localparam int unsigned WordBits   = $clog2(Words);

  typedef enum logic [2:0] {Idle, Wait, Signal, Params, Sem, Offer} state_e;

  logic clk;  // of hd_gate

  // ---- queue -----------------------------------------------------------------------------------
  logic                        word_valid, word_ready, pc_valid, pc_pop, space;
  logic [31:0]                 word, pc_head;
  logic [$clog2(QueueOps):0]   ops;
  logic [$clog2(QueueWords):0] unused_count;

  // A short queue would fill little of a block RAM.
  hd_fifo #(.Width(32), .Depth(QueueWords), .InLuts(QueueOps <= 8)) u_words (
    .clk_i(clk), .rst_ni, .clear_i(1'b0),
    .valid_i(w_valid_i), .ready_o(space), .data_i(w_data_i),
    .valid_o(word_valid), .ready_i(word_ready), .data_o(word),
    .count_o(unused_count)
  );

  hd_fifo #(.Width(32), .Depth(QueueOps)) u_pcs (
    .clk_i(clk), .rst_ni, .clear_i(1'b0),
    .valid_i(w_valid_i && w_last_i), .ready_o(w_ready_o), .data_i(w_pc_i),
    .valid_o(pc_valid), .ready_i(pc_pop), .data_o(pc_head),
    .count_o(ops)
  );

  assign queued_o = 5'(ops);

  // ---- unpacking -------------------------------------------------------------------------------
  state_e              state_q, state_d, next;
  logic [3:0]          code_q, code;
  logic [1:0]          flags, flags_q, left;   // signal, wait mask comes: of the header; still
  logic [31:0]         pc_q, wait_q, signal_q;
  logic [Words-1:0]    set, todo_d, todo_q;    // parameter words that come: of the header; still
  logic [WordBits-1:0] index;
  logic                waits_q, sem_q, offer_q;  // wait_q is not zero; state_q is Sem, is Offer
  logic                start, taken_q, handover, flight_ready;  // taken: its last word is queued, its place free
  logic [32*Words-1:0] params_q;
  logic [15:0]         tag;

  assign code  = word[hd_isa_pkg::HeadCodeLsb +: hd_isa_pkg::HeadCodeBits];
  assign flags = {word[hd_isa_pkg::HeadSignalLsb], word[hd_isa_pkg::HeadWaitLsb]};
  assign set   = word[hd_isa_pkg::HeadSetLsb +: Words];
  assign tag   = params_q[32 * hd_isa_pkg::TagWord +: 16];

  // Which state follows once the masks of the flags in `left` remain.
  always_comb begin
    start = state_q == Idle && word_valid && !stop_i;
    unique case (state_q)
      Idle:    left = flags;
      Wait:    left = flags_q & 2'b10;
      default: left = 2'b00;
    endcase
    if (left[0]) next = Wait;
    else if (left[1]) next = Signal;
    else if ((state_q == Idle ? set : todo_q) != '0) next = Params;
    else next = Sem;
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
    unique case (state_q)
      Idle: if (start) begin
        word_ready = 1'b1;
        state_d    = next;
        todo_d     = set;
      end
      Wait, Signal: if (!stop_i && word_valid) begin
        word_ready = 1'b1;
        state_d    = next;
      end
      Params: if (!stop_i && word_valid) begin
        word_ready = 1'b1;
        todo_d     = todo_q & (todo_q - Words'(1));
        if (todo_d == '0) state_d = Sem;
      end
      Sem: if (!stop_i && (!waits_q || grant_i)) state_d = Offer;
      Offer: ;
      default: state_d = Idle;
    endcase
  end

  assign pc_pop      = !stop_i && pc_valid && !taken_q && (start || state_q != Idle);
  assign took_o      = pc_pop;
  assign want_o      = sem_q && !stop_i && waits_q && flight_ready;
  assign wait_mask_o = wait_q;
  assign waits_o     = state_q == Sem;

  // ---- hand-over -------------------------------------------------------------------------------
  logic nop, ready_to_go, head_valid;
  assign nop         = code_q == 4'd0;
  // A nop enters an empty list only: retiring from its head, it would take the cycle in which the
  // engine reports the operation behind it.
  assign ready_to_go = !stop_i && flight_ready && !(nop && head_valid) &&
                       (offer_q || (sem_q && (!waits_q || grant_i)));
  assign op_valid_o  = ready_to_go && !nop;
  assign handover    = ready_to_go && (nop || op_ready_i);
  assign op_code_o   = code_q;
  assign op_params_o = params_q;
  assign op_tag_o    = tag;

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      state_q <= Idle;
      taken_q <= 1'b0;
      todo_q  <= '0;
      pc_q    <= '0;
      wait_q  <= '0;
      waits_q <= 1'b0;
      sem_q   <= 1'b0;
      offer_q <= 1'b0;
    end else begin
      state_q <= handover ? Idle : state_d;  // of Sem and Offer; late, see op_ready_i
      sem_q   <= !handover && state_d == Sem;
      offer_q <= !handover && state_d == Offer;
      todo_q  <= todo_d;
      if (handover) taken_q <= 1'b0;
      else if (pc_pop) taken_q <= 1'b1;
      if (pc_pop) pc_q <= pc_head;
      if (start) begin
        code_q   <= code;
        flags_q  <= flags;
        wait_q   <= '0;
        waits_q  <= 1'b0;
        signal_q <= '0;
      end else if (word_ready) begin
        unique case (state_q)
          Wait: begin
            wait_q  <= word;
            waits_q <= word != '0;
          end
          Signal:  signal_q <= word;
          default: ;
        endcase
      end
    end
  end

  // ---- sticky words ----------------------------------------------------------------------------
  always_ff @(posedge clk) begin
    if (!rst_ni) params_q <= '0;
    else
      for (int unsigned i = 0; i < Words; i++)
        if (state_q == Params && word_ready && index == WordBits'(i)) params_q[32 * i +: 32] <= word;
  end

  // ---- in flight -------------------------------------------------------------------------------
  // What the engine takes enters the list a cycle later, while its fields still stand here: op_ready_i
  // is late. A nop does not ask the engine, and enters at once.
  logic        signals, head_nop, retire, enter_q;
  logic [81:0] head;  // {signals, nop, place, tag, mask}
  logic [3:0]  unused_flight;
  assign signals = signal_q != '0;

  hd_fifo #(.Width(82), .Depth(hd_isa_pkg::OpsInFlight)) u_flight (
    .clk_i(clk), .rst_ni, .clear_i(1'b0),
    .valid_i(enter_q || (ready_to_go && nop)), .ready_o(flight_ready),
    .data_i({signals, !enter_q, pc_q, tag, signal_q}),
    .valid_o(head_valid), .ready_i(retire), .data_o(head),
    .count_o(unused_flight)
  );

  logic [31:0] done_pc_q;
  assign head_nop      = head[80];
  assign retire        = head_valid && (head_nop || op_done_i) && !stop_i;
  assign signal_o      = retire && head[81];
  assign signal_mask_o = head[31:0];
  assign active_o      = (head_valid && !head_nop) || enter_q;
  assign tag_o         = head_valid ? head[47:32] : tag;
  assign pc_o          = head[79:48];
  assign done_pc_o     = done_pc_q;
  assign next_pc_o     = pc_valid && !taken_q ? pc_head : pc_q;
  assign idle_o        = !pc_valid && state_q == Idle && !head_valid && !enter_q;
  assign stall_sem_o   = state_q == Sem && waits_q && !grant_i && !head_valid && !enter_q;

  always_ff @(posedge clk) begin
    if (!rst_ni) done_pc_q <= '0;
    else if (retire) done_pc_q <= pc_o;
    enter_q <= rst_ni && op_valid_o && op_ready_i;
  end

  // ---- clock ------------------------------------------------------------------------------------
  // Stands still while no word comes, no state changes and nothing enters or leaves the engine.
  hd_gate u_gate (
    .clk_i,
    .en_i(!rst_ni || w_valid_i || word_ready || pc_pop || state_d != state_q || handover || enter_q || retire),
    .clk_o(clk)
  );

  `ASSERT(StatesAgree, sem_q == (state_q == Sem) && offer_q == (state_q == Offer) && waits_q == (wait_q != '0))
  `ASSERT(WholeBeforeItGoes, !(state_q == Sem || state_q == Offer) || taken_q)
  `ASSERT(EntersAlone, !enter_q || (state_q == Idle && flight_ready))
  `ASSERT(RoomForWords, !w_valid_i || space)
  `ASSERT(RoomForOp, !(w_valid_i && w_last_i) || w_ready_o)
  `ASSERT(EndOfWork, !(op_done_i || op_err_i) || stop_i || (head_valid && !head_nop))
endmodule
