// Parses bundles and passes the words of each operation to the queue of its unit.
//
// SEQ operations execute here: wait for semaphores, then for idle units (barrier, halt), then
// signal.
//
// Guarantees: the encoding of all that passes is checked; an operation that does not decode never
// becomes complete in its queue. A bundle ends behind the last operation of its mask, and a program
// with a halt: one whose words end before is wrong. After halt done_o stays high, after an error
// err_o, until reset.
// Latency: none, a word goes to its queue in the cycle in which it comes.
// Throughput: a word a cycle; operations of SEQ take 2 cycles more (nop) or 3.
// Stalls: no word, no room in the queue that the operation goes to, a SEQ operation waits.
`include "hd_assert.svh"

module hd_issue (
  input  logic                         clk_i, rst_ni, stop_i,

  // Program words
  input  logic                         word_valid_i,
  output logic                         word_ready_o,
  input  logic [31:0]                  word_i, word_pc_i,
  input  logic                         word_end_i,   // none comes any more

  // To the fronts; bit u = unit u, bit 0 unused
  output logic [hd_isa_pkg::Units-1:0] w_valid_o,
  input  logic [hd_isa_pkg::Units-1:0] w_ready_i,
  output logic [31:0]                  w_data_o,
  output logic                         w_last_o,
  output logic [31:0]                  w_pc_o,
  input  logic                         units_idle_i,

  // Semaphores
  output logic                         want_o,
  output logic [31:0]                  wait_mask_o,  // counts with want_o
  input  logic                         grant_i,
  output logic                         signal_o,
  output logic [31:0]                  signal_mask_o,

  // State
  output logic                         busy_o,       // a word moved or a SEQ operation ended
  output logic                         stall_sem_o,
  output logic                         waits_o,      // wait_mask_o is what SEQ waits on
  output logic                         active_o,     // a SEQ operation is in work
  output logic [31:0]                  pc_o,         // operation in work
  output logic                         done_o, err_o,
  output logic [4:0]                   err_code_o,
  output logic [2:0]                   err_unit_o
);
  localparam int unsigned Units = hd_isa_pkg::Units;

  typedef enum logic [3:0] {
    Bundle, Head, Wait, Signal, Params, SeqSem, SeqIdle, SeqEnd, Halted, Failed
  } state_e;

  state_e      state_q, state_d, after;
  logic [hd_isa_pkg::BundleSlotsBits-1:0] slots_q;  // slots of the bundle that still come
  logic [3:0]  code_q, code;
  logic [1:0]  flags_q, flags;                 // signal, wait mask still comes
  logic [31:0] pc_q, wait_q, signal_q;
  logic [4:0]  params_q, n_todo;               // parameter words that still come
  logic [2:0]  unit;
  logic [31:0] known, set;                     // parameter words that the unit has; that come
  logic        waits_q, waits_d;               // wait_q is not zero
  logic        wants_q;                        // and the operation is complete
  logic        bad, take, op_word, op_end, op_last, none;

  localparam int unsigned SlotBits = hd_isa_pkg::BundleSlotsBits;
  logic [SlotBits-1:0] slots;                  // as a bundle's header has them
  assign slots = word_i[hd_isa_pkg::BundleSlotsLsb +: SlotBits];
  assign code  = word_i[hd_isa_pkg::HeadCodeLsb +: hd_isa_pkg::HeadCodeBits];
  assign set   = 32'(word_i[hd_isa_pkg::HeadSetLsb +: hd_isa_pkg::HeadSetBits]);

  // Masks of the parameter words of every unit.
  localparam logic [31:0] KnownLx = (32'd1 << hd_isa_pkg::LxWords) - 32'd1;
  localparam logic [31:0] KnownLw = (32'd1 << hd_isa_pkg::LwWords) - 32'd1;
  localparam logic [31:0] KnownMx = (32'd1 << hd_isa_pkg::MxWords) - 32'd1;
  localparam logic [31:0] KnownVx = (32'd1 << hd_isa_pkg::VxWords) - 32'd1;
  localparam logic [31:0] KnownSt = (32'd1 << hd_isa_pkg::StWords) - 32'd1;

  always_comb begin
    unit = 3'd0;
    for (int unsigned u = 0; u < Units; u++) if (slots_q[Units - 1 - u]) unit = 3'(Units - 1 - u);
    unique case (32'(unit))
      hd_isa_pkg::UnitLx: known = KnownLx;
      hd_isa_pkg::UnitLw: known = KnownLw;
      hd_isa_pkg::UnitMx: known = KnownMx;
      hd_isa_pkg::UnitVx: known = KnownVx;
      hd_isa_pkg::UnitSt: known = KnownSt;
      default:            known = 32'd0;
    endcase
  end

  always_comb begin
    // What the word brings, by state.
    flags  = 2'd0;
    n_todo = params_q;
    bad    = 1'b0;
    unique case (state_q)
      Bundle: bad = (word_i >> (hd_isa_pkg::BundleSlotsLsb + SlotBits)) != 32'd0;
      Head: begin
        flags  = {word_i[hd_isa_pkg::HeadSignalLsb], word_i[hd_isa_pkg::HeadWaitLsb]};
        n_todo = 5'd0;
        for (int unsigned i = 0; i < hd_isa_pkg::ParamWords; i++) n_todo = n_todo + 5'(set[i]);
        bad    = (word_i & ~hd_isa_pkg::HeadNamed) != 32'd0 || (set & ~known) != 32'd0 ||
                 code > (32'(unit) == hd_isa_pkg::UnitSeq ? hd_isa_pkg::SeqBarrier :
                         32'(unit) == hd_isa_pkg::UnitVx ? hd_isa_pkg::VxDw : 4'd1);
      end
      Wait:    flags = flags_q & 2'b10;
      Params:  n_todo = params_q - 5'd1;
      default: ;
    endcase
    op_word = state_q == Head || state_q == Wait || state_q == Signal || state_q == Params;
    // No parameter comes behind this word: n_todo is 0, without counting.
    none    = state_q == Head ? set == 32'd0 : params_q == 5'(state_q == Params);
    op_end  = flags == 2'd0 && none;                            // the operation's last word
    op_last = (slots_q & (slots_q - SlotBits'(1))) == '0;       // the bundle's last operation

    if (flags[0]) after = Wait;
    else if (flags[1]) after = Signal;
    else if (!none) after = Params;
    else if (unit == 3'd0) after = SeqSem;
    else if (!op_last) after = Head;
    else after = Bundle;
  end

  assign waits_d      = take && state_q == Head ? 1'b0 : take && state_q == Wait ? word_i != 32'd0 : waits_q;
  assign take         = word_valid_i && !stop_i &&
                        (state_q == Bundle || (op_word && (unit == 3'd0 || w_ready_i[unit])));
  assign word_ready_o = take;
  assign w_data_o     = word_i;
  assign w_last_o     = op_end;
  assign w_pc_o       = state_q == Head ? word_pc_i : pc_q;

  always_comb begin
    w_valid_o[0] = 1'b0;
    for (int unsigned u = 1; u < Units; u++) w_valid_o[u] = take && op_word && !bad && 32'(unit) == u;
  end

  always_comb begin
    state_d = state_q;
    unique case (state_q)
      Bundle: begin
        if (take) state_d = bad ? Failed : slots == '0 ? Bundle : Head;
        else if (word_end_i && !stop_i) state_d = Failed;
      end
      SeqSem: if (!stop_i && (!waits_q || grant_i))
        state_d = code_q == hd_isa_pkg::SeqNop ? SeqEnd : SeqIdle;
      SeqIdle: if (!stop_i && units_idle_i) state_d = SeqEnd;
      SeqEnd: if (!stop_i)
        state_d = code_q == hd_isa_pkg::SeqHalt ? Halted : op_last ? Bundle : Head;
      Halted, Failed: state_d = state_q;
      default: begin
        if (take) state_d = bad ? Failed : after;
        else if (word_end_i && !stop_i) state_d = Failed;
      end
    endcase
  end

  assign want_o        = wants_q && !stop_i;
  assign wait_mask_o   = wait_q;
  assign waits_o       = state_q == SeqSem;
  assign signal_o      = state_q == SeqEnd && signal_q != 32'd0 && !stop_i;
  assign signal_mask_o = signal_q;
  assign stall_sem_o   = want_o && !grant_i;
  assign active_o      = state_q == SeqSem || state_q == SeqIdle || state_q == SeqEnd;
  assign busy_o        = take || state_q == SeqEnd;
  assign done_o        = state_q == Halted;

  logic [2:0] err_unit_q;
  assign err_o      = state_q == Failed;
  assign err_code_o = hd_reg_pkg::ErrEncoding;
  assign err_unit_o = err_unit_q;
  assign pc_o       = pc_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= Bundle;
      slots_q    <= '0;
      pc_q       <= '0;
      wait_q     <= '0;
      waits_q    <= 1'b0;
      wants_q    <= 1'b0;
      signal_q   <= '0;
      err_unit_q <= '0;
    end else begin
      state_q <= state_d;
      wants_q <= state_d == SeqSem && waits_d;
      if (state_d == Failed && state_q != Failed) begin
        err_unit_q <= state_q == Bundle || !take ? 3'd0 : unit;
        if (state_q == Bundle || !take) pc_q <= word_pc_i;
      end
      waits_q <= waits_d;
      if (take) begin
        unique case (state_q)
          Bundle:  slots_q <= slots;
          Head: begin
            pc_q     <= word_pc_i;
            code_q   <= code;
            wait_q   <= 32'd0;
            signal_q <= 32'd0;
          end
          Wait:    wait_q <= word_i;
          Signal:  signal_q <= word_i;
          default: ;
        endcase
        if (state_q != Bundle) begin
          flags_q  <= flags;
          params_q <= n_todo;
          if (after == Head || after == Bundle) slots_q <= slots_q & (slots_q - SlotBits'(1));
        end
      end
      if (state_q == SeqEnd && state_d != SeqEnd) slots_q <= slots_q & (slots_q - SlotBits'(1));
    end
  end

  `ASSERT(OneUnit, (w_valid_o & (w_valid_o - 6'd1)) == '0)
endmodule
