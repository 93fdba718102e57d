# Neighbours of a row at once where few channels leave the machine, or are moved: 3 channels by 4, a width that is no
# multiple of it, one channel by 4 of 5 columns. Not to many channels, not with a stride along the row, not in front of
# others.
# RUN: heddle opt --pass narrow %s
graph g {
  input x i8[1,8,2,8]
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
#=   input x i8[1,8,2,8]
#=   const w i8[3,8,1,3] = #8973854d
#=   const b i32[3] = {10, -20, 30}
#=   const s f32[3] = {0x1.47ae14p-7, 0x1.47ae14p-6, 0x1.eb851ep-6}
#=   const o f32[1] = {0x1.99999ap-5}
#=   const w.wide i8[12,8,1,6] = #3f6c2085
#=   const b_15 i32[12] = {10, 10, 10, 10, -20, -20, -20, -20, 30, 30, 30, 30}
#=   const s_16 f32[12] = {0x1.47ae14p-7, 0x1.47ae14p-7, 0x1.47ae14p-7, 0x1.47ae14p-7, 0x1.47ae14p-6, 0x1.47ae14p-6, 0x1.47ae14p-6, 0x1.47ae14p-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6, 0x1.eb851ep-6}
#=   const v.wide i8[4,8,1,5] = #90e19285
#=   const c_21 i32[4] = {100, 100, 100, 100}
#=   const from i64[1] = {0}
#=   const to i64[1] = {7}
#=   const axis i64[1] = {3}
#=   x0 i8[1,8,2,8] = qrescale(x)
#=   d i8[1,3,2,3] = qconv(x0, w, b, s) kernel_shape=[1,3] strides=[1,2]
#=   e i8[1,3,2,6] = qconv(x0, w, b, s) kernel_shape=[1,3]
#=   f i8[1,3,2,6] = qrescale(e)
#=   y.columns i8[1,12,2,2] = qconv(x0, w.wide, b_15, s_16) @y x_zp=2 kernel_shape=[1,6] pads=[0,1,0,1] strides=[1,4] macs=1152
#=   y.columns_18 i8[1,3,4,2,2] = reshape(y.columns) shape=[1,3,4,2,2]
#=   y.columns_18_19 i8[1,3,2,2,4] = transpose(y.columns_18) perm=[0,1,3,4,2]
#=   y i8[1,3,2,8] = reshape(y.columns_18_19) @y_9 shape=[1,3,2,8]
#=   z.columns i8[1,4,1,2] = qconv(x0, v.wide, c_21, o) @z kernel_shape=[1,5] strides=[2,4] pads=[0,0,0,1] macs=112
#=   z.columns_23 i8[1,1,4,1,2] = reshape(z.columns) shape=[1,1,4,1,2]
#=   z.columns_23_24 i8[1,1,1,2,4] = transpose(z.columns_23) perm=[0,1,3,4,2]
#=   z.columns_23_24_25 i8[1,1,1,8] = reshape(z.columns_23_24) shape=[1,1,1,8]
#=   z i8[1,1,1,7] = slice(z.columns_23_24_25, from, to, axis) @z_14
#=   output y
#=   output z
#=   output d
#=   output f
#= }
