# Shapes of a specialised graph are those of one run, so reshapes stay as they are.
# RUN: heddle opt --pass simplify,sink %s
graph g specialised {
  input x f32[2,3]
  input s i64[2]
  a f32[3,2] = reshape(x, s)
  b f32[3,2] = reshape(a, s)
  y f32[3,2] = relu(b)
  output y
}
#= graph g specialised {
#=   input x f32[2,3]
#=   input s i64[2]
#=   a f32[3,2] = reshape(x, s)
#=   b f32[3,2] = reshape(a, s)
#=   y f32[3,2] = relu(b)
#=   output y
#= }
