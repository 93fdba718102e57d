# RUN: heddle run test/golden/cli/bad/nothing.onnx
# EXIT: 1
#= heddle run: test/golden/cli/bad/nothing.onnx: cannot open: No such file or directory
