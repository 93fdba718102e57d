# RUN: heddle opt --pass nonsense %s
# EXIT: 1
graph g {
  input x f32[2]
  y ? = relu(x)
  output y
}
#= heddle opt: no pass 'nonsense', allowed axes, fold, cse, simplify, sink, batchnorm, norm, attention, qdq, dce, split, recurrent, legalize
#=   in pass nonsense
