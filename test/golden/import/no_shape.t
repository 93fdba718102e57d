# RUN: heddle opt test/golden/import/models/no_shape.onnx
# EXIT: 1
#= heddle opt: graph input 'x' has no shape; give one: --shape x=..
#=   while importing test/golden/import/models/no_shape.onnx
