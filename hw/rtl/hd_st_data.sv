// Data side of ST: reads the chunks of each run from XM or AM, shifts their bytes to the place they
// have in DRAM and sends beats with strobes. Of a saturating store, 4 or 2 chunks of AM first
// become one.
//
// Guarantees: a beat holds until it is taken; its strobes are the bytes of the run. After stop_i
// the beats of open bursts still go out, with no byte strobed.
// Latency: 6 cycles from a record to its first beat.
// Throughput: a beat a cycle; a run whose first byte lies further right in its chunk than in its
// beat costs one cycle more.
// Stalls: no grant of XM or AM, W is not ready.
`include "hd_assert.svh"

module hd_st_data (
  input  logic                   clk_i, rst_ni, stop_i,

  // Records of runs and of bursts, see hd_st_gen
  input  logic                   run_valid_i,   // to be read
  output logic [1:0]             run_ready_o,  // if no chunk is granted in this cycle, and if one is
  input  hd_bus_pkg::store_run_t run_i,
  input  logic                   pack_valid_i,  // to be packed: the same, in the same order, no later
  output logic                   pack_ready_o,
  input  logic [5:0]             pack_off_i,    // place of the first byte in its beat,
  input  logic [$clog2(hd_cfg_pkg::AxiBytes)-1:0] pack_so_i,  // in its chunk
  input  logic [23:0]            pack_run_i,    // bytes
  input  logic                   burst_valid_i,
  output logic                   burst_ready_o,
  input  logic [7:0]             burst_len_i,

  // XM or AM read, data 2 cycles after the grant
  output hd_bus_pkg::chunk_t     chunk_o,
  input  hd_bus_pkg::chunk_gnt_t chunk_gnt_i,
  input  hd_cfg_pkg::data_t      xm_rdata_i, am_rdata_i,

  // Write data
  output logic                   wvalid_o,
  input  logic                   wready_i,
  output hd_cfg_pkg::data_t      wdata_o,
  output hd_cfg_pkg::strobe_t    wstrb_o,
  output logic                   wlast_o,
  output logic [6:0]             wbytes_o,  // strobed bytes of the beat
  output logic                   busy_o  // a chunk or a beat is in work
);
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned OffBits  = $clog2(AxiBytes);
  localparam int unsigned CntBits  = 27;
  // Of an address on chip, which lies inside its memory; of chunks of a run.
  localparam int unsigned AddrBits = $clog2(hd_cfg_pkg::XmBytes > hd_cfg_pkg::AmBytes ? hd_cfg_pkg::XmBytes : hd_cfg_pkg::AmBytes);
  localparam int unsigned LeftBits = AddrBits - OffBits + 1;
  localparam int unsigned Chunks   = hd_isa_pkg::StoreChunks;     // buffer between XM and W

  logic [OffBits-1:0] n_so;    // place of the run's first byte in its chunk
  logic [1:0]         n_grow;  // log2 of chunks that become one
  assign n_so   = run_i.loc[OffBits-1:0];
  assign n_grow = run_i.sat == hd_isa_pkg::StSatNone ? 2'd0 :
                  run_i.sat == hd_isa_pkg::StSatInt16 ? 2'd1 : 2'd2;

  // ---- reading XM ------------------------------------------------------------------------------
  logic                  read_q, chunks_ready, chunk_valid, chunk_take;
  logic [AddrBits-1:OffBits] read_at_q;         // its number
  logic [LeftBits-1:0]   read_left_q;           // chunks, this one included
  logic [1:0]            coming_q;              // granted one and two cycles ago
  logic [1:0]            from_am_q, whole_q;    // of those, from AM; the last of those that become one
  logic [3:0]            of_sat_q, of_part_q;   // of those, what they become, and which part of a chunk
  logic [1:0]            sat_q, part, most;
  logic [AddrBits-1:OffBits] at;                // and left: after this chunk
  logic [LeftBits-1:0]   left;
  logic                  mem_q, want, granted, whole, last, fresh;
  logic [3:0]            free_q, free;          // room for chunks; without a grant in this cycle
  logic                  any_free_q;            // free_q is not 0
  logic [3:0]            unused_chunks;
  logic [8*AxiBytes-1:0] chunk;

  assign free        = free_q + 4'(chunk_take && chunk_valid) + 4'(coming_q[1] && !whole_q[1]);
  assign want        = read_q && any_free_q && !stop_i;
  assign chunk_o     = {want && !mem_q, want && mem_q, 28'({read_at_q, {OffBits{1'b0}}})};
  assign granted     = chunk_gnt_i.xm || chunk_gnt_i.am;
  assign last        = read_left_q == LeftBits'(1);
  assign fresh       = !read_q || last;
  assign run_ready_o = {!stop_i && fresh, !stop_i && !read_q};
  assign most        = {sat_q != hd_isa_pkg::StSatNone && sat_q != hd_isa_pkg::StSatInt16,
                       sat_q != hd_isa_pkg::StSatNone};
  assign part        = read_at_q[OffBits+:2] & most;
  assign whole       = last || part == most;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      read_q     <= 1'b0;
      coming_q   <= 2'd0;
      free_q     <= 4'(Chunks);
      any_free_q <= 1'b1;
    end else begin
      if (!read_q || granted) read_q <= !fresh || (run_valid_i && !stop_i);
      coming_q   <= {coming_q[0], granted};
      free_q     <= granted ? free - 4'd1 : free;
      any_free_q <= granted ? free != 4'd1 : free != 4'd0;
    end
    from_am_q <= {from_am_q[0], mem_q};
    whole_q   <= {whole_q[0], whole};
    of_sat_q  <= {of_sat_q[1:0], sat_q};
    of_part_q <= {of_part_q[1:0], part};
    if (!read_q || granted) {read_at_q, read_left_q} <= {at, left};
    if (!read_q || (granted && last)) {mem_q, sat_q} <= {run_i.mem, run_i.sat};
  end

  // Of no run, too, once nothing is left: whether one comes is known late.
  always_comb begin
    at   = read_at_q;
    left = read_left_q;
    if (fresh) begin
      at   = (AddrBits - OffBits)'((run_i.loc << n_grow) >> OffBits);
      left = LeftBits'((25'(run_i.run) + (25'(n_so) & (25'(AxiBytes - 1) >> n_grow)) +
                        25'((AxiBytes >> n_grow) - 1)) >> (OffBits - 32'(n_grow)));
    end
    at   = at + (AddrBits - OffBits)'(!fresh);
    left = left - LeftBits'(!fresh);
  end

  // Saturation: the int32 of a chunk of AM become a quarter or a half of one; what came before of
  // the same chunk waits in parts_q.
  localparam int unsigned Lanes = AxiBytes / 4;
  logic [8*AxiBytes-1:0] got, made, parts_q;
  logic [8*Lanes-1:0]    bytes;
  logic [16*Lanes-1:0]   halves;
  logic [1:0]            of_sat, of_part;
  assign of_sat  = of_sat_q[3:2];
  assign of_part = of_part_q[3:2];
  assign got     = from_am_q[1] ? am_rdata_i : xm_rdata_i;

  always_comb begin
    for (int unsigned i = 0; i < Lanes; i++) begin
      halves[16 * i +: 16] = got[32 * i + 15 +: 17] == {17{got[32 * i + 31]}} ?
                             got[32 * i +: 16] : {got[32 * i + 31], {15{!got[32 * i + 31]}}};
      if (of_sat[0])
        bytes[8 * i +: 8] = got[32 * i + 7 +: 25] == {25{got[32 * i + 31]}} ?
                            got[32 * i +: 8] : {got[32 * i + 31], {7{!got[32 * i + 31]}}};
      else
        bytes[8 * i +: 8] = got[32 * i + 31] ? 8'd0 :
                            got[32 * i + 8 +: 23] != '0 ? 8'hff : got[32 * i +: 8];
    end
    made = of_sat == hd_isa_pkg::StSatNone ? got : parts_q;
    for (int unsigned i = 0; i < 4; i++)
      if ((of_sat == hd_isa_pkg::StSatInt8 || of_sat == hd_isa_pkg::StSatUint8) && of_part == 2'(i))
        made[8 * Lanes * i +: 8 * Lanes] = bytes;
    for (int unsigned i = 0; i < 2; i++)
      if (of_sat == hd_isa_pkg::StSatInt16 &&
          of_part == 2'(i)) made[16 * Lanes * i +: 16 * Lanes] = halves;
  end

  always_ff @(posedge clk_i) if (coming_q[1]) parts_q <= made;

  hd_fifo #(.Width(8 * AxiBytes), .Depth(Chunks)) u_chunks (
    .clk_i, .rst_ni, .clear_i(1'b0),
    .valid_i(coming_q[1] && whole_q[1]), .ready_o(chunks_ready), .data_i(made),
    .valid_o(chunk_valid), .ready_i(chunk_take), .data_o(chunk),
    .count_o(unused_chunks)
  );

  // ---- packing ---------------------------------------------------------------------------------
  logic                      run_q, prime_q;
  logic [OffBits-1:0]        skip_q;
  logic signed [CntBits-1:0] end_q;      // run end, from the beat's first byte
  logic [24:0]               left_q;     // chunks not taken yet
  logic [OffBits-1:0]        up_q;       // bytes that a chunk moves up, its last ones into the next beat
  logic [OffBits:0]          to;
  logic                      final_beat, needs, prime, fire, drop, out_free;

  always_comb begin
    to         = end_q >= CntBits'(AxiBytes) ? (OffBits + 1)'(AxiBytes) : end_q[OffBits:0];
    final_beat = end_q <= CntBits'(AxiBytes);
    needs      = left_q != 25'd0;
    prime      = run_q && prime_q && !stop_i;
    fire       = run_q && !prime_q && !stop_i && burst_valid_i && out_free &&
                 (!needs || chunk_valid);
    drop       = stop_i && burst_valid_i && out_free;
  end

  assign chunk_take   = prime || (fire && needs);
  assign pack_ready_o = !stop_i && (!run_q || (fire && final_beat));

  always_ff @(posedge clk_i) begin
    if (!rst_ni) run_q <= 1'b0;
    else if (pack_ready_o) run_q <= pack_valid_i;
    if (pack_ready_o) begin
      skip_q  <= OffBits'(pack_off_i);
      end_q   <= CntBits'(pack_run_i) + CntBits'(pack_off_i);
      left_q  <= (25'(pack_run_i) + 25'(pack_so_i) + 25'(AxiBytes - 1)) >> OffBits;
      prime_q <= pack_off_i < 6'(pack_so_i);
      up_q    <= OffBits'(pack_off_i - 6'(pack_so_i));
    end else begin
      if (chunk_take && chunk_valid) begin
        left_q  <= left_q - 25'd1;
        prime_q <= 1'b0;
      end
      if (fire) begin
        skip_q <= '0;
        end_q  <= end_q - CntBits'(AxiBytes);
      end
    end
  end

  // ---- output register, burst ends -------------------------------------------------------------
  logic                   out_q, out_last_q, burst_end;
  logic [8*AxiBytes-1:0]  out_data_q, turned, prev_q;  // the chunk and the one before, in a ring
  logic [AxiBytes-1:0]    out_strb_q;
  logic [6:0]             out_bytes_q;
  logic [7:0]             beat_q;

  assign out_free      = !out_q || wready_i;
  assign burst_end     = beat_q == burst_len_i;
  assign burst_ready_o = (fire || drop) && burst_end;

  always_comb begin
    turned = chunk;
    for (int unsigned i = 0; i < OffBits; i++)
      if (up_q[i]) turned = turned << (8 << i) | turned >> (8 * AxiBytes - (8 << i));
  end
  assign busy_o        = pack_valid_i || read_q || coming_q != 2'd0 || chunk_valid || run_q || out_q;
  assign wvalid_o      = out_q;
  assign wdata_o       = out_data_q;
  assign wstrb_o       = out_strb_q;
  assign wlast_o       = out_last_q;
  assign wbytes_o      = out_bytes_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      out_q  <= 1'b0;
      beat_q <= 8'd0;
    end else begin
      if (out_free) out_q <= fire || drop;
      if (fire || drop) beat_q <= burst_end ? 8'd0 : beat_q + 8'd1;
    end
    if (chunk_take && chunk_valid) prev_q <= turned;
    if (fire || drop) begin
      out_last_q  <= burst_end;
      out_bytes_q <= drop ? 7'd0 : 7'(to) - 7'(skip_q);
      out_strb_q  <= {AxiBytes{!drop}} & ({AxiBytes{1'b1}} << skip_q) &
                     ({AxiBytes{1'b1}} >> ((OffBits + 1)'(AxiBytes) - to));
    end
    if (fire)
      for (int unsigned b = 0; b < AxiBytes; b++)
        out_data_q[8 * b +: 8] <= b < 32'(up_q) ? prev_q[8 * b +: 8] : turned[8 * b +: 8];
  end

  `ASSERT(RoomForChunk, !coming_q[1] || chunks_ready)
  `ASSERT(FreeIsFree, 5'(free_q) + 5'(unused_chunks) + 5'(coming_q[0]) + 5'(coming_q[1]) == 5'(Chunks) &&
                      any_free_q == (free_q != 4'd0))
  `ASSERT(ChunksUsed, !(fire && final_beat) || left_q == 25'(needs))
  `ASSERT(WHolds, !$past(wvalid_o && !wready_i) ||
                  (wvalid_o && $stable(wdata_o) && $stable(wstrb_o) && $stable(wlast_o)))
endmodule
