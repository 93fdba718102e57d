# RUN: heddle run test/golden/state/models/cell.onnx --state y=h
# EXIT: 1
#= heddle run: state 'y=h': the output is f32[1,10], the input f32[1,32]; a state keeps its type and shape
#=   while importing test/golden/state/models/cell.onnx
