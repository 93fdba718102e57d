# An input of few channels that something else than convolutions reads, too, is folded once, for two convolutions; pairs
# behind a result work on its columns where the other operand has some of as many, also those of both operands alike,
# not where it has none, or is of another shape.
# RUN: heddle opt --pass columns %s
graph g {
  input x i8[1,3,16,20]
  input g i8[1,3,16,20]
  const a i8[3,3,3,3] = {-1,2,7,-9,5,-2,-8,-4,-6,2,6,-2,3,8,-6,9,-2,-9,-3,4,-1,-4,3,-4,-7,-5,5,-5,-5,-9,-9,-3,-3,-4,-4,0,1,-3,8,-3,-4,-3,3,0,-9,2,4,-4,-5,-1,-7,1,0,9,-9,1,-7,0,2,0,6,1,-4,6,6,-4,-8,-1,-9,2,3,-9,8,4,2,3,9,-9,5,-8,-4}
  const b i8[3,3,1,3] = {-3,-6,-2,5,2,7,2,7,-1,5,-6,9,2,0,-8,4,-7,-3,1,7,2,-5,1,-1,8,-7,0}
  const n i8[1,3,3,3] = {1,-2,3,4,-5,6,7,8,-9,1,2,3,-4,5,6,7,-8,9,1,2,3,4,5,-6,7,8,9}
  const nb i32[1] = {-6}
  const ns f32[1] = {0.05}
  const ab i32[3] = {-6,1,3}
  const as f32[3] = {0.09,0.03,0.05}
  y ? = qconv(x, a, ab, as) x_zp=3 y_zp=-2 kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] group=1
  z ? = qconv(x, b, ab, as) x_zp=3 y_zp=4 kernel_shape=[1,3] pads=[0,1,0,1] strides=[1,1] group=1
  s ? = qadd(x, y) a_scale=0.5 b_scale=0.25 a_zp=3 b_zp=-2
  d ? = qadd(s, s)
  m ? = qmul(z, x)
  e ? = qconv(x, a, ab, as) x_zp=3 kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] group=1
  k ? = qadd(e, g)
  p ? = qconv(x, n, nb, ns) x_zp=3 kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] group=1
  q ? = qconv(x, a, ab, as) x_zp=3 y_zp=7 kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] group=1
  r ? = qmul(q, p)
  c ? = concat(d, m, k, r) axis=1
  v ? = qrescale(c)
  output v
}
#= graph g {
#=   input x i8[1,3,16,20]
#=   input g i8[1,3,16,20]
#=   const ns f32[1] = {0x1.99999ap-5}
#=   const ab i32[3] = {-6, 1, 3}
#=   const as f32[3] = {0x1.70a3d8p-4, 0x1.eb851ep-6, 0x1.99999ap-5}
#=   const x.columns.moves i8[15,3,1,5] = #062280cc
#=   const x.columns.bias i32[15] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
#=   const x.columns.one f32[1] = {0x1p+0}
#=   const a.columns i8[15,15,3,3] = #16fd18e5
#=   const ab_26 i32[15] = {-6, -6, -6, -6, -6, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3}
#=   const as_27 f32[15] = {0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.99999ap-5, 0x1.99999ap-5, 0x1.99999ap-5, 0x1.99999ap-5, 0x1.99999ap-5}
#=   const d.moves i8[3,15,1,5] = #75429d8c
#=   const d.bias i32[3] = {0, 0, 0}
#=   const d.one f32[1] = {0x1p+0}
#=   const b.columns i8[3,15,1,7] = #6321af7a
#=   const a.columns_35 i8[15,15,3,3] = #16fd18e5
#=   const ab_36 i32[15] = {-6, -6, -6, -6, -6, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3}
#=   const as_37 f32[15] = {0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.99999ap-5, 0x1.99999ap-5, 0x1.99999ap-5, 0x1.99999ap-5, 0x1.99999ap-5}
#=   const e.moves i8[3,15,1,5] = #75429d8c
#=   const e.bias i32[3] = {0, 0, 0}
#=   const e.one f32[1] = {0x1p+0}
#=   const n.columns i8[10,15,3,4] = #e845b853
#=   const nb_43 i32[10] = {-6, -6, -6, -6, -6, -6, -6, -6, -6, -6}
#=   const p.moves i8[1,10,1,10] = #dbe4cedf
#=   const p.bias i32[1] = {0}
#=   const p.one f32[1] = {0x1p+0}
#=   const a.columns_48 i8[15,15,3,3] = #16fd18e5
#=   const ab_49 i32[15] = {-6, -6, -6, -6, -6, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3}
#=   const as_50 f32[15] = {0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.70a3d8p-4, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.99999ap-5, 0x1.99999ap-5, 0x1.99999ap-5, 0x1.99999ap-5, 0x1.99999ap-5}
#=   const q.moves i8[3,15,1,5] = #75429d8c
#=   const q.bias i32[3] = {0, 0, 0}
#=   const q.one f32[1] = {0x1p+0}
#=   x.columns i8[1,15,16,4] = qconv(x, x.columns.moves, x.columns.bias, x.columns.one) to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,5] strides=[1,5] pads=[0,0,0,0]
#=   z i8[1,3,16,20] = qconvtranspose(x.columns, b.columns, ab, as) x_zp=3 y_zp=4 kernel_shape=[1,7] pads=[0,1,0,1] strides=[1,5] group=1 macs=8640
#=   m i8[1,3,16,20] = qmul(z, x)
#=   e.columns i8[1,15,16,4] = qconv(x.columns, a.columns_35, ab_36, as_37) @e x_zp=3 kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] group=1 macs=25920
#=   e i8[1,3,16,20] = qconvtranspose(e.columns, e.moves, e.bias, e.one) @e_19 to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,5] strides=[1,5] pads=[0,0,0,0]
#=   k i8[1,3,16,20] = qadd(e, g)
#=   q.columns i8[1,15,16,4] = qconv(x.columns, a.columns_48, ab_49, as_50) @q x_zp=3 y_zp=7 kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] group=1 macs=25920
#=   q i8[1,3,16,20] = qconvtranspose(q.columns, q.moves, q.bias, q.one) @q_23 to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,5] strides=[1,5] pads=[0,0,0,0]
#=   p.columns i8[1,10,16,2] = qconv(x.columns, n.columns, nb_43, ns) @p x_zp=3 kernel_shape=[3,4] pads=[1,1,1,1] strides=[1,2] group=1 macs=8640
#=   p i8[1,1,16,20] = qconvtranspose(p.columns, p.moves, p.bias, p.one) @p_21 to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,10] strides=[1,10] pads=[0,0,0,0]
#=   r i8[1,3,16,20] = qmul(q, p)
#=   y.columns i8[1,15,16,4] = qconv(x.columns, a.columns, ab_26, as_27) @y x_zp=3 y_zp=-2 kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] group=1 macs=25920
#=   s.columns i8[1,15,16,4] = qadd(x.columns, y.columns) @s a_scale=0x1p-1 b_scale=0x1p-2 a_zp=3 b_zp=-2
#=   d.columns i8[1,15,16,4] = qadd(s.columns, s.columns) @d
#=   d i8[1,3,16,20] = qconvtranspose(d.columns, d.moves, d.bias, d.one) @d_16 to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,5] strides=[1,5] pads=[0,0,0,0]
#=   c i8[1,12,16,20] = concat(d, m, k, r) axis=1
#=   v i8[1,12,16,20] = qrescale(c)
#=   output v
#= }
