# RUN: heddle run test/golden/cli/bad/cut_short.onnx --device golden
# EXIT: 1
#= heddle run: not an ONNX model, or cut short: a field is longer than what is left of the file
#=   while importing test/golden/cli/bad/cut_short.onnx
