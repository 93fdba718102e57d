// binary32 multiplication, per lane.
//
// Guarantees: round to nearest even, subnormals exact, NaN results are 0x7fc00000.
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
  // Class of a result.
  localparam logic [1:0] Finite = 2'd0, Zero = 2'd1, Inf = 2'd2, Nan = 2'd3;

  // {exponent, 24-bit mantissa with its first one at bit 23} of a number that is not zero; the
  // exponent is 1 .. 254, lower for subnormals, as 10-bit two's complement.
  function automatic logic [33:0] unpack(input logic [30:0] v);
    logic [23:0] m;
    logic [9:0]  e;
    m = {v[30:23] != 8'd0, v[22:0]};
    e = v[30:23] == 8'd0 ? 10'd1 : {2'd0, v[30:23]};
    if (!m[23]) begin
      if (m[23:8] == 16'd0) begin m = m << 16; e = e - 10'd16; end
      if (m[23:16] == 8'd0) begin m = m << 8; e = e - 10'd8; end
      if (m[23:20] == 4'd0) begin m = m << 4; e = e - 10'd4; end
      if (m[23:22] == 2'd0) begin m = m << 2; e = e - 10'd2; end
      if (!m[23]) begin m = m << 1; e = e - 10'd1; end
    end
    unpack = {e, m};
  endfunction

  logic [2:0]        en_q;
  logic [23:0]       ma    [Lanes];
  logic [23:0]       mb    [Lanes];
  logic signed [9:0] ex1   [Lanes];  // exponent of ma * mb when the product is in [2^46, 2^47)
  logic signed [9:0] ex2   [Lanes];
  logic [47:0]       prod  [Lanes];
  logic [25:0]       mant  [Lanes];  // {mantissa, guard, sticky}
  logic [8:0]        ex3   [Lanes];  // biased exponent, 0 for a subnormal
  logic [2:0]        kind1 [Lanes];  // {sign, class}
  logic [2:0]        kind2 [Lanes];
  logic [2:0]        kind3 [Lanes];

  always_ff @(posedge clk_i) en_q <= rst_ni ? {en_q[1:0], en_i} : '0;

  always_ff @(posedge clk_i) begin
    // 4: round and pack; a carry out of the mantissa increments the exponent
    if (en_q[2])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_round
        logic [31:0] u;
        u = (ex3[n] == 9'd0 ? 32'd0 : {ex3[n] - 9'd1, 23'd0}) + 32'(mant[n][25:2]) +
            32'(mant[n][1] && (mant[n][0] || mant[n][2]));
        if (kind3[n][1:0] == Zero) u = 32'd0;
        if (kind3[n][1:0] == Inf || (kind3[n][1:0] == Finite && u[31:23] >= 9'd255))
          u = 32'h7f800000;
        y_o[32 * n +: 32] <= kind3[n][1:0] == Nan ? 32'h7fc00000 : {kind3[n][2], u[30:0]};
      end
    // 3: normalise, denormalise below the smallest exponent
    if (en_q[1])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_normal
        logic [25:0]       m, lost;
        logic signed [9:0] e;
        logic [4:0]        sh;
        m = prod[n][47] ? {prod[n][47:23], prod[n][22:0] != 23'd0} :
                          {prod[n][46:22], prod[n][21:0] != 22'd0};
        e = ex2[n] + 10'(prod[n][47]);
        sh = e > 10'sd0 ? 5'd0 : e < -10'sd25 ? 5'd26 : 5'(10'sd1 - e);
        lost = m & ~(26'h3ffffff << sh);
        m = m >> sh;
        mant[n]  = {m[25:1], m[0] || lost != 26'd0};
        ex3[n]   = e > 10'sd0 ? e[8:0] : 9'd0;
        kind3[n] = kind2[n];
      end
    // 2: multiply
    if (en_q[0])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_multiply
        prod[n]  = 48'(ma[n]) * 48'(mb[n]);
        ex2[n]   = ex1[n];
        kind2[n] = kind1[n];
      end
    // 1: unpack
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_unpack
        logic [31:0] a, b;
        logic [9:0]  ea, eb;
        a = a_i[32 * n +: 32];
        b = b_i[32 * n +: 32];
        {ea, ma[n]} = unpack(a[30:0]);
        {eb, mb[n]} = unpack(b[30:0]);
        ex1[n] = signed'(ea + eb - 10'd127);
        kind1[n] = {a[31] ^ b[31], Finite};
        if (a[30:0] == 31'd0 || b[30:0] == 31'd0) kind1[n][1:0] = Zero;
        if (a[30:23] == 8'hff || b[30:23] == 8'hff)
          kind1[n][1:0] = kind1[n][1:0] == Zero ? Nan : Inf;
        if (a[30:0] > 31'h7f800000 || b[30:0] > 31'h7f800000) kind1[n][1:0] = Nan;
      end
  end
endmodule
