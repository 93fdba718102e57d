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
  logic [31:0] mag  [Lanes];  // raw bits, or the magnitude shifted so that its first one is bit 31
  logic [7:0]  ex   [Lanes];  // biased exponent - 1; 0 for zero

  always_ff @(posedge clk_i) begin
    en_q  <= rst_ni && en_i;
    raw_q <= raw_i;
  end

  always_ff @(posedge clk_i) begin
    if (en_q)
      for (int unsigned n = 0; n < Lanes; n++)
        if (raw_q) y_o[32 * n +: 32] <= mag[n];
        else
          // A carry out of the mantissa increments the exponent.
          y_o[32 * n +: 32] <= {sign[n], {ex[n], 23'd0} + 31'(mag[n][31:8]) +
                                         31'(mag[n][7] && (mag[n][8] || mag[n][6:0] != 7'd0))};
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_norm
        logic [31:0] m;
        logic [4:0]  s;  // places shifted
        sign[n] = a_i[32 * n + 31];
        m = (sign[n] && !raw_i) ? -a_i[32 * n +: 32] : a_i[32 * n +: 32];
        s = 5'd0;
        if (!raw_i) begin
          if (m[31:16] == 16'd0) begin m = m << 16; s[4] = 1'b1; end
          if (m[31:24] == 8'd0) begin m = m << 8; s[3] = 1'b1; end
          if (m[31:28] == 4'd0) begin m = m << 4; s[2] = 1'b1; end
          if (m[31:30] == 2'd0) begin m = m << 2; s[1] = 1'b1; end
          if (!m[31]) begin m = m << 1; s[0] = 1'b1; end
        end
        mag[n] = m;
        ex[n]  = m[31] ? 8'd126 + {3'd0, ~s} : 8'd0;  // 157 - s
      end
  end
endmodule
