// Data side of LX: moves the bytes of each run from beats to chunks of XM or AM, shifted from the
// place they have in DRAM to the place they have there, and makes the pad bytes.
//
// Guarantees: exactly the bytes of the run are written, each chunk once. An error ends the work.
// Latency: beat to chunk 1 cycle; done 1 cycle after the grant of the operation's last write.
// Throughput: a chunk a cycle; a run whose first byte lies further right in its beat than in its
// chunk costs one cycle more, to have the first two beats at hand.
// Stalls: no beat, no grant of XM or AM.
`include "hd_assert.svh"

module hd_lx_data (
  input  logic                   clk_i, rst_ni,
  input  logic                   stop_i,  // drop what comes

  input  logic                   rec_valid_i,
  output logic                   rec_ready_o,
  input  hd_bus_pkg::load_run_t  rec_i,

  input  hd_bus_pkg::beat_t      r_i,  // its end is hd_lx_gen's
  output logic                   r_ready_o,
  input  hd_cfg_pkg::data_t      r_data_i,

  output hd_bus_pkg::chunk_t     chunk_o,
  input  hd_bus_pkg::chunk_gnt_t chunk_gnt_i,
  output hd_cfg_pkg::data_t      wdata_o,
  output hd_cfg_pkg::strobe_t    be_o,

  output hd_bus_pkg::result_t    res_o,
  output logic                   busy_o,  // a run or the end of one is in work
  output logic                   wait_mem_o
);
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned OffBits  = $clog2(AxiBytes);
  localparam int unsigned CntBits  = 27;

  // ---- the run at hand -------------------------------------------------------------------------
  logic                      run_q, last_q, mem_q, prime_q, failed_q;
  logic [4:0]                err_q;
  logic [7:0]                pad_q;
  logic [27:0]               addr_q;              // of the chunk
  logic [OffBits-1:0]        skip_q;              // bytes of the first chunk before the run
  logic signed [CntBits-1:0] end_q, lo_q, hi_q;   // run end and valid part, from the chunk's first byte
  logic [24:0]               beats_q;             // not taken yet, if there is a valid part
  logic [OffBits-1:0]        up_q;                // bytes that a beat moves up, its last ones into the next chunk

  // Places of the next run's first byte in its chunk: of the run, of the valid part.
  logic [OffBits-1:0] n_da, n_off;
  assign n_off = rec_i.loc[OffBits-1:0];
  assign n_da  = n_off + OffBits'(rec_i.lo);

  // ---- the chunk at hand -----------------------------------------------------------------------
  logic [OffBits:0] d_from, d_to, e_to;           // bytes of the chunk: data, end of the run
  logic             data_here, needs, final_chunk, ok, fire, prime, step, out_free;

  always_comb begin
    d_from = lo_q[CntBits-1] ? '0 :
             lo_q >= CntBits'(AxiBytes) ? (OffBits + 1)'(AxiBytes) : lo_q[OffBits:0];
    d_to   = hi_q[CntBits-1] ? '0 :
             hi_q >= CntBits'(AxiBytes) ? (OffBits + 1)'(AxiBytes) : hi_q[OffBits:0];
    e_to   = end_q >= CntBits'(AxiBytes) ? (OffBits + 1)'(AxiBytes) : end_q[OffBits:0];
    data_here   = d_from < d_to;
    needs       = data_here && beats_q != 25'd0;
    final_chunk = end_q <= CntBits'(AxiBytes);
    ok          = run_q && err_q == hd_reg_pkg::ErrNone && !failed_q && !stop_i;
    prime       = ok && data_here && prime_q;
    fire        = ok && !prime && out_free && (!needs || (r_i.valid && !r_i.err));
    step        = fire || (prime && r_i.valid && !r_i.err);
  end

  // A bad beat is held until the chunk before it is written; then it ends the work.
  assign r_ready_o   = stop_i || failed_q ||
                       (ok && (prime || (needs && out_free)) && !(r_i.valid && r_i.err && out_q));
  assign rec_ready_o = !stop_i && !failed_q && (!run_q || (fire && final_chunk));
  assign busy_o      = run_q || out_q || done_q;  // a run that failed stays
  assign wait_mem_o  = ok && (prime || (needs && out_free)) && !r_i.valid;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) run_q <= 1'b0;
    else if (rec_ready_o) run_q <= rec_valid_i;
    if (rec_ready_o && rec_valid_i) begin
      err_q   <= rec_i.err;
      last_q  <= rec_i.last;
      mem_q   <= rec_i.mem;
      pad_q   <= rec_i.pad;
      addr_q  <= {rec_i.loc[27:OffBits], {OffBits{1'b0}}};
      skip_q  <= n_off;
      end_q   <= CntBits'(rec_i.run) + CntBits'(n_off);
      lo_q    <= CntBits'(rec_i.lo) + CntBits'(n_off);
      hi_q    <= CntBits'(rec_i.hi) + CntBits'(n_off);
      beats_q <= (25'(rec_i.hi - rec_i.lo) + 25'(rec_i.off) + 25'(AxiBytes - 1)) >> OffBits;
      prime_q <= 6'(n_da) < rec_i.off;
      up_q    <= OffBits'(6'(n_da) - rec_i.off);
    end else if (step) begin
      if (needs) beats_q <= beats_q - 25'd1;
      prime_q <= prime_q && !prime;
      if (fire) begin
        addr_q <= addr_q + 28'(AxiBytes);
        skip_q <= '0;
        end_q  <= end_q - CntBits'(AxiBytes);
        lo_q   <= lo_q - CntBits'(AxiBytes);
        hi_q   <= hi_q - CntBits'(AxiBytes);
      end
    end
  end

  // ---- output register -------------------------------------------------------------------------
  logic                   out_q, out_last_q, out_mem_q, granted;
  logic [27:0]            out_addr_q;
  logic [8*AxiBytes-1:0]  out_data_q;
  logic [8*AxiBytes-1:0]  turned, prev_q;  // the beat and the one before, in a ring
  logic [AxiBytes-1:0]    out_be_q;

  assign granted    = chunk_gnt_i.xm || chunk_gnt_i.am;
  assign out_free   = !out_q || granted;
  assign chunk_o    = {out_q && !out_mem_q, out_q && out_mem_q, out_addr_q};
  assign wdata_o    = out_data_q;
  assign be_o       = out_be_q;

  always_comb begin
    turned = r_data_i;
    for (int unsigned i = 0; i < OffBits; i++)
      if (up_q[i]) turned = turned << (8 << i) | turned >> (8 * AxiBytes - (8 << i));
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) out_q <= 1'b0;
    else if (out_free) out_q <= fire;
    if (step && needs) prev_q <= turned;
    if (fire) begin
      out_addr_q <= addr_q;
      out_mem_q  <= mem_q;
      out_last_q <= last_q && final_chunk;
      out_be_q   <= ({AxiBytes{1'b1}} << skip_q) &
                    ({AxiBytes{1'b1}} >> ((OffBits + 1)'(AxiBytes) - e_to));
      for (int unsigned b = 0; b < AxiBytes; b++)
        if (b < 32'(d_from) || b >= 32'(d_to)) out_data_q[8 * b +: 8] <= pad_q;
        else out_data_q[8 * b +: 8] <= b < 32'(up_q) ? prev_q[8 * b +: 8] : turned[8 * b +: 8];
    end
  end

  // ---- end of operations -----------------------------------------------------------------------
  logic       done_q, report_q, unused_last;
  logic [4:0] code_q;
  assign unused_last = r_i.last;

  assign res_o = {done_q, report_q, code_q};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      done_q   <= 1'b0;
      report_q <= 1'b0;
      failed_q <= 1'b0;
    end else begin
      done_q   <= out_q && granted && out_last_q;
      report_q <= 1'b0;
      if (!failed_q && !stop_i && !out_q) begin
        if (run_q && err_q != hd_reg_pkg::ErrNone) begin
          failed_q <= 1'b1;
          report_q <= 1'b1;
          code_q   <= err_q;
        end else if (ok && needs && r_i.valid && r_i.err) begin
          failed_q <= 1'b1;
          report_q <= 1'b1;
          code_q   <= hd_reg_pkg::ErrAxi;
        end
      end
    end
  end

  `ASSERT(NotBoth, !(done_q && report_q))
  `ASSERT(BeatsUsed, !(fire && final_chunk) || lo_q == hi_q || beats_q == 25'(needs))
endmodule
