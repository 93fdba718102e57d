// Cuts a run of whole beats into AXI bursts: at most MaxBeats beats, never across 4 KiB.
//
// Guarantees: the bursts follow each other without a gap and add up to the run, which ends when the
// last is taken. The run's first burst comes with it (first_i), the others from a register: no path leads
// from addresses to last_o.
// Latency: none.
// Throughput: a burst a cycle.
// Stalls: ready_i is low.
`include "hd_assert.svh"

module hd_burst (
  input  logic             clk_i, rst_ni,

  // Run: address of its first byte, beats it touches, and hd_bus_pkg::cut of them
  input  logic             valid_i,
  input  logic [63:0]      addr_i,
  input  logic [24:0]      beats_i,
  input  hd_bus_pkg::cut_t first_i,

  // Bursts
  output logic             valid_o,
  input  logic             ready_i,
  output logic [63:0]      addr_o,   // beat-aligned
  output logic [7:0]       len_o,    // beats - 1
  output logic             first_o,  // first burst of the run
  output logic             last_o
);
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned OffBits  = $clog2(AxiBytes);

  logic             mid_q;
  logic [63:0]      addr_q, addr_d;
  logic [24:0]      left_q, left_d;
  hd_bus_pkg::cut_t cut_q, now;

  always_comb begin
    now    = mid_q ? cut_q : first_i;
    addr_o = mid_q ? addr_q : {addr_i[63:OffBits], {OffBits{1'b0}}};
    addr_d = {addr_o[63:OffBits] + (64 - OffBits)'(now.len) + (64 - OffBits)'(1), {OffBits{1'b0}}};
    left_d = (mid_q ? left_q : beats_i) - 25'(now.len) - 25'd1;
  end

  assign valid_o = valid_i;
  assign len_o   = now.len;
  assign first_o = !mid_q;
  assign last_o  = now.last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) mid_q <= 1'b0;
    else if (valid_i && ready_i) mid_q <= !last_o;
    if (valid_i && ready_i) begin
      addr_q <= addr_d;
      left_q <= left_d;
      cut_q  <= hd_bus_pkg::cut(10'(addr_d[11:OffBits]), left_d);
    end
  end

  `ASSERT(Positive, !valid_i || beats_i != 25'd0)
  `ASSERT(NextIsCut, !mid_q || cut_q == hd_bus_pkg::cut(10'(addr_q[11:OffBits]), left_q))
  `ASSERT(FirstIsCut, !valid_i || first_i == hd_bus_pkg::cut(10'(addr_i[11:OffBits]), beats_i))
  `ASSERT(InsidePage, !valid_o ||
          32'(addr_o[11:0]) + ((32'(len_o) + 32'd1) << OffBits) <= 32'd4096)
endmodule
