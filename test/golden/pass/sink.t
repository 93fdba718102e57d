# Transposes go down through elementwise operations until they meet and vanish.
# RUN: heddle opt --pass sink,simplify %s
graph g {
  input x f32[1,3,4,5]
  const half f32[] = {0.5}
  a ? = transpose(x) perm=[0,2,3,1]
  b ? = sigmoid(a)
  c ? = mul(b, half)
  d ? = transpose(x) perm=[0,2,3,1]
  e ? = add(c, d)
  f ? = leakyrelu(e) alpha=0.25
  y ? = transpose(f) perm=[0,3,1,2]
  output y
}
#= graph g {
#=   input x f32[1,3,4,5]
#=   const half f32[] = {0x1p-1}
#=   b_9 f32[1,3,4,5] = sigmoid(x) @b
#=   c_11 f32[1,3,4,5] = mul(b_9, half) @c
#=   e_13 f32[1,3,4,5] = add(c_11, x) @e
#=   f_15 f32[1,3,4,5] = leakyrelu(e_13) @f alpha=0x1p-2
#=   y f32[1,3,4,5] = identity(f_15)
#=   output y
#= }
