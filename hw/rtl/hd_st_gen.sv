// Address side of ST: walks the runs of st.store, checks each, sends its write addresses and passes
// records to the data side (hd_st_data) and the responses. Of a saturating store it counts bytes of
// AM as the bytes that they become.
//
// Guarantees: what is asked for lies inside the arena; AW holds until it is taken. An illegal run
// becomes a response record with an error code, after which nothing follows until reset.
// Latency: StAddressCycles from an operation to AW, one more for each joined loop.
// Throughput: a run a cycle when it is one burst.
// Stalls: AW is not taken, a list of records is full.
`include "hd_assert.svh"

module hd_st_gen (
  input  logic                     clk_i, rst_ni, stop_i,
  input  hd_bus_pkg::segments_t    seg_i,

  // Operations
  input  logic                     op_valid_i,
  input  hd_isa_pkg::st_op_t       op_i,
  output logic                     op_ready_o,

  // Write address
  output hd_bus_pkg::burst_t       aw_o,
  input  logic                     aw_ready_i,

  // Its runs and bursts
  output logic                     run_valid_o,
  input  logic                     run_ready_i,
  output hd_bus_pkg::store_run_t   run_o,
  output logic [5:0]               run_off_o,  // of its first byte in its beat
  output logic                     burst_valid_o,
  input  logic                     burst_ready_i,
  output hd_bus_pkg::store_burst_t burst_o,
  output logic                     busy_o  // an operation or an address is in work
);
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned XmBytes  = hd_cfg_pkg::XmBytes;
  localparam int unsigned AmBytes  = hd_cfg_pkg::AmBytes;
  localparam int unsigned AmWord   = 4 * hd_cfg_pkg::N;  // bytes
  localparam int unsigned OffBits  = $clog2(AxiBytes);
  // ---- operations and their runs ---------------------------------------------------------------
  typedef struct packed {  // what is kept of one
    logic [4:0] bad;       // error code of illegal parameters
    logic       mem;
    logic [1:0] sat;
  } keep_t;

  logic                   load, a_valid, a_adv, a_last, runs_busy, joining;
  logic [4:0]             op_bad, err;
  keep_t                  joined, at_q;
  logic [23:0]            j_run;
  logic [31:0]            ext;
  logic [27:0]            loc;
  logic [1:0]             shrink, unused_level;  // shrink: log2 of bytes of AM that become one
  hd_isa_pkg::st_params_t now;
  hd_bus_pkg::runs_t      runs;
  assign now    = op_i.params;
  assign shrink = now.sat == hd_isa_pkg::StSatNone ? 2'd0 :
                  now.sat == hd_isa_pkg::StSatInt16 ? 2'd1 : 2'd2;

  always_comb begin
    runs.n                = {now.n3, now.n2, now.n1};
    runs.ext_step         = {now.d3, now.d2, now.d1};
    runs.loc_step[0+:28]  = now.s1 >>> shrink;
    runs.loc_step[28+:28] = now.s2 >>> shrink;
    runs.loc_step[56+:28] = now.s3 >>> shrink;
    runs.ext              = now.dst;
    runs.loc              = now.src >> shrink;
    runs.run              = now.run;
  end

  always_comb begin
    op_bad = hd_reg_pkg::ErrNone;
    if (now.run == 24'd0 || now.n1 == 16'd0 || now.n2 == 16'd0 || now.n3 == 16'd0 ||
        now.seg > hd_isa_pkg::SegArena || (now.mem && AmWord < AxiBytes) ||
          (now.sat != hd_isa_pkg::StSatNone && !now.mem))
      op_bad = hd_reg_pkg::ErrOperand;
    else if (now.seg == hd_isa_pkg::SegImage) op_bad = hd_reg_pkg::ErrWindow;
    else if (now.sat != hd_isa_pkg::StSatNone &&
             ((now.src[1:0] | now.s1[1:0] | now.s2[1:0] | now.s3[1:0]) != '0 ||
                                 (now.sat == hd_isa_pkg::StSatInt16 && now.run[0])))
      op_bad = hd_reg_pkg::ErrRange;
    if (op_i.code != hd_isa_pkg::StStore) op_bad = hd_reg_pkg::ErrEncoding;
  end

  hd_runs #(.KeepBits($bits(joined))) u_runs (
    .clk_i, .rst_ni, .stop_i,
    .op_valid_i, .op_ready_o, .join_i(1'b1), .scale_i(4'd0), .runs_i(runs),
    .keep_i({op_bad, now.mem, now.sat}),
    .load_o(load), .keep_o(joined), .run_o(j_run),
    .adv_i(a_adv), .valid_o(a_valid), .fail_i(fail), .ext_o(ext), .loc_o(loc),
    .level_o(unused_level), .last_o(a_last),
    .busy_o(runs_busy), .joining_o(joining)
  );

  logic        fail, c_mem_q;
  logic [1:0]  c_sat_q;
  logic [23:0] run_q;

  // ---- checks, bus address ---------------------------------------------------------------------
  logic        c_valid_q, c_ready, c_done, c_last_q;
  logic [4:0]  c_err_q;
  logic [63:0] c_addr_q, addr;
  logic [24:0] c_beats_q, beats;
  hd_bus_pkg::cut_t c_first_q;
  logic [27:0] c_loc_q;
  logic [23:0] c_run_q;

  always_comb begin
    addr  = seg_i.arena.ptr + 64'(ext);
    beats = (25'(run_q) + 25'(addr[OffBits-1:0]) + 25'(AxiBytes - 1)) >> OffBits;
    err  = at_q.bad;
    if (at_q.bad == hd_reg_pkg::ErrNone) begin
      if (29'(loc) + 29'(run_q) > 29'(at_q.sat == hd_isa_pkg::StSatInt16 ? AmBytes / 2 :
                                      at_q.sat != hd_isa_pkg::StSatNone  ? AmBytes / 4 :
                                      at_q.mem ? AmBytes : XmBytes)) err = hd_reg_pkg::ErrRange;
      else if (33'(ext) + 33'(run_q) > 33'(seg_i.arena.bytes)) err = hd_reg_pkg::ErrWindow;
    end
  end

  assign c_ready = !c_valid_q || c_done;
  assign a_adv   = a_valid && c_ready;
  assign fail    = a_adv && err != hd_reg_pkg::ErrNone;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) c_valid_q <= 1'b0;
    else if (c_ready) c_valid_q <= a_valid;
    if (load) begin
      at_q  <= joined;
      run_q <= j_run;
    end
    if (a_adv) begin
      c_last_q  <= a_last;
      c_mem_q   <= at_q.mem;
      c_sat_q   <= at_q.sat;
      c_err_q   <= err;
      data_q    <= err == hd_reg_pkg::ErrNone;
      c_addr_q  <= addr;
      c_beats_q <= beats;
      c_first_q <= hd_bus_pkg::cut(10'(addr[11:OffBits]), beats);
      c_loc_q   <= loc;
      c_run_q   <= run_q;
    end
  end

  // ---- bursts and records ----------------------------------------------------------------------
  logic        burst_valid, first, burst_last, data_q, go;
  logic [63:0] burst_addr;
  logic [7:0]  burst_len;
  logic        aw_q;
  logic [63:0] aw_addr_q;
  logic [7:0]  aw_len_q;

  hd_burst u_burst (
    .clk_i, .rst_ni,
    .valid_i(c_valid_q && data_q), .addr_i(c_addr_q), .beats_i(c_beats_q),
    .first_i(c_first_q), .valid_o(burst_valid), .ready_i(go), .addr_o(burst_addr), .len_o(burst_len), .first_o(first),
    .last_o(burst_last)
  );

  assign go            = burst_valid && !stop_i && (!aw_q || aw_ready_i) && burst_ready_i &&
                         (!first || run_ready_i);
  assign run_valid_o   = go && first;
  assign run_o         = {c_sat_q, c_mem_q, c_run_q, c_loc_q};
  assign run_off_o     = 6'(c_addr_q[OffBits-1:0]);
  assign burst_valid_o = go || (c_valid_q && !data_q && !stop_i);
  assign burst_o       = {c_last_q && burst_last, c_err_q, burst_len};
  assign c_done        = data_q ? go && burst_last : burst_valid_o && burst_ready_i;

  assign busy_o = runs_busy || c_valid_q || aw_q;
  assign aw_o   = {aw_q, aw_addr_q, aw_len_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) aw_q <= 1'b0;
    else if (!aw_q || aw_ready_i) aw_q <= go;
    if (go) begin
      aw_addr_q <= burst_addr;
      aw_len_q  <= burst_len;
    end
  end

`ifdef HD_CHECKS
  hd_time_check #(.Cycles(hd_isa_pkg::StAddressCycles)) u_time (
    .clk_i, .rst_ni, .start_i(op_valid_i && op_ready_o && !busy_o),
    .cancel_i(stop_i || joining || (c_valid_q && !go)), .event_i(aw_q)
  );
`endif

  `ASSERT(AwHolds, !$past(aw_o.valid && !aw_ready_i) || (aw_q && $stable(aw_o)))
endmodule
