# Masks of two sources on one spectrum: copies along a dimension that was cut out of channels are copies of all channels,
# side by side. Copies of other numbers are as they are.
# RUN: heddle opt --pass images %s
graph g {
  input x i8[1,3,1,5]
  const w i8[8,3,1,1] = {3,-4,-5,-9,1,-7,9,-8,-7,-6,7,5,-2,3,5,6,1,-6,7,-9,8,3,-8,-5}
  const b i32[8] = {19,84,-33,-61,-69,80,35,-36}
  const s f32[1] = {0.02}
  const v i8[4,3,1,1] = {-5,3,2,-2,0,1,2,3,3,-5,2,0}
  const c i32[4] = {71,20,2,42}
  const ones i8[2,1,1,1] = {1,1}
  const two i8[2,1,1,1] = {1,2}
  const zeros i32[2] = {0,0}
  const one f32[1] = {1}
  const split i64[4] = {1,2,4,5}
  const apart i64[4] = {1,1,4,5}
  const back i64[4] = {1,8,1,5}
  m ? = qconv(x, w, b, s) kernel_shape=[1,1]
  n ? = qconv(x, v, c, s) kernel_shape=[1,1]
  m2 ? = reshape(m, split)
  n2 ? = reshape(n, apart)
  k ? = qconv(n2, ones, zeros, one) x_zp=-3 y_zp=-3 kernel_shape=[1,1]
  y ? = qmul(m2, k) scale=0.1
  y2 ? = reshape(y, back)
  z ? = qrescale(y2)
  k3 ? = qconv(n2, two, zeros, one) x_zp=-3 y_zp=-3 kernel_shape=[1,1]
  y3 ? = qmul(m2, k3) scale=0.1
  output z
  output y3
}
#= graph g {
#=   input x i8[1,3,1,5]
#=   const w i8[8,3,1,1] = #25ff8e01
#=   const b i32[8] = {19, 84, -33, -61, -69, 80, 35, -36}
#=   const s f32[1] = {0x1.47ae14p-6}
#=   const v i8[4,3,1,1] = {-5, 3, 2, -2, 0, 1, 2, 3, 3, -5, 2, 0}
#=   const c i32[4] = {71, 20, 2, 42}
#=   const two i8[2,1,1,1] = {1, 2}
#=   const zeros i32[2] = {0, 0}
#=   const one f32[1] = {0x1p+0}
#=   const split i64[4] = {1, 2, 4, 5}
#=   const apart i64[4] = {1, 1, 4, 5}
#=   m i8[1,8,1,5] = qconv(x, w, b, s) kernel_shape=[1,1]
#=   n i8[1,4,1,5] = qconv(x, v, c, s) kernel_shape=[1,1]
#=   m2 i8[1,2,4,5] = reshape(m, split)
#=   n2 i8[1,1,4,5] = reshape(n, apart)
#=   n2.copies i8[1,8,1,5] = concat(n, n) axis=1
#=   y.image i8[1,8,1,5] = qmul(m, n2.copies) @y scale=0x1.99999ap-4
#=   z i8[1,8,1,5] = qrescale(y.image)
#=   k3 i8[1,2,4,5] = qconv(n2, two, zeros, one) x_zp=-3 y_zp=-3 kernel_shape=[1,1]
#=   y3 i8[1,2,4,5] = qmul(m2, k3) scale=0x1.99999ap-4
#=   output z
#=   output y3
#= }
