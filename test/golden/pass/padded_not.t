# RUN: heddle opt --pass simplify %s
graph g {
  input x i8[1,4,6,6]
  input w i8[4,4,3,3]
  input b i32[4]
  input s f32[4]
  const around i64[8] = {0,0,0,0,0,0,1,1}
  const wide i64[8] = {0,0,3,0,0,0,0,0}
  const deep i64[8] = {0,1,0,0,0,-1,0,0}
  const three i8[] = {3}
  other ? = pad(x, around, three)
  a ? = qconv(other, w, b, s) kernel_shape=[3,3] x_zp=4 y_zp=0 lo=-128 hi=127 to="i8" group=1
  reaches ? = pad(x, wide, three)
  d ? = qconv(reaches, w, b, s) kernel_shape=[3,3] x_zp=3 y_zp=0 lo=-128 hi=127 to="i8" group=1
  channels ? = pad(x, deep, three)
  e ? = qconv(channels, w, b, s) kernel_shape=[3,3] x_zp=3 y_zp=0 lo=-128 hi=127 to="i8" group=1
  mirror ? = pad(x, around) mode="reflect"
  h ? = qmaxpool(mirror) kernel_shape=[3,3]
  low ? = pad(x, around, three)
  i ? = qmaxpool(low) kernel_shape=[3,3]
  output a
  output d
  output e
  output h
  output i
}
#= graph g {
#=   input x i8[1,4,6,6]
#=   input w i8[4,4,3,3]
#=   input b i32[4]
#=   input s f32[4]
#=   const around i64[8] = {0, 0, 0, 0, 0, 0, 1, 1}
#=   const wide i64[8] = {0, 0, 3, 0, 0, 0, 0, 0}
#=   const deep i64[8] = {0, 1, 0, 0, 0, -1, 0, 0}
#=   const three i8[] = {3}
#=   other i8[1,4,7,7] = pad(x, around, three)
#=   a i8[1,4,5,5] = qconv(other, w, b, s) kernel_shape=[3,3] x_zp=4 y_zp=0 lo=-128 hi=127 to="i8" group=1
#=   reaches i8[1,4,9,6] = pad(x, wide, three)
#=   d i8[1,4,7,4] = qconv(reaches, w, b, s) kernel_shape=[3,3] x_zp=3 y_zp=0 lo=-128 hi=127 to="i8" group=1
#=   channels i8[1,4,6,6] = pad(x, deep, three)
#=   e i8[1,4,4,4] = qconv(channels, w, b, s) kernel_shape=[3,3] x_zp=3 y_zp=0 lo=-128 hi=127 to="i8" group=1
#=   mirror i8[1,4,7,7] = pad(x, around) mode="reflect"
#=   h i8[1,4,5,5] = qmaxpool(mirror) kernel_shape=[3,3]
#=   low i8[1,4,7,7] = pad(x, around, three)
#=   i i8[1,4,5,5] = qmaxpool(low) kernel_shape=[3,3]
#=   output a
#=   output d
#=   output e
#=   output h
#=   output i
#= }
