// binary32 addition or subtraction, per lane.
//
// Guarantees: round to nearest even; a subnormal operand counts as zero, and so does a result that
// is subnormal, with its sign. NaN results are 0x7fc00000.
// Latency: 4 cycles.
// Throughput: a vector a cycle.
// Stalls: never.
module hd_f32_add #(
  parameter int unsigned Lanes = 16
) (
  input  logic                clk_i, rst_ni,

  input  logic                en_i,
  input  logic                sub_i,  // 1: a - b
  input  logic                one_i,  // a alone, which is neither subnormal nor another NaN
  input  logic [32*Lanes-1:0] a_i, b_i,

  output logic [32*Lanes-1:0] y_o
);
  logic [2:0]  en_q;
  // l is the operand of larger magnitude, s the other. Sums carry guard, round and sticky bits.
  logic [23:0] ml    [Lanes];
  logic [23:0] ms    [Lanes];
  logic [7:0]  gap   [Lanes];  // exponent of l - exponent of s
  logic [7:0]  ex1   [Lanes];
  logic [7:0]  ex2   [Lanes];
  logic [9:0]  ex3   [Lanes];  // biased exponent, as two's complement
  logic [27:0] sum   [Lanes];
  logic [22:0] mant  [Lanes];  // behind the point
  logic        up    [Lanes];  // rounds up
  logic        none  [Lanes];  // the sum is zero
  logic [3:0]  kind1 [Lanes];  // {subtract, sign, infinite, NaN}
  logic [3:0]  kind2 [Lanes];
  logic [3:0]  kind3 [Lanes];

  always_ff @(posedge clk_i) en_q <= rst_ni ? {en_q[1:0], en_i} : '0;

  always_ff @(posedge clk_i) begin
    // 4: round and pack; a carry out of the mantissa increments the exponent
    if (en_q[2])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_round
        logic [32:0] u;
        logic        over, under;
        u = {ex3[n], mant[n]} + 33'(up[n]);
        over = kind3[n][1] || kind3[n][0] || (!u[32] && (u[31] || u[30:23] == 8'hff));
        under = none[n] || u[32] || u[30:23] == 8'd0;
        // An exact zero is positive unless both operands were -0.
        y_o[32 * n +: 32] <= {kind3[n][2] && !kind3[n][0] && !(kind3[n][3] && none[n] && !over),
                              over ? 8'hff : under ? 8'd0 : u[30:23],
                              over || under ? {kind3[n][0], 22'd0} : u[22:0]};
      end
    // 3: normalise
    if (en_q[1])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_normal
        logic [4:0]  z;
        logic [27:0] m;
        z = hd_f32_pkg::zeros({sum[n], 4'd0});
        m = sum[n] << z;
        mant[n]  = m[26:4];
        up[n]    = m[3] && (m[4] || m[2:0] != 3'd0);
        none[n]  = !m[27];
        ex3[n]   = {2'd0, ex2[n]} + 10'd1 - {5'd0, z};
        kind3[n] = kind2[n];
      end
    // 2: align and add
    if (en_q[0])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_sum
        logic [26:0] s;
        s = {ms[n], 3'd0};
        if (gap[n][7:5] != 3'd0) s = {26'd0, ms[n][23]};
        if (gap[n][4]) s = {16'd0, s[26:17], s[16:0] != 17'd0};
        if (gap[n][3]) s = {8'd0, s[26:9], s[8:0] != 9'd0};
        if (gap[n][2]) s = {4'd0, s[26:5], s[4:0] != 5'd0};
        if (gap[n][1]) s = {2'd0, s[26:3], s[2:0] != 3'd0};
        if (gap[n][0]) s = {1'd0, s[26:2], s[1:0] != 2'd0};
        sum[n] = 28'(({1'b0, ml[n], 3'd0, 1'b1} +
                      {{28{kind1[n][3]}} ^ {1'b0, s}, kind1[n][3]}) >> 1);
        ex2[n]   = ex1[n];
        kind2[n] = kind1[n];
      end
    // 1: unpack and order by magnitude
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_order
        logic [31:0] a, b, l;
        logic [30:0] s;
        logic        minus, first;
        a = a_i[32 * n +: 32];
        b = b_i[32 * n +: 32] ^ {sub_i, 31'd0};
        first = a[30:0] >= b[30:0] || one_i;
        l = first ? a : b;
        s = first ? b[30:0] : a[30:0];
        minus = a[31] != b[31] && !one_i;
        ml[n]    = l[30:23] == 8'd0 ? 24'd0 : {1'b1, l[22:0]};
        ms[n]    = s[30:23] == 8'd0 || one_i ? 24'd0 : {1'b1, s[22:0]};
        ex1[n]   = l[30:23];
        // Not l - s: abc would find its bits equal to those of the comparison, and close a loop.
        gap[n]   = first ? a[30:23] - b[30:23] : b[30:23] - a[30:23];
        kind1[n] = {minus, l[31], l[30:23] == 8'hff,
                    l[30:23] == 8'hff && (l[22:0] != 23'd0 || (minus && s[30:23] == 8'hff))};
      end
  end
endmodule
