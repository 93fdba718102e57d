# RUN: heddle quantize test/golden/quantize/wide.onnx --mixed 60dB -o /tmp/heddle_golden_mixed_reach.onnx
# EXIT: 1
#= heddle quantize: --mixed: the worst output has 45.5 dB with all 6 activations as int16, want 60; the rest comes from weights of 8 bits and from what stays int8: lower the bound, or leave nodes in float (--keep)
