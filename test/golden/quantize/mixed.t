# RUN: heddle quantize test/golden/quantize/wide.onnx --mixed 30dB -o /tmp/heddle_golden_mixed.onnx
# RUN: heddle compare /tmp/heddle_golden_mixed.onnx --devices golden,cpu | tail -1
#= layer  op    result    from     to  SNR dB
#= large  conv  large   -236.7  237.1    46.2
#= small  conv  small   -1.679  1.643    44.0
#= both   add   both      -237  237.4    46.2
#= rest   sub   rest    -1.679  1.643    36.6
#= last   conv  y       -2.979  2.962    34.5
#=
#= activations  as int8 dB  cost  per cost  type
#= both                0.6   384    0.0023  int16
#= large              25.0   384   8.2e-06  int16
#= y                  45.8   108   2.4e-07  
#= small              44.9   384   8.4e-08  
#= x                  44.8  1664     2e-08  
#= rest               49.0  6216     2e-09  
#= 2 of 6 activations that could be are int16
#=
#= output y: 34.5 dB
#= search of 12 trials: 0 layers left in float for it
#= 5 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_mixed.onnx
#= golden,cpu agree: 7 values compared, all bit-equal
