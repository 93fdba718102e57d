// Integers of Bits bits (of 32, signed) to binary32, per lane.
//
// Guarantees: round to nearest even. With raw_i the 32 bits pass unchanged.
// Latency: 2 cycles.
// Throughput: a vector a cycle.
// Stalls: never.
module hd_f32_from_int #(
  parameter int unsigned Lanes = 16,
  parameter int unsigned Bits  = 32
) (
  input  logic                clk_i, rst_ni,

  input  logic                en_i, raw_i,
  input  logic [32*Lanes-1:0] a_i,

  output logic [32*Lanes-1:0] y_o
);
  localparam int unsigned Low = 32 - Bits;  // below an integer that begins at bit 31

  logic        en_q, raw_q;
  logic        sign [Lanes];
  // Raw bits, or the integer shifted so that the first bit of its magnitude is bit 31: for a negative
  // one bits are inverted and the magnitude is one less, which rounding makes up for.
  logic [31:0] mag  [Lanes];
  logic [7:0]  ex   [Lanes];  // biased exponent, 0 of zero; of -1 one less

  always_ff @(posedge clk_i) begin
    en_q  <= rst_ni && en_i;
    raw_q <= raw_i;
  end

  always_ff @(posedge clk_i) begin
    // A carry out of the mantissa increments the exponent.
    if (en_q)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_round
        logic up;
        // Of a negative one what is below stands for one more.
        up = mag[n][7] != sign[n] && ((mag[n][6:0] ^ {7{sign[n]}}) != 7'd0 || mag[n][8] != sign[n]);
        if (sign[n]) up = !mag[n][7] || (mag[n][6:0] == 7'd0 && !mag[n][8]);
        y_o[32 * n +: 32] <= {sign[n], {ex[n], raw_q ? mag[n][22:0] : mag[n][30:8] ^ {23{sign[n]}}} +
                                       31'(up && !raw_q)};
      end
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_norm
        logic [31:0] a, m;
        logic [Bits-1:0] flipped;
        logic [4:0]  s;  // places shifted
        a = a_i[32 * n +: 32];
        sign[n] = a[31];
        flipped = a[Bits-1:0] ^ {Bits{a[31]}};
        s = hd_f32_pkg::zeros((32'(flipped) | 32'd1) << Low);  // of 0 as of 1
        ex[n] = raw_i ? a[30:23] : s != 5'(Bits - 1) || flipped[0] ? 8'(127 - Low) + {3'd0, ~s} :
                a[31] ? 8'd126 : 8'd0;
        if (raw_i) s = 5'd0;
        m = raw_i ? a : 32'(a[Bits-1:0]) << Low;
        for (int unsigned i = 5; i > 0; i--) if (s[i-1]) m = m << (1 << (i - 1));  // the last bits come last
        mag[n] = m;
      end
  end
endmodule
