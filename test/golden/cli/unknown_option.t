# RUN: heddle run --frobnicate x.onnx
# EXIT: 2
#= heddle run: unknown option --frobnicate; see heddle run --help
