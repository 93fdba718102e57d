# RUN: heddle opt test/golden/import/models/no_shape.onnx --shape x=2,3
#= graph net {
#=   input x f32[2,3]
#=   y f32[2,3] = relu(x)
#=   output y
#= }
