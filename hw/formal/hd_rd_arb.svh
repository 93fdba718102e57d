// Properties of hd_rd_arb: one request is taken at a time, each appears on AR once, unchanged and with its
// id; each beat goes to the engine of its id. ArHolds is AXI's rule for AR.
// assume: KnownId
// mutant: s/assign free = !valid_q || arready_i/assign free = 1'b1/
// mutant: s/else if (ar_valid_i\[1\] && (credit_q >= lx_cost || !ar_valid_i\[2\])) pick/else if (ar_valid_i[1]) pick/
// mutant: s/credit_q > lx_cost ? credit_q - lx_cost/credit_q > lx_cost ? credit_q - 10'd1/
// mutant: s/ar_valid_i\[1\] ? credit_q : '0/10'd0/
// mutant: s/id_q <= pick/id_q <= pick \& 2'd1/
// mutant: s/assign ready     = id == 2'd3 || r_ready_i\[id\]/assign ready     = r_ready_i != '0/

  logic [2:0] taken;
  assign taken = ar_valid_i & ar_ready_o;
  `ASSERT(OneTaken, (taken & (taken - 3'd1)) == '0)
  `ASSERT(TakenWasAsked, (ar_ready_o & ~ar_valid_i) == '0)
  `ASSERT(FetchFirst, !(ar_valid_i[0] && ar_ready_o[2:1] != '0))
  `ASSERT(NoIdleTurn, ar_valid_i == '0 || taken != '0 || (arvalid_o && !arready_i))

  // The request taken last is on AR until it goes.
  logic        open_q;
  logic [1:0]  id_f;
  logic [63:0] addr_f;
  logic [7:0]  len_f;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) open_q <= 1'b0;
    else open_q <= taken != '0 || (open_q && !arready_i);
    for (int unsigned e = 0; e < 3; e++)
      if (taken[e]) begin
        id_f   <= 2'(e);
        addr_f <= ar_addr_i[64 * e +: 64];
        len_f  <= ar_len_i[8 * e +: 8];
      end
  end
  `ASSERT(NoneLost, taken == '0 || !open_q || arready_i)
  `ASSERT(NoneTwice, arvalid_o == open_q)
  `ASSERT(Unchanged, !open_q || (arid_o == id_f && araddr_o == addr_f && arlen_o == len_f))

  // LX and LW in turn, by beats: LX goes before LW only when what LW has had since LX asked in vain, or last, pays for
  // it, and LW before LX only when it does not. Bursts are as long as engines make them, 64 beats at most, so no sum
  // wraps: LX waits for at most two bursts of LW.
  `DUTY(ShortBursts, ar_len_i[15:8] < 8'd64 && ar_len_i[23:16] < 8'd64)
  `ASSUME(LxHolds, !$past(ar_valid_i[1] && !ar_ready_o[1]) || (ar_valid_i[1] && $stable(ar_len_i[15:8])))
  logic [9:0] saved_q, lx_pays, lw_gives;
  assign lx_pays  = 10'(ar_len_i[15:8]) + 10'(1 + hd_isa_pkg::BurstCost);
  assign lw_gives = 10'(ar_len_i[23:16]) + 10'(1 + hd_isa_pkg::BurstCost);
  always_ff @(posedge clk_i)
    if (!rst_ni) saved_q <= '0;
    else if (taken[1]) saved_q <= saved_q < lx_pays ? '0 : saved_q - lx_pays;
    else if (taken[2]) saved_q <= ar_valid_i[1] ? saved_q + lw_gives : lw_gives;
  `ASSERT(LwTurn, !(ar_valid_i[2] && taken[1]) || saved_q >= lx_pays)
  `ASSERT(LxTurn, !(ar_valid_i[1] && taken[2]) || saved_q < lx_pays)
  `ASSERT(Credit, credit_q == saved_q)
  `ASSERT(NoWrap, saved_q <= 10'(2 * (64 + hd_isa_pkg::BurstCost)))

  // Read data, behind hd_skid (proved by itself): the beat goes to the engine of its id and to no other, and
  // leaves when that engine takes it.
  `ASSERT(OneSees, (r_valid_o & (r_valid_o - 3'd1)) == '0)
  `ASSERT(RightEngine, r_valid_o == (valid ? {id == 2'd2, id == 2'd1, id == 2'd0} : 3'd0))
  `ASSERT(LeavesOnce, !valid || ready == ((r_valid_o & r_ready_i) != '0))
