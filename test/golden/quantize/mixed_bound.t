# RUN: heddle quantize test/golden/quantize/wide.onnx --mixed 30 -o /tmp/heddle_golden_mixed_bound.onnx
# EXIT: 2
#= heddle quantize: --mixed: got '30', want a bound such as 30dB (1 to 120), or 99% of the data sets; see heddle quantize --help
