# RUN: heddle run test/golden/cli/bad/huge_weight.onnx --device golden
# EXIT: 1
#= heddle run: 'w': dimension 0 is 1099511627776, which makes the tensor larger than the limit of 2147483648 bytes
#=   while reading the initializers
#=   while importing test/golden/cli/bad/huge_weight.onnx
