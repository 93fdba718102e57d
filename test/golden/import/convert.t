# RUN: heddle convert test/golden/import/models/int4.tflite -o /tmp/heddle_convert.onnx && heddle opt /tmp/heddle_convert.onnx && rm /tmp/heddle_convert.onnx
#= graph main {
#=   input x f32[1,4]
#=   const y.c_5 f32[] = {0x1.4484cp-100}
#=   const y.c_7 f32[] = {0x1.fcp+6}
#=   const y.c_11 f32[] = {0x1.fcp+6}
#=   const w i8[2,4] = {1, 7, -1, -8, 1, 2, 3, 4}
#=   const y.c_14 f32[] = {0x1p-1}
#=   const y_16 i8[] = {0}
#=   const y_1.axes i64[1] = {1}
#=   y_2 f32[1,4] = abs(x) @y
#=   y_4 f32[1,1] = reducemax(y_2, y_1.axes) @y_1
#=   y_6 f32[1,1] = max(y_4, y.c_5) @y_2
#=   y_8 f32[1,1] = div(y.c_7, y_6) @y_3
#=   y_9 f32[1,4] = mul(x, y_8) @y_4
#=   y_10 f32[1,4] = round(y_9) @y_5
#=   y_12 f32[1,1] = div(y_6, y.c_11) @y_6
#=   y_17 f32[2,4] = dequantize(w, y.c_14, y_16) @y_8
#=   y_18 f32[1,2] = gemm(y_10, y_17) @y_9 alpha=0x1p+0 beta=0x1p+0 transA=0 transB=1
#=   y f32[1,2] = mul(y_18, y_12) @y_10
#=   output y
#= }
