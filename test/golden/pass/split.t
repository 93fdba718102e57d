# RUN: heddle opt --pass split %s | grep -v const
graph g {
  input x f32[1,4,512,512]
  const w f32[4,4,1,1] = {1,2,3,4, 5,6,7,8, 9,10,11,12, 13,14,15,16}
  const b f32[4] = {1,2,3,4}
  const one f32[] = {1}
  r ? = relu(x)
  c ? = conv(r, w, b)
  d ? = relu(c)
  e ? = add(d, one)
  p ? = maxpool(e) kernel_shape=[2,2] strides=[2,2]
  y ? = sigmoid(p)
  output y
}
#= graph g {
#=   input x f32[1,4,512,512]
#=   r f32[1,4,512,512] = relu(x)
#=   c.half0 f32[1,2,512,512] = conv(r, w.half0, b.half0)
#=   d.half0 f32[1,2,512,512] = relu(c.half0)
#=   e.half0 f32[1,2,512,512] = add(d.half0, one)
#=   p.half0 f32[1,2,256,256] = maxpool(e.half0) kernel_shape=[2,2] strides=[2,2]
#=   c.half1 f32[1,2,512,512] = conv(r, w.half1, b.half1)
#=   d.half1 f32[1,2,512,512] = relu(c.half1)
#=   e.half1 f32[1,2,512,512] = add(d.half1, one)
#=   p.half1 f32[1,2,256,256] = maxpool(e.half1) kernel_shape=[2,2] strides=[2,2]
#=   p f32[1,4,256,256] = concat(p.half0, p.half1) axis=1
#=   y f32[1,4,256,256] = sigmoid(p)
#=   output y
#= }
