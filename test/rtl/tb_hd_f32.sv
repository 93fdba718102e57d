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
  output logic [32*Lanes-1:0] to_int_o,
  output logic [32*Lanes-1:0] fn_o
);
  hd_f32_from_int #(.Lanes(Lanes)) u_from_int (
    .clk_i, .rst_ni, .en_i, .raw_i(1'b0), .a_i, .y_o(from_int_o)
  );
  hd_f32_mul #(.Lanes(Lanes)) u_mul (.clk_i, .rst_ni, .en_i, .a_i, .b_i, .y_o(mul_o));
  hd_f32_add #(.Lanes(Lanes)) u_add (.clk_i, .rst_ni, .en_i, .sub_i, .a_i, .b_i, .y_o(add_o));
  hd_f32_to_int #(
    .Lanes(Lanes)
  ) u_to_int (
    .clk_i, .rst_ni, .en_i, .raw_i(1'b0), .word_i, .q_i, .zp_i, .lo_i, .hi_i, .a_i, .y_o(to_int_o)
  );
  hd_vx_fn #(.Lanes(Lanes)) u_fn (.clk_i, .rst_ni, .en_i, .fn_i, .a_i, .y_o(fn_o));
endmodule
