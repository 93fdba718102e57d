# RUN: heddle opt test/golden/import/models/open_dims.onnx --shape length=5
#= graph net {
#=   input x f32[1,5,3]
#=   y f32[1,5,3] = relu(x)
#=   output y
#= }
