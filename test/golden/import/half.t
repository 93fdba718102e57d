# RUN: heddle opt test/golden/import/models/half.onnx
#= graph net {
#=   input x f16[2]
#=   const w f16[2] = {15360, 49152}
#=   e f16[2] = exp(x)
#=   y f16[2] = add(e, w) @add
#=   output y
#= }
