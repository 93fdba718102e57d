# The largest of a window in two steps where that reads less: stride 1, wide windows; the second keeps the name.
# Not 2x2, not 3x3 with stride 2, not one row.
# RUN: heddle opt --pass separate %s --full
graph g {
  input x i8[1,4,9,11]
  a ? = qmaxpool(x) kernel_shape=[5,5] strides=[1,1] pads=[2,2,2,2]
  b ? = qmaxpool(x) kernel_shape=[7,3] strides=[3,1] pads=[3,1,3,1] dilations=[1,2]
  c ? = qmaxpool(x) kernel_shape=[2,2] strides=[1,1]
  d ? = qmaxpool(x) kernel_shape=[3,3] strides=[2,2]
  e ? = qmaxpool(x) kernel_shape=[1,9] strides=[1,1]
  f ? = qmaxpool(x) kernel_shape=[3,3] auto_pad="SAME_UPPER"
  output a
  output b
  output c
  output d
  output e
  output f
}
#= graph g {
#=   input x i8[1,4,9,11]
#=   c i8[1,4,8,10] = qmaxpool(x) kernel_shape=[2,2] strides=[1,1]
#=   d i8[1,4,4,5] = qmaxpool(x) kernel_shape=[3,3] strides=[2,2]
#=   e i8[1,4,9,3] = qmaxpool(x) kernel_shape=[1,9] strides=[1,1]
#=   a.rows i8[1,4,9,11] = qmaxpool(x) kernel_shape=[5,1] strides=[1,1] dilations=[1,1] pads=[2,0,2,0]
#=   a i8[1,4,9,11] = qmaxpool(a.rows) kernel_shape=[1,5] strides=[1,1] dilations=[1,1] pads=[0,2,0,2]
#=   b.rows i8[1,4,3,11] = qmaxpool(x) kernel_shape=[7,1] strides=[3,1] dilations=[1,1] pads=[3,0,3,0]
#=   b i8[1,4,3,9] = qmaxpool(b.rows) kernel_shape=[1,3] strides=[1,1] dilations=[1,2] pads=[0,1,0,1]
#=   f.rows i8[1,4,9,11] = qmaxpool(x) kernel_shape=[3,1] strides=[1,1] dilations=[1,1] pads=[1,0,1,0]
#=   f i8[1,4,9,11] = qmaxpool(f.rows) kernel_shape=[1,3] strides=[1,1] dilations=[1,1] pads=[0,1,0,1]
#=   output a
#=   output b
#=   output c
#=   output d
#=   output e
#=   output f
#= }
