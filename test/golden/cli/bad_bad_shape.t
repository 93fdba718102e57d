# RUN: heddle run test/golden/cli/bad/bad_shape.onnx --device golden
# EXIT: 1
#= heddle run: node 'dense' (gemm): inner sizes are 4 and 5, want equal
#=   while importing test/golden/cli/bad/bad_shape.onnx
