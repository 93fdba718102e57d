# RUN: heddle opt --pass qdq %s
# v p' with probabilities on the right: what MX would take as weights has a zero point. (p v')' has it in rows.
graph g {
  input v i8[1,3,4]
  input s i8[1,5,4]
  input w i8[1,4,5]
  const half f32[] = {0.5}
  const part f32[] = {0.00390625}
  const zero i8[] = {0}
  const least i8[] = {-128}
  vd ? = dequantize(v, half, zero)
  wd ? = dequantize(w, half, least)
  sd ? = dequantize(s, half, zero)
  p ? = softmax(sd) axis=2
  pq ? = quantize(p, part, least)
  pd ? = dequantize(pq, part, least)
  pt ? = transpose(pd) perm=[0,2,1]
  m ? = matmul(vd, pt)
  y ? = quantize(m, half, zero)
  n ? = matmul(vd, wd)
  kept ? = quantize(n, half, zero)
  output y
  output kept
}
#= graph g {
#=   input v i8[1,3,4]
#=   input s i8[1,5,4]
#=   input w i8[1,4,5]
#=   pq u8[1,5,4] = qsoftmax(s) @p to="u8" y_zp=0 lo=0 hi=255 axis=2 x_scale=0x1p-1 scale=0x1p+8
#=   kept i8[1,3,5] = qmatmul(v, w) @n to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=-128 scale=0x1p-1
#=   v.turned i8[1,4,3] = transpose(v) @m.turned perm=[0,2,1]
#=   y.turned i8[1,5,3] = qmatmul(pq, v.turned) @m to="i8" y_zp=0 lo=-128 hi=127 a_zp=0 b_zp=0 scale=0x1p-8
#=   y i8[1,3,5] = transpose(y.turned) @m.back perm=[0,2,1]
#=   output y
#=   output kept
#= }
