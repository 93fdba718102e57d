# Moves of single channels are products by 0 and 1: a channel shuffle, a half that is turned and changes its sign; a
# window unfolded into channels is part of the 1x1 convolution behind it. Not when pixels move unevenly, nor at the border.
# RUN: heddle opt --pass shuffle %s
graph g {
  input x i8[1,4,2,2]
  const split i64[5] = {1, 2, 2, 2, 2}
  const back i64[4] = {1, 4, 2, 2}
  x0 ? = qrescale(x)
  a ? = reshape(x0, split)
  b ? = transpose(a) perm=[0,2,1,3,4]
  c ? = reshape(b, back)
  y ? = qrescale(c)
  d ? = transpose(a) perm=[0,2,1,4,3]
  e ? = reshape(d, back)
  z ? = qrescale(e)
  f ? = reshape(x, split)
  h ? = transpose(f) perm=[0,2,1,3,4]
  i ? = reshape(h, back)
  v ? = qrescale(i)
  input r i8[2,3,4]
  const neg i8[256] = {4, 3, 2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16, -17, -18, -19, -20, -21, -22, -23, -24, -25, -26, -27, -28, -29, -30, -31, -32, -33, -34, -35, -36, -37, -38, -39, -40, -41, -42, -43, -44, -45, -46, -47, -48, -49, -50, -51, -52, -53, -54, -55, -56, -57, -58, -59, -60, -61, -62, -63, -64, -65, -66, -67, -68, -69, -70, -71, -72, -73, -74, -75, -76, -77, -78, -79, -80, -81, -82, -83, -84, -85, -86, -87, -88, -89, -90, -91, -92, -93, -94, -95, -96, -97, -98, -99, -100, -101, -102, -103, -104, -105, -106, -107, -108, -109, -110, -111, -112, -113, -114, -115, -116, -117, -118, -119, -120, -121, -122, -123, 127, 127, 127, 127, 127, 127, 126, 125, 124, 123, 122, 121, 120, 119, 118, 117, 116, 115, 114, 113, 112, 111, 110, 109, 108, 107, 106, 105, 104, 103, 102, 101, 100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89, 88, 87, 86, 85, 84, 83, 82, 81, 80, 79, 78, 77, 76, 75, 74, 73, 72, 71, 70, 69, 68, 67, 66, 65, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5}
  const zero i64[1] = {0}
  const two i64[1] = {2}
  const four i64[1] = {4}
  r0 ? = qrescale(r)
  r1 ? = slice(r0, two, four, two)
  r2 ? = qtable(r1, neg)
  r3 ? = slice(r0, zero, two, two)
  r4 ? = concat(r2, r3) axis=2
  s ? = qrescale(r4)
  const pads i64[8] = {0, 0, 0, 1, 0, 0, 0, 1}
  const edge i8[] = {5}
  const shifts i64[3,2] = {0, 1, 1, 2, 2, 3}
  const flat i64[4] = {1, 12, 2, 2}
  const w i8[1,12,1,1] = {1,2,3,4,5,6,7,8,9,10,11,12}
  const n i32[1] = {0}
  const o f32[1] = {0.01}
  p ? = pad(x0, pads, edge)
  q ? = gather(p, shifts) axis=3
  k ? = transpose(q) perm=[0,1,3,2,4]
  l ? = reshape(k, flat)
  u ? = qconv(l, w, n, o) x_zp=5 kernel_shape=[1,1]
  output y
  output z
  output v
  output s
  output u
}
#= graph g {
#=   input x i8[1,4,2,2]
#=   input r i8[2,3,4]
#=   const split i64[5] = {1, 2, 2, 2, 2}
#=   const back i64[4] = {1, 4, 2, 2}
#=   const n i32[1] = {0}
#=   const o f32[1] = {0x1.47ae14p-7}
#=   const c.moves i8[4,4,1,1] = {1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1}
#=   const c.bias i32[4] = {0, 0, 0, 0}
#=   const c.one f32[1] = {0x1p+0}
#=   const r4.moves i8[4,4] = {0, 0, -1, 0, 0, 0, 0, -1, 1, 0, 0, 0, 0, 1, 0, 0}
#=   const r4.bias i32[4] = {4, 4, 0, 0}
#=   const r4.one f32[1] = {0x1p+0}
#=   const u.moved i8[1,4,1,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
#=   x0 i8[1,4,2,2] = qrescale(x)
#=   a i8[1,2,2,2,2] = reshape(x0, split)
#=   c_38 i8[1,4,2,2] = qconv(x0, c.moves, c.bias, c.one) @c to="i8" x_zp=0 y_zp=0 lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
#=   y i8[1,4,2,2] = qrescale(c_38)
#=   d i8[1,2,2,2,2] = transpose(a) perm=[0,2,1,4,3]
#=   e i8[1,4,2,2] = reshape(d, back)
#=   z i8[1,4,2,2] = qrescale(e)
#=   f i8[1,2,2,2,2] = reshape(x, split)
#=   h i8[1,2,2,2,2] = transpose(f) perm=[0,2,1,3,4]
#=   i i8[1,4,2,2] = reshape(h, back)
#=   v i8[1,4,2,2] = qrescale(i)
#=   r0 i8[2,3,4] = qrescale(r)
#=   r0.flat i8[6,4] = reshape(r0) shape=[6,4]
#=   r4_42.rows i8[6,4] = qgemm(r0.flat, r4.moves, r4.bias, r4.one) @r4 to="i8" x_zp=0 y_zp=0 lo=-128 hi=127 moves=1
#=   r4_42 i8[2,3,4] = reshape(r4_42.rows) @r4_42.rows shape=[2,3,4]
#=   s i8[2,3,4] = qrescale(r4_42)
#=   u i8[1,1,2,2] = qconv(x0, u.moved, n, o) x_zp=5 kernel_shape=[1,3] macs=48 group=1 strides=[1,1] pads=[0,1,0,1]
#=   output y
#=   output z
#=   output v
#=   output s
#=   output u
#= }
