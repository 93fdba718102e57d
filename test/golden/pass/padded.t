# RUN: heddle opt --pass simplify %s
graph g {
  input x i8[1,4,6,6]
  input f f32[1,2,8]
  input w i8[4,4,3,3]
  input b i32[4]
  input s f32[4]
  const around i64[8] = {0,0,0,0,0,0,1,1}
  const sides i64[4] = {1,1,1,1}
  const axes i64[2] = {2,3}
  const causal i64[6] = {0,0,2,0,0,0}
  const three i8[] = {3}
  const low i8[] = {-128}
  input k f32[2,2,3]
  input gray i8[1,6,5,1]
  input one i8[4,1,3,3]
  const after i64[8] = {0,0,0,0,0,1,2,0}
  p ? = pad(x, around, three)
  y ? = qconv(p, w, b, s) kernel_shape=[3,3] strides=[2,2] x_zp=3 y_zp=0 lo=-128 hi=127 to="i8" dilations=[1,1] group=1 pads=[0,0,0,0]
  q ? = pad(x, sides, low, axes)
  m ? = qmaxpool(q) kernel_shape=[3,3] strides=[1,1] pads=[0,0,1,0] dilations=[1,1]
  c ? = pad(f, causal)
  z ? = conv(c, k) kernel_shape=[3]
  g ? = pad(gray, after, three)
  h ? = reshape(g) shape=[1,1,7,7]
  e ? = qconv(h, one, b, s) kernel_shape=[3,3] strides=[2,2] x_zp=3 y_zp=0 lo=-128 hi=127 to="i8" dilations=[1,1] group=1 pads=[0,0,0,0]
  output y
  output e
  output m
  output z
}
#= graph g {
#=   input x i8[1,4,6,6]
#=   input f f32[1,2,8]
#=   input w i8[4,4,3,3]
#=   input b i32[4]
#=   input s f32[4]
#=   input k f32[2,2,3]
#=   input gray i8[1,6,5,1]
#=   input one i8[4,1,3,3]
#=   h_24 i8[1,1,6,5] = reshape(gray) @h_9 shape=[1,1,6,5]
#=   y i8[1,4,3,3] = qconv(x, w, b, s) kernel_shape=[3,3] strides=[2,2] x_zp=3 y_zp=0 lo=-128 hi=127 to="i8" dilations=[1,1] group=1 pads=[0,0,1,1]
#=   m i8[1,4,7,6] = qmaxpool(x) kernel_shape=[3,3] strides=[1,1] pads=[1,1,2,1] dilations=[1,1]
#=   z f32[1,2,8] = conv(f, k) kernel_shape=[3] pads=[2,0]
#=   e i8[1,4,3,3] = qconv(h_24, one, b, s) kernel_shape=[3,3] strides=[2,2] x_zp=3 y_zp=0 lo=-128 hi=127 to="i8" dilations=[1,1] group=1 pads=[0,0,1,2]
#=   output y
#=   output e
#=   output m
#=   output z
#= }
