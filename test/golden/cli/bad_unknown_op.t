# RUN: heddle run test/golden/cli/bad/unknown_op.onnx --device golden
# EXIT: 1
#= heddle run: node 'frob' (Frobnicate): operation Frobnicate of domain 'ai.onnx' (opset 13) is not supported; 'heddle ops' lists those that are
#=   while importing test/golden/cli/bad/unknown_op.onnx
