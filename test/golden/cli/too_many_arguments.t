# RUN: heddle run a.onnx b.onnx
# EXIT: 2
#= heddle run: 'b.onnx' is one argument too many: heddle run MODEL; see heddle run --help
