// Address side of ST: walks the runs of st.store, checks each, sends its write addresses and passes
// records to the reading side (XM), the packing side (W) and the response side (B). Of a saturating
// store it counts bytes of AM as the bytes that they become.
//
// Latency: StAddressCycles from an operation to AW, one more for each joined loop. Throughput: a run a
// cycle when it is one burst. Stalls: AW not taken, a list of records is full. An illegal run becomes a
// response record with an error code, after which nothing follows until reset.
`include "hd_assert.svh"

module hd_st_gen #(
  parameter int unsigned AxiBytes = hd_cfg_pkg::AxiBytes,
  parameter int unsigned XmBytes  = hd_cfg_pkg::XmBytes,
  parameter int unsigned AmBytes  = hd_cfg_pkg::AmBytes,
  parameter int unsigned AmWord   = 4 * hd_cfg_pkg::N,  // bytes
  parameter int unsigned OffBits  = $clog2(AxiBytes)
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  stop_i,
  input  hd_bus_pkg::segments_t seg_i,

  // Operations
  input  hd_isa_pkg::st_op_t    op_i,
  output logic                  op_ready_o,

  // Write address
  output hd_bus_pkg::burst_t    aw_o,
  input  logic                  aw_ready_i,

  // Records of runs: {sat, from AM, offset of the first byte in its beat, run bytes, address}
  output logic                  run_valid_o,
  input  logic                  run_ready_i,
  output logic [OffBits+54:0]   run_o,
  // Records of bursts: {last of operation, error, beats - 1}
  output logic                  burst_valid_o,
  input  logic                  burst_ready_i,
  output logic [13:0]           burst_o,
  output logic                  busy_o  // an operation or an address is in work
);
  // ---- operations and their runs ---------------------------------------------------------------
  localparam int unsigned ParamBits = 32 * hd_isa_pkg::StWords;

  logic                   load, a_valid, a_adv, a_last, halt_q, runs_busy, joining;
  logic [4:0]             op_bad, j_bad, bad_q, err;
  logic [ParamBits-1:0]   params;
  logic [23:0]            j_run;
  logic [31:0]            ext;
  logic [27:0]            loc;
  logic [1:0]             shrink, unused_level;  // shrink: log2 of bytes of AM that become one
  hd_isa_pkg::st_params_t p, now, shrunk;
  assign p      = params;
  assign now    = op_i.params;
  assign shrink = now.sat == hd_isa_pkg::StSatNone ? 2'd0 :
                  now.sat == hd_isa_pkg::StSatInt16 ? 2'd1 : 2'd2;

  always_comb begin
    shrunk     = now;
    shrunk.src = now.src >> shrink;
    shrunk.s1  = now.s1 >>> shrink;
    shrunk.s2  = now.s2 >>> shrink;
    shrunk.s3  = now.s3 >>> shrink;
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

  hd_runs #(.LocBits(28), .KeepBits(ParamBits + 5)) u_runs (
    .clk_i, .rst_ni, .stop_i, .halt_i(halt_q),
    .op_valid_i(op_i.valid), .op_ready_o, .join_i(1'b1), .scale_i(4'd0), .run_i(now.run),
    .n_i({now.n3, now.n2, now.n1}), .ext_step_i({now.d3, now.d2, now.d1}),
    .loc_step_i({shrunk.s3, shrunk.s2, shrunk.s1}), .keep_i({op_bad, shrunk}),
    .load_o(load), .keep_o({j_bad, params}), .run_o(j_run), .from_ext_i(p.dst), .from_loc_i(p.src),
    .walk_ext_i({p.d3, p.d2, p.d1}), .walk_loc_i({p.s3, p.s2, p.s1}),
    .valid_o(a_valid), .adv_i(a_adv), .end_i(err != hd_reg_pkg::ErrNone), .ext_o(ext), .loc_o(loc),
    .level_o(unused_level), .last_o(a_last),
    .busy_o(runs_busy), .joining_o(joining)
  );

  logic        mem_q, c_mem_q;
  logic [1:0]  sat_q, c_sat_q;
  logic [23:0] run_q;

  // ---- checks, bus address ---------------------------------------------------------------------
  logic        c_valid_q, c_ready, c_done, c_last_q;
  logic [4:0]  c_err_q;
  logic [63:0] c_addr_q, addr;
  logic [24:0] c_beats_q;
  logic [27:0] c_loc_q;
  logic [23:0] c_run_q;

  always_comb begin
    addr = seg_i.arena.ptr + 64'(ext);
    err  = bad_q;
    if (bad_q == hd_reg_pkg::ErrNone) begin
      if (29'(loc) + 29'(run_q) > 29'(sat_q == hd_isa_pkg::StSatInt16 ? AmBytes / 2 :
                                      sat_q != hd_isa_pkg::StSatNone  ? AmBytes / 4 :
                                      mem_q ? AmBytes : XmBytes)) err = hd_reg_pkg::ErrRange;
      else if (33'(ext) + 33'(run_q) > 33'(seg_i.arena.bytes)) err = hd_reg_pkg::ErrWindow;
    end
  end

  assign c_ready = !c_valid_q || c_done;
  assign a_adv   = a_valid && c_ready;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      c_valid_q <= 1'b0;
      halt_q    <= 1'b0;
    end else begin
      if (c_ready) c_valid_q <= a_valid && !halt_q;
      if (a_adv && err != hd_reg_pkg::ErrNone) halt_q <= 1'b1;
    end
    if (load) begin
      bad_q <= j_bad;
      run_q <= j_run;
      mem_q <= p.mem;
      sat_q <= p.sat;
    end
    if (a_adv) begin
      c_last_q  <= a_last;
      c_mem_q   <= mem_q;
      c_sat_q   <= sat_q;
      c_err_q   <= err;
      c_addr_q  <= addr;
      c_beats_q <= (25'(run_q) + 25'(addr[OffBits-1:0]) + 25'(AxiBytes - 1)) >> OffBits;
      c_loc_q   <= loc;
      c_run_q   <= run_q;
    end
  end

  // ---- bursts and records ----------------------------------------------------------------------
  logic        burst_valid, burst_done, first, burst_last, data, go;
  logic [63:0] burst_addr;
  logic [7:0]  burst_len;
  logic        aw_q;
  logic [63:0] aw_addr_q;
  logic [7:0]  aw_len_q;

  assign data = c_err_q == hd_reg_pkg::ErrNone;

  hd_burst #(.AxiBytes(AxiBytes)) u_burst (
    .clk_i, .rst_ni,
    .valid_i(c_valid_q && data), .ready_o(burst_done), .addr_i(c_addr_q), .beats_i(c_beats_q),
    .valid_o(burst_valid), .ready_i(go), .addr_o(burst_addr), .len_o(burst_len), .first_o(first),
    .last_o(burst_last)
  );

  assign go            = burst_valid && !stop_i && (!aw_q || aw_ready_i) && burst_ready_i &&
                         (!first || run_ready_i);
  assign run_valid_o   = go && first;
  assign run_o         = {c_sat_q, c_mem_q, c_addr_q[OffBits-1:0], c_run_q, c_loc_q};
  assign burst_valid_o = go || (c_valid_q && !data && !stop_i);
  assign burst_o       = {c_last_q && burst_last, c_err_q, burst_len};
  assign c_done        = data ? burst_done : burst_valid_o && burst_ready_i;

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
    .clk_i, .rst_ni, .start_i(op_i.valid && op_ready_o && !busy_o),
    .cancel_i(stop_i || joining || (c_valid_q && !go)), .event_i(aw_q)
  );
`endif

  `ASSERT(AwHolds, !$past(aw_o.valid && !aw_ready_i) || (aw_q && $stable(aw_o)))
endmodule
