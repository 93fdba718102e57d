# RUN: heddle opt --pass nonsense %s
# EXIT: 1
graph g {
  input x f32[2]
  y ? = relu(x)
  output y
}
#= heddle opt: no pass 'nonsense', allowed legalize, complete, prepare, axes, fold, shapes, cse, simplify, sink, layout, nhwc, batchnorm, norm, gelu, attention, recurrent, qdq, dce, split, shuffle, separate, integer, dynamic, volume, state, shrink, rows, images, gaps, columns, phases, blocks, loaded, features, taps, lines, pixels, windows
