# A convolution of few channels at the border of the network keeps its form, also where its operand comes in another shape:
# there its pixels are packed.
# RUN: heddle opt --pass columns %s
graph g {
  input x i8[1,16,16,1]
  const w i8[16,1,3,3] = {-8,-1,6,-4,3,-7,0,7,-3,4,-6,1,8,-2,5,-5,2,-8,-1,6,-4,3,-7,0,7,-3,4,-6,1,8,-2,5,-5,2,-8,-1,6,-4,3,-7,0,7,-3,4,-6,1,8,-2,5,-5,2,-8,-1,6,-4,3,-7,0,7,-3,4,-6,1,8,-2,5,-5,2,-8,-1,6,-4,3,-7,0,7,-3,4,-6,1,8,-2,5,-5,2,-8,-1,6,-4,3,-7,0,7,-3,4,-6,1,8,-2,5,-5,2,-8,-1,6,-4,3,-7,0,7,-3,4,-6,1,8,-2,5,-5,2,-8,-1,6,-4,3,-7,0,7,-3,4,-6,1,8,-2,5,-5,2,-8,-1,6,-4,3,-7,0,7}
  const b i32[16] = {-8,-7,-6,-5,-4,-3,-2,-1,0,1,2,3,4,5,6,7}
  const s f32[1] = {0.02}
  t ? = reshape(x) shape=[1,1,16,16]
  y ? = qconv(t, w, b, s) kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] group=1
  z ? = qadd(y, y)
  output z
}
#= graph g {
#=   input x i8[1,16,16,1]
#=   const w i8[16,1,3,3] = #f8b243a7
#=   const b i32[16] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7}
#=   const s f32[1] = {0x1.47ae14p-6}
#=   t i8[1,1,16,16] = reshape(x) shape=[1,1,16,16]
#=   y i8[1,16,16,16] = qconv(t, w, b, s) kernel_shape=[3,3] pads=[1,1,1,1] strides=[1,1] group=1
#=   z i8[1,16,16,16] = qadd(y, y)
#=   output z
#= }
