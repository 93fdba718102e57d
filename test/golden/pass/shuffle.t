# A channel shuffle is a convolution by a permutation. Not when pixels move too, nor when the middle is read elsewhere.
# RUN: heddle opt --pass shuffle,dce %s --full
graph g {
  input x i8[1,4,2,2]
  const split i64[5] = {1, 2, 2, 2, 2}
  const back i64[4] = {1, 4, 2, 2}
  a ? = reshape(x, split)
  b ? = transpose(a) perm=[0,2,1,3,4]
  y ? = reshape(b, back)
  input u u8[2,6,5]
  const three i64[4] = {2, 3, 2, 5}
  const six i64[3] = {2, 6, 5}
  c ? = reshape(u, three)
  d ? = transpose(c) perm=[0,2,1,3]
  z ? = reshape(d, six)
  e ? = reshape(x, split)
  f ? = transpose(e) perm=[0,2,1,4,3]
  v ? = reshape(f, back)
  h ? = reshape(x, split)
  i ? = transpose(h) perm=[0,2,1,3,4]
  w ? = reshape(i, back)
  output y
  output z
  output v
  output w
  output i
}
#= graph g {
#=   input x i8[1,4,2,2]
#=   input u u8[2,6,5]
#=   const split i64[5] = {1, 2, 2, 2, 2}
#=   const back i64[4] = {1, 4, 2, 2}
#=   const y.moves i8[4,4,1,1] = {1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1}
#=   const y.bias i32[4] = {0, 0, 0, 0}
#=   const y.one f32[1] = {0x1p+0}
#=   const z.moves i8[6,6,1] = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
#=     1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,
#=     0, 0, 0, 1}
#=   const z.bias i32[6] = {0, 0, 0, 0, 0, 0}
#=   const z.one f32[1] = {0x1p+0}
#=   e i8[1,2,2,2,2] = reshape(x, split)
#=   f i8[1,2,2,2,2] = transpose(e) perm=[0,2,1,4,3]
#=   v i8[1,4,2,2] = reshape(f, back)
#=   h i8[1,2,2,2,2] = reshape(x, split)
#=   i i8[1,2,2,2,2] = transpose(h) perm=[0,2,1,3,4]
#=   w i8[1,4,2,2] = reshape(i, back)
#=   y i8[1,4,2,2] = qconv(x, y.moves, y.bias, y.one) to="i8" x_zp=0 y_zp=0 lo=-128 hi=127 group=1 moves=1 kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
#=   z u8[2,6,5] = qconv(u, z.moves, z.bias, z.one) to="u8" x_zp=0 y_zp=0 lo=0 hi=255 group=1 moves=1 kernel_shape=[1] strides=[1] pads=[0,0]
#=   output y
#=   output z
#=   output v
#=   output w
#=   output i
#= }
