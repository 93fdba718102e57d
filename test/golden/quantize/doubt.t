# A length of channels becomes integers, since the output is as good as with float; a reciprocal of what comes near
# 0 does not.
# RUN: heddle quantize test/golden/quantize/doubt.onnx --device golden -o /tmp/heddle_golden_doubt.onnx
#= layer     op       result       from      to  SNR dB
#= conv      conv     c          -2.429   1.928    43.1
#= n.square  mul      n.square        0     5.9    39.7
#= n.mean    avgpool  n.mean          0   1.658    47.6
#= length    sqrt     n               0    10.3    50.6
#= scaled    mul      m          -25.02   15.21    40.3
#= next      conv     d          -10.41   16.12    40.3
#= abs       abs      a               0   16.12    39.8
#= above     conv     p               0   16.14    39.3
#= last      conv     y         -0.7478  0.7463    25.3
#=
#= stays float  op          because
#= inverse      reciprocal  its results span too many magnitudes for 8 bits
#= signs        mul         an operand is float
#=
#= output y: 25.3 dB
#= 9 layers in integers, 2 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_doubt.onnx
