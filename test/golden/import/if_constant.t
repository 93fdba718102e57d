# RUN: heddle opt test/golden/import/models/if_constant.onnx
#= graph net {
#=   input x f32[2]
#=   b f32[2] = neg(x)
#=   y f32[2] = identity(b) @choose
#=   output y
#= }
