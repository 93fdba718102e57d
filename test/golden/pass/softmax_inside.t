# Softmax along a dimension that is neither channels nor the last runs between two transposes.
# RUN: heddle opt --pass qdq %s
graph g {
  input x i8[1,2,3,4]
  const a f32[] = {0.25}
  const p f32[] = {0x1p-8}
  const z i8[] = {3}
  const l i8[] = {-128}
  d ? = dequantize(x, a, z)
  s ? = softmax(d) axis=2
  y ? = quantize(s, p, l)
  output y
}
#= graph g {
#=   input x i8[1,2,3,4]
#=   x_8 i8[1,2,4,3] = transpose(x) perm=[0,1,3,2]
#=   y.turned i8[1,2,4,3] = qsoftmax(x_8) @s to="i8" y_zp=-128 lo=-128 hi=127 axis=3 x_scale=0x1p-2 scale=0x1p+8
#=   y i8[1,2,3,4] = transpose(y.turned) @y_5 perm=[0,1,3,2]
#=   output y
#= }
