# RUN: heddle quantize test/golden/quantize/wide.onnx --mixed 30dB -o /tmp/heddle_golden_mixed.onnx
# RUN: heddle compare /tmp/heddle_golden_mixed.onnx --devices golden,cpu | tail -1
#= layer  op    result    from     to  SNR dB
#= large  conv  large   -236.7  237.1    41.1
#= small  conv  small   -1.679  1.643    43.2
#= both   add   both      -237  237.4    41.1
#= rest   sub   rest    -1.679  1.643    43.2
#= last   conv  y       -2.979  2.962    38.0
#=
#= activations  as int8 dB  cost  per cost  type
#= both                0.2   384    0.0025  int16
#= y                  42.1   108   5.7e-07  
#= small              42.4   384   1.5e-07  
#= x                  46.3  1664   1.4e-08  
#= rest               43.0  6216   8.1e-09  
#= large              56.5   384   5.8e-09  
#= 1 of 6 activations that could be are int16
#=
#= output y: 38.0 dB
#= search of 11 trials: 0 layers left in float for it
#= 5 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_mixed.onnx
#= golden,cpu agree: 7 values compared, all bit-equal
