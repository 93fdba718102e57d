# RUN: heddle opt test/golden/import/models/open_dims.onnx
# EXIT: 1
#= heddle opt: graph input 'x': dimension 1 (length) has no number; give one: --shape length=.. or --inputs
#=   while importing test/golden/import/models/open_dims.onnx
