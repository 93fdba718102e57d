# Outputs that are constants, of a weight and of an operation that was folded, come from a step on every device. Pads of
# opset 1 are paddings.
# RUN: heddle compare test/golden/import/models/constant_out.onnx --device golden,cpu,iss
#= test/golden/import/models/constant_out.onnx, machine base, inputs: random, seed 1
#= ok   y f32[2]
#= ok   p f32[3]
#= ok   twice f32[2]
#= ok   w f32[2]
#= golden,cpu,iss agree: 4 values compared, all bit-equal
