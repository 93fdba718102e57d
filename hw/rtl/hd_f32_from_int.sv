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
  // Raw bits, or the magnitude shifted so that its first one is bit 31; bit 32 for -2^n.
  logic [32:0] mag  [Lanes];
  logic [7:0]  ex   [Lanes];  // biased exponent of bit 31, less 1; 0 for zero and raw bits

  always_ff @(posedge clk_i) begin
    en_q  <= rst_ni && en_i;
    raw_q <= raw_i;
  end

  always_ff @(posedge clk_i) begin
    // A carry out of the mantissa, and the first one, increment the exponent.
    if (en_q)
      for (int unsigned n = 0; n < Lanes; n++)
        y_o[32 * n +: 32] <= {sign[n], {ex[n], 23'd0} +
                             (raw_q ? mag[n][30:0] : 31'(mag[n][32:8])) +
                             {30'd0, !raw_q && mag[n][7] && (mag[n][8] || mag[n][6:0] != 7'd0)}};
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_norm
        logic [31:0] a, m, one;  // one: of the integer, to negate it
        logic [Bits-1:0] flipped;
        logic [4:0]  s;  // places shifted, one too many for -2^n
        a = a_i[32 * n +: 32];
        sign[n] = a[31];
        flipped = a[Bits-1:0] ^ {Bits{sign[n]}};
        m = raw_i ? a : 32'(flipped) << Low;
        s = raw_i ? 5'd0 : m == 32'd0 ? 5'(Bits - 1) : hd_f32_pkg::zeros(m);
        one = 32'(sign[n] && !raw_i) << Low;
        mag[n] = 33'(m + one) << s;
        // 157 - Low - s
        ex[n]  = raw_i || (s == 5'(Bits - 1) && !a[0] && !sign[n]) ? 8'd0 : 8'(126 - Low) + {3'd0, ~s};
      end
  end
endmodule
