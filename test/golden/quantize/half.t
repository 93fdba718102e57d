# RUN: heddle quantize test/golden/quantize/half.onnx --device golden -o /tmp/heddle_golden_half.onnx
#= layer  op    result  from     to  SNR dB
#= conv   conv  y.f32      0  1.695    47.1
#=
#= stays float  op    because
#= x.f32        cast  it has no integer form
#=
#= output y: 47.1 dB
#= 1 layers in integers, 1 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_half.onnx
