// Weight load: runs lw.load, DRAM -> WM, PM or TM, in parts of AxiBytes.
//
// WM also column-wise: K runs, one for each row in DRAM, fill a column each. Where N is less than
// AxiBytes, a beat of a column-wise run holds one word's part, N bytes. Works ahead with its
// addresses, into the next operation too.
//
// Guarantees: every beat that is asked for lies inside the segment's window, every write inside its
// memory. An error ends the work until reset.
// Latency: LwRequestCycles from an operation to its first request; done 1 cycle after its last
// write.
// Throughput: a beat a cycle; it is always taken, since the memories always take a write.
// Stalls: no beat; OpenBursts are open, the records are full, AR is not taken.
`include "hd_assert.svh"

module hd_lw #(
  // Bytes of a word of WM, of PM and of TM, powers of two: a bit for each shift that there is.
  parameter int unsigned Scales = hd_cfg_pkg::N * hd_cfg_pkg::K | hd_cfg_pkg::N * 8 | hd_isa_pkg::TmWordBytes
) (
  input  logic                  clk_i, rst_ni, stop_i,
  output logic                  drained_o,
  input  hd_bus_pkg::segments_t seg_i,

  // Operations, from hd_front
  input  logic                  op_valid_i,
  input  hd_isa_pkg::lw_op_t    op_i,
  output logic                  op_ready_o,
  output hd_bus_pkg::result_t   res_o,

  // Read channel
  output hd_bus_pkg::burst_t    ar_o,
  input  logic                  ar_ready_i,
  input  hd_bus_pkg::beat_t     r_i,
  input  hd_cfg_pkg::data_t     r_data_i,

  // WM, PM and TM write
  output hd_bus_pkg::part_t     part_o,
  output hd_cfg_pkg::data_t     wdata_o,

  // Counters
  output logic                  stall_mem_o
);
  localparam int unsigned AxiBytes   = hd_cfg_pkg::AxiBytes;
  localparam int unsigned K          = hd_cfg_pkg::K;
  localparam int unsigned N          = hd_cfg_pkg::N;
  localparam int unsigned WmBytes    = hd_cfg_pkg::N * hd_cfg_pkg::K;  // of a word
  localparam int unsigned PmBytes    = hd_cfg_pkg::N * 8;
  localparam int unsigned WmWords    = hd_cfg_pkg::WmWords;
  localparam int unsigned PmWords    = hd_cfg_pkg::PmWords;
  localparam int unsigned OffBits    = $clog2(AxiBytes);
  localparam int unsigned WmPartBits = $clog2(WmBytes / AxiBytes);
  localparam int unsigned PmPartBits = $clog2(PmBytes / AxiBytes);
  localparam int unsigned TmPartBits = $clog2(hd_isa_pkg::TmWordBytes / AxiBytes);
  localparam bit          HasCol     = hd_cfg_pkg::Functions != 0;  // for attention alone
  localparam bit          Split      = N < AxiBytes;  // a beat of a column-wise run: one word
  localparam int unsigned ColBytes   = Split ? N : AxiBytes;  // of a beat
  localparam int unsigned ColBits    = $clog2(ColBytes);
  localparam int unsigned NBits      = $clog2(N);
  localparam int unsigned RecBits    = 24 + 24 + 2 + 5 + 1 + 1 + 6 + 6 + OffBits;

  logic clk;  // of hd_gate

  // log2 of the parts of a word of that memory
  function automatic logic [3:0] part_bits(input logic [1:0] mem);
    part_bits = mem == hd_isa_pkg::LwMemWm ? 4'(WmPartBits) :
                mem == hd_isa_pkg::LwMemPm ? 4'(PmPartBits) : 4'(TmPartBits);
  endfunction

  logic [15:0] rows;  // in DRAM, of a word that is loaded column-wise
  assign rows = 16'(K);

  // ---- operations and their runs ---------------------------------------------------------------
  typedef struct packed {  // what is kept of one
    logic [4:0] bad;       // error code of illegal parameters
    logic       seg;
    logic       col;
    logic [1:0] mem;
    logic [5:0] cut;
  } keep_t;

  logic                   load, a_valid, a_adv, a_last, fail, runs_busy, joining;
  logic [4:0]             op_bad, err;
  keep_t                  joined, at_q;
  logic [23:0]            j_count;
  logic [31:0]            ext;
  logic [23:0]            loc;
  logic [1:0]             unused_level;
  logic [3:0]             unused_loc;
  hd_isa_pkg::lw_params_t now;
  hd_bus_pkg::runs_t      runs;
  assign now = op_i.params;

  // Column-wise the loops are those of a column, of the words (with a beat for each) and of the runs.
  always_comb begin
    runs.n        = {32'h00010001, now.n1};
    runs.ext_step = {64'd0, now.s1};
    runs.loc_step = {60'd0, now.d1};
    runs.ext      = now.src;
    runs.loc      = {4'd0, now.dst};
    runs.run      = now.count;
    if (now.col && HasCol) begin
      runs.n        = {now.n1, Split ? now.count[15:0] : 16'd1, rows};
      runs.ext_step = {now.s1, 32'(N), now.s2};
      runs.loc_step = {4'd0, now.d1, 28'd1, 28'd0};
      if (Split) runs.run = 24'd1;
    end
  end

  always_comb begin
    op_bad = hd_reg_pkg::ErrNone;
    if (now.count == 24'd0 || now.n1 == 16'd0 || now.seg > hd_isa_pkg::SegArena ||
        now.mem > hd_isa_pkg::LwMemTm ||
        (now.col && (now.mem != hd_isa_pkg::LwMemWm || now.count > 24'hffff || !HasCol)) ||
        (now.cut != 6'd0 && (now.mem != hd_isa_pkg::LwMemPm || (now.cut >> PmPartBits) != 6'd0)))
      op_bad = hd_reg_pkg::ErrOperand;
    else if (now.col && HasCol ? (now.src[ColBits-1:0] | now.s1[ColBits-1:0] | now.s2[ColBits-1:0]) != '0 :
                       (now.src[OffBits-1:0] | now.s1[OffBits-1:0]) != '0)
      op_bad = hd_reg_pkg::ErrRange;
    if (op_i.code != hd_isa_pkg::LwLoad) op_bad = hd_reg_pkg::ErrEncoding;
  end

  hd_runs #(.KeepBits($bits(joined)), .Scales(Scales)) u_runs (
    .clk_i(clk), .rst_ni, .stop_i,
    .op_valid_i, .op_ready_o, .join_i(!now.col && now.cut == 6'd0),
    .scale_i(4'(OffBits) + part_bits(now.mem)), .runs_i(runs),
    .keep_i({op_bad, now.seg[0], now.col && HasCol, now.mem, now.cut}),
    .load_o(load), .keep_o(joined), .run_o(j_count),
    .adv_i(a_adv), .valid_o(a_valid), .fail_i(fail), .ext_o(ext), .loc_o({unused_loc, loc}),
    .level_o(unused_level), .last_o(a_last),
    .busy_o(runs_busy), .joining_o(joining)
  );

  logic [5:0]  k_q;
  logic [23:0] count_q;

  // ---- checks, bus address ---------------------------------------------------------------------
  logic        c_valid_q, c_ready, c_done, c_last_q, c_data_q;
  logic [1:0]  c_mem_q;
  logic        c_col_q;
  logic [5:0]  c_k_q, c_cut_q;
  logic [4:0]  c_err_q;
  logic [63:0] c_addr_q;
  logic [24:0] c_beats_q, beats;
  hd_bus_pkg::cut_t c_first_q;
  logic [63:0] addr;
  logic [23:0] c_loc_q, c_count_q;
  logic [24:0] words;
  logic [35:0] bytes, j_bytes;  // of each run: shift and cut stand before the register, not before the checks

  assign j_bytes = joined.col ? 36'(j_count) << NBits :
                   (36'(j_count) << (OffBits + 32'(part_bits(joined.mem)))) - (36'(joined.cut) << OffBits);

  always_comb begin
    words = at_q.mem == hd_isa_pkg::LwMemWm ? 25'(WmWords) :
            at_q.mem == hd_isa_pkg::LwMemPm ? 25'(PmWords) :
            25'(hd_isa_pkg::TmTables);
    err   = at_q.bad;
    if (at_q.bad == hd_reg_pkg::ErrNone) begin
      if (25'(loc) + 25'(count_q) > words) err = hd_reg_pkg::ErrRange;
      else if (36'(ext) + bytes > {4'd0, at_q.seg ? seg_i.arena.bytes : seg_i.image.bytes})
        err = hd_reg_pkg::ErrWindow;
    end
  end

  assign addr    = (at_q.seg ? seg_i.arena.ptr : seg_i.image.ptr) + 64'(ext);
  assign beats   = at_q.col && Split ? 25'd1 : 25'(bytes >> OffBits);
  assign c_ready = !c_valid_q || c_done;
  assign a_adv   = a_valid && c_ready;
  assign fail    = a_adv && err != hd_reg_pkg::ErrNone;

  always_ff @(posedge clk) begin
    if (!rst_ni) c_valid_q <= 1'b0;
    else if (c_ready) c_valid_q <= a_valid;
    if (load) begin
      at_q    <= joined;
      count_q <= j_count;
      k_q     <= '0;
      bytes   <= j_bytes;
    end else if (a_adv) begin
      k_q     <= k_q == 6'(K - 1) ? '0 : k_q + 6'd1;
    end
    if (a_adv) begin
      c_last_q  <= a_last;
      c_err_q   <= err;
      c_data_q  <= err == hd_reg_pkg::ErrNone;
      c_mem_q   <= at_q.mem;
      c_addr_q  <= addr;
      c_col_q   <= at_q.col;
      c_k_q     <= k_q;
      c_cut_q   <= at_q.cut;
      c_beats_q <= beats;
      c_first_q <= hd_bus_pkg::cut(10'(addr[11:OffBits]), beats);
      c_loc_q   <= loc;
      c_count_q <= count_q;
    end
  end

  // ---- bursts and records ----------------------------------------------------------------------
  logic rec_valid, rec_ready, open;

  assign drained_o = !open;

  hd_read_bursts u_bursts (
    .clk_i(clk), .rst_ni, .stop_i,
    .valid_i(c_valid_q), .data_i(c_data_q), .addr_i(c_addr_q), .beats_i(c_beats_q),
    .first_i(c_first_q), .done_o(c_done),
    .ar_ready_i, .ar_o, .r_end_i(r_i.valid && r_i.last), .open_o(open),
    .rec_valid_o(rec_valid), .rec_ready_i(rec_ready)
  );

  logic               d_valid, d_ready, d_last;
  logic [1:0]         d_mem;
  logic               d_col;
  logic [5:0]         d_k, d_cut;
  logic [OffBits-1:0] d_off;
  logic [4:0]         d_err;
  logic [23:0]        d_loc, d_count;
  logic [5:0]         unused_count;

  hd_fifo #(.Width(RecBits), .Depth(hd_isa_pkg::LoadRecords)) u_records (
    .clk_i(clk), .rst_ni, .clear_i(1'b0),
    .valid_i(rec_valid), .ready_o(rec_ready),
    .data_i({c_addr_q[OffBits-1:0], c_cut_q, c_k_q, c_col_q, c_last_q, c_err_q, c_mem_q, c_loc_q, c_count_q}),
    .valid_o(d_valid), .ready_i(d_ready),
    .data_o({d_off, d_cut, d_k, d_col, d_last, d_err, d_mem, d_loc, d_count}),
    .count_o(unused_count)
  );

  // ---- data ------------------------------------------------------------------------------------
  logic [23:0] word_q;   // of the run
  logic [8:0]  part_q, part_end;
  logic        write, word_last, run_end, done_q, report_q, failed_q;
  logic [4:0]  code_q;

  assign word_last = word_q == d_count - 24'd1;  // beside the part's comparison, not before it
  assign part_end = d_col ? 9'(N / ColBytes - 1) :
                    d_mem == hd_isa_pkg::LwMemWm ? 9'(WmBytes / AxiBytes - 1) :
                    d_mem == hd_isa_pkg::LwMemPm ? 9'(PmBytes / AxiBytes - 1) :
                    9'(hd_isa_pkg::TmWordBytes / AxiBytes - 1);
  assign write    = r_i.valid && !r_i.err && d_valid && !stop_i && !failed_q;
  assign run_end  = write && part_q == part_end - 9'(d_cut) && word_last;
  assign d_ready  = run_end;

  assign part_o.wm   = write && d_mem == hd_isa_pkg::LwMemWm;
  assign part_o.pm   = write && d_mem == hd_isa_pkg::LwMemPm;
  assign part_o.tm   = write && d_mem == hd_isa_pkg::LwMemTm;
  assign part_o.col  = write && d_col;  // LUTs drive these: tools double LUTs, but not a memory
  assign part_o.k    = write ? d_k : '0;
  assign part_o.addr = d_loc + word_q;
  assign part_o.part = part_q;
  always_comb begin
    wdata_o = r_data_i;
    if (Split && HasCol && d_col)
      for (int unsigned p = 0; p < AxiBytes / ColBytes; p++)
        if (32'(d_off) / ColBytes == p) wdata_o[8*ColBytes-1:0] = r_data_i[8 * ColBytes * p +: 8 * ColBytes];
  end

  assign res_o       = {done_q, report_q, code_q};
  assign stall_mem_o   = d_valid && !r_i.valid && !stop_i;

  always_ff @(posedge clk) begin
    if (!rst_ni) begin
      word_q   <= 24'd0;
      part_q   <= 9'd0;
      done_q   <= 1'b0;
      report_q <= 1'b0;
      failed_q <= 1'b0;
    end else begin
      done_q   <= run_end && d_last;
      report_q <= 1'b0;
      if (write) begin
        part_q <= run_end || part_q == part_end ? 9'd0 : part_q + 9'd1;
        if (run_end || part_q == part_end) word_q <= run_end ? 24'd0 : word_q + 24'd1;
      end
      if (!failed_q && !stop_i && d_valid &&
          (d_err != hd_reg_pkg::ErrNone || (r_i.valid && r_i.err))) begin
        failed_q <= 1'b1;
        report_q <= 1'b1;
        code_q   <= d_err != hd_reg_pkg::ErrNone ? d_err : hd_reg_pkg::ErrAxi;
      end
    end
  end

  // ---- clock ------------------------------------------------------------------------------------
  // Stands still with no operation, record or burst.
  hd_gate u_gate (
    .clk_i,
    .en_i(!rst_ni || op_valid_i || runs_busy || c_valid_q || !drained_o || d_valid || r_i.valid ||
           done_q || report_q),
    .clk_o(clk)
  );

`ifdef HD_CHECKS
  hd_time_check #(.Cycles(hd_isa_pkg::LwRequestCycles)) u_time (
    .clk_i, .rst_ni, .start_i(op_valid_i && op_ready_o && !runs_busy && !c_valid_q),
    .cancel_i(stop_i || joining), .event_i(c_valid_q)
  );
`endif

  `ASSERT_INIT(WholeParts, WmBytes >= AxiBytes && PmBytes >= AxiBytes)
  `ASSERT(RecordForBeat, !r_i.valid || d_valid || stop_i || failed_q)
endmodule
