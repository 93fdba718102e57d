// Vector unit: runs vx.map, AM, XM, PM -> XM or AM, under a nest of 4 loops, and vx.dw, XM, PM ->
// XM or AM. A vector of N passes its N / VxCycles lanes in VxCycles cycles.
//
// dw walks the input vectors: rows (ky) innermost, then the columns of a row of outputs, then i3;
// the last row of a column that ends a window gives a result. With pairs (B in XM) it walks two
// columns in a step, the later one from A; with sums (B in AM) the first row of such a column reads
// what its result adds to. At the start of an i3 it reads taps, bias and scale from PM beside the
// first iterations; a window of 1 x 1, whose first iteration is a result already, takes a cycle
// more.
//
// Guarantees: results are written in order. Operands are checked before use. An operation that
// fails stops there: res_o.err comes in the place of its done, after the writes that came before,
// and nothing is accepted until then.
// Latency: VxWriteCycles + VxCycles - 1 from the issue of an iteration to its write; VxDwCycles more
// for dw, VxLanesCycles + VxCycles - 1 for a reduction across lanes, VxFnCycles for a function,
// VxLutCycles for a table, N + 1 for a transposed block. done comes 1 cycle after the last write.
// Throughput: an iteration of a map, or one of a dw that gives a result, in VxCycles cycles; other
// iterations of a dw 1 cycle. The next operation may be accepted in the cycle in which the last
// iteration of the current one issues, up to OpsInFlight in flight.
// Stalls: an operand that loses its bank (two operands in one bank take a cycle each); results wait
// when MX writes their AM bank, which holds issue once `Results` wait; an operation that reads a
// memory which an operation in flight writes (XM or AM) starts after the end of that one; one of
// shorter latency starts so much later that its results come behind those before it.
`include "hd_assert.svh"

module hd_vx (
  input  logic                clk_i, rst_ni,

  // Operations, from hd_front
  input  logic                op_valid_i,
  input  hd_isa_pkg::vx_op_t  op_i,
  output logic                op_ready_o,
  output hd_bus_pkg::result_t res_o,

  // XM reads and write; AM reads and write. A word is asked for in the memory where it lies, so the
  // addresses of both are the same.
  output hd_bus_pkg::word_t   xma_o, xmb_o, xmw_o, ama_o, amb_o, amw_o,
  // What reads ask XM and AM for, if go_o says so in the same cycle: A, B, and B if end_o says so, too.
  // A grant of ST waits for go_o and end_o.
  output logic                go_o, end_o,
  output logic [2:0]          xm_asks_o, am_asks_o,
  // A gets XM if it asks, unless MX does (mx_xm_i, late) and has the same bank (xma_shared_i); B likewise,
  // unless A asks for the same bank (xm_same_i). Of AM it is known whether the bank is free.
  input  logic                mx_xm_i, xma_shared_i, xmb_shared_i, xm_same_i,
  input  logic                ama_free_i, amb_free_i, am_same_i,
  input  logic                xmw_gnt_i, amw_gnt_i,
  input  hd_cfg_pkg::vec_t    xma_rdata_i, xmb_rdata_i,
  input  hd_cfg_pkg::sums_t   ama_rdata_i, amb_rdata_i,
  output hd_cfg_pkg::sums_t   amw_wdata_o,
  output hd_cfg_pkg::vec_t    xmw_wdata_o,

  // PM read
  output hd_bus_pkg::word_t   pm_o,
  input  hd_cfg_pkg::consts_t pm_rdata_i,

  // Table write: part of a table
  input  hd_bus_pkg::part_t   part_i,
  input  hd_cfg_pkg::data_t   part_wdata_i,

  // Counters
  output logic                busy_o,
  output logic                moved_o,  // an iteration issued or a result left
  output logic                stall_bank_o
);
  localparam int unsigned N       = hd_cfg_pkg::N;
  localparam int unsigned V       = hd_cfg_pkg::VxLanes;
  localparam int unsigned Groups  = hd_cfg_pkg::VxCycles;
  localparam int unsigned XmBytes = hd_cfg_pkg::XmBytes;
  localparam int unsigned AmWords = hd_cfg_pkg::AmWords;
  localparam int unsigned PmBits  = $clog2(hd_cfg_pkg::PmWords);
  localparam int unsigned AmBits  = $clog2(AmWords);
  localparam int unsigned Loops   = 4;
  localparam int unsigned Slots   = hd_isa_pkg::OpsInFlight;
  // Results on their way, at most: more than the latency, and a block to be transposed.
  localparam int unsigned Results   = 1 << $clog2(N + 32 / Groups);
  localparam int unsigned ResBits   = $clog2(Results);
  localparam int unsigned XmBits    = $clog2(XmBytes / N);
  localparam int unsigned CountBits = 18;  // of the columns of a dw
  // What a dw reads from PM next: taps 0..7, taps 8..11, bias and scale.
  localparam logic [1:0] PmLo = 2'd0, PmHi = 2'd1, PmConst = 2'd2, PmNone = 2'd3;

  logic clk;  // of hd_gate

  hd_isa_pkg::vx_params_t p;
  assign p = op_i.params;

  // ---- the operation in issue -------------------------------------------------------------------
  logic             run_q, failed_q, two_q, b_end_q, pm_q, to_am_q, tr_q;  // b_end: B comes with the end of a sum
  logic             a_xm_q, a_am_q, b_xm_q, b_am_q;  // where A and B are
  logic [2:0]       slot_q;
  logic [Loops-1:0] outer_q, inner;
  logic [4:0]       bad_q, bad;
  logic             bad_any_q;
  // load: the operation in issue ends. Data of the next are taken then, whether it is accepted or not:
  // that is known late.
  logic             accept, load, dw, pairs, sums, to_am, fn, plain;

  function automatic logic in_byte(input logic [31:0] imm);
    in_byte = signed'(imm) >= -255 && signed'(imm) <= 255;
  endfunction

  assign fn    = p.fn != hd_isa_pkg::VxFnNone;
  assign dw    = op_i.code == hd_isa_pkg::VxDw;
  assign sums  = dw && p.b_kind == hd_isa_pkg::VxKindAmInt32;
  assign pairs = dw && p.b_kind != hd_isa_pkg::VxKindZero && !sums;
  assign to_am = p.d_kind == hd_isa_pkg::VxDestAmF32 || p.d_kind == hd_isa_pkg::VxDestAmInt32;

  // What VX without functions has.
  assign plain = !fn && !p.lanes && p.tail == 7'd0 && p.alu <= hd_isa_pkg::VxAluSub &&
                 p.a_kind <= hd_isa_pkg::VxKindZero && in_byte(p.a_imm) &&
                 !(p.a_kind == hd_isa_pkg::VxKindAmF32 && p.red == hd_isa_pkg::VxRedMax) &&
                 !(p.a_kind == hd_isa_pkg::VxKindAmInt32 && p.a_imm != 32'd0) &&
                 (p.alu == hd_isa_pkg::VxAluA || (in_byte(p.b_imm) && p.b_kind != hd_isa_pkg::VxKindAmInt32 &&
                                                  p.b_kind <= hd_isa_pkg::VxKindZero));

  // The rows of a dw are its loop 0, and reduce; the columns are loop 1.
  always_comb begin
    for (int unsigned l = 0; l < Loops; l++) inner[l] = dw ? l == 0 : l < 32'(p.nred);
    bad = hd_reg_pkg::ErrNone;
    if (p.nred > 3'(Loops) || p.n0 == 16'd0 || p.n1 == 16'd0 || p.n2 == 16'd0 || p.n3 == 16'd0 ||
        p.a_kind > hd_isa_pkg::VxKindPmF32 || p.b_kind > hd_isa_pkg::VxKindPmF32 ||
        p.alu > hd_isa_pkg::VxAluMin || p.red > hd_isa_pkg::VxRedMax ||
        (p.red == hd_isa_pkg::VxRedNone && (p.nred != 3'd0 || p.lanes)) || 32'(p.tail) > N ||
        (p.red == hd_isa_pkg::VxRedSum &&
         (p.a_kind == hd_isa_pkg::VxKindAmF32 || p.a_kind == hd_isa_pkg::VxKindPmF32)) ||
        (p.nred != 3'd0 && p.a_kind >= hd_isa_pkg::VxKindPmInt32) ||
        32'(p.lut) > hd_isa_pkg::TmTables || (p.lut != 3'd0 && to_am) ||
        (p.d_kind == hd_isa_pkg::VxDestXmTransposed && (p.nred != 3'd0 || 32'(p.n0) != N)))
      bad = hd_reg_pkg::ErrOperand;
    if (dw && (p.n0 > 16'd3 || p.n2 > 16'd4 || p.sx == 2'd0 ||
               (p.a_kind != hd_isa_pkg::VxKindXmInt8 && p.a_kind != hd_isa_pkg::VxKindXmUint8) ||
               p.alu != hd_isa_pkg::VxAluA ||
               (pairs && (p.b_kind != p.a_kind || p.sx != 2'd2 || p.n0 < 16'd2)) ||
               p.red != hd_isa_pkg::VxRedNone || p.d_kind == hd_isa_pkg::VxDestXmTransposed ||
               !in_byte(p.a_imm)))
      bad = hd_reg_pkg::ErrOperand;
    if (hd_cfg_pkg::Functions == 0 ? !plain : p.fn > hd_isa_pkg::VxFnSigmoid)
      bad = hd_reg_pkg::ErrOperand;
    if (!dw && op_i.code != hd_isa_pkg::VxMap) bad = hd_reg_pkg::ErrEncoding;
  end

  logic [23:0]      a_addr, b_addr, d_addr, p_addr;
  logic [Loops-1:0] first, last;
  logic             commit, window_q;  // window_q: dw is in a column that ends one

  logic [CountBits-1:0] outputs, n0, n1, n2;  // outputs: of a dw, in a row, less 1
  logic [15:0]          as0, as1, bs0, bs1, ps1;

  assign outputs = CountBits'(p.n1) - CountBits'(1);
  assign n0      = dw ? CountBits'(p.n2) : CountBits'(p.n0);
  assign n1      = pairs ? outputs + CountBits'(p.n0) - CountBits'(1) :
                   dw ? (p.sx[0] ? outputs : '0) + (p.sx[1] ? outputs << 1 : '0) +
                        CountBits'(p.n0) : CountBits'(p.n1);
  assign n2      = dw ? CountBits'(1) : CountBits'(p.n2);
  assign as0     = dw ? p.as2 : p.as0;
  assign as1     = dw ? p.as0 : p.as1;
  assign bs0     = pairs ? p.bs2 : inner[0] ? 16'd0 : p.bs0;
  assign bs1     = pairs ? p.bs0 : inner[1] ? 16'd0 : p.bs1;
  assign ps1     = dw ? 16'd0 : p.ps1;

  hd_nest #(
    .Loops(Loops),
    .Streams(4),
    .CountBits(CountBits)
  ) u_nest (
    .clk_i        (clk),
    .take_i (!run_q || &last),
    .load_i (load),
    .n_i    ({CountBits'(p.n3), n2, n1, n0}),
    .step_i ({{16{!inner[3]}} & p.ps3, {16{!inner[2]}} & p.ps2, {16{!inner[1]}} & ps1,
              {16{!inner[0]}} & p.ps0, {16{!inner[3]}} & p.ds3, {16{!inner[2]}} & p.ds2,
              {16{!inner[1]}} & p.ds1, {16{!inner[0]}} & p.ds0, {16{!inner[3]}} & p.bs3,
              {16{!inner[2]}} & p.bs2, bs1, bs0,
              p.as3, p.as2, as1, as0}),
    .base_i ({p.p, p.d, p.b, p.a}),
    .adv_i  (commit),
    .stay_i ({1'b0, !window_q, !window_q, 1'b0}),  // D and, where it comes by columns, B: from window to window
    .addr_o ({p_addr, d_addr, b_addr, a_addr}),
    .first_o(first),
    .last_o (last)
  );

  // ---- issue ------------------------------------------------------------------------------------
  logic             sum_first, sum_last, room, clear, fail, go, got_a_q, got_b_q, want_b, b_now, takes;
  logic [1:0]       a_may, b_may;
  logic [1:0]       may;  // commit without and with MX
  logic             wrong, a_out, b_out, d_out, p_out, p_end;  // out: outside of its memory
  logic [3:0]       ops_q, xm_writers_q, am_writers_q;  // operations in flight; those that write XM, AM
  logic [3:0]       turners_q;                          // and those that transpose
  logic             pop, push, end_op, end_to_am, end_turns, in_order;
  logic [ResBits:0] waiting_q;                    // results on their way

  assign sum_first = &(first | outer_q);
  assign sum_last  = &(last | outer_q) && window_q;
  assign want_b    = b_now || (b_end_q && sum_last);
  assign b_now     = two_q && !b_end_q && window_q && (pairs_q || sum_first);
  assign room      = waiting_q < (ResBits + 1)'(Results);
  assign clear     = !((a_xm_q || (two_q && b_xm_q)) && xm_writers_q != 4'(!to_am_q)) &&
                     !((a_am_q || (two_q && b_am_q)) && am_writers_q != 4'(to_am_q)) &&
                     (tr_q || turners_q == 4'd0);

  // Sizes are powers of two: what is above them are the upper bits.
  assign a_out = (a_xm_q && (a_addr >> XmBits) != '0) || (a_am_q && (a_addr >> AmBits) != '0);
  assign b_out = (b_xm_q && (b_addr >> XmBits) != '0) || (b_am_q && (b_addr >> AmBits) != '0);
  assign d_out = to_am_q ? (d_addr >> AmBits) != '0 : (d_addr >> XmBits) != '0;
  assign p_out = (p_addr >> PmBits) != '0;
  assign p_end = dw_q && (p_out || (&p_addr[PmBits-1:1] && (two_words_q || p_addr[0])));
  assign wrong = bad_any_q || a_out || p_end || (want_b && b_out) ||
                 (sum_last && (d_out || (pm_q && p_out)));

  assign fail      = run_q && wrong && room;
  assign go        = run_q && !wrong && clear && (room || !sum_last) && !lead_now && in_order;
  assign go_o      = go;
  assign end_o     = sum_last;
  assign xm_asks_o = {b_end_q && b_xm_q && !got_b_q, b_now && b_xm_q && !got_b_q, a_xm_q && !got_a_q};
  assign am_asks_o = {b_end_q && b_am_q && !got_b_q, b_now && b_am_q && !got_b_q, a_am_q && !got_a_q};
  assign xma_o     = {go && a_xm_q && !got_a_q, a_addr};
  assign ama_o     = {go && a_am_q && !got_a_q, a_addr};
  assign xmb_o     = {go && want_b && b_xm_q && !got_b_q, b_addr};
  assign amb_o     = {go && want_b && b_am_q && !got_b_q, b_addr};
  // Whether the memories grant what go asks for is known beside go: bit 0 if MX does not ask for XM, bit 1
  // if it does.
  assign a_may     = {2{got_a_q}} | (a_xm_q ? {!xma_shared_i, 1'b1} : {2{!a_am_q || ama_free_i}});
  assign b_may     = {2{got_b_q || !want_b}} |
                     (b_xm_q ? {2{!(a_xm_q && !got_a_q && xm_same_i)}} & {!xmb_shared_i, 1'b1} :
                      {2{!b_am_q || (amb_free_i && !(a_am_q && !got_a_q && am_same_i))}});
  assign may       = {2{go}} & a_may & b_may;
  assign pm_o.req  = dw_q ? lead || (commit && pm_next_q != PmNone) : commit && sum_last && pm_q;
  assign pm_o.addr = p_addr + (!dw_q ? 24'd0 : pm_next_q == PmLo ? 24'd1 :
                               pm_next_q == PmHi ? 24'd2 : 24'd0);

  hd_vx_commit u_commit (
    .may_i(may), .mx_xm_i, .run_i(run_q), .last_i(&last), .takes_i(takes),
    .commit_o(commit), .load_o(load), .ready_o(op_ready_o)
  );

  assign takes      = !failed_q && ops_q < 4'(Slots);
  assign accept     = op_valid_i && op_ready_o;
  assign push       = fail || (commit && sum_last);

  // ---- dw: columns and words of PM --------------------------------------------------------------
  logic       dw_q, pairs_q, single_q, two_words_q, lead, lead_now;  // single_q: the first iteration is a result
  logic [1:0] head_q, gap_q;                      // columns before the first that ends a window,
  logic [1:0] skip_q, skip_d;                     // between two such, before the next
  logic [1:0] row_q, pm_next_q;

  assign skip_d   = last[1] ? head_q : window_q ? gap_q : skip_q - 2'd1;
  assign lead_now = dw_q && single_q && pm_next_q == PmLo && hold_age_q == '0;
  assign lead     = run_q && !wrong && lead_now;

  always_ff @(posedge clk) begin
    if (load) begin
      dw_q        <= dw;
      single_q    <= p.n0 == (pairs ? 16'd2 : 16'd1) && p.n2 == 16'd1;
      two_words_q <= p.n0 == 16'd3 && p.n2 >= 16'd3;
      pairs_q     <= pairs;
      head_q      <= p.n0[1:0] - (pairs ? 2'd2 : 2'd1);
      gap_q       <= p.sx - (pairs ? 2'd2 : 2'd1);
      skip_q      <= p.n0[1:0] - (pairs ? 2'd2 : 2'd1);
      window_q    <= !dw || p.n0[1:0] == (pairs ? 2'd2 : 2'd1);
      row_q       <= '0;
      pm_next_q   <= PmLo;
    end else if (lead) begin
      pm_next_q <= PmConst;
    end else if (commit) begin
      row_q <= last[0] ? '0 : row_q + 2'd1;
      if (last[0]) begin
        skip_q <= skip_d;
        window_q <= !dw_q || skip_d == 2'd0;
      end
      if (last[0] && last[1]) pm_next_q <= PmLo;
      else if (pm_next_q == PmLo) pm_next_q <= two_words_q ? PmHi : PmConst;
      else if (pm_next_q != PmNone) pm_next_q <= pm_next_q + 2'd1;
    end
  end

  // ---- operations of different latency ----------------------------------------------------------
  // Cycles that an iteration is late, compared with a plain map: before the reduction (dw; lanes come
  // behind it), before its end, before the alu, before the result, at the end. Nothing may overtake
  // at any of these places, each of which an iteration holds for its groups. Those of a dw without a
  // result hold none. A function that works before the alu comes 16 cycles after one behind it.
  localparam int unsigned Places  = 5;
  localparam int unsigned AgeBits = 5;
  localparam int unsigned More    = Groups - 1;  // cycles that a group of the next iteration waits
  logic [AgeBits-1:0]        late_sum, late_bias, late_alu, late_res, late_end;
  logic [AgeBits*Places-1:0] late, late_q, age_q;
  logic [AgeBits-1:0]        fn_age_q, hold_age_q;  // hold: a map's operands are still in use
  logic                      fn_mul_q, fn_post_q;
  logic                      now, soon;  // nothing is overtaken: with a result, without one
  logic                      fn_mul;  // a function that works before the alu

  assign fn_mul    = fn && p.alu == hd_isa_pkg::VxAluMul;
  assign late_sum  = dw ? AgeBits'(hd_isa_pkg::VxDwCycles) : '0;
  assign late_bias = dw ? late_sum : p.lanes ? AgeBits'(hd_isa_pkg::VxLanesCycles + More) : '0;
  assign late_alu  = late_bias + (fn_mul ? AgeBits'(hd_isa_pkg::VxFnCycles) : '0);
  assign late_res  = late_bias + (fn ? AgeBits'(hd_isa_pkg::VxFnCycles) : '0);
  assign late_end  = late_res + (p.lut != 3'd0 ? AgeBits'(hd_isa_pkg::VxLutCycles) : '0);
  assign late      = {late_end, late_res, late_alu, late_bias, late_sum};

  always_comb begin
    now  = 1'b1;
    soon = 1'b1;
    for (int unsigned i = 0; i < Places; i++) begin
      if (age_q[AgeBits * i +: AgeBits] > late_q[AgeBits * i +: AgeBits]) now = 1'b0;
      if (age_q[AgeBits * i +: AgeBits] > late_q[AgeBits * i +: AgeBits] + AgeBits'(More)) soon = 1'b0;
    end
    in_order = !(fn_mul_q && fn_age_q != '0) && hold_age_q == '0 &&
               (now || (dw_q && !sum_last && soon));
  end

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      age_q      <= '0;
      fn_age_q   <= '0;
      hold_age_q <= '0;
    end else begin
      for (int unsigned i = 0; i < Places; i++)
        if (commit && (!dw_q || sum_last))
          age_q[AgeBits * i +: AgeBits] <= late_q[AgeBits * i +: AgeBits] + AgeBits'(More);
        else if (age_q[AgeBits * i +: AgeBits] != '0)
          age_q[AgeBits * i +: AgeBits] <= age_q[AgeBits * i +: AgeBits] - AgeBits'(1);
      if (commit && fn_post_q) fn_age_q <= AgeBits'(hd_isa_pkg::VxFnSwitchCycles + More);
      else if (fn_age_q != '0) fn_age_q <= fn_age_q - AgeBits'(1);
      if (commit && !dw_q) hold_age_q <= AgeBits'(More);
      else if (hold_age_q != '0) hold_age_q <= hold_age_q - AgeBits'(1);
    end
    if (load) begin
      late_q    <= late;
      fn_mul_q  <= fn_mul;
      fn_post_q <= fn && !fn_mul;
    end
  end

  // A count behind a cycle in which one comes, and one goes. What comes is known late: it chooses.
  function automatic logic [3:0] counted(input logic [3:0] count, input logic comes, goes);
    logic [3:0] without;
    without = count - 4'(goes);
    counted = comes ? without + 4'd1 : without;
  endfunction

  // ---- results in order: where they go ----------------------------------------------------------
  // {transposed, error, last of its operation, to AM, error code, address}
  logic [32:0]        order [Results];
  logic [32:0]        entry, oldest_q;  // what is pushed; the oldest, which is not in the list
  logic               head_err, head_end, head_am, head_tr;
  logic [4:0]         head_code;
  logic [ResBits-1:0] order_w_q, order_r_q;
  logic [23:0]        w_addr;

  assign entry = {tr_q, fail, fail || &last, to_am_q, bad_any_q ? bad_q : hd_reg_pkg::ErrRange, d_addr};
  assign {head_tr, head_err, head_end, head_am, head_code, w_addr} = oldest_q;

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      run_q        <= 1'b0;
      failed_q     <= 1'b0;
      got_a_q      <= 1'b0;
      got_b_q      <= 1'b0;
      slot_q       <= '0;
      ops_q        <= '0;
      xm_writers_q <= '0;
      turners_q    <= '0;
      am_writers_q <= '0;
      waiting_q    <= '0;
      order_w_q    <= '0;
      order_r_q    <= '0;
    end else begin
      if (accept) run_q <= 1'b1;
      else if (fail || (commit && &last)) run_q <= 1'b0;
      if (fail) failed_q <= 1'b1;
      else if (err_q) failed_q <= 1'b0;
      got_a_q <= go && !commit && a_may[mx_xm_i];
      got_b_q <= go && !commit && b_may[mx_xm_i] && want_b;
      if (accept) slot_q <= slot_q + 3'd1;
      ops_q        <= counted(ops_q, accept, end_op);
      xm_writers_q <= counted(xm_writers_q, accept && !to_am, end_op && !end_to_am);
      am_writers_q <= counted(am_writers_q, accept && to_am, end_op && end_to_am);
      turners_q    <= counted(turners_q, accept && p.d_kind == hd_isa_pkg::VxDestXmTransposed,
                              end_op && end_turns);
      waiting_q    <= waiting_q + (ResBits + 1)'(push) - (ResBits + 1)'(pop);
      order_w_q    <= order_w_q + ResBits'(push);
      order_r_q    <= order_r_q + ResBits'(pop);
    end
    if (waiting_q == (ResBits + 1)'(pop)) oldest_q <= entry;
    else if (pop) oldest_q <= order[order_r_q + ResBits'(1)];
    if (load) begin
      b_end_q <= p.alu != hd_isa_pkg::VxAluA && !pairs && !sums;
      two_q   <= p.alu != hd_isa_pkg::VxAluA || pairs || sums;
      pm_q    <= p.use_bias || p.scale_pm || p.a_kind >= hd_isa_pkg::VxKindPmInt32 ||
                 (p.alu != hd_isa_pkg::VxAluA && p.b_kind >= hd_isa_pkg::VxKindPmInt32);
      to_am_q <= to_am;
      tr_q    <= p.d_kind == hd_isa_pkg::VxDestXmTransposed;
      a_xm_q  <= p.a_kind > hd_isa_pkg::VxKindAmF32 && p.a_kind <= hd_isa_pkg::VxKindXmUint8;
      a_am_q  <= p.a_kind <= hd_isa_pkg::VxKindAmF32;
      b_xm_q  <= p.b_kind > hd_isa_pkg::VxKindAmF32 && p.b_kind <= hd_isa_pkg::VxKindXmUint8;
      b_am_q  <= p.b_kind <= hd_isa_pkg::VxKindAmF32;
      outer_q <= ~inner;
      bad_q   <= bad;
      bad_any_q <= bad != hd_reg_pkg::ErrNone;
    end
    if (push) order[order_w_q] <= entry;
  end

  // ---- data -------------------------------------------------------------------------------------
  logic [1:0]      d_valid_q, d_first_q, d_last_q, d_window_q, d_tail_q;
  logic [1:0]      d_row1_q, d_row2_q;
  logic [2:0]      d_load, d_load1_q, d_load2_q;
  logic [2:0]      d_slot1_q, d_slot2_q;
  logic            res_valid;
  logic [Groups-1:0] res_part;
  logic [32*N-1:0] res;

  always_comb begin
    d_load = '0;
    if (dw_q && pm_o.req) d_load[pm_next_q] = 1'b1;
  end

  always_ff @(posedge clk) begin
    d_valid_q  <= rst_ni ? {d_valid_q[0], commit} : '0;
    d_first_q  <= {d_first_q[0], sum_first};
    d_last_q   <= {d_last_q[0], sum_last};
    d_window_q <= {d_window_q[0], window_q};
    d_tail_q   <= {d_tail_q[0], last[0]};
    d_row1_q   <= row_q;
    d_row2_q   <= d_row1_q;
    d_load1_q  <= d_load;
    d_load2_q  <= d_load1_q;
    d_slot1_q  <= slot_q;
    d_slot2_q  <= d_slot1_q;
  end

  hd_vx_lanes u_lanes (
    .clk_i(clk), .rst_ni,
    .part_i, .part_wdata_i,
    .p_we_i(load && ops_q < 4'(Slots)), .p_slot_i(slot_q + 3'd1), .p_i(op_i.params), .p_dw_i(dw),
    .d_valid_i(d_valid_q[1]), .d_slot_i(d_slot2_q), .d_first_i(d_first_q[1]),
    .d_last_i(d_last_q[1]), .d_tail_i(d_tail_q[1]), .a_am_i(ama_rdata_i), .a_xm_i(xma_rdata_i),
    .b_am_i(amb_rdata_i), .b_xm_i(xmb_rdata_i), .pm_i(pm_rdata_i),
    .d_row_i(d_row2_q), .d_window_i(d_window_q[1]), .d_load_i(d_load2_q),
    .res_valid_o(res_valid), .res_part_o(res_part), .res_o(res)
  );

  // ---- write ------------------------------------------------------------------------------------
  logic [ResBits-1:0] fifo_w_q, fifo_r_q;
  logic               ready_q, left, full_q, done_q, err_q;  // ready, full: the FIFO of results is not empty, is full
  logic [4:0]         err_code_q;

  assign left      = full_q || ResBits'(fifo_r_q + ResBits'(1)) != fifo_w_q;  // if one goes
  assign xmw_o     = {ready_q && !head_err && !head_am, w_addr};
  assign amw_o     = {ready_q && !head_err && head_am, w_addr};
  assign pop       = (waiting_q != '0 && head_err) || (xmw_o.req && xmw_gnt_i) ||
                     (amw_o.req && amw_gnt_i);
  assign end_op    = pop && head_end;
  assign end_to_am = head_am;
  assign end_turns = head_tr;

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      fifo_w_q <= '0;
      fifo_r_q <= '0;
      full_q   <= 1'b0;
      ready_q  <= 1'b0;
      done_q   <= 1'b0;
      err_q    <= 1'b0;
    end else begin
      fifo_w_q <= fifo_w_q + ResBits'(res_valid);
      fifo_r_q <= fifo_r_q + ResBits'(pop && !head_err);
      if (res_valid != (pop && !head_err))
        full_q <= res_valid && ResBits'(fifo_w_q + ResBits'(1)) == fifo_r_q;
      ready_q <= res_valid || (ready_q && (left || !pop || head_err));
      done_q <= end_op && !head_err;
      err_q  <= end_op && head_err;
    end
    if (pop) err_code_q <= head_code;
  end

  for (genvar g = 0; g < Groups; g++) begin : gen_fifo
    (* ram_style = "distributed" *)
    logic [32*V-1:0] fifo [Results];
    always_ff @(posedge clk) if (res_part[g]) fifo[fifo_w_q] <= res[32 * V * g +: 32 * V];
    assign amw_wdata_o[32 * V * g +: 32 * V] = fifo[fifo_r_q];
    assign xmw_wdata_o[8 * V * g +: 8 * V]   = amw_wdata_o[32 * V * g +: 8 * V];
  end

  assign res_o        = {done_q, err_q, err_code_q};
  assign busy_o       = ops_q != '0;
  assign moved_o      = commit || pop;
  assign stall_bank_o = (go && !commit) || (amw_o.req && !amw_gnt_i) || (xmw_o.req && !xmw_gnt_i);

  // ---- clock ------------------------------------------------------------------------------------
  // Nothing in flight, nothing to forget: it can stand still.
  hd_gate u_gate (
    .clk_i,
    .en_i(!rst_ni || op_valid_i || part_i.tm || busy_o || done_q || err_q || age_q != '0 || fn_age_q != '0 || hold_age_q != '0),
    .clk_o(clk)
  );

  // ---- time -------------------------------------------------------------------------------------
`ifdef HD_CHECKS
  // Each result comes as late as isa/timing.def says; of a block of N, counted from its last vector.
  logic [31:0]              now_q, issued [Results], from;
  logic [Results-1:0]   turns_q;
  logic [AgeBits-1:0]   later [Results];
  logic [ResBits-1:0]   issued_w_q, whole;
  logic [$clog2(N)-1:0] column_q;

  assign whole = fifo_w_q + ResBits'(N - 1) - ResBits'(column_q);
  assign from  = !turns_q[fifo_w_q] ? issued[fifo_w_q] :
                 issued[whole] + hd_isa_pkg::VxTransposeCycles + 32'(column_q);

  always_ff @(posedge clk_i) begin
    now_q <= rst_ni ? now_q + 32'd1 : '0;
    if (!rst_ni) begin
      issued_w_q <= '0;
      column_q   <= '0;
    end else begin
      if (push && !fail) begin
        issued_w_q          <= issued_w_q + ResBits'(1);
        issued[issued_w_q]  <= now_q;
        later[issued_w_q]   <= late_q[AgeBits * (Places - 1) +: AgeBits];
        turns_q[issued_w_q] <= tr_q;
      end
      if (res_valid && turns_q[fifo_w_q]) column_q <= column_q + $clog2(N)'(1);
    end
  end

  `ASSERT(ResultInTime, !res_valid ||
                        now_q + 32'd1 == from + hd_isa_pkg::VxWriteCycles + More + 32'(later[fifo_w_q]))
`endif

  `ASSERT(ReadyIsNotEmpty, ready_q == (fifo_w_q != fifo_r_q || full_q))
  `ASSERT(ResultsInOrder, !res_valid || waiting_q != '0)
  `ASSERT(WaitingInRange, waiting_q <= (ResBits + 1)'(Results))
  // What ST is told of reads, and the reads themselves.
  `ASSERT(AsksAgree, {xmb_o.req, xma_o.req, amb_o.req, ama_o.req} ==
                     ({4{go_o}} & {xm_asks_o[1] || (end_o && xm_asks_o[2]), xm_asks_o[0],
                                   am_asks_o[1] || (end_o && am_asks_o[2]), am_asks_o[0]}))
  `ASSERT(OneOperandPort, !(xma_o.req && ama_o.req) && !(xmb_o.req && amb_o.req))
endmodule
