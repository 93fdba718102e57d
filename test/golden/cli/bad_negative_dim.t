# RUN: heddle run test/golden/cli/bad/negative_dim.onnx --device golden
# EXIT: 1
#= heddle run: 'x': dimension 1 is -4, want 0 or more
#=   while importing test/golden/cli/bad/negative_dim.onnx
