// Address side of LX: walks the runs of lx.load, finds the valid part of each, checks it, asks for its
// beats and passes a record of the run to the data side (hd_lx_data). Works ahead of the data, into
// the next operation too.
//
// Latency: LxRequestCycles from an operation to its first request, one more for each joined loop.
// Throughput: a run a cycle when its valid part is one burst. Stalls: OpenBursts are open, the records
// are full, AR not taken. An illegal run becomes a record with an error code, after which nothing
// follows until reset.
`include "hd_assert.svh"

module hd_lx_gen #(
  parameter int unsigned AxiBytes = hd_cfg_pkg::AxiBytes,
  parameter int unsigned XmBytes  = hd_cfg_pkg::XmBytes,
  parameter int unsigned AmBytes  = hd_cfg_pkg::AmBytes,
  parameter int unsigned AmWord   = 4 * hd_cfg_pkg::N,  // bytes
  parameter int unsigned OffBits  = $clog2(AxiBytes),
  parameter int unsigned RecBits  = 28 + 24 * 3 + OffBits + 8 + 5 + 1 + 1
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  stop_i,  // ask for nothing more

  input  hd_bus_pkg::segments_t seg_i,

  // Operations
  input  hd_isa_pkg::lx_op_t    op_i,
  output logic                  op_ready_o,

  // Read bursts
  output hd_bus_pkg::burst_t    ar_o,
  input  logic                  ar_ready_i,
  input  logic                  r_end_i,  // last beat of a burst
  output logic                  open_o,  // a burst is open
  output logic                  busy_o,  // an operation is in work, or a burst open

  // Records: {to AM, last of operation, error, pad, offset of the first byte in its beat,
  //           end and begin of the valid part, run bytes, address}
  output logic                  rec_valid_o,
  input  logic                  rec_ready_i,
  output logic [RecBits-1:0]    rec_o
);
  // ---- operations and their runs ---------------------------------------------------------------
  localparam int unsigned ParamBits = 32 * hd_isa_pkg::LxWords;

  logic                   load, a_valid, a_adv, a_last, halt_q, runs_busy, joining;
  logic [4:0]             op_bad, j_bad, bad_q;
  logic [ParamBits-1:0]   params;
  logic [23:0]            j_run;
  logic [1:0]             level;
  logic [31:0]            ext;
  logic [27:0]            loc;
  hd_isa_pkg::lx_params_t p, now;
  assign p   = params;
  assign now = op_i.params;

  always_comb begin
    op_bad = hd_reg_pkg::ErrNone;
    if (now.run == 24'd0 || now.n1 == 16'd0 || now.n2 == 16'd0 || now.n3 == 16'd0 ||
        now.seg > hd_isa_pkg::SegArena || (now.mem && AmWord < AxiBytes))
      op_bad = hd_reg_pkg::ErrOperand;
    else if (now.mem && (now.run[1:0] | now.dst[1:0] | now.d1[1:0] | now.d2[1:0] | now.d3[1:0]) != '0)
      op_bad = hd_reg_pkg::ErrRange;
    if (op_i.code != hd_isa_pkg::LxLoad) op_bad = hd_reg_pkg::ErrEncoding;
  end

  hd_runs #(.LocBits(28), .KeepBits(ParamBits + 5)) u_runs (
    .clk_i, .rst_ni, .stop_i, .halt_i(halt_q),
    .op_valid_i(op_i.valid), .op_ready_o, .join_i(!now.edge_), .scale_i(4'd0), .run_i(now.run),
    .n_i({now.n3, now.n2, now.n1}), .ext_step_i({now.s3, now.s2, now.s1}),
    .loc_step_i({now.d3, now.d2, now.d1}), .keep_i({op_bad, op_i.params}),
    .load_o(load), .keep_o({j_bad, params}), .run_o(j_run), .from_ext_i(p.src), .from_loc_i(p.dst),
    .walk_ext_i({p.s3, p.s2, p.s1}), .walk_loc_i({p.d3, p.d2, p.d1}),
    .valid_o(a_valid), .adv_i(a_adv), .end_i(bad_q != hd_reg_pkg::ErrNone), .ext_o(ext),
    .loc_o(loc), .level_o(level), .last_o(a_last),
    .busy_o(runs_busy), .joining_o(joining)
  );

  // ---- stage A: the run at hand ----------------------------------------------------------------
  logic               b_ready;
  logic signed [47:0] x_q, x0_q;
  logic signed [33:0] y_q, y0_q;
  logic signed [31:0] s1_q;
  logic [15:0]        ys_q, rows_q;
  logic [31:0]        row_bytes_q;
  logic [23:0]        run_q;
  logic [7:0]         pad_q;
  logic               edge_q, seg_q, mem_q;

  assign a_adv = a_valid && b_ready;

  always_ff @(posedge clk_i) begin
    if (load) begin
      bad_q       <= j_bad;
      x_q         <= 48'(p.x0);
      x0_q        <= 48'(p.x0);
      y_q         <= 34'(p.y0);
      y0_q        <= 34'(p.y0);
      s1_q        <= p.s1;
      ys_q        <= p.ys;
      rows_q      <= p.rows;
      row_bytes_q <= p.row_bytes;
      run_q       <= j_run;
      pad_q       <= p.pad;
      edge_q      <= p.edge_;
      seg_q       <= p.seg[0];
      mem_q       <= p.mem;
    end else if (a_adv) begin
      x_q <= level == 2'd0 ? x_q + 48'(s1_q) : x0_q;
      if (level == 2'd1) y_q <= y_q + 34'(signed'({1'b0, ys_q}));
      if (level == 2'd2) y_q <= y0_q;
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

  always_comb begin
    run_end = 48'(signed'({1'b0, run_q}));
    row_end = 48'(signed'({1'b0, row_bytes_q})) - x_q;  // position in the run at which the row ends
    ahead  = -x_q;                                     // position at which the row begins
    lo      = 24'd0;
    hi      = run_q;
    if (edge_q) begin
      if (ahead >= run_end) lo = run_q;
      else if (ahead > 48'sd0) lo = ahead[23:0];
      if (row_end <= 48'sd0) hi = 24'd0;
      else if (row_end < run_end) hi = row_end[23:0];
      if (y_q < 34'sd0 || y_q >= 34'(signed'({1'b0, rows_q})) || hi <= lo) begin
        lo = run_q;
        hi = run_q;
      end
    end
  end

  assign b_ready = !b_valid_q || c_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      b_valid_q <= 1'b0;
    end else if (b_ready) begin
      b_valid_q <= a_valid;
    end
    if (a_adv) begin
      b_err_q  <= bad_q != hd_reg_pkg::ErrNone ? bad_q :
                  29'(loc) + 29'(run_q) > 29'(mem_q ? AmBytes : XmBytes) ? hd_reg_pkg::ErrRange :
                  hd_reg_pkg::ErrNone;
      b_last_q <= a_last;
      b_seg_q  <= seg_q;
      b_mem_q  <= mem_q;
      b_ext_q  <= ext + 32'(lo);
      b_loc_q  <= loc;
      b_lo_q   <= lo;
      b_hi_q   <= hi;
      b_run_q  <= run_q;
      b_pad_q  <= pad_q;
    end
  end

  // ---- stage C: bus address, window ------------------------------------------------------------
  logic               c_valid_q, c_last_q, c_data_q, c_mem_q;
  logic [4:0]         c_err_q, b_err;
  logic [63:0]        c_addr_q, b_addr;
  logic [24:0]        c_beats_q;
  logic [27:0]        c_loc_q;
  logic [23:0]        c_lo_q, c_hi_q, c_run_q, b_len;
  logic [7:0]         c_pad_q;
  logic               c_done;

  always_comb begin
    b_len  = b_hi_q - b_lo_q;
    b_addr = (b_seg_q ? seg_i.arena.ptr : seg_i.image.ptr) + 64'(b_ext_q);
    b_err  = b_err_q;
    if (b_err_q == hd_reg_pkg::ErrNone && b_len != 24'd0 &&
        33'(b_ext_q) + 33'(b_len) > {1'b0, b_seg_q ? seg_i.arena.bytes : seg_i.image.bytes})
      b_err = hd_reg_pkg::ErrWindow;
  end

  assign c_ready = !c_valid_q || c_done;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      c_valid_q <= 1'b0;
      halt_q    <= 1'b0;
    end else begin
      if (c_ready) c_valid_q <= b_valid_q && !halt_q;
      if (b_valid_q && c_ready && b_err != hd_reg_pkg::ErrNone) halt_q <= 1'b1;
    end
    if (b_valid_q && c_ready) begin
      c_last_q  <= b_last_q;
      c_mem_q   <= b_mem_q;
      c_err_q   <= b_err;
      c_data_q  <= b_len != 24'd0 && b_err == hd_reg_pkg::ErrNone;
      c_addr_q  <= b_addr;
      c_beats_q <= (25'(b_len) + 25'(b_addr[OffBits-1:0]) + 25'(AxiBytes - 1)) >> OffBits;
      c_loc_q   <= b_loc_q;
      c_lo_q    <= b_lo_q;
      c_hi_q    <= b_hi_q;
      c_run_q   <= b_run_q;
      c_pad_q   <= b_pad_q;
    end
  end

  // ---- bursts and records ----------------------------------------------------------------------
  hd_read_bursts #(.AxiBytes(AxiBytes)) u_bursts (
    .clk_i, .rst_ni, .stop_i,
    .valid_i(c_valid_q), .data_i(c_data_q), .addr_i(c_addr_q), .beats_i(c_beats_q), .done_o(c_done),
    .ar_o, .ar_ready_i, .r_end_i, .open_o,
    .rec_valid_o, .rec_ready_i
  );

  assign busy_o = runs_busy || b_valid_q || c_valid_q || open_o;
  assign rec_o  = {c_mem_q, c_last_q, c_err_q, c_pad_q, c_addr_q[OffBits-1:0], c_hi_q, c_lo_q, c_run_q,
                   c_loc_q};

`ifdef HD_CHECKS
  hd_time_check #(.Cycles(hd_isa_pkg::LxRequestCycles)) u_time (
    .clk_i, .rst_ni, .start_i(op_i.valid && op_ready_o && !busy_o), .cancel_i(stop_i || joining),
    .event_i(c_valid_q)
  );
`endif

endmodule
