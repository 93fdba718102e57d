// Arithmetic of vx.map and vx.dw, all lanes: operand select and immediate (dw: hd_vx_window),
// reduction along words and across lanes, bias, conversion to binary32, scale, alu, function, and
// what hd_vx_result does.
//
// Guarantees: every iteration with d_last_i gives one result, in order. Operations are told apart
// by a slot, whose parameters are written at least 1 cycle before its first iteration and stay
// until its last result. The user keeps operations of different latency apart (hd_vx, "operations
// of different latency").
// Latency: 16 cycles from d_valid_i to res_valid_o: select 1, reduce 1, bias 1, convert 2, scale 4,
// alu 4, round and clamp 3. A dw selects in 3 cycles; a reduction across lanes takes 1 cycle more,
// a function 8, before the alu when that multiplies, else behind it; a table 1.
// Throughput: an iteration a cycle.
// Stalls: never.
module hd_vx_lanes (
  input  logic                                       clk_i, rst_ni,

  // Table write, see hd_vx_result
  input  hd_bus_pkg::part_t                          part_i,
  input  hd_cfg_pkg::data_t                          part_wdata_i,

  // Parameters of a slot
  input  logic                                       p_we_i,
  input  logic [$clog2(hd_isa_pkg::OpsInFlight)-1:0] p_slot_i,
  input  logic [32*hd_isa_pkg::VxWords-1:0]          p_i,
  input  logic                                       p_dw_i,

  // One iteration and its operands
  input  logic                                       d_valid_i,
  input  logic [$clog2(hd_isa_pkg::OpsInFlight)-1:0] d_slot_i,
  input  logic                                       d_first_i,  // a reduction starts
  input  logic                                       d_last_i,  // a reduction ends: there is a result
  input  logic                                       d_tail_i,  // last iteration of loop 0
  input  hd_cfg_pkg::sums_t                          a_am_i,
  input  hd_cfg_pkg::vec_t                           a_xm_i,
  input  hd_cfg_pkg::sums_t                          b_am_i,
  input  hd_cfg_pkg::vec_t                           b_xm_i,
  input  hd_cfg_pkg::consts_t                        pm_i,

  // Of a dw: row of the window, the column ends a window, and what pm_i holds (may come without an
  // iteration): bit 0 taps 0..7, bit 1 taps 8..11, bit 2 bias and scale
  input  logic [1:0]                                 d_row_i,
  input  logic                                       d_window_i,
  input  logic [2:0]                                 d_load_i,

  // Result: AM word, or XM vector in the low 8 * N bits
  output logic                                       res_valid_o,
  output hd_cfg_pkg::sums_t                          res_o
);
  localparam int unsigned N        = hd_cfg_pkg::N;
  localparam int unsigned Slots    = 8;
  localparam int unsigned SlotBits = $clog2(Slots);
  localparam int unsigned Depth    = 13;
  localparam int unsigned FnDepth  = hd_isa_pkg::VxFnCycles;
  localparam int unsigned Group    = N <= 16 ? 4 : 8;  // lanes that the first step across lanes joins

  // ---- parameters by slot -----------------------------------------------------------------------
  hd_isa_pkg::vx_params_t p;
  assign p = p_i;

  logic               dw       [Slots];
  logic [1:0]         width    [Slots];  // of a dw: columns of a window
  logic [2:0]         a_kind   [Slots];
  logic [2:0]         b_kind   [Slots];
  logic use_bias [Slots];
  logic scale_pm [Slots];
  logic [2:0]         alu      [Slots];
  logic [1:0]         red      [Slots];
  logic [1:0]         d_kind   [Slots];
  logic [2:0]         fn       [Slots];
  logic [2:0]         lut      [Slots];
  logic               lanes    [Slots];
  logic [6:0]         tail     [Slots];
  logic signed [5:0]  q        [Slots];
  logic               a_f32    [Slots];
  logic               b_f32    [Slots];
  logic               total    [Slots];  // binary32 in an order of integers, for max
  logic [31:0]        a_imm    [Slots];
  logic [31:0]        b_imm    [Slots];
  logic [31:0]        a_scale  [Slots];
  logic [31:0]        b_scale  [Slots];
  logic signed [15:0] lo       [Slots];
  logic signed [15:0] hi       [Slots];
  logic signed [15:0] zp       [Slots];

  always_ff @(posedge clk_i) begin
    if (p_we_i) begin
      dw[p_slot_i]       <= p_dw_i;
      width[p_slot_i]    <= p.n0[1:0];
      a_kind[p_slot_i]   <= p.a_kind;
      b_kind[p_slot_i]   <= p.b_kind;
      a_f32[p_slot_i]    <= p.a_kind == hd_isa_pkg::VxKindAmF32 ||
                            p.a_kind == hd_isa_pkg::VxKindPmF32;
      b_f32[p_slot_i]    <= p.b_kind == hd_isa_pkg::VxKindAmF32 ||
                            p.b_kind == hd_isa_pkg::VxKindPmF32;
      total[p_slot_i]    <= (p.a_kind == hd_isa_pkg::VxKindAmF32 ||
                            p.a_kind == hd_isa_pkg::VxKindPmF32) && p.red == hd_isa_pkg::VxRedMax;
      use_bias[p_slot_i] <= p.use_bias && p.a_kind != hd_isa_pkg::VxKindAmF32 &&
                            p.a_kind != hd_isa_pkg::VxKindPmF32;
      scale_pm[p_slot_i] <= p.scale_pm;
      alu[p_slot_i]      <= p.alu;
      red[p_slot_i]      <= p.red;
      d_kind[p_slot_i]   <= p.d_kind;
      fn[p_slot_i]       <= p.fn;
      lut[p_slot_i]      <= p.lut;
      lanes[p_slot_i]    <= p.lanes;
      tail[p_slot_i]     <= p.red == hd_isa_pkg::VxRedNone || p.tail == 7'd0 ? 7'(N) : p.tail;
      q[p_slot_i]        <= p.q;
      a_imm[p_slot_i]    <= p.a_imm;
      b_imm[p_slot_i]    <= p.b_imm;
      a_scale[p_slot_i]  <= p.a_scale;
      b_scale[p_slot_i]  <= p.b_scale;
      lo[p_slot_i]       <= p.lo;
      hi[p_slot_i]       <= p.hi;
      zp[p_slot_i]       <= p.zp;
    end
  end

  // ---- windows ----------------------------------------------------------------------------------
  logic                map_valid, win_valid, win_first, win_last, adds, adds_q;
  logic [SlotBits-1:0] win_slot;
  logic [32*N-1:0]     dot;
  logic [64*N-1:0]     win_pm;

  assign map_valid = d_valid_i && !dw[d_slot_i];
  assign adds      = d_valid_i && d_first_i && d_window_i && dw[d_slot_i] &&
                     b_kind[d_slot_i] == hd_isa_pkg::VxKindAmInt32;

  hd_vx_window #(.TagBits(SlotBits + 2)) u_window (
    .clk_i, .rst_ni,
    .load_lo_i(d_load_i[0]), .load_hi_i(d_load_i[1]), .load_pm_i(d_load_i[2]),
    .width_i(width[d_slot_i]), .pm_i,
    .x_i(a_xm_i), .in_valid_i(d_valid_i && dw[d_slot_i]), .in_sum_i(d_window_i), .in_row_i(d_row_i),
    .in_unsigned_i(a_kind[d_slot_i] == hd_isa_pkg::VxKindXmUint8), .in_imm_i(a_imm[d_slot_i][9:0]),
    .in_tag_i({d_slot_i, d_first_i, d_last_i}),
    .in_pairs_i(b_kind[d_slot_i] == hd_isa_pkg::VxKindXmInt8 ||
      b_kind[d_slot_i] == hd_isa_pkg::VxKindXmUint8),
    .before_i(b_xm_i),
    .valid_o(win_valid), .tag_o({win_slot, win_first, win_last}), .pm_o(win_pm), .dot_o(dot)
  );

  // ---- control: element i belongs to the iteration given i cycles ago (dw: i + 2) ---------------
  // Results that take a longer way leave at 2, 9 or 13 and come back there.
  logic [Depth:1]      v_q;        // from element 3 on: only iterations with a result
  logic [SlotBits-1:0] s_q [1:Depth];
  logic                first_q, last_q, last2_q;
  logic                ends, across_q, v9, v13, fn_before, fn_behind, fn_valid, fn_back9, fn_back13;
  logic [SlotBits-1:0] across_slot_q, s9, s13, fn_slot;

  assign ends      = v_q[2] && last2_q;
  assign fn_before = v_q[9] && fn[s_q[9]] != hd_isa_pkg::VxFnNone &&
                     alu[s_q[9]] == hd_isa_pkg::VxAluMul;
  assign fn_behind = v_q[13] && fn[s_q[13]] != hd_isa_pkg::VxFnNone &&
                     alu[s_q[13]] != hd_isa_pkg::VxAluMul;
  assign fn_back9  = fn_valid && alu[fn_slot] == hd_isa_pkg::VxAluMul;
  assign fn_back13 = fn_valid && alu[fn_slot] != hd_isa_pkg::VxAluMul;
  assign v9        = (v_q[9] && !fn_before) || fn_back9;
  assign v13       = (v_q[13] && !fn_behind) || fn_back13;
  assign s9        = fn_back9 ? fn_slot : s_q[9];
  assign s13       = fn_back13 ? fn_slot : s_q[13];

  always_ff @(posedge clk_i) begin
    v_q <= rst_ni ? {v_q[12:10], v9, v_q[8:3], (ends && !lanes[s_q[2]]) || across_q, v_q[1],
                     map_valid || win_valid} : '0;
    across_q      <= rst_ni && ends && lanes[s_q[2]];
    across_slot_q <= s_q[2];
    first_q <= win_valid ? win_first : d_first_i;
    last_q  <= win_valid ? win_last : d_last_i;
    last2_q <= last_q;
    adds_q  <= adds;
    s_q[1]  <= win_valid ? win_slot : d_slot_i;
    s_q[2]  <= s_q[1];
    s_q[3]  <= across_q ? across_slot_q : s_q[2];
    for (int unsigned i = 4; i <= Depth; i++) s_q[i] <= s_q[i - 1];
    s_q[10] <= s9;
  end

  // ---- integer part: select (1), reduce (2), bias (3) -------------------------------------------
  logic [31:0]     ta   [N], tb   [N], pb   [N], ps   [N];  // A, B, bias, scale of A
  logic [31:0]     acc  [N], tb2  [N], pb2  [N], ps2  [N];  // a cycle later
  logic [31:0]     tb_l [N], pb_l [N], ps_l [N];            // beside what goes across lanes
  logic [31:0]     to1  [N], to2  [N];  // of a dw: what its sum adds to, and that a cycle later
  logic [31:0]     tree [N];            // across lanes, within groups
  logic [31:0]     part [N/Group];      // of a group
  logic [32*N-1:0] ta_q, tb_q, scale3_q, scale4_q, scale5_q;

  // Its own inverse: the order of binary32 becomes that of int32.
  function automatic logic [31:0] order(input logic [31:0] v);
    order = {v[31], v[30:0] ^ {31{v[31]}}};
  endfunction

  function automatic logic [31:0] joined(input logic max, input logic [31:0] a, b);
    joined = !max ? a + b : signed'(b) > signed'(a) ? b : a;
  endfunction

  always_ff @(posedge clk_i) begin
    // 3
    if (across_q) begin : gen_whole
      logic [31:0] whole;
      for (int unsigned i = 1; i < N / Group; i = 2 * i)
        for (int unsigned g = 0; g + i < N / Group; g = g + 2 * i)
          part[g] = joined(red[across_slot_q] == hd_isa_pkg::VxRedMax, part[g], part[g + i]);
      whole = total[across_slot_q] ? order(part[0]) : part[0];
      for (int unsigned n = 0; n < N; n++) begin
        ta_q[32 * n +: 32]     <= whole + (use_bias[across_slot_q] ? pb_l[n] : 32'd0);
        tb_q[32 * n +: 32]     <= tb_l[n];
        scale3_q[32 * n +: 32] <= ps_l[n];
      end
    end else if (ends)
      for (int unsigned n = 0; n < N; n++) begin
        ta_q[32 * n +: 32]     <= total[s_q[2]] ? order(acc[n]) :
                                  acc[n] + (use_bias[s_q[2]] ? pb2[n] : 32'd0);
        tb_q[32 * n +: 32]     <= tb2[n];
        scale3_q[32 * n +: 32] <= ps2[n];
      end
    // 3, first step across lanes
    if (ends && lanes[s_q[2]]) begin
      for (int unsigned n = 0; n < N; n++) tree[n] = acc[n];
      for (int unsigned i = 1; i < Group; i = 2 * i)
        for (int unsigned n = 0; n < N; n = n + 2 * i)
          tree[n] = joined(red[s_q[2]] == hd_isa_pkg::VxRedMax, tree[n], tree[n + i]);
      for (int unsigned g = 0; g < N / Group; g++) part[g] = tree[g * Group];
      for (int unsigned n = 0; n < N; n++) begin
        tb_l[n] = tb2[n];
        pb_l[n] = pb2[n];
        ps_l[n] = ps2[n];
      end
    end
    // 2
    if (v_q[1]) begin
      if (dw[s_q[1]])
        for (int unsigned n = 0; n < N; n++)
          acc[n] = (!first_q ? acc[n] : b_kind[s_q[1]] == hd_isa_pkg::VxKindAmInt32 ? tb[n] :
                   32'd0) + dot[32 * n +: 32];
      else if (first_q || red[s_q[1]] == hd_isa_pkg::VxRedNone)
        for (int unsigned n = 0; n < N; n++) acc[n] = ta[n];
      else if (red[s_q[1]] == hd_isa_pkg::VxRedMax)
        for (int unsigned n = 0; n < N; n++)
          acc[n] = signed'(ta[n]) > signed'(acc[n]) ? ta[n] : acc[n];
      else for (int unsigned n = 0; n < N; n++) acc[n] = acc[n] + ta[n];
      if (last_q)
        for (int unsigned n = 0; n < N; n++) begin
          tb2[n] = tb[n];
          pb2[n] = pb[n];
          ps2[n] = ps[n];
        end
    end
    // 1
    if (win_valid && win_first && b_kind[win_slot] == hd_isa_pkg::VxKindAmInt32)
      for (int unsigned n = 0; n < N; n++) tb[n] = to2[n];
    if (win_valid && win_last)
      for (int unsigned n = 0; n < N; n++) begin
        pb[n] = win_pm[64 * n +: 32];
        ps[n] = scale_pm[win_slot] ? win_pm[64 * n + 32 +: 32] : a_scale[win_slot];
      end
    else if (map_valid) begin
      for (int unsigned n = 0; n < N; n++)
        unique case (a_kind[d_slot_i])
          hd_isa_pkg::VxKindAmInt32: ta[n] = a_am_i[32 * n +: 32] + a_imm[d_slot_i];
          hd_isa_pkg::VxKindAmF32:   ta[n] = a_am_i[32 * n +: 32];
          hd_isa_pkg::VxKindPmInt32: ta[n] = pm_i[64 * n +: 32] + a_imm[d_slot_i];
          hd_isa_pkg::VxKindPmF32:   ta[n] = pm_i[64 * n +: 32];
          hd_isa_pkg::VxKindXmInt8:  ta[n] = 32'(signed'(a_xm_i[8 * n +: 8])) + a_imm[d_slot_i];
          hd_isa_pkg::VxKindXmUint8: ta[n] = 32'(a_xm_i[8 * n +: 8]) + a_imm[d_slot_i];
          default:                   ta[n] = a_imm[d_slot_i];
        endcase
      if (total[d_slot_i])
        for (int unsigned n = 0; n < N; n++) ta[n] = order(ta[n]);
      if (d_tail_i && tail[d_slot_i] != 7'(N))
        for (int unsigned n = 0; n < N; n++)
          if (n >= 32'(tail[d_slot_i])) ta[n] = {red[d_slot_i] == hd_isa_pkg::VxRedMax, 31'd0};
      if (d_last_i)
        for (int unsigned n = 0; n < N; n++) begin
          pb[n] = pm_i[64 * n +: 32];
          ps[n] = scale_pm[d_slot_i] ? pm_i[64 * n + 32 +: 32] : a_scale[d_slot_i];
          unique case (b_kind[d_slot_i])
            hd_isa_pkg::VxKindAmInt32: tb[n] = b_am_i[32 * n +: 32] + b_imm[d_slot_i];
            hd_isa_pkg::VxKindAmF32:   tb[n] = b_am_i[32 * n +: 32];
            hd_isa_pkg::VxKindPmInt32: tb[n] = pm_i[64 * n +: 32] + b_imm[d_slot_i];
            hd_isa_pkg::VxKindPmF32:   tb[n] = pm_i[64 * n +: 32];
            hd_isa_pkg::VxKindXmInt8:  tb[n] = 32'(signed'(b_xm_i[8 * n +: 8])) + b_imm[d_slot_i];
            hd_isa_pkg::VxKindXmUint8: tb[n] = 32'(b_xm_i[8 * n +: 8]) + b_imm[d_slot_i];
            default:                   tb[n] = b_imm[d_slot_i];
          endcase
        end
    end
    // A window takes 2 cycles before that.
    if (adds_q)
      for (int unsigned n = 0; n < N; n++) to2[n] = to1[n];
    if (adds)
      for (int unsigned n = 0; n < N; n++) to1[n] = b_am_i[32 * n +: 32];
  end

  // ---- to binary32 (5), scale (9) ---------------------------------------------------------------
  logic [32*N-1:0] a5, b5, fa, fb;
  logic            b3_en, b5_en;
  assign b3_en = v_q[3] && alu[s_q[3]] != hd_isa_pkg::VxAluA;
  assign b5_en = v_q[5] && alu[s_q[5]] != hd_isa_pkg::VxAluA;

  always_ff @(posedge clk_i) begin
    if (v_q[3]) scale4_q <= scale3_q;
    if (v_q[4]) scale5_q <= scale4_q;
  end

  hd_f32_from_int #(.Lanes(N)) u_from_a (
    .clk_i, .rst_ni, .en_i(v_q[3]), .raw_i(a_f32[s_q[3]]), .a_i(ta_q), .y_o(a5)
  );
  hd_f32_from_int #(.Lanes(N)) u_from_b (
    .clk_i, .rst_ni, .en_i(b3_en), .raw_i(b_f32[s_q[3]]), .a_i(tb_q), .y_o(b5)
  );
  hd_f32_mul #(.Lanes(N)) u_scale_a (
    .clk_i, .rst_ni, .a_i(a5), .en_i(v_q[5]), .b_i(scale5_q), .y_o(fa)
  );
  hd_f32_mul #(.Lanes(N)) u_scale_b (
    .clk_i, .rst_ni, .a_i(b5), .en_i(b5_en), .b_i({N{b_scale[s_q[5]]}}), .y_o(fb)
  );

  // ---- function: from 9 back to 9, or from 13 back to 13 ----------------------------------------
  logic [32*N-1:0]  r, fn_y;
  logic [32*N-1:0]  fb_late [FnDepth];  // fb of results in the function before the alu
  logic [2:0]       fb_w_q, fb_r_q;
  logic [FnDepth:1] fn_v_q;
  logic [SlotBits-1:0] fn_s_q [1:FnDepth];

  assign fn_valid = fn_v_q[FnDepth];
  assign fn_slot  = fn_s_q[FnDepth];

  always_ff @(posedge clk_i) begin
    fn_v_q    <= rst_ni ? {fn_v_q[FnDepth-1:1], fn_before || fn_behind} : '0;
    fn_s_q[1] <= fn_behind ? s_q[13] : s_q[9];
    for (int unsigned i = 2; i <= FnDepth; i++) fn_s_q[i] <= fn_s_q[i - 1];
    if (!rst_ni) begin
      fb_w_q <= '0;
      fb_r_q <= '0;
    end else begin
      if (fn_before) fb_w_q <= fb_w_q + 3'd1;
      if (fn_back9) fb_r_q <= fb_r_q + 3'd1;
    end
    if (fn_before) fb_late[fb_w_q] <= fb;
  end

  hd_vx_fn #(.Lanes(N)) u_fn (
    .clk_i, .rst_ni,
    .en_i(fn_before || fn_behind), .fn_i(fn[fn_behind ? s_q[13] : s_q[9]]),
    .a_i(fn_behind ? r : fa),
    .y_o(fn_y)
  );

  // ---- alu (13) ---------------------------------------------------------------------------------
  logic [32*N-1:0] sum, prod;
  logic [32*N-1:0] pick10_q, pick11_q, pick12_q, pick13_q;  // fa, or the one that max / min chooses
  logic            add_en, mul_en;
  assign add_en = v9 && (alu[s9] == hd_isa_pkg::VxAluAdd || alu[s9] == hd_isa_pkg::VxAluSub);
  assign mul_en = v9 && alu[s9] == hd_isa_pkg::VxAluMul;

  hd_f32_add #(.Lanes(N)) u_add (
    .clk_i, .rst_ni,
    .a_i(fa), .en_i(add_en), .sub_i(alu[s9] == hd_isa_pkg::VxAluSub), .b_i(fb),
    .y_o(sum)
  );
  hd_f32_mul #(.Lanes(N)) u_mul (
    .clk_i, .rst_ni,
    .a_i(fn_back9 ? fn_y : fa), .en_i(mul_en), .b_i(fn_back9 ? fb_late[fb_r_q] : fb),
    .y_o(prod)
  );

  always_ff @(posedge clk_i) begin
    if (v_q[12]) pick13_q <= pick12_q;
    if (v_q[11]) pick12_q <= pick11_q;
    if (v_q[10]) pick11_q <= pick10_q;
    if (v_q[9] && (alu[s_q[9]] == hd_isa_pkg::VxAluMax ||
        alu[s_q[9]] == hd_isa_pkg::VxAluMin)) begin
      for (int unsigned n = 0; n < N; n++) begin : gen_pick
        logic [31:0] x, y;
        logic        x_nan, y_nan, gt, eq;
        x = fa[32 * n +: 32];
        y = fb[32 * n +: 32];
        x_nan = &x[30:22];  // of a product it is 7fc00000
        y_nan = &y[30:22];
        eq = x == y || (x[30:0] == 31'd0 && y[30:0] == 31'd0);
        gt = !eq && (x[31] != y[31] ? y[31] : x[31] ? x[30:0] < y[30:0] : x[30:0] > y[30:0]);
        // max: fa > fb ? fa : fb, min: fa < fb ? fa : fb; a NaN gives the other operand.
        pick10_q[32 * n +: 32] <=
          y_nan || (!x_nan && !eq && gt == (alu[s_q[9]] == hd_isa_pkg::VxAluMax)) ? x : y;
      end
    end else if (v_q[9]) pick10_q <= fa;
  end

  always_comb begin
    r = pick13_q;
    if (alu[s_q[13]] == hd_isa_pkg::VxAluAdd || alu[s_q[13]] == hd_isa_pkg::VxAluSub) r = sum;
    if (alu[s_q[13]] == hd_isa_pkg::VxAluMul) r = prod;
  end

  // ---- result -----------------------------------------------------------------------------------
  hd_vx_result u_result (
    .clk_i, .rst_ni,
    .part_i, .part_wdata_i,
    .zp_i(zp[s13]), .lo_i(lo[s13]), .valid_i(v13), .d_kind_i(d_kind[s13]), .q_i(q[s13]),
    .hi_i(hi[s13]), .lut_i(lut[s13]), .a_i(fn_back13 ? fn_y : r),
    .valid_o(res_valid_o), .y_o(res_o)
  );
endmodule
