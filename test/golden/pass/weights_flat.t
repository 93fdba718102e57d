# Weights of one batch are a matrix, on either side of the product; those of several are not.
# RUN: heddle opt --pass norm %s --full
graph g {
  input x f32[1,4,2]
  const w f32[1,2,3] = {1,2,3,4,5,6}
  const v f32[1,3,4] = {1,2,3,4,5,6,7,8,9,10,11,12}
  const two f32[2,2,1] = {1,2,3,4}
  a ? = matmul(x, w)
  b ? = matmul(v, x)
  c ? = matmul(x, two)
  output a
  output b
  output c
}
#= graph g {
#=   input x f32[1,4,2]
#=   const two f32[2,2,1] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2}
#=   const w.flat f32[2,3] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2, 0x1.4p+2, 0x1.8p+2}
#=   const v.flat f32[3,4] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2, 0x1.4p+2, 0x1.8p+2, 0x1.cp+2, 0x1p+3, 0x1.2p+3, 0x1.4p+3, 0x1.6p+3, 0x1.8p+3}
#=   c f32[2,4,1] = matmul(x, two)
#=   a f32[1,4,3] = matmul(x, w.flat)
#=   b_10 f32[1,2,4] = transpose(x) @b_4 perm=[0,2,1]
#=   b_11 f32[4,3] = transpose(v.flat) @b_5 perm=[1,0]
#=   b_12 f32[1,2,3] = matmul(b_10, b_11) @b
#=   b f32[1,3,2] = transpose(b_12) @b_6 perm=[0,2,1]
#=   output a
#=   output b
#=   output c
#= }
