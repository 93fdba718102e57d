# RUN: heddle opt test/golden/import/models/functions.onnx --pass fold
#= graph net {
#=   input x f32[2]
#=   const w f32[] = {0x1p+1}
#=   const first/inner/ReduceMax_1.axes i64[1] = {0}
#=   const second/inner/ReduceMax_1.axes i64[1] = {0}
#=   first/r f32[2] = relu(x) @first/Relu_0
#=   first/c f32[2] = clip(first/r, w) @first/limit
#=   first/inner/c f32[4] = concat(first/c, x) @first/inner/Concat_0 axis=0
#=   first/inner/r f32[1] = reducemax(first/inner/c, first/inner/ReduceMax_1.axes) @first/inner/ReduceMax_1 keepdims=1
#=   first/z f32[2] = add(first/inner/r, x) @first/Add_3
#=   second/r f32[2] = relu(first/z) @second/Relu_0
#=   second/c f32[2] = clip(second/r) @second/limit
#=   second/inner/c f32[4] = concat(second/c, first/z) @second/inner/Concat_0 axis=0
#=   second/inner/r f32[1] = reducemax(second/inner/c, second/inner/ReduceMax_1.axes) @second/inner/ReduceMax_1 keepdims=1
#=   y f32[2] = add(second/inner/r, first/z) @second/Add_3
#=   output y
#= }
