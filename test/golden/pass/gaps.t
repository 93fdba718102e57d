# Readers of operands that do not fill words are products: a slice across two operands, a sum, which shares one product
# with another. A slice that is an operand is that. A convolution reads what is closed for these. Not where all of them fill
# their words, nor where others join an operand, too.
# RUN: heddle opt --pass gaps %s
graph g {
  input x i8[1,3,2,2]
  const w i8[6,3,1,1] = {-1,-4,1,8,9,9,-6,-3,9,-1,0,-6,-7,6,6,-7,2,-7}
  const b i32[6] = {0,0,0,0,0,0}
  const s f32[6] = {0.1,0.1,0.1,0.1,0.1,0.1}
  const w16 i8[16,3,1,1] = {4,-5,-9,0,4,4,-6,-8,-8,3,9,1,8,-1,7,-2,-8,0,-9,-7,-6,8,-8,-3,4,0,-1,-5,-8,1,1,2,-5,3,3,5,7,3,8,-6,7,-1,4,-2,0,4,-1,7}
  const b16 i32[16] = {0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0}
  const s16 f32[16] = {0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1,0.1}
  const v i8[2,12,1,1] = {0,8,1,-9,4,9,1,-9,3,9,-5,-8,1,5,2,2,-1,6,-9,9,-8,-9,2,-1}
  const b2 i32[2] = {0,0}
  const s2 f32[2] = {0.1,0.1}
  const one i64[1] = {1}
  const four i64[1] = {4}
  const six i64[1] = {6}
  const eight i64[1] = {8}
  const twelve i64[1] = {12}
  a ? = qconv(x, w, b, s) kernel_shape=[1,1]
  d ? = qconv(x, w, b, s) kernel_shape=[1,1] x_zp=3
  c ? = concat(a, d) axis=1
  p ? = slice(c, four, eight, one)
  q ? = slice(c, six, twelve, one)
  y0 ? = qrescale(p)
  y1 ? = qrescale(q)
  y2 ? = qadd(c, c)
  y3 ? = qrescale(c)
  y4 ? = qconv(c, v, b2, s2) kernel_shape=[1,1]
  e ? = qconv(x, w16, b16, s16) kernel_shape=[1,1]
  h ? = qconv(x, w, b, s) kernel_shape=[1,1] x_zp=4
  f ? = concat(e, h) axis=1
  y5 ? = qrescale(f)
  i ? = qconv(x, w, b, s) kernel_shape=[1,1] x_zp=5
  j ? = concat(i, h) axis=1
  y6 ? = qrescale(j)
  output y0
  output y1
  output y2
  output y3
  output y4
  output y5
  output y6
}
#= graph g {
#=   input x i8[1,3,2,2]
#=   const w i8[6,3,1,1] = #67170849
#=   const b i32[6] = {0, 0, 0, 0, 0, 0}
#=   const s f32[6] = {0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4}
#=   const w16 i8[16,3,1,1] = #f26daedd
#=   const b16 i32[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#=   const s16 f32[16] = {0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4}
#=   const v i8[2,12,1,1] = #b4a260d8
#=   const b2 i32[2] = {0, 0}
#=   const s2 f32[2] = {0x1.99999ap-4, 0x1.99999ap-4}
#=   const p.moves i8[4,12,1,1] = #feca3209
#=   const p.bias i32[4] = {0, 0, 0, 0}
#=   const p.one f32[1] = {0x1p+0}
#=   const c.closed.moves i8[12,12,1,1] = #9ef55f91
#=   const c.closed.bias i32[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#=   const c.closed.one f32[1] = {0x1p+0}
#=   a i8[1,6,2,2] = qconv(x, w, b, s) kernel_shape=[1,1]
#=   d i8[1,6,2,2] = qconv(x, w, b, s) kernel_shape=[1,1] x_zp=3
#=   c i8[1,12,2,2] = concat(a, d) axis=1
#=   p i8[1,4,2,2] = qconv(c, p.moves, p.bias, p.one) @p_17 to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
#=   y0 i8[1,4,2,2] = qrescale(p)
#=   y1 i8[1,6,2,2] = qrescale(d)
#=   c_35 i8[1,12,2,2] = qconv(c, c.closed.moves, c.closed.bias, c.closed.one) @c.closed to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
#=   y2 i8[1,12,2,2] = qadd(c_35, c_35)
#=   y3 i8[1,12,2,2] = qrescale(c_35)
#=   y4 i8[1,2,2,2] = qconv(c_35, v, b2, s2) kernel_shape=[1,1]
#=   e i8[1,16,2,2] = qconv(x, w16, b16, s16) kernel_shape=[1,1]
#=   h i8[1,6,2,2] = qconv(x, w, b, s) kernel_shape=[1,1] x_zp=4
#=   f i8[1,22,2,2] = concat(e, h) axis=1
#=   y5 i8[1,22,2,2] = qrescale(f)
#=   i i8[1,6,2,2] = qconv(x, w, b, s) kernel_shape=[1,1] x_zp=5
#=   j i8[1,12,2,2] = concat(i, h) axis=1
#=   y6 i8[1,12,2,2] = qrescale(j)
#=   output y0
#=   output y1
#=   output y2
#=   output y3
#=   output y4
#=   output y5
#=   output y6
#= }
