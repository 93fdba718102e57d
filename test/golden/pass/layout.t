# Transposes where they move the fewest bytes: the convolution is the only one that wants NCHW. One
# transpose of its result replaces the three of what the arms of the diamond make of it.
# RUN: heddle opt --pass layout %s
graph diamond {
  input x f32[1,4,4,2]
  const w f32[2,2,1,1] = {0.5,-1.0,0.25,2.0}
  const scale f32[2,1,1] = {0.5,0.25}
  a ? = transpose(x) perm=[0,3,1,2]
  b ? = conv(a, w) kernel_shape=[1,1]
  c ? = sigmoid(b)
  d ? = tanh(b)
  e ? = mul(b, scale)
  u ? = transpose(c) perm=[0,2,3,1]
  v ? = transpose(d) perm=[0,2,3,1]
  s ? = transpose(e) perm=[0,2,3,1]
  t ? = mul(u, v)
  y ? = add(t, s)
  output y
}
#= graph diamond {
#=   input x f32[1,4,4,2]
#=   const w f32[2,2,1,1] = {0x1p-1, -0x1p+0, 0x1p-2, 0x1p+1}
#=   const scale_14 f32[1,1,1,2] = {0x1p-1, 0x1p-2}
#=   a f32[1,2,4,4] = transpose(x) perm=[0,3,1,2]
#=   b f32[1,2,4,4] = conv(a, w) kernel_shape=[1,1]
#=   b_13 f32[1,4,4,2] = transpose(b) perm=[0,2,3,1]
#=   u f32[1,4,4,2] = sigmoid(b_13) @c
#=   v f32[1,4,4,2] = tanh(b_13) @d
#=   t f32[1,4,4,2] = mul(u, v)
#=   s f32[1,4,4,2] = mul(b_13, scale_14) @e
#=   y f32[1,4,4,2] = add(t, s)
#=   output y
#= }
