# RUN: heddle run test/golden/cli/bad/no_such_input.onnx --device golden
# EXIT: 1
#= heddle run: node 'act' (Relu): input 0 ('z') is no graph input, no initializer and no node's output
#=   while importing test/golden/cli/bad/no_such_input.onnx
