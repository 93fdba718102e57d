# Means of a whole image are means of pixels, then of channels: a window of all would not fit. Where all is reduced, the order
# of elements does not matter, so no transpose stays.
# RUN: heddle quantize test/golden/quantize/whole.onnx -o /tmp/heddle_golden_whole.onnx
# RUN: heddle opt --stage prepare --dump layers /tmp/heddle_golden_whole.onnx | grep -E '^(layer|host)' | cut -d' ' -f1-6
#= layer     op          result        from       to  SNR dB
#= conv      conv        c           -1.728    1.741    43.9
#= m.pixels  avgpool     m.pixels  -0.02179  0.05383    41.3
#= mean      reducemean  m         -0.01262  0.02481    39.1
#= moved     add         a            -1.74    1.766    41.9
#= more      add         y           -1.143    2.415    42.5
#=
#= stays float  op          because
#= q.unturned   mul         its results span too many magnitudes for 8 bits
#= v.pixels     avgpool     its operand is float
#= power        reducemean  its operand is float
#=
#= output y: 42.5 dB
#= 5 layers in integers, 3 nodes in float; calibrated with 4 random sets, seed 1: ranges are guesses; wrote /tmp/heddle_golden_whole.onnx
#= layers steps=5 layers=8 tensors=10
#= layer 0 conv matmul 0 ->
#= layer 1 m.pixels mean 1 ->
#= layer 2 mean matmul 2 ->
#= layer 3 m.q.copies matmul 3 ->
#= layer 4 moved add 1 4
#= layer 5 power matmul 6 ->
#= layer 6 v.q.copies matmul 7 ->
#= layer 7 more add 5 8
