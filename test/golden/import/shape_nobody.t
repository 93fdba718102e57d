# RUN: heddle opt test/golden/import/models/open_dims.onnx --shape z=4
# EXIT: 1
#= heddle opt: --shape z: the network has no input and no open dimension of that name; its first input is x
#=   while importing test/golden/import/models/open_dims.onnx
