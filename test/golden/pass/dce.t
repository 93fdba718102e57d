# RUN: heddle opt --pass dce %s
graph g {
  input x f32[2]
  a ? = relu(x)
  b ? = exp(a)
  y ? = tanh(a)
  output y
}
#= graph g {
#=   input x f32[2]
#=   a f32[2] = relu(x)
#=   y f32[2] = tanh(a)
#=   output y
#= }
