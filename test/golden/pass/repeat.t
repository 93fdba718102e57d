# Depthwise convolutions with a multiplier read repeated channels, one for each result, where that reads less. Not
# plain ones, not groups of more channels, not 1x1.
# RUN: heddle opt --pass repeat %s --full
graph g {
  input x u8[1,2,4,5]
  input x1 i8[1,2,9]
  const w i8[4,1,3,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}
  const w1 i8[6,1,5] = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5}
  const p i8[4,1,1,1] = {1, 2, 3, 4}
  const v i8[2,1,3,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9}
  const b i32[4] = {1, 2, 3, 4}
  const b1 i32[6] = {1, 2, 3, 4, 5, 6}
  const b2 i32[2] = {1, 2}
  const s f32[1] = {0x1p-4}
  y u8[1,4,4,5] = qconv(x, w, b, s) @twice group=2 to="u8" x_zp=7 pads=[1,1,1,1]
  z i8[1,6,9] = qconv(x1, w1, b1, s) @thrice group=2 to="i8" pads=[2,2]
  a u8[1,4,4,5] = qconv(x, p, b, s) @pixels group=2 to="u8"
  c u8[1,2,4,5] = qconv(x, v, b2, s) @plain group=2 to="u8" pads=[1,1,1,1]
  output y
  output z
  output a
  output c
}
#= graph g {
#=   input x u8[1,2,4,5]
#=   input x1 i8[1,2,9]
#=   const w i8[4,1,3,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7,
#=     8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5,
#=     6, 7, 8, 9}
#=   const w1 i8[6,1,5] = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1,
#=     2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5}
#=   const p i8[4,1,1,1] = {1, 2, 3, 4}
#=   const v i8[2,1,3,3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7,
#=     8, 9}
#=   const b i32[4] = {1, 2, 3, 4}
#=   const b1 i32[6] = {1, 2, 3, 4, 5, 6}
#=   const b2 i32[2] = {1, 2}
#=   const s f32[1] = {0x1p-4}
#=   const twice.repeat.moves i8[4,1,1,1] = {1, 1, 1, 1}
#=   const twice.repeat.bias i32[4] = {0, 0, 0, 0}
#=   const twice.repeat.one f32[1] = {0x1p+0}
#=   const thrice.repeat.moves i8[6,1,1] = {1, 1, 1, 1, 1, 1}
#=   const thrice.repeat.bias i32[6] = {0, 0, 0, 0, 0, 0}
#=   const thrice.repeat.one f32[1] = {0x1p+0}
#=   twice.repeat u8[1,4,4,5] = qconv(x, twice.repeat.moves, twice.repeat.bias, twice.repeat.one) to="u8" x_zp=0 y_zp=0 lo=0 hi=255 group=2 moves=1 kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
#=   y u8[1,4,4,5] = qconv(twice.repeat, w, b, s) @twice group=4 to="u8" x_zp=7 pads=[1,1,1,1] kernel_shape=[3,3]
#=   thrice.repeat i8[1,6,9] = qconv(x1, thrice.repeat.moves, thrice.repeat.bias, thrice.repeat.one) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127 group=2 moves=1 kernel_shape=[1] strides=[1] pads=[0,0]
#=   z i8[1,6,9] = qconv(thrice.repeat, w1, b1, s) @thrice group=6 to="i8" pads=[2,2] kernel_shape=[5]
#=   a u8[1,4,4,5] = qconv(x, p, b, s) @pixels group=2 to="u8"
#=   c u8[1,2,4,5] = qconv(x, v, b2, s) @plain group=2 to="u8" pads=[1,1,1,1] kernel_shape=[3,3]
#=   output y
#=   output z
#=   output a
#=   output c
#= }
