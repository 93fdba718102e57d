# Division by a deviation, with the epsilon behind the root, of N - 1 elements, with the factor in front, by
# powers and sums, along channels; factors and summands of a norm; the log of a softmax. It stays where the epsilon
# is large or there are several dimensions in front of others, across samples, of a row that is too long, by the
# deviation of another tensor, and of the wrong power.
# RUN: heddle opt --pass norm %s
graph g {
  input x f32[2,3,4]
  input u f32[2,3,4]
  input w f32[1,3,2,2]
  input l f32[2,65,64]
  const last i64[1] = {-1}
  const channel i64[1] = {1}
  const sample i64[1] = {0}
  const two_of i64[2] = {1, 2}
  const front i64[2] = {0, 1}
  const n f32[] = {4.0}
  const less f32[] = {3.0}
  const eps f32[] = {0x1p-20}
  const large f32[] = {0.5}
  const half f32[] = {0.5}
  const minus f32[] = {-0.5}
  const s f32[4] = {1, 2, 3, 4}
  const b f32[4] = {-1, 0.5, 0.25, 2}
  const per f32[3,1,1] = {1, 2, 3}
  m1 ? = reducemean(x, last)
  d1 ? = sub(x, m1)
  m1b ? = reducemean(x, last)
  d1b ? = sub(x, m1b)
  q1 ? = mul(d1b, d1b)
  v1 ? = reducemean(q1, last)
  t1 ? = mul(v1, n)
  w1 ? = div(t1, less)
  r1 ? = sqrt(w1)
  e1 ? = add(r1, eps)
  c1 ? = mul(s, d1)
  o1 ? = div(c1, e1)
  y1 ? = add(o1, b)
  q2 ? = mul(w, w)
  v2 ? = reducesum(q2, channel)
  p2 ? = pow(v2, minus)
  o2 ? = mul(w, p2)
  y2 ? = mul(o2, per)
  p3 ? = softmax(x) axis=1
  y3 ? = log(p3)
  q4 ? = mul(x, x)
  v4 ? = reducemean(q4, last)
  r4 ? = sqrt(v4)
  e4 ? = add(r4, large)
  y4 ? = div(x, e4)
  v5 ? = reducesumsquare(x, front)
  r5 ? = sqrt(v5)
  y5 ? = div(x, r5)
  v6 ? = reducemean(q4, sample)
  r6 ? = sqrt(v6)
  y6 ? = div(x, r6)
  v7 ? = reducel2(l, two_of)
  y7 ? = div(l, v7)
  v8 ? = reducel2(u, last)
  z8 ? = mul(v8, half)
  y8 ? = div(x, z8)
  y9 ? = div(x, v4)
  output y1
  output y2
  output y3
  output y4
  output y5
  output y6
  output y7
  output y8
  output y9
}
#= graph g {
#=   input x f32[2,3,4]
#=   input u f32[2,3,4]
#=   input w f32[1,3,2,2]
#=   input l f32[2,65,64]
#=   const last i64[1] = {-1}
#=   const sample i64[1] = {0}
#=   const two_of i64[2] = {1, 2}
#=   const front i64[2] = {0, 1}
#=   const large f32[] = {0x1p-1}
#=   const half f32[] = {0x1p-1}
#=   const per f32[3,1,1] = {0x1p+0, 0x1p+1, 0x1.8p+1}
#=   const norm.scale_58 f32[3] = {0x1.279a74p-1, 0x1.279a74p-1, 0x1.279a74p-1}
#=   const s_63 f32[4] = {0x1.bb67aep-1, 0x1.bb67aep+0, 0x1.4c8dc2p+1, 0x1.bb67aep+1}
#=   const b_65 f32[4] = {-0x1p+0, 0x1p-1, 0x1p-2, 0x1p+1}
#=   o2_59 f32[1,2,2,3] = transpose(w) @o2_39 perm=[0,2,3,1]
#=   o2_60 f32[1,2,2,3] = layernorm(o2_59, norm.scale_58) @o2_40 axis=3 centred=0 epsilon=0x1.4484cp-100
#=   o2 f32[1,3,2,2] = transpose(o2_60) perm=[0,3,1,2]
#=   y2 f32[1,3,2,2] = mul(o2, per)
#=   q4 f32[2,3,4] = mul(x, x)
#=   v4 f32[2,3,1] = reducemean(q4, last)
#=   r4 f32[2,3,1] = sqrt(v4)
#=   e4 f32[2,3,1] = add(r4, large)
#=   y4 f32[2,3,4] = div(x, e4)
#=   v5 f32[1,1,4] = reducesumsquare(x, front)
#=   r5 f32[1,1,4] = sqrt(v5)
#=   y5 f32[2,3,4] = div(x, r5)
#=   v6 f32[1,3,4] = reducemean(q4, sample)
#=   r6 f32[1,3,4] = sqrt(v6)
#=   y6 f32[2,3,4] = div(x, r6)
#=   v7 f32[2,1,1] = reducel2(l, two_of)
#=   y7 f32[2,65,64] = div(l, v7)
#=   v8 f32[2,3,1] = reducel2(u, last)
#=   z8 f32[2,3,1] = mul(v8, half)
#=   y8 f32[2,3,4] = div(x, z8)
#=   y9 f32[2,3,4] = div(x, v4)
#=   y3 f32[2,3,4] = logsoftmax(x) axis=1
#=   y1 f32[2,3,4] = layernorm(x, s_63, b_65) axis=2 epsilon=0x1.8p-41
#=   output y1
#=   output y2
#=   output y3
#=   output y4
#=   output y5
#=   output y6
#=   output y7
#=   output y8
#=   output y9
#= }
