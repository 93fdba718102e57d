# RUN: heddle run test/golden/cli/bad/empty.onnx --device golden
# EXIT: 1
#= heddle run: test/golden/cli/bad/empty.onnx: the file is empty
