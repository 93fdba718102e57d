// Two products of one activation with two weights: p0 = x * w0, p1 = x * w1, in one DSP48E2.
//
// The weights share the wide operand, 18 bits apart: (w1 * 2^18 + w0) * x. The low product is the
// low 18 bits; it borrows one from the high product when it is negative, which is given back.
// Primitive = 1 instantiates the DSP48E2 (A and M registers in use), 0 is the same as plain logic.
//
// Guarantees: exact for every x of 9 bits and every pair of int8 weights (tb_hd_mac2 runs all
// 2^25).
// Latency: weights 2 cycles (we_i, then en_i), x 1 cycle.
// Throughput: a step a cycle.
// Stalls: never.
module hd_mac2 #(
`ifdef HD_DSP48E2
  parameter bit Primitive = 1'b1
`else
  parameter bit Primitive = 1'b0
`endif
) (
  input  logic               clk_i,
  input  logic               we_i,   // takes the weights
  input  logic signed [7:0]  w0_i, w1_i,
  input  logic               en_i,   // multiplies x_i by the weights taken
  input  logic signed [8:0]  x_i,
  output logic signed [17:0] p0_o, p1_o
);
  logic [47:0] p;
  logic [26:0] a;
  assign a    = {w1_i[7], w1_i, 18'd0} + {{19{w0_i[7]}}, w0_i};
  assign p0_o = p[17:0];
  assign p1_o = p[35:18] + {17'd0, p[17]};

  if (Primitive) begin : gen_dsp
    DSP48E2 #(
      .ACASCREG(1), .ADREG(0), .ALUMODEREG(0), .AMULTSEL("A"), .AREG(1), .A_INPUT("DIRECT"),
      .BCASCREG(0), .BMULTSEL("B"), .BREG(0), .B_INPUT("DIRECT"), .CARRYINREG(0),
      .CARRYINSELREG(0), .CREG(0), .DREG(0), .INMODEREG(0), .MREG(1), .OPMODEREG(0), .PREG(0),
      .USE_MULT("MULTIPLY"), .USE_SIMD("ONE48")
    ) u_dsp (
      .CLK(clk_i),
      .A({{3{a[26]}}, a}), .B({{9{x_i[8]}}, x_i}), .C(48'd0), .D(27'd0),
      .INMODE(5'b00000), .OPMODE(9'b000000101), .ALUMODE(4'b0000),
      .CARRYIN(1'b0), .CARRYINSEL(3'b000),
      .CEA1(1'b0), .CEA2(we_i), .CEAD(1'b0), .CEALUMODE(1'b0), .CEB1(1'b0), .CEB2(1'b0),
      .CEC(1'b0), .CECARRYIN(1'b0), .CECTRL(1'b0), .CED(1'b0), .CEINMODE(1'b0), .CEM(en_i),
      .CEP(1'b0), .RSTA(1'b0), .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0),
      .RSTCTRL(1'b0), .RSTD(1'b0), .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0),
      .ACIN(30'd0), .BCIN(18'd0), .PCIN(48'd0), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .P(p), .ACOUT(), .BCOUT(), .PCOUT(), .CARRYCASCOUT(), .MULTSIGNOUT(), .CARRYOUT(),
      .OVERFLOW(), .UNDERFLOW(), .PATTERNBDETECT(), .PATTERNDETECT(), .XOROUT()
    );
  end else begin : gen_logic
    logic signed [26:0] a_q;
    logic signed [35:0] m_q;
    assign p = {{12{m_q[35]}}, m_q};
    always_ff @(posedge clk_i) begin
      if (en_i) m_q <= 36'(a_q) * 36'(x_i);
      if (we_i) a_q <= a;
    end
  end
endmodule
