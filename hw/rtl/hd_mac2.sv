// A link of a chain of DSP48E2, each with two products of one activation: x * w0 and x * w1, added to
// those of the links before.
//
// The weights share the wide operand, 18 bits apart: (w1 * 2^18 + w0) * x. Sums of products with w0 are
// the low 18 bits, those with w1 the bits above. The first link begins with 2^17, so that the low sum
// never borrows from the high one: its top bit is inverted then, and nothing is to be given back. With
// w1 = 0 a chain makes one sum, as wide as it likes.
// With Begins the first link adds c_i instead. With Adds the last link also adds c_i, or the sum that it holds, as add_i said a cycle before sum_i.
// Primitive = 1 instantiates the DSP48E2 (registers A and D with Held, M, and P in the last link), 0 is
// the same as plain logic. The wide operand is the sum that its pre-adder makes.
//
// Guarantees: exact for every x of 10 bits and every pair of int8 weights, while both sums fit 18 bits
// signed (tb_hd_mac2 runs all weights with all x of 9 bits).
// Latency: weights 2 cycles with Held (we_i, then en_i), else 1; x 1 cycle; of the last link a cycle
// more (sum_i).
// Throughput: a step a cycle.
// Stalls: never.
module hd_mac2 #(
`ifdef HD_DSP48E2
  parameter bit Primitive = 1'b1,
`else
  parameter bit Primitive = 1'b0,
`endif
  parameter bit Held  = 1'b1,  // the weights are taken into a register
  parameter bit First = 1'b1,
  parameter bit Last  = 1'b1,
  parameter bit Adds  = 1'b0,
  parameter bit Begins = 1'b0,  // the first link begins with c_i, else with Start
  parameter logic [47:0] Start = 48'h20000
) (
  input  logic               clk_i,
  input  logic               we_i,   // takes the weights
  input  logic signed [7:0]  w0_i, w1_i,
  input  logic               en_i,   // multiplies x_i by the weights
  input  logic signed [9:0]  x_i,
  input  logic               sum_i,  // the last link takes the sums
  input  logic [1:0]         add_i,  // 0: neither, 1: what it holds, 3: c_i
  input  logic [47:0]        c_i,
  input  logic [47:0]        p_i,    // of the link before
  output logic [47:0]        p_o
);
  logic [26:0] a, d;
  assign a = {w1_i[7], w1_i, 18'd0};
  assign d = {{19{w0_i[7]}}, w0_i};

  if (Primitive) begin : gen_dsp
    logic [47:0] p, to_next;
    assign p_o = Last ? p : to_next;
    DSP48E2 #(
      .ACASCREG(32'(Held)), .ADREG(0), .ALUMODEREG(0), .AMULTSEL("AD"), .AREG(32'(Held)), .A_INPUT("DIRECT"),
      .BCASCREG(0), .BMULTSEL("B"), .BREG(0), .B_INPUT("DIRECT"), .CARRYINREG(0),
      .CARRYINSELREG(0), .CREG(0), .DREG(32'(Held)), .INMODEREG(0), .MREG(1), .OPMODEREG(32'(Adds)),
      .PREG(32'(Last)), .USE_MULT("MULTIPLY"), .USE_SIMD("ONE48")
    ) u_dsp (
      .CLK(clk_i),
      .A({{3{a[26]}}, a}), .B({{8{x_i[9]}}, x_i}), .C(Adds || Begins ? c_i : Start), .D(d),
      .INMODE(5'b00100), .OPMODE({Adds ? add_i : 2'b00, First ? 7'b0110101 : 7'b0010101}), .ALUMODE(4'b0000),
      .CARRYIN(1'b0), .CARRYINSEL(3'b000),
      .CEA1(1'b0), .CEA2(we_i), .CEAD(1'b0), .CEALUMODE(1'b0), .CEB1(1'b0), .CEB2(1'b0),
      .CEC(1'b0), .CECARRYIN(1'b0), .CECTRL(1'b1), .CED(we_i), .CEINMODE(1'b0), .CEM(en_i),
      .CEP(sum_i), .RSTA(1'b0), .RSTALLCARRYIN(1'b0), .RSTALUMODE(1'b0), .RSTB(1'b0), .RSTC(1'b0),
      .RSTCTRL(1'b0), .RSTD(1'b0), .RSTINMODE(1'b0), .RSTM(1'b0), .RSTP(1'b0),
      .ACIN(30'd0), .BCIN(18'd0), .PCIN(First ? 48'd0 : p_i), .CARRYCASCIN(1'b0), .MULTSIGNIN(1'b0),
      .P(p), .ACOUT(), .BCOUT(), .PCOUT(to_next), .CARRYCASCOUT(), .MULTSIGNOUT(), .CARRYOUT(),
      .OVERFLOW(), .UNDERFLOW(), .PATTERNBDETECT(), .PATTERNDETECT(), .XOROUT()
    );
  end else begin : gen_logic
    logic signed [26:0] ad, ad_q;
    logic signed [36:0] m_q;
    logic        [47:0] p, p_q, more;
    logic        [1:0]  add_q;
    assign more = !Adds || !add_q[0] ? '0 : add_q[1] ? c_i : p_q;
    assign ad  = Held ? ad_q : a + d;
    assign p   = (!First ? p_i : Begins ? c_i : Start) + {{11{m_q[36]}}, m_q} + more;
    assign p_o = Last ? p_q : p;
    always_ff @(posedge clk_i) begin
      if (sum_i) p_q <= p;
      add_q <= add_i;
      if (en_i) m_q <= 37'(ad) * 37'(x_i);
      if (we_i) ad_q <= a + d;
    end
  end
endmodule
