# Signals become images of one row where a convolution of few channels, or a transposed one, is beside them: windows,
# sums that broadcast, functions, concats along each axis. Not one tap of many channels, nor depthwise, by themselves.
# RUN: heddle opt --pass lines %s
graph g {
  input x i8[2,3,12]
  input q i8[2,3,12]
  const w i8[4,3,5] = {-1,2,7,-9,5,-2,-8,-4,-6,2,6,-2,3,8,-6,9,-2,-9,-3,4,-1,-4,3,-4,-7,-5,5,-5,-5,-9,-9,-3,-3,-4,-4,0,1,-3,8,-3,-4,-3,3,0,-9,2,4,-4,-5,-1,-7,1,0,9,-9,1,-7,0,2,0}
  const b i32[4] = {33,88,-10,-43}
  const s f32[4] = {0.02,0.03,0.02,0.01}
  const v i8[2,4,3] = {6,6,-4,-8,-1,-9,2,3,-9,8,4,2,3,9,-9,5,-8,-4,-3,-6,-2,5,2,7}
  const c i32[2] = {0,44}
  const s1 f32[1] = {0.02}
  const k i8[4,1] = {-1,5,-6,9}
  const last i8[6] = {2,0,-8,4,-7,-3}
  const table i8[256] = {1,7,2,-5,1,-1,8,-7,0,1,0,-4,-7,-5,0,6,-4,-8,-7,8,3,-8,-2,2,-1,5,4,-5,-8,-8,6,1,-3,-5,9,-5,4,-6,-4,4,2,-5,-8,4,0,-5,5,-4,7,5,6,1,6,-1,0,6,3,-5,-6,3,8,-4,6,1,-4,-7,6,-1,7,8,7,2,-7,2,9,-8,0,2,8,-1,6,-1,0,1,-4,9,-9,6,8,-1,1,-1,5,0,7,2,2,-1,2,4,2,-4,5,2,1,7,-5,7,-4,-3,2,6,0,-7,4,-4,9,7,4,0,8,-1,-9,-3,-4,9,5,-4,-2,-4,-8,6,-2,-4,-8,-5,-6,1,-4,6,-3,8,-8,4,5,2,3,-7,9,-3,-2,2,-9,2,3,-1,4,-6,8,2,-8,8,0,-6,0,8,7,1,9,0,2,-5,4,4,9,8,2,5,-5,-4,3,9,6,-3,-5,-7,2,-9,3,-6,1,9,8,-5,1,9,3,4,4,-2,6,0,6,3,3,-4,-1,0,6,-1,4,-9,1,0,6,0,-5,6,-9,-6,5,-2,0,-8,-5,3,-9,6,8,8,-1,-2,6,-8,-2,6,-1,-5,0,0,6,6,7,-6,-9,-5,0,0,8,1,0,7,-9,5,2,2}
  const u i8[16,3,1] = {9,-5,-8,-9,-1,8,5,-6,8,-3,-9,4,4,9,6,3,6,3,-3,0,5,-7,0,-9,4,9,0,6,0,-5,-4,6,8,6,1,8,-5,4,9,8,-8,-7,-2,-1,-7,-7,-9,1}
  const d i32[16] = {19,-73,13,89,34,-78,-59,-59,-34,67,75,-62,-56,-16,90,22}
  const dw i8[16,1,3] = {-5,-4,-4,4,-4,-7,-3,-8,8,-6,3,-7,-1,-8,9,9,-6,3,-5,-9,4,-7,1,6,6,2,2,-8,-5,0,-5,9,7,0,8,8,-2,-1,-7,8,-2,-1,0,7,-5,-2,2,5}
  y ? = qconv(x, w, b, s) x_zp=3 y_zp=-2 kernel_shape=[5] pads=[1,3] strides=[2] dilations=[1]
  t ? = qtable(y, table)
  a ? = qadd(t, k) a_scale=0.5 b_scale=0.25
  p ? = qmaxpool(a) kernel_shape=[3] pads=[1,1] strides=[1]
  m ? = qavgpool(y) kernel_shape=[6] x_zp=1 scale=0.1
  e ? = qmul(p, m) scale=0.1
  f ? = qadd(e, last) a_scale=0.5 b_scale=0.5
  g1 ? = concat(e, f) axis=1
  g2 ? = concat(f, p) axis=-1
  g3 ? = concat(g2, g2) axis=0
  z ? = qconvtranspose(g3, v, c, s1) x_zp=-1 kernel_shape=[3] strides=[2] pads=[1,0] output_padding=[1]
  o ? = qconv(q, u, d, s1) kernel_shape=[1]
  h ? = qconv(o, dw, d, s1) kernel_shape=[3] group=16
  h2 ? = qadd(h, h)
  output g1
  output z
  output h2
}
#= graph g {
#=   input x i8[2,3,12]
#=   input q i8[2,3,12]
#=   const b i32[4] = {33, 88, -10, -43}
#=   const s f32[4] = {0x1.47ae14p-6, 0x1.eb851ep-6, 0x1.47ae14p-6, 0x1.47ae14p-7}
#=   const c i32[2] = {0, 44}
#=   const s1 f32[1] = {0x1.47ae14p-6}
#=   const last i8[6] = {2, 0, -8, 4, -7, -3}
#=   const table i8[256] = #657f6cb1
#=   const u i8[16,3,1] = #ed4e49c8
#=   const d i32[16] = {19, -73, 13, 89, 34, -78, -59, -59, -34, 67, 75, -62, -56, -16, 90, 22}
#=   const dw i8[16,1,3] = #2ab80244
#=   const w_29 i8[4,3,1,5] = #94f6771e
#=   const k.line i8[4,1,1] = {-1, 5, -6, 9}
#=   const v_41 i8[2,4,1,3] = #053a6864
#=   o i8[2,16,12] = qconv(q, u, d, s1) kernel_shape=[1]
#=   h i8[2,16,10] = qconv(o, dw, d, s1) kernel_shape=[3] group=16
#=   h2 i8[2,16,10] = qadd(h, h)
#=   x_28 i8[2,3,1,12] = reshape(x) shape=[2,3,1,12]
#=   y.line i8[2,4,1,6] = qconv(x_28, w_29, b, s) @y x_zp=3 y_zp=-2 kernel_shape=[1,5] pads=[0,1,0,3] strides=[1,2] dilations=[1,1]
#=   t.line i8[2,4,1,6] = qtable(y.line, table) @t
#=   a.line i8[2,4,1,6] = qadd(t.line, k.line) @a a_scale=0x1p-1 b_scale=0x1p-2
#=   p.line i8[2,4,1,6] = qmaxpool(a.line) @p kernel_shape=[1,3] pads=[0,1,0,1] strides=[1,1]
#=   m.line i8[2,4,1,1] = qavgpool(y.line) @m kernel_shape=[1,6] x_zp=1 scale=0x1.99999ap-4
#=   e.line i8[2,4,1,6] = qmul(p.line, m.line) @e scale=0x1.99999ap-4
#=   f.line i8[2,4,1,6] = qadd(e.line, last) @f a_scale=0x1p-1 b_scale=0x1p-1
#=   g1.line i8[2,8,1,6] = concat(e.line, f.line) @g1 axis=1
#=   g1 i8[2,8,6] = reshape(g1.line) @g1_30 shape=[2,8,6]
#=   g2.line i8[2,4,1,12] = concat(f.line, p.line) @g2 axis=3
#=   g3.line i8[4,4,1,12] = concat(g2.line, g2.line) @g3 axis=0
#=   z.line i8[4,2,1,25] = qconvtranspose(g3.line, v_41, c, s1) @z x_zp=-1 kernel_shape=[1,3] strides=[1,2] pads=[0,1,0,0] output_padding=[0,1]
#=   z i8[4,2,25] = reshape(z.line) @z_36 shape=[4,2,25]
#=   output g1
#=   output z
#=   output h2
#= }
