# What is stacked behind channels is a concat of channels and a shuffle of those; channels in the opposite order are a
# product by 0 and 1, rows in the opposite order are not.
# RUN: heddle opt --pass shuffle %s
graph g {
  input x i8[1,4,1,5]
  const w i8[4,4,1,1] = {5,0,9,1,-4,2,-4,1,3,-1,0,2,7,1,1,-6}
  const b i32[4] = {0,0,0,0}
  const s f32[4] = {0.1,0.1,0.1,0.1}
  const t f32[4] = {0.2,0.1,0.1,0.3}
  const one i64[1] = {1}
  const three i64[1] = {3}
  const from i64[1] = {-1}
  const to i64[1] = {-100}
  const back i64[1] = {-1}
  p ? = qconv(x, w, b, s) kernel_shape=[1,1]
  q ? = qconv(x, w, b, t) kernel_shape=[1,1]
  p1 i8[1,4,1,1,5] = reshape(p) shape=[1,4,1,1,5]
  q1 i8[1,4,1,1,5] = reshape(q) shape=[1,4,1,1,5]
  c ? = concat(p1, q1) axis=2
  r i8[1,8,1,5] = reshape(c) shape=[1,8,1,5]
  y ? = qrescale(r)
  f ? = slice(p, from, to, one, back)
  z ? = qrescale(f)
  h ? = slice(q, from, to, three, back)
  v ? = qrescale(h)
  output y
  output z
  output v
}
#= graph g {
#=   input x i8[1,4,1,5]
#=   const w i8[4,4,1,1] = {5, 0, 9, 1, -4, 2, -4, 1, 3, -1, 0, 2, 7, 1, 1, -6}
#=   const b i32[4] = {0, 0, 0, 0}
#=   const s f32[4] = {0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4}
#=   const t f32[4] = {0x1.99999ap-3, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.333334p-2}
#=   const three i64[1] = {3}
#=   const from i64[1] = {-1}
#=   const to i64[1] = {-100}
#=   const back i64[1] = {-1}
#=   const f.moves i8[4,4,1,1] = {0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0}
#=   const f.bias i32[4] = {0, 0, 0, 0}
#=   const f.one f32[1] = {0x1p+0}
#=   const r_16.moves i8[8,8,1,1] = #2f542245
#=   const r_16.bias i32[8] = {0, 0, 0, 0, 0, 0, 0, 0}
#=   const r_16.one f32[1] = {0x1p+0}
#=   p i8[1,4,1,5] = qconv(x, w, b, s) kernel_shape=[1,1]
#=   q i8[1,4,1,5] = qconv(x, w, b, t) kernel_shape=[1,1]
#=   p1 i8[1,4,1,1,5] = reshape(p) shape=[1,4,1,1,5]
#=   q1 i8[1,4,1,1,5] = reshape(q) shape=[1,4,1,1,5]
#=   p1_21 i8[1,4,1,5] = reshape(p1) shape=[1,4,1,5]
#=   q1_22 i8[1,4,1,5] = reshape(q1) shape=[1,4,1,5]
#=   c.side i8[1,8,1,5] = concat(p1_21, q1_22) axis=1
#=   r_30 i8[1,8,1,5] = qconv(c.side, r_16.moves, r_16.bias, r_16.one) @r_16 to="i8" x_zp=0 y_zp=0 lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
#=   y i8[1,8,1,5] = qrescale(r_30)
#=   f_26 i8[1,4,1,5] = qconv(p, f.moves, f.bias, f.one) @f to="i8" x_zp=0 y_zp=0 lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
#=   z i8[1,4,1,5] = qrescale(f_26)
#=   h i8[1,4,1,5] = slice(q, from, to, three, back)
#=   v i8[1,4,1,5] = qrescale(h)
#=   output y
#=   output z
#=   output v
#= }
