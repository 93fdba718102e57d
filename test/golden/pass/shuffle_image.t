# An image whose columns turn, or whose rows where channels are last: no product, since neither are the
# image's channels, which lie side by side in memory. Where they are rows of a matrix, a product.
# RUN: heddle opt --pass shuffle %s
graph g {
  input x i8[1,2,3,4]
  input r i8[3,8]
  const w i8[2,2,1,1] = {1, 2, 3, 4}
  const v i8[4,8] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}
  const s f32[1] = {0.5}
  const s2 f32[2] = {0.5, 0.5}
  const n2 i32[2] = {0, 0}
  const n4 i32[4] = {0, 0, 0, 0}
  const zero i64[1] = {0}
  const one i64[1] = {1}
  const four i64[1] = {4}
  const three i64[1] = {3}
  const rows i64[1] = {1}
  const last i64[1] = {-1}
  c ? = qconv(x, w, n2, s2) kernel_shape=[1,1] pads=[0,0,0,0] strides=[1,1] group=1
  t ? = qrescale(c) scale=0.5
  a ? = slice(t, one, four, last)
  b ? = slice(t, zero, one, last)
  y ? = concat(a, b) axis=3
  n ? = transpose(t) perm=[0,2,3,1]
  n1 ? = slice(n, one, three, rows)
  n0 ? = slice(n, zero, one, rows)
  u ? = concat(n1, n0) axis=1
  uu ? = qrescale(u) scale=0.5
  m ? = qgemm(r, v, n4, s)
  d ? = slice(m, one, four, last)
  e ? = slice(m, zero, one, last)
  z ? = concat(d, e) axis=1
  yy ? = qrescale(y) scale=0.5
  zz ? = qrescale(z) scale=0.5
  output yy
  output uu
  output zz
}
#= graph g {
#=   input x i8[1,2,3,4]
#=   input r i8[3,8]
#=   const w i8[2,2,1,1] = {1, 2, 3, 4}
#=   const v i8[4,8] = #e745ef65
#=   const s f32[1] = {0x1p-1}
#=   const s2 f32[2] = {0x1p-1, 0x1p-1}
#=   const n2 i32[2] = {0, 0}
#=   const n4 i32[4] = {0, 0, 0, 0}
#=   const zero i64[1] = {0}
#=   const one i64[1] = {1}
#=   const four i64[1] = {4}
#=   const three i64[1] = {3}
#=   const rows i64[1] = {1}
#=   const last i64[1] = {-1}
#=   const z.moves i8[4,4] = {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0}
#=   const z.bias i32[4] = {0, 0, 0, 0}
#=   const z.one f32[1] = {0x1p+0}
#=   c i8[1,2,3,4] = qconv(x, w, n2, s2) kernel_shape=[1,1] pads=[0,0,0,0] strides=[1,1] group=1
#=   t i8[1,2,3,4] = qrescale(c) scale=0x1p-1
#=   a i8[1,2,3,3] = slice(t, one, four, last)
#=   b i8[1,2,3,1] = slice(t, zero, one, last)
#=   y i8[1,2,3,4] = concat(a, b) axis=3
#=   n i8[1,3,4,2] = transpose(t) perm=[0,2,3,1]
#=   n1 i8[1,2,4,2] = slice(n, one, three, rows)
#=   n0 i8[1,1,4,2] = slice(n, zero, one, rows)
#=   u i8[1,3,4,2] = concat(n1, n0) axis=1
#=   uu i8[1,3,4,2] = qrescale(u) scale=0x1p-1
#=   m i8[3,4] = qgemm(r, v, n4, s)
#=   yy i8[1,2,3,4] = qrescale(y) scale=0x1p-1
#=   z_30.rows i8[3,4] = qgemm(m, z.moves, z.bias, z.one) @z to="i8" x_zp=0 y_zp=0 lo=-128 hi=127 moves=1
#=   z_30 i8[3,4] = reshape(z_30.rows) @z_30.rows shape=[3,4]
#=   zz i8[3,4] = qrescale(z_30) scale=0x1p-1
#=   output yy
#=   output uu
#=   output zz
#= }
