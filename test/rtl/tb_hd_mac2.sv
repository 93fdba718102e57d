// The parts of a DSP48E2 that hd_mac2 uses, after UG579: A (27 of 30 bits) through register A2, B as it comes,
// product in register M, P = M. An attribute or an input that asks for anything else stops the simulation.
module DSP48E2 #(
  parameter int ACASCREG = 1, ADREG = 1, ALUMODEREG = 1, AREG = 1, BCASCREG = 1, BREG = 1,
  parameter int CARRYINREG = 1, CARRYINSELREG = 1, CREG = 1, DREG = 1, INMODEREG = 1, MREG = 1,
  parameter int OPMODEREG = 1, PREG = 1,
  parameter AMULTSEL = "A", A_INPUT = "DIRECT", BMULTSEL = "B", B_INPUT = "DIRECT",
  parameter USE_MULT = "MULTIPLY", USE_SIMD = "ONE48"
) (
  input  logic        CLK,
  input  logic [29:0] A, ACIN,
  input  logic [17:0] B, BCIN,
  input  logic [47:0] C, PCIN,
  input  logic [26:0] D,
  input  logic [4:0]  INMODE,
  input  logic [8:0]  OPMODE,
  input  logic [3:0]  ALUMODE,
  input  logic [2:0]  CARRYINSEL,
  input  logic        CARRYIN, CARRYCASCIN, MULTSIGNIN,
  input  logic        CEA1, CEA2, CEAD, CEALUMODE, CEB1, CEB2, CEC, CECARRYIN, CECTRL, CED, CEINMODE, CEM, CEP,
  input  logic        RSTA, RSTALLCARRYIN, RSTALUMODE, RSTB, RSTC, RSTCTRL, RSTD, RSTINMODE, RSTM, RSTP,
  output logic [47:0] P, PCOUT,
  output logic [29:0] ACOUT,
  output logic [17:0] BCOUT,
  output logic [7:0]  XOROUT,
  output logic [3:0]  CARRYOUT,
  output logic        CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, UNDERFLOW, PATTERNBDETECT, PATTERNDETECT
);
  logic signed [26:0] a2;
  logic signed [44:0] m;

  initial
    if (AREG != 1 || BREG != 0 || MREG != 1 || PREG != 0 || ADREG != 0 || OPMODEREG != 0 || INMODEREG != 0 ||
        ALUMODEREG != 0 || USE_MULT != "MULTIPLY" || USE_SIMD != "ONE48" || AMULTSEL != "A" || BMULTSEL != "B")
      $fatal(1, "DSP48E2: not the configuration that this model knows");

  always_ff @(posedge CLK) begin
    if (OPMODE != 9'b000000101 || ALUMODE != 4'd0 || INMODE != 5'd0 || CARRYINSEL != 3'd0 || CARRYIN ||
        RSTA || RSTB || RSTM || RSTP || CEA1)
      $fatal(1, "DSP48E2: not the mode that this model knows");
    if (CEM) m <= 45'(a2) * 45'(signed'(B));
    if (CEA2) a2 <= A[26:0];
  end
  assign P = 48'(m);
  assign {PCOUT, ACOUT, BCOUT, XOROUT, CARRYOUT, CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, UNDERFLOW, PATTERNBDETECT,
          PATTERNDETECT} = '0;
endmodule

// hd_mac2 with the primitive and without, side by side.
module tb_hd_mac2 (
  input  logic               clk_i, we_i, en_i,
  input  logic signed [7:0]  w0_i, w1_i,
  input  logic signed [8:0]  x_i,
  output logic signed [17:0] logic0_o, logic1_o, dsp0_o, dsp1_o
);
  hd_mac2 #(.Primitive(1'b0)) u_logic (.clk_i, .we_i, .w0_i, .w1_i, .en_i, .x_i, .p0_o(logic0_o), .p1_o(logic1_o));
  hd_mac2 #(.Primitive(1'b1)) u_dsp (.clk_i, .we_i, .w0_i, .w1_i, .en_i, .x_i, .p0_o(dsp0_o), .p1_o(dsp1_o));
endmodule
