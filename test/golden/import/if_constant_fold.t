# RUN: heddle opt test/golden/import/models/if_constant.onnx --pass fold
#= graph net {
#=   input x f32[2]
#=   y f32[2] = neg(x) @b
#=   output y
#= }
