# Pixels out of channels: the convolution in front makes them in the order of memory, also through a table; else a
# product does. Written out, with blocks that are not square, and without rows. Not at the
# border, where the host does it: there tables go in front.
# RUN: heddle opt --pass blocks %s
graph g {
  input x i8[1,3,2,3]
  const w i8[8,3,1,1] = {1,-5,3,-8,-7,8,-6,2,9,-8,7,-3,-8,-7,4,4,-7,-2,-7,8,4,-8,9,-6}
  const b i32[8] = {-2,9,-8,9,9,3,-8,-2}
  const s f32[8] = {0.01,0.09,0.03,0.05,0.07,0.03,0.09,0.02}
  const o f32[1] = {0.05}
  const table i8[256] = {9,0,8,-4,-6,9,9,-3,2,-6,8,-7,9,-8,-3,6,8,4,1,5,9,5,2,0,-2,-4,-2,-7,9,0,7,6,1,5,0,-7,-6,7,4,-4,1,-5,6,4,-8,-7,8,9,1,1,2,6,9,5,-7,-7,-1,6,-7,-8,0,9,5,0,3,2,-9,5,2,-4,-6,6,-8,-3,0,-5,-2,3,3,6,-7,-4,5,3,8,-1,-5,4,8,-1,4,2,3,-2,-5,-7,-4,-5,-2,-2,-9,6,9,-4,-1,0,-9,-5,4,8,2,9,1,-5,7,-8,5,8,3,3,3,3,-6,6,3,-8,-3,-7,-3,5,-4,-6,1,-8,-6,-9,9,-5,8,-6,2,-9,-7,-3,3,-5,-1,2,2,6,-6,-6,6,5,6,6,0,-7,-5,-6,1,-1,6,-4,7,-9,-3,7,2,-5,8,-9,7,0,-7,-1,7,2,-4,2,-2,8,8,7,1,-2,-3,-2,3,-2,-3,7,6,2,-9,-9,-1,6,-1,-3,2,5,2,2,-7,-2,-6,-2,6,-3,1,-3,6,-9,6,2,-7,-6,3,-3,6,-4,4,1,-7,3,5,3,-7,-4,-4,-5,-9,-5,9,5,-5,6,2,-5,8,8,-5,-9,-9,-6,7,-5,4,-3,-3,-9,-1,-3,0,7}
  const apart i64[6] = {1,2,2,2,2,3}
  const flat i64[4] = {1,2,4,6}
  const apart2 i64[6] = {1,2,1,4,2,3}
  const flat2 i64[4] = {1,2,2,12}
  const apart1 i64[4] = {1,2,4,6}
  const flat1 i64[3] = {1,2,24}
  c ? = qconv(x, w, b, s) kernel_shape=[1,1] group=1
  d ? = depthtospace(c) blocksize=2 mode="CRD"
  y ? = qrescale(d)
  e ? = qconv(x, w, b, o) kernel_shape=[1,1] group=1 x_zp=3
  e0 ? = qtable(e, table)
  e1 ? = reshape(e0, apart)
  e2 ? = transpose(e1) perm=[0,1,4,2,5,3]
  e3 ? = reshape(e2, flat)
  y1 ? = qrescale(e3)
  f ? = qconv(x, w, b, s) kernel_shape=[1,1] group=1 x_zp=4
  f1 ? = reshape(f, apart2)
  f2 ? = transpose(f1) perm=[0,1,4,2,5,3]
  f3 ? = reshape(f2, flat2)
  y2 ? = qrescale(f3)
  h ? = qconv(x, w, b, s) kernel_shape=[1,1] group=1 x_zp=5
  h9 ? = qconv(x, w, b, s) kernel_shape=[1,1] group=1 x_zp=7
  h1 ? = reshape(h, apart1)
  h2 ? = transpose(h1) perm=[0,1,3,2]
  h3 ? = reshape(h2, flat1)
  y3 ? = qrescale(h3)
  c2 ? = qconv(x, w, b, s) kernel_shape=[1,1] group=1 x_zp=6
  k ? = qadd(c2, h9)
  k0 ? = depthtospace(k) blocksize=2 mode="CRD"
  y4 ? = qrescale(k0)
  l ? = qadd(c2, c2)
  y5 ? = depthtospace(l) blocksize=2 mode="CRD"
  const step f32[] = {0.5}
  const zero i8[] = {0}
  q ? = qconv(x, w, b, s) kernel_shape=[1,1] group=1 x_zp=8
  q1 ? = reshape(q, apart)
  q2 ? = transpose(q1) perm=[0,1,4,2,5,3]
  q3 ? = reshape(q2, flat)
  q4 ? = qtable(q3, table)
  y6 ? = dequantize(q4, step, zero)
  output y
  output y1
  output y2
  output y3
  output y4
  output y5
  output y6
}
#= graph g {
#=   input x i8[1,3,2,3]
#=   const w i8[8,3,1,1] = #7c8b716c
#=   const b i32[8] = {-2, 9, -8, 9, 9, 3, -8, -2}
#=   const s f32[8] = {0x1.47ae14p-7, 0x1.70a3d8p-4, 0x1.eb851ep-6, 0x1.99999ap-5, 0x1.1eb852p-4, 0x1.eb851ep-6, 0x1.70a3d8p-4, 0x1.47ae14p-6}
#=   const o f32[1] = {0x1.99999ap-5}
#=   const table i8[256] = #a4e5ccd0
#=   const step f32[] = {0x1p-1}
#=   const zero i8[] = {0}
#=   const w.blocks i8[8,3,1,1] = #a45ed65e
#=   const b.blocks i32[8] = {-2, 9, 9, 3, -8, -8, 9, -2}
#=   const s.blocks f32[8] = {0x1.47ae14p-7, 0x1.1eb852p-4, 0x1.70a3d8p-4, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.70a3d8p-4, 0x1.99999ap-5, 0x1.47ae14p-6}
#=   const w.blocks_63 i8[8,3,1,1] = #a45ed65e
#=   const b.blocks_64 i32[8] = {-2, 9, 9, 3, -8, -8, 9, -2}
#=   const w.blocks_65 i8[8,3,1,1] = #a45ed65e
#=   const b.blocks_66 i32[8] = {-2, 9, 9, 3, -8, -8, 9, -2}
#=   const s.blocks_67 f32[8] = {0x1.47ae14p-7, 0x1.1eb852p-4, 0x1.70a3d8p-4, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.70a3d8p-4, 0x1.99999ap-5, 0x1.47ae14p-6}
#=   const w.blocks_70 i8[8,3,1,1] = #a45ed65e
#=   const b.blocks_71 i32[8] = {-2, 9, 9, 3, -8, -8, 9, -2}
#=   const s.blocks_72 f32[8] = {0x1.47ae14p-7, 0x1.1eb852p-4, 0x1.70a3d8p-4, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.70a3d8p-4, 0x1.99999ap-5, 0x1.47ae14p-6}
#=   const w.blocks_75 i8[8,3,1,1] = #a45ed65e
#=   const b.blocks_76 i32[8] = {-2, 9, 9, 3, -8, -8, 9, -2}
#=   const s.blocks_77 f32[8] = {0x1.47ae14p-7, 0x1.1eb852p-4, 0x1.70a3d8p-4, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.70a3d8p-4, 0x1.99999ap-5, 0x1.47ae14p-6}
#=   c i8[1,8,2,3] = qconv(x, w.blocks, b.blocks, s.blocks) kernel_shape=[1,1] group=1
#=   e i8[1,8,2,3] = qconv(x, w.blocks_63, b.blocks_64, o) kernel_shape=[1,1] group=1 x_zp=3
#=   e0 i8[1,8,2,3] = qtable(e, table)
#=   f i8[1,8,2,3] = qconv(x, w.blocks_65, b.blocks_66, s.blocks_67) kernel_shape=[1,1] group=1 x_zp=4
#=   h i8[1,8,2,3] = qconv(x, w.blocks_70, b.blocks_71, s.blocks_72) kernel_shape=[1,1] group=1 x_zp=5
#=   h9 i8[1,8,2,3] = qconv(x, w, b, s) kernel_shape=[1,1] group=1 x_zp=7
#=   c2 i8[1,8,2,3] = qconv(x, w, b, s) kernel_shape=[1,1] group=1 x_zp=6
#=   k i8[1,8,2,3] = qadd(c2, h9)
#=   l i8[1,8,2,3] = qadd(c2, c2)
#=   y5 i8[1,2,4,6] = depthtospace(l) blocksize=2 mode="CRD"
#=   q i8[1,8,2,3] = qconv(x, w.blocks_75, b.blocks_76, s.blocks_77) kernel_shape=[1,1] group=1 x_zp=8
#=   q4.before.before.before i8[1,8,2,3] = qtable(q, table) @q4
#=   q4 i8[1,2,4,6] = depthtospace(q4.before.before.before) @q3 blocksize=2 mode="DCR"
#=   y6 f32[1,2,4,6] = dequantize(q4, step, zero)
#=   y.before i8[1,8,2,3] = qrescale(c) @y
#=   y1.before.before.before i8[1,8,2,3] = qrescale(e0) @y1
#=   y2.before.before.before i8[1,8,2,3] = qrescale(f) @y2
#=   y3.before.before.before i8[1,8,2,3] = qrescale(h) @y3
#=   y4.before i8[1,8,2,3] = qrescale(k) @y4
#=   y4 i8[1,2,4,6] = depthtospace(y4.before) @k0 blocksize=2 mode="CRD"
#=   y i8[1,2,4,6] = depthtospace(y.before) @d blocksize=2 mode="DCR"
#=   y1 i8[1,2,4,6] = depthtospace(y1.before.before.before) @e3 blocksize=2 mode="DCR"
#=   f3.apart i8[1,1,4,2,2,3] = reshape(y2.before.before.before) shape=[1,1,4,2,2,3]
#=   f3.turned i8[1,2,2,1,3,4] = transpose(f3.apart) perm=[0,3,4,1,5,2]
#=   y2 i8[1,2,2,12] = reshape(f3.turned) @f3 shape=[1,2,2,12]
#=   h3.apart i8[1,4,2,6] = reshape(y3.before.before.before) shape=[1,4,2,6]
#=   h3.turned i8[1,2,6,4] = transpose(h3.apart) perm=[0,2,3,1]
#=   y3 i8[1,2,24] = reshape(h3.turned) @h3 shape=[1,2,24]
#=   output y
#=   output y1
#=   output y2
#=   output y3
#=   output y4
#=   output y5
#=   output y6
#= }
