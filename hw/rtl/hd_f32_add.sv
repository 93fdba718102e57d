// binary32 addition or subtraction, per lane.
//
// Guarantees: round to nearest even, subnormals exact, NaN results are 0x7fc00000.
// Latency: 4 cycles.
// Throughput: a vector a cycle.
// Stalls: never.
module hd_f32_add #(
  parameter int unsigned Lanes = 16
) (
  input  logic                clk_i, rst_ni,

  input  logic                en_i,
  input  logic                sub_i,  // 1: a - b
  input  logic [32*Lanes-1:0] a_i, b_i,

  output logic [32*Lanes-1:0] y_o
);
  logic [2:0]  en_q;
  // l is the operand of larger magnitude, s the other. Sums carry guard, round and sticky bits.
  logic [23:0] ml    [Lanes];
  logic [23:0] ms    [Lanes];
  logic [7:0]  gap  [Lanes];  // exponent of l - exponent of s
  logic [7:0]  ex1   [Lanes];
  logic [7:0]  ex2   [Lanes];
  logic [8:0]  ex3   [Lanes];  // biased exponent, 0 for a subnormal
  logic [27:0] sum   [Lanes];
  logic [26:0] mant  [Lanes];
  logic [3:0]  kind1 [Lanes];  // {subtract, sign, infinite, NaN}
  logic [3:0]  kind2 [Lanes];
  logic [3:0]  kind3 [Lanes];

  always_ff @(posedge clk_i) en_q <= rst_ni ? {en_q[1:0], en_i} : '0;

  always_ff @(posedge clk_i) begin
    // 4: round and pack; a carry out of the mantissa increments the exponent
    if (en_q[2])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_round
        logic [31:0] u;
        logic        sign;
        u = (ex3[n] == 9'd0 ? 32'd0 : {ex3[n] - 9'd1, 23'd0}) + 32'(mant[n][26:3]) +
            32'(mant[n][2] && (mant[n][1:0] != 2'd0 || mant[n][3]));
        if (kind3[n][1] || u[31:23] >= 9'd255) u = 32'h7f800000;
        // An exact zero is positive unless both operands were -0.
        sign = kind3[n][2] && !(kind3[n][3] && mant[n] == 27'd0 && !kind3[n][1]);
        y_o[32 * n +: 32] <= kind3[n][0] ? 32'h7fc00000 : {sign, u[30:0]};
      end
    // 3: normalise, but not below the smallest exponent
    if (en_q[1])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_normal
        logic [26:0] m;
        logic [8:0]  e;
        m = sum[n][26:0];
        e = {1'b0, ex2[n]};
        if (sum[n][27]) begin
          m = {sum[n][27:2], sum[n][1:0] != 2'd0};
          e = e + 9'd1;
        end else begin
          if (m[26:11] == 16'd0 && e > 9'd16) begin m = m << 16; e = e - 9'd16; end
          if (m[26:19] == 8'd0 && e > 9'd8) begin m = m << 8; e = e - 9'd8; end
          if (m[26:23] == 4'd0 && e > 9'd4) begin m = m << 4; e = e - 9'd4; end
          if (m[26:25] == 2'd0 && e > 9'd2) begin m = m << 2; e = e - 9'd2; end
          if (!m[26] && e > 9'd1) begin m = m << 1; e = e - 9'd1; end
        end
        mant[n]  = m;
        ex3[n]   = m[26] ? e : 9'd0;
        kind3[n] = kind2[n];
      end
    // 2: align and add
    if (en_q[0])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_sum
        logic [26:0] s, lost;
        logic [4:0]  sh;
        sh = gap[n] > 8'd27 ? 5'd27 : gap[n][4:0];
        lost = {ms[n], 3'd0} & ~(27'h7ffffff << sh);
        s = {ms[n], 3'd0} >> sh;
        s[0] = s[0] || lost != 27'd0;
        sum[n] = kind1[n][3] ? {1'b0, ml[n], 3'd0} - {1'b0, s} : {1'b0, ml[n], 3'd0} + {1'b0, s};
        ex2[n]   = ex1[n];
        kind2[n] = kind1[n];
      end
    // 1: unpack and order by magnitude
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_order
        logic [31:0] a, b, l;
        logic [30:0] s;
        logic        minus;
        a = a_i[32 * n +: 32];
        b = b_i[32 * n +: 32] ^ {sub_i, 31'd0};
        l = a[30:0] >= b[30:0] ? a : b;
        s = a[30:0] >= b[30:0] ? b[30:0] : a[30:0];
        minus = a[31] != b[31];
        ml[n]    = {l[30:23] != 8'd0, l[22:0]};
        ms[n]    = {s[30:23] != 8'd0, s[22:0]};
        ex1[n]   = l[30:23] == 8'd0 ? 8'd1 : l[30:23];
        gap[n]  = ex1[n] - (s[30:23] == 8'd0 ? 8'd1 : s[30:23]);
        kind1[n] = {minus, l[31], l[30:23] == 8'hff,
                    l[30:0] > 31'h7f800000 || (minus && s == 31'h7f800000)};
      end
  end
endmodule
