# Random sets: where the largest element stands there says nothing, so nothing is tried for it.
# RUN: heddle quantize test/golden/quantize/ties.onnx -o /tmp/heddle_golden_random.onnx
#= layer    op      result    from     to  SNR dB
#= classes  matmul  y       -2.335  2.424    40.8
#=
#= output y: 40.8 dB
#= largest element in the same place: 1 of 4 sets
#= 1 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_random.onnx
