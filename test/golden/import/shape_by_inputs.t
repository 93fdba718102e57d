# RUN: heddle opt test/golden/import/models/open_dims.onnx --inputs test/golden/import/cases/open_dims/test_data_set_0
#= graph net {
#=   input x f32[1,2,3]
#=   y f32[1,2,3] = relu(x)
#=   output y
#= }
