# Division by the length along one axis, as torch, TensorFlow and LpNormalization write it. It stays where
# the bound is large, or above, along two axes, of another tensor, and by the sum of magnitudes.
# RUN: heddle opt --pass norm %s
graph g {
  input x f32[2,4]
  input u f32[2,4]
  input c f32[1,3,2,2]
  const last i64[1] = {-1}
  const channel i64[1] = {1}
  const both i64[2] = {0, 1}
  const least f32[] = {0x1p-40}
  const large f32[] = {0.5}
  const most f32[] = {2.0}
  const shape i64[2] = {2, 4}
  n1 ? = reducel2(x, last) keepdims=1
  c1 ? = clip(n1, least)
  e1 ? = expand(c1, shape)
  y1 ? = div(x, e1)
  q2 ? = mul(c, c)
  s2 ? = reducesum(q2, channel) keepdims=1
  n2 ? = sqrt(s2)
  c2 ? = max(n2, least)
  y2 ? = div(c, c2)
  y3 ? = lpnorm(c) axis=-3 p=2
  y4 ? = lpnorm(x)
  n5 ? = reducel2(x, last) keepdims=1
  a5 ? = add(n5, least)
  r5 ? = reciprocal(a5)
  y5 ? = mul(x, r5)
  n6 ? = reducel2(x, last) keepdims=1
  c6 ? = clip(n6, large)
  y6 ? = div(x, c6)
  n7 ? = reducel2(x, last) keepdims=1
  c7 ? = clip(n7, least, most)
  y7 ? = div(x, c7)
  n8 ? = reducel2(x, both) keepdims=1
  y8 ? = div(x, n8)
  n9 ? = reducel2(u, last) keepdims=1
  y9 ? = div(x, n9)
  y10 ? = lpnorm(x) p=1
  i11 ? = identity(x)
  q11 ? = mul(x, i11)
  s11 ? = reducesum(q11, last) keepdims=1
  n11 ? = sqrt(s11)
  y11 ? = div(x, n11)
  output y1
  output y2
  output y3
  output y4
  output y5
  output y6
  output y7
  output y8
  output y9
  output y10
  output y11
}
#= graph g {
#=   input x f32[2,4]
#=   input u f32[2,4]
#=   input c f32[1,3,2,2]
#=   const last i64[1] = {-1}
#=   const least f32[] = {0x1p-40}
#=   const large f32[] = {0x1p-1}
#=   const most f32[] = {0x1p+1}
#=   const norm.length f32[4] = {0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1}
#=   const norm.length_43_44 f32[3] = {0x1.279a74p-1, 0x1.279a74p-1, 0x1.279a74p-1}
#=   const norm.length_48 f32[4] = {0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1}
#=   const norm.length_50_51 f32[3] = {0x1.279a74p-1, 0x1.279a74p-1, 0x1.279a74p-1}
#=   const norm.length_55 f32[4] = {0x1p-1, 0x1p-1, 0x1p-1, 0x1p-1}
#=   const norm.scale f32[2,4] = {0x1.6a09e6p-2, 0x1.6a09e6p-2, 0x1.6a09e6p-2, 0x1.6a09e6p-2, 0x1.6a09e6p-2, 0x1.6a09e6p-2, 0x1.6a09e6p-2, 0x1.6a09e6p-2}
#=   n6 f32[2,1] = reducel2(x, last) keepdims=1
#=   c6 f32[2,1] = clip(n6, large)
#=   y6 f32[2,4] = div(x, c6)
#=   n7 f32[2,1] = reducel2(x, last) keepdims=1
#=   c7 f32[2,1] = clip(n7, least, most)
#=   y7 f32[2,4] = div(x, c7)
#=   n9 f32[2,1] = reducel2(u, last) keepdims=1
#=   y9 f32[2,4] = div(x, n9)
#=   y10 f32[2,4] = lpnorm(x) p=1
#=   i11 f32[2,4] = identity(x)
#=   q11 f32[2,4] = mul(x, i11)
#=   s11 f32[2,1] = reducesum(q11, last) keepdims=1
#=   n11 f32[2,1] = sqrt(s11)
#=   y11 f32[2,4] = div(x, n11)
#=   y1 f32[2,4] = layernorm(x, norm.length) axis=1 centred=0 epsilon=0x1p-82
#=   y2_45 f32[1,2,2,3] = transpose(c) @y2_32 perm=[0,2,3,1]
#=   y2_46 f32[1,2,2,3] = layernorm(y2_45, norm.length_43_44) @y2 axis=3 centred=0 epsilon=0x1.555556p-82
#=   y2 f32[1,3,2,2] = transpose(y2_46) @y2_33 perm=[0,3,1,2]
#=   y5 f32[2,4] = layernorm(x, norm.length_48) axis=1 centred=0 epsilon=0x1p-82
#=   y3_52 f32[1,2,2,3] = transpose(c) @y3_36 perm=[0,2,3,1]
#=   y3_53 f32[1,2,2,3] = layernorm(y3_52, norm.length_50_51) @y3 axis=3 centred=0 epsilon=0x1.4484cp-100
#=   y3 f32[1,3,2,2] = transpose(y3_53) @y3_37 perm=[0,3,1,2]
#=   y4 f32[2,4] = layernorm(x, norm.length_55) axis=1 centred=0 epsilon=0x1.4484cp-100
#=   y8 f32[2,4] = layernorm(x, norm.scale) axis=0 centred=0 epsilon=0x1.4484cp-100
#=   output y1
#=   output y2
#=   output y3
#=   output y4
#=   output y5
#=   output y6
#=   output y7
#=   output y8
#=   output y9
#=   output y10
#=   output y11
#= }
