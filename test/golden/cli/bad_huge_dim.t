# RUN: heddle run test/golden/cli/bad/huge_dim.onnx --device golden
# EXIT: 1
#= heddle run: 'x': dimension 1 is 1099511627776, which makes the tensor larger than the limit of 2147483648 bytes
#=   while importing test/golden/cli/bad/huge_dim.onnx
