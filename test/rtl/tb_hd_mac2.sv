// The parts of a DSP48E2 that hd_mac2 uses, after UG579: A (27 of 30 bits) and D through registers or as they come,
// B as it comes, product (A + D) * B in register M, P = M + C or M + PCIN, and P or C by W, with or without register. An attribute or an input that asks for anything else stops the simulation.
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
  logic signed [26:0] a2, d, ad;
  logic signed [44:0] m;
  logic        [47:0] p, p_q, w;
  logic        [8:0]  mode, mode_q;

  initial
    if (DREG != AREG || BREG != 0 || MREG != 1 || ADREG != 0 || INMODEREG != 0 || CREG != 0 ||
        ALUMODEREG != 0 || USE_MULT != "MULTIPLY" || USE_SIMD != "ONE48" || AMULTSEL != "AD" || BMULTSEL != "B")
      $fatal(1, "DSP48E2: not the configuration that this model knows");

  assign ad = AREG != 0 ? a2 + d : A[26:0] + D;
  assign mode = OPMODEREG != 0 ? mode_q : OPMODE;
  assign w  = mode[8:7] == 2'b00 ? '0 : mode[8:7] == 2'b01 ? p_q : C;
  assign p  = 48'(m) + (mode[6:4] == 3'b011 ? C : PCIN) + w;
  assign P  = PREG != 0 ? p_q : p;
  assign PCOUT = P;

  always_ff @(posedge CLK) begin
    if ((OPMODE[6:0] != 7'b0110101 && OPMODE[6:0] != 7'b0010101) || OPMODE[8:7] == 2'b10 || ALUMODE != 4'd0 || INMODE != 5'b00100 ||
        CARRYINSEL != 3'd0 || CARRYIN || RSTA || RSTB || RSTD || RSTM || RSTP || CEA1)
      $fatal(1, "DSP48E2: not the mode that this model knows");
    if (CECTRL) mode_q <= OPMODE;
    if (CEP) p_q <= p;
    if (CEM) m <= 45'(ad) * 45'(signed'(B));
    if (CEA2) a2 <= A[26:0];
    if (CED) d <= D;
  end
  assign {ACOUT, BCOUT, XOROUT, CARRYOUT, CARRYCASCOUT, MULTSIGNOUT, OVERFLOW, UNDERFLOW, PATTERNBDETECT,
          PATTERNDETECT} = '0;
endmodule

// Chains of two hd_mac2 with the primitive and without, side by side: the first link has weights that are taken
// into registers, the last one has its weights as they come. The sums of both are split as the users do it.
module tb_hd_mac2 (
  input  logic               clk_i, we_i, en_i, sum_i,
  input  logic signed [7:0]  w0_i, w1_i, v0_i, v1_i,  // of the first link, of the last
  input  logic signed [9:0]  x_i, z_i,
  output logic signed [17:0] logic0_o, logic1_o, dsp0_o, dsp1_o
);
  logic [47:0] first [2], sums [2], added [2], begun [2];
  // What is added beside the products: both give the same, and after a cycle without, what C gives.
  logic [47:0] more;
  logic [1:0]  kind, kind_q;
  logic [47:0] more_q;
  logic        sum_q;
  assign kind = more[1:0] == 2'd2 ? 2'd0 : more[1:0];
  always_ff @(posedge clk_i) begin
    more   <= {more[46:0], more[47] ^ more[46] ^ more[20] ^ more[19]} | 48'(more == '0);
    kind_q <= kind;
    if (sum_i) begin
      more_q <= kind_q == 2'd0 ? '0 : kind_q == 2'd1 ? added[0] : more;
      sum_q  <= 1'b1;
    end
    if (begun[0] !== begun[1] || (sum_q && begun[0] != first[0] - 48'h20000 + more))
      $fatal(1, "hd_mac2 begins: %h by logic, %h by the primitive", begun[0], begun[1]);
    if (added[0] !== added[1]) $fatal(1, "hd_mac2: %h by logic, %h by the primitive", added[0], added[1]);
    if (sum_q && added[0] != sums[0] + more_q) $fatal(1, "hd_mac2: %h, not %h", added[0], sums[0] + more_q);
  end
  for (genvar i = 0; i < 2; i++) begin : gen_chain
    hd_mac2 #(.Primitive(i == 1), .Last(1'b0)) u_first (
      .clk_i, .we_i, .w0_i, .w1_i, .en_i, .x_i, .sum_i(1'b0), .add_i('0), .c_i('0), .p_i('0), .p_o(first[i])
    );
    hd_mac2 #(.Primitive(i == 1), .Last(1'b0), .Begins(1'b1)) u_begins (
      .clk_i, .we_i, .w0_i, .w1_i, .en_i, .x_i, .sum_i(1'b0), .add_i('0), .c_i(more), .p_i('0), .p_o(begun[i])
    );
    hd_mac2 #(.Primitive(i == 1), .Held(1'b0), .First(1'b0)) u_last (
      .clk_i, .we_i(1'b0), .w0_i(v0_i), .w1_i(v1_i), .en_i, .x_i(z_i), .sum_i, .add_i('0), .c_i('0), .p_i(first[i]), .p_o(sums[i])
    );
    hd_mac2 #(.Primitive(i == 1), .Held(1'b0), .First(1'b0), .Adds(1'b1)) u_adds (
      .clk_i, .we_i(1'b0), .w0_i(v0_i), .w1_i(v1_i), .en_i, .x_i(z_i), .sum_i, .add_i(kind), .c_i(more),
      .p_i(first[i]), .p_o(added[i])
    );
  end
  assign {logic1_o, logic0_o} = {sums[0][35:18], !sums[0][17], sums[0][16:0]};
  assign {dsp1_o, dsp0_o}     = {sums[1][35:18], !sums[1][17], sums[1][16:0]};
endmodule
