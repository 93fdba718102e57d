# RUN: heddle opt --pass split %s | grep -c half
# EXIT: 1
# An output, a second reader, and a function of several channels each keep a layer whole.
graph g {
  input x f32[1,4,512,512]
  const w f32[4,4,1,1] = {1,2,3,4, 5,6,7,8, 9,10,11,12, 13,14,15,16}
  r ? = relu(x)
  c ? = conv(r, w)
  p ? = maxpool(c) kernel_shape=[2,2] strides=[2,2]
  s ? = sigmoid(c)
  ps ? = maxpool(s) kernel_shape=[2,2] strides=[2,2]
  d ? = conv(r, w)
  q ? = maxpool(d) kernel_shape=[2,2] strides=[2,2]
  e ? = conv(r, w)
  l ? = lrn(e) size=3
  m ? = maxpool(l) kernel_shape=[2,2] strides=[2,2]
  output p
  output ps
  output d
  output q
  output m
}
#= 0
