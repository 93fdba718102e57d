// Asks for the beats of runs in bursts (hd_burst) and passes a record of each run.
//
// A run holds until done_o. One without data (data_i low: padding, or an error) has a record alone.
//
// Guarantees: no more than OpenBursts are open. A run's record goes with its first burst, so the
// data side knows a run before its first beat.
// Latency: none, the request is the run's.
// Throughput: a burst a cycle.
// Stalls: OpenBursts are open, AR or the record is not taken, stop_i.
`include "hd_assert.svh"

module hd_read_bursts (
  input  logic               clk_i, rst_ni, stop_i,

  // The run: address of its first byte, beats that it touches, its first burst
  input  logic               valid_i, data_i,
  input  logic [63:0]        addr_i,
  input  logic [24:0]        beats_i,
  input  hd_bus_pkg::cut_t   first_i,
  output logic               done_o,

  // Read bursts, and the last beats of such
  output hd_bus_pkg::burst_t ar_o,
  input  logic               ar_ready_i, r_end_i,
  output logic               open_o,

  // Its record
  output logic               rec_valid_o,
  input  logic               rec_ready_i
);
  logic        burst_valid, first, last, may_ask, goes;
  logic [63:0] addr;
  logic [7:0]  len;
  logic [4:0]  open_q, open_d;
  logic        room_q;  // for one more

  hd_burst u_burst (
    .clk_i, .rst_ni,
    .valid_i(valid_i && data_i), .addr_i, .beats_i, .first_i,
    .valid_o(burst_valid), .ready_i(goes), .addr_o(addr), .len_o(len),
    .first_o(first), .last_o(last)
  );

  assign may_ask     = room_q && !stop_i;
  assign ar_o.valid  = burst_valid && may_ask && (!first || rec_ready_i);
  assign ar_o.addr   = addr;
  assign ar_o.len    = len;
  assign rec_valid_o = valid_i && !stop_i && (!data_i || (first && may_ask && ar_ready_i));
  assign goes        = ar_o.valid && ar_ready_i;
  assign done_o      = data_i ? goes && last : rec_valid_o && rec_ready_i;
  assign open_o      = open_q != 5'd0;
  assign open_d      = open_q + 5'(goes) - 5'(r_end_i);

  always_ff @(posedge clk_i) begin
    open_q <= rst_ni ? open_d : 5'd0;
    room_q <= !rst_ni || open_d != 5'(hd_isa_pkg::OpenBursts);
  end

  `ASSERT(RoomAgrees, room_q == (open_q != 5'(hd_isa_pkg::OpenBursts)))
  `ASSERT(OpenInRange, open_q <= 5'(hd_isa_pkg::OpenBursts))
endmodule
