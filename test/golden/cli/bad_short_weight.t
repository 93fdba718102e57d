# RUN: heddle run test/golden/cli/bad/short_weight.onnx --device golden
# EXIT: 1
#= heddle run: tensor 'w': 40 bytes of data, its shape wants 48
#=   while reading the initializers
#=   while importing test/golden/cli/bad/short_weight.onnx
