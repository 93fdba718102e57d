// Shares the AXI read channels: fetch (id 0) first, then LX (1) and LW (2) in turn, by beats
// (deficit round robin).
//
// A burst of LW gives LX its beats and BurstCost more, and LX goes first when it can pay its own
// burst likewise. So a gather, whose runs are bursts of a beat or two, keeps its share beside
// weights, whose bursts are long. What LX cannot pay with is kept while it waits.
//
// Guarantees: a request goes to a buffer of two entries of its engine, and from there to a register
// in front of AR; once in the buffer it can no longer be withdrawn. So no path leads from the pick to
// an engine. A beat of R goes to the engine that its id names, in order.
// Latency: ReadAddressCycles to AR, ReadDataCycles from R, which passes a buffer of two entries.
// Throughput: an address and a beat a cycle.
// Stalls: AR is not taken; an engine that is not ready holds all of R.
`include "hd_assert.svh"

module hd_rd_arb (
  input  logic               clk_i, rst_ni,

  // Requests; bit e of the others = engine e (0 fetch, 1 LX, 2 LW)
  input  hd_bus_pkg::burst_t fetch_ar_i, lx_ar_i, lw_ar_i,
  output logic [2:0]         ar_ready_o,

  // Read data to the engines
  output hd_bus_pkg::beat_t  fetch_r_o, lx_r_o, lw_r_o,
  input  logic [2:0]         r_ready_i,
  output hd_cfg_pkg::data_t  r_data_o,

  // AXI
  output hd_bus_pkg::burst_t ar_o,
  output logic [1:0]         arid_o,
  input  logic               arready_i, rvalid_i,
  output logic               rready_o,
  input  hd_cfg_pkg::data_t  rdata_i,
  input  logic [1:0]         rresp_i,
  input  logic               rlast_i,
  input  logic [1:0]         rid_i
);
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  logic [71:0] picked;  // address and length
  logic        valid_q;
  logic [2:0]  asks;
  logic [9:0]  credit_q, lx_cost, lw_cost;  // what LX may spend before LW; costs of the bursts at hand
  logic [63:0] addr_q;
  logic [7:0]  len_q;
  logic [1:0]  id_q, pick;
  logic        free;

  // ---- requests that wait ----------------------------------------------------------------------
  hd_bus_pkg::burst_t fetch, lx, lw;
  logic [2:0]         goes;  // to AR

  hd_skid #(.Width(72)) u_fetch (
    .clk_i, .rst_ni,
    .valid_i(fetch_ar_i.valid), .ready_o(ar_ready_o[0]), .data_i({fetch_ar_i.addr, fetch_ar_i.len}),
    .valid_o(fetch.valid), .ready_i(goes[0]), .data_o({fetch.addr, fetch.len})
  );

  hd_skid #(.Width(72)) u_lx (
    .clk_i, .rst_ni,
    .valid_i(lx_ar_i.valid), .ready_o(ar_ready_o[1]), .data_i({lx_ar_i.addr, lx_ar_i.len}),
    .valid_o(lx.valid), .ready_i(goes[1]), .data_o({lx.addr, lx.len})
  );

  hd_skid #(.Width(72)) u_lw (
    .clk_i, .rst_ni,
    .valid_i(lw_ar_i.valid), .ready_o(ar_ready_o[2]), .data_i({lw_ar_i.addr, lw_ar_i.len}),
    .valid_o(lw.valid), .ready_i(goes[2]), .data_o({lw.addr, lw.len})
  );

  // ---- which is next ---------------------------------------------------------------------------
  assign lx_cost = 10'(lx.len) + 10'(1 + hd_isa_pkg::BurstCost);
  assign lw_cost = 10'(lw.len) + 10'(1 + hd_isa_pkg::BurstCost);

  assign asks = {lw.valid, lx.valid, fetch.valid};
  assign free = !valid_q || arready_i;

  always_comb begin
    pick = 2'd3;
    if (asks[0]) pick = 2'd0;
    else if (asks[1] && (credit_q >= lx_cost || !asks[2])) pick = 2'd1;
    else if (asks[2]) pick = 2'd2;
    unique case (pick)
      2'd0: picked = {fetch.addr, fetch.len};
      2'd1: picked = {lx.addr, lx.len};
      default: picked = {lw.addr, lw.len};
    endcase
  end

  assign goes   = {free && pick == 2'd2, free && pick == 2'd1, free && pick == 2'd0};
  assign ar_o   = {valid_q, addr_q, len_q};
  assign arid_o = id_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      credit_q <= '0;
    end else if (free) begin
      valid_q <= pick != 2'd3;
      if (pick == 2'd1) credit_q <= credit_q > lx_cost ? credit_q - lx_cost : '0;
      if (pick == 2'd2) credit_q <= lw_cost + (asks[1] ? credit_q : '0);
    end
    if (free) begin
      id_q            <= pick;
      {addr_q, len_q} <= picked;
    end
  end

  logic       valid, ready, r_err, r_last;
  logic [1:0] id;

  hd_skid #(.Width(8 * AxiBytes + 4)) u_r (
    .clk_i, .rst_ni,
    .valid_i(rvalid_i), .ready_o(rready_o), .data_i({rdata_i, rid_i, rresp_i != 2'd0, rlast_i}),
    .valid_o(valid), .ready_i(ready), .data_o({r_data_o, id, r_err, r_last})
  );

  assign fetch_r_o = {valid && id == 2'd0, r_err, r_last};
  assign lx_r_o    = {valid && id == 2'd1, r_err, r_last};
  assign lw_r_o    = {valid && id == 2'd2, r_err, r_last};
  assign ready     = id == 2'd3 || r_ready_i[id];

  `ASSERT(KnownId, !valid || id != 2'd3)
  `ASSERT(ArHolds, !$past(ar_o.valid && !arready_i) ||
                   (ar_o.valid && $stable(ar_o) && $stable(arid_o)))
endmodule
