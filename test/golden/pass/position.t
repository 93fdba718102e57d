# The position of the largest real value is that of the largest integer: nothing is dequantised for it.
# RUN: heddle opt --pass qdq %s
graph g {
  input x i8[1,3,2,2]
  const s f32[] = {0.25}
  const z i8[] = {3}
  a ? = dequantize(x, s, z)
  y ? = argmax(a) axis=1 keepdims=0
  b ? = reshape(a) shape=[1,12]
  w ? = argmin(b) axis=1 select_last_index=1
  output y
  output w
}
#= graph g {
#=   input x i8[1,3,2,2]
#=   y i64[1,2,2] = argmax(x) axis=1 keepdims=0
#=   b.q i8[1,12] = reshape(x) @b shape=[1,12]
#=   w i64[1,1] = argmin(b.q) axis=1 select_last_index=1
#=   output y
#=   output w
#= }
