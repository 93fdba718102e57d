// Reads the program from the image into a buffer, checks its header, gives what follows it.
//
// Starts after reset when run_i is high. Bursts end at multiples of ChunkBytes, hence never cross 4
// KiB. As many as the buffer holds are asked for before the length of the program is known; what
// they bring too much is dropped.
//
// Guarantees: space in the buffer is reserved before a burst is asked for, so read data never
// waits. end_o: every word has been taken. An error stays until reset.
// Latency: FetchRequestCycles from start to the first request, FetchWordCycles from a beat to its
// word.
// Throughput: a beat in and a word out a cycle.
// Stalls: no word in the buffer, the word before not taken; no request while AR is not taken or the
// buffer has no room.
`include "hd_assert.svh"

module hd_fetch (
  input  logic              clk_i, rst_ni, run_i,
  input  logic              stop_i,    // ask for nothing more
  output logic              drained_o, // no burst is open

  // Program place
  input  logic [63:0]       image_ptr_i,
  input  logic [31:0]       image_bytes_i, code_offset_i,

  // Read bursts
  output logic              ar_valid_o,
  input  logic              ar_ready_i,
  output logic [63:0]       ar_addr_o,
  output logic [7:0]        ar_len_o,
  input  logic              r_valid_i,
  input  hd_cfg_pkg::data_t r_data_i,
  input  logic              r_err_i, r_last_i,

  // Words
  output logic              word_valid_o,
  input  logic              word_ready_i,
  output logic [31:0]       word_o,
  output logic [31:0]       pc_o,      // place of the word in the program
  output logic              end_o,

  output logic              err_o,
  output logic [4:0]        err_code_o
);
  localparam int unsigned AxiBytes   = hd_cfg_pkg::AxiBytes;
  localparam int unsigned ChunkBytes = hd_isa_pkg::FetchChunk;
  localparam int unsigned Chunks     = hd_isa_pkg::FetchChunks;                          // in the buffer
  localparam int unsigned Beats      = Chunks * ChunkBytes / AxiBytes;
  localparam int unsigned BeatBits   = $clog2(Beats);
  localparam int unsigned OffBits    = $clog2(AxiBytes);
  localparam int unsigned ChunkBits  = $clog2(ChunkBytes);
  localparam int unsigned Words      = AxiBytes / 4;  // of a beat
  localparam int unsigned WordBits   = OffBits - 2;
  localparam int unsigned Header     = hd_isa_pkg::ProgHeaderWords;
  localparam int unsigned HeaderStep = Words < Header ? Words : Header;  // looked at in a cycle

  // ---- asking ----------------------------------------------------------------------------------
  logic              begun_q, known_q;
  logic [31:0]       at_q, limit_q;    // byte offsets in the image, which none of the two leaves
  logic [BeatBits:0] reserved_q;
  logic [BeatBits:0] open_q;           // bursts; each has a beat to come
  logic [BeatBits:0] burst;            // beats that are asked for
  logic              ask, pop, final_chunk;  // the limit lies in the chunk that is asked for

  // Chunks begin at multiples of ChunkBytes of the address. The image begins at a multiple of 64 bytes, and
  // so does what is asked for: these count 64 bytes from the begin of the image's first chunk.
  localparam int unsigned UnitBits = ChunkBits - 6;
  logic [26:0]         at64_q, limit64_q;  // of at_q and limit_q
  logic                starts;             // the image starts with a chunk
  logic [24:0]         next_chunk;
  logic [BeatBits:0]   whole;              // beats to the end of the chunk
  logic [BeatBits-1:0] part;               // to the limit

  function automatic logic [26:0] units(input logic [25:0] of_offset);
    units = 27'(of_offset) + 27'(image_ptr_i[ChunkBits-1:6]);
  endfunction

  always_comb begin
    starts      = image_ptr_i[ChunkBits-1:6] == '0;
    next_chunk  = at64_q[26:UnitBits] + 25'd1;
    final_chunk = at64_q[26:UnitBits] == limit64_q[26:UnitBits];
    whole = (BeatBits + 1)'((32'd1 << UnitBits) - 32'(at64_q[UnitBits-1:0])) * (BeatBits + 1)'(64 / AxiBytes);
    part  = BeatBits'((10'(limit_q[8:0]) + 10'(AxiBytes - 1)) >> OffBits) - at_q[8:OffBits];
    burst = final_chunk ? (BeatBits + 1)'(part) : whole;
  end

  assign ar_valid_o = begun_q && !stop_i && !err_o && at_q < limit_q &&
                      32'(reserved_q) + 32'(burst) <= Beats;
  assign ar_addr_o  = image_ptr_i + 64'(at_q);
  assign ar_len_o   = 8'(burst) - 8'd1;
  assign ask        = ar_valid_o && ar_ready_i;
  assign drained_o  = open_q == '0;

  // ---- buffer and words ------------------------------------------------------------------------
  logic                  beat_valid, unused_ready;
  logic [8*AxiBytes-1:0] beat;
  logic [BeatBits:0]     unused_count;
  logic [31:0]           next_q, words_q;       // the next word to leave the buffer; the program's
  logic [31:0]           pc_q;                  // the next one to issue
  logic [WordBits-1:0]   i_word;
  logic [2:0]            n_take;
  logic                  take, header, word_here, word_room, skid_valid;

  hd_fifo #(.Width(8 * AxiBytes), .Depth(Beats)) u_beats (
    .clk_i, .rst_ni, .clear_i(1'b0),
    .valid_i(r_valid_i), .ready_o(unused_ready), .data_i(r_data_i),
    .valid_o(beat_valid), .ready_i(pop), .data_o(beat),
    .count_o(unused_count)
  );

  // The header is aligned, so each of its words has its place in a beat.
  assign header    = next_q < 32'(Header);
  assign i_word    = next_q[WordBits-1:0];
  assign word_here = beat_valid && !err_o && !header && next_q != words_q;
  assign take      = beat_valid && !err_o && (header || (word_here && word_room));
  assign n_take    = header ? 3'(HeaderStep) : 3'd1;
  assign pop       = take && WordBits'(i_word + WordBits'(n_take)) == '0;

  hd_skid #(.Width(32)) u_word (
    .clk_i, .rst_ni,
    .valid_i(word_here), .ready_o(word_room), .data_i(beat[{i_word, 5'd0} +: 32]),
    .valid_o(skid_valid), .ready_i(word_ready_i && !err_o), .data_o(word_o)
  );

  assign word_valid_o = skid_valid && !err_o;
  assign end_o        = known_q && pc_q == words_q;
  assign pc_o         = pc_q;

  // ---- checks ----------------------------------------------------------------------------------
  logic [31:0] magic, isa, machine, length;
  logic        in_low, in_high;  // words 0 and 1 of the header are at hand, 2 and 3
  assign magic    = beat[31:0];
  assign isa      = beat[63:32];
  assign machine  = beat[32 * (2 % Words) +: 32];
  assign length   = beat[32 * (3 % Words) +: 32];
  assign in_low   = HeaderStep == Header || !next_q[1];
  assign in_high  = HeaderStep == Header || next_q[1];

  logic [4:0]  err_q, err_d;
  logic [32:0] first_end;  // of the bursts that are asked for before the length is known
  logic [34:0] end_bytes;  // of the program, as the fourth word of the header gives it
  assign first_end  = 33'({code_offset_i[31:8], 8'd0}) + 33'(Chunks * ChunkBytes);
  assign end_bytes  = {1'b0, length, 2'd0} + 35'(code_offset_i);
  assign err_o      = err_q != hd_reg_pkg::ErrNone;
  assign err_code_o = err_q;

  always_comb begin
    err_d = err_q;
    if (!err_o) begin
      if (run_i && !begun_q) begin
        if (33'(code_offset_i) + 33'd16 > 33'(image_bytes_i)) err_d = hd_reg_pkg::ErrWindow;
        else if ((image_ptr_i[5:0] | code_offset_i[5:0]) != 6'd0) err_d = hd_reg_pkg::ErrRange;
      end else if (r_valid_i && r_err_i) begin
        err_d = hd_reg_pkg::ErrAxi;
      end else if (take && header) begin
        if (in_low && magic != hd_isa_pkg::ProgMagic) err_d = hd_reg_pkg::ErrMagic;
        else if (in_low && isa != hd_isa_pkg::IsaHash) err_d = hd_reg_pkg::ErrIsa;
        else if (in_high && machine != hd_cfg_pkg::MachineHash) err_d = hd_reg_pkg::ErrMachine;
        else if (in_high && end_bytes > 35'(image_bytes_i)) err_d = hd_reg_pkg::ErrWindow;
        else if (in_high && length < 32'(Header)) err_d = hd_reg_pkg::ErrEncoding;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      begun_q    <= 1'b0;
      known_q    <= 1'b0;
      at_q       <= '0;
      limit_q    <= '0;
      reserved_q <= '0;
      open_q     <= '0;
      next_q     <= '0;
      pc_q       <= 32'(hd_isa_pkg::ProgHeaderWords);
      err_q      <= hd_reg_pkg::ErrNone;
    end else begin
      err_q <= err_d;
      if (run_i && !begun_q) begin
        begun_q <= 1'b1;
        at_q      <= code_offset_i;
        at64_q    <= units(code_offset_i[31:6]);
        limit_q   <= first_end < 33'(image_bytes_i) ? first_end[31:0] : image_bytes_i;
        limit64_q <= units(first_end < 33'(image_bytes_i) ? first_end[31:6] : image_bytes_i[31:6]);
      end else begin
        if (ask) begin
          at_q   <= final_chunk ? limit_q : {starts ? next_chunk[31-ChunkBits:0] : at64_q[UnitBits +: 32-ChunkBits],
                                             -image_ptr_i[ChunkBits-1:6], 6'd0};
          at64_q <= final_chunk ? limit64_q : {next_chunk, UnitBits'(0)};
        end
        if (take && header && in_high) begin
          words_q <= length;
          limit_q   <= end_bytes[31:0];  // if it is above, the program is refused
          limit64_q <= units(end_bytes[31:6]);
          known_q   <= 1'b1;
        end
      end
      if (take) next_q <= next_q + 32'(n_take);
      if (word_valid_o && word_ready_i) pc_q <= pc_q + 32'd1;
      reserved_q <= reserved_q + (ask ? burst : '0) - (BeatBits + 1)'(pop);
      open_q     <= open_q + (BeatBits + 1)'(ask) - (BeatBits + 1)'(r_valid_i && r_last_i);
    end
  end

  `ASSERT(UnitsAgree, !begun_q || (at64_q == units(at_q[31:6]) && limit64_q == units(limit_q[31:6])))
  `ASSERT(SpaceReserved, !r_valid_i || unused_ready)
endmodule
