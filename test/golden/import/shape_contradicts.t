# RUN: heddle opt test/golden/import/models/open_dims.onnx --shape x=4,5,6
# EXIT: 1
#= heddle opt: --shape x: dimension 2 is 6, in the file it is fixed to 3
#=   while importing test/golden/import/models/open_dims.onnx
