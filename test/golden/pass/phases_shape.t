# A transposed convolution to one channel that leaves in another shape.
# RUN: heddle opt --pass phases %s
graph g {
  input x i8[2,16,1,5]
  const w i8[1,16,1,8] = {-8,9,9,-3,-4,3,-7,-6,-8,-8,-4,-3,-3,-8,6,6,2,-9,4,6,0,4,1,5,5,-6,-3,-5,-4,-7,2,3,6,-5,8,-1,-6,-1,-4,0,-2,-8,6,-8,2,2,1,-8,-9,5,6,-5,-6,1,0,5,-2,-4,-8,-3,-9,9,-2,-7,3,2,0,-4,5,2,0,-7,5,-4,-2,-4,-3,-8,4,-1,-9,5,-8,5,4,-4,-8,-8,8,7,9,2,-6,-7,-2,6,-7,6,-8,-2,-8,6,3,-8,-8,-1,4,5,0,-8,-8,-3,-4,7,3,-3,8,-2,-7,1,-6,-7,8,-4,-7,-3,-9,5}
  const b i32[1] = {8}
  const s f32[1] = {0.02}
  const step f32[] = {0.5}
  const zero i8[] = {0}
  const sources i64[3] = {1,2,24}
  x0 ? = qrescale(x)
  y ? = qconvtranspose(x0, w, b, s) x_zp=1 kernel_shape=[1,8] strides=[1,4]
  z ? = reshape(y, sources)
  f ? = dequantize(z, step, zero)
  output f
}
#= graph g {
#=   input x i8[2,16,1,5]
#=   const s f32[1] = {0x1.47ae14p-6}
#=   const step f32[] = {0x1p-1}
#=   const zero i8[] = {0}
#=   const sources i64[3] = {1, 2, 24}
#=   const w.phases i8[4,16,1,2] = #d716bbc0
#=   const b_12 i32[4] = {8, 8, 8, 8}
#=   x0 i8[2,16,1,5] = qrescale(x)
#=   y.blocks i8[2,4,1,6] = qconv(x0, w.phases, b_12, s) @y x_zp=1 kernel_shape=[1,2] strides=[1,1] macs=1280 pads=[0,1,0,1]
#=   y.blocks_14 i8[2,1,1,4,1,6] = reshape(y.blocks) shape=[2,1,1,4,1,6]
#=   y.blocks_14_15 i8[2,1,1,1,6,4] = transpose(y.blocks_14) perm=[0,1,4,2,5,3]
#=   y i8[2,1,1,24] = reshape(y.blocks_14_15) @y_7 shape=[2,1,1,24]
#=   z i8[1,2,24] = reshape(y, sources)
#=   f f32[1,2,24] = dequantize(z, step, zero)
#=   output f
#= }
