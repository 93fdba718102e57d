// Requantisation, per lane: clamp(rint(a * 2^q) + zp, lo, hi), low byte.
//
// Guarantees: rint rounds half to even and saturates at +-2^30, NaN gives 0. With word_i the result
// is rint alone, 32 bits; with raw_i the 32 bits pass unchanged.
// Latency: 3 cycles.
// Throughput: a vector a cycle.
// Stalls: never.
module hd_f32_to_int #(
  parameter int unsigned Lanes = 16
) (
  input  logic                clk_i, rst_ni,

  input  logic                en_i, raw_i, word_i,
  input  logic signed [5:0]   q_i,
  input  logic signed [15:0]  zp_i, lo_i, hi_i,
  input  logic [32*Lanes-1:0] a_i,

  output logic [32*Lanes-1:0] y_o  // raw, word: lane n at 32 * n; else byte n at 8 * n, other bits any
);
  logic [1:0]         en_q, word_q;
  logic               raw_q;
  logic signed [15:0] zp1_q, zp2_q, lo1_q, lo2_q, hi1_q, hi2_q;
  logic [31:0]        mag  [Lanes];  // raw bits, or the magnitude cut to an integer
  logic               sign [Lanes];
  logic               up   [Lanes];  // the magnitude rounds up
  logic [31:0]        val  [Lanes];  // raw bits, or the rounded value

  always_ff @(posedge clk_i) begin
    en_q  <= rst_ni ? {en_q[0], en_i} : '0;
    raw_q <= raw_i;
    word_q <= {word_q[0], raw_i || word_i};
    zp1_q <= zp_i;
    zp2_q <= zp1_q;
    lo1_q <= lo_i;
    lo2_q <= lo1_q;
    hi1_q <= hi_i;
    hi2_q <= hi1_q;
  end

  always_ff @(posedge clk_i) begin
    // 3: zero point and clamp
    if (en_q[1])
      for (int unsigned n = 0; n < Lanes; n++)
        if (word_q[1]) y_o[32 * n +: 32] <= val[n];
        else begin : gen_clamp
          logic signed [31:0] q;
          q = signed'(val[n]) + 32'(zp2_q);
          y_o[8 * n +: 8] <= q < 32'(lo2_q) ? lo2_q[7:0] : q > 32'(hi2_q) ? hi2_q[7:0] : q[7:0];
        end
    // 2: round, sign
    if (en_q[0])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_round
        logic [31:0] m;
        m = mag[n] + 32'(up[n] && !raw_q);
        val[n] = sign[n] && !raw_q ? -m : m;
      end
    // 1: cut to an integer. sh: how far the mantissa (an integer times 2^(e-150)) moves
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_cut
        logic [31:0] a;
        logic [23:0] m, lost;
        logic [4:0]  sh;
        logic        half;
        logic signed [9:0] e;   // biased exponent of a * 2^q
        a = a_i[32 * n +: 32];
        e = 10'({2'd0, a[30:23]}) + 10'(q_i);
        if (a[30:23] == 8'd0) e = 10'sd0;
        if (a[30:23] == 8'hff) e = 10'sd255;
        m = {1'b1, a[22:0]};
        sign[n] = a[31];
        up[n] = 1'b0;
        if (raw_i) mag[n] = a;
        else if (a[30:0] > 31'h7f800000) mag[n] = 32'd0;
        else if (e >= 10'sd157) mag[n] = 32'h40000000;
        else if (e >= 10'sd150) mag[n] = 32'(m) << 3'(e - 10'sd150);
        else if (e < 10'sd126) mag[n] = 32'd0;
        else begin
          sh = 5'(10'sd150 - e);  // 1 .. 24
          mag[n] = 32'(m) >> sh;
          lost = m & ~(24'hffffff << sh);
          half = ((32'(m) >> (sh - 5'd1)) & 32'd1) != 32'd0;
          lost = lost & ~(24'd1 << (sh - 5'd1));
          up[n] = half && (lost != 24'd0 || mag[n][0]);
        end
      end
  end
endmodule
