// Last stages of the vector unit: binary32 to what is stored (hd_f32_to_int), byte tables,
// transposed blocks. Tables hold 256 bytes each.
//
// Guarantees: results come out in the order in which they went in if a user keeps to this: one with
// a table is a cycle later than one without; no result of another kind follows one that is
// transposed before its block has left. A write of a table is visible to lookups of the next cycle.
// Latency: 3 cycles, 4 with a table.
// Throughput: a vector a cycle.
// Stalls: never.
module hd_vx_result (
  input  logic               clk_i, rst_ni,

  // Table write: part `part` of AxiBytes of a table
  input  hd_bus_pkg::part_t  part_i,
  input  hd_cfg_pkg::data_t  part_wdata_i,

  // Value, and what becomes of it
  input  logic               valid_i,
  input  logic [1:0]         d_kind_i,
  input  logic signed [5:0]  q_i,
  input  logic signed [15:0] zp_i, lo_i, hi_i,
  input  logic [2:0]         lut_i,  // 0: none
  input  hd_cfg_pkg::sums_t  a_i,

  output logic               valid_o,
  output hd_cfg_pkg::sums_t  y_o
);
  localparam int unsigned N         = hd_cfg_pkg::N;
  localparam int unsigned AxiBytes  = hd_cfg_pkg::AxiBytes;
  localparam int unsigned Tables    = hd_isa_pkg::TmTables;
  localparam int unsigned PartBits  = $clog2(256 / AxiBytes);
  localparam int unsigned OffBits   = $clog2(AxiBytes);
  localparam int unsigned TableBits = $clog2(Tables);

  // {transposed, table} of the last cycles
  logic [2:0] v_q;
  logic [3:0] kind1_q, kind2_q, kind3_q;
  logic       tr4_q, v4_q;

  always_ff @(posedge clk_i) begin
    v_q     <= rst_ni ? {v_q[1:0], valid_i} : '0;
    kind1_q <= {d_kind_i == hd_isa_pkg::VxDestXmTransposed, lut_i};
    kind2_q <= kind1_q;
    kind3_q <= kind2_q;
    v4_q    <= rst_ni && v_q[2] && kind3_q[2:0] != 3'd0;
    tr4_q   <= kind3_q[3];
  end

  logic [32*N-1:0] word;
  hd_f32_to_int #(.Lanes(N)) u_to_int (
    .clk_i, .rst_ni,
    .en_i(valid_i), .raw_i(d_kind_i == hd_isa_pkg::VxDestAmF32), .zp_i, .lo_i,
    .word_i(d_kind_i == hd_isa_pkg::VxDestAmInt32), .q_i, .hi_i, .a_i,
    .y_o(word)
  );

  // ---- tables -----------------------------------------------------------------------------------
  logic [8*AxiBytes-1:0] tm [Tables*256/AxiBytes];
  logic [8*N-1:0]       found_q;
  logic [TableBits-1:0] table3;
  assign table3 = TableBits'(kind3_q[2:0] - 3'd1);

  always_ff @(posedge clk_i) begin
    if (part_i.tm) tm[{part_i.addr[TableBits-1:0], part_i.part[PartBits-1:0]}] <= part_wdata_i;
    if (v_q[2] && kind3_q[2:0] != 3'd0)
      for (int unsigned n = 0; n < N; n++) begin : gen_find
        logic [8*AxiBytes-1:0] line;
        line = tm[{table3, word[8 * n + OffBits +: PartBits]}];
        found_q[8 * n +: 8] <= line[{word[8 * n +: OffBits], 3'd0} +: 8];
      end
  end

  // ---- transposed blocks ------------------------------------------------------------------------
  logic           plain, tr_valid, col_valid;
  logic [8*N-1:0] column;
  assign plain    = v_q[2] && kind3_q[2:0] == 3'd0;
  assign tr_valid = (plain && kind3_q[3]) || (v4_q && tr4_q);

  hd_vx_transpose u_transpose (
    .clk_i, .rst_ni, .valid_i(tr_valid), .x_i(v4_q ? found_q : word[8*N-1:0]), .valid_o(col_valid),
    .y_o(column)
  );

  assign valid_o = (plain && !kind3_q[3]) || (v4_q && !tr4_q) || col_valid;
  always_comb begin
    y_o = word;
    if (v4_q) y_o[8*N-1:0] = found_q;
    if (col_valid) y_o[8*N-1:0] = column;
  end
endmodule
