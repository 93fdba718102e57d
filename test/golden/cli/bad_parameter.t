# RUN: heddle run test/golden/cli/bad/good.onnx --set k=12
# EXIT: 1
#= heddle run: machine base+k=12: k = 12, want a power of two in 8..64
