// Address side of LX: walks the runs of lx.load, finds the valid part of each, checks it, asks for
// its beats and passes a record of the run to the data side (hd_lx_data). Works ahead of the data,
// into the next operation too.
//
// Guarantees: what is asked for lies inside the segment's window. An illegal run becomes a record
// with an error code, after which nothing follows until reset.
// Latency: LxRequestCycles from an operation to its first request, one more for each joined loop.
// Throughput: a run a cycle when its valid part is one burst.
// Stalls: OpenBursts are open, the records are full, AR is not taken.
`include "hd_assert.svh"

module hd_lx_gen (
  input  logic                  clk_i, rst_ni,
  input  logic                  stop_i,  // ask for nothing more

  input  hd_bus_pkg::segments_t seg_i,

  // Operations
  input  logic                  op_valid_i,
  input  hd_isa_pkg::lx_op_t    op_i,
  output logic                  op_ready_o,

  // Read bursts
  output hd_bus_pkg::burst_t    ar_o,
  input  logic                  ar_ready_i,
  input  logic                  r_end_i,  // last beat of a burst
  output logic                  open_o,  // a burst is open
  output logic                  busy_o,  // an operation is in work, or a burst open

  // Its runs
  output logic                  rec_valid_o,
  input  logic                  rec_ready_i,
  output hd_bus_pkg::load_run_t rec_o
);
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned XmBytes  = hd_cfg_pkg::XmBytes;
  localparam int unsigned AmBytes  = hd_cfg_pkg::AmBytes;
  localparam int unsigned AmWord   = 4 * hd_cfg_pkg::N;  // bytes
  localparam int unsigned OffBits  = $clog2(AxiBytes);
  // ---- operations and their runs ---------------------------------------------------------------
  typedef struct packed {  // what is kept of one
    logic [4:0]         bad;  // error code of illegal parameters
    logic               seg;
    logic               mem;
    logic               edge_;
    logic [7:0]         pad;
    logic [15:0]        rows;
    logic [31:0]        row_bytes;
    logic [15:0]        ys;
    logic signed [31:0] s1;
    logic signed [31:0] x0;
    logic signed [15:0] y0;
  } keep_t;

  logic                   load, a_valid, a_adv, a_last, fail, runs_busy, joining;
  logic [4:0]             op_bad;
  keep_t                  joined, at_q;
  logic [23:0]            j_run;
  logic [1:0]             level;
  logic [31:0]            ext;
  logic [27:0]            loc;
  hd_isa_pkg::lx_params_t now;
  hd_bus_pkg::runs_t      runs;
  assign now  = op_i.params;
  assign runs = {now.n3, now.n2, now.n1, now.s3, now.s2, now.s1, now.d3, now.d2, now.d1, now.src,
                 now.dst, now.run};

  always_comb begin
    op_bad = hd_reg_pkg::ErrNone;
    if (now.run == 24'd0 || now.n1 == 16'd0 || now.n2 == 16'd0 || now.n3 == 16'd0 ||
        now.seg > hd_isa_pkg::SegArena || (now.mem && AmWord < AxiBytes))
      op_bad = hd_reg_pkg::ErrOperand;
    else if (now.mem && (now.run[1:0] | now.dst[1:0] | now.d1[1:0] | now.d2[1:0] | now.d3[1:0]) != '0)
      op_bad = hd_reg_pkg::ErrRange;
    if (op_i.code != hd_isa_pkg::LxLoad) op_bad = hd_reg_pkg::ErrEncoding;
  end

  hd_runs #(.KeepBits($bits(joined))) u_runs (
    .clk_i, .rst_ni, .stop_i,
    .op_valid_i, .op_ready_o, .join_i(!now.edge_), .scale_i(4'd0), .runs_i(runs),
    .keep_i({op_bad, now.seg[0], now.mem, now.edge_, now.pad, now.rows, now.row_bytes, now.ys,
             now.s1, now.x0, now.y0}),
    .load_o(load), .keep_o(joined), .run_o(j_run),
    .adv_i(a_adv), .valid_o(a_valid), .fail_i(fail), .ext_o(ext), .loc_o(loc), .level_o(level),
    .last_o(a_last),
    .busy_o(runs_busy), .joining_o(joining)
  );

  // ---- stage A: the run at hand ----------------------------------------------------------------
  logic               b_ready;
  logic signed [47:0] x_q;  // place of the run in its row
  logic signed [33:0] y_q;  // its row
  logic [23:0]        run_q;

  assign a_adv = a_valid && b_ready;

  always_ff @(posedge clk_i) begin
    if (load) begin
      at_q  <= joined;
      run_q <= j_run;
      x_q   <= 48'(joined.x0);
      y_q   <= 34'(joined.y0);
    end else if (a_adv) begin
      x_q <= level == 2'd0 ? x_q + 48'(at_q.s1) : 48'(at_q.x0);
      if (level == 2'd1) y_q <= y_q + 34'(signed'({1'b0, at_q.ys}));
      if (level == 2'd2) y_q <= 34'(at_q.y0);
    end
  end

  // ---- stage B: valid part [lo, hi) ------------------------------------------------------------
  logic               b_valid_q, b_last_q, b_seg_q, b_mem_q, c_ready;
  logic [4:0]         b_err_q;
  logic [31:0]        b_ext_q;
  logic [27:0]        b_loc_q;
  logic [23:0]        b_lo_q, b_hi_q, b_run_q, lo, hi;
  logic [7:0]         b_pad_q;
  logic signed [47:0] run_end, row_end, ahead;
  logic [31:0]        skipped;  // bytes of DRAM before the valid part, if there is one

  assign skipped = at_q.edge_ && x_q[47] ? x_q[31:0] : 32'd0;  // less than 0

  always_comb begin
    run_end = 48'(signed'({1'b0, run_q}));
    row_end = 48'(signed'({1'b0, at_q.row_bytes})) - x_q;  // position in the run at which the row ends
    ahead  = -x_q;                                     // position at which the row begins
    lo      = 24'd0;
    hi      = run_q;
    if (at_q.edge_) begin
      if (ahead >= run_end) lo = run_q;
      else if (ahead > 48'sd0) lo = ahead[23:0];
      if (row_end <= 48'sd0) hi = 24'd0;
      else if (row_end < run_end) hi = row_end[23:0];
      if (y_q < 34'sd0 || y_q >= 34'(signed'({1'b0, at_q.rows})) || hi <= lo) begin
        lo = run_q;
        hi = run_q;
      end
    end
  end

  assign b_ready = !b_valid_q || c_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) b_valid_q <= 1'b0;
    else if (b_ready) b_valid_q <= a_valid && !fail;
    if (a_adv) begin
      b_err_q  <= at_q.bad != hd_reg_pkg::ErrNone ? at_q.bad :
                  29'(loc) + 29'(run_q) > 29'(at_q.mem ? AmBytes : XmBytes) ? hd_reg_pkg::ErrRange :
                  hd_reg_pkg::ErrNone;
      b_last_q <= a_last;
      b_seg_q  <= at_q.seg;
      b_mem_q  <= at_q.mem;
      b_ext_q  <= ext - skipped;
      b_loc_q  <= loc;
      b_lo_q   <= lo;
      b_hi_q   <= hi;
      b_run_q  <= run_q;
      b_pad_q  <= at_q.pad;
    end
  end

  // ---- stage C: bus address, window ------------------------------------------------------------
  logic        c_valid_q, c_last_q, c_data_q, c_mem_q;
  logic [4:0]  c_err_q, b_err;
  logic [63:0] c_addr_q, b_addr;
  logic [24:0] c_beats_q, b_beats;
  hd_bus_pkg::cut_t c_first_q;
  logic [27:0] c_loc_q;
  logic [23:0] c_lo_q, c_hi_q, c_run_q, b_len;
  logic [7:0]  c_pad_q;
  logic        c_done;

  always_comb begin
    b_len  = b_hi_q - b_lo_q;
    b_addr = (b_seg_q ? seg_i.arena.ptr : seg_i.image.ptr) + 64'(b_ext_q);
    b_beats = (25'(b_len) + 25'(b_addr[OffBits-1:0]) + 25'(AxiBytes - 1)) >> OffBits;
    b_err  = b_err_q;
    if (b_err_q == hd_reg_pkg::ErrNone && b_len != 24'd0 &&
        33'(b_ext_q) + 33'(b_len) > {1'b0, b_seg_q ? seg_i.arena.bytes : seg_i.image.bytes})
      b_err = hd_reg_pkg::ErrWindow;
  end

  assign c_ready = !c_valid_q || c_done;
  assign fail    = b_valid_q && c_ready && b_err != hd_reg_pkg::ErrNone;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) c_valid_q <= 1'b0;
    else if (c_ready) c_valid_q <= b_valid_q;
    if (b_valid_q && c_ready) begin
      c_last_q  <= b_last_q;
      c_mem_q   <= b_mem_q;
      c_err_q   <= b_err;
      c_data_q  <= b_len != 24'd0 && b_err == hd_reg_pkg::ErrNone;
      c_addr_q  <= b_addr;
      c_beats_q <= b_beats;
      c_first_q <= hd_bus_pkg::cut(10'(b_addr[11:OffBits]), b_beats);
      c_loc_q   <= b_loc_q;
      c_lo_q    <= b_lo_q;
      c_hi_q    <= b_hi_q;
      c_run_q   <= b_run_q;
      c_pad_q   <= b_pad_q;
    end
  end

  // ---- bursts and records ----------------------------------------------------------------------
  hd_read_bursts u_bursts (
    .clk_i, .rst_ni, .stop_i,
    .valid_i(c_valid_q), .data_i(c_data_q), .addr_i(c_addr_q), .beats_i(c_beats_q),
    .first_i(c_first_q), .done_o(c_done),
    .ar_ready_i, .ar_o, .r_end_i, .open_o,
    .rec_valid_o, .rec_ready_i
  );

  assign busy_o = runs_busy || b_valid_q || c_valid_q || open_o;
  assign rec_o  = {c_mem_q, c_last_q, c_err_q, c_pad_q, 6'(c_addr_q[OffBits-1:0]), c_hi_q, c_lo_q,
                   c_run_q, c_loc_q};

`ifdef HD_CHECKS
  hd_time_check #(.Cycles(hd_isa_pkg::LxRequestCycles)) u_time (
    .clk_i, .rst_ni, .start_i(op_valid_i && op_ready_o && !busy_o), .cancel_i(stop_i || joining),
    .event_i(c_valid_q)
  );
`endif

endmodule
