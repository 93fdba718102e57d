# Data sets of 1, 3, 1 and 2 images for a network with an open batch, which stays open.
# RUN: heddle quantize test/golden/quantize/batch.onnx --device golden --calibrate test/golden/quantize/shapes -o /tmp/heddle_golden_shapes.onnx
# RUN: heddle opt /tmp/heddle_golden_shapes.onnx --inputs test/golden/quantize/shapes/test_data_set_1 | grep -E 'input|output|^  y'
# RUN: heddle opt /tmp/heddle_golden_shapes.onnx | grep -E 'input|output|^  y'
#= layer    op      result    from     to  SNR dB
#= conv     conv    r            0      3    44.2
#= classes  matmul  y       -6.313  4.783    38.9
#=
#= output y: 38.9 dB
#= largest element in the same place: 4 of 4 sets
#= 2 layers in integers, 0 nodes in float; calibrated with test/golden/quantize/shapes; wrote /tmp/heddle_golden_shapes.onnx
#=   input x f32[3,2,4,4]
#=   y.float f32[3,5] = matmul(f, w2.i8.float) @classes
#=   y.q i8[3,5] = quantize(y.float, y.scale, y.zero) @y.quantize
#=   y f32[3,5] = dequantize(y.q, y.scale, y.zero) @y.dequantize
#=   output y
#=   input x f32[1,2,4,4]
#=   y.float f32[1,5] = matmul(f, w2.i8.float) @classes
#=   y.q i8[1,5] = quantize(y.float, y.scale, y.zero) @y.quantize
#=   y f32[1,5] = dequantize(y.q, y.scale, y.zero) @y.dequantize
#=   output y
