# What works along the last dimension leaves rows, and the machine makes no image of them by a product: it stays a move.
# RUN: heddle opt --pass shuffle %s
graph g {
  input x i8[1,1,64]
  const ones f32[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
  const nils f32[64] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
  const image i64[3] = {1, 4, 16}
  a ? = qlayernorm(x, ones, nils) to="i8" y_zp=0 lo=-128 hi=127 epsilon=0x1p-16
  b ? = reshape(a, image)
  c ? = transpose(b) perm=[0,2,1]
  y ? = qrescale(c)
  output y
}
#= graph g {
#=   input x i8[1,1,64]
#=   const ones f32[64] = #594737c5
#=   const nils f32[64] = #e6a1d1c5
#=   const image i64[3] = {1, 4, 16}
#=   a i8[1,1,64] = qlayernorm(x, ones, nils) to="i8" y_zp=0 lo=-128 hi=127 epsilon=0x1p-16
#=   b i8[1,4,16] = reshape(a, image)
#=   c i8[1,16,4] = transpose(b) perm=[0,2,1]
#=   y i8[1,16,4] = qrescale(c)
#=   output y
#= }
