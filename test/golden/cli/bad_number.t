# RUN: heddle run a.onnx --repeat many
# EXIT: 2
#= heddle run: --repeat: got 'many', want a whole number from 1 to 1000000; see heddle run --help
