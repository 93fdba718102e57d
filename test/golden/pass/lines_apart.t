# Masks of two sources on one signal: channels that are taken apart for a product are those of images. Other readers of
# another shape leave a signal as it is.
# RUN: heddle opt --pass lines %s
graph g {
  input x i8[1,3,5]
  input v i8[1,6,5]
  const w i8[8,3,1] = {3,-4,-5,-9,1,-7,9,-8,-7,-6,7,5,-2,3,5,6,1,-6,7,-9,8,3,-8,-5}
  const b i32[8] = {19,84,-33,-61,-69,80,35,-36}
  const s f32[1] = {0.02}
  m ? = qconv(x, w, b, s) kernel_shape=[1]
  a ? = reshape(m) shape=[1,2,4,5]
  y ? = qmul(a, a) scale=0.1
  o ? = qrescale(v)
  p ? = reshape(o) shape=[1,2,3,5]
  z ? = qmean(p) x_zp=0 scale=0.1
  output y
  output z
}
#= graph g {
#=   input x i8[1,3,5]
#=   input v i8[1,6,5]
#=   const b i32[8] = {19, 84, -33, -61, -69, 80, 35, -36}
#=   const s f32[1] = {0x1.47ae14p-6}
#=   const w_12 i8[8,3,1,1] = #25ff8e01
#=   x_11 i8[1,3,1,5] = reshape(x) shape=[1,3,1,5]
#=   m.line i8[1,8,1,5] = qconv(x_11, w_12, b, s) @m kernel_shape=[1,1]
#=   m i8[1,8,5] = reshape(m.line) @m_8 shape=[1,8,5]
#=   a i8[1,2,4,5] = reshape(m) shape=[1,2,4,5]
#=   y i8[1,2,4,5] = qmul(a, a) scale=0x1.99999ap-4
#=   o i8[1,6,5] = qrescale(v)
#=   p i8[1,2,3,5] = reshape(o) shape=[1,2,3,5]
#=   z i8[1,2,1,1] = qmean(p) x_zp=0 scale=0x1.99999ap-4
#=   output y
#=   output z
#= }
