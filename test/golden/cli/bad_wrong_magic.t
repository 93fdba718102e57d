# RUN: heddle run test/golden/cli/bad/wrong_magic.onnx --device golden
# EXIT: 1
#= heddle run: not an ONNX model, or cut short: a field has no valid number
#=   while importing test/golden/cli/bad/wrong_magic.onnx
