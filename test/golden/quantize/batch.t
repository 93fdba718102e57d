# RUN: heddle quantize test/golden/quantize/batch.onnx --device golden --shape N=3 -o /tmp/heddle_golden_batch.onnx
#= layer    op      result    from     to  SNR dB
#= conv     conv    r            0  1.643    44.5
#= classes  matmul  y       -4.536  4.469    38.8
#=
#= output y: 38.8 dB
#= 2 layers in integers, 0 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_batch.onnx
