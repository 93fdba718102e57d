# Nothing to gain. The one transpose of the bytes of x serves both arms of the diamond: below the cast it would move
# four times as much (which is where pass sink takes it), below the arms twice that.
# RUN: heddle opt --pass layout %s
# RUN: heddle opt --pass sink,layout %s
graph diamond {
  input x i8[1,4,4,2]
  const w f32[2,2,1,1] = {0.5,-1.0,0.25,2.0}
  a ? = transpose(x) perm=[0,3,1,2]
  b ? = cast(a) to="f32"
  c ? = relu(b)
  d ? = neg(b)
  y ? = conv(c, w) kernel_shape=[1,1]
  z ? = conv(d, w) kernel_shape=[1,1]
  output y
  output z
}
#= graph diamond {
#=   input x i8[1,4,4,2]
#=   const w f32[2,2,1,1] = {0x1p-1, -0x1p+0, 0x1p-2, 0x1p+1}
#=   a i8[1,2,4,4] = transpose(x) perm=[0,3,1,2]
#=   b f32[1,2,4,4] = cast(a) to="f32"
#=   c f32[1,2,4,4] = relu(b)
#=   d f32[1,2,4,4] = neg(b)
#=   y f32[1,2,4,4] = conv(c, w) kernel_shape=[1,1]
#=   z f32[1,2,4,4] = conv(d, w) kernel_shape=[1,1]
#=   output y
#=   output z
#= }
#= graph diamond {
#=   input x i8[1,4,4,2]
#=   const w f32[2,2,1,1] = {0x1p-1, -0x1p+0, 0x1p-2, 0x1p+1}
#=   x_10 i8[1,2,4,4] = transpose(x) perm=[0,3,1,2]
#=   b f32[1,2,4,4] = cast(x_10) to="f32"
#=   c f32[1,2,4,4] = relu(b)
#=   d f32[1,2,4,4] = neg(b)
#=   y f32[1,2,4,4] = conv(c, w) kernel_shape=[1,1]
#=   z f32[1,2,4,4] = conv(d, w) kernel_shape=[1,1]
#=   output y
#=   output z
#= }
