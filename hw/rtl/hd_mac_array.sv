// Weight memory and the dot-product array: acc[n] (+)= sum over k of x[k] * WM[addr][n][k].
//
// WM is written in parts of AxiBytes: part p of a word holds its bytes p * AxiBytes and up; byte n
// * K + k is w[n][k]. With part_i.col the parts are of column k: part p holds w[p * AxiBytes and
// up][k].
// For synthesis WM is one block RAM per part, two columns share the multipliers of hd_mac2, one DSP48E2
// for two products, and chains of four of them add; simulation holds the same bytes as one array and multiplies each by
// itself, which is 1.2 (16 x 16) to 3 times (32 x 32) faster. The benches pass with either
// (+define+SYNTHESIS).
// One clocked block with plain loops over narrow unpacked arrays, stages updated last to first:
// this is what makes the simulation fast (the loops become vector instructions of the host).
//
// Guarantees: sums are exact modulo 2^32; a write is visible to steps of the next cycle.
// Latency: 7 cycles from en_i to acc_o; x_i is taken 2 cycles after en_i, which is the read latency
// of XM.
// Throughput: a word of new weights and a step a cycle.
// Stalls: never.
`include "hd_assert.svh"

module hd_mac_array (
  input  logic              clk_i, rst_ni,

  // Weight write port
  input  hd_bus_pkg::part_t part_i,  // those of PM and TM are others'
  input  hd_cfg_pkg::data_t wdata_i,

  // One step: multiply XM word x_i (2 cycles later) by WM word addr_i
  input  logic              en_i,
  input  logic [23:0]       addr_i,
  input  logic              first_i,  // 1: the sum starts here
  input  logic              x_unsigned_i,
  input  hd_cfg_pkg::x_t    x_i,

  output hd_cfg_pkg::sums_t acc_o
);
  localparam int unsigned K        = hd_cfg_pkg::K;
  localparam int unsigned N        = hd_cfg_pkg::N;
  localparam int unsigned AxiBytes = hd_cfg_pkg::AxiBytes;
  localparam int unsigned Words    = hd_cfg_pkg::WmWords;
  localparam int unsigned AddrBits = $clog2(Words);
  localparam int unsigned G4       = K / 4;          // sums of 4 products
  localparam int unsigned G16      = (G4 + 3) / 4;   // sums of up to 16 products

  logic signed [17:0] s4  [G4][N];
  logic signed [31:0] s16 [G16][N];
  logic signed [31:0] sum [N];

  // Bit i: the step given i + 1 cycles ago.
  logic [5:0] en_q, first_q;
  logic [1:0] uns_q;

`ifdef SYNTHESIS
  localparam bit          HasCol   = hd_cfg_pkg::Functions != 0;  // hd_lw refuses columns otherwise
  logic [8*N*K-1:0]   w1;     // read registers of the memory
  logic [18*N*G4-1:0] sums4;

  for (genvar p = 0; p < N * K / AxiBytes; p++) begin : gen_part
    logic [AxiBytes-1:0]   be;
    logic [8*AxiBytes-1:0] wdata;
    always_comb
      for (int unsigned b = 0; b < AxiBytes; b++) begin
        be[b] = part_i.wm && (part_i.col && HasCol ? 32'(part_i.k) == (p * AxiBytes + b) % K &&
                                  32'(part_i.part) == (p * AxiBytes + b) / K / AxiBytes :
                                  part_i.part == 9'(p));
        wdata[8 * b +: 8] = part_i.col && HasCol ? wdata_i[8 * ((p * AxiBytes + b) / K % AxiBytes) +: 8] :
                                     wdata_i[8 * b +: 8];
      end
    hd_ram #(.Width(8 * AxiBytes), .Depth(Words), .BeBits(8)) u_ram (
      .clk_i,
      .we_i(be),
      .re_i(en_i), .raddr_i(addr_i[AddrBits-1:0]), .rdata_o(w1[8 * AxiBytes * p +: 8 * AxiBytes]),
      .waddr_i(part_i.addr[AddrBits-1:0]), .wdata_i(wdata)
    );
  end

  // A chain of hd_mac2 adds 4 products of two columns. It has the output registers of the memory, those
  // of the products and those of the sums.
  for (genvar g = 0; g < G4; g++) begin : gen_g
    for (genvar n = 0; n < N; n += 2) begin : gen_n
      logic [48*5-1:0] p;
      assign p[47:0] = '0;
      for (genvar i = 0; i < 4; i++) begin : gen_link
        localparam int unsigned k = 4 * g + i;
        hd_mac2 #(.First(i == 0), .Last(i == 3)) u_mac2 (
          .clk_i, .we_i(en_q[0]), .w0_i(w1[8 * (n * K + k) +: 8]), .w1_i(w1[8 * (n * K + K + k) +: 8]),
          .en_i(en_q[1]), .x_i({{2{!uns_q[1] && x_i[8 * k + 7]}}, x_i[8 * k +: 8]}),
          .sum_i(en_q[2]), .add_i('0), .c_i('0), .p_i(p[48 * i +: 48]), .p_o(p[48 * i + 48 +: 48])
        );
      end
      assign sums4[18 * (N * g + n) +: 36] = {p[48 * 4 + 18 +: 18], !p[48 * 4 + 17], p[48 * 4 +: 17]};
    end
  end
`else
  logic signed [7:0]  w2  [K][N];                    // output register of the memory
  logic signed [15:0] x   [K];
  logic signed [15:0] pr  [K][N];
  logic signed [7:0]  wm  [Words][K][N];
  logic signed [7:0]  w1  [K][N];                    // read register of the memory
`endif

  always_ff @(posedge clk_i) begin
    en_q    <= rst_ni ? {en_q[4:0], en_i} : '0;
    first_q <= rst_ni ? {first_q[4:0], first_i} : '0;  // a reset keeps it from a shift register of LUTs, which cannot be doubled
    uns_q   <= {uns_q[0], x_unsigned_i};
  end

  always_ff @(posedge clk_i) begin
    if (en_q[5])
      for (int unsigned n = 0; n < N; n++)
        acc_o[32 * n +: 32] <= first_q[5] ? sum[n] : acc_o[32 * n +: 32] + sum[n];
    if (en_q[4])
      for (int unsigned n = 0; n < N; n++)
        sum[n] = G16 == 1 ? s16[0][n] :
                 G16 == 2 ? s16[0][n] + s16[G16 / 2][n] :
                 (s16[0][n] + s16[G16 / 4][n]) + (s16[G16 / 2][n] + s16[G16 - 1][n]);
`ifdef SYNTHESIS
    for (int unsigned g = 0; g < G4; g++)
      for (int unsigned n = 0; n < N; n++) s4[g][n] = sums4[18 * (N * g + n) +: 18];
`endif
    if (en_q[3])
      for (int unsigned g = 0; g < G16; g++)
        for (int unsigned n = 0; n < N; n++)
          s16[g][n] = G4 == 2 ? 32'(s4[0][n]) + 32'(s4[1][n]) :
                      (32'(s4[4 * g][n]) + 32'(s4[(4 * g + 1) % G4][n])) +
                      (32'(s4[(4 * g + 2) % G4][n]) + 32'(s4[(4 * g + 3) % G4][n]));
`ifndef SYNTHESIS
    if (en_q[2])
      for (int unsigned g = 0; g < G4; g++)
        for (int unsigned n = 0; n < N; n++)
          s4[g][n] = (18'(pr[4 * g][n]) + 18'(pr[4 * g + 1][n])) +
                     (18'(pr[4 * g + 2][n]) + 18'(pr[4 * g + 3][n]));
    // A product of uint8 or int8 by int8 fits 16 bits.
    if (en_q[1]) begin
      for (int unsigned k = 0; k < K; k++)
        x[k] = {uns_q[1] ? 8'd0 : {8{x_i[8 * k + 7]}}, x_i[8 * k +: 8]};
      for (int unsigned k = 0; k < K; k++)
        for (int unsigned n = 0; n < N; n++) pr[k][n] = x[k] * 16'(w2[k][n]);
    end
    if (en_q[0])
      for (int unsigned k = 0; k < K; k++)
        for (int unsigned n = 0; n < N; n++) w2[k][n] = w1[k][n];
    if (en_i)
      for (int unsigned k = 0; k < K; k++)
        for (int unsigned n = 0; n < N; n++) w1[k][n] = wm[addr_i[AddrBits-1:0]][k][n];
    if (part_i.wm && part_i.col) begin
      for (int unsigned j = 0; j < AxiBytes && j < N; j++)
        wm[part_i.addr[AddrBits-1:0]][part_i.k[$clog2(K)-1:0]][(32'(part_i.part) * AxiBytes + j) % N] =
          wdata_i[8 * j +: 8];
    end else if (part_i.wm)
      for (int unsigned j = 0; j < AxiBytes; j++)
        wm[part_i.addr[AddrBits-1:0]][(32'(part_i.part) * AxiBytes + j) % K]
          [(32'(part_i.part) * AxiBytes + j) / K % N] = wdata_i[8 * j +: 8];
`endif
  end

  `ASSERT_INIT(WordHoldsPart, N * K >= AxiBytes && N * K / AxiBytes <= 512)
endmodule
