# RUN: heddle opt test/golden/import/models/external.onnx
#= graph net {
#=   input x f32[2]
#=   const w f32[2] = {0x1p+0, 0x1p+1}
#=   y f32[2] = add(x, w) @add
#=   output y
#= }
