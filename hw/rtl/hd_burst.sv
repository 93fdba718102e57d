// Cuts a run of whole beats into AXI bursts: at most MaxBeats beats, never across 4 KiB.
//
// Guarantees: the bursts follow each other without a gap and add up to the run; ready_o comes with
// the last.
// Latency: none, the first burst is combinational.
// Throughput: a burst a cycle.
// Stalls: ready_i is low.
`include "hd_assert.svh"

module hd_burst (
  input  logic        clk_i, rst_ni,

  // Run: address of its first byte, beats it touches
  input  logic        valid_i,
  output logic        ready_o,
  input  logic [63:0] addr_i,
  input  logic [24:0] beats_i,

  // Bursts
  output logic        valid_o,
  input  logic        ready_i,
  output logic [63:0] addr_o,   // beat-aligned
  output logic [7:0]  len_o,    // beats - 1
  output logic        first_o,  // first burst of the run
  output logic        last_o
);
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned MaxBeats = hd_cfg_pkg::BurstBeats;
  localparam int unsigned OffBits  = $clog2(AxiBytes);
  localparam int unsigned PageBits = 12 - OffBits;

  logic        mid_q;
  logic [63:0] addr_q;
  logic [24:0] left_q, left;
  logic [9:0]  to_page, burst;

  always_comb begin
    addr_o = mid_q ? addr_q : {addr_i[63:OffBits], {OffBits{1'b0}}};
    left   = mid_q ? left_q : beats_i;
    to_page = 10'(1 << PageBits) - 10'(addr_o[11:OffBits]);
    burst   = to_page > 10'(MaxBeats) ? 10'(MaxBeats) : to_page;
    if (left < 25'(burst)) burst = left[9:0];
  end

  assign valid_o = valid_i;
  assign len_o   = 8'(burst - 10'd1);
  assign first_o = !mid_q;
  assign last_o  = left <= 25'(MaxBeats) && left <= 25'(to_page);  // beside the length, not behind it
  assign ready_o = valid_i && ready_i && last_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) mid_q <= 1'b0;
    else if (valid_i && ready_i) mid_q <= !last_o;
    if (valid_i && ready_i) begin
      addr_q <= addr_o + (64'(burst) << OffBits);
      left_q <= left - 25'(burst);
    end
  end

  `ASSERT(Positive, !valid_i || beats_i != 25'd0)
  `ASSERT(InsidePage, !valid_o ||
          32'(addr_o[11:0]) + ((32'(len_o) + 32'd1) << OffBits) <= 32'd4096)
endmodule
