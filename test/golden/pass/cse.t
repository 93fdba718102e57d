# RUN: heddle opt --pass cse,dce %s
graph g {
  input x f32[2,2]
  const a f32[] = {2.0}
  const b f32[] = {2.0}
  p ? = mul(x, a)
  q ? = mul(x, b)
  r ? = softmax(p) axis=1
  s ? = softmax(q) axis=1
  t ? = softmax(q) axis=0
  u ? = add(r, s)
  y ? = sub(u, t)
  z ? = sub(u, t)
  output y
  output z
}
#= graph g {
#=   input x f32[2,2]
#=   const a f32[] = {0x1p+1}
#=   p f32[2,2] = mul(x, a)
#=   r f32[2,2] = softmax(p) axis=1
#=   t f32[2,2] = softmax(p) axis=0
#=   u f32[2,2] = add(r, r)
#=   y f32[2,2] = sub(u, t)
#=   z f32[2,2] = sub(u, t)
#=   output y
#=   output z
#= }
