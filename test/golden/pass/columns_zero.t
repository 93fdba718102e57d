# Windows of two zero points read one tensor, whose blocks of columns are not filled up: each has one of its own.
# RUN: heddle opt --pass columns %s
graph g {
  input x i8[1,16,22,17]
  const w i8[1,16,1,1] = {-50, -13, 24, -40, -3, 34, -30, 7, 44, -20, 17, -47, -10, 27, -37, 0}
  const one i32[1] = {5}
  const s f32[1] = {0x1p-8}
  const u i8[4,1,3,3] = {-50, -13, 24, -40, -3, 34, -30, 7, 44, -20, 17, -47, -10, 27, -37, 0, 37, -27, 10, 47, -17, 20, -44, -7, 30, -34, 3, 40, -24, 13, 50, -14, 23, -41, -4, 33}
  const v i8[4,1,3,3] = {-50, -21, 8, 37, -35, -6, 23, -49, -20, 9, 38, -34, -5, 24, -48, -19, 10, 39, -33, -4, 25, -47, -18, 11, 40, -32, -3, 26, -46, -17, 12, 41, -31, -2, 27, -45}
  const b4 i32[4] = {1, 2, 3, 4}
  t ? = qconv(x, w, one, s) kernel_shape=[1,1] x_zp=3 y_zp=0 lo=-128 hi=127 to="i8" group=1
  p ? = qconv(t, u, b4, s) kernel_shape=[3,3] pads=[1,1,1,1] x_zp=-49 y_zp=0 lo=-128 hi=127 to="i8" group=1
  q ? = qconv(t, v, b4, s) kernel_shape=[3,3] pads=[1,1,1,1] x_zp=-30 y_zp=0 lo=-128 hi=127 to="i8" group=1
  y ? = concat(p, q) axis=1
  z ? = qmaxpool(y) kernel_shape=[1,1]
  output z
}
#= graph g {
#=   input x i8[1,16,22,17]
#=   const w i8[1,16,1,1] = {-50, -13, 24, -40, -3, 34, -30, 7, 44, -20, 17, -47, -10, 27, -37, 0}
#=   const one i32[1] = {5}
#=   const s f32[1] = {0x1p-8}
#=   const t.columns.moves i8[4,1,1,4] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
#=   const t.columns.bias i32[4] = {0, 0, 0, 0}
#=   const t.columns.one f32[1] = {0x1p+0}
#=   const u.columns i8[16,4,3,3] = #41afaf9d
#=   const b4_17 i32[16] = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}
#=   const p.moves i8[4,16,1,4] = #33a443d5
#=   const p.bias i32[4] = {0, 0, 0, 0}
#=   const p.one f32[1] = {0x1p+0}
#=   const t.columns_22.moves i8[4,1,1,4] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}
#=   const t.columns_22.bias i32[4] = {0, 0, 0, 0}
#=   const t.columns_22.one f32[1] = {0x1p+0}
#=   const v.columns i8[16,4,3,3] = #c5c43641
#=   const b4_27 i32[16] = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}
#=   const q.moves i8[4,16,1,4] = #33a443d5
#=   const q.bias i32[4] = {0, 0, 0, 0}
#=   const q.one f32[1] = {0x1p+0}
#=   t i8[1,1,22,17] = qconv(x, w, one, s) kernel_shape=[1,1] x_zp=3 y_zp=0 lo=-128 hi=127 to="i8" group=1
#=   t.columns i8[1,4,22,5] = qconv(t, t.columns.moves, t.columns.bias, t.columns.one) to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,4] strides=[1,4] pads=[0,0,0,3] x_zp=-49 y_zp=-49
#=   p.columns i8[1,16,22,5] = qconv(t.columns, u.columns, b4_17, s) @p kernel_shape=[3,3] pads=[1,1,1,1] x_zp=-49 y_zp=0 lo=-128 hi=127 to="i8" group=1 macs=13464 strides=[1,1]
#=   p i8[1,4,22,17] = qconvtranspose(p.columns, p.moves, p.bias, p.one) @p_7 to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,4] strides=[1,4] pads=[0,0,0,3]
#=   t.columns_22 i8[1,4,22,5] = qconv(t, t.columns_22.moves, t.columns_22.bias, t.columns_22.one) to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,4] strides=[1,4] pads=[0,0,0,3] x_zp=-30 y_zp=-30
#=   q.columns i8[1,16,22,5] = qconv(t.columns_22, v.columns, b4_27, s) @q kernel_shape=[3,3] pads=[1,1,1,1] x_zp=-30 y_zp=0 lo=-128 hi=127 to="i8" group=1 macs=13464 strides=[1,1]
#=   q i8[1,4,22,17] = qconvtranspose(q.columns, q.moves, q.bias, q.one) @q_10 to="i8" lo=-128 hi=127 moves=1 group=1 kernel_shape=[1,4] strides=[1,4] pads=[0,0,0,3]
#=   y i8[1,8,22,17] = concat(p, q) axis=1
#=   z i8[1,8,22,17] = qmaxpool(y) kernel_shape=[1,1]
#=   output z
#= }
