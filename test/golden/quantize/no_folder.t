# RUN: heddle quantize test/models/digits -o README.md/x/q.onnx
# EXIT: 1
#= heddle quantize: README.md/x: cannot make the folder: Not a directory
