// exp, 1/x, 1/sqrt(x), tanh and sigmoid in binary32, per lane: the argument becomes a row of a table
// and a position t in it, the row's quadratic gives a fixed-point value, which is rounded to binary32.
//
// Lanes share the text of the table; block RAM holds it once for every two lanes. One DSP48E2 each
// for slope and value: t as a signed number is t - 2^17, and what that leaves out is added beside
// the multiplication. No y of a table is above 1 (2 for exp), test_fn.c tries them all.
//
// Guarantees: results are to the bit as docs/numerics.md defines them.
// Latency: VxFnCycles.
// Throughput: a vector a cycle.
// Stalls: never.
module hd_vx_fn #(
  parameter int unsigned Lanes = 16
) (
  input  logic                clk_i, rst_ni,

  input  logic                en_i,
  input  logic [2:0]          fn_i,
  input  logic [32*Lanes-1:0] a_i,

  output logic [32*Lanes-1:0] y_o
);
  localparam int unsigned RowBits  = 66;
  localparam logic [28:0] One      = 29'd1 << 27;
  localparam logic [32:0] Log2e    = 33'd6196328019;  // log2(e) * 2^32
  // What is no value of a table. Its sign is that of a value.
  localparam logic [1:0] Value = 2'd0, Zero = 2'd1, Inf = 2'd2, Nan = 2'd3;

  logic [RowBits-1:0] rows [hd_isa_pkg::FnRowCount];
  initial
    for (int unsigned i = 0; i < hd_isa_pkg::FnRowCount; i++)
      rows[i] = hd_isa_pkg::FnRows[RowBits * i +: RowBits];

  logic [6:0] en_q;
  logic [2:0] fn1_q, fn2_q;
  logic       half3_q, half4_q;  // half of a function from -1 to 1, and a half
  logic       odd3_q, odd4_q;    // the sign of the argument is that of the value

  logic               minus1 [Lanes], minus2 [Lanes], minus3 [Lanes], minus4 [Lanes], minus5 [Lanes],
                      minus6 [Lanes], minus7 [Lanes];
  logic signed [8:0]  e1     [Lanes];
  logic signed [8:0]  e2     [Lanes];
  logic [22:0]        m1     [Lanes];
  logic [22:0]        m2     [Lanes];
  logic [1:0]         fix1   [Lanes], fix2   [Lanes], fix3   [Lanes], fix4   [Lanes], fix5   [Lanes],
                      fix6   [Lanes], fix7   [Lanes];
  logic [32:0]        num2   [Lanes];  // the argument, x * log2(e) for exp, before its shift
  logic [5:0]         shift2 [Lanes];
  logic               far2   [Lanes];  // beyond all tables
  logic [9:0]         table3 [Lanes];
  logic [7:0]         off3   [Lanes];  // row in the table
  logic [17:0]        t3     [Lanes];
  logic [17:0]        t4     [Lanes];
  logic [17:0]        t5     [Lanes];
  logic               one3   [Lanes];  // beyond the table: 1
  logic               one4   [Lanes];
  logic signed [10:0] scale3 [Lanes];
  logic signed [10:0] scale4 [Lanes];
  logic signed [10:0] scale5 [Lanes];
  logic signed [10:0] scale6 [Lanes];
  logic signed [10:0] e7     [Lanes];  // as binary32 has it
  logic [RowBits-1:0] row4   [Lanes];
  logic signed [23:0] slope5 [Lanes];
  logic        [28:0] base5  [Lanes];
  logic               neg5   [Lanes];  // 1 - y is wanted
  logic [28:0]        y6     [Lanes];
  logic [26:0]        y7     [Lanes];  // behind the point

  always_ff @(posedge clk_i) begin
    en_q  <= rst_ni ? {en_q[5:0], en_i} : '0;
    fn1_q <= fn_i;
    fn2_q <= fn1_q;
    half3_q <= fn2_q == hd_isa_pkg::VxFnSigmoid;
    half4_q <= half3_q;
    odd3_q  <= fn2_q == hd_isa_pkg::VxFnRcp || fn2_q == hd_isa_pkg::VxFnTanh;
    odd4_q  <= odd3_q;
  end

  always_ff @(posedge clk_i) begin
    // 8: round to nearest even and pack
    if (en_q[6])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_pack
        logic signed [10:0] e;
        logic [22:0]        m;
        logic [1:0]         fix;
        {e, m} = {e7[n], y7[n][26:4]} + 34'(y7[n][3] && (y7[n][2:0] != 3'd0 || y7[n][4]));
        fix = fix7[n] != Value ? fix7[n] : e < 11'sd1 ? Zero : e > 11'sd254 ? Inf : Value;
        y_o[32 * n +: 32] <= fix == Value ? {minus7[n], e[7:0], m} :
                                            {minus7[n], {8{fix[1]}}, fix == Nan, 22'd0};
      end
    // 7: normalise
    if (en_q[5])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_normal
        logic [27:0] y;
        logic [4:0]  s;  // places shifted
        y = y6[n][27:0];
        s = 5'd0;
        if (y[27:12] == 16'd0) begin y = y << 16; s[4] = 1'b1; end
        if (y[27:20] == 8'd0) begin y = y << 8; s[3] = 1'b1; end
        if (y[27:24] == 4'd0) begin y = y << 4; s[2] = 1'b1; end
        if (y[27:26] == 2'd0) begin y = y << 2; s[1] = 1'b1; end
        if (!y[27]) begin y = y << 1; s[0] = 1'b1; end
        y7[n]     = y[26:0];  // 0 for 2 also
        e7[n]     = scale6[n] + (y6[n][28] ? 11'sd128 : {4'd0, 2'b11, ~s});  // 127 - s
        minus7[n] = minus6[n];
        fix7[n]   = fix6[n] == Value && y6[n] == 29'd0 ? Zero : fix6[n];
      end
    // 6: value: base + slope * t to nearest, the complement of both for 1 - y
    if (en_q[4])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_value
        logic signed [41:0] p;
        p = 42'(slope5[n]) * 42'(signed'({!t5[n][17], t5[n][16:0]}));
        y6[n]     = 29'((({base5[n], !neg5[n]} + (30'(slope5[n]) ^ {30{neg5[n]}})) +
                         (30'(p >>> 17) ^ {30{neg5[n]}})) >> 1);
        scale6[n] = scale5[n];
        minus6[n] = minus5[n];
        fix6[n]   = fix5[n];
      end
    // 5: slope, and what y is taken from
    if (en_q[3])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_slope
        logic signed [33:0] p;
        logic        [28:0] b, k;
        p = 34'(signed'(row4[n][14:0])) * 34'(signed'({1'b0, t4[n]}));
        slope5[n] = one4[n] ? 24'sd0 : 24'(signed'(row4[n][37:15])) + 24'(p >>> 18);
        neg5[n]   = half4_q && minus4[n];
        b = one4[n] ? One : {1'b0, row4[n][65:38]};
        k = !half4_q ? 29'd0 : minus4[n] ? One + 29'd2 : One;
        base5[n]  = k + (b ^ {29{neg5[n]}});
        minus5[n] = minus4[n] && odd4_q;
        t5[n]     = t4[n];
        scale5[n] = scale4[n];
        fix5[n]   = fix4[n];
      end
    // 4: row
    if (en_q[2])
      for (int unsigned n = 0; n < Lanes; n++) begin
        row4[n]   = rows[table3[n] + 10'(off3[n])];
        t4[n]     = t3[n];
        one4[n]   = one3[n];
        scale4[n] = scale3[n];
        minus4[n] = minus3[n];
        fix4[n]   = fix3[n];
      end
    // 3: row number and position
    if (en_q[1])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_place
        logic [32:0] x;
        logic [33:0] v;  // rounded, negated if it has to be
        logic        neg;
        minus3[n] = minus2[n];
        fix3[n]   = fix2[n];
        one3[n]   = 1'b0;
        neg = fn2_q == hd_isa_pkg::VxFnExp && minus2[n];
        x = num2[n] >> shift2[n];
        v = (34'(x[32:1]) ^ {34{neg}}) + {33'd0, x[0] ^ neg};
        unique case (fn2_q)
          hd_isa_pkg::VxFnExp: begin
            table3[n] = 10'(hd_isa_pkg::FnAtExp);
            off3[n]   = 8'(v[23:18]);
            t3[n]     = v[17:0];
            scale3[n] = {v[33], v[33:24]};
          end
          hd_isa_pkg::VxFnRcp: begin
            table3[n] = 10'(hd_isa_pkg::FnAtRcp);
            off3[n]   = 8'(m2[n][22:16]);
            t3[n]     = {m2[n][15:0], 2'd0};
            scale3[n] = 11'sd0 - 11'(e2[n]);
          end
          hd_isa_pkg::VxFnRsqrt: begin
            table3[n] = 10'(hd_isa_pkg::FnAtRsq);
            off3[n]   = 8'({e2[n][0], m2[n][22:17]});
            t3[n]     = {m2[n][16:0], 1'd0};
            scale3[n] = -(11'(e2[n]) >>> 1);
          end
          default: begin
            table3[n] = 10'(hd_isa_pkg::FnAtTanh);
            one3[n]   = far2[n];
            if (v[26]) begin
              off3[n] = 8'd192 + 8'(v[25:20]);
              t3[n]   = v[19:2];
            end else if (v[25]) begin
              off3[n] = 8'd128 + 8'(v[24:19]);
              t3[n]   = v[18:1];
            end else begin
              off3[n] = 8'(v[24:18]);
              t3[n]   = v[17:0];
            end
            scale3[n] = fn2_q == hd_isa_pkg::VxFnSigmoid ? -11'sd1 : 11'sd0;
          end
        endcase
      end
    // 2: x * log2(e), and by how much the argument is shifted: to units of 2^-25, one bit to round
    if (en_q[0])
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_scale
        logic [23:0]       lo;  // one DSP48E2 each
        logic [39:0]       hi;
        logic signed [8:0] shift;
        lo = 24'((41'({1'b1, m1[n]}) * 41'(Log2e[16:0])) >> 17);
        hi = 40'({1'b1, m1[n]}) * 40'(Log2e[32:17]);
        shift = (fn1_q == hd_isa_pkg::VxFnExp ? 9'sd6 : 9'sd2) - e1[n];
        num2[n]   = shift[8:6] != 3'd0 ? 33'd0 :
                    fn1_q == hd_isa_pkg::VxFnExp ? 33'((hi + 40'(lo)) >> 7) : {6'd1, m1[n], 4'd0};
        shift2[n] = shift[5:0];
        far2[n]   = shift[8];
        m2[n]     = m1[n];
        e2[n]     = e1[n];
        minus2[n] = minus1[n];
        fix2[n]   = fix1[n];
      end
    // 1: unpack, special values
    if (en_i)
      for (int unsigned n = 0; n < Lanes; n++) begin : gen_unpack
        logic [31:0] a;
        logic        zero, ones, inf, nan;
        a = a_i[32 * n +: 32];
        zero = a[30:23] == 8'd0;
        ones = a[30:23] == 8'hff;
        inf = ones && a[22:0] == 23'd0;
        nan = ones && !inf;
        minus1[n] = a[31] && !nan;
        m1[n]     = a[22:0];  // of a zero, too: its e1 makes it one
        e1[n]     = {1'b0, a[30:23]} - (fn_i == hd_isa_pkg::VxFnSigmoid ? 9'd128 : 9'd127);
        fix1[n]   = nan ? Nan : Value;
        if (!nan)
          unique case (fn_i)
            hd_isa_pkg::VxFnExp:     if (a[30:23] >= 8'd134) fix1[n] = a[31] ? Zero : Inf;
            hd_isa_pkg::VxFnRcp:     fix1[n] = zero ? Inf : inf ? Zero : Value;
            hd_isa_pkg::VxFnRsqrt:   fix1[n] = zero ? Inf : a[31] ? Nan : inf ? Zero : Value;
            default: ;
          endcase
      end
  end
endmodule
