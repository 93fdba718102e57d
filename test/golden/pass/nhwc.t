# RUN: heddle opt --pass nhwc,simplify %s
graph g {
  input x i8[1,4,4,2]
  input k i8[3,2,1,1]
  input b i32[3]
  input s f32[3]
  input r i8[1,3,2,4]
  const one f32[] = {1.0}
  t ? = transpose(x) perm=[0,3,1,2]
  y ? = qconv(t, k, b, s) kernel_shape=[1,1] x_zp=0 y_zp=0 lo=-128 hi=127 to="i8" group=1
  u ? = transpose(y) perm=[0,2,3,1]
  a ? = qadd(u, u) a_zp=0 b_zp=0 y_zp=0 lo=-128 hi=127 a_scale=1.0 b_scale=1.0 to="i8"
  v ? = transpose(a) perm=[0,3,1,2]
  z ? = qmaxpool(v) kernel_shape=[2,2]
  c ? = transpose(r) perm=[0,2,1,3]
  d ? = qadd(c, c) a_zp=0 b_zp=0 y_zp=0 lo=-128 hi=127 a_scale=1.0 b_scale=1.0 to="i8"
  e ? = transpose(d) perm=[0,2,1,3]
  output z
  output e
}
#= graph g {
#=   input x i8[1,4,4,2]
#=   input k i8[3,2,1,1]
#=   input b i32[3]
#=   input s f32[3]
#=   input r i8[1,3,2,4]
#=   t i8[1,2,4,4] = transpose(x) perm=[0,3,1,2]
#=   y i8[1,3,4,4] = qconv(t, k, b, s) kernel_shape=[1,1] x_zp=0 y_zp=0 lo=-128 hi=127 to="i8" group=1
#=   v i8[1,3,4,4] = qadd(y, y) @a a_zp=0 b_zp=0 y_zp=0 lo=-128 hi=127 a_scale=0x1p+0 b_scale=0x1p+0 to="i8"
#=   z i8[1,3,3,3] = qmaxpool(v) kernel_shape=[2,2]
#=   c i8[1,2,3,4] = transpose(r) perm=[0,2,1,3]
#=   d i8[1,2,3,4] = qadd(c, c) a_zp=0 b_zp=0 y_zp=0 lo=-128 hi=127 a_scale=0x1p+0 b_scale=0x1p+0 to="i8"
#=   e i8[1,3,2,4] = transpose(d) perm=[0,2,1,3]
#=   output z
#=   output e
#= }
