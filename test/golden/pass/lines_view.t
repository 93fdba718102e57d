# A reader that took a signal for an image of one row before reads the image that was made; another shape stays, and so
# does an output.
# RUN: heddle opt --pass lines %s
graph g {
  input x i8[1,4,6]
  const v i8[2,4,3] = {6,6,-4,-8,-1,-9,2,3,-9,8,4,2,3,9,-9,5,-8,-4,-3,-6,-2,5,2,7}
  const c i32[2] = {0,44}
  const s f32[1] = {0.02}
  z ? = qconvtranspose(x, v, c, s) x_zp=-1 kernel_shape=[3] strides=[2] pads=[1,0] output_padding=[1]
  r ? = reshape(z) shape=[1,2,1,13]
  m ? = qmean(r) x_zp=0 scale=0.1
  o ? = reshape(z) shape=[1,2,13,1]
  n ? = qmean(o) x_zp=0 scale=0.1
  e ? = reshape(z) shape=[1,2,1,13]
  output m
  output n
  output e
}
#= graph g {
#=   input x i8[1,4,6]
#=   const c i32[2] = {0, 44}
#=   const s f32[1] = {0x1.47ae14p-6}
#=   const v_11 i8[2,4,1,3] = #053a6864
#=   x_10 i8[1,4,1,6] = reshape(x) shape=[1,4,1,6]
#=   z.line i8[1,2,1,13] = qconvtranspose(x_10, v_11, c, s) @z x_zp=-1 kernel_shape=[1,3] strides=[1,2] pads=[0,1,0,0] output_padding=[0,1]
#=   m i8[1,2,1,1] = qmean(z.line) x_zp=0 scale=0x1.99999ap-4
#=   z i8[1,2,13] = reshape(z.line) @z_8 shape=[1,2,13]
#=   o i8[1,2,13,1] = reshape(z) shape=[1,2,13,1]
#=   n i8[1,2,1,1] = qmean(o) x_zp=0 scale=0x1.99999ap-4
#=   e i8[1,2,1,13] = reshape(z) shape=[1,2,1,13]
#=   output m
#=   output n
#=   output e
#= }
