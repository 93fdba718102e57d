# RUN: heddle opt test/golden/import/models/open_dims.onnx --shape x=4,5,3
#= graph net {
#=   input x f32[4,5,3]
#=   y f32[4,5,3] = relu(x)
#=   output y
#= }
