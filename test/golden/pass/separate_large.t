# Windows that no tile holds: rows first, then what they leave; one long row, of a signal, too, in parts of one length.
# Not a row whose length is a prime.
# RUN: heddle opt --pass separate %s --full
graph g {
  input x i8[1,1024,4,5]
  input s i8[1,1024,18]
  input t i8[1,1024,17]
  a ? = qmaxpool(x) kernel_shape=[4,5]
  b ? = qmaxpool(s) kernel_shape=[18]
  c ? = qmaxpool(t) kernel_shape=[17]
  output a
  output b
  output c
}
#= graph g {
#=   input x i8[1,1024,4,5]
#=   input s i8[1,1024,18]
#=   input t i8[1,1024,17]
#=   c i8[1,1024,1] = qmaxpool(t) kernel_shape=[17]
#=   a.columns i8[1,1024,4,1] = qmaxpool(x) kernel_shape=[1,5] strides=[1,1] dilations=[1,1] pads=[0,0,0,0]
#=   a i8[1,1024,1,1] = qmaxpool(a.columns) kernel_shape=[4,1] strides=[1,1] dilations=[1,1] pads=[0,0,0,0]
#=   b.parts i8[1,1024,3] = qmaxpool(s) kernel_shape=[6] strides=[6] dilations=[1] pads=[0,0]
#=   b i8[1,1024,1] = qmaxpool(b.parts) kernel_shape=[3] strides=[1] dilations=[1] pads=[0,0]
#=   output a
#=   output b
#=   output c
#= }
