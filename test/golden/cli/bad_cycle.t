# RUN: heddle run test/golden/cli/bad/cycle.onnx --device golden
# EXIT: 1
#= heddle run: node 'first' (Relu): input 0 ('b') is not computed by an earlier node: the nodes form a cycle or are out of order, or it is an optional output that is not supported
#=   while importing test/golden/cli/bad/cycle.onnx
