# RUN: heddle opt --pass batchnorm %s
graph g {
  input x f32[1,1,2,2]
  const w f32[2,1,1,1] = {1.0, 2.0}
  const c f32[2] = {4.0, 8.0}
  const s f32[2] = {2.0, 3.0}
  const b f32[2] = {0.5, 0.25}
  const m f32[2] = {1.0, 2.0}
  const v f32[2] = {0.75, 3.75}
  a ? = conv(x, w, c) kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
  y ? = batchnorm(a, s, b, m, v) epsilon=0.25
  output y
}
#= graph g {
#=   input x f32[1,1,2,2]
#=   const w_9 f32[2,1,1,1] = {0x1p+1, 0x1.8p+1}
#=   const w.bias f32[2] = {0x1.ap+2, 0x1.28p+3}
#=   y f32[1,2,2,2] = conv(x, w_9, w.bias) kernel_shape=[1,1] strides=[1,1] pads=[0,0,0,0]
#=   output y
#= }
