# An image that is made larger is copied by a layer, which writes between the lanes of others, where that costs less than to
# move each pixel.
# RUN: heddle opt --pass gaps %s
graph g {
  input x i8[1,3,4,4]
  const w i8[6,3,1,1] = {-1,-4,1,8,9,9,-6,-3,9,-1,0,-6,-7,6,6,-7,2,-7}
  const b i32[6] = {0,0,0,0,0,0}
  const s f32[6] = {0.1,0.1,0.1,0.1,0.1,0.1}
  const w6 i8[6,6,1,1] = {-1,-4,1,8,9,9,-6,-3,9,-1,0,-6,-7,6,6,-7,2,-7,-1,-4,1,8,9,9,-6,-3,9,-1,0,-6,-7,6,6,-7,2,-7}
  const v i8[2,12,1,1] = {0,8,1,-9,4,9,1,-9,3,9,-5,-8,1,5,2,2,-1,6,-9,9,-8,-9,2,-1}
  const b2 i32[2] = {0,0}
  const s2 f32[2] = {0.1,0.1}
  const scales f32[4] = {1,1,2,2}
  a ? = qconv(x, w, b, s) kernel_shape=[1,1]
  r ? = resize(a, -, scales) mode="nearest" coordinate_transformation_mode="asymmetric" nearest_mode="floor"
  t ? = qconv(r, w6, b, s) kernel_shape=[1,1]
  c ? = concat(r, t) axis=1
  y ? = qconv(c, v, b2, s2) kernel_shape=[1,1]
  output y
}
#= graph g {
#=   input x i8[1,3,4,4]
#=   const w i8[6,3,1,1] = #67170849
#=   const b i32[6] = {0, 0, 0, 0, 0, 0}
#=   const s f32[6] = {0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4, 0x1.99999ap-4}
#=   const w6 i8[6,6,1,1] = #b18e84ed
#=   const v i8[2,12,1,1] = #b4a260d8
#=   const b2 i32[2] = {0, 0}
#=   const s2 f32[2] = {0x1.99999ap-4, 0x1.99999ap-4}
#=   const scales f32[4] = {0x1p+0, 0x1p+0, 0x1p+1, 0x1p+1}
#=   a i8[1,6,4,4] = qconv(x, w, b, s) kernel_shape=[1,1]
#=   r i8[1,6,8,8] = resize(a, -, scales) mode="nearest" coordinate_transformation_mode="asymmetric" nearest_mode="floor"
#=   t i8[1,6,8,8] = qconv(r, w6, b, s) kernel_shape=[1,1]
#=   r.copy i8[1,6,8,8] = qrescale(r) to="i8"
#=   c i8[1,12,8,8] = concat(r.copy, t) axis=1
#=   y i8[1,2,8,8] = qconv(c, v, b2, s2) kernel_shape=[1,1]
#=   output y
#= }
