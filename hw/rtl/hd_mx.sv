// Matrix unit: runs mx.gemm, XM x WM -> AM, under a nest of 6 loops.
//
// Guarantees: operands are checked before use. An operation that fails stops there: res_o.err comes
// in the place of its done, after the writes that came before, and nothing is accepted until then.
// Latency: MxWriteCycles from the issue of the last iteration of a reduction to its write of AM,
// MxDoneCycles to done, when the write is visible.
// Throughput: an XM word and a WM word a cycle; the next operation may be accepted in the cycle in
// which the last iteration of the current one issues, so operations in a row lose no cycle.
// Stalls: XM is not granted; an accumulating iteration needs an AM word that one of the last
// MxHazard iterations writes.
`include "hd_assert.svh"

module hd_mx (
  input  logic                clk_i, rst_ni,

  // Operations, from hd_front
  input  logic                op_valid_i,
  input  hd_isa_pkg::mx_op_t  op_i,
  output logic                op_ready_o,
  output hd_bus_pkg::result_t res_o,

  // Weight write port, from LW
  input  hd_bus_pkg::part_t   part_i,
  input  hd_cfg_pkg::data_t   part_wdata_i,

  // XM read
  output hd_bus_pkg::word_t   xm_o,
  input  logic                xm_gnt_i,
  input  hd_cfg_pkg::x_t      xm_rdata_i,

  // AM read and write, always granted; the write is told a cycle before it
  output hd_bus_pkg::word_t   am_o,
  input  hd_cfg_pkg::sums_t   am_rdata_i,
  output hd_bus_pkg::word_t   amw_next_o,
  output hd_cfg_pkg::sums_t   amw_wdata_o,

  // Counters
  output logic                busy_o, stall_bank_o
);
  localparam int unsigned K       = hd_cfg_pkg::K;
  localparam int unsigned N       = hd_cfg_pkg::N;
  localparam int unsigned XmBytes = hd_cfg_pkg::XmBytes;
  localparam int unsigned WmWords = hd_cfg_pkg::WmWords;
  localparam int unsigned AmWords = hd_cfg_pkg::AmWords;
  localparam int unsigned Loops   = 6;
  localparam int unsigned Depth   = hd_isa_pkg::MxDoneCycles;  // from issue to done,
  localparam int unsigned Read    = hd_isa_pkg::MxReadCycles;  // to the read of AM,
  localparam int unsigned Write   = hd_isa_pkg::MxWriteCycles; // to its write
  localparam int unsigned AmBits  = $clog2(AmWords);

  hd_isa_pkg::mx_params_t p;
  assign p = op_i.params;

  // ---- the operation in issue -------------------------------------------------------------------
  logic             run_q, accumulate_q, unsigned_q, failed_q;
  logic [Loops-1:0] outer_q;  // loop is not part of the reduction
  logic [4:0]       bad_q;    // error code of illegal operands
  logic [4:0]       bad;
  logic             bad_any_q;
  logic [Loops-1:0] inner;
  logic             accept, load;  // load: the operation in issue ends; data of the next are taken then, see hd_vx

  always_comb begin
    for (int unsigned l = 0; l < Loops; l++) inner[l] = l < 32'(p.nred);
    bad = hd_reg_pkg::ErrNone;
    if (p.nred > 3'(Loops) || p.n0 == 16'd0 || p.n1 == 16'd0 || p.n2 == 16'd0 || p.n3 == 16'd0 ||
        p.n4 == 16'd0 || p.n5 == 16'd0)
      bad = hd_reg_pkg::ErrOperand;
    if (op_i.code != hd_isa_pkg::MxGemm) bad = hd_reg_pkg::ErrEncoding;
  end

  logic [23:0]      x_addr, w_addr, a_addr;
  logic [Loops-1:0] first, last;
  logic             issue;

  hd_nest #(.Loops(Loops), .Streams(3)) u_nest (
    .clk_i,
    .take_i(!run_q || &last), .load_i(load), .n_i({p.n5, p.n4, p.n3, p.n2, p.n1, p.n0}),
    .step_i({{16{!inner[5]}} & p.as5, {16{!inner[4]}} & p.as4, {16{!inner[3]}} & p.as3,
              {16{!inner[2]}} & p.as2, {16{!inner[1]}} & p.as1, {16{!inner[0]}} & p.as0,
              p.ws5, p.ws4, p.ws3, p.ws2, p.ws1, p.ws0,
              p.xs5, p.xs4, p.xs3, p.xs2, p.xs1, p.xs0}),
    .base_i({p.a, p.w, p.x}),
    .adv_i(issue), .stay_i('0), .addr_o({a_addr, w_addr, x_addr}), .first_o(first), .last_o(last)
  );

  // ---- pipeline control: element i belongs to the iteration issued i + 1 cycles ago -------------
  logic [Depth-1:0]  wr_q, end_q, err_q;  // writes AM; last of its operation; failed
  logic [Write-2:0]  acc_q;
  logic [AmBits-1:0] a_q [Depth-1];              // what is issued is in range
  logic [4:0]        err_code_q;
  logic              sum_first, sum_last, fail, hazard, out, a_out;  // out: outside of its memory

  assign sum_first = &(first | outer_q);
  assign sum_last  = &(last | outer_q);

  always_comb begin
    // Sizes are powers of two: what is above them are the upper bits.
    out    = (x_addr >> $clog2(XmBytes / K)) != '0 || (w_addr >> $clog2(WmWords)) != '0;
    a_out  = (a_addr >> AmBits) != '0;
    fail   = run_q && (bad_any_q || out || (sum_last && a_out));
    hazard = 1'b0;  // of an iteration that writes
    for (int unsigned i = 0; i < hd_isa_pkg::MxHazard; i++)
      if (accumulate_q && wr_q[i] && a_q[i] == a_addr[AmBits-1:0]) hazard = 1'b1;
  end

  assign xm_o  = {run_q && !bad_any_q && !out && !(sum_last && (a_out || hazard)), x_addr};
  assign issue = xm_o.req && xm_gnt_i;

  assign load       = !run_q || (issue && &last);
  assign op_ready_o = !failed_q && load;
  assign accept     = op_valid_i && op_ready_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      run_q    <= 1'b0;
      failed_q <= 1'b0;
      wr_q     <= '0;
      acc_q    <= '0;  // registers, not a shifter in LUTs: hd_am waits for its end
      end_q    <= '0;
      err_q    <= '0;
    end else begin
      if (accept) run_q <= 1'b1;
      else if (fail || (issue && &last)) run_q <= 1'b0;
      if (fail) failed_q <= 1'b1;
      else if (err_q[Depth-1]) failed_q <= 1'b0;
      wr_q  <= {wr_q[Depth-2:0], issue && sum_last};
      end_q <= {end_q[Depth-2:0], issue && &last};
      err_q <= {err_q[Depth-2:0], fail};
      acc_q <= {acc_q[Write-3:0], accumulate_q};
    end
    if (load) begin
      accumulate_q <= p.accumulate;
      unsigned_q   <= p.x_unsigned;
      outer_q      <= ~inner;
      bad_q        <= bad;
      bad_any_q    <= bad != hd_reg_pkg::ErrNone;
    end
    if (fail) err_code_q <= bad_any_q ? bad_q : hd_reg_pkg::ErrRange;
    if (issue || wr_q != '0) begin
      a_q[0] <= a_addr[AmBits-1:0];
      for (int unsigned i = 1; i < Depth - 1; i++) a_q[i] <= a_q[i - 1];
    end
  end

  // ---- data -------------------------------------------------------------------------------------
  logic [32*N-1:0] acc, y_q;

  hd_mac_array u_array (
    .clk_i, .rst_ni,
    .part_i, .wdata_i(part_wdata_i),
    .en_i(issue), .addr_i(w_addr), .first_i(sum_first), .x_unsigned_i(unsigned_q), .x_i(xm_rdata_i),
    .acc_o(acc)
  );

  assign am_o        = {wr_q[Read-1] && acc_q[Read-1], 24'(a_q[Read-1])};
  assign amw_next_o  = {wr_q[Write-2], 24'(a_q[Write-2])};
  assign amw_wdata_o = y_q;

  always_ff @(posedge clk_i) begin
    if (wr_q[Write-2])
      for (int unsigned n = 0; n < N; n++)
        y_q[32 * n +: 32] <= acc[32 * n +: 32] + (acc_q[Write-2] ? am_rdata_i[32 * n +: 32] : 32'd0);
  end

  assign res_o        = {end_q[Depth-1], err_q[Depth-1], err_code_q};
  assign busy_o       = run_q || (end_q | err_q) != '0;
  assign stall_bank_o = xm_o.req && !xm_gnt_i;

  `ASSERT(OneEnd, !(res_o.done && res_o.err))
  `ASSERT(WriteInRange, !amw_next_o.req || amw_next_o.addr < 24'(AmWords))
endmodule
