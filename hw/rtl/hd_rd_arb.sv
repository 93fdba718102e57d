// Shares the AXI read channels: fetch (id 0) first, then LX (1) and LW (2) in turn, by beats (deficit
// round robin): a burst of LW gives LX its beats and BurstCost more, and LX goes first when it can pay its own
// burst likewise. So a gather, whose runs are bursts of a beat or two, keeps its share beside weights, whose
// bursts are long. What LX cannot pay with is kept while it waits.
//
// A request goes to a register in front of AR, one per cycle; from there it can no longer be
// withdrawn. R passes a two-entry buffer and goes to the engine that its id names. Latency 1 cycle
// each way, one address and one beat per cycle. An engine that is not ready holds all of R.
`include "hd_assert.svh"

module hd_rd_arb #(
  parameter int unsigned AxiBytes = hd_cfg_pkg::AxiBytes
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  // Requests: bit and part e = engine e (0 fetch, 1 LX, 2 LW)
  input  logic [2:0]            ar_valid_i,
  output logic [2:0]            ar_ready_o,
  input  logic [191:0]          ar_addr_i,
  input  logic [23:0]           ar_len_i,

  // Read data to the engines
  output logic [2:0]            r_valid_o,
  input  logic [2:0]            r_ready_i,
  output logic [8*AxiBytes-1:0] r_data_o,
  output logic                  r_err_o,
  output logic                  r_last_o,

  // AXI
  output logic                  arvalid_o,
  input  logic                  arready_i,
  output logic [63:0]           araddr_o,
  output logic [7:0]            arlen_o,
  output logic [1:0]            arid_o,
  input  logic                  rvalid_i,
  output logic                  rready_o,
  input  logic [8*AxiBytes-1:0] rdata_i,
  input  logic [1:0]            rresp_i,
  input  logic                  rlast_i,
  input  logic [1:0]            rid_i
);
  logic        valid_q;
  logic [9:0]  credit_q, lx_cost, lw_cost;  // what LX may spend before LW; costs of the bursts at hand
  logic [63:0] addr_q;
  logic [7:0]  len_q;
  logic [1:0]  id_q, pick;
  logic        free;

  assign lx_cost = 10'(ar_len_i[15:8]) + 10'(1 + hd_isa_pkg::BurstCost);
  assign lw_cost = 10'(ar_len_i[23:16]) + 10'(1 + hd_isa_pkg::BurstCost);

  assign free = !valid_q || arready_i;

  always_comb begin
    pick = 2'd3;
    if (ar_valid_i[0]) pick = 2'd0;
    else if (ar_valid_i[1] && (credit_q >= lx_cost || !ar_valid_i[2])) pick = 2'd1;
    else if (ar_valid_i[2]) pick = 2'd2;
  end

  assign ar_ready_o = {free && pick == 2'd2, free && pick == 2'd1, free && pick == 2'd0};
  assign arvalid_o  = valid_q;
  assign araddr_o   = addr_q;
  assign arlen_o    = len_q;
  assign arid_o     = id_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q  <= 1'b0;
      credit_q <= '0;
    end else if (free) begin
      valid_q <= pick != 2'd3;
      if (pick == 2'd1) credit_q <= credit_q > lx_cost ? credit_q - lx_cost : '0;
      if (pick == 2'd2) credit_q <= lw_cost + (ar_valid_i[1] ? credit_q : '0);
    end
    if (free) begin
      id_q <= pick;
      unique case (pick)
        2'd0: begin
          addr_q <= ar_addr_i[63:0];
          len_q  <= ar_len_i[7:0];
        end
        2'd1: begin
          addr_q <= ar_addr_i[127:64];
          len_q  <= ar_len_i[15:8];
        end
        default: begin
          addr_q <= ar_addr_i[191:128];
          len_q  <= ar_len_i[23:16];
        end
      endcase
    end
  end

  logic       valid, ready;
  logic [1:0] id;

  hd_skid #(
    .Width(8 * AxiBytes + 4)
  ) u_r (
    .clk_i,
    .rst_ni,
    .valid_i(rvalid_i),
    .ready_o(rready_o),
    .data_i ({rdata_i, rid_i, rresp_i != 2'd0, rlast_i}),
    .valid_o(valid),
    .ready_i(ready),
    .data_o ({r_data_o, id, r_err_o, r_last_o})
  );

  assign r_valid_o = {valid && id == 2'd2, valid && id == 2'd1, valid && id == 2'd0};
  assign ready     = id == 2'd3 || r_ready_i[id];

  `ASSERT(KnownId, !valid || id != 2'd3)
  `ASSERT(ArHolds, !$past(arvalid_o && !arready_i) ||
                   (arvalid_o && $stable(araddr_o) && $stable(arlen_o) && $stable(arid_o)))
endmodule
