# Division by the root of the mean square, two forms; over the first axis, or of another tensor, it stays.
# RUN: heddle opt --pass norm %s
graph g {
  input x f32[2,4]
  input u f32[2,4]
  const last i64[1] = {-1}
  const first i64[1] = {0}
  const two f32[] = {2.0}
  const eps f32[] = {0x1p-10}
  const s f32[4] = {1.0, 2.0, 3.0, 4.0}
  q ? = pow(x, two)
  v ? = reducemean(q, last) keepdims=1
  ve ? = add(v, eps)
  sd ? = sqrt(ve)
  n ? = div(x, sd)
  y ? = mul(s, n)
  q2 ? = mul(x, x)
  v2 ? = reducemean(q2, last) keepdims=1
  ve2 ? = add(v2, eps)
  sd2 ? = sqrt(ve2)
  r2 ? = reciprocal(sd2)
  n2 ? = mul(x, r2)
  z ? = mul(n2, s)
  q3 ? = mul(x, x)
  v3 ? = reducemean(q3, first) keepdims=1
  ve3 ? = add(v3, eps)
  sd3 ? = sqrt(ve3)
  n3 ? = div(x, sd3)
  w ? = mul(n3, s)
  q4 ? = mul(u, u)
  v4 ? = reducemean(q4, last) keepdims=1
  ve4 ? = add(v4, eps)
  sd4 ? = sqrt(ve4)
  n4 ? = div(x, sd4)
  p ? = mul(n4, s)
  output y
  output z
  output w
  output p
}
#= graph g {
#=   input x f32[2,4]
#=   input u f32[2,4]
#=   const last i64[1] = {-1}
#=   const first i64[1] = {0}
#=   const eps f32[] = {0x1p-10}
#=   const s f32[4] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2}
#=   q3 f32[2,4] = mul(x, x)
#=   v3 f32[1,4] = reducemean(q3, first) keepdims=1
#=   ve3 f32[1,4] = add(v3, eps)
#=   sd3 f32[1,4] = sqrt(ve3)
#=   n3 f32[2,4] = div(x, sd3)
#=   w f32[2,4] = mul(n3, s)
#=   q4 f32[2,4] = mul(u, u)
#=   v4 f32[2,1] = reducemean(q4, last) keepdims=1
#=   ve4 f32[2,1] = add(v4, eps)
#=   sd4 f32[2,1] = sqrt(ve4)
#=   n4 f32[2,4] = div(x, sd4)
#=   p f32[2,4] = mul(n4, s)
#=   y f32[2,4] = layernorm(x, s) axis=1 centred=0 epsilon=0x1p-10
#=   z f32[2,4] = layernorm(x, s) axis=1 centred=0 epsilon=0x1p-10
#=   output y
#=   output z
#=   output w
#=   output p
#= }
