# Layer normalisation as torch and as TensorFlow write it, and softmax; the last axes differ, so it stays.
# RUN: heddle opt --pass norm %s
graph g {
  input x f32[2,4]
  const last i64[1] = {-1}
  const first i64[1] = {0}
  const two f32[] = {2.0}
  const eps f32[] = {0x1p-10}
  const s f32[4] = {1.0, 2.0, 3.0, 4.0}
  const b f32[4] = {0.0, 1.0, 0.0, 1.0}
  m ? = reducemean(x, last) keepdims=1
  d ? = sub(x, m)
  q ? = pow(d, two)
  v ? = reducemean(q, last) keepdims=1
  ve ? = add(v, eps)
  sd ? = sqrt(ve)
  n ? = div(d, sd)
  ns ? = mul(n, s)
  y ? = add(ns, b)
  m2 ? = reducemean(x, last) keepdims=1
  d2 ? = sub(x, m2)
  q2 ? = mul(d2, d2)
  v2 ? = reducemean(q2, last) keepdims=1
  ve2 ? = add(v2, eps)
  sd2 ? = sqrt(ve2)
  r2 ? = reciprocal(sd2)
  k2 ? = mul(r2, s)
  xk ? = mul(x, k2)
  mk ? = mul(m2, k2)
  bk ? = sub(b, mk)
  z ? = add(xk, bk)
  top ? = reducemax(x, last) keepdims=1
  dx ? = sub(x, top)
  ex ? = exp(dx)
  sum ? = reducesum(ex, last) keepdims=1
  p ? = div(ex, sum)
  top3 ? = reducemax(x, last) keepdims=1
  dx3 ? = sub(x, top3)
  ex3 ? = exp(dx3)
  sum3 ? = reducesum(ex3, first) keepdims=1
  p3 ? = div(ex3, sum3)
  m5 ? = reducemean(x, last) keepdims=1
  d5 ? = sub(x, m5)
  q5 ? = mul(d5, d5)
  v5 ? = reducemean(q5, last) keepdims=1
  ve5 ? = add(v5, eps)
  sd5 ? = sqrt(ve5)
  n5 ? = div(d5, sd5)
  w ? = mul(n5, s)
  output w
  output y
  output z
  output p
  output p3
}
#= graph g {
#=   input x f32[2,4]
#=   const last i64[1] = {-1}
#=   const first i64[1] = {0}
#=   const s f32[4] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2}
#=   const b f32[4] = {0x0p+0, 0x1p+0, 0x0p+0, 0x1p+0}
#=   top3 f32[2,1] = reducemax(x, last) keepdims=1
#=   dx3 f32[2,4] = sub(x, top3)
#=   ex3 f32[2,4] = exp(dx3)
#=   sum3 f32[1,4] = reducesum(ex3, first) keepdims=1
#=   p3 f32[2,4] = div(ex3, sum3)
#=   y f32[2,4] = layernorm(x, s, b) axis=1 epsilon=0x1p-10
#=   z f32[2,4] = layernorm(x, s, b) axis=1 epsilon=0x1p-10
#=   w f32[2,4] = layernorm(x, s) axis=1 epsilon=0x1p-10
#=   p f32[2,4] = softmax(x) axis=1
#=   output w
#=   output y
#=   output z
#=   output p
#=   output p3
#= }
