# What works along the last dimension leaves rows, and the machine makes no image of them by a product: it stays a move.
# So do windows of rows.
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
  input u i8[1,16,4]
  const four f32[4] = {1, 1, 2, 1}
  const nil f32[4] = {0, 0, 0, 0}
  const windows i64[6] = {1, 2, 2, 2, 2, 4}
  const tokens i64[3] = {1, 16, 4}
  d ? = qlayernorm(u, four, nil) to="i8" y_zp=0 lo=-128 hi=127 epsilon=0x1p-16
  e ? = reshape(d, windows)
  f ? = transpose(e) perm=[0,1,3,2,4,5]
  h ? = reshape(f, tokens)
  z ? = qrescale(h)
  output y
  output z
}
#= graph g {
#=   input x i8[1,1,64]
#=   input u i8[1,16,4]
#=   const ones f32[64] = #594737c5
#=   const nils f32[64] = #e6a1d1c5
#=   const image i64[3] = {1, 4, 16}
#=   const four f32[4] = {0x1p+0, 0x1p+0, 0x1p+1, 0x1p+0}
#=   const nil f32[4] = {0x0p+0, 0x0p+0, 0x0p+0, 0x0p+0}
#=   const windows i64[6] = {1, 2, 2, 2, 2, 4}
#=   const tokens i64[3] = {1, 16, 4}
#=   a i8[1,1,64] = qlayernorm(x, ones, nils) to="i8" y_zp=0 lo=-128 hi=127 epsilon=0x1p-16
#=   b i8[1,4,16] = reshape(a, image)
#=   c i8[1,16,4] = transpose(b) perm=[0,2,1]
#=   y i8[1,16,4] = qrescale(c)
#=   d i8[1,16,4] = qlayernorm(u, four, nil) to="i8" y_zp=0 lo=-128 hi=127 epsilon=0x1p-16
#=   e i8[1,2,2,2,2,4] = reshape(d, windows)
#=   f i8[1,2,2,2,2,4] = transpose(e) perm=[0,1,3,2,4,5]
#=   h i8[1,16,4] = reshape(f, tokens)
#=   z i8[1,16,4] = qrescale(h)
#=   output y
#=   output z
#= }
