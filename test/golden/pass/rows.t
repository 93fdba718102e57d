# A convolution of one tap over what a layer norm or a dense layer makes is a product of the other dimension; not over an
# image.
# RUN: heddle opt --pass rows %s
graph g {
  input x i8[2,3,4]
  const ones f32[4] = {1, 2, 0.5, 1}
  const nils f32[4] = {0, 1, 0, -1}
  const w i8[2,3,1] = {1, -2, 3, 4, 5, -6}
  const b i32[2] = {7, -8}
  const s f32[2] = {0.25, 0.125}
  a ? = qlayernorm(x, ones, nils) to="i8" y_zp=0 lo=-128 hi=127 epsilon=0x1p-16
  t ? = qrescale(a) to="i8" x_zp=0 y_zp=3 lo=-128 hi=127 scale=0.5
  y ? = qconv(t, w, b, s) @conv to="i8" kernel_shape=[1] x_zp=3 y_zp=-1 lo=-1 hi=100
  z ? = qconv(x, w, b, s) @image to="i8" kernel_shape=[1] x_zp=3 y_zp=-1 lo=-1 hi=100
  output y
  output z
}
#= graph g {
#=   input x i8[2,3,4]
#=   const ones f32[4] = {0x1p+0, 0x1p+1, 0x1p-1, 0x1p+0}
#=   const nils f32[4] = {0x0p+0, 0x1p+0, 0x0p+0, -0x1p+0}
#=   const w i8[2,3,1] = {1, -2, 3, 4, 5, -6}
#=   const b i32[2] = {7, -8}
#=   const s f32[2] = {0x1p-2, 0x1p-3}
#=   const w.rows i8[2,3] = {1, -2, 3, 4, 5, -6}
#=   a i8[2,3,4] = qlayernorm(x, ones, nils) to="i8" y_zp=0 lo=-128 hi=127 epsilon=0x1p-16
#=   t i8[2,3,4] = qrescale(a) to="i8" x_zp=0 y_zp=3 lo=-128 hi=127 scale=0x1p-1
#=   z i8[2,2,4] = qconv(x, w, b, s) @image to="i8" kernel_shape=[1] x_zp=3 y_zp=-1 lo=-1 hi=100
#=   y.turned i8[2,4,3] = transpose(t) perm=[0,2,1]
#=   y.rows i8[8,3] = reshape(y.turned) shape=[8,3]
#=   y.product i8[8,2] = qgemm(y.rows, w.rows, b, s) @conv to="i8" x_zp=3 y_zp=-1 lo=-1 hi=100
#=   y.back i8[2,4,2] = reshape(y.product) shape=[2,4,2]
#=   y i8[2,2,4] = transpose(y.back) perm=[0,2,1]
#=   output y
#=   output z
#= }
