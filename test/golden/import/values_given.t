# RUN: heddle opt test/golden/import/models/nonzero.onnx --inputs test/golden/import/cases/nonzero/test_data_set_0/input_0.pb
#= graph net specialised {
#=   input x f32[2,3]
#=   at i64[2,2] = nonzero(x)
#=   y f32[2,2] = cast(at) to="f32"
#=   output y
#= }
