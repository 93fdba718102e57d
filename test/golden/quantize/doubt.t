# A length of channels becomes integers, since the output is as good as with float; a reciprocal of what comes near
# 0 does not.
# RUN: heddle quantize test/golden/quantize/doubt.onnx --device golden -o /tmp/heddle_golden_doubt.onnx
#= layer          op       result            from      to  SNR dB
#= conv           conv     c               -2.429   1.928    43.1
#= n.square       mul      n.square             0     5.9    39.7
#= n.mean.blocks  avgpool  n.mean.blocks        0   3.714    41.7
#= n.mean         avgpool  n.mean               0   1.658    46.3
#= length         sqrt     n                    0    10.3    48.9
#= scaled         mul      m               -25.02   15.21    40.1
#= next           conv     d               -10.41   16.12    40.1
#= abs            abs      a                    0   16.12    39.6
#= above          conv     p                    0   16.14    39.1
#= last           conv     y              -0.7478  0.7463    25.4
#=
#= stays float  op          because
#= inverse      reciprocal  its results span too many magnitudes for 8 bits
#= signs        mul         an operand is float
#=
#= output y: 25.4 dB
#= 10 layers in integers, 2 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_doubt.onnx
