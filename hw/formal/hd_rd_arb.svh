// Properties of hd_rd_arb, behind the buffers of its requests (hd_skid, proved by itself): one request is taken at a
// time, each appears on AR once, unchanged and with its
// id; each beat goes to the engine of its id. ArHolds is AXI's rule for AR.
// assume: KnownId
// mutant: s/assign free = !valid_q || arready_i/assign free = 1'b1/
// mutant: s/else if (asks\[1\] && (credit_q >= lx_cost || !asks\[2\])) pick/else if (asks[1]) pick/
// mutant: s/credit_q > lx_cost ? credit_q - lx_cost/credit_q > lx_cost ? credit_q - 10'd1/
// mutant: s/asks\[1\] ? credit_q : '0/10'd0/
// mutant: s/id_q            <= pick/id_q <= pick \& 2'd1/
// mutant: s/assign ready     = id == 2'd3 || r_ready_i\[id\]/assign ready     = r_ready_i != '0/

  logic [2:0] taken, r_valid_f;
  logic [3*72-1:0] asked_f;  // address and length
  assign asked_f   = {lw[71:0], lx[71:0], fetch[71:0]};
  assign r_valid_f = {lw_r_o.valid, lx_r_o.valid, fetch_r_o.valid};
  assign taken = asks & goes;
  `ASSERT(OneTaken, (taken & (taken - 3'd1)) == '0)
  `ASSERT(TakenWasAsked, (goes & ~asks) == '0)
  `ASSERT(FetchFirst, !(asks[0] && goes[2:1] != '0))
  `ASSERT(NoIdleTurn, asks == '0 || taken != '0 || (ar_o.valid && !arready_i))

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
        addr_f <= asked_f[72 * e + 8 +: 64];
        len_f  <= asked_f[72 * e +: 8];
      end
  end
  `ASSERT(NoneLost, taken == '0 || !open_q || arready_i)
  `ASSERT(NoneTwice, ar_o.valid == open_q)
  `ASSERT(Unchanged, !open_q || (arid_o == id_f && ar_o.addr == addr_f && ar_o.len == len_f))

  // LX and LW in turn, by beats: LX goes before LW only when what LW has had since LX asked in vain, or last, pays for
  // it, and LW before LX only when it does not. Bursts are as long as engines make them, 64 beats at most, so no sum
  // wraps: LX waits for at most two bursts of LW.
  `DUTY(ShortBursts, lx_ar_i.len < 8'd64 && lw_ar_i.len < 8'd64)
  `ASSERT(ShortInBuffer, (!lx.valid || lx.len < 8'd64) && (!lw.valid || lw.len < 8'd64))
  (* hierconn *) logic        \u_lx.full_q ;
  (* hierconn *) logic [71:0] \u_lx.skid_q ;
  (* hierconn *) logic        \u_lw.full_q ;
  (* hierconn *) logic [71:0] \u_lw.skid_q ;
  `ASSERT(ShortBehind, (!\u_lx.full_q || \u_lx.skid_q [7:0] < 8'd64) &&
                       (!\u_lw.full_q || \u_lw.skid_q [7:0] < 8'd64))
  `ASSERT(LxHolds, !$past(asks[1] && !goes[1]) || (asks[1] && $stable(lx.len)))
  logic [9:0] saved_q, lx_pays, lw_gives;
  assign lx_pays  = 10'(lx.len) + 10'(1 + hd_isa_pkg::BurstCost);
  assign lw_gives = 10'(lw.len) + 10'(1 + hd_isa_pkg::BurstCost);
  always_ff @(posedge clk_i)
    if (!rst_ni) saved_q <= '0;
    else if (taken[1]) saved_q <= saved_q < lx_pays ? '0 : saved_q - lx_pays;
    else if (taken[2]) saved_q <= asks[1] ? saved_q + lw_gives : lw_gives;
  `ASSERT(LwTurn, !(asks[2] && taken[1]) || saved_q >= lx_pays)
  `ASSERT(LxTurn, !(asks[1] && taken[2]) || saved_q < lx_pays)
  `ASSERT(Credit, credit_q == saved_q)
  `ASSERT(NoWrap, saved_q <= 10'(2 * (64 + hd_isa_pkg::BurstCost)))

  // Read data, behind hd_skid (proved by itself): the beat goes to the engine of its id and to no other, and
  // leaves when that engine takes it.
  `ASSERT(OneSees, (r_valid_f & (r_valid_f - 3'd1)) == '0)
  `ASSERT(RightEngine, r_valid_f == (valid ? {id == 2'd2, id == 2'd1, id == 2'd0} : 3'd0))
  `ASSERT(LeavesOnce, !valid || ready == ((r_valid_f & r_ready_i) != '0))
