# Four ways to write gelu, operands in any order; the last of erf is read by another node, too, and stays.
# RUN: heddle opt --pass gelu %s
graph g {
  input x f32[4]
  const half f32[] = {0.5}
  const one f32[] = {1.0}
  const r2 f32[] = {1.41421356}
  const ir2 f32[] = {0.70710678}
  const three f32[] = {3.0}
  const k f32[] = {0.044715}
  const c f32[] = {0.7978846}
  a ? = div(x, r2)
  b ? = erf(a)
  d ? = add(one, b)
  e ? = mul(d, x)
  y ? = mul(half, e)
  a2 ? = mul(ir2, x)
  b2 ? = erf(a2)
  d2 ? = add(b2, one)
  h2 ? = mul(x, half)
  z ? = mul(d2, h2)
  p3 ? = pow(x, three)
  k3 ? = mul(p3, k)
  s3 ? = add(x, k3)
  c3 ? = mul(s3, c)
  t3 ? = tanh(c3)
  o3 ? = add(t3, one)
  h3 ? = mul(half, x)
  u ? = mul(h3, o3)
  a4 ? = div(x, r2)
  b4 ? = erf(a4)
  d4 ? = add(b4, one)
  e4 ? = mul(x, d4)
  v ? = mul(e4, half)
  sq ? = mul(x, x)
  cu ? = mul(x, sq)
  k5 ? = mul(k, cu)
  s5 ? = add(k5, x)
  c5 ? = mul(c, s5)
  t5 ? = tanh(c5)
  o5 ? = add(one, t5)
  h5 ? = mul(o5, half)
  w ? = mul(h5, x)
  output w
  output y
  output z
  output u
  output v
  output b4
}
#= graph g {
#=   input x f32[4]
#=   const half f32[] = {0x1p-1}
#=   const one f32[] = {0x1p+0}
#=   const r2 f32[] = {0x1.6a09e6p+0}
#=   a4 f32[4] = div(x, r2)
#=   b4 f32[4] = erf(a4)
#=   d4 f32[4] = add(b4, one)
#=   e4 f32[4] = mul(x, d4)
#=   v f32[4] = mul(e4, half)
#=   y f32[4] = gelu(x) approximate="none"
#=   z f32[4] = gelu(x) approximate="none"
#=   u f32[4] = gelu(x) approximate="tanh"
#=   w f32[4] = gelu(x) approximate="tanh"
#=   output w
#=   output y
#=   output z
#=   output u
#=   output v
#=   output b4
#= }
