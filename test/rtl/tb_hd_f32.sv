// The binary32 cells side by side on the same operands, for tb_hd_f32.cc.
module tb_hd_f32 #(
  parameter int unsigned Lanes = 8
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic                en_i,
  input  logic                sub_i,
  input  logic [2:0]          fn_i,
  input  logic                word_i,
  input  logic signed [5:0]   q_i,
  input  logic signed [15:0]  zp_i,
  input  logic signed [15:0]  lo_i,
  input  logic signed [15:0]  hi_i,
  input  logic [32*Lanes-1:0] a_i,
  input  logic [32*Lanes-1:0] b_i,
  output logic [32*Lanes-1:0] from_int_o,
  output logic [32*Lanes-1:0] mul_o,
  output logic [32*Lanes-1:0] add_o,
  output logic [32*Lanes-1:0] word_o,
  output logic [8*Lanes-1:0]  byte_o,
  output logic [32*Lanes-1:0] small_int_o,  // of B of machines without functions
  output logic [32*Lanes-1:0] alone_o,
  output logic [32*Lanes-1:0] fn_o
);
  hd_f32_from_int #(.Lanes(Lanes)) u_from_int (
    .clk_i, .rst_ni, .en_i, .raw_i(1'b0), .a_i, .y_o(from_int_o)
  );
  hd_f32_mul #(.Lanes(Lanes)) u_mul (.clk_i, .rst_ni, .en_i, .a_i, .b_i, .y_o(mul_o));
  hd_f32_add #(.Lanes(Lanes)) u_add (.clk_i, .rst_ni, .en_i, .sub_i, .one_i(1'b0), .a_i, .b_i, .y_o(add_o));
  hd_f32_to_int #(.Lanes(Lanes)) u_to_int (
    .clk_i, .rst_ni, .en_i, .word_i, .top_i(8'd156 - 8'(q_i)), .zp_i, .lo_i, .hi_i, .a_i, .byte_o, .word_o
  );
  logic [32*Lanes-1:0] a10;  // the low 10 bits alone
  for (genvar n = 0; n < Lanes; n++) begin : gen_a10
    assign a10[32 * n +: 32] = {a_i[32 * n + 9], a_i[32 * n +: 31]};
  end
  hd_f32_from_int #(.Lanes(Lanes), .Bits(10)) u_from_small (
    .clk_i, .rst_ni, .en_i, .raw_i(1'b0), .a_i(a10), .y_o(small_int_o)
  );
  hd_f32_add #(.Lanes(Lanes)) u_alone (
    .clk_i, .rst_ni, .en_i, .sub_i, .one_i(1'b1), .a_i, .b_i, .y_o(alone_o)
  );
  hd_vx_fn #(.Lanes(Lanes)) u_fn (.clk_i, .rst_ni, .en_i, .fn_i, .a_i, .y_o(fn_o));
endmodule
