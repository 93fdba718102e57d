# RUN: heddle eval test/golden/cli/bad/good.onnx
# EXIT: 1
#= heddle eval: test/golden/cli/bad/good.onnx has no data sets beside it; name some with --data
