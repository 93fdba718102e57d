# RUN: heddle opt --pass qdq,complete %s
graph g {
  input x i8[1,2,2,2]
  input f f32[1,2,2,2]
  const s f32[] = {0.5}
  const z i8[] = {0}
  const w f32[2,2,1,1] = {1.0, 2.0, 3.0, 4.0}
  const i8 i8[2,2,1,1] = {1, 2, 3, 4}
  const one f32[] = {1.0}
  d ? = dequantize(x, s, z)
  weights ? = conv(d, w) kernel_shape=[1,1]
  y ? = quantize(weights, s, z)
  front ? = tanh(f)
  behind ? = sigmoid(d)
  sum ? = add(front, f)
  q ? = quantize(sum, s, z)
  wd ? = dequantize(i8, s, z)
  result ? = conv(d, wd) kernel_shape=[1,1]
  root ? = sqrt(result)
  two ? = add(root, d)
  q2 ? = quantize(two, s, z)
  output y
  output q
  output behind
  output result
  output q2
}
#= graph g {
#=   input x i8[1,2,2,2]
#=   input f f32[1,2,2,2]
#=   const s f32[] = {0x1p-1}
#=   const z i8[] = {0}
#=   const w f32[2,2,1,1] = {0x1p+0, 0x1p+1, 0x1.8p+1, 0x1p+2}
#=   const i8 i8[2,2,1,1] = {1, 2, 3, 4}
#=   d f32[1,2,2,2] = dequantize(x, s, z)
#=   weights f32[1,2,2,2] = conv(d, w) kernel_shape=[1,1]
#=   y i8[1,2,2,2] = quantize(weights, s, z)
#=   front f32[1,2,2,2] = tanh(f)
#=   behind f32[1,2,2,2] = sigmoid(d)
#=   sum f32[1,2,2,2] = add(front, f)
#=   q i8[1,2,2,2] = quantize(sum, s, z)
#=   wd f32[2,2,1,1] = dequantize(i8, s, z)
#=   result f32[1,2,2,2] = conv(d, wd) kernel_shape=[1,1]
#=   root f32[1,2,2,2] = sqrt(result)
#=   two f32[1,2,2,2] = add(root, d)
#=   q2 i8[1,2,2,2] = quantize(two, s, z)
#=   output y
#=   output q
#=   output behind
#=   output result
#=   output q2
#= }
