# The mean of a large image of few channels is one operation, a sum of integers.
# RUN: heddle quantize test/golden/quantize/image_mean.onnx -o /tmp/heddle_golden_image_mean.onnx
# RUN: heddle opt --stage prepare --dump layers /tmp/heddle_golden_image_mean.onnx | grep -E '^layer [0-9]' | cut -d' ' -f1-9
# RUN: heddle compare /tmp/heddle_golden_image_mean.onnx --device golden,iss | tail -1
#= layer  op       result      from       to  SNR dB
#= conv   conv     c         -1.728    1.741    43.9
#= mean   avgpool  m       -0.02179  0.05383    41.3
#= gate   sigmoid  s              0   0.5135    57.3
#= gated  mul      y        -0.8652   0.8712    42.4
#=
#= output y: 42.4 dB
#= 4 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_image_mean.onnx
#= layer 0 conv matmul 0 -> 1 step=1 kh=1
#= layer 1 mean mean 1 -> 2 step=1 kh=32
#= layer 2 gate rescale 2 -> 3 step=1 kh=1
#= layer 3 gated add 1 3 -> 4 step=1
#= golden,iss agree: 6 values compared, all bit-equal
