# RUN: heddle opt --pass norm %s
graph g {
  input x f32[2,3,4]
  const axes i64[1] = {-1}
  const two f32[] = {2.0}
  const e f32[] = {0.001}
  const inner i64[1] = {1}
  m ? = reducemean(x, axes)
  d ? = sub(x, m)
  p ? = pow(d, two)
  v ? = reducemean(p, axes)
  a ? = add(v, e)
  r ? = sqrt(a)
  y ? = div(d, r)
  p2 ? = mul(x, x)
  v2 ? = reducemean(p2, axes)
  a2 ? = add(v2, e)
  r2 ? = sqrt(a2)
  y2 ? = div(x, r2)
  p3 ? = pow(x, two)
  v3 ? = reducemean(p3, axes)
  a3 ? = add(v3, e)
  r3 ? = sqrt(a3)
  k3 ? = reciprocal(r3)
  y3 ? = mul(x, k3)
  m4 ? = reducemean(x, inner)
  d4 ? = sub(x, m4)
  p4 ? = mul(d4, d4)
  v4 ? = reducemean(p4, inner)
  a4 ? = add(v4, e)
  r4 ? = sqrt(a4)
  y4 ? = div(d4, r4)
  output y
  output y2
  output y3
  output y4
}
#= graph g {
#=   input x f32[2,3,4]
#=   const norm.ones f32[4] = {0x1p+0, 0x1p+0, 0x1p+0, 0x1p+0}
#=   const norm.ones_32 f32[4] = {0x1p+0, 0x1p+0, 0x1p+0, 0x1p+0}
#=   const norm.ones_34 f32[4] = {0x1p+0, 0x1p+0, 0x1p+0, 0x1p+0}
#=   const norm.scale f32[3] = {0x1p+0, 0x1p+0, 0x1p+0}
#=   y f32[2,3,4] = layernorm(x, norm.ones) axis=2 epsilon=0x1.0624dep-10
#=   y2 f32[2,3,4] = layernorm(x, norm.ones_32) axis=2 centred=0 epsilon=0x1.0624dep-10
#=   y3 f32[2,3,4] = layernorm(x, norm.ones_34) axis=2 centred=0 epsilon=0x1.0624dep-10
#=   y4_37 f32[2,4,3] = transpose(x) @y4_28 perm=[0,2,1]
#=   y4_38 f32[2,4,3] = layernorm(y4_37, norm.scale) @y4_29 axis=2 epsilon=0x1.0624dep-10
#=   y4 f32[2,3,4] = transpose(y4_38) perm=[0,2,1]
#=   output y
#=   output y2
#=   output y3
#=   output y4
#= }
