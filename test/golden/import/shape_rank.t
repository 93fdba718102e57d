# RUN: heddle opt test/golden/import/models/open_dims.onnx --shape x=4,5
# EXIT: 1
#= heddle opt: --shape x has 2 dimensions, the input has 3
#=   while importing test/golden/import/models/open_dims.onnx
