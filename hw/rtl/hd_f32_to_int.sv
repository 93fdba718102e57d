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
  logic signed [17:0] min1_q, min2_q, max1_q, max2_q;  // of the rounded value, so that zp is in reach
  logic [7:0]         zp1_q, zp2_q, lo1_q, lo2_q, hi1_q, hi2_q;
  logic [31:0]        mag  [Lanes];  // raw bits, or the magnitude cut to an integer
  logic               sign [Lanes];
  logic               up   [Lanes];  // the magnitude rounds up
  logic [31:0]        val  [Lanes];  // raw bits, or the rounded value

  always_ff @(posedge clk_i) begin
    en_q   <= rst_ni ? {en_q[0], en_i} : '0;
    word_q <= {word_q[0], raw_i || word_i};
    min1_q <= 18'(lo_i) - 18'(zp_i);
    min2_q <= min1_q;
    max1_q <= 18'(hi_i) - 18'(zp_i);
    max2_q <= max1_q;
    zp1_q  <= zp_i[7:0];
    zp2_q  <= zp1_q;
    lo1_q  <= lo_i[7:0];
    lo2_q  <= lo1_q;
    hi1_q  <= hi_i[7:0];
    hi2_q  <= hi1_q;
  end

  always_ff @(posedge clk_i) begin
    // 3: zero point and clamp
    if (en_q[1])
      for (int unsigned n = 0; n < Lanes; n++)
        if (word_q[1]) y_o[32 * n +: 32] <= val[n];
        else begin : gen_clamp
          logic signed [17:0] v;  // beyond 17 bits it is clamped anyway
          v = val[n][31:17] == {15{val[n][31]}} ? val[n][17:0] : {val[n][31], {17{!val[n][31]}}};
          y_o[8 * n +: 8] <= v < min2_q ? lo2_q : v > max2_q ? hi2_q : val[n][7:0] + zp2_q;
        end
    // 2: round, sign: -(m + 1) is ~m
    if (en_q[0])
      for (int unsigned n = 0; n < Lanes; n++)
        val[n] = (mag[n] ^ {32{sign[n]}}) + {31'd0, up[n] ^ sign[n]};
    // 1: cut to an integer
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_cut
        logic [31:0]       a;
        logic [31:0]       m;   // two places behind the point, the last one of all that follow
        logic signed [9:0] e;   // places from 2^29 down to the first one, 125 or more of a subnormal
        logic              nan, none, big;
        a = a_i[32 * n +: 32];
        e = 10'sd156 - 10'(q_i) - signed'({2'd0, a[30:23]});
        nan = a[30:23] == 8'hff && a[22:0] != 23'd0;
        none = nan || (!e[9] && e[8:5] != 4'd0);
        big = e[9];  // so is that of an infinity
        m = {1'b1, a[22:0], 8'd0};
        if (e[4]) m = {16'd0, m[31:17], m[16:0] != 17'd0};
        if (e[3]) m = {8'd0, m[31:9], m[8:0] != 9'd0};
        if (e[2]) m = {4'd0, m[31:5], m[4:0] != 5'd0};
        if (e[1]) m = {2'd0, m[31:3], m[2:0] != 3'd0};
        if (e[0]) m = {1'd0, m[31:2], m[1:0] != 2'd0};
        mag[n]  = raw_i ? a : none ? 32'd0 : big ? 32'h40000000 : {2'd0, m[31:2]};
        sign[n] = a[31] && !raw_i;
        up[n]   = !raw_i && !none && !big && m[1] && (m[0] || m[2]);
      end
  end
endmodule
