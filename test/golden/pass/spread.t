# Norms as TensorFlow writes them out: x f + (b - m f), with and without b, the mean negated or not; f has the scale in it.
# Not where m is the mean of another tensor.
# RUN: heddle opt --pass norm %s
graph g {
  input x f32[2,3,4]
  input z f32[2,3,4]
  const a i64[1] = {2}
  const e f32[] = {0.001}
  const s f32[4] = {1,2,3,4}
  const b f32[4] = {0.5,0.25,0.125,0}
  m ? = reducemean(x, a) keepdims=1
  d ? = sub(x, m)
  q ? = mul(d, d)
  v ? = reducemean(q, a) keepdims=1
  w ? = add(v, e)
  r ? = sqrt(w)
  i ? = reciprocal(r)
  f ? = mul(i, s)
  p1 ? = mul(x, f)
  p2 ? = mul(m, f)
  p3 ? = sub(b, p2)
  y1 ? = add(p1, p3)
  p4 ? = mul(x, f)
  p5 ? = neg(m)
  p6 ? = mul(p5, f)
  y2 ? = add(p4, p6)
  p7 ? = mul(x, f)
  p8 ? = neg(m)
  p9 ? = mul(p8, f)
  p10 ? = add(p9, b)
  y3 ? = add(p7, p10)
  p11 ? = mul(x, f)
  p12 ? = mul(m, f)
  y4 ? = sub(p11, p12)
  p13 ? = mul(x, f)
  n ? = reducemean(z, a) keepdims=1
  p14 ? = mul(n, f)
  y5 ? = sub(p13, p14)
  output y1
  output y2
  output y3
  output y4
  output y5
}
#= graph g {
#=   input x f32[2,3,4]
#=   input z f32[2,3,4]
#=   const a i64[1] = {2}
#=   const e f32[] = {0x1.0624dep-10}
#=   const s f32[4] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2}
#=   const s_56 f32[4] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2}
#=   const b_58 f32[4] = {0x1p-1, 0x1p-2, 0x1p-3, 0x0p+0}
#=   const s_60 f32[4] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2}
#=   const b_62 f32[4] = {0x1p-1, 0x1p-2, 0x1p-3, 0x0p+0}
#=   const s_64 f32[4] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2}
#=   const s_66 f32[4] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2}
#=   m f32[2,3,1] = reducemean(x, a) keepdims=1
#=   d f32[2,3,4] = sub(x, m)
#=   q f32[2,3,4] = mul(d, d)
#=   v f32[2,3,1] = reducemean(q, a) keepdims=1
#=   w f32[2,3,1] = add(v, e)
#=   r f32[2,3,1] = sqrt(w)
#=   i f32[2,3,1] = reciprocal(r)
#=   f f32[2,3,4] = mul(i, s)
#=   p13 f32[2,3,4] = mul(x, f)
#=   n f32[2,3,1] = reducemean(z, a) keepdims=1
#=   p14 f32[2,3,4] = mul(n, f)
#=   y5 f32[2,3,4] = sub(p13, p14)
#=   y1 f32[2,3,4] = layernorm(x, s_56, b_58) axis=2 epsilon=0x1.0624dep-10
#=   y3 f32[2,3,4] = layernorm(x, s_60, b_62) axis=2 epsilon=0x1.0624dep-10
#=   y2 f32[2,3,4] = layernorm(x, s_64) axis=2 epsilon=0x1.0624dep-10
#=   y4 f32[2,3,4] = layernorm(x, s_66) axis=2 epsilon=0x1.0624dep-10
#=   output y1
#=   output y2
#=   output y3
#=   output y4
#=   output y5
#= }
