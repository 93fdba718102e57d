# RUN: heddle run test/golden/cli/bad/cycle.onnx --device golden
# EXIT: 1
#= heddle run: node 'second' (Relu): input 0 ('a') is not computed before: the nodes form a cycle, or it is an optional output that is not supported
#=   while importing test/golden/cli/bad/cycle.onnx
