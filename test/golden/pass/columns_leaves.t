# Columns of a row at once where few channels leave the machine, or are moved: the host puts them in their order. Widths
# that are no multiple are cut. Also with a stride along the row, and the operand as it is or two columns at once.
# RUN: heddle opt --pass columns %s
graph g {
  input x i8[1,8,12,38]
  const w i8[3,8,1,3] = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,64,65,66,67,68,69,70,71,72}
  const b i32[3] = {10, -20, 30}
  const s f32[3] = {0.01, 0.02, 0.03}
  const v i8[1,8,1,2] = {1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,13,-14,15,-16}
  const c i32[1] = {100}
  const o f32[1] = {0.05}
  const g i32[1] = {0}
  x0 ? = qrescale(x)
  y ? = qconv(x0, w, b, s) x_zp=2 kernel_shape=[1,3] pads=[0,1,0,1]
  z ? = qconv(x0, v, c, o) kernel_shape=[1,2] strides=[2,1]
  d ? = qconv(x0, w, b, s) kernel_shape=[1,3] strides=[1,2]
  e ? = qconv(x0, w, b, s) kernel_shape=[1,3]
  f ? = qrescale(e)
  output y
  output z
  output d
  output f
}
#= graph g {
#=   input x i8[1,8,12,38]
#=   const w i8[3,8,1,3] = #8973854d
#=   const b i32[3] = {10, -20, 30}
#=   const s f32[3] = {0x1.47ae14p-7, 0x1.47ae14p-6, 0x1.eb851ep-6}
#=   const v i8[1,8,1,2] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11, -12, 13, -14, 15, -16}
#=   const c i32[1] = {100}
#=   const o f32[1] = {0x1.99999ap-5}
#=   const w.columns i8[15,8,1,7] = #36bc61dd
#=   const b_15 i32[15] = {10, 10, 10, 10, 10, -20, -20, -20, -20, -20, 30, 30, 30, 30, 30}
#=   const s_16 f32[15] = {0x1.47ae14p-7, 0x1.47ae14p-7, 0x1.47ae14p-7, 0x1.47ae14p-7, 0x1.47ae14p-7, 0x1.47ae14p-6, 0x1.47ae14p-6, 0x1.47ae14p-6, 0x1.47ae14p-6, 0x1.47ae14p-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6}
#=   const from i64[1] = {0}
#=   const to i64[1] = {38}
#=   const axis i64[1] = {3}
#=   x0 i8[1,8,12,38] = qrescale(x)
#=   z i8[1,1,6,37] = qconv(x0, v, c, o) kernel_shape=[1,2] strides=[2,1]
#=   d i8[1,3,12,18] = qconv(x0, w, b, s) kernel_shape=[1,3] strides=[1,2]
#=   e i8[1,3,12,36] = qconv(x0, w, b, s) kernel_shape=[1,3]
#=   f i8[1,3,12,36] = qrescale(e)
#=   y.columns i8[1,15,12,8] = qconv(x0, w.columns, b_15, s_16) @y x_zp=2 kernel_shape=[1,7] pads=[0,1,0,3] macs=32832 strides=[1,5]
#=   y.columns_18 i8[1,3,5,12,8] = reshape(y.columns) shape=[1,3,5,12,8]
#=   y.columns_18_19 i8[1,3,12,8,5] = transpose(y.columns_18) perm=[0,1,3,4,2]
#=   y.columns_18_19_20 i8[1,3,12,40] = reshape(y.columns_18_19) shape=[1,3,12,40]
#=   y i8[1,3,12,38] = slice(y.columns_18_19_20, from, to, axis) @y_10
#=   output y
#=   output z
#=   output d
#=   output f
#= }
