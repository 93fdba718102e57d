// int32 to binary32, per lane.
//
// Guarantees: round to nearest even. With raw_i the 32 bits pass unchanged.
// Latency: 2 cycles.
// Throughput: a vector a cycle.
// Stalls: never.
module hd_f32_from_int #(
  parameter int unsigned Lanes = 16
) (
  input  logic                clk_i, rst_ni,

  input  logic                en_i, raw_i,
  input  logic [32*Lanes-1:0] a_i,

  output logic [32*Lanes-1:0] y_o
);
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
        logic [31:0] m;
        logic [4:0]  s;  // places shifted, one too many for -2^n
        sign[n] = a_i[32 * n + 31];
        m = a_i[32 * n +: 32] ^ {32{sign[n] && !raw_i}};
        s = hd_f32_pkg::zeros(m) & {5{!raw_i}};
        mag[n] = 33'(m + 32'(sign[n] && !raw_i)) << s;
        ex[n]  = raw_i || (s == 5'd31 && !a_i[32 * n] && !sign[n]) ? 8'd0 : 8'd126 + {3'd0, ~s};  // 157 - s
      end
  end
endmodule
