# RUN: heddle run test/golden/state/models/cell.onnx --state hn
# EXIT: 1
#= heddle run: state 'hn': want OUTPUT=INPUT, two names of the network
#=   while importing test/golden/state/models/cell.onnx
