// Sliding windows of vx.dw, all N lanes: keeps the last 2 input vectors of up to 4 rows, multiplies
// with the newest up to 3 neighbours in a row by the taps of that row, and sums the rows.
//
// Input vectors come row by row within a column. With in_pairs_i an input is two columns: before_i,
// then x_i. Taps stand where their input is: a window of 1 or 2 columns has zeros in front of its
// taps, so that inputs from an earlier window do not count. With in_adds_i a sum begins with base_i,
// which comes with the first row of the column that ends a window.
//
// Guarantees: an input with in_sum_i and in_last_i ends a window, which gives one sum. pm_o (bias
// and scale) is what load_pm_i took before, seen from the cycle of valid_o. Taps that are loaded
// with an input vector serve that one already.
// Latency: 2 cycles to valid_o and slot_o, 4 to sum_o, which holds until the next window's first
// row is summed.
// Throughput: a vector a cycle.
// Stalls: never.
//
// For synthesis products and sum of a row are a chain of hd_mac2, but the first product: LUTs make it,
// which are less scarce than DSP48E2. Simulation has them as plain loops.
`include "hd_assert.svh"

module hd_vx_window #(
  parameter int unsigned SlotBits = 3
) (
  input  logic                clk_i, rst_ni,

  // Words of PM: taps 0..7, taps 8..11, bias and scale
  input  logic                load_lo_i, load_hi_i, load_pm_i,
  input  logic [1:0]          width_i,  // columns of the window, 1..3
  input  hd_cfg_pkg::consts_t pm_i,

  // Input vector
  input  logic                in_valid_i,
  input  logic                in_sum_i,  // the column is the last one of a window
  input  logic                in_first_i, in_last_i,  // the row is the first, the last one
  input  logic                in_adds_i,
  input  logic [1:0]          in_row_i,
  input  logic                in_unsigned_i,
  input  logic [9:0]          in_imm_i,
  input  logic [SlotBits-1:0] in_slot_i,
  input  logic                in_pairs_i,
  input  hd_cfg_pkg::vec_t    x_i, before_i,
  input  hd_cfg_pkg::sums_t   base_i,

  output logic                valid_o,
  output logic [SlotBits-1:0] slot_o,
  output hd_cfg_pkg::consts_t pm_o,
  output hd_cfg_pkg::sums_t   sum_o
);
  localparam int unsigned N    = hd_cfg_pkg::N;
  localparam int unsigned Rows = 4;
  localparam int unsigned Cols = 3;

  logic signed [7:0]  w   [Rows][Cols][N];
  logic signed [9:0]  old [Rows][Cols-1][N];  // earlier inputs of the row, oldest first
  logic signed [9:0]  x   [Cols][N];
  logic [31:0]        base1  [N], base2  [N];  // what a sum begins with

  logic [2:0]          v_q, first_q, adds_q;
  logic [1:0]          last_q, row_q;
  logic [SlotBits-1:0] slot1_q, slot2_q;

  // What is simulated uses x and w in its one block alone, and keeps no copies of what it writes.
`ifdef SYNTHESIS
  `define HD_SET <=
  // A chain of hd_mac2 has the registers of the products and of their sum, and adds the rows.
  logic [32*N-1:0] dots;
  logic [1:0]      adds;  // see hd_mac2
  assign adds = {first_q[0] && adds_q[0], !first_q[0] || adds_q[0]};

  // -x by a digit of -2 to 2, d[1] + d[0] - 2 * d[2]: a number, and behind it one to add to that.
  function automatic logic [11:0] multiple(input logic [9:0] x, input logic [2:0] d);
    multiple = {d[2] == d[1] && d[1] == d[0] ? 11'd0 : d[1] != d[0] ? {x[9], x} : {x, 1'b0}, 1'b0} ^ {12{!d[2]}};
  endfunction

  // x by w, two bits of w at a time.
  function automatic logic [17:0] product(input logic [9:0] x, input logic [7:0] w);
    logic [8:0]  d;
    logic [11:0] sum, more;  // of the digits so far, above those bits of the product that are known
    d   = {w, 1'b0};
    sum = '0;
    for (int unsigned i = 0; i < 4; i++) begin
      more = multiple(x, d[2 * i +: 3]);
      sum  = 12'(({sum, 1'b0} - {more[11], more}) >> 1);  // a difference: yosys takes no LUT for more then
      product[2 * i +: 12] = sum;
      sum = {{2{sum[11]}}, sum[11:2]};
    end
  endfunction

  for (genvar n = 0; n < N; n++) begin : gen_dot
    logic [48*Cols-1:0] p;
    for (genvar k = 0; k < Cols; k++) begin : gen_link
      logic signed [7:0] tap;  // chosen before they are multiplied: one multiplier each
      always_comb begin
        tap = w[Rows-1][k][n];
        for (int unsigned r = 0; r < Rows - 1; r++) if (row_q == 2'(r)) tap = w[r][k][n];
      end
      if (k == 0) begin : gen_luts
        logic [17:0] first_q;
        assign p[47:0] = {{30{first_q[17]}}, first_q};
        always_ff @(posedge clk_i) if (v_q[0]) first_q <= product(x[k][n], tap);
      end else begin : gen_dsp
        hd_mac2 #(
          .Held(1'b0), .First(k == 1), .Last(k == Cols - 1), .Adds(k == Cols - 1), .Begins(k == 1)
        ) u_mac2 (
          .clk_i, .we_i(1'b0), .w0_i(tap), .w1_i('0), .en_i(v_q[0]), .x_i(x[k][n]), .sum_i(v_q[1]),
          .add_i(adds), .c_i(k == 1 ? p[47:0] : {{16{base2[n][31]}}, base2[n]}),
          .p_i(k == 1 ? 48'd0 : p[48 * k - 48 +: 48]), .p_o(p[48 * k +: 48])
        );
      end
    end
    assign dots[32 * n +: 32] = p[48 * Cols - 48 +: 32];
  end
`else
  `define HD_SET =
  logic signed [17:0] pr [Cols][N];
  logic [31:0]        dot [N], base3 [N];
`endif

  assign valid_o = v_q[1] && last_q[1];
  assign slot_o  = slot2_q;

  always_ff @(posedge clk_i) begin
    v_q     <= rst_ni ? {v_q[1:0], in_valid_i && in_sum_i} : '0;
    first_q <= {first_q[1:0], in_first_i};
    adds_q  <= {adds_q[1:0], in_adds_i};
    last_q  <= {last_q[0], in_last_i};
    row_q   <= in_row_i;
    slot1_q <= in_slot_i;
    slot2_q <= slot1_q;
    if (load_pm_i) pm_o <= pm_i;
  end

  always_ff @(posedge clk_i) begin
    // 4: sum of the rows
`ifdef SYNTHESIS
    if (v_q[2]) sum_o <= dots;
`else
    if (v_q[2])
      for (int unsigned n = 0; n < N; n++)
        sum_o[32 * n +: 32] <=
          (!first_q[2] ? sum_o[32 * n +: 32] : adds_q[2] ? base3[n] : 32'd0) + dot[n];
    // 3: sum of a row
    if (v_q[1])
      for (int unsigned n = 0; n < N; n++) dot[n] = 32'(pr[0][n]) + 32'(pr[1][n]) + 32'(pr[2][n]);
    if (v_q[1] && adds_q[1])
      for (int unsigned n = 0; n < N; n++) base3[n] = base2[n];
`endif
    if (v_q[0] && adds_q[0])
      for (int unsigned n = 0; n < N; n++) base2[n] `HD_SET base1[n];
    if (in_valid_i && in_adds_i)
      for (int unsigned n = 0; n < N; n++) base1[n] `HD_SET base_i[32 * n +: 32];
    // 2: products
`ifndef SYNTHESIS
    if (v_q[0]) begin : gen_products
      logic signed [7:0] tap [Cols][N];
      for (int unsigned k = 0; k < Cols; k++)
        for (int unsigned n = 0; n < N; n++) tap[k][n] = w[Rows-1][k][n];
      for (int unsigned r = 0; r < Rows - 1; r++)
        if (row_q == 2'(r))
          for (int unsigned k = 0; k < Cols; k++)
            for (int unsigned n = 0; n < N; n++) tap[k][n] = w[r][k][n];
      for (int unsigned k = 0; k < Cols; k++)
        for (int unsigned n = 0; n < N; n++) pr[k][n] = 18'(x[k][n]) * 18'(tap[k][n]);
    end
`endif
    // 1: window
    if (in_valid_i) begin : gen_window
      logic signed [9:0] newest, mid;
      for (int unsigned r = 0; r < Rows; r++)
        if (in_row_i == 2'(r))
          for (int unsigned n = 0; n < N; n++) begin
            newest = {{2{!in_unsigned_i && x_i[8 * n + 7]}}, x_i[8 * n +: 8]} + in_imm_i;
            mid = in_pairs_i ? {{2{!in_unsigned_i && before_i[8 * n + 7]}}, before_i[8 * n +: 8]} + in_imm_i :
                               old[r][1][n];
            x[0][n] `HD_SET in_pairs_i ? old[r][1][n] : old[r][0][n];
            x[1][n] `HD_SET mid;
            x[2][n] `HD_SET newest;
            old[r][0][n] = mid;
            old[r][1][n] = newest;
          end
    end
    if (load_hi_i)
      for (int unsigned n = 0; n < N; n++) begin
        w[2][2][n] `HD_SET pm_i[8 * n +: 8];
        w[3][0][n] `HD_SET pm_i[8 * (N + n) +: 8];
        w[3][1][n] `HD_SET pm_i[8 * (2 * N + n) +: 8];
        w[3][2][n] `HD_SET pm_i[8 * (3 * N + n) +: 8];
      end
    if (load_lo_i)
      for (int unsigned c = 1; c <= Cols; c++)
        if (width_i == 2'(c))
          for (int unsigned r = 0; r < Rows; r++)
            for (int unsigned k = 0; k < Cols; k++)
              for (int unsigned n = 0; n < N; n++)
                if (k + c < Cols) w[r][k][n] `HD_SET 8'd0;
                else if (r * c + k + c < Cols + 8)
                  w[r][k][n] `HD_SET pm_i[8 * ((r * c + k + c - Cols) % 8 * N + n) +: 8];
  end

  `ASSERT(WidthLegal, !load_lo_i || width_i != 2'd0)
endmodule
