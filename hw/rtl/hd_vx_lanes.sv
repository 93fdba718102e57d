// Arithmetic of vx.map and vx.dw: operand select and immediate (dw: hd_vx_window), reduction along
// words and across lanes, bias, conversion to binary32, scale, alu, function, and what hd_vx_result
// does. There are V = N / VxCycles lanes: a vector of N passes in VxCycles groups of V, one a cycle,
// the lowest first. Windows are N wide: only their sums pass in groups.
//
// Guarantees: every iteration with d_last_i gives one result, in order. Operations are told apart
// by a slot, whose parameters are written at least 1 cycle before its first iteration and stay
// until its last result. The user keeps operations of different latency apart (hd_vx, "operations
// of different latency"), and holds the operands of a map for VxCycles cycles.
// Latency: 16 cycles from d_valid_i to the result of the first group: select 1, reduce 1, bias 1,
// convert 2, scale 4, alu 4, round and clamp 3. A dw selects in 3 cycles; a reduction across lanes
// takes VxCycles more, a function 8, before the alu when that multiplies, else behind it; a table 1.
// Throughput: an iteration in VxCycles cycles; of a dw without a result, 1.
// Stalls: never.
//
// A machine without functions has neither products, max and min of two operands, reductions across
// lanes, operands of PM, nor an int32 B (hd_vx refuses them).
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

  // Results, see hd_vx_result
  output logic                                       res_valid_o,
  output logic [hd_cfg_pkg::VxCycles-1:0]            res_part_o,
  output hd_cfg_pkg::sums_t                          res_o
);
  localparam int unsigned N        = hd_cfg_pkg::N;
  localparam int unsigned Slots    = 8;
  localparam int unsigned SlotBits = $clog2(Slots);
  localparam int unsigned Depth    = 13;
  localparam int unsigned FnDepth  = hd_isa_pkg::VxFnCycles;
  localparam bit          HasFn    = hd_cfg_pkg::Functions != 0;
  localparam int unsigned BBits    = HasFn ? 32 : 10;  // of an integer B
  localparam int unsigned V        = hd_cfg_pkg::VxLanes;
  localparam int unsigned Groups   = hd_cfg_pkg::VxCycles;
  localparam int unsigned GBits    = Groups > 1 ? $clog2(Groups) : 1;
  localparam int unsigned Joined   = V < 4 ? V : V <= 16 ? 4 : 8;  // by the first step across lanes

  // ---- parameters by slot -----------------------------------------------------------------------
  hd_isa_pkg::vx_params_t p;
  assign p = p_i;

  // What selects in all lanes is in flip-flops: tools copy what drives many loads, but not memories.
  (* ram_style = "registers" *)
  logic               dw       [Slots];
  (* ram_style = "registers" *)
  logic [1:0]         width    [Slots];  // of a dw: columns of a window
  (* ram_style = "registers" *)
  logic [2:0]         a_kind   [Slots];
  (* ram_style = "registers" *)
  logic [2:0]         b_kind   [Slots];
  logic use_bias [Slots];
  (* ram_style = "registers" *)
  logic scale_pm [Slots];
  logic [2:0]         alu      [Slots];
  (* ram_style = "registers" *)
  logic [1:0]         red      [Slots];
  logic [1:0]         d_kind   [Slots];
  logic [2:0]         fn       [Slots];
  logic [2:0]         lut      [Slots];
  logic               lanes    [Slots];
  logic [6:0]         tail     [Slots];
  logic [7:0]         top      [Slots];  // for q, see hd_f32_to_int
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
      top[p_slot_i]      <= 8'd156 - 8'(signed'(p.q));
      a_imm[p_slot_i]    <= p.a_imm;
      b_imm[p_slot_i]    <= p.b_imm;
      a_scale[p_slot_i]  <= p.a_scale;
      b_scale[p_slot_i]  <= p.b_scale;
      lo[p_slot_i]       <= p.lo;
      hi[p_slot_i]       <= p.hi;
      zp[p_slot_i]       <= p.zp;
    end
  end

  // ---- groups -----------------------------------------------------------------------------------
  function automatic logic [8*V-1:0] bytes_of(input logic [8*N-1:0] x, input logic [GBits-1:0] g);
    bytes_of = x[8*V-1:0];
    for (int unsigned i = 1; i < Groups; i++) if (g == GBits'(i)) bytes_of = x[8 * V * i +: 8 * V];
  endfunction

  function automatic logic [32*V-1:0] sums_of(input logic [32*N-1:0] x, input logic [GBits-1:0] g);
    sums_of = x[32*V-1:0];
    for (int unsigned i = 1; i < Groups; i++) if (g == GBits'(i)) sums_of = x[32 * V * i +: 32 * V];
  endfunction

  function automatic logic [64*V-1:0] consts_of(input logic [64*N-1:0] x, input logic [GBits-1:0] g);
    consts_of = x[64*V-1:0];
    for (int unsigned i = 1; i < Groups; i++)
      if (g == GBits'(i)) consts_of = x[64 * V * i +: 64 * V];
  endfunction

  function automatic logic [GBits-1:0] next_of(input logic [GBits-1:0] g);
    next_of = g == GBits'(Groups - 1) ? '0 : g + GBits'(1);
  endfunction

  // Of a map: its operands' groups from d_valid_i on. Of a dw: those of a window's sum, which begin 2
  // cycles before the sum is there.
  logic                map_valid, map_first, map_last, map_tail, dw_valid, win_valid;
  logic                first_h_q, last_h_q, tail_h_q;
  logic [SlotBits-1:0] map_slot, slot_h_q, dw_slot, dw_slot_h_q, win_slot;
  logic [GBits-1:0]    map_g_q, dw_g_q, dw_g1_q, dw_g2_q;
  logic [32*N-1:0]     win_sum, sum_now;  // now: as the group at hand sees it
  logic [64*N-1:0]     win_pm, pm_now;

  assign map_valid = (d_valid_i && !dw[d_slot_i]) || map_g_q != '0;
  assign map_slot  = map_g_q != '0 ? slot_h_q : d_slot_i;
  assign map_first = map_g_q != '0 ? first_h_q : d_first_i;
  assign map_last  = map_g_q != '0 ? last_h_q : d_last_i;
  assign map_tail  = map_g_q != '0 ? tail_h_q : d_tail_i;
  assign dw_valid  = win_valid || dw_g_q != '0;
  assign dw_slot   = dw_g_q != '0 ? dw_slot_h_q : win_slot;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      map_g_q <= '0;
      dw_g_q  <= '0;
    end else begin
      if (map_valid) map_g_q <= next_of(map_g_q);
      if (dw_valid) dw_g_q <= next_of(dw_g_q);
    end
    dw_g1_q <= dw_g_q;
    dw_g2_q <= dw_g1_q;
    if (Groups > 1 && map_g_q == '0) begin
      slot_h_q  <= d_slot_i;
      first_h_q <= d_first_i;
      last_h_q  <= d_last_i;
      tail_h_q  <= d_tail_i;
    end
    if (Groups > 1 && win_valid) dw_slot_h_q <= win_slot;
  end

  hd_vx_window #(.SlotBits(SlotBits)) u_window (
    .clk_i, .rst_ni,
    .load_lo_i(d_load_i[0]), .load_hi_i(d_load_i[1]), .load_pm_i(d_load_i[2]),
    .width_i(width[d_slot_i]), .pm_i,
    .x_i(a_xm_i), .in_valid_i(d_valid_i && dw[d_slot_i]), .in_sum_i(d_window_i), .in_row_i(d_row_i),
    .in_first_i(d_first_i), .in_last_i(d_last_i),
    .in_adds_i(d_first_i && d_window_i && b_kind[d_slot_i] == hd_isa_pkg::VxKindAmInt32),
    .in_unsigned_i(a_kind[d_slot_i] == hd_isa_pkg::VxKindXmUint8), .in_imm_i(a_imm[d_slot_i][9:0]),
    .in_slot_i(d_slot_i),
    .in_pairs_i(b_kind[d_slot_i] == hd_isa_pkg::VxKindXmInt8 ||
      b_kind[d_slot_i] == hd_isa_pkg::VxKindXmUint8),
    .before_i(b_xm_i), .base_i(b_am_i),
    .valid_o(win_valid), .slot_o(win_slot), .pm_o(win_pm), .sum_o(win_sum)
  );

  // ---- control: element i belongs to the group whose operands came i cycles ago (dw: i + 2) -----
  // Results that take a longer way leave at 2, 9 or 13 and come back there.
  logic [Depth:1]      v_q;        // from element 3 on: only iterations with a result
  logic [SlotBits-1:0] s_q [1:Depth];
  logic                first_q, last_q, last2_q;
  logic                ends, v9, v13, fn_before, fn_behind, fn_back9, fn_back13;
  logic [SlotBits-1:0] s3_d, s9_d, s9_q, s13_d;
  // What the slots of elements 3, 9 and 13 say. Read a cycle before, with what comes back there.
  logic                raw3_q, two3_q;           // A is binary32; there is a B
  logic                add9_q, sub9_q, sum12;  // the alu adds or subtracts, subtracts
  logic                fn9_q;                    // a function comes before the alu
  enum logic [1:0] {FromPick, FromSum, FromProd, FromFn} from13_q;  // whence the result is
  logic                back9_d, back13_d;        // from the function in the next cycle
  logic [SlotBits-1:0] back_slot;
  // Across lanes: groups that left at 2 so many cycles ago; the last come back.
  logic [Groups:1]     across_v_q;
  logic [SlotBits-1:0] across_s_q [1:Groups];
  logic [GBits-1:0]    join_g_q, back_g_q;
  logic                goes_across, across, across_max_q;
  logic [SlotBits-1:0] across_slot;

  assign ends        = v_q[2] && last2_q;
  assign goes_across = HasFn && lanes[s_q[2]];
  assign across      = HasFn && across_v_q[Groups];
  assign across_slot = across_s_q[Groups];
  assign fn_before   = HasFn && v_q[9] && fn9_q;
  assign sum12       = alu[s_q[12]] == hd_isa_pkg::VxAluAdd || alu[s_q[12]] == hd_isa_pkg::VxAluSub;
  assign v9          = (v_q[9] && !fn_before) || fn_back9;
  assign v13         = (v_q[13] && !fn_behind) || fn_back13;
  assign s3_d        = across ? across_slot : s_q[2];
  assign s9_d        = back9_d ? back_slot : s_q[8];
  assign s13_d       = back13_d ? back_slot : s_q[12];

  always_ff @(posedge clk_i) begin
    v_q <= rst_ni ? {v_q[12:10], v9, v_q[8:3], (ends && !goes_across) || across, v_q[1],
                     map_valid || dw_valid} : '0;
    across_v_q    <= rst_ni ? Groups'({across_v_q, ends && goes_across}) : '0;
    across_s_q[1] <= s_q[2];
    across_max_q  <= red[s_q[2]] == hd_isa_pkg::VxRedMax;
    for (int unsigned i = 2; i <= Groups; i++) across_s_q[i] <= across_s_q[i - 1];
    if (!rst_ni) begin
      join_g_q <= '0;
      back_g_q <= '0;
    end else begin
      if (across_v_q[1]) join_g_q <= next_of(join_g_q);
      if (across) back_g_q <= next_of(back_g_q);
    end
    first_q <= map_first;
    last_q  <= dw_valid || map_last;
    last2_q <= last_q;
    s_q[1]  <= dw_valid ? dw_slot : map_slot;
    s_q[2]  <= s_q[1];
    s_q[3]  <= s3_d;
    for (int unsigned i = 4; i <= Depth; i++) s_q[i] <= s_q[i - 1];
    s_q[10] <= s9_q;
  end

  always_ff @(posedge clk_i) begin
    raw3_q   <= a_f32[s3_d];
    two3_q   <= alu[s3_d] != hd_isa_pkg::VxAluA;
    s9_q     <= s9_d;
    add9_q   <= alu[s9_d] == hd_isa_pkg::VxAluAdd || alu[s9_d] == hd_isa_pkg::VxAluSub;
    sub9_q   <= alu[s9_d] == hd_isa_pkg::VxAluSub;
    fn9_q    <= fn[s_q[8]] != hd_isa_pkg::VxFnNone && alu[s_q[8]] == hd_isa_pkg::VxAluMul;
    from13_q  <= back13_d ? FromFn : alu[s_q[12]] == hd_isa_pkg::VxAluMul ? FromProd :
                 sum12 ? FromSum : FromPick;
    fn_behind <= HasFn && rst_ni && v_q[12] && fn[s_q[12]] != hd_isa_pkg::VxFnNone &&
                 alu[s_q[12]] != hd_isa_pkg::VxAluMul;
  end

  // The first group of a window comes from hd_vx_window itself, which may go on then.
  if (Groups > 1) begin : gen_held
    logic [32*(N-V)-1:0] sum_q;
    logic [64*(N-V)-1:0] pm_q;
    assign sum_now = {sum_q, win_sum[32*V-1:0]};
    assign pm_now  = {pm_q, win_pm[64*V-1:0]};
    always_ff @(posedge clk_i) begin
      if (win_valid) pm_q <= win_pm[64*N-1:64*V];
      if (ends && dw[s_q[2]] && dw_g2_q == '0) sum_q <= win_sum[32*N-1:32*V];
    end
  end else begin : gen_now
    assign sum_now = win_sum;
    assign pm_now  = win_pm;
  end

  // ---- integer part: select (1), reduce (2), bias (3) -------------------------------------------
  logic [31:0]     ta   [V], tb   [V], pb   [V], ps   [V];  // A, B, bias, scale of A
  logic [31:0]     acc  [Groups][V];    // a cycle later; [0] of the group at hand
  logic [31:0]     tb2  [V], pb2  [V], ps2  [V];
  logic [31:0]     tb_l [Groups][V], pb_l [Groups][V], ps_l [Groups][V];  // beside what goes across
  logic [31:0]     tree [V];            // across lanes, within groups
  logic [31:0]     part [V/Joined];     // of what the first step joins
  logic [31:0]     whole_q, held_q;     // of the groups so far; of all, for those behind the first
  logic [32*V-1:0] ta_q, tb_q, scale3_q, scale4_q, scale5_q;

  // An operand of a lane: its word of AM, of PM, its byte of XM, and what is added to integers.
  function automatic logic [31:0] operand(input logic [2:0] kind, input logic [31:0] am, pm,
                                          input logic [7:0] xm, input logic [31:0] imm);
    logic [9:0] x;
    if (HasFn)
      unique case (kind)
        hd_isa_pkg::VxKindAmInt32: operand = am + imm;
        hd_isa_pkg::VxKindAmF32:   operand = am;
        hd_isa_pkg::VxKindPmInt32: operand = pm + imm;
        hd_isa_pkg::VxKindPmF32:   operand = pm;
        hd_isa_pkg::VxKindXmInt8:  operand = 32'(signed'(xm)) + imm;
        hd_isa_pkg::VxKindXmUint8: operand = 32'(xm) + imm;
        default:                   operand = imm;
      endcase
    else begin
      x = kind == hd_isa_pkg::VxKindZero ? '0 : {{2{xm[7] && kind == hd_isa_pkg::VxKindXmInt8}}, xm};
      x = x + imm[9:0];
      operand = kind <= hd_isa_pkg::VxKindAmF32 ? am : {{22{x[9]}}, x};
    end
  endfunction

  // Its own inverse: the order of binary32 becomes that of int32.
  function automatic logic [31:0] order(input logic [31:0] v);
    order = {v[31], v[30:0] ^ {31{v[31]}}};
  endfunction

  function automatic logic [31:0] joined(input logic max, input logic [31:0] a, b);
    joined = !max ? a + b : signed'(b) > signed'(a) ? b : a;
  endfunction

  always_ff @(posedge clk_i) begin
    // 3
    if (HasFn && (across_v_q[1] || across)) begin : gen_whole
      logic        max;
      logic [31:0] whole;
      max = across_max_q;
      if (max) begin : gen_most
        // The largest of all, chosen by comparisons of each two beside each other.
        logic [31:0] most;
        logic        best;
        most = '0;
        for (int unsigned g = 0; g < V / Joined; g++) begin
          best = 1'b1;
          for (int unsigned i = 0; i < V / Joined; i++)
            if (i < g ? signed'(part[i]) >= signed'(part[g]) : i > g && signed'(part[i]) > signed'(part[g]))
              best = 1'b0;
          most = most | ({32{best}} & (Groups == 1 && total[across_slot] ? order(part[g]) : part[g]));
        end
        part[0] = most;
      end else
        for (int unsigned g = 1; g < V / Joined; g++) part[0] = part[0] + part[g];
      whole_q = join_g_q == '0 ? part[0] : joined(max, whole_q, part[0]);
      whole = back_g_q == '0 ? whole_q : held_q;
      held_q = whole;
      if (Groups > 1 && total[across_slot]) whole = order(whole);  // see above
      if (across)
        for (int unsigned n = 0; n < V; n++) begin
          ta_q[32 * n +: 32]     <= whole + pb_l[Groups-1][n];
          tb_q[32 * n +: 32]     <= tb_l[Groups-1][n];
          scale3_q[32 * n +: 32] <= ps_l[Groups-1][n];
        end
    end
    if (ends && !goes_across) begin : gen_plain
      logic [32*V-1:0] sums;
      sums = sums_of(sum_now, dw_g2_q);
      for (int unsigned n = 0; n < V; n++) begin
        ta_q[32 * n +: 32]     <= HasFn && total[s_q[2]] ? order(acc[0][n]) :
                                  (dw[s_q[2]] ? sums[32 * n +: 32] : acc[0][n]) + pb2[n];
        tb_q[32 * n +: 32]     <= tb2[n];
        scale3_q[32 * n +: 32] <= ps2[n];
      end
    end
    // 3, first step across lanes
    for (int unsigned i = Groups - 1; i > 0; i--)
      if (HasFn && across_v_q[i])
        for (int unsigned n = 0; n < V; n++) begin
          tb_l[i][n] = tb_l[i - 1][n];
          pb_l[i][n] = pb_l[i - 1][n];
          ps_l[i][n] = ps_l[i - 1][n];
        end
    if (ends && goes_across) begin
      for (int unsigned n = 0; n < V; n++) tree[n] = acc[0][n];
      for (int unsigned i = 1; i < Joined; i = 2 * i)
        for (int unsigned n = 0; n + i < V; n = n + 2 * i)
          tree[n] = joined(red[s_q[2]] == hd_isa_pkg::VxRedMax, tree[n], tree[n + i]);
      for (int unsigned g = 0; g < V / Joined; g++) part[g] = tree[g * Joined];
      for (int unsigned n = 0; n < V; n++) begin
        tb_l[0][n] = tb2[n];
        pb_l[0][n] = pb2[n];
        ps_l[0][n] = ps2[n];
      end
    end
    // 2
    if (v_q[1]) begin
      if (!dw[s_q[1]])
        for (int unsigned n = 0; n < V; n++) begin : gen_reduce
          logic [31:0] a;
          a = acc[Groups-1][n];
          if (first_q || red[s_q[1]] == hd_isa_pkg::VxRedNone) a = ta[n];
          else if (red[s_q[1]] == hd_isa_pkg::VxRedMax) a = signed'(ta[n]) > signed'(a) ? ta[n] : a;
          else a = a + ta[n];
          for (int unsigned i = Groups - 1; i > 0; i--) acc[i][n] = acc[i - 1][n];
          acc[0][n] = a;
        end
      if (last_q)
        for (int unsigned n = 0; n < V; n++) begin
          tb2[n] = tb[n];
          pb2[n] = use_bias[s_q[1]] ? pb[n] : 32'd0;
          ps2[n] = ps[n];
        end
    end
    // 1
    if (dw_valid) begin : gen_window
      logic [64*V-1:0] c;
      c = consts_of(pm_now, dw_g_q);
      for (int unsigned n = 0; n < V; n++) begin
        pb[n] = c[64 * n +: 32];
        ps[n] = scale_pm[dw_slot] ? c[64 * n + 32 +: 32] : a_scale[dw_slot];
      end
    end else if (map_valid) begin : gen_select
      logic [32*V-1:0] am;
      logic [8*V-1:0]  xm;
      logic [64*V-1:0] c;
      am = sums_of(a_am_i, map_g_q);
      xm = bytes_of(a_xm_i, map_g_q);
      c = consts_of(pm_i, map_g_q);
      for (int unsigned n = 0; n < V; n++)
        ta[n] = operand(a_kind[map_slot], am[32 * n +: 32], c[64 * n +: 32], xm[8 * n +: 8], a_imm[map_slot]);
      if (HasFn && total[map_slot])
        for (int unsigned n = 0; n < V; n++) ta[n] = order(ta[n]);
      if (HasFn && map_tail && tail[map_slot] != 7'(N))
        for (int unsigned n = 0; n < V; n++)
          if (V * 32'(map_g_q) + n >= 32'(tail[map_slot]))
            ta[n] = {red[map_slot] == hd_isa_pkg::VxRedMax, 31'd0};
      if (map_last) begin
        am = sums_of(b_am_i, map_g_q);
        xm = bytes_of(b_xm_i, map_g_q);
        for (int unsigned n = 0; n < V; n++) begin
          pb[n] = c[64 * n +: 32];
          ps[n] = scale_pm[map_slot] ? c[64 * n + 32 +: 32] : a_scale[map_slot];
          tb[n] = operand(b_kind[map_slot], am[32 * n +: 32], c[64 * n +: 32], xm[8 * n +: 8], b_imm[map_slot]);
          // Of an integer its BBits and bit 31 count.
          if (!HasFn) tb[n][30:10] = am[32 * n + 10 +: 21];
        end
      end
    end
  end

  // ---- to binary32 (5), scale (9) ---------------------------------------------------------------
  logic [32*V-1:0] a5, b5, fa, fb;
  logic            b3_en, b5_en;
  assign b3_en = v_q[3] && two3_q;
  assign b5_en = v_q[5] && alu[s_q[5]] != hd_isa_pkg::VxAluA;

  always_ff @(posedge clk_i) begin
    if (v_q[3]) scale4_q <= scale3_q;
    if (v_q[4]) scale5_q <= scale4_q;
  end

  hd_f32_from_int #(.Lanes(V)) u_from_a (
    .clk_i, .rst_ni, .en_i(v_q[3]), .raw_i(raw3_q), .a_i(ta_q), .y_o(a5)
  );
  hd_f32_from_int #(.Lanes(V), .Bits(BBits)) u_from_b (
    .clk_i, .rst_ni, .en_i(b3_en), .raw_i(b_f32[s_q[3]]), .a_i(tb_q), .y_o(b5)
  );
  hd_f32_mul #(.Lanes(V)) u_scale_a (
    .clk_i, .rst_ni, .a_i(a5), .en_i(v_q[5]), .b_i(scale5_q), .y_o(fa)
  );
  hd_f32_mul #(.Lanes(V)) u_scale_b (
    .clk_i, .rst_ni, .a_i(b5), .en_i(b5_en), .b_i({V{b_scale[s_q[5]]}}), .y_o(fb)
  );

  // ---- function: from 9 back to 9, or from 13 back to 13 ----------------------------------------
  logic [32*V-1:0] r, fn_y;
  logic [32*V-1:0] sum, prod, pick13_q;  // (13)

  if (HasFn) begin : gen_fn
    logic [32*V-1:0]     fb_late [FnDepth];  // fb of what is in the function before the alu
    logic [2:0]          fb_w_q, fb_r_q;
    logic [FnDepth-1:1]  fn_v_q;
    logic [SlotBits-1:0] fn_s_q [1:FnDepth-1];

    assign back_slot = fn_s_q[FnDepth-1];
    assign back9_d   = fn_v_q[FnDepth-1] && alu[back_slot] == hd_isa_pkg::VxAluMul;
    assign back13_d  = fn_v_q[FnDepth-1] && alu[back_slot] != hd_isa_pkg::VxAluMul;

    logic [2:0] what9_q, what13_q;  // the function of fn_before, of fn_behind
    logic       mul9_q, sum13_q;

    always_ff @(posedge clk_i) begin
      fn_back9  <= rst_ni && back9_d;
      fn_back13 <= rst_ni && back13_d;
      mul9_q    <= alu[s9_d] == hd_isa_pkg::VxAluMul;
      what9_q   <= fn[s_q[8]];
      what13_q  <= fn[s_q[12]];
      sum13_q   <= sum12;
      fn_v_q    <= rst_ni ? {fn_v_q[FnDepth-2:1], fn_before || fn_behind} : '0;
      fn_s_q[1] <= fn_behind ? s_q[13] : s_q[9];
      for (int unsigned i = 2; i < FnDepth; i++) fn_s_q[i] <= fn_s_q[i - 1];
      if (!rst_ni) begin
        fb_w_q <= '0;
        fb_r_q <= '0;
      end else begin
        if (fn_before) fb_w_q <= fb_w_q + 3'd1;
        if (fn_back9) fb_r_q <= fb_r_q + 3'd1;
      end
      if (fn_before) fb_late[fb_w_q] <= fb;
    end

    hd_vx_fn #(.Lanes(V)) u_fn (
      .clk_i, .rst_ni,
      .en_i(fn_before || fn_behind), .fn_i(fn_behind ? what13_q : what9_q),
      .a_i(!fn_behind ? fa : sum13_q ? sum : pick13_q),
      .y_o(fn_y)
    );
    hd_f32_mul #(.Lanes(V)) u_mul (
      .clk_i, .rst_ni,
      .a_i(fn_back9 ? fn_y : fa), .en_i(v9 && mul9_q),
      .b_i(fn_back9 ? fb_late[fb_r_q] : fb), .y_o(prod)
    );
  end else begin : gen_no_fn
    assign fn_back9  = 1'b0;
    assign fn_back13 = 1'b0;
    assign back9_d   = 1'b0;
    assign back13_d  = 1'b0;
    assign back_slot = '0;
    assign fn_y     = '0;
    assign prod     = '0;
  end

  // ---- alu (13) ---------------------------------------------------------------------------------
  // fa, or the one that max / min chooses. Without functions fa passes the adder.
  logic [32*V-1:0] pick10_q, pick11_q, pick12_q;
  logic            add_en;
  assign add_en = v9 && (!HasFn || add9_q);

  hd_f32_add #(.Lanes(V)) u_add (
    .clk_i, .rst_ni,
    .a_i(fa), .en_i(add_en), .sub_i(sub9_q), .one_i(!HasFn && !add9_q), .b_i(fb),
    .y_o(sum)
  );

  always_ff @(posedge clk_i) begin
    if (HasFn && v_q[12]) pick13_q <= pick12_q;
    if (HasFn && v_q[11]) pick12_q <= pick11_q;
    if (HasFn && v_q[10]) pick11_q <= pick10_q;
    if (HasFn && v_q[9] && (alu[s_q[9]] == hd_isa_pkg::VxAluMax ||
        alu[s_q[9]] == hd_isa_pkg::VxAluMin)) begin
      for (int unsigned n = 0; n < V; n++) begin : gen_pick
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
    end else if (HasFn && v_q[9]) pick10_q <= fa;
  end

  always_comb begin
    r = !HasFn ? sum : from13_q[1] ? (from13_q[0] ? fn_y : prod) : (from13_q[0] ? sum : pick13_q);
  end

  // ---- result -----------------------------------------------------------------------------------
  logic signed [15:0] zp13_q, lo13_q, hi13_q;  // parameters of what is there now
  logic [7:0]         top13_q;
  logic [1:0]         kind13_q;
  logic [2:0]         lut13_q;

  always_ff @(posedge clk_i) begin
    zp13_q   <= zp[s13_d];
    lo13_q   <= lo[s13_d];
    hi13_q   <= hi[s13_d];
    top13_q  <= top[s13_d];
    kind13_q <= d_kind[s13_d];
    lut13_q  <= lut[s13_d];
  end

  hd_vx_result u_result (
    .clk_i, .rst_ni,
    .part_i, .part_wdata_i,
    .zp_i(zp13_q), .lo_i(lo13_q), .valid_i(v13), .d_kind_i(kind13_q), .top_i(top13_q),
    .hi_i(hi13_q), .lut_i(lut13_q), .a_i(r),
    .valid_o(res_valid_o), .part_o(res_part_o), .y_o(res_o)
  );
endmodule
