# RUN: heddle run a.onnx --seed
# EXIT: 2
#= heddle run: option --seed needs a value; see heddle run --help
