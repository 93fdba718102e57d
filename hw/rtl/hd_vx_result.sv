// Last stages of the vector unit: binary32 to what is stored (hd_f32_to_int), byte tables,
// transposed blocks. Tables hold 256 bytes each. Values come in groups of V lanes.
//
// Guarantees: results come out in the order in which they went in if a user keeps to this: one with
// a table is a cycle later than one without; no result of another kind follows one that is
// transposed before its block has left. A write of a table is visible to lookups of the next cycle.
// Latency: 3 cycles, 4 with a table.
// Throughput: a group a cycle, N lanes of a transposed block a cycle.
// Stalls: never.
module hd_vx_result (
  input  logic               clk_i, rst_ni,

  // Table write: part `part` of AxiBytes of a table
  input  hd_bus_pkg::part_t  part_i,
  input  hd_cfg_pkg::data_t  part_wdata_i,

  // Value, and what becomes of it
  input  logic               valid_i,
  input  logic [1:0]         d_kind_i,
  input  logic [7:0]         top_i,  // see hd_f32_to_int
  input  logic signed [15:0] zp_i, lo_i, hi_i,
  input  logic [2:0]         lut_i,  // 0: none
  input  hd_cfg_pkg::lanes_t a_i,

  // What stands in the parts of part_o of a word, each of V lanes: 32 bits for a lane, or the bytes
  // of all its lanes in its low bits. With valid_o the word is complete.
  output logic                            valid_o,
  output logic [hd_cfg_pkg::VxCycles-1:0] part_o,
  output hd_cfg_pkg::sums_t               y_o
);
  localparam int unsigned N         = hd_cfg_pkg::N;
  localparam int unsigned V         = hd_cfg_pkg::VxLanes;
  localparam int unsigned Groups    = hd_cfg_pkg::VxCycles;
  localparam int unsigned AxiBytes  = hd_cfg_pkg::AxiBytes;
  localparam int unsigned Tables    = hd_isa_pkg::TmTables;
  localparam int unsigned PartBits  = $clog2(256 / AxiBytes);
  localparam int unsigned OffBits   = $clog2(AxiBytes);
  localparam int unsigned TableBits = $clog2(Tables);

  // {transposed, table} of the last cycles
  logic [2:0] v_q, am_q;
  logic [3:0] kind1_q, kind2_q, kind3_q;
  logic       tr4_q, v4_q;

  always_ff @(posedge clk_i) begin
    v_q     <= rst_ni ? {v_q[1:0], valid_i} : '0;
    am_q    <= {am_q[1:0], d_kind_i == hd_isa_pkg::VxDestAmF32 || d_kind_i == hd_isa_pkg::VxDestAmInt32};
    kind1_q <= {d_kind_i == hd_isa_pkg::VxDestXmTransposed, lut_i};
    kind2_q <= kind1_q;
    kind3_q <= kind2_q;
    v4_q    <= rst_ni && v_q[2] && kind3_q[2:0] != 3'd0;
    tr4_q   <= kind3_q[3];
  end

  logic [32*V-1:0] word;
  logic [8*V-1:0]  whole;
  hd_f32_to_int #(.Lanes(V)) u_to_int (
    .clk_i, .rst_ni,
    .en_i(valid_i), .word_i(d_kind_i == hd_isa_pkg::VxDestAmInt32), .top_i, .zp_i, .lo_i, .hi_i, .a_i,
    .byte_o(whole), .word_o(word)
  );

  // ---- tables -----------------------------------------------------------------------------------
  // In LUTs: yosys takes flip-flops for 32 ports of reading, with 13 times the LUTs.
  (* ram_style = "distributed" *)
  logic [8*AxiBytes-1:0] tm [Tables*256/AxiBytes];
  logic [8*V-1:0]       found_q;
  logic [TableBits-1:0] table3;
  assign table3 = TableBits'(kind3_q[2:0] - 3'd1);

  always_ff @(posedge clk_i) begin
    if (part_i.tm) tm[{part_i.addr[TableBits-1:0], part_i.part[PartBits-1:0]}] <= part_wdata_i;
    if (v_q[2] && kind3_q[2:0] != 3'd0)
      for (int unsigned n = 0; n < V; n++) begin : gen_find
        logic [8*AxiBytes-1:0] line;
        line = tm[{table3, whole[8 * n + OffBits +: PartBits]}];
        found_q[8 * n +: 8] <= line[{whole[8 * n +: OffBits], 3'd0} +: 8];
      end
  end

  // ---- groups -----------------------------------------------------------------------------------
  logic              plain, valid, turns, last;
  logic [8*V-1:0]    bytes;
  logic [Groups-1:0] group_q;  // one bit: the group at hand
  assign plain = v_q[2] && kind3_q[2:0] == 3'd0;
  assign valid = plain || v4_q;
  assign turns = v4_q ? tr4_q : kind3_q[3];
  assign last  = group_q[Groups-1];
  assign bytes = v4_q ? found_q : am_q[2] ? word[8*V-1:0] : whole;

  always_ff @(posedge clk_i)
    if (!rst_ni) group_q <= Groups'(1);
    else if (valid) group_q <= Groups'({group_q, last});

  // ---- transposed blocks ------------------------------------------------------------------------
  logic           col_valid;
  logic [8*N-1:0] row, column;

  if (Groups > 1) begin : gen_row
    logic [8*(N-V)-1:0] row_q;
    assign row = {bytes, row_q};
    always_ff @(posedge clk_i)
      if (valid && turns)
        for (int unsigned g = 0; g < Groups - 1; g++)
          if (group_q[g]) row_q[8 * V * g +: 8 * V] <= bytes;
  end else begin : gen_whole
    assign row = bytes;
  end

  hd_vx_transpose u_transpose (
    .clk_i, .rst_ni, .valid_i(valid && turns && last), .x_i(row), .valid_o(col_valid), .y_o(column)
  );

  assign valid_o = (valid && !turns && last) || col_valid;
  assign part_o  = col_valid ? '1 : valid && !turns ? group_q : '0;
  always_comb
    for (int unsigned g = 0; g < Groups; g++) begin
      y_o[32 * V * g +: 32 * V] = word;
      y_o[32 * V * g +: 8 * V]  = col_valid ? column[8 * V * g +: 8 * V] : bytes;
    end
endmodule
