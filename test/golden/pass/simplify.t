# RUN: heddle opt --pass simplify %s
graph g {
  input x f32[2,3]
  input n i8[4]
  const one f32[1] = {1.0}
  const zero f32[] = {0.0}
  const two f32[] = {2.0}
  const axes i64[2] = {0,1}
  a ? = mul(one, x)
  b ? = add(a, zero)
  c ? = div(b, one)
  d ? = pow(c, two)
  e ? = transpose(d) perm=[1,0]
  f ? = transpose(e) perm=[1,0]
  g ? = reshape(f) shape=[3,2]
  h ? = reshape(g) shape=[6]
  i ? = relu(h)
  j ? = relu(i)
  k ? = neg(j)
  l ? = neg(k)
  m ? = max(l, l)
  y ? = sub(m, zero)
  o ? = cast(n) to="i32"
  q ? = cast(o) to="f32"
  r ? = cast(q) to="i8"
  s ? = cast(r) to="u8"
  t ? = flatten(s) axis=0
  u ? = squeeze(t)
  v ? = unsqueeze(n, axes)
  w ? = flatten(v) axis=2
  output y
  output u
  output w
}
#= graph g {
#=   input x f32[2,3]
#=   input n i8[4]
#=   d f32[2,3] = mul(x, x)
#=   h f32[6] = reshape(d) shape=[6]
#=   i f32[6] = relu(h)
#=   s u8[4] = cast(n) to="u8"
#=   y f32[6] = identity(i)
#=   w i8[1,4] = reshape(n) shape=[1,4]
#=   u u8[4] = identity(s)
#=   output y
#=   output u
#=   output w
#= }
