# What comes before the first layer is part of the quantisation of the input. Bytes less 127.5 are integers already, with
# the half step in the bias; a mean for each channel of bytes is a convolution; floats get a step for each channel, and
# blue first is the order of weights. Channels may come last.
# RUN: heddle quantize test/golden/quantize/bytes.onnx -o /tmp/heddle_golden_bytes.onnx
# RUN: heddle opt /tmp/heddle_golden_bytes.onnx
# RUN: heddle compare /tmp/heddle_golden_bytes.onnx --device golden,iss
# RUN: heddle quantize test/golden/quantize/mean.onnx -o /tmp/heddle_golden_mean.onnx
# RUN: heddle compare /tmp/heddle_golden_mean.onnx --device golden,iss
# RUN: heddle quantize test/golden/quantize/order.onnx -o /tmp/heddle_golden_order.onnx
# RUN: heddle opt /tmp/heddle_golden_order.onnx
# RUN: heddle compare /tmp/heddle_golden_order.onnx --device golden,iss
# RUN: heddle quantize test/golden/quantize/last.onnx -o /tmp/heddle_golden_last.onnx
# RUN: heddle compare /tmp/heddle_golden_last.onnx --device golden,iss
#= layer  op    result      from     to  SNR dB
#= div    div   n.first  -0.9922      1    43.3
#= conv   conv  y              0  3.982    47.0
#=
#= output y: 47.0 dB
#= 2 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_bytes.onnx
#= graph net {
#=   input x u8[1,6,6,3]
#=   const n.scale f32[] = {0x1.010102p-7}
#=   const n.zero u8[] = {128}
#=   const w.i8 i8[4,3,3,3] = #3a80ea17
#=   const w.i8.scale f32[4] = {0x1.83060cp-8, 0x1.83060cp-8, 0x1.83060cp-8, 0x1.83060cp-8}
#=   const w.i8.zero i8[4] = {0, 0, 0, 0}
#=   const b.i32 i32[4] = {-64833, 10805, -54028, 21611}
#=   const b.i32.scale f32[4] = {0x1.848a98p-15, 0x1.848a98p-15, 0x1.848a98p-15, 0x1.848a98p-15}
#=   const y.scale f32[] = {0x1.24aacp-6}
#=   const y.zero i8[] = {-128}
#=   const b.i32.zero_point i32[4] = {0, 0, 0, 0}
#=   n.first f32[1,6,6,3] = dequantize(x, n.scale, n.zero) @n.first.dequantize
#=   n.float f32[1,3,6,6] = transpose(n.first) @turn perm=[0,3,1,2]
#=   n.q u8[1,3,6,6] = quantize(n.float, n.scale, n.zero) @n.quantize
#=   n f32[1,3,6,6] = dequantize(n.q, n.scale, n.zero) @n.dequantize
#=   w.i8.float f32[4,3,3,3] = dequantize(w.i8, w.i8.scale, w.i8.zero) @w.i8 axis=0
#=   b.i32.float f32[4] = dequantize(b.i32, b.i32.scale, b.i32.zero_point) @b.i32 axis=0
#=   c f32[1,4,6,6] = conv(n, w.i8.float, b.i32.float) @conv kernel_shape=[3,3] pads=[1,1,1,1] group=1
#=   y.float f32[1,4,6,6] = relu(c) @relu
#=   y.q i8[1,4,6,6] = quantize(y.float, y.scale, y.zero) @y.quantize
#=   y f32[1,4,6,6] = dequantize(y.q, y.scale, y.zero) @y.dequantize
#=   output y
#= }
#= /tmp/heddle_golden_bytes.onnx, machine base, inputs: random, seed 1
#= ok   y.q i8[1,4,6,6], layer conv
#= ok   y f32[1,4,6,6]
#= golden,iss agree: 2 values compared, all bit-equal
#= layer  op    result    from     to  SNR dB
#= cast   cast  f            0    255     inf
#= sub    conv  t       -2.103  2.696    46.3
#= conv   conv  y            0  8.429    43.9
#=
#= output y: 43.9 dB
#= 3 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_mean.onnx
#= /tmp/heddle_golden_mean.onnx, machine base, inputs: random, seed 1
#= ok   t.q i8[1,3,6,6], layer sub
#= ok   y.q i8[1,4,6,6], layer conv
#= ok   y f32[1,4,6,6]
#= golden,iss agree: 3 values compared, all bit-equal
#= layer  op    result     from     to  SNR dB
#= mul    mul   n.first  -5.909  2.225    43.4
#= conv   conv  y             0  12.77    42.0
#=
#= output y: 42.0 dB
#= 2 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_order.onnx
#= graph net {
#=   input x f32[1,3,6,6]
#=   const n.first.steps f32[3] = {0x1.336c98p-7, 0x1.99e62p-7, 0x1.336c98p-6}
#=   const n.first.zeros i8[3] = {4, 37, 50}
#=   const n.first.scale f32[] = {0x1.336c98p-5}
#=   const n.first.zero i8[] = {57}
#=   const w.ordered.i8 i8[4,3,3,3] = #824c1caf
#=   const w.ordered.i8.scale f32[4] = {0x1.83060cp-8, 0x1.83060cp-8, 0x1.83060cp-8, 0x1.83060cp-8}
#=   const w.ordered.i8.zero i8[4] = {0, 0, 0, 0}
#=   const b.i32 i32[4] = {-13537, 2256, -11281, 4512}
#=   const b.i32.scale f32[4] = {0x1.d0c46cp-13, 0x1.d0c46cp-13, 0x1.d0c46cp-13, 0x1.d0c46cp-13}
#=   const y.scale f32[] = {0x1.d5309ep-5}
#=   const y.zero i8[] = {-128}
#=   const b.i32.zero_point i32[4] = {0, 0, 0, 0}
#=   n.first.q i8[1,3,6,6] = quantize(x, n.first.steps, n.first.zeros) @n.first.quantize axis=1
#=   n.first f32[1,3,6,6] = dequantize(n.first.q, n.first.scale, n.first.zero) @n.first.dequantize
#=   w.ordered.i8.float f32[4,3,3,3] = dequantize(w.ordered.i8, w.ordered.i8.scale, w.ordered.i8.zero) @w.ordered.i8 axis=0
#=   b.i32.float f32[4] = dequantize(b.i32, b.i32.scale, b.i32.zero_point) @b.i32 axis=0
#=   c f32[1,4,6,6] = conv(n.first, w.ordered.i8.float, b.i32.float) @conv kernel_shape=[3,3] pads=[1,1,1,1] group=1
#=   y.float f32[1,4,6,6] = relu(c) @relu
#=   y.q i8[1,4,6,6] = quantize(y.float, y.scale, y.zero) @y.quantize
#=   y f32[1,4,6,6] = dequantize(y.q, y.scale, y.zero) @y.dequantize
#=   output y
#= }
#= /tmp/heddle_golden_order.onnx, machine base, inputs: random, seed 1
#= ok   n.first.q i8[1,3,6,6]
#= ok   y.q i8[1,4,6,6], layer conv
#= ok   y f32[1,4,6,6]
#= golden,iss agree: 3 values compared, all bit-equal
#= layer  op    result     from     to  SNR dB
#= mul    mul   n.first  -5.999  2.249    45.4
#= conv   conv  y             0  15.04    42.4
#=
#= output y: 42.4 dB
#= 2 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_last.onnx
#= /tmp/heddle_golden_last.onnx, machine base, inputs: random, seed 1
#= ok   n.first.q i8[1,20,20,3]
#= ok   y.q i8[1,4,18,18], layer conv
#= ok   y f32[1,4,18,18]
#= golden,iss agree: 3 values compared, all bit-equal
