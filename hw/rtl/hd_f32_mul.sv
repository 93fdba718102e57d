// binary32 multiplication, per lane.
//
// Guarantees: round to nearest even; a subnormal operand counts as zero, and so does a rounded
// result that is subnormal, with its sign. NaN results are 0x7fc00000.
// Latency: 4 cycles.
// Throughput: a vector a cycle.
// Stalls: never.
module hd_f32_mul #(
  parameter int unsigned Lanes = 16
) (
  input  logic                clk_i, rst_ni,

  input  logic                en_i,
  input  logic [32*Lanes-1:0] a_i, b_i,

  output logic [32*Lanes-1:0] y_o
);
  // Exponents are biased, as two's complement. These top bits stand for zero and infinity.
  localparam logic [2:0] Zero = 3'b101, Inf = 3'b010;

  logic [2:0]        en_q;
  logic [23:0]       ma    [Lanes];
  logic [23:0]       mb    [Lanes];
  logic [9:0]        ex1   [Lanes];  // of ma * mb when the product is in [2^46, 2^47)
  logic [9:0]        ex2   [Lanes];
  logic [9:0]        ex3   [Lanes];
  logic [47:0]       prod  [Lanes];
  logic [22:0]       mant  [Lanes];  // behind the point
  logic              up    [Lanes];  // rounds up
  logic [1:0]        kind1 [Lanes];  // {sign, NaN}
  logic [1:0]        kind2 [Lanes];
  logic [1:0]        kind3 [Lanes];

  always_ff @(posedge clk_i) en_q <= rst_ni ? {en_q[1:0], en_i} : '0;

  always_ff @(posedge clk_i) begin
    // 4: round and pack; a carry out of the mantissa increments the exponent
    if (en_q[2])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_round
        logic [32:0] u;
        logic        over, under;
        u = {ex3[n], mant[n]} + 33'(up[n]);
        under = u[32] || u[30:23] == 8'd0 && !u[31];
        over = !u[32] && (u[31] || u[30:23] == 8'hff) || kind3[n][0];
        y_o[32 * n +: 32] <= {kind3[n] == 2'b10, over ? 8'hff : under ? 8'd0 : u[30:23],
                              over || under ? {kind3[n][0], 22'd0} : u[22:0]};
      end
    // 3: normalise. Of exponent 0 only what IEEE rounds to the smallest normal number stays.
    if (en_q[1])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_normal
        logic [24:0] m;  // with the bit that rounds
        m = prod[n][47] ? prod[n][46:22] : prod[n][45:21];
        ex3[n]  = ex2[n] + 10'(prod[n][47]);
        mant[n] = m[24:2];
        up[n]   = (m[1] && (m[2] || m[0] || prod[n][21:0] != 22'd0)) || ex3[n] == 10'd0;
        kind3[n] = kind2[n];
      end
    // 2: multiply
    if (en_q[0])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_multiply
        // As two DSP48E2 take it: the upper product adds what the lower one has above its 17 bits.
        logic [40:0] low;
        low      = 41'(ma[n]) * 41'(mb[n][16:0]);
        prod[n]  = {31'(ma[n]) * 31'(mb[n][23:17]) + 31'(low[40:17]), low[16:0]};
        ex2[n]   = ex1[n];
        kind2[n] = kind1[n];
      end
    // 1: unpack
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_unpack
        logic [31:0] a, b;
        logic        zero, ones;
        logic [8:0]  e;
        a = a_i[32 * n +: 32];
        b = b_i[32 * n +: 32];
        zero = a[30:23] == 8'd0 || b[30:23] == 8'd0;
        ones = a[30:23] == 8'hff || b[30:23] == 8'hff;
        ma[n] = {1'b1, a[22:0]};
        mb[n] = {1'b1, b[22:0]};
        e = {1'b0, a[30:23]} + {1'b0, b[30:23]} + 9'd1;  // 128 too many
        ex1[n] = {{2{e[8:7] == 2'd0}} | {1'b0, e[8] && e[7]}, !e[7], e[6:0]};
        if (ones) ex1[n][9:7] = Inf;
        else if (zero) ex1[n][9:7] = Zero;
        kind1[n] = {a[31] ^ b[31],
                    (ones && zero) || (a[30:23] == 8'hff && a[22:0] != 23'd0) ||
                    (b[30:23] == 8'hff && b[22:0] != 23'd0)};
      end
  end
endmodule
