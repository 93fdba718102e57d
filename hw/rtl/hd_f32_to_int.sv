// Requantisation, per lane: clamp(rint(a * 2^q) + zp, lo, hi), low byte.
//
// Guarantees: rint rounds half to even and saturates at +-2^30, NaN gives 0. With word_i word_o is
// rint alone, else the 32 bits pass there unchanged.
// Latency: 3 cycles.
// Throughput: a vector a cycle.
// Stalls: never.
module hd_f32_to_int #(
  parameter int unsigned Lanes = 16
) (
  input  logic                clk_i, rst_ni,

  input  logic                en_i, word_i,
  input  logic [7:0]          top_i,  // biased exponent that reaches 2^29: 156 - q
  input  logic signed [15:0]  zp_i, lo_i, hi_i,
  input  logic [32*Lanes-1:0] a_i,

  output logic [8*Lanes-1:0]  byte_o,
  output logic [32*Lanes-1:0] word_o
);
  localparam int unsigned Bits      = 30;  // of a magnitude
  localparam int unsigned ShiftBits = 5;
  localparam int unsigned SumBits   = 18;  // of what is clamped

  logic [1:0]           en_q, word_q;
  logic signed [15:0]   zp1_q, lo1_q, lo2_q, hi1_q, hi2_q;
  logic [31:0]          raw1 [Lanes];
  logic [31:0]          raw2 [Lanes];
  logic [Bits:0]        mag  [Lanes];  // the magnitude cut to an integer
  logic                 sign [Lanes];
  logic                 up   [Lanes];  // the magnitude rounds up
  logic signed [Bits+1:0] sum [Lanes];  // the rounded value + zp

  always_ff @(posedge clk_i) begin
    en_q   <= rst_ni ? {en_q[0], en_i} : '0;
    word_q <= {word_q[0], word_i};
    zp1_q  <= word_i ? '0 : zp_i;
    lo1_q  <= lo_i;
    lo2_q  <= lo1_q;
    hi1_q  <= hi_i;
    hi2_q  <= hi1_q;
  end

  always_ff @(posedge clk_i) begin
    // 3: clamp; what does not fit SumBits is beyond lo or hi by its sign
    if (en_q[1])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_clamp
        logic fits, below, above;
        fits  = sum[n][Bits+1:SumBits-1] == '0 || sum[n][Bits+1:SumBits-1] == '1;
        below = fits ? SumBits'(sum[n]) < SumBits'(lo2_q) : sum[n][Bits+1];
        above = fits ? SumBits'(sum[n]) > SumBits'(hi2_q) : !sum[n][Bits+1];
        byte_o[8 * n +: 8]   <= below ? lo2_q[7:0] : above ? hi2_q[7:0] : sum[n][7:0];
        word_o[32 * n +: 32] <= word_q[1] ? 32'(sum[n]) : raw2[n];
      end
    // 2: round, sign: -(m + 1) is ~m
    if (en_q[0])
      for (int unsigned n = 0; n < Lanes; n++) begin
        sum[n]  = (Bits + 2)'(zp1_q) + signed'({1'b0, mag[n]} ^ {Bits + 2{sign[n]}}) +
                  signed'({{Bits + 1{1'b0}}, up[n] ^ sign[n]});
        raw2[n] = raw1[n];
      end
    // 1: cut to an integer
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_cut
        logic [31:0]       a, f;
        logic [Bits+1:0]   m;   // two places behind the point, the last one of all that follow
        logic signed [8:0] e;   // places from 2^(Bits - 1) down to the first one
        logic              none, big;
        a = a_i[32 * n +: 32];
        e = signed'({1'b0, top_i}) - signed'({1'b0, a[30:23]});
        none = (a[30:23] == 8'hff && a[22:0] != 23'd0) || (!e[8] && e[7:ShiftBits] != '0);
        big = e[8];  // so is that of an infinity
        f = {1'b1, a[22:0], 8'd0};
        m = {f[31 -: Bits + 1], f[30-Bits:0] != '0};
        for (int unsigned i = 0; i < ShiftBits; i++)
          if (e[i]) m = (m >> (1 << i)) | (Bits + 2)'((m & (Bits + 2)'((1 << (1 << i)) - 1)) != '0);
        mag[n]  = {big && !none, none || big ? Bits'(0) : m[Bits+1:2]};
        sign[n] = a[31];
        up[n]   = !none && !big && m[1] && (m[0] || m[2]);
        raw1[n] = a;
      end
  end
endmodule
