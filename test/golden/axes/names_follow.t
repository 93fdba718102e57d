# RUN: heddle opt %s
# axes go where the data goes: transposed, reshaped in front, through a convolution and a pool
graph follow {
  input x f32[image=1,colour=3,row=8,column=8]
  input w f32[feature=4,colour=3,3,3]
  input m f32[feature=4,class=10]
  t ? = transpose(x) perm=[0,2,3,1]
  c ? = conv(x, w) pads=[1,1,1,1]
  p ? = avgpool(c) kernel_shape=[8,8]
  r ? = reshape(p) shape=[1,4]
  y ? = matmul(r, m)
  s ? = softmax(y) axis=1
  output t
  output s
}
#= graph follow {
#=   input x f32[image=1,colour=3,row=8,column=8]
#=   input w f32[feature=4,colour=3,3,3]
#=   input m f32[feature=4,class=10]
#=   t f32[image=1,row=8,column=8,colour=3] = transpose(x) perm=[0,2,3,1]
#=   c f32[image=1,feature=4,8,8] = conv(x, w) pads=[1,1,1,1] kernel_shape=[3,3]
#=   p f32[image=1,feature=4,1,1] = avgpool(c) kernel_shape=[8,8]
#=   r f32[image=1,feature=4] = reshape(p) shape=[1,4]
#=   y f32[image=1,class=10] = matmul(r, m)
#=   s f32[image=1,class=10] = softmax(y) axis=1
#=   output t
#=   output s
#= }
