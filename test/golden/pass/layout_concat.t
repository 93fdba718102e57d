# Joined along channels in either order: a convolution's result, and what came in as NHWC. The halves are split again.
# RUN: heddle opt --pass layout %s
graph concat {
  input x f32[1,4,4,2]
  const w f32[2,2,1,1] = {0.5,-1.0,0.25,2.0}
  const sizes i64[2] = {2,2}
  a ? = transpose(x) perm=[0,3,1,2]
  b ? = conv(a, w) kernel_shape=[1,1]
  c ? = transpose(b) perm=[0,2,3,1]
  d ? = relu(x)
  e ? = concat(c, d) axis=-1
  f ? = softmax(e) axis=3
  g ?, h ? = split(f, sizes) axis=3
  i ? = transpose(g) perm=[0,3,1,2]
  y ? = conv(i, w) kernel_shape=[1,1]
  j ? = transpose(h) perm=[0,3,1,2]
  z ? = conv(j, w) kernel_shape=[1,1]
  output y
  output z
}
#= graph concat {
#=   input x f32[1,4,4,2]
#=   const w f32[2,2,1,1] = {0x1p-1, -0x1p+0, 0x1p-2, 0x1p+1}
#=   const sizes i64[2] = {2, 2}
#=   a f32[1,2,4,4] = transpose(x) perm=[0,3,1,2]
#=   b f32[1,2,4,4] = conv(a, w) kernel_shape=[1,1]
#=   d_15 f32[1,2,4,4] = relu(a) @d
#=   e_16 f32[1,4,4,4] = concat(b, d_15) @e axis=1
#=   f_17 f32[1,4,4,4] = softmax(e_16) @f axis=1
#=   i f32[1,2,4,4], j f32[1,2,4,4] = split(f_17, sizes) @g axis=1
#=   y f32[1,2,4,4] = conv(i, w) kernel_shape=[1,1]
#=   z f32[1,2,4,4] = conv(j, w) kernel_shape=[1,1]
#=   output y
#=   output z
#= }
